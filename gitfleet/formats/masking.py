"""No secret leaves this package in a sentence: values are cut out before a text is shown, logged or committed."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Final

from gitfleet.formats.json_values import JsonObject

LONGEST_SENTENCE: Final = 512
_SHORTEST_SECRET: Final = 4
_MASK: Final = "***"
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_JWT: Final = re.compile(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?")
_USER_INFO: Final = re.compile(r"(?<=://)[^/\s@]*@")
_SPACE: Final = re.compile(r"\s+")


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """One line of at most LONGEST_SENTENCE characters without the secrets and without anything that looks like a
    credential."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK)
    text = _JWT.sub(_MASK, _BEARER.sub(_MASK, _USER_INFO.sub(f"{_MASK}@", text)))
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 1]}…"


def secrets_in(body: JsonObject) -> tuple[str, ...]:
    """Every value of a Secret, as written and decoded; none for any other object."""
    if body.get("kind") != "Secret":
        return ()
    found: list[str] = []
    for value in (body.get("data") or {}).values():
        found.append(str(value))
        try:
            found.append(base64.b64decode(str(value)).decode())
        except (binascii.Error, ValueError):
            # Not text: nothing that could be quoted in a sentence.
            continue
    found.extend(str(value) for value in (body.get("stringData") or {}).values())
    return tuple(found)
