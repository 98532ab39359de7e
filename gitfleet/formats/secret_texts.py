"""Somebody else's words about an object that holds secrets, without the secrets.

An API server, a webhook or a program may quote a value in its own way: Go's %q, JSON with escapes, base64, hex, bytes
in decimals, URL encoding, folded over lines, or only a piece of it. What is recognised is masked; where a text that is
unescaped still shows a value, nothing of the text is shown.
"""

from __future__ import annotations

import base64
import contextlib
import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.formats.masking import MASK
from gitfleet.formats.texts import FormatsText

WITHHELD: Final = FormatsText.SAYS_NOT_SHOWN()
"""Stands for a whole text whose secrets cannot be cut out."""
SHORTEST_SECRET: Final = 4
"""Shorter values are masked only where they stand in quotes or brackets: they would blot out ordinary words."""
_LONGEST_READ: Final = 8192
_LONGEST_PASSWORD: Final = 128
_LONGEST_IN_DIGITS: Final = 4096
_PIECE: Final = 8
_PIECE_OF_A_FILE: Final = 16
_LEVELS: Final = 3
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3})|(.))", re.DOTALL)
_PERCENT: Final = re.compile(r"%([0-9a-fA-F]{2})")
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "0": "\0"}
_NOISE: Final = re.compile(r"[\s\"'`\\|>+]+")
_BEFORE: Final = r"(?<=[\"'`({\[:=>])"
_AFTER: Final = r"(?=\\?[\"'`)}\],<])"


def without_values(text: str, values: Iterable[str]) -> str:
    """The text, cut to 8192 characters, with every value masked in whatever way it is quoted, and every piece of one
    that has eight characters (sixteen of a value longer than 128); WITHHELD where that cannot be done."""
    forms = {form for value in values if value for form in _forms(value)}
    if not forms:
        return text
    text = text[:_LONGEST_READ]
    marks = bytearray(len(text))
    pieces: dict[int, dict[str, list[int]]] = {}
    for form in forms:
        if len(form) < SHORTEST_SECRET:
            for match in re.finditer(rf"{_BEFORE}{re.escape(form)}{_AFTER}", text):
                marks[match.start() : match.end()] = b"\1" * len(form)
        else:
            size = _piece_of(form)
            if size not in pieces:
                pieces[size] = _places_of_pieces(text, size)
            _mark(form, size, pieces[size], marks)
    shown = _with_masks(text, marks)
    squashed = {squeezed for form in forms if len(squeezed := _NOISE.sub("", form)) >= SHORTEST_SECRET}
    blanks = {_NOISE.sub("", reading.replace(MASK, "\0")) for reading in _readings(shown)}
    return WITHHELD if any(_contains_any(blank, squashed) for blank in blanks) else shown


def _forms(value: str) -> Iterator[str]:
    """A value as it may be quoted without any escape."""
    yield value
    yield from _forms_of_bytes(value.encode("utf-8", "surrogatepass"))
    if not value.isascii():
        with contextlib.suppress(UnicodeEncodeError):  # bytes that are no text stand here as latin-1
            yield from _forms_of_bytes(value.encode("latin-1"))


def _forms_of_bytes(raw: bytes) -> Iterator[str]:
    if len(raw) <= _LONGEST_IN_DIGITS:
        yield raw.hex()
        yield " ".join(map(str, raw))
        yield ", ".join(map(str, raw))
    yield base64.b64encode(raw).decode()
    yield base64.urlsafe_b64encode(raw).decode()
    for shift in range(3):  # inside of a longer text that was encoded, it begins at any of three places
        encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=").decode()
        # The letters at both ends also depend on what stands beside the value.
        inner = encoded[(0, 2, 3)[shift] : len(encoded) - bool((shift + len(raw)) % 3)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _places_of_pieces(text: str, size: int) -> dict[str, list[int]]:
    """Every piece of the text of that many characters, and where it begins."""
    places: dict[str, list[int]] = {}
    for start in range(len(text) - size + 1):
        places.setdefault(text[start : start + size], []).append(start)
    return places


def _mark(form: str, size: int, places: dict[str, list[int]], marks: bytearray) -> None:
    """Note where the text has the form, or a piece of it that is long enough; a place that is noted leaves `places`."""
    for start in range(len(form) - size + 1):
        for place in places.pop(form[start : start + size], ()):
            marks[place : place + size] = b"\1" * size


def _contains_any(text: str, forms: Iterable[str]) -> bool:
    pieces: dict[int, dict[str, list[int]]] = {}
    for form in forms:
        size = _piece_of(form)
        if size not in pieces:
            pieces[size] = _places_of_pieces(text, size)
        if any(form[start : start + size] in pieces[size] for start in range(len(form) - size + 1)):
            return True
    return False


def _piece_of(form: str) -> int:
    return min(len(form), _PIECE if len(form) <= _LONGEST_PASSWORD else _PIECE_OF_A_FILE)


def _with_masks(text: str, marks: bytearray) -> str:
    out: list[str] = []
    for place, letter in enumerate(text):
        if not marks[place]:
            out.append(letter)
        elif not place or not marks[place - 1]:
            out.append(MASK)
    return "".join(out)


def _readings(text: str) -> Iterator[str]:
    """The text, and what is left when its escapes are taken off once and again."""
    for _ in range(_LEVELS + 1):
        yield text
        yield text.encode("latin-1", "ignore").decode("utf-8", "ignore")
        text = html.unescape(_PERCENT.sub(_of_hex, _ESCAPE.sub(_unescaped, text)))


def _of_hex(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _unescaped(match: re.Match[str]) -> str:
    short, long, byte, octal, letter = match.groups()
    if octal:
        return chr(int(octal, 8))
    if letter:
        return _LETTERS.get(letter, str(letter))
    return chr(min(int(short or long or byte, 16), 0x10FFFF))
