"""Checks of names that reach git: branches, paths, object ids and message parts. Every error is BadInput.

Sources: git-check-ref-format, git fsck (hasDotgit and the like), path limits of Linux.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Set

from gitfleet.errors import BadInput
from gitfleet.formats.texts import FormatsText

GITFLEET = ("gitfleet", "gitfleet@localhost")
"""Committer of every commit that gitfleet makes by itself, and its author unless the change names one."""
SHA1_DIGITS = 40
"""The digits of an object id in a repository of the usual format."""
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ABBREVIATED_ID = re.compile(r"[0-9a-f]{4,64}")
BRANCH = (
    r"(?![./-]|@$|HEAD$)(?![\s\S]*(?:[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$))"
    r"[\s\S]{1,255}"
)
"""What git takes as the name of a branch (git-check-ref-format --branch), beside its length in bytes."""
_BRANCH = re.compile(BRANCH)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TRAILER_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_TRAILER_LINE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9-]*: ")
# HFS+ drops these when it compares names, so ".g\u200cit" would be ".git" on such a disk (git's fsck refuses it too).
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_LONGEST_PATH_BYTES = 4096
_LONGEST_NAME_BYTES = 255


def check_object_id(oid: str) -> str:
    """The id itself when it is a whole hexadecimal object id."""
    if not _OBJECT_ID.fullmatch(oid):
        raise BadInput(FormatsText.NOT_WHOLE_GIT_OBJECT_ID(oid=oid[:80]), hint=FormatsText.RESOLVE_REVISION_ID_FIRST())
    return oid


def is_abbreviated_id(text: str) -> bool:
    """Whether a revision may be an object id or the beginning of one."""
    return _ABBREVIATED_ID.fullmatch(text) is not None


def check_branch(branch: str) -> str:
    """The branch name itself when git would take it below refs/heads (the rules of git-check-ref-format)."""
    if not is_branch(branch):
        raise BadInput(FormatsText.NOT_BRANCH_NAME_GIT_ACCEPTS(branch=branch[:80]), hint=FormatsText.USE_NAME_MAIN())
    _check_utf8(branch, "branch name")
    return branch


def is_branch(branch: str) -> bool:
    """Whether `check_branch` takes a name, as far as it is Unicode."""
    return bool(_BRANCH.fullmatch(branch)) and len(branch.encode(errors="replace")) <= _LONGEST_NAME_BYTES


def check_path(path: str) -> str:
    """The path itself when it is relative, plain and safe to check out on any system."""
    _check_utf8(path, "path")
    is_plain = not _CONTROL.search(path) and all(map(_is_name, path.split("/")))
    if not is_plain or len(path.encode()) > _LONGEST_PATH_BYTES:
        raise BadInput(FormatsText.PATH_CANNOT_WRITTEN_GIT(path=path[:120]))
    return path


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and not _means_dot_git(name) and len(name.encode()) <= _LONGEST_NAME_BYTES


def is_path(path: str) -> bool:
    """Whether `check_path` takes a path."""
    try:
        return bool(check_path(path))
    except BadInput:
        return False


def check_paths(written: Set[str], linked: Set[str], removed: Iterable[str]) -> None:
    """Check the paths of one commit: files with new bytes, files of known blobs, and what is removed (a folder may end
    in a slash; "" is the whole tree)."""
    files = (*written, *linked)
    for path in (*files, *(path.removesuffix("/") for path in removed if path)):
        check_path(path)
    if both := written & linked:
        raise BadInput(FormatsText.PATH_WRITTEN_AND_LINKED(path=min(both)))
    taken = {*files}
    for path in files:
        folder = path
        while "/" in folder:
            folder = folder.rsplit("/", 1)[0]
            if folder in taken:
                raise BadInput(FormatsText.PATH_FILE_AND_FOLDER(path=folder, below=path))


def check_line(text: str, label: str) -> str:
    """The text itself when it fits on one line of a commit."""
    if not text.strip() or _CONTROL.search(text):
        raise BadInput(FormatsText.COMMIT_MUST_ONE_LINE_TEXT(what=label, text=text[:80]))
    _check_utf8(text, label)
    return text


def check_identity(identity: tuple[str, str]) -> str:
    """`name <email>` of an author, as a commit holds it."""
    name, email = identity
    if _CONTROL.search(name + email) or set("<>") & set(name + email) or not name.strip() or not email.strip():
        raise BadInput(FormatsText.AUTHOR_CANNOT_WRITTEN_COMMIT(name=name[:80]), hint=FormatsText.GIVE_NAME_ADDRESS())
    _check_utf8(name + email, "author")
    return f"{name.strip()} <{email.strip()}>"


def check_trailer(key: str, value: str) -> str:
    """`Key: value` as the last paragraph of a commit message holds it."""
    if not _TRAILER_KEY.fullmatch(key):
        raise BadInput(FormatsText.NOT_KEY_TRAILER_COMMIT(key=key[:80]))
    return f"{key}: {check_line(value, 'trailer ' + key).strip()}"


def _means_dot_git(name: str) -> bool:
    # NTFS drops dots and blanks at the end, cuts at ":" and knows .git by its short name git~1.
    folded = _IGNORED_BY_HFS.sub("", name).lower().split(":")[0].rstrip(". ")
    return folded in (".git", "git~1")


def _check_utf8(text: str, label: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(FormatsText.NOT_VALID_UNICODE(what=label, text=text[:80])) from error


def blob_id(content: bytes, digits: int = SHA1_DIGITS) -> str:
    """Git's id of a blob with these bytes, in a repository whose ids have so many digits (SHA-1 or SHA-256)."""
    digest = hashlib.sha1(usedforsecurity=False) if digits == SHA1_DIGITS else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()


def was_trailer(message: bytes, oid: str) -> bytes:
    """The message of a commit that is made again with another parent: with a trailer that says which one it was, the
    first one where that happened before."""
    last = message.rstrip(b"\n").rpartition(b"\n\n")[2]
    if any(line.startswith(b"Gitfleet-Was: ") for line in last.split(b"\n")):
        return message
    are_trailers = all(_TRAILER_LINE.match(line) for line in last.split(b"\n"))
    return message.rstrip(b"\n") + (b"\n" if are_trailers else b"\n\n") + f"Gitfleet-Was: {oid}\n".encode()
