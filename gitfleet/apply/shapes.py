"""The shape of a live object under a manifest: what the server holds at the manifest's own fields, and nothing else.

Servers fill in defaults, rewrite quantities and move `stringData` into `data`, so a live object never equals its
manifest. What can be compared is one observation with the next: the shape is recorded right after an apply, and a later
observation with another shape means that somebody changed a field of ours. Fields nobody wrote in the manifest never
count.

How a list is compared follows the server's own bookkeeping of the fields gitfleet applied
(`gitfleet/formats/managed_fields.py`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.apply.places import is_set
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.json_values import section
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
from gitfleet.formats.masking import MASK
from gitfleet.formats.secret_objects import as_stored
from gitfleet.formats.sops import ENCRYPTED_START, METADATA, is_sops_encrypted

_METADATA_PARTS: Final = ("labels", "annotations")
_UNSHAPED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def shape_digest(manifest_body: JsonObject, live_body: JsonObject) -> str:
    """SHA-256 hex of the live object's values at the manifest's own fields.

    Maps count by the manifest's keys, lists as the module's docstring says; identity, `status` and all metadata but
    labels and annotations never count. Two observations of an object nobody touched give the same digest. It never
    depends on a value that SOPS encrypted.
    """
    owned = owned_fields(live_body)
    manifest, live = as_encrypted(as_stored(manifest_body), live_body)
    parts = (manifest.keys() & live.keys()) - _UNSHAPED
    shape = {part: _shape(part, manifest[part], live[part], child_fields(owned, part)) for part in parts}
    metadata, live_metadata = section(manifest, "metadata"), section(live, "metadata")
    for part in _METADATA_PARTS:
        if metadata.get(part):
            shape[f"metadata.{part}"] = _shape(part, metadata[part], live_metadata.get(part) or {}, None)
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
    if is_set(owned):
        return [item for item in want if item in have]
    return have


def _shape_item(item: JsonObject, have: Sequence[JsonValue], keys: tuple[str, ...], items: OwnedItems) -> JsonValue:
    live_item = match_item(item, have, keys)
    return None if live_item is None else _shape("", item, live_item, item_fields(items, live_item, keys))


_STARTS: Final = (ENCRYPTED_START, b64encode(ENCRYPTED_START.encode()).decode())


def as_encrypted(manifest_body: JsonObject, live_body: JsonObject) -> tuple[JsonObject, JsonObject]:
    """What to compare: the manifest as a server would store it, and the live object with the encrypted texts in place
    of the values that gitfleet applied, and others in place of other values. The very same two where SOPS encrypted
    nothing. What stands for a live object nobody asked for is a manifest: no server keeps SOPS' metadata."""
    if not is_sops_encrypted(manifest_body):
        return manifest_body, live_body
    manifest = _without_metadata(manifest_body)
    if is_sops_encrypted(live_body):
        return manifest, _without_metadata(live_body)
    values, owned = section(live_body, "data"), section(owned_fields(live_body), "f:data")
    encrypted = {key: text for key, text in section(manifest, "data").items() if str(text).startswith(_STARTS)}
    replaced = {key: encrypted[key] if f"f:{key}" in owned else MASK for key in values.keys() & encrypted.keys()}
    return manifest, {**live_body, "data": {**values, **replaced}} if replaced else live_body


def _without_metadata(body: JsonObject) -> JsonObject:
    return {part: value for part, value in as_stored(body).items() if part != METADATA}
