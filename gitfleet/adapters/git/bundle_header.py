"""The head of a git bundle, read before git sees the file. Pure. Format: git's gitformat-bundle."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitfleet.errors import BadInput

_SIGNATURES = {b"# v2 git bundle\n": 2, b"# v3 git bundle\n": 3}
_LARGEST_BYTES = 16 << 10
_REF = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) ([^\n]+)\n")
_FORMAT = re.compile(rb"@object-format=(sha1|sha256)\n")
_DIGITS = {"sha1": 40, "sha256": 64}
_WHOLE = "Make it with `gitfleet bundle export`, which writes one whole branch."


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """What a bundle says it holds: one branch at a commit, in a pack that begins at `start`."""

    object_format: str
    ref: str
    commit: str
    start: int


def read_header(content: bytes, shown: str) -> BundleHeader:
    """The head of a bundle; BadInput unless it is one, holds one ref, and lacks nothing that the reader would need to
    have already."""
    version = next((number for text, number in _SIGNATURES.items() if content.startswith(text)), None)
    if version is None:
        raise BadInput(f"{shown} is no git bundle.", hint="Is it the file that `gitfleet bundle export` wrote?")
    end = content.find(b"\n\n", 0, _LARGEST_BYTES)
    if end < 0:
        raise BadInput(f"{shown} is cut off, or lists more refs than a bundle of gitfleet has.", hint=_WHOLE)
    lines = content[: end + 1].splitlines(keepends=True)[1:]
    found = _FORMAT.fullmatch(lines[0]) if version == 3 and lines else None
    object_format = found[1].decode() if found else "sha1"
    rest = lines[1:] if found else lines
    if any(line.startswith(b"@") for line in rest):
        raise BadInput(f"{shown} is filtered, or asks for what gitfleet does not know.", hint=_WHOLE)
    if any(line.startswith(b"-") for line in rest):
        raise BadInput(f"{shown} is incomplete: it needs commits that it does not hold.", hint=_WHOLE)
    refs = [_REF.fullmatch(line) for line in rest]
    if len(refs) != 1 or (ref := refs[0]) is None or len(ref[1]) != _DIGITS[object_format]:
        raise BadInput(f"{shown} holds {len(refs)} refs or one that cannot be read, and not one branch.", hint=_WHOLE)
    return BundleHeader(object_format, ref[2].decode(errors="surrogateescape"), ref[1].decode(), end + 2)
