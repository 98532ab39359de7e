"""What payload holds, as far as gitfleet itself reads it: ConfigMaps, Secrets, definitions and envelopes.

An API server refuses what has a wrong type here. No sentence repeats a value.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.api import Break, Location, dotted
from gitfleet.api.envelopes import documents_in, is_annotated, misplacement
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, key_of
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.values import is_kind_name, is_reserved_namespace
from gitfleet.desired.identity import NO_KIND, kind_breaks, known_scope, metadata_breaks, scope_break
from gitfleet.formats.kinds import BUILT_IN_KINDS, is_envelope_kind
from gitfleet.formats.yaml_reader import UnreadableText

_MAPPINGS: Final[Mapping[GroupKind, tuple[tuple[str, ...], ...]]] = {
    GroupKind("", "ConfigMap"): (("data",), ("binaryData",)),
    GroupKind("", "Secret"): (("data",), ("stringData",)),
    GroupKind(PLACEMENT_GROUP, "ResourceEnvelope"): (("data",),),
    GroupKind(PLACEMENT_GROUP, "ClusterResourceEnvelope"): (("data",),),
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (("spec",), ("spec", "names")),
}
"""The fields of kinds that gitfleet itself reads; each must be a mapping where it is given."""
_OF_BUILT_IN: Final = (("spec",), ("status",))
"""Where a built-in kind has these, they are mappings (Kubernetes API conventions, "Spec and Status")."""
_TEXTS: Final = frozenset(
    {("ConfigMap", "data"), ("ConfigMap", "binaryData"), ("Secret", "data"), ("Secret", "stringData")}
)
"""Those of the core group whose values are strings."""
_BASE64: Final = frozenset({("ConfigMap", "binaryData"), ("Secret", "data")})


def shape_breaks(kind: GroupKind, body: JsonObject) -> list[Break]:
    """Fields of a wrong type: those that gitfleet reads, and `spec` and `status` of every built-in kind."""
    breaks: list[Break] = []
    common = _OF_BUILT_IN if (kind.group, kind.kind) in BUILT_IN_KINDS else ()
    for location in dict.fromkeys((*common, *_MAPPINGS.get(kind, ()))):
        value: Any = body
        for name in location:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None and not isinstance(value, Mapping):
            breaks.append((location, "must be a mapping; correct it"))
        elif value is not None and (kind.kind, location[0]) in _TEXTS:
            breaks += _text_breaks(location, value, encoded=(kind.kind, location[0]) in _BASE64)
    return breaks


def _text_breaks(location: Location, values: Mapping[str, Any], *, encoded: bool) -> Iterator[Break]:
    for name, value in values.items():
        if value is None:
            continue  # an API server reads it as empty
        if not isinstance(value, str):
            yield (*location, name), "must be a string; put it in quotes"
        elif encoded and not _is_base64(value):
            yield (*location, name), "must be base64; encode it, or use stringData in a Secret and data in a ConfigMap"


def _is_base64(text: str) -> bool:
    try:
        b64decode("".join(text.split()), validate=True)
    except ValueError:
        return False
    return True


def enveloped_breaks(envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What is wrong with the objects in an envelope, be it annotated or of KubeFleet's own kinds; none for others.

    `scopes` are those of custom kinds, as far as they are known.
    """
    kind = envelope.key.group_kind
    breaks: list[Break] = []
    if is_envelope_kind(kind.group, kind.kind):
        for entry, inner in (envelope.body.get("data") or {}).items():
            breaks += [(("data", entry, *place), text) for place, text in _inner_breaks(inner, envelope, scopes)]
    elif is_annotated(kind, envelope.body):
        for entry, text in (envelope.body.get("data") or {}).items():
            breaks += [(("data", entry), sentence) for sentence in _text_sentences(text, envelope, scopes)]
    return breaks


def _text_sentences(text: Any, envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> Iterator[str]:
    """What is wrong with one text of an annotated ConfigMap, where no line of the file can be named."""
    try:
        documents = documents_in(text if isinstance(text, str) else "")
    except UnreadableText as unreadable:
        yield f"cannot be read as objects: {unreadable}"
        return
    for number, inner in enumerate(documents, 1):
        for place, sentence in _inner_breaks(inner, envelope, scopes):
            field = f": {dotted(place)}" if place else ""
            yield f"object {number}{field} {sentence}"


def _inner_breaks(inner: Any, envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What keeps an entry of an envelope from being an object that may be in it."""
    if not isinstance(inner, Mapping):
        return [((), "must be an object; write apiVersion, kind and metadata")]
    breaks: list[Break] = [
        ((field,), "must be a string; correct it")
        for field in ("apiVersion", "kind")
        if not isinstance(inner.get(field), str)
    ]
    if isinstance(inner.get("kind"), str) and not is_kind_name(inner["kind"]):
        breaks.append((("kind",), NO_KIND))
    breaks += metadata_breaks(inner.get("metadata"))
    if breaks:
        return breaks
    key = key_of(inner)
    breaks = kind_breaks(key)
    if sentence := scope_break(known_scope(key.group_kind, scopes), key.kind, key.namespace):
        breaks.append((("metadata", "namespace"), sentence))
    elif key.group_kind == GroupKind("", "Namespace") and is_reserved_namespace(key.name):
        breaks.append((("metadata", "name"), "is a reserved namespace, which cannot be placed; name another"))
    elif wrong := misplacement(envelope.key, key):
        breaks.append((("metadata", "namespace"), f"{wrong}; correct it"))
    return breaks + shape_breaks(key.group_kind, inner)
