"""What payload holds: fields of a type that an API server refuses, and what is in envelopes. No sentence repeats a
value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.api import Break, dotted
from gitfleet.api.envelopes import documents_in, is_annotated, misplacement
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, key_of
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.values import is_kind_name, is_reserved_namespace
from gitfleet.desired.field_types import NO_MAPPING, type_breaks
from gitfleet.desired.identity import NO_KIND, kind_breaks, known_scope, metadata_breaks, scope_break
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import BUILT_IN_KINDS, is_envelope_kind
from gitfleet.formats.sops import METADATA, is_encrypted_text, is_sops_encrypted
from gitfleet.formats.yaml_reader import UnreadableText

_READ_HERE: Final[Mapping[GroupKind, tuple[tuple[str, ...], ...]]] = {
    GroupKind(PLACEMENT_GROUP, "ResourceEnvelope"): (("data",),),
    GroupKind(PLACEMENT_GROUP, "ClusterResourceEnvelope"): (("data",),),
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (("spec",), ("spec", "names")),
}
"""The fields that gitfleet itself reads of kinds, or of versions of them, whose types are not known; each must be a
mapping where it is given."""
_DATA: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind("", "ConfigMap"): ("data", "binaryData"),
    GroupKind("", "Secret"): ("data", "stringData"),
}
_DATA_KEY: Final = re.compile(r"(?!\.\.?$|\.\.)[-._a-zA-Z0-9]{1,253}")
"""What an API server takes as a key of a ConfigMap or Secret (Kubernetes IsConfigMapKey)."""


def shape_breaks(kind: GroupKind, body: JsonObject) -> list[Break]:
    """Fields of a wrong type: all of a built-in kind where the types of its version are known, otherwise its `spec` and
    `status` (Kubernetes API conventions, "Spec and Status") and what gitfleet reads."""
    breaks = type_breaks(body)
    mappings: tuple[tuple[str, ...], ...] = (("status",),)
    if breaks is None:
        breaks = []
        mappings = (("spec",), ("status",)) if (kind.group, kind.kind) in BUILT_IN_KINDS else ()
        mappings = (*mappings, *_READ_HERE.get(kind, ()))
    for location in dict.fromkeys(mappings):
        value: Any = body
        for name in location:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None and not isinstance(value, Mapping):
            breaks.append((location, NO_MAPPING))
    return [*breaks, *_data_key_breaks(kind, body), *_undecryptable_breaks(kind, body)]


def _data_key_breaks(kind: GroupKind, body: JsonObject) -> Iterator[Break]:
    for field in _DATA.get(kind, ()):
        entries = body.get(field)
        for key in entries if isinstance(entries, Mapping) else ():
            if not _DATA_KEY.fullmatch(str(key)):
                yield (field, key), DesiredText.NO_KEY_API_SERVER_TAKES()


def _undecryptable_breaks(kind: GroupKind, body: JsonObject) -> Iterator[Break]:
    """What SOPS encrypted, in a file that has lost what decrypting needs: it would be placed as it stands. Under `data`
    it is no base64 anyway."""
    is_known = is_sops_encrypted(body) or (kind.group, kind.kind) != ("", "Secret")
    entries = body.get("stringData") if not is_known else None
    for key, text in entries.items() if isinstance(entries, Mapping) else ():
        if is_encrypted_text(text):
            yield ("stringData", key), DesiredText.ENCRYPTED_SOPS_SOPS_METADATA_MISSING()


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
        yield DesiredText.CANNOT_READ_OBJECTS(unreadable=unreadable)
        return
    for number, inner in enumerate(documents, 1):
        for place, sentence in _inner_breaks(inner, envelope, scopes):
            field = f": {dotted(place)}" if place else ""
            yield f"object {number}{field} {sentence}"


def _inner_breaks(inner: Any, envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What keeps an entry of an envelope from being an object that may be in it."""
    if not isinstance(inner, Mapping):
        return [((), DesiredText.MUST_OBJECT_WRITE_APIVERSION())]
    breaks: list[Break] = [
        ((field,), DesiredText.MUST_STRING_CORRECT())
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
    if is_sops_encrypted(inner):
        return [*breaks, ((METADATA,), DesiredText.SAYS_OBJECT_ENCRYPTED_SOPS())]
    if sentence := scope_break(known_scope(key.group_kind, scopes), key.kind, key.namespace):
        breaks.append((("metadata", "namespace"), sentence))
    elif key.group_kind == GroupKind("", "Namespace") and is_reserved_namespace(key.name):
        breaks.append((("metadata", "name"), DesiredText.RESERVED_NAMESPACE_CANNOT_PLACED()))
    elif wrong := misplacement(envelope.key, key):
        breaks.append((("metadata", "namespace"), DesiredText.CORRECT_IT(wrong=wrong)))
    return breaks + shape_breaks(key.group_kind, inner)
