"""Git's complaints as gitfleet's errors: one sentence, a hint, and never a secret. git runs with LC_ALL=C."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable

from gitfleet.adapters.git.runner import GitResult
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
_NEXT_TIME = "The next reconcile tries again."
_NO_ROOM_HINT = "Make room, or name another folder with --cache-dir; the next reconcile goes on by itself."


def error_of(result: GitResult, shown: str, mask: Callable[[str], str], *, doing: str) -> GitfleetError:
    """The error that a failed talk with the remote means; unknown words count as a passing fault."""
    text = mask(result.errors)
    reported = quote_of(text)
    if result.timed_out:
        return RemoteUnreachable(f"{doing} {shown} took too long and was stopped.", hint=_NEXT_TIME)
    if (full := _disk_full(result, f"{doing} {shown}", reported)) is not None:
        return full
    if _TOO_LARGE.search(text):
        hint = "Let the server, or the proxy before it, accept larger requests (nginx: client_max_body_size)."
        return RemoteRefuses(f"{doing} {shown} was refused as too large: {reported}", hint=hint)
    if _NOT_ALLOWED.search(text):
        return BadInput(f"{doing} {shown} would use a protocol that is not allowed: {reported}")
    if (unreadable := _unreadable(text, f"{doing} {shown}", reported)) is not None:
        return unreadable
    if _NOT_FOUND.search(text):
        hint = "Check the address; hosts also say so when the credentials may not see the repository."
        return NoRepository(f"{doing} {shown} found no git repository there: {reported}", hint=hint)
    if _REFUSED.search(text):
        return _refusal(text, f"{doing} {shown} was refused: ")
    if _MOVED.search(text):
        return BadInput(f"{doing} {shown} was sent elsewhere: {reported}", hint="Write the repository's new address.")
    if _CERTIFICATE.search(text):
        hint = "If the host is signed by your own authority, give its certificate (GITFLEET_GIT_CA_FILE)."
        return RemoteUnreachable(f"{doing} {shown} found no trusted certificate: {reported}", hint=hint)
    return RemoteUnreachable(f"{doing} {shown} did not work: {reported}", hint=_NEXT_TIME)


def _disk_full(result: GitResult, begins: str, reported: str) -> DiskFull | RefusedForNow | None:
    if is_out_of_room(result):
        return DiskFull(f"{begins} found no room on the cache's disk: {reported}", hint=_NO_ROOM_HINT)
    if is_out_of_room(result, of_remote=True):
        hint = "Whoever runs the server makes room there; the next reconcile tries again."
        return RefusedForNow(f"{begins} found the remote's disk full: {reported}", hint=hint)
    return None


def _unreadable(text: str, begins: str, reported: str) -> UnreadableCommit | None:
    if _REFUSED_OBJECT.search(text):
        hint = "git fsck names the object; rewrite the commit that holds it."
        message = f"{begins} was refused, an object in it is unsound: {reported}"
        named = _UNSOUND_OBJECT.search(text)
        reason = f"its object {named[1][:12]} is unsound ({named[2]})" if named else "an object of it is unsound"
        return UnreadableCommit(message, reason=reason, lasting=True, hint=hint)
    if _LACKING.search(text):
        reason = "an object of it is missing or damaged on the remote"
        message, hint = f"{begins} failed, {reason}: {reported}", "git fsck on the remote names the object."
        return UnreadableCommit(message, reason=reason, lasting=False, hint=hint)
    return None


def _refusal(text: str, begins: str) -> Forbidden:
    if not _NO_LOGIN.search(text):
        return Forbidden(f"{begins}{quote_of(text)}", hint="Check the credentials and what they may do.")
    remote_lines = "\n".join(line for line in text.splitlines() if line.startswith("remote:"))
    hint = (
        "Give a token (GITFLEET_GIT_PASSWORD_FILE), or replace one that is wrong, has ended or belongs to another host."
    )
    reported = f": {quote_of(remote_lines)}" if remote_lines else "."
    return Forbidden(f"{begins}the remote does not accept the credentials{reported}", hint=hint)


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
    return DiskFull(f"The disk of the git mirror in {where} is full: {why.rstrip('.')}.", hint=_NO_ROOM_HINT)


def quote_of(text: str) -> str:
    """The lines of git's output that name the error, on one line, cut short, without control characters."""
    text = _ESCAPES.sub("", text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.match(line.strip())]
    relevant = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "ERROR", "ssh:"))] or lines
    printable = "".join(sign if sign.isprintable() else " " for sign in "; ".join(relevant[:3]))
    return (printable[:_LONGEST_QUOTE] or "git gave no reason").rstrip(".;: ") + "."
