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
from collections.abc import Iterator, Mapping
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.apply.encrypted import as_encrypted
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.managed_fields import (
    OwnedFields,
    child_fields,
    item_fields,
    list_keys,
    match_item,
    owned_fields,
    owned_items,
)
from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity
from gitfleet.formats.secret_objects import as_stored, is_secret, masked_value
from gitfleet.model.operations import DifferenceDetails

MOST_DETAILS: Final = 100
"""KubeFleet's limit on reported differences of one object."""
_LONGEST_VALUE: Final = 256
_MASKED: Final = "(redacted)"
_ABSENT: Final = object()
_SHOWN_OF_SECRETS: Final = ("/metadata/labels", "/type", "/immutable")
_IGNORED_DOMAINS: Final = ("kubernetes.io/", "k8s.io/", "kubernetes-fleet.io/")
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_QUANTITY_FIELDS: Final = re.compile(
    r"/(limits|requests|hard|capacity|default|defaultRequest|min|max|sizeLimit|averageValue|storage|divisor)(/|$)"
)
_Found = Iterator[tuple[str, JsonValue, JsonValue]]


def find_differences(manifest_body: JsonObject, live_body: JsonObject, *, full: bool = False) -> DifferenceDetails:
    """At most MOST_DETAILS differing fields in document order; `full` also lists fields that only the live object
    has. A value that SOPS encrypted differs unless gitfleet applied it."""
    manifest_body, live_body = as_encrypted(manifest_body, live_body)
    secret = is_secret(manifest_body) or is_secret(live_body)
    encoded = secret and manifest_body.get("apiVersion") == "v1"
    wanted, live = (_decoded(manifest_body), _decoded(live_body)) if encoded else (manifest_body, live_body)
    details: list[tuple[str, str | None, str | None]] = []
    for path, have, want in _compare_objects(wanted, live, owned_fields(live_body), full):
        masked = secret and not path.startswith(_SHOWN_OF_SECRETS)
        details.append((path, _shown(have, masked), _shown(want, masked)))
        if len(details) == MOST_DETAILS:
            break
    return tuple(details)


def _compare_objects(want: JsonObject, live: JsonObject, owned: OwnedFields, full: bool) -> _Found:
    want_meta, live_meta = want.get("metadata") or {}, live.get("metadata") or {}
    for part in ("annotations", "labels"):
        wanted = _without_ignored(want_meta.get(part) or {})
        there = _without_ignored(live_meta.get(part) or {})
        yield from _compare(f"/metadata/{part}", part, wanted, there, None, full)
    for part in [*want, *(p for p in live if p not in want)] if full else want:
        if part not in _IDENTITY:
            below = child_fields(owned, part)
            there = live.get(part, _ABSENT)
            yield from _compare(f"/{_escaped(part)}", part, want.get(part, _ABSENT), there, below, full)


def _compare(path: str, field: str, want: JsonValue, have: JsonValue, owned: OwnedFields, full: bool) -> _Found:
    if isinstance(want, Mapping) and isinstance(have, Mapping):
        for key in [*want, *(k for k in have if k not in want)] if full else want:
            below = child_fields(owned, key)
            yield from _compare(
                f"{path}/{_escaped(key)}", key, want.get(key, _ABSENT), have.get(key, _ABSENT), below, full
            )
    elif isinstance(want, list) and isinstance(have, list):
        yield from _compare_lists(path, field, want, have, owned, full)
    elif not _same(path, want, have):
        yield path, have, want


def _compare_lists(
    path: str, field: str, want: list[JsonValue], have: list[JsonValue], owned: OwnedFields, full: bool
) -> _Found:
    keys = list_keys(field, want, owned)
    if keys is None or (full and len(want) != len(have)):
        if len(want) != len(have):
            yield path, have, want
            return
        for position, (wanted, there) in enumerate(zip(want, have, strict=True)):
            yield from _compare(f"{path}/{position}", "", wanted, there, None, full)
        return
    items = owned_items(owned)
    for position, wanted in enumerate(want):
        found = match_item(wanted, have, keys)
        if found is None:
            yield f"{path}/{position}", _ABSENT, wanted
        else:
            yield from _compare(f"{path}/{position}", "", wanted, found, item_fields(items, found, keys), full)


def _same(path: str, want: JsonValue, have: JsonValue) -> bool:
    if want is _ABSENT or have is _ABSENT:
        # Go's omitempty: a server leaves empty values out.
        return (have if want is _ABSENT else want) in (None, "", False, 0, [], {})
    if want == have and isinstance(want, bool) == isinstance(have, bool):
        return True
    if want is None or have is None:
        # An empty list or map that is nil in Go is written as null where a field is always written.
        return (have if want is None else want) in ([], {})
    if _QUANTITY_FIELDS.search(path) and not isinstance(want, bool) and not isinstance(have, bool):
        one, other = _quantity(want), _quantity(have)
        return one is not None and one == other
    return False


def _quantity(value: JsonValue) -> Quantity | None:
    try:
        return parse_quantity(str(value))
    except InvalidQuantity:
        return None


def _without_ignored(entries: JsonObject) -> JsonObject:
    return {k: v for k, v in entries.items() if not any(domain in k for domain in _IGNORED_DOMAINS)}


def _decoded(body: JsonObject) -> JsonObject:
    """A Secret with its bytes as latin-1 text, whichever way they were written."""
    stored = as_stored(body)
    return {**stored, "data": {key: _unbase64(value) for key, value in _mapping(stored.get("data")).items()}}


def _mapping(value: JsonValue) -> JsonObject:
    """A mapping, and an empty one for anything else: an API server refuses a Secret with it."""
    return value if isinstance(value, Mapping) else {}


def _unbase64(value: JsonValue) -> str:
    try:
        return base64.b64decode(str(value)).decode("latin-1")
    except (binascii.Error, ValueError):
        return str(value)


def _shown(value: JsonValue, masked: bool) -> str | None:
    if value is _ABSENT:
        return None
    value = _MASKED if masked else masked_value(value)
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _escaped(key: str) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
