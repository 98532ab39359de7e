"""What git's plumbing prints about trees and blobs, parsed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from gitfleet.adapters.git.texts import GitText
from gitfleet.formats.git_names import blob_id
from gitfleet.ports.repos import CommitFacts, TreeEntry

_NO_MODE = "000000"
_PERSON = re.compile(r"(.*?) ?<([^<>]*)> (\d+)(?: [+-]\d+)?")
_ROLES = ("author", "committer")
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""


def parse_tree(output: bytes) -> dict[str, TreeEntry]:
    """Entries of `ls-tree -r -z -l` by path, in path order. A name that is not UTF-8 keeps its bytes as surrogates.

    ValueError for a blob whose size is `BAD`: git cannot read it and ends well all the same."""
    entries = {}
    for record in output.decode(errors="surrogateescape").split("\0"):
        if record:
            head, path = record.split("\t", 1)
            mode, _, oid, size = head.split()
            entries[path] = TreeEntry(mode, oid, None if size == "-" else int(size))
    return entries


def parse_changes(output: bytes) -> dict[str, TreeEntry | None]:
    """Entries of `diff-tree -r -z --raw --no-renames` by path, in path order; None where the path is gone."""
    arguments = output.decode(errors="surrogateescape").split("\0")
    changes: dict[str, TreeEntry | None] = {}
    for head, path in zip(arguments[0::2], arguments[1::2], strict=False):
        _, mode, _, oid, _ = head.split(" ")
        changes[path] = None if mode == _NO_MODE else TreeEntry(mode, oid)
    return changes


def parse_commit(oid: str, output: bytes) -> CommitFacts:
    """What `cat-file commit` printed. A time that no calendar has counts as 1970."""
    head, _, message = output.decode(errors="replace").partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    people = {key: _PERSON.fullmatch(value) for key, _, value in lines if key in ("author", "committer")}
    author, committer = ((person[1], person[2]) if (person := people.get(key)) else ("", "") for key in _ROLES)
    seconds = int(person[3]) if (person := people.get("committer")) else 0
    return CommitFacts(
        id=oid,
        tree=next((value for key, _, value in lines if key == "tree"), ""),
        parents=tuple(value for key, _, value in lines if key == "parent"),
        author=author,
        committer=committer,
        at=datetime.fromtimestamp(seconds if seconds <= _LAST_SECOND else 0, UTC),
        message=message,
    )


def parse_sizes(output: bytes) -> dict[str, tuple[str, int] | None]:
    """Type and size in bytes by object id from `cat-file --batch-check`; None for an object that is not there."""
    sizes: dict[str, tuple[str, int] | None] = {}
    for line in output.decode("ascii", errors="replace").splitlines():
        arguments = line.split(" ")
        sizes[arguments[0]] = (arguments[1], int(arguments[2])) if len(arguments) == 3 else None
    return sizes


def parse_contents(output: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Id, type and bytes of each object that `cat-file --batch` printed."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        oid, kind, size = output[start:end].decode("ascii").split(" ")
        start = end + 1 + int(size)
        yield oid, kind, output[end + 1 : start]
        start += 1


def parse_blobs(output: bytes) -> dict[str, bytes]:
    """The blobs that `cat-file --batch` printed; ValueError for an object that is none, or not what its id says."""
    blobs = {}
    for oid, kind, data in parse_contents(output):
        if kind != "blob" or not is_blob(oid, data):
            raise ValueError(GitText.OBJECT_NOT_AS_ID(oid=oid))
        blobs[oid] = data
    return blobs


def is_blob(oid: str, data: bytes) -> bool:
    """Whether these bytes are the blob of that id (SHA-1 or SHA-256 by the id's length)."""
    return blob_id(data, len(oid)) == oid
