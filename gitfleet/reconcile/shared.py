"""What all placements of one pass share, prepared once before any of them is decided.

with_settings   the state as of a commit
prepare     the payload and the clusters indexed, the overrides that can be read
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitfleet import removals, schedule, snapshots, workload, works
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Removal
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState
from gitfleet.model.successors import Successors
from gitfleet.reconcile.evictions import asked_for
from gitfleet.reconcile.gates import Gates
from gitfleet.reconcile.runs import Beside, Runs, runs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemo:
    """What the pass before prepared, each with what it was made of."""

    payload: snapshots.PayloadMemo = None
    index: schedule.FleetIndex | None = None
    digests: schedule.BindingDigests = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all placements of one pass share; `overrides` are the latest snapshots of those that can be read,
    `deletions` what they newly take from clusters; `kept` is what stays although no commit asks for it any more,
    because its removal is held; `evictions` are those to be decided, by the placement that they name."""

    inputs: Inputs
    clusters: Mapping[str, MemberCluster]
    profile: schedule.Profile
    index: schedule.FleetIndex
    payload: snapshots.PayloadIndex
    payload_memo: snapshots.PayloadMemo
    override_snapshots: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]]
    overrides: tuple[OverrideSnapshot, ...]
    unreadable: frozenset[str]
    deletions: tuple[Removal, ...]
    disturbed: Mapping[PlacementKey, frozenset[str]]
    digests: schedule.BindingDigests
    evictions: Mapping[PlacementKey, tuple[Eviction, ...]]
    gates: Gates
    kept: removals.Kept = removals.Kept()
    runs: Runs = Runs()
    rolled_out: Mapping[PlacementKey, frozenset[str]] = field(default_factory=dict)
    """The resource snapshots that workload rollouts name."""
    successors: Successors = field(default_factory=lambda: Successors({}))
    """Who takes over what leaves: of the placements that stay, once they are decided."""

    def facts(self) -> tuple[object, ...]:
        """What every placement depends on beside what was seen of it, its selection and its scheduling."""
        readable = (one for one in self.every_override if one.reference not in self.unreadable)
        looked_at = works.looked_at_beside_labels(readable, self.clusters)
        clusters = {name: (cluster.deleting, cluster.labels) for name, cluster in self.clusters.items()}, looked_at
        return self.overrides, self.unreadable, clusters, self.gates.quarantines, self.gates.pins

    def beside(self, key: PlacementKey) -> Beside:
        """What the runs of a placement see beside its record."""
        return Beside(
            inputs=self.inputs,
            runs=self.runs,
            clusters=self.clusters,
            overrides=self.overrides,
            every_override=self.every_override,
            held=self.kept.overridden.get(key, {}),
            unwritten=self.unwritten(key),
            disturbed=self.disturbed.get(key, frozenset()),
            freezes=self.gates.freezes,
            quarantined=self.gates.quarantined(key),
        )

    @property
    def every_override(self) -> tuple[OverrideSnapshot, ...]:
        """The snapshots of all overrides that any binding or run names still, the newest ones included."""
        return tuple(s for found in self.override_snapshots.values() for s in found)

    def unwritten(self, key: PlacementKey) -> works.Unwritten:
        """What a placement keeps although it stands in no file."""
        objects = self.kept.unwritten.get(key, frozenset())
        return works.Unwritten(objects, self.every_override if objects else ())

    def memo(self, failures: Failures) -> SharedMemo:
        """What the next pass may use again."""
        index = None if failures.found else self.index  # a cluster that could not be judged is judged again
        return SharedMemo(payload=self.payload_memo, index=index, digests=self.digests)


def with_settings(state: FleetState, wanted: Desired) -> FleetState:
    """The state as of a commit: what it says of itself, and what later commits and readers need of its settings."""
    return replace(
        state,
        observed_commit=wanted.commit,
        scheduler_plugins=wanted.config.scheduler_plugins,
        mass_delete=wanted.config.mass_delete,
        freezes=wanted.freezes,
        last_good=wanted.last_good,
    )


def prepare(
    inputs: Inputs,
    clusters: Mapping[str, MemberCluster],
    profile: schedule.Profile,
    disturbed: Mapping[PlacementKey, frozenset[str]],
    memo: SharedMemo,
    failures: Failures,
) -> Shared:
    """Index what is wanted and the observed `clusters`; `disturbed` are the clusters on which a placement's objects are
    about to be changed."""
    wanted, before = inputs.desired, inputs.before
    in_use = snapshots.references_of(before, failures)
    taken = snapshots.take_override_snapshots(
        wanted.overrides, before.overrides, commit=wanted.commit, in_use=in_use, failures=failures
    )
    unreadable = works.unreadable_overrides(taken, failures)
    payload, payload_memo = snapshots.index_of(wanted, memo.payload, failures)
    latest = snapshots.current_overrides(wanted.overrides, taken)
    overrides = tuple(override for override in latest if override.reference not in unreadable)
    return Shared(
        inputs=inputs,
        clusters=clusters,
        profile=profile,
        index=schedule.index_fleet(clusters.values(), inputs.now, memo.index, failures),
        payload=payload,
        payload_memo=payload_memo,
        override_snapshots=taken,
        overrides=overrides,
        unreadable=unreadable,
        deletions=works.newly_deleted(before, clusters, overrides, failures),
        disturbed=disturbed,
        digests={key: known for key, known in memo.digests.items() if key in before.placements},
        evictions=asked_for(wanted, before.evictions),
        runs=runs_of(inputs),
        gates=Gates.of(inputs, clusters),
        rolled_out=workload.named_snapshots(wanted.rollouts.values(), before.rollouts.values()),
    )
