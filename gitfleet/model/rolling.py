"""The request to the rolling update and its result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from gitfleet.api.bindings import Binding, ClusterContent, PinnedLabels
from gitfleet.api.conditions import Reason
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementType
from gitfleet.api.strategies import ApplyStrategy, RollingUpdate
from gitfleet.model.texts import ModelText


class MoveKind(StrEnum):
    """bind a Scheduled binding, update a Bound one in place, remove an Unscheduled one."""

    BIND = "bind"
    UPDATE = "update"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One binding moves now; `failed` marks an update of a failed binding, which is exempt from the budget."""

    cluster: str
    kind: MoveKind
    reason: str
    failed: bool = False


_NEVER: Final = datetime.max.replace(tzinfo=UTC)
BUDGET_EXHAUSTED: Final = ModelText.ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES()
"""What RolloutStarted says of a binding that waits for its budget alone. The numbers stand in `blocked`; here they
would rewrite every blocked binding whenever one cluster changes."""


class FreezeWait(str):
    """That something waits for a freeze to end: as a reason, or as the sentence about what waits for that reason."""

    __slots__ = ()


def wait_for(reason: str, sentence: str) -> str:
    """The sentence about what waits for a reason, as one about a freeze where the reason is one."""
    return FreezeWait(sentence) if isinstance(reason, FreezeWait) else sentence


@dataclass(frozen=True, slots=True)
class Frozen:
    """Why nothing starts to move somewhere, and until when; None where only a change elsewhere ends it. `asks` says
    that only a person can end it, `code` is the reason in one word."""

    reason: str
    until: datetime | None
    asks: bool = False
    code: Reason = Reason.ROLLOUT_FROZEN

    @property
    def end(self) -> datetime:
        """Its end, for putting freezes in order."""
        return self.until or _NEVER

    def wait(self, now: datetime) -> timedelta | None:
        """How long it goes on by itself."""
        return None if self.until is None else self.until - now


@dataclass(frozen=True, slots=True)
class Passage:
    """That the gates let something start to move on a cluster in this pass. Whatever moves anything takes one, and the
    gates alone make one (tests/architecture/test_gates.py): a mover cannot forget them."""

    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGate:
    """What the gates say of one placement, or of one stage of its runs: nothing starts on the `frozen` clusters, and
    none gets the newest content while it is `refused` (why; "" where it is not)."""

    frozen: Mapping[str, Frozen]
    refused: str

    def passage(self, cluster: str, kind: MoveKind) -> Passage | Frozen:
        """Leave to move a cluster, or why it stays as it is."""
        if cluster in self.frozen:
            return self.frozen[cluster]
        if self.refused and kind is not MoveKind.REMOVE:
            return Frozen(self.refused, None, asks=True)
        return Passage(cluster)

    def way_back(self, cluster: str) -> Passage:
        """Leave to give a cluster what it had before: that is never kept from it."""
        return Passage(cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadMove:
    """The pods of workloads that are about to move on a cluster. With `resizes` their number changes and not their
    content, with `shrinks` to fewer than the manifest says; `shrinking` are the clusters on which that happens now to
    each workload, `shrunk` those on which it happened."""

    cluster: str
    workloads: tuple[ObjectKey, ...]
    resizes: bool = False
    shrinks: bool = False
    shrinking: Mapping[Identity, Collection[str]] = field(default_factory=dict)
    shrunk: Mapping[Identity, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """One placement's bindings in listing order (by name), the snapshot they should have, and by cluster which
    overrides and variants of it. `labels` are those that these overrides depend on, by cluster; `disturbed` are
    clusters where drift is being corrected, so that what is available there may not be in a moment; on `taking_over`
    ones the first apply takes objects over from another placement, so it counts as an update of an available cluster;
    `silent` are clusters that do not answer, by the moment since when, and with `skip_silent` the rollout goes on
    without those that have been silent for long (decision D32). Nothing starts that the `gate` does not let start.
    """

    placement_type: PlacementType
    number_of_clusters: int | None
    cluster_names: tuple[str, ...]
    rolling_update: RollingUpdate
    apply_strategy: ApplyStrategy
    bindings: tuple[Binding, ...]
    latest_snapshot: str | None
    contents: Mapping[str, ClusterContent] = field(default_factory=dict)
    now: datetime
    gate: PlacementGate
    labels: Mapping[str, PinnedLabels] = field(default_factory=dict)
    disturbed: frozenset[str] = frozenset()
    taking_over: frozenset[str] = frozenset()
    silent: Mapping[str, datetime] = field(default_factory=dict)
    skip_silent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """`moves` in the order in which they are made; `blocked` are the clusters that would move and do not, each with
    the reason; `up_to_date` clusters need nothing.

    `bindings` are all bindings after the moves (generation raised where the spec changed, RolloutStarted set, a
    removed one
    marked deleting). `clock` is how long until time alone may change the plan, None when only a change elsewhere can.
    """

    moves: tuple[Move, ...]
    blocked: Mapping[str, str]
    up_to_date: tuple[str, ...]
    need_roll: bool
    bindings: tuple[Binding, ...]
    clock: timedelta | None = None
    waiting: tuple[str, ...] = ()
    """What the placement's staged update runs wait for, in a sentence each."""
    asks: tuple[str, ...] = ()
    """The same of what only a person can let go on."""
