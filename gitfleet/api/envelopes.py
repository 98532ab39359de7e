"""Envelopes: objects that only carry other objects, so that those have no effect on a hub (decision D20).

Three are known: a ConfigMap with the annotation of the seeds, and KubeFleet's ClusterResourceEnvelope and
ResourceEnvelope. A snapshot keeps them whole; on the way to a cluster they are unwrapped and not placed themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet.api.objects import GroupKind, Identity, JsonObject, Manifest, ObjectKey, key_of
from gitfleet.api.texts import ApiText
from gitfleet.api.values import is_kind_name, is_namespace_name, is_object_name, is_reserved_namespace
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.json_values import section
from gitfleet.formats.kinds import BUILT_IN_KINDS, is_envelope_kind
from gitfleet.formats.yaml_reader import UnreadableText, read_documents

MAX_ENTRY_BYTES: Final = 1024 * 1024
"""Largest text of a ConfigMap that is read as an envelope."""
CONFIG_MAP: Final = GroupKind("", "ConfigMap")
_ANNOTATION: Final = "kubernetes-fleet.io/envelope-configmap"


EnvelopeTexts = dict[str, tuple[Any, ...]]
"""The documents of texts that were parsed in this pass, for the many clusters that get the same envelope."""


class EnvelopeError(ValueError):
    """An envelope cannot be unwrapped; the sentence says which, which entry and why, and repeats no content."""


def is_envelope(manifest: Manifest) -> bool:
    """Whether an object carries others."""
    key = manifest.key
    return is_envelope_kind(key.group, key.kind) or is_annotated(key.group_kind, manifest.body)


def is_annotated(kind: GroupKind, body: JsonObject) -> bool:
    """Whether an object is a ConfigMap whose texts are objects."""
    if kind != CONFIG_MAP:
        return False
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(_ANNOTATION) or "").lower() not in ("", "false")


def unwrap(envelope: Manifest, texts: EnvelopeTexts) -> tuple[Manifest, ...]:
    """The objects inside, in the order of their entries' names; EnvelopeError when one of them cannot be placed. What
    is parsed is added to `texts`."""
    inner: list[Manifest] = []
    for entry, body in _entries(envelope, texts):
        if not _is_object(body):
            raise _refused(envelope, f"{entry} {ApiText.NOT_OBJECT()}")
        key = key_of(body)
        if wrong := misplacement(envelope.key, key):
            raise _refused(envelope, f"{entry} {wrong}")
        inner.append(Manifest(key, body, digest_of(body), envelope.origin))
    return tuple(inner)


def objects_in(envelope: Manifest, texts: EnvelopeTexts) -> Iterator[tuple[str, ObjectKey]]:
    """The objects inside, each after the name of its entry, as far as they are objects; EnvelopeError when a text
    cannot be read."""
    for entry, body in _entries(envelope, texts):
        if _is_object(body):
            yield entry, key_of(body)


def carried(manifests: Iterable[Manifest]) -> dict[ObjectKey, tuple[ObjectKey, ...] | None]:
    """What the envelopes among these objects carry, by envelope; None for one that cannot be read."""
    contents: dict[ObjectKey, tuple[ObjectKey, ...] | None] = {}
    for manifest in manifests:
        if is_envelope(manifest):
            try:
                contents[manifest.key] = tuple(key for _, key in objects_in(manifest, {}))
            except EnvelopeError:
                contents[manifest.key] = None
    return contents


def carried_identities(manifests: Iterable[Manifest]) -> dict[Identity, frozenset[Identity]]:
    """What the envelopes among these objects carry, as far as they can be read."""
    inside = carried(manifests).items()
    return {envelope.identity: frozenset(inner.identity for inner in keys or ()) for envelope, keys in inside}


def _entries(envelope: Manifest, texts: EnvelopeTexts) -> Iterator[tuple[str, Any]]:
    data = envelope.body.get("data") or {}
    if not isinstance(data, Mapping):
        raise _refused(envelope, ApiText.DATA_NOT_MAPPING())
    for entry in sorted(data):
        if envelope.key.kind != "ConfigMap":
            yield entry, data[entry]
            continue
        try:
            documents = _documents(str(data[entry]), texts)
        except UnreadableText as error:
            raise _refused(envelope, f"{entry}: {error}") from None
        for document in documents:
            yield entry, document


def _documents(text: str, texts: EnvelopeTexts) -> tuple[Any, ...]:
    if text not in texts:
        texts[text] = documents_in(text)
    return texts[text]


def documents_in(text: str) -> tuple[Any, ...]:
    """The documents of one text of an envelope; UnreadableText."""
    return tuple(read_documents(text.encode(), max_bytes=MAX_ENTRY_BYTES))


def _is_object(body: Any) -> bool:
    """Whether a document of an envelope is an object."""
    metadata = section(body, "metadata")
    if not metadata:
        return False
    texts: list[Any] = [
        body.get("apiVersion"), body.get("kind"), metadata.get("name"), metadata.get("namespace") or "default"
    ]  # fmt: skip
    if not all(isinstance(text, str) and text for text in texts):
        return False
    kind, name, namespace = map(str, texts[1:])
    mappings = all(isinstance(metadata.get(field) or {}, Mapping) for field in ("labels", "annotations"))
    return mappings and is_kind_name(kind) and is_object_name(name) and is_namespace_name(namespace)


def misplacement(envelope: ObjectKey, key: ObjectKey) -> str:
    """Why an object may not lie in this envelope; "" when it may."""
    kind, home, namespace = envelope.kind, envelope.namespace, key.namespace
    row = BUILT_IN_KINDS.get((key.group, key.kind))
    if row is not None and row.namespaced != bool(namespace):
        scope = ApiText.NAMESPACED_KIND_NO_NAMESPACE() if row.namespaced else ApiText.CLUSTER_SCOPED_KIND_NAMESPACE()
        return f"is of {key.kind}, {scope}"
    if (key.group, key.kind) == ("", "Namespace") and is_reserved_namespace(key.name):
        return ApiText.NAMESPACE_RESERVED_CANNOT_PLACED(key=key.name)
    if kind == "ClusterResourceEnvelope" and namespace:
        return ApiText.LIES_NAMESPACE_ONLY_CLUSTER_SCOPED(namespace=namespace)
    if kind == "ResourceEnvelope" and not namespace:
        return ApiText.NO_NAMESPACE_ONLY_OBJECTS_ENVELOPE()
    if namespace and namespace != home:
        return ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN(namespace=namespace)
    return ""


def _refused(envelope: Manifest, why: str) -> EnvelopeError:
    key = envelope.key
    place = f"{key.namespace}/{key.name}" if key.namespace else key.name
    return EnvelopeError(ApiText.CANNOT_UNWRAPPED(key=key.kind, place=place, why=why))
