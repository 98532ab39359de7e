"""No credential is shown, logged or committed: known ones, and what looks like one, are cut out of texts.

Of a Secret's values see `secret_objects` (which they are) and `secret_texts` (how others quote them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gitfleet.formats.sentences import shortened

LONGEST_SENTENCE: Final = 512
_SHORTEST_SECRET: Final = 4
MASK: Final = "***"
"""What replaces a secret."""
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
# Each begins where a word or token does, with what may stand before: so none is tried at every place of a long one.
_JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?>[A-Za-z0-9_-]*?\beyJ)[A-Za-z0-9_-]++\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?"
)
_USER_INFO: Final = re.compile(r"(?<=://)[^/\s@]*@")
_QUERY: Final = re.compile(r"""(?<![^\s?"'<>])(?=[^\s?"'<>]*?://)([^\s?"'<>]*+\?)[^\s"'<>]+""")
_HEADER: Final = re.compile(r"(?i)(?<!\S)((?>\S*?authorization:)\s*\S++\s+)\S+")
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
    return shortened(_SPACE.sub(" ", without_secrets(text, secrets)).strip(), LONGEST_SENTENCE)
