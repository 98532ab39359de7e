"""No secret is shown, logged or committed: values are cut out of texts, and of objects before they are compared."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitfleet.formats.json_values import JsonObject, JsonValue

LONGEST_SENTENCE: Final = 512
_SHORTEST_SECRET: Final = 4
MASK: Final = "***"
"""What replaces a secret."""
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_JWT: Final = re.compile(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?")
_USER_INFO: Final = re.compile(r"(?<=://)[^/\s@]*@")
_QUERY: Final = re.compile(r"""(://[^\s?"'<>]*\?)[^\s"'<>]+""")
_HEADER: Final = re.compile(r"(?i)(authorization:\s*\S+\s+)\S+")
_SECRET_PARTS: Final = ("data", "stringData")
_SPACE: Final = re.compile(r"\s+")


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the secrets and without anything that looks like a credential.

    A secret of less than four characters would blot out ordinary words; where a URL or header shows it, it goes too.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    text = _QUERY.sub(rf"\1{MASK}", _USER_INFO.sub(f"{MASK}@", text))
    text = _HEADER.sub(rf"\1{MASK}", text)
    return _JWT.sub(MASK, _BEARER.sub(MASK, text))


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """`without_secrets` on one line of at most LONGEST_SENTENCE characters."""
    text = _SPACE.sub(" ", without_secrets(text, secrets)).strip()
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 1]}…"


def is_secret(body: JsonObject) -> bool:
    """Whether an object's values are never shown: a Secret of any group and version."""
    return body.get("kind") == "Secret"


def masked_object(body: JsonObject, other: JsonObject | None = None) -> JsonObject:
    """The object with every value of a Secret masked, whatever stands where its values belong; the very same object
    otherwise. With `other`, a value that differs from the one there is marked as changed."""
    if not is_secret(body):
        return body
    out = dict(body)
    for part in _SECRET_PARTS:
        values, known = body.get(part), (other or {}).get(part)
        if isinstance(values, Mapping):
            there = known if isinstance(known, Mapping) else {}
            out[part] = {name: _mask(other is None or there.get(name) == value) for name, value in values.items()}
        elif values is not None:
            out[part] = _mask(other is None or known == values)
    return out


def _mask(same: bool) -> str:
    return MASK if same else f"{MASK} (changed)"


def secrets_in(body: JsonObject) -> tuple[str, ...]:
    """Every value of a Secret, as written and decoded, whatever its shape; none for any other object."""
    if not is_secret(body):
        return ()
    found: list[str] = []
    for value in _values_in(body.get("data")):
        found.append(value)
        try:
            found.append(base64.b64decode(value).decode())
        except (binascii.Error, ValueError):
            # Not text: nothing that could be quoted in a sentence.
            continue
    return (*found, *_values_in(body.get("stringData")))


def _values_in(part: JsonValue) -> Iterator[str]:
    match part:
        case None:
            return
        case Mapping():
            for value in part.values():
                yield from _values_in(value)
        case list():
            for value in part:
                yield from _values_in(value)
        case _:
            yield str(part)
