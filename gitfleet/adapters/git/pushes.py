"""What `git push --porcelain` reported of a compare-and-swap of one branch, as a value. Pure.

A refusal is a lost race, passes by itself (it is tried again with growing pauses), or lasts until a person acts. The
table below says which; what it does not know passes, so that nothing is tried again without a pause.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitfleet.adapters.git.errors import error_of, is_out_of_room, quote_of
from gitfleet.adapters.git.runner import GitResult
from gitfleet.errors import BadInput, Forbidden, GitfleetError, LostRace, RefusedForNow, RemoteRefuses

_RESULT: Final = re.compile(r"^(?P<flag>[ +*=!-])\t\S*\t(?P<summary>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One row: what the remote's one line about the branch has, what its other lines have ("": whatever), the error
    with its sentence about {shown}, {branch} and {reported}, and what to do."""

    line: str
    more: str
    error: type[GitfleetError]
    sentence: str
    hint: str | None = None


_MOVED: Final = "The branch {branch} of {shown} was moved by somebody else first."
_MADE: Final = "The branch {branch} cannot be made at {shown}: {reported}"
_BAD: Final = "{shown} refused the objects for branch {branch}: {reported}"
_DENIED: Final = "{shown} refused the push to branch {branch}: {reported}"
_ACCOUNT: Final = "Let gitfleet's account push to its own branches, or give it other credentials."
_REMOVE_LOCK: Final = "The next reconcile tries again. A lock that a crash left is removed on the server by hand."
_UPDATE: Final = r"failed to update ref|cannot lock ref|failed to (?:write|lock)"
_FOLDER: Final = r"exists; cannot create|directory file conflict|is a non-empty directory"
_FOLDER_HINT: Final = "git cannot keep a branch named like a folder of {branch}; rename or delete it."
_TABLE: Final = (
    _Refusal(r"stale info|fetch first|incorrect old value|^\[rejected\]|already exists", "", LostRace, _MOVED),
    _Refusal(
        r"[Ww]orking (?:directory|tree)|[Uu]nstaged|[Uu]ntracked", "", BadInput,
        "The work tree of {shown} has changes of its own, so {branch} stays as it is.",
        "Commit or discard them, or put the commit on a branch of its own with --branch.",
    ),
    _Refusal(_FOLDER, "", BadInput, _MADE, _FOLDER_HINT),
    _Refusal(_UPDATE, _FOLDER, BadInput, _MADE, _FOLDER_HINT),
    _Refusal(
        _UPDATE, r"but expected|reference already exists|unable to resolve reference|reference is missing", LostRace,
        _MOVED,
    ),
    _Refusal(_UPDATE, "", RefusedForNow, "{shown} could not move the branch {branch} now: {reported}", _REMOVE_LOCK),
    _Refusal(
        "shallow", "", RemoteRefuses,
        "{shown} lacks a part of the history that branch {branch} was made from: {reported}",
        "Let the server accept it (git config receive.shallowUpdate true), or delete the branch to start again.",
    ),
    _Refusal(
        "unpack", r"exceeds maximum allowed size", RemoteRefuses,
        "{shown} refused the push to branch {branch} as too large: {reported}",
        "Let the server accept larger pushes (receive.maxInputSize, or the forge's limit).",
    ),
    _Refusal("unpack", r"fsck error|unresolved deltas|[Ii]nvalid", RemoteRefuses, _BAD),
    _Refusal(
        "unpack", "", RefusedForNow, _BAD, "The next reconcile tries again; the server's log has the reason.",
    ),
    _Refusal(
        r"remote rejected.*non-fast-forward", "", Forbidden,
        "{shown} lets nobody replace the unreadable head of branch {branch}: {reported}",
        "Push the last sound commit of {branch} back to it, or let gitfleet's account replace its own branch.",
    ),
    _Refusal(
        r"(?i)hook|declined|protected|prohibited|denied|not allowed|not permitted|read-only|disallowed", "", Forbidden,
        _DENIED, _ACCOUNT,
    ),
)  # fmt: skip


def classify_push(result: GitResult, *, branch: str, shown: str, mask: Callable[[str], str]) -> GitfleetError | None:
    """None when the branch was moved by this push. LostRace: read again; RemoteUnreachable: try again after a pause;
    Forbidden, RemoteRefuses or BadInput: a person must act."""
    match = _RESULT.search(result.output.decode(errors="replace"))
    if not match or result.timed_out:
        return error_of(result, shown, mask, doing="Pushing to")
    flag, summary = match["flag"], mask(match["summary"])
    if flag == "=":  # the very same commit is there already: another process decided the same and was faster
        return LostRace(_MOVED.format(branch=branch, shown=shown))
    if flag != "!" and result.ok:
        return None
    if "checked out" in summary:
        return checked_out(branch, shown)
    errors = mask(result.errors)
    if is_out_of_room(result) or is_out_of_room(result, of_remote=True):
        return error_of(result, shown, mask, doing="Pushing to")
    details = "\n".join(line for line in errors.splitlines() if line.strip())
    reported = quote_of(errors if "remote:" in errors else summary)
    for row in _TABLE:
        if re.search(row.line, summary) and re.search(row.more, details):
            sentence = row.sentence.format(branch=branch, shown=shown, reported=reported)
            return row.error(sentence, hint=row.hint and row.hint.format(branch=branch))
    if "remote failure" in summary or "report" in summary:
        return error_of(result, shown, mask, doing="Pushing to")
    return RefusedForNow(_DENIED.format(branch=branch, shown=shown, reported=reported), hint=_ACCOUNT)


def checked_out(branch: str, shown: str) -> BadInput:
    """The refusal to move a branch that is checked out somewhere."""
    return BadInput(
        f"The branch {branch} is checked out in the local repository {shown}, so gitfleet does not move it.",
        hint="Use the URL of the bare repository that it was cloned from, or check out another branch there.",
    )
