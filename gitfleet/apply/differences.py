"""Which fields of a live object differ from its manifest, for people and for the takeover and drift rules.

KubeFleet's partial comparison covers the manifest's own fields, its full comparison all fields. Ignored, as
there: identity, status, and labels and annotations of Kubernetes' and KubeFleet's own domains. What a server only
writes in another way (quantities, `stringData`, empty values left out) is no difference. Values of Secrets are never
shown.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.apply.places import all_are
from gitfleet.apply.shapes import as_encrypted
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.field_trees import FieldTree, tree_of
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    child_fields,
    is_own_apply,
    item_fields,
    list_keys,
    managed_entries,
    match_item,
    named_item,
    owned_fields,
    owned_items,
)
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity
from gitfleet.formats.secret_objects import as_stored, is_secret, masked_value
from gitfleet.formats.sentences import named_briefly, shortened
from gitfleet.model.operations import DifferenceDetails
from gitfleet.model.rollout_fields import ABSENT, parts_of

MOST_DETAILS: Final = 100
"""KubeFleet's limit on reported differences of one object."""
_LONGEST_VALUE: Final = 256
_MASKED: Final = "(redacted)"
_SHOWN_OF_SECRETS: Final = ("/metadata/labels", "/type", "/immutable")
_IGNORED_DOMAINS: Final = ("kubernetes.io/", "k8s.io/", "kubernetes-fleet.io/")
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_QUANTITY_FIELDS: Final = re.compile(
    r"/(limits|requests|hard|capacity|default|defaultRequest|min|max|sizeLimit|averageValue|storage|divisor)(/|$)"
)
_EMPTY: Final[tuple[tuple[object, tuple[JsonValue, ...]], ...]] = (
    (ABSENT, (None, "", False, 0, [], {})),  # Go's omitempty: a server leaves empty values out
    (None, (None, [], {})),  # an empty list or map that is nil in Go, where the field is always written
)
_Differing = Iterator[tuple[str, JsonValue, JsonValue]]


def find_differences(manifest_body: JsonObject, live_body: JsonObject, *, full: bool = False) -> DifferenceDetails:
    """At most MOST_DETAILS differing fields in document order; `full` also lists fields that only the live object
    has. A value that SOPS encrypted differs unless gitfleet applied it."""
    manifest_body, live_body = as_encrypted(manifest_body, live_body)
    secret = any(map(is_secret, (manifest_body, live_body)))
    encoded = secret and manifest_body.get("apiVersion") == "v1"
    manifest, live = (_decoded(manifest_body), _decoded(live_body)) if encoded else (manifest_body, live_body)
    differing = _compare("", "", _compared(manifest), _compared(live), owned_fields(live_body), full)
    details: list[tuple[str, str | None, str | None]] = []
    for path, have, want in islice(differing, MOST_DETAILS):
        masked = secret and not path.startswith(_SHOWN_OF_SECRETS)
        details.append((path, _shown(have, masked), _shown(want, masked)))
    return tuple(details)


def _compared(body: JsonObject) -> JsonObject:
    """The parts of an object that count."""
    metadata = section(body, "metadata")
    parts = {part: _without_ignored(metadata.get(part) or {}) for part in ("annotations", "labels")}
    return {"metadata": parts, **{part: value for part, value in body.items() if part not in _IDENTITY}}


def _compare(path: str, field: str, want: JsonValue, have: JsonValue, owned: OwnedFields, full: bool) -> _Differing:
    if all_are(MAPPING, want, have):
        for key in dict.fromkeys((*want, *have)) if full else want:
            below, at = child_fields(owned, key), f"{path}/{_escaped(key)}"
            yield from _compare(at, key, want.get(key, ABSENT), have.get(key, ABSENT), below, full)
    elif all_are(list, want, have):
        yield from _compare_lists(path, field, want, have, owned, full)
    elif not _same(path, want, have):
        yield path, have, want


