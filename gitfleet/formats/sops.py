"""What SOPS leaves readable of an object that it encrypted: which values are encrypted, and where they stand.

gitfleet keeps such an object as it is written, in snapshots as everywhere else; its values are decrypted as it is
applied, and at no other time. So whatever is compared, recorded or shown has the encrypted texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitfleet.formats.json_values import JsonObject, JsonValue

METADATA: Final = "sops"
"""The field that SOPS adds to each document (getsops/sops stores/stores.go)."""
VALUES: Final = ("data", "stringData")
"""The only fields of a Secret that may be encrypted: all else is what gitfleet selects, orders and shows it by."""
ENCRYPTED_START: Final = "ENC[AES256_GCM,"
"""What every encrypted text begins with; encoded with base64, too, it is a whole number of letters."""
_BASE64: Final = "([A-Za-z0-9+/]+=*)"
ENCRYPTED_TEXT: Final = re.compile(rf"ENC\[AES256_GCM,data:{_BASE64},iv:{_BASE64},tag:{_BASE64},type:([a-z]{{1,16}})\]")


def is_sops_encrypted(body: JsonValue) -> bool:
    """Whether SOPS encrypted a document: its metadata stand beside the values."""
    metadata = body.get(METADATA) if isinstance(body, Mapping) else None
    return isinstance(metadata, Mapping) and "mac" in metadata


def is_encrypted_text(value: JsonValue) -> bool:
    """Whether a value is one that SOPS encrypted."""
    return isinstance(value, str) and ENCRYPTED_TEXT.fullmatch(value) is not None


def encrypted_outside(body: JsonObject) -> tuple[str, ...] | None:
    """Where the first encrypted value stands that is none of `VALUES`; None where there is none."""
    parts = (key for key in body if key != METADATA and key not in VALUES)
    return next((place for key in parts for place in _encrypted_below(body[key], (key,))), None)


def with_values(body: JsonObject, value_of: Callable[[str, str], str]) -> JsonObject:
    """The object as it was before SOPS encrypted it; `value_of` is asked for the value of each text of `VALUES`, by the
    name of the field and the text."""
    parts = {key: value for key, value in body.items() if key != METADATA}
    for field in VALUES:
        entries = parts.get(field)
        if isinstance(entries, Mapping):
            parts[field] = {
                key: value_of(field, value) if isinstance(value, str) else value for key, value in entries.items()
            }
    return parts


def _encrypted_below(value: JsonValue, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    match value:
        case Mapping():
            for key, part in value.items():
                yield from _encrypted_below(part, (*path, str(key)))
        case list():
            for item in value:
                yield from _encrypted_below(item, path)
        case str() if value.startswith(ENCRYPTED_START):
            yield path
