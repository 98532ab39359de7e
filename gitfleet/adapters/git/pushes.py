"""What `git push --porcelain` answered to a compare-and-swap of one branch, as a value. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from gitfleet.adapters.git.faults import fault_of, quote_of
from gitfleet.adapters.git.runner import Answer
from gitfleet.errors import BadInput, Forbidden, GitfleetError, LostRace

_RESULT = re.compile(r"^(?P<flag>[ +*=!-])\t\S*\t(?P<summary>.*)$", re.MULTILINE)
_NAME_IN_THE_WAY = re.compile(r"exists; cannot create|directory file conflict|is a non-empty directory")
_POLICY = re.compile(r"hook|protected|prohibited|denied|not allowed|not permitted|read-only|disallowed", re.I)
_UNSOUND = re.compile(r"unpacker error|fsck error|index-pack abnormal exit|unpack-objects abnormal exit")


def judge_push(answer: Answer, *, branch: str, shown: str, mask: Callable[[str], str]) -> GitfleetError | None:
    """None when the branch was moved by this push; LostRace, Forbidden, BadInput or RemoteUnreachable otherwise."""
    found = _RESULT.search(answer.output.decode(errors="replace"))
    if not found or answer.timed_out:
        return fault_of(answer, shown, mask, doing="Pushing to")
    flag, summary = found["flag"], mask(found["summary"])
    moved = f"The branch {branch} of {shown} was moved by somebody else first."
    if flag == "=":  # the very same commit is there already: another process decided the same and was faster
        return LostRace(moved)
    if flag != "!" and answer.well:
        return None
    words = f"{summary}\n{mask(answer.errors)}"
    said = quote_of(mask(answer.errors)) if "remote:" in answer.errors else f"{summary}."
    if "checked out" in words:
        return checked_out(branch, shown)
    if _NAME_IN_THE_WAY.search(words):
        hint = f"git cannot keep a branch named like a folder of {branch}; rename or delete it."
        return BadInput(f"The branch {branch} cannot be made at {shown}: {said}", hint=hint)
    if _UNSOUND.search(words):
        return BadInput(f"{shown} refused the objects for branch {branch}: {said}")
    if _POLICY.search(summary):
        hint = "Let gitfleet's account push to its own branches, or give it other credentials."
        return Forbidden(f"{shown} refused the push to branch {branch}: {said}", hint=hint)
    if "remote failure" in summary or "report" in summary:
        return fault_of(answer, shown, mask, doing="Pushing to")
    return LostRace(moved)


def checked_out(branch: str, shown: str) -> BadInput:
    """The refusal to move a branch under the feet of whoever has it checked out."""
    return BadInput(
        f"The branch {branch} is checked out in the local repository {shown}, so gitfleet does not move it.",
        hint="Use the URL of the bare repository that it was cloned from, or check out another branch there.",
    )
