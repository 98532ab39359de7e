"""A BranchChange as the stream that `git fast-import` reads. Pure: the same change gives the same bytes, in pieces of
which the files' contents are not copied."""

from __future__ import annotations

import re

from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import BranchChange

_FILE_MODES = frozenset({"100644", "100755"})
_QUOTED = re.compile(rb'["\\]')


def compose_import(
    change: BranchChange, *, ref: str, base: str | None, committer: tuple[str, str], tree: str = ""
) -> list[bytes]:
    """The stream; it prints the tree of `base` (or of `expected` without one), the new tree and the commit's id. With
    `tree`, which is the change's, the repository has that already, and the message names it."""
    when = _epoch(change)
    parts = [
        b"feature done\n",
        f"commit {ref}\nmark :1\n".encode(),
        f"author {names.check_identity(change.author or committer)} {when}\n".encode(),
        f"committer {names.check_identity(committer)} {when}\n".encode(),
        *_data(compose_message(change, tree)),
    ]
    if base:
        parts.append(f"from {names.check_object_id(base)}\n".encode())
    if before := base or change.expected:
        parts.append(f'ls {names.check_object_id(before)} ""\n'.encode())
    parts += [f'M 040000 {names.check_object_id(tree)} ""\n'.encode()] if tree else _tree(change)
    parts.append(b'ls ""\n\nget-mark :1\ndone\n')
    return parts


def parse_import(output: bytes) -> tuple[str | None, str, str]:
    """Tree before (None when there was nothing), tree after and commit id from what fast-import printed."""
    *trees, commit = output.decode("ascii", errors="replace").splitlines()
    ids = [tree.split("\t")[0].split(" ")[-1] for tree in trees]
    return (ids[0] if len(ids) == 2 else None), ids[-1], names.check_object_id(commit)


def compose_message(change: BranchChange, tree: str) -> bytes:
    """The message of a change; BadInput for a part that would break out of its place."""
    names.check_line(change.subject, "subject")
    if "\0" in change.body:
        raise BadInput(GitText.BODY_HAS_NUL())
    for key, value in change.trailers:
        names.check_trailer(key, value)
    return change.message(tree).encode(errors="replace")


def check_change(change: BranchChange) -> None:
    """BadInput unless every path, link, id and name of the change may go into a repository."""
    names.check_branch(change.branch)
    names.check_paths(change.write.keys(), change.link.keys(), change.remove)
    for path, entry in change.link.items():
        names.check_object_id(entry.oid)
        if entry.mode not in _FILE_MODES:
            raise BadInput(GitText.LINK_MODE(path=path, mode=entry.mode), hint=GitText.LINK_PLAIN_FILES())


def _tree(change: BranchChange) -> list[bytes]:
    parts: list[bytes] = []
    for path in sorted(change.remove):
        parts.append(b"D " + _quote(path.removesuffix("/")) + b"\n" if path else b"deleteall\n")
    for path, entry in sorted(change.link.items()):
        parts.append(f"M {entry.mode} {entry.oid} ".encode() + _quote(path) + b"\n")
    for path, data in sorted(change.write.items()):
        parts.append(b"M 100644 inline " + _quote(path) + b"\n")
        parts += _data(data)
    return parts


def _quote(path: str) -> bytes:
    return b'"' + _QUOTED.sub(rb"\\\g<0>", path.encode()) + b'"'


def _data(data: bytes) -> tuple[bytes, bytes, bytes]:
    return (b"data %d\n" % len(data), data, b"\n")


def _epoch(change: BranchChange) -> str:
    if change.when.tzinfo is None or (seconds := int(change.when.timestamp())) < 0:
        raise BadInput(GitText.COMMIT_TIME())
    return f"{seconds} +0000"
