"""The shape of a live object under a manifest: what the server holds at the manifest's own fields, and nothing else.

Servers fill in defaults, rewrite quantities and move `stringData` into `data`, so a live object never equals its
manifest. What can be compared is one observation with the next: the shape is recorded right after an apply, and a later
observation with another shape means that somebody changed a field of ours. Fields nobody wrote in the manifest never
count.

How a list is compared follows the server's own bookkeeping of the fields gitfleet applied
(`gitfleet/formats/managed_fields.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.apply.encrypted import as_encrypted
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    OwnedItems,
    child_fields,
    item_fields,
    list_keys,
    match_item,
    owned_fields,
    owned_items,
)
from gitfleet.formats.secret_objects import as_stored

_METADATA_PARTS: Final = ("labels", "annotations")
_UNSHAPED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def shape_digest(manifest_body: JsonObject, live_body: JsonObject) -> str:
    """SHA-256 hex of the live object's values at the manifest's own fields.

    Maps count by the manifest's keys, lists as the module's docstring says; identity, `status` and all metadata but
    labels and annotations never count. Two observations of an object nobody touched give the same digest. It never
    depends on a value that SOPS encrypted.
    """
    owned = owned_fields(live_body)
    wanted, live = as_encrypted(as_stored(manifest_body), live_body)
    shape: dict[str, JsonValue] = {}
    for part, want in wanted.items():
        if part not in _UNSHAPED and part in live:
            shape[part] = _shape(part, want, live[part], child_fields(owned, part))
    want_meta, live_meta = wanted.get("metadata") or {}, live.get("metadata") or {}
    meta_owned = child_fields(owned, "metadata")
    for part in _METADATA_PARTS:
        if want_meta.get(part):
            key = f"metadata.{part}"
            shape[key] = _shape(part, want_meta[part], live_meta.get(part) or {}, child_fields(meta_owned, part))
    return digest_of(shape)


def _shape(field: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> JsonValue:
    if isinstance(want, MAPPING) and isinstance(have, MAPPING):
        return {
            # Most values are texts, and a text is its own shape.
            k: have[k] if isinstance(v, str) else _shape(k, v, have[k], child_fields(owned, k))
            for k, v in want.items()
            if k in have
        }
    if not isinstance(want, list) or not isinstance(have, list):
        return have
    keys = list_keys(field, want, owned)
    if keys is not None:
        items = owned_items(owned)
        return [_shape_item(item, have, keys, items) for item in want]
    if owned is not None and any(name.startswith("v:") for name in owned):
        return [item for item in want if item in have]
    return have


def _shape_item(item: JsonObject, have: Sequence[JsonValue], keys: tuple[str, ...], items: OwnedItems) -> JsonValue:
    found = match_item(item, have, keys)
    return None if found is None else _shape("", item, found, item_fields(items, found, keys))