def _compare_lists(
    path: str, field: str, want: list[JsonValue], have: list[JsonValue], owned: OwnedFields, full: bool
) -> _Differing:
    keys, items = list_keys(field, want, owned), owned_items(owned)
    if (keys is None or full) and len(want) != len(have):
        yield path, have, want
        return
    for position, item in enumerate(want):
        at = f"{path}/{position}"
        if keys is None:
            yield from _compare(at, "", item, have[position], None, full)
        elif (live_item := match_item(item, have, keys)) is None:
            yield at, ABSENT, item
        else:
            yield from _compare(at, "", item, live_item, item_fields(items, live_item, keys), full)


def _same(path: str, want: JsonValue, have: JsonValue) -> bool:
    for nothing, empty in _EMPTY:
        if want is nothing or have is nothing:
            return (have if want is nothing else want) in empty
    if want == have and isinstance(want, bool) == isinstance(have, bool):
        return True
    return bool(_QUANTITY_FIELDS.search(path)) and _quantity(want) == _quantity(have)


def _quantity(value: JsonValue) -> Quantity | str:
    """The quantity that a value is; of any other value its text."""
    try:
        return parse_quantity(str(value))
    except InvalidQuantity:
        return repr(value)


def _without_ignored(entries: JsonObject) -> JsonObject:
    return {k: v for k, v in entries.items() if not any(domain in k for domain in _IGNORED_DOMAINS)}


def _decoded(body: JsonObject) -> JsonObject:
    """A Secret with its bytes as latin-1 text, whichever way they were written."""
    stored = as_stored(body)
    return {**stored, "data": {key: _unbase64(value) for key, value in section(stored, "data").items()}}


def _unbase64(value: JsonValue) -> str:
    try:
        return base64.b64decode(str(value)).decode("latin-1")
    except (binascii.Error, ValueError):
        return str(value)


def _shown(value: JsonValue, masked: bool) -> str | None:
    if value is ABSENT:
        return None
    value = _MASKED if masked else masked_value(value)
    return shortened(value if isinstance(value, str) else json_text(value), _LONGEST_VALUE)


def _escaped(key: str) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


_MOST_NAMED: Final = 3
_LONGEST_NAME: Final = 128
"""Characters of a field manager, as API servers accept them."""


def writer_of(manifest_body: JsonObject, live_body: JsonObject, path: str) -> FieldWriter | None:
    """Who other than gitfleet last wrote the field at a path of `find_differences`; None when nobody owns it, or the
    server does not say."""
    return max(_writers(manifest_body, live_body, path), key=lambda writer: writer.time, default=None)


def writers_of(manifest_body: JsonObject, live_body: JsonObject, details: DifferenceDetails) -> tuple[FieldWriter, ...]:
    """Who other than gitfleet owns the differing fields, by path and manager, each once: which of several wrote last
    is no matter of the field alone, and may change without it."""
    writers = {}
    for path, _, _ in details:
        by_name = sorted(_writers(manifest_body, live_body, path), key=lambda writer: (writer.manager, writer.time))
        writers.update({(path, writer.manager): writer for writer in by_name})
    return tuple(writers.values())


def names_of(writers: Iterable[FieldWriter]) -> str:
    """The field managers in a sentence; "" where none is named."""
    return named_briefly(sorted({writer.manager for writer in writers if writer.manager}), _MOST_NAMED)


def _writers(manifest_body: JsonObject, live_body: JsonObject, path: str) -> Iterator[FieldWriter]:
    for entry in managed_entries(live_body):
        if not is_own_apply(entry) and _owns(tree_of(entry), manifest_body, iter(parts_of(path))):
            yield FieldWriter(path, str(entry.get("manager") or "")[:_LONGEST_NAME], str(entry.get("time") or ""))


def _owns(node: FieldTree, value: JsonValue, parts: Iterator[str]) -> bool:
    """Whether a FieldsV1 tree has the field. Positions of lists are those of the manifest."""
    part = next(parts, None)
    if part is None:
        return True
    if not isinstance(value, list):
        child = child_fields(node, part)
        return child is not None and _owns(child, section(value).get(part), parts)
    if not any(name.startswith("k:") for name in node):
        return True  # a list that is one value, or a set
    item = value[int(part)]
    child = named_item(node, item) if isinstance(item, Mapping) else None
    return child is not None and _owns(child, item, parts)
