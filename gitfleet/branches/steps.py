"""The boundaries of a reconcile's effects, each with a name: where a process may die, and where tests kill it.

A new effect gets a pair of names here, before and after; tests/e2e/test_kill.py enumerates them all, and
tests/architecture/test_effects.py refuses a push or a write that goes past them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gitfleet.ports.caches import BlobCache
from gitfleet.ports.repos import BranchChange, RepoWriter


class Step(StrEnum):
    """What has just been done; WRITE and PUSH: is about to be done."""

    CACHE_WRITE = "cache write"
    CACHE_WRITTEN = "cache written"
    GATHERED = "gathered"
    DECIDED = "decided"
    STATE_PUSH = "state push"
    STATE_PUSHED = "state pushed"
    INTENT_PUBLISHED = "intent published"
    RENDERED_PUSH = "rendered push"
    RENDERED_PUSHED = "rendered pushed"
    CLUSTER_WRITE = "cluster write"
    CLUSTER_WRITTEN = "cluster written"
    DELIVERY_PUSH = "delivery push"
    DELIVERY_PUSHED = "delivery pushed"
    PERFORMED = "performed"
    REPORTED = "reported"
    REQUEST_PUSH = "request push"
    REQUEST_PUSHED = "request pushed"


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
