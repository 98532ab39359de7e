"""One canonical form of a JSON value, so that equal content has equal bytes and equal hashes on every machine."""

from __future__ import annotations

from hashlib import sha256

import orjson

from gitfleet.formats.json_values import JsonValue


def canonical_json(value: JsonValue) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. TypeError for integers beyond 64 bits: the reader of YAML makes floats
    of them, as Kubernetes does."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def digest_of(value: JsonValue) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON."""
    return sha256(canonical_json(value)).hexdigest()
