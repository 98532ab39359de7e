"""Secrets among objects: which values are never shown, wherever in an object they stand."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.masking import MASK
from gitfleet.formats.yaml_reader import parse_documents

_SHOWN_PARTS: Final = frozenset(("apiVersion", "kind", "type", "immutable"))
_ANNOTATIONS: Final = "annotations"
_HOLDERS: Final = frozenset(("metadata", "data", "stringData"))
_IDENTITY: Final = _SHOWN_PARTS | {
    "apiGroup", "group", "version", "namespace", "name", "uid", "resourceVersion", "key", "fieldPath", "optional",
    "controller", "blockOwnerDeletion", "selectionScope", "observationTime", "targetClusterObservedGeneration",
    "firstDriftedObservedTime", "firstDiffedObservedTime",
}  # fmt: skip
"""Scalars of what refers to a Secret: a selector, an owner, a row of a status."""
_ABOUT: Final = frozenset(("labelSelector", "condition"))
"""What else such a reference says of it."""
_LONGEST_TEXT: Final = 1024 * 1024
_SECRET_IN_TEXT: Final = re.compile(r"kind[\"'\\]*\s*:\s*(?:[&!]\S{1,200}+\s+){0,2}+[\"'\\]*Secret(?:List)?\b")
"""An anchor and a tag may stand before the kind; one with a longer name is found as the document is parsed."""
_ABSENT: Final = object()


def is_secret(body: JsonObject) -> bool:
    """Whether an object's values are never shown: a Secret of any group and version."""
    return body.get("kind") == "Secret"


def as_stored(body: JsonObject) -> JsonObject:
    """A Secret of Kubernetes as an API server stores it, `stringData` encoded under `data`; the very same object where
    it is none, has no `stringData`, or has values there of types that a server refuses."""
    texts, data = body.get("stringData"), body.get("data")
    if not (is_secret(body) and body.get("apiVersion") == "v1"):
        return body
    if not (isinstance(texts, Mapping) and all(isinstance(text, str) for text in texts.values())):
        return body
    if not isinstance(data, Mapping | None):
        return body
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    parts = {part: value for part, value in body.items() if part != "stringData"}
    return {**parts, "data": {**(data or {}), **encoded}}


def masked_object(body: JsonObject, compared: JsonObject | None = None) -> JsonObject:
    """The object with every value of a Secret masked; the very same object where there is none.

    A Secret's apiVersion, kind, type, names and labels are shown, no annotation and nothing else; of a reference to one
    all that says which it is. Secrets that stand
    inside of other objects (lists, envelopes) are masked as well, and texts that hold one (such as a ConfigMap's
    entries, or what kubectl applied last) are masked whole. With `compared`, a value that differs from the one there
    is marked as changed.
    """
    masked = masked_value(body, _ABSENT if compared is None else compared)
    return masked if isinstance(masked, Mapping) else body


def masked_value(value: JsonValue, compared: object = _ABSENT) -> JsonValue:
    """`masked_object` for any value of an object."""
    match value:
        case Mapping() if is_secret(value):
            return _masked_secret(value, compared)
        case Mapping():
            parts = {key: masked_value(part, _below(compared, key)) for key, part in value.items()}
            return parts if any(parts[key] is not value[key] for key in value) else value
        case list():
            items = [masked_value(item, _below(compared, index)) for index, item in enumerate(value)]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        case str() if contains_secret(value):
            return _mask(value, compared)
        case _:
            return value


def contains_secret(text: str) -> bool:
    """Whether a text is, or contains, the manifest of a Secret."""
    if "kind" not in text:
        return False
    if _SECRET_IN_TEXT.search(text):
        return True
    return any(_has_secret(document) for document in _documents(text))


def secrets_in(body: JsonObject) -> tuple[str, ...]:
    """Every value of the Secrets in an object, as written and decoded, whatever its shape; none where there is no
    Secret."""
    return tuple(dict.fromkeys(_secrets_in(body)))


