"""Git's complaints as gitfleet's errors: one sentence, a hint, and never a secret. git runs with LC_ALL=C."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable

from gitfleet.adapters.git.runner import GitResult
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import (
    BadInput,
    DiskFull,
    Forbidden,
    GitfleetError,
    NoRepository,
    RefusedForNow,
    RemoteRefuses,
    RemoteUnreachable,
    UnreadableCommit,
)

_LONGEST_QUOTE = 240
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says where a disk or a quota is full."""
_REFUSED = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|"
    r"returned error: 40[13]|HTTP (?:Basic|401|403)|Invalid username or (?:password|token)|access denied|"
    r"Permission to \S+ denied|not allowed to push|Host key verification failed|Access denied|"
    r"(?:code|error:?|response) 407"
)
_NO_LOGIN = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|returned error: 401|"
    r"HTTP (?:Basic|401)|Invalid username or (?:password|token)"
)
"""It is the token that is refused, not what its owner may do. git then asks a person, whom there is not, for a name."""
_NOT_FOUND = re.compile(
    r"returned error: 404|[Rr]epository '?[^']*'? not found|does not appear to be a git repository|"
    r"Repository not found|not a git repository|project you were looking for could not be found|no such repository"
)
_UNSOUND_OBJECT = re.compile(r"object ([0-9a-f]{40,64}): (\w+)")
_LACKING = re.compile(
    r"repository corruption|not our ref|unadvertised object|unable to read [0-9a-f]{40}|bad tree object|"
    r"did not send all necessary objects|is corrupt|data stream error"
)
"""The remote has a ref and cannot give all that it leads to."""
_REFUSED_OBJECT = re.compile(r"fsck error|error in packed object|hasDotgit|gitmodules")
_NOT_ALLOWED = re.compile(r"transport '[^']*' not allowed")
_MOVED = re.compile(r"redirect|returned error: 30\d", re.IGNORECASE)
_CERTIFICATE = re.compile(r"certificate|SSL|TLS")
_FAR = re.compile(
    r"Could not resolve|Connection (?:refused|timed out|reset)|timed out|returned error: (?:5\d\d|429)|"
    r"RPC failed|Failed to connect|unable to connect|Empty reply|No route|Network is unreachable|"
    r"transfer closed|Operation too slow|HTTP/2 stream"
)
_NOISE = re.compile(
    r"^(?:hint|warning|remote: *$|Please make sure|and the repository exists|error: failed to push some)"
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NO_ROOM = re.compile(r"No space left on device|Out of diskspace|[Qq]uota exceeded")
_TOO_LARGE = re.compile(r"returned error: 413|HTTP 413")


def error_of(result: GitResult, shown: str, mask: Callable[[str], str], *, doing: GitText) -> GitfleetError:
    """The error that a failed talk with the remote means; unknown words count as a passing fault."""
    text, begins = mask(result.errors), doing(shown=shown)
    reported = quote_of(text)
    if result.timed_out:
        return RemoteUnreachable(GitText.TOOK_TOO_LONG(doing=begins), hint=GitText.NEXT_RECONCILE())
    if (full := _disk_full(result, begins, reported)) is not None:
        return full
    if _TOO_LARGE.search(text):
        message = GitText.TOO_LARGE(doing=begins, reported=reported)
        return RemoteRefuses(message, hint=GitText.ACCEPT_LARGER_PUSHES())
    if _NOT_ALLOWED.search(text):
        return BadInput(GitText.PROTOCOL_NOT_ALLOWED(doing=begins, reported=reported))
    if (unreadable := _unreadable(text, begins, reported)) is not None:
        return unreadable
    if _NOT_FOUND.search(text):
        message = GitText.FOUND_NO_REPOSITORY(doing=begins, reported=reported)
        return NoRepository(message, hint=GitText.CHECK_ADDRESS())
    if _REFUSED.search(text):
        return _refusal(text, begins)
    if _MOVED.search(text):
        return BadInput(GitText.SENT_ELSEWHERE(doing=begins, reported=reported), hint=GitText.WRITE_NEW_ADDRESS())
    if _CERTIFICATE.search(text):
        message = GitText.NO_TRUSTED_CERTIFICATE(doing=begins, reported=reported)
        return RemoteUnreachable(message, hint=GitText.GIVE_CERTIFICATE())
    return RemoteUnreachable(GitText.NOT_WORK(doing=begins, reported=reported), hint=GitText.NEXT_RECONCILE())


def _disk_full(result: GitResult, begins: str, reported: str) -> DiskFull | RefusedForNow | None:
    if is_out_of_room(result):
        return DiskFull(GitText.NO_ROOM_FOR_CACHE(doing=begins, reported=reported), hint=GitText.MAKE_ROOM())
    if is_out_of_room(result, of_remote=True):
        message = GitText.REMOTE_DISK_FULL(doing=begins, reported=reported)
        return RefusedForNow(message, hint=GitText.SERVER_MAKES_ROOM())
    return None


def _unreadable(text: str, begins: str, reported: str) -> UnreadableCommit | None:
    if unsound := _REFUSED_OBJECT.search(text):
        named = _UNSOUND_OBJECT.search(text)
        reason = GitText.OBJECT_UNSOUND_AS(oid=named[1][:12], problem=named[2]) if named else GitText.OBJECT_UNSOUND()
    elif _LACKING.search(text):
        reason = GitText.OBJECT_MISSING()
    else:
        return None
    message = GitText.FAILED(doing=begins, reason=reason, reported=reported)
    return UnreadableCommit(message, reason=reason, lasting=bool(unsound), hint=GitText.FSCK_NAMES_OBJECT())


def _refusal(text: str, begins: str) -> Forbidden:
    if not _NO_LOGIN.search(text):
        message = GitText.REFUSED(doing=begins, reported=quote_of(text))
        return Forbidden(message, hint=GitText.CHECK_CREDENTIALS())
    remote_lines = "\n".join(line for line in text.splitlines() if line.startswith("remote:"))
    reported = GitText.CREDENTIALS_NOT_ACCEPTED() + (f": {quote_of(remote_lines)}" if remote_lines else ".")
    return Forbidden(GitText.REFUSED(doing=begins, reported=reported), hint=GitText.GIVE_TOKEN())


def is_refused(result: GitResult) -> bool:
    """Whether the remote refused the credentials, which may have been renewed since they were read."""
    return not result.ok and _REFUSED.search(result.errors) is not None


def is_about_the_remote(result: GitResult) -> bool:
    """Whether the words are surely the remote's fault, so that the mirror need not be suspected."""
    patterns = (_NOT_ALLOWED, _REFUSED, _FAR, _MOVED, _CERTIFICATE)
    return result.timed_out or any(pattern.search(result.errors) for pattern in patterns)


def is_out_of_room(result: GitResult, *, of_remote: bool = False) -> bool:
    """Whether a disk was full: this machine's, or that of the remote."""
    lines = [line for line in result.errors.splitlines() if _NO_ROOM.search(line)]
    return (
        any(line.startswith("remote:") for line in lines)
        if of_remote
        else any(not line.startswith("remote:") for line in lines)
    )


def out_of_room(where: object, why: str) -> DiskFull:
    """The error of a write that found no room."""
    message = GitText.DISK_OF_MIRROR_FULL(folder=where, why=why.rstrip("."))
    return DiskFull(message, hint=GitText.MAKE_ROOM())


def quote_of(text: str) -> str:
    """The lines of git's output that name the error, on one line, cut short, without control characters."""
    text = _ESCAPES.sub("", text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.match(line.strip())]
    relevant = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "ERROR", "ssh:"))] or lines
    printable = "".join(sign if sign.isprintable() else " " for sign in "; ".join(relevant[:3]))
    return (printable[:_LONGEST_QUOTE] or GitText.GIT_GAVE_NO_REASON()).rstrip(".;: ") + "."
