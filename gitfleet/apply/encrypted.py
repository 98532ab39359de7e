"""Secrets that SOPS encrypted against live ones, without their plaintext.

Whether the cluster still has an encrypted value follows from the server's own bookkeeping: whoever else writes another
value takes the field from gitfleet, and where gitfleet has the field, it has the value that it applied. So no digest
depends on a value that somebody could guess.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.managed_fields import child_fields, owned_fields
from gitfleet.formats.masking import MASK
from gitfleet.formats.secret_objects import as_stored
from gitfleet.formats.sops import ENCRYPTED_START, METADATA, is_sops_encrypted

_STARTS: Final = (ENCRYPTED_START, b64encode(ENCRYPTED_START.encode()).decode())


def as_encrypted(manifest_body: JsonObject, live_body: JsonObject) -> tuple[JsonObject, JsonObject]:
    """What to compare: the manifest as a server would store it, and the live object with the encrypted texts in place
    of the values that gitfleet applied, and others in place of other values. The very same two where SOPS encrypted
    nothing. What stands for a live object nobody asked for is a manifest: no server keeps SOPS' metadata."""
    if not is_sops_encrypted(manifest_body):
        return manifest_body, live_body
    wanted = _without_metadata(manifest_body)
    if is_sops_encrypted(live_body):
        return wanted, _without_metadata(live_body)
    texts, values = _mapping(wanted.get("data")), _mapping(live_body.get("data"))
    owned = child_fields(owned_fields(live_body), "data") or {}
    encrypted = {key: text for key, text in texts.items() if isinstance(text, str) and text.startswith(_STARTS)}
    there = {key: encrypted[key] if f"f:{key}" in owned else MASK for key, value in values.items() if key in encrypted}
    return wanted, {**live_body, "data": {**values, **there}} if there else live_body


def _without_metadata(body: JsonObject) -> JsonObject:
    return {part: value for part, value in as_stored(body).items() if part != METADATA}


def _mapping(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
