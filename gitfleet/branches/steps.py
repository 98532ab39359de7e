"""The boundaries of a reconcile's effects, each with a name: where a process may die, and where tests kill it.

A new effect gets a pair of names here, before and after; tests/e2e/test_kill.py enumerates them all, and
tests/architecture/test_effects.py refuses a push or a write that goes past them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gitfleet.branches.texts import BranchesText
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.repos import BranchChange, RepoWriter


class Step(StrEnum):
    """What has just been done, or, where it says "before", is about to be done."""

    CACHE_WRITE = BranchesText.BEFORE_CACHE_WRITTEN()
    CACHE_WRITTEN = "cache written"
    GATHERED = "gathered"
    DECIDED = "decided"
    STATE_PUSH = BranchesText.BEFORE_STATE_BRANCH_PUSHED()
    STATE_PUSHED = BranchesText.STATE_BRANCH_PUSHED()
    INTENT_PUBLISHED = "intent published"
    RENDERED_PUSH = BranchesText.BEFORE_RENDERED_BRANCH_PUSHED()
    RENDERED_PUSHED = BranchesText.RENDERED_BRANCH_PUSHED()
    CLUSTER_WRITE = BranchesText.BEFORE_CLUSTER_WRITTEN()
    CLUSTER_WRITTEN = BranchesText.CLUSTER_WRITTEN()
    DELIVERY_PUSH = BranchesText.BEFORE_BRANCH_DELIVERIES_MOVED()
    DELIVERY_PUSHED = BranchesText.BRANCH_DELIVERIES_MOVED()
    PERFORMED = "performed"
    REPORTED = "reported"
    REQUEST_PUSH = BranchesText.BEFORE_BRANCH_APPROVAL_MOVED()
    REQUEST_PUSHED = BranchesText.BRANCH_APPROVAL_MOVED()


Reach = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class SteppedWriter:
    """A RepoWriter that names the moments before and after each push."""

    inner: RepoWriter
    before: Step
    after: Step
    reach: Reach

    def commit(self, change: BranchChange) -> str:
        """See RepoWriter."""
        self.reach(self.before)
        made = self.inner.commit(change)
        self.reach(self.after)
        return made

    def remove_branch(self, branch: str, expected: str) -> None:
        """See RepoWriter."""
        self.reach(self.before)
        self.inner.remove_branch(branch, expected)
        self.reach(self.after)


@dataclass(slots=True)
class SteppedCache:
    """A BlobCache that names the moments before and after each write."""

    inner: BlobCache
    reach: Reach = lambda _: None

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        """See BlobCache."""
        return self.inner.get_many(keys)

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """See BlobCache."""
        if not entries:
            return
        self.reach(Step.CACHE_WRITE)
        self.inner.put_many(entries)
        self.reach(Step.CACHE_WRITTEN)
