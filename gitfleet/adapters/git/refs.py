"""Lists of refs and refspecs as git reads and prints them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitfleet.adapters.git.mirror import branch_ref

HEADS = "refs/heads/"
_SHA1_DIGITS = 40


def refspecs(names: Iterable[str]) -> list[str]:
    """Branches of the remote to where the mirror keeps them."""
    return [f"+{HEADS}{name}:{branch_ref(name)}" for name in names]


def format_of(heads: Mapping[str, str]) -> str:
    """The object format of a remote with these heads."""
    return "sha256" if any(len(oid) > _SHA1_DIGITS for oid in heads.values()) else "sha1"


def heads_of(output: bytes, *, separator: bytes, prefix: str) -> dict[str, str]:
    """Ids by ref without its prefix. Only a line feed ends a line: a name may hold other line ends of Unicode."""
    heads = {}
    for line in output.split(b"\n"):
        oid, _, name = line.partition(separator)
        ref = name.decode(errors="surrogateescape")
        if ref.startswith(prefix) and ref:
            heads[ref.removeprefix(prefix)] = oid.decode("ascii", errors="replace")
    return heads