def _is_shown(secret: JsonObject, part: str) -> bool:
    """Whether a scalar there is no value of it. What is named beside its kind, and has nothing to hold values, refers
    to a Secret."""
    refers = isinstance(secret.get("name"), str) and not _HOLDERS & secret.keys()
    return part in (_IDENTITY if refers else _SHOWN_PARTS) and _is_scalar(secret[part])


def _masked_secret(body: JsonObject, compared: object) -> JsonObject:
    out: dict[str, JsonValue] = {}
    for part, value in body.items():
        compared_part = _below(compared, part)
        if part in _ABOUT and _HOLDERS.isdisjoint(body):
            out[part] = masked_value(value, compared_part)
        elif part == "metadata" and isinstance(value, Mapping):
            out[part] = {
                key: _masked_leaves(entry, _below(compared_part, key)) if key == _ANNOTATIONS else entry
                for key, entry in value.items()
            }
        else:
            out[part] = value if _is_shown(body, part) else _masked_leaves(value, compared_part)
    return body if all(out[part] is value for part, value in body.items()) else out


def _masked_leaves(value: JsonValue, compared: object) -> JsonValue:
    match value:
        case Mapping():
            return {key: _masked_leaves(part, _below(compared, key)) for key, part in value.items()}
        case list():
            return [_masked_leaves(item, _below(compared, index)) for index, item in enumerate(value)]
        case None:
            return None
        case _:
            return _mask(value, compared)


def _mask(value: JsonValue, compared: object) -> str:
    return MASK if compared is _ABSENT or compared == value else f"{MASK} (changed)"


def _below(compared: object, step: str | int) -> object:
    """The part of the object that is compared; what is missing there counts as different."""
    if compared is _ABSENT:
        return _ABSENT
    if isinstance(compared, Mapping):
        return compared.get(step)
    if isinstance(compared, list) and isinstance(step, int) and step < len(compared):
        return compared[step]
    return None


def _is_scalar(value: JsonValue) -> bool:
    return not isinstance(value, Mapping | list)


def _documents(text: str) -> Iterator[JsonValue]:
    """The documents of a text; a plain sentence is a document that is the text itself, and holds nothing further."""
    for document in parse_documents(text.encode("utf-8", "replace"), max_bytes=_LONGEST_TEXT).documents:
        if not isinstance(document.value, str) or len(document.value) < len(text):
            yield document.value


def _has_secret(value: JsonValue) -> bool:
    match value:
        case Mapping():
            return is_secret(value) or any(_has_secret(part) for part in value.values())
        case list():
            return any(_has_secret(item) for item in value)
        case str():
            return "kind" in value and contains_secret(value)
        case _:
            return False


def _secrets_in(value: JsonValue) -> Iterator[str]:
    match value:
        case Mapping() if is_secret(value):
            yield from _values_of(value)
        case Mapping():
            for part in value.values():
                yield from _secrets_in(part)
        case list():
            for item in value:
                yield from _secrets_in(item)
        case str() if contains_secret(value):
            yield value
            for document in _documents(value):
                yield from _secrets_in(document)


def _values_of(secret: JsonObject) -> Iterator[str]:
    for part, value in secret.items():
        if part == "metadata":
            yield from _leaves(value.get(_ANNOTATIONS)) if isinstance(value, Mapping) else _leaves(value)
        elif part == "data":
            for leaf in _leaves(value):
                yield leaf
                yield from _decoded(leaf)
        elif part in _ABOUT and _HOLDERS.isdisjoint(secret):
            yield from _secrets_in(value)
        elif not _is_shown(secret, part):
            yield from _leaves(value)


def _decoded(text: str) -> Iterator[str]:
    try:
        content = base64.b64decode(text)
    except (binascii.Error, ValueError):
        return
    try:
        yield content.decode()
    except UnicodeDecodeError:
        yield content.decode("latin-1")  # as Go and others quote bytes that are no text, once unescaped
        yield content.decode(errors="replace")


def _leaves(part: JsonValue) -> Iterator[str]:
    match part:
        case None:
            return
        case Mapping():
            for value in part.values():
                yield from _leaves(value)
        case list():
            for value in part:
                yield from _leaves(value)
        case str():
            yield part
        case _:
            yield json_text(part)
