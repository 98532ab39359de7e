"""Payload: the users' own objects, kept as written. Only what makes an object an object is checked here.

Nothing here reads a Secret's data, and no sentence repeats a value of any object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api import Break
from gitfleet.api.kinds import KINDS
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, ObjectKey, Origin, key_of
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.values import is_kind_name, is_namespace_name, is_object_name, is_reserved_namespace
from gitfleet.desired.known_kinds import API_FIELDS, BUILT_IN, is_kubernetes_group
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.kinds import BUILT_IN_KINDS, is_envelope_kind

_NO_KIND: Final = "cannot be the name of a kind; use a letter and then letters and digits"


def read_manifest(body: JsonObject, origin: Origin) -> tuple[Manifest | None, list[Break]]:
    """The manifest, or every break; `body` has a string apiVersion and kind."""
    breaks = _metadata_breaks(body.get("metadata"))
    if not is_kind_name(body["kind"]):
        breaks.append((("kind",), _NO_KIND))
    if body["kind"] == "List":
        breaks.append((("kind",), "is read as a v1 List with a list of `items`, and not within another; correct it"))
    if breaks:
        return None, breaks
    key = key_of(body)
    if breaks := [*kind_breaks(key), *_shape_breaks(body)]:
        return None, breaks
    if sentence := scope_break(known_scope(key.group_kind, {}), key.kind, key.namespace):
        return None, [(("metadata", "namespace"), sentence)]
    return Manifest(key=key, body=body, digest=digest_of(body), origin=origin), []


def kind_breaks(key: ObjectKey) -> list[Break]:
    """What a server would say of an object's kind and version, as far as Kubernetes itself defines its group (D29)."""
    misnamed = BUILT_IN.misnamed(key.group, key.version, key.kind) if is_kubernetes_group(key.group) else None
    return [(API_FIELDS[misnamed.field], misnamed.sentence)] if misnamed is not None else []


def scope_break(namespaced: bool | None, kind: str, namespace: str) -> str | None:
    """What is wrong with an object's namespace, given its kind's scope (None: not known)."""
    if namespaced and not namespace:
        return f"is required, since {kind} is a namespaced kind; add it"
    if namespaced is False and namespace:
        return f"does not go with {kind}, which is a cluster-scoped kind; remove it"
    return None


def enveloped_scope_breaks(envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """The entries of KubeFleet's envelopes whose namespace does not go with their kind, as the repo's CRDs say it."""
    if not is_envelope_kind(envelope.key.group, envelope.key.kind):
        return []
    breaks: list[Break] = []
    for entry, inner in (envelope.body.get("data") or {}).items():
        key = key_of(inner)
        if sentence := scope_break(scopes.get(key.group_kind), key.kind, key.namespace):
            breaks.append((("data", entry, "metadata", "namespace"), sentence))
    return breaks


def known_scope(kind: GroupKind, declared: Mapping[GroupKind, bool]) -> bool | None:
    """Whether a kind is namespaced: by what is declared or built in, else by the repo's CRDs, else not known."""
    row = KINDS.get((kind.group, kind.kind)) or BUILT_IN_KINDS.get((kind.group, kind.kind))
    return declared.get(kind) if row is None else row.namespaced


_MAPPINGS: Final[Mapping[GroupKind, tuple[tuple[str, ...], ...]]] = {
    GroupKind("", "ConfigMap"): (("data",), ("binaryData",)),
    GroupKind("", "Secret"): (("data",), ("stringData",)),
    GroupKind(PLACEMENT_GROUP, "ResourceEnvelope"): (("data",),),
    GroupKind(PLACEMENT_GROUP, "ClusterResourceEnvelope"): (("data",),),
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (("spec",), ("spec", "names")),
}
"""The fields of kinds that gitfleet itself reads; each must be a mapping where it is given."""


def _shape_breaks(body: JsonObject) -> list[Break]:
    kind = key_of(body).group_kind
    breaks: list[Break] = []
    for location in _MAPPINGS.get(kind, ()):
        value: Any = body
        for name in location:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None and not isinstance(value, Mapping):
            breaks.append((location, "must be a mapping; correct it"))
    if is_envelope_kind(kind.group, kind.kind) and not breaks:
        for entry, inner in (body.get("data") or {}).items():
            breaks += [(("data", entry, *place), sentence) for place, sentence in _inner_breaks(inner)]
    return breaks


def _inner_breaks(inner: Any) -> list[Break]:
    """What keeps an entry of an envelope from being an object at all."""
    if not isinstance(inner, Mapping):
        return [((), "must be an object; write apiVersion, kind and metadata")]
    breaks: list[Break] = [
        ((field,), "must be a string; correct it")
        for field in ("apiVersion", "kind")
        if not isinstance(inner.get(field), str)
    ]
    if isinstance(inner.get("kind"), str) and not is_kind_name(inner["kind"]):
        breaks.append((("kind",), _NO_KIND))
    breaks += _metadata_breaks(inner.get("metadata"))
    if breaks:
        return breaks
    key = key_of(inner)
    if breaks := kind_breaks(key):
        return breaks
    if sentence := scope_break(known_scope(key.group_kind, {}), key.kind, key.namespace):
        return [(("metadata", "namespace"), sentence)]
    if key.group_kind == GroupKind("", "Namespace") and is_reserved_namespace(key.name):
        return [(("metadata", "name"), "is a reserved namespace, which cannot be placed; name another")]
    return []


def _metadata_breaks(metadata: Any) -> list[Break]:
    if not isinstance(metadata, dict):
        return [(("metadata",), "must be a mapping with a name; add it")]
    breaks: list[Break] = []
    name = metadata.get("name")
    if metadata.get("generateName") and not name:
        breaks.append((("metadata", "generateName"), "makes a new object each time; give metadata.name instead"))
    elif not isinstance(name, str):
        breaks.append((("metadata", "name"), "must be a string; add it, or put it in quotes"))
    elif not is_object_name(name):
        breaks.append((("metadata", "name"), "cannot be an object's name; use letters, digits, dashes and dots"))
    namespace = metadata.get("namespace")
    if namespace is not None and not isinstance(namespace, str):
        breaks.append((("metadata", "namespace"), "must be a string; put it in quotes"))
    elif namespace and not is_namespace_name(namespace):
        breaks.append((("metadata", "namespace"), "must be lower-case letters, digits and dashes; correct it"))
    for field in ("labels", "annotations"):
        breaks += _text_breaks(field, metadata.get(field))
    return breaks


def _text_breaks(field: str, values: Any) -> list[Break]:
    if values is None:
        return []
    if not isinstance(values, dict):
        return [(("metadata", field), "must be a mapping of strings; correct it")]
    return [
        (("metadata", field, name), "must be a string; put it in quotes")
        for name, value in values.items()
        if not isinstance(value, str)
    ]
