"""JSON text: one canonical form, so that equal content has equal bytes and equal hashes on every machine, and the plain
form for programs and people."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pkgutil import get_data
from typing import Any

import orjson

from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.texts import FormatsText


class NotJson(ValueError):
    """The bytes are not JSON."""


def canonical_json(value: JsonValue) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. TypeError for integers beyond 64 bits: the reader of YAML makes floats
    of them, as Kubernetes does."""
    return orjson.dumps(value, default=_as_dict, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def digest_of(value: JsonValue) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON."""
    return sha256(canonical_json(value)).hexdigest()


def json_bytes(value: JsonValue) -> bytes:
    """UTF-8 JSON with the keys in the value's own order, as requests to other programs carry it."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


def json_text(value: JsonValue, *, indent: bool = False) -> str:
    """The same as text; with `indent` over many lines, for people."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)).decode()


def _as_dict(value: Any) -> dict[str, Any]:
    """Mappings that are no dict, inside frozen values."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(FormatsText.NOT_JSON_VALUE(name=type(value).__name__))


def parse_json(content: bytes | str) -> Any:
    """The value of one JSON text that another program wrote (an API server, a cache). NotJson for anything else."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise NotJson("is not JSON") from error


def packaged_json(name: str) -> Any:
    """The value of a JSON file in gitfleet/formats/data."""
    return parse_json(get_data(__package__, f"data/{name}") or b"null")
