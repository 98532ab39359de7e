"""A watched branch that was rewritten: its new head does not come after the commit that was accepted last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from gitfleet.api.faults import Fault
from gitfleet.api.holds import REWRITE_PREFIX
from gitfleet.approvals import path_of
from gitfleet.errors import BadInput
from gitfleet.loop.texts import LoopText
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.desired import Desired

_ID_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The branch `branch` was at `old`, which `new` does not come after. `waits` and `uncounted` say why the approvals
    that are there do not accept `new`, as in a Verdict."""

    branch: str
    old: str
    new: str
    waits: str = ""
    uncounted: tuple[Fault, ...] = ()

    def request(self) -> ApprovalRequest:
        """What people are asked."""
        name, old, new = f"{REWRITE_PREFIX}{self.new[:_ID_DIGITS]}", self.old[:_ID_DIGITS], self.new[:_ID_DIGITS]
        return ApprovalRequest(
            name=name,
            subject="Rewrite",
            digest=sha256(f"{self.old} {self.new}".encode()).hexdigest(),
            commit=self.new,
            after=self.old,
            title=f"Accept {new} as the head of {self.branch}, which does not come after {old}",
            body=(
                f"{self.branch} was rewritten (a forced push, or another branch is watched): {self.new}\n"
                f"does not come after {self.old}, which is reconciled on.\n\n"
                "Merge this (merge, squash or rebase) to accept the new head with all that differs:\n\n"
                f"    git diff {old} {new}\n\n"
                f"Otherwise push {old} back. Closing or deleting this branch accepts nothing."
            ),
        )

    def fault(self) -> Fault:
        """What is said until then."""
        name, old, new = self.request().name, self.old[:_ID_DIGITS], self.new[:_ID_DIGITS]
        found = LoopText.REWRITTEN_NOT_COME_AFTER(branch=self.branch, new=new, old=old)
        remedy = LoopText.NOTHING_NEW_HEAD_HAPPENS_BEFORE(old=old, name=name)
        return Fault(path_of(name), 1, "", "", "; ".join(filter(None, (found, self.waits, remedy))))

    def faults(self) -> tuple[Fault, ...]:
        """The same, and a warning for each approval that counts for nothing."""
        return self.fault(), *self.uncounted


@dataclass(slots=True)
class LastAccepted:
    """What is reconciled while nobody accepted a rewritten branch. The same for the same, so that nothing is decided
    again."""

    _kept: tuple[Desired, Rewrite, Desired] | None = None

    def accepted(
        self, wanted: Desired, found: Rewrite | None, read_at: Callable[[str], Desired], ask: Callable[[], None]
    ) -> Desired:
        """What is wanted, or the commit that was accepted last, with what is said of the rewrite. Where that commit
        cannot be read any more, people are asked at once (`ask`), and BadInput is raised."""
        if found is None:
            return wanted
        try:
            last = read_at(found.old)
        except BadInput as error:
            ask()
            raise BadInput(LoopText.COMMIT_CANNOT_READ_ANY_MORE(fault=found.fault().message)) from error
        if self._kept is None or self._kept[:2] != (last, found):
            self._kept = (last, found, replace(last, faults=(*last.faults, *found.faults())))
        return self._kept[2]
