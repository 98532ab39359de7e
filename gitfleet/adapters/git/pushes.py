"""What `git push --porcelain` reported of a compare-and-swap of one branch, as a value. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from gitfleet.adapters.git.errors import error_of, quote_of
from gitfleet.adapters.git.runner import GitResult
from gitfleet.errors import BadInput, Forbidden, GitfleetError, LostRace

_RESULT = re.compile(r"^(?P<flag>[ +*=!-])\t\S*\t(?P<summary>.*)$", re.MULTILINE)
_NAME_CONFLICT = re.compile(r"exists; cannot create|directory file conflict|is a non-empty directory")
_POLICY = re.compile(r"hook|protected|prohibited|denied|not allowed|not permitted|read-only|disallowed", re.I)
_WORK_TREE = re.compile(r"[Ww]orking (?:directory|tree)|[Uu]nstaged|[Uu]ntracked")
_BAD_OBJECTS = re.compile(r"unpacker error|fsck error|index-pack abnormal exit|unpack-objects abnormal exit")


def classify_push(result: GitResult, *, branch: str, shown: str, mask: Callable[[str], str]) -> GitfleetError | None:
    """None when the branch was moved by this push; LostRace, Forbidden, BadInput or RemoteUnreachable otherwise."""
    found = _RESULT.search(result.output.decode(errors="replace"))
    if not found or result.timed_out:
        return error_of(result, shown, mask, doing="Pushing to")
    flag, summary = found["flag"], mask(found["summary"])
    moved = f"The branch {branch} of {shown} was moved by somebody else first."
    if flag == "=":  # the very same commit is there already: another process decided the same and was faster
        return LostRace(moved)
    if flag != "!" and result.ok:
        return None
    output = f"{summary}\n{mask(result.errors)}"
    reported = quote_of(mask(result.errors)) if "remote:" in result.errors else f"{summary}."
    if _WORK_TREE.search(summary):
        hint = "Commit or discard them, or put the commit on a branch of its own with --branch."
        return BadInput(f"The work tree of {shown} has changes of its own, so {branch} stays as it is.", hint=hint)
    if "checked out" in output:
        return checked_out(branch, shown)
    if _NAME_CONFLICT.search(output):
        hint = f"git cannot keep a branch named like a folder of {branch}; rename or delete it."
        return BadInput(f"The branch {branch} cannot be made at {shown}: {reported}", hint=hint)
    if _BAD_OBJECTS.search(output):
        return BadInput(f"{shown} refused the objects for branch {branch}: {reported}")
    if "remote rejected" in summary and "non-fast-forward" in summary:
        hint = f"Push the last sound commit of {branch} back to it, or let gitfleet's account replace its own branch."
        message = f"{shown} lets nobody replace the unreadable head of branch {branch}: {reported}"
        return Forbidden(message, hint=hint)
    if _POLICY.search(summary):
        hint = "Let gitfleet's account push to its own branches, or give it other credentials."
        return Forbidden(f"{shown} refused the push to branch {branch}: {reported}", hint=hint)
    if "remote failure" in summary or "report" in summary:
        return error_of(result, shown, mask, doing="Pushing to")
    return LostRace(moved)


def checked_out(branch: str, shown: str) -> BadInput:
    """The refusal to move a branch that is checked out somewhere."""
    return BadInput(
        f"The branch {branch} is checked out in the local repository {shown}, so gitfleet does not move it.",
        hint="Use the URL of the bare repository that it was cloned from, or check out another branch there.",
    )
