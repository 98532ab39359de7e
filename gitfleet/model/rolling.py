"""The request to the rolling update and its result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from gitfleet.api.bindings import Binding, PinnedLabels
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey, PlacementType
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One binding that would move, does not, and why. `awaits` is the placement that must have its objects first."""

    cluster: str
    kind: MoveKind
    reason: str
    awaits: PlacementKey | None = None


_NEVER: Final = datetime.max.replace(tzinfo=UTC)
FROZEN: Final = "frozen by "
"""How the reason of a freeze begins, in conditions too."""
BUDGET_EXHAUSTED: Final = ModelText.ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES()
"""What RolloutStarted says of a binding that waits for its budget alone. The numbers stand in Held.reason; here they
would rewrite every held binding whenever one cluster changes."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """Why nothing starts to move somewhere, and until when; None where only a change elsewhere ends it. `awaits` is the
    placement that must have the objects first; `asks` says that only a person can end it."""

    reason: str
    until: datetime | None
    awaits: PlacementKey | None = None
    asks: bool = False

    @property
    def end(self) -> datetime:
        """Its end, for putting freezes in order."""
        return self.until or _NEVER

    def wait(self, now: datetime) -> timedelta | None:
        """How long it goes on by itself."""
        return None if self.until is None else self.until - now


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
    """One placement's bindings in listing order (by name), the snapshot they should have, and the override snapshots by
    cluster (cluster-wide references, namespaced references). `labels` are those that these overrides depend on, by
    cluster; `disturbed` are clusters where drift is being corrected, so that what is available there may not be in a
    moment; on `lacking` ones an object that the snapshot takes back is not available, which no condition says;
    `unapplied` ones were to have a snapshot that is lost, and nothing says that it was applied there; `silent`
    are clusters that do not answer, by the moment since when, and with `skip_silent` the rollout goes on without those
    that have been silent for long (decision D32). On `frozen` clusters nothing starts. `refused` is
    why no cluster may get the snapshot: its content is quarantined.
    """

    placement_type: PlacementType
    number_of_clusters: int | None
    cluster_names: tuple[str, ...]
    rolling_update: RollingUpdate
    apply_strategy: ApplyStrategy
    bindings: tuple[Binding, ...]
    latest_snapshot: str | None
    overrides: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    now: datetime
    labels: Mapping[str, PinnedLabels] = field(default_factory=dict)
    disturbed: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()
    unapplied: frozenset[str] = frozenset()
    silent: Mapping[str, datetime] = field(default_factory=dict)
    skip_silent: bool = True
    frozen: Mapping[str, Frozen] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """`moves` in the order in which they are made; `held` in candidate order; `up_to_date` clusters need nothing.

    `wait` is how long KubeFleet would wait before it reconciles again, None when nothing is waiting.
    `bindings` are all bindings after the moves (generation raised where the spec changed, RolloutStarted set, a
    removed one
    marked deleting). `clock` is how long until time alone may change the plan, None when only a change elsewhere can.
    """

    moves: tuple[Move, ...]
    held: tuple[Held, ...]
    up_to_date: tuple[str, ...]
    need_roll: bool
    wait: timedelta | None
    bindings: tuple[Binding, ...]
    clock: timedelta | None = None
    waiting: tuple[str, ...] = ()
    """What the placement's staged update runs wait for, in a sentence each."""
    asks: tuple[str, ...] = ()
    """The same of what only a person can let go on."""
