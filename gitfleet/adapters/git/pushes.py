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
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, Forbidden, GitfleetError, LostRace, RefusedForNow, RemoteRefuses

_RESULT: Final = re.compile(r"^(?P<flag>[ +*=!-])\t\S*\t(?P<summary>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One row: what the remote's one line about the branch has, what its other lines have ("": whatever), the error
    with its sentence about it, and what to do."""

    line: str
    more: str
    error: type[GitfleetError]
    sentence: GitText
    hint: GitText | None = None


_UPDATE: Final = r"failed to update ref|cannot lock ref|failed to (?:write|lock)"
_FOLDER: Final = r"exists; cannot create|directory file conflict|is a non-empty directory"
_TABLE: Final = (
    _Refusal(
        r"stale info|fetch first|incorrect old value|^\[rejected\]|already exists", "", LostRace,
        GitText.BRANCH_MOVED_FIRST,
    ),
    _Refusal(
        r"[Ww]orking (?:directory|tree)|[Uu]nstaged|[Uu]ntracked", "", BadInput,
        GitText.WORK_TREE_HAS_CHANGES, GitText.COMMIT_CHANGES,
    ),
    _Refusal(_FOLDER, "", BadInput, GitText.BRANCH_CANNOT_MADE, GitText.BRANCH_LIKE_FOLDER),
    _Refusal(_UPDATE, _FOLDER, BadInput, GitText.BRANCH_CANNOT_MADE, GitText.BRANCH_LIKE_FOLDER),
    _Refusal(
        _UPDATE, r"but expected|reference already exists|unable to resolve reference|reference is missing", LostRace,
        GitText.BRANCH_MOVED_FIRST,
    ),
    _Refusal(_UPDATE, "", RefusedForNow, GitText.BRANCH_NOT_MOVED_NOW, GitText.NEXT_RECONCILE_LOCK),
    _Refusal("shallow", "", RemoteRefuses, GitText.LACKS_PART_OF_HISTORY, GitText.ACCEPT_SHALLOW_UPDATE),
    _Refusal(
        "unpack", r"exceeds maximum allowed size", RemoteRefuses, GitText.TOO_LARGE, GitText.ACCEPT_LARGER_PUSHES,
    ),
    _Refusal("unpack", r"fsck error|unresolved deltas|[Ii]nvalid", RemoteRefuses, GitText.REFUSED_OBJECTS),
    _Refusal("unpack", "", RefusedForNow, GitText.REFUSED_OBJECTS, GitText.NEXT_RECONCILE_LOG),
    _Refusal(
        r"remote rejected.*non-fast-forward", "", Forbidden, GitText.NOBODY_REPLACES_HEAD, GitText.PUSH_SOUND_COMMIT,
    ),
    _Refusal(
        r"(?i)hook|declined|protected|prohibited|denied|not allowed|not permitted|read-only|disallowed", "", Forbidden,
        GitText.PUSH_REFUSED, GitText.LET_ACCOUNT_PUSH,
    ),
)  # fmt: skip


def classify_push(result: GitResult, *, branch: str, shown: str, mask: Callable[[str], str]) -> GitfleetError | None:
    """None when the branch was moved by this push. LostRace: read again; RemoteUnreachable: try again after a pause;
    Forbidden, RemoteRefuses or BadInput: a person must act."""
    match = _RESULT.search(result.output.decode(errors="replace"))
    if not match or result.timed_out:
        return error_of(result, shown, mask, doing=GitText.PUSHING)
    flag, summary = match["flag"], mask(match["summary"])
    if flag == "=":  # the very same commit is there already: another process decided the same and was faster
        return LostRace(GitText.BRANCH_MOVED_FIRST(branch=branch, shown=shown))
    if flag != "!" and result.ok:
        return None
    if "checked out" in summary:
        return checked_out(branch, shown)
    errors = mask(result.errors)
    if is_out_of_room(result) or is_out_of_room(result, of_remote=True):
        return error_of(result, shown, mask, doing=GitText.PUSHING)
    details = "\n".join(line for line in errors.splitlines() if line.strip())
    reported = quote_of(errors if "remote:" in errors else summary)
    for row in _TABLE:
        if re.search(row.line, summary) and re.search(row.more, details):
            doing = GitText.PUSHING(shown=shown)
            sentence = row.sentence(branch=branch, shown=shown, doing=doing, reported=reported)
            return row.error(sentence, hint=row.hint and row.hint(branch=branch))
    if "remote failure" in summary or "report" in summary:
        return error_of(result, shown, mask, doing=GitText.PUSHING)
    message = GitText.PUSH_REFUSED(branch=branch, shown=shown, reported=reported)
    return RefusedForNow(message, hint=GitText.LET_ACCOUNT_PUSH())


def checked_out(branch: str, shown: str) -> BadInput:
    """The refusal to move a branch that is checked out somewhere."""
    message = GitText.BRANCH_CHECKED_OUT(branch=branch, shown=shown)
    return BadInput(message, hint=GitText.USE_BARE_REPOSITORY())
