"""What all placements of one pass share, prepared once before any of them is decided.

with_settings   the state as of a commit
prepare     the payload and the clusters indexed, the newest overrides
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from gitfleet import rollout, schedule, snapshots, works
from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Identity
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.dependencies import Dependencies, Heading
from gitfleet.reconcile.evictions import asked_for
from gitfleet.reconcile.gates import Gates
from gitfleet.reconcile.runs import Beside, Runs, runs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemo:
    """What the pass before prepared, each with what it was made of."""

    payload: snapshots.PayloadMemo = None
    index: schedule.FleetIndex | None = None
    digests: schedule.BindingDigests = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all placements of one pass share; `overrides` are their latest snapshots,
    `evictions` those to be decided, by the placement that they name."""

    inputs: Inputs
    clusters: Mapping[str, MemberCluster]
    profile: schedule.Profile
    index: schedule.FleetIndex
    payload: snapshots.PayloadIndex
    payload_memo: snapshots.PayloadMemo
    override_snapshots: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]]
    overrides: tuple[OverrideSnapshot, ...]
    disturbed: Mapping[PlacementKey, frozenset[str]]
    digests: schedule.BindingDigests
    evictions: Mapping[PlacementKey, tuple[Eviction, ...]]
    gates: Gates
    runs: Runs = Runs()
    rolled_out: Mapping[PlacementKey, frozenset[str]] = field(default_factory=dict)
    """The resource snapshots that workload rollouts name."""
    decided: dict[PlacementKey, tuple[PlacementRecord, tuple[RunRecord, ...]]] = field(default_factory=dict)
    """The placements that were decided in this pass, with their runs: those that wait for them come later."""
    selections: dict[PlacementKey, frozenset[Identity]] = field(default_factory=dict)
    """`selected`, as it was worked out in this pass."""

    def facts(self) -> tuple[object, ...]:
        """What every placement depends on beside what was seen of it, its selection and its scheduling, and the labels
        of clusters."""
        looked_at = works.looked_at_beside_labels(self.every_override, self.clusters)
        clusters = {name: cluster.deleting for name, cluster in self.clusters.items()}
        return self.overrides, clusters, looked_at, self.gates.quarantines, self.gates.pins

    @cached_property
    def labels(self) -> dict[str, Mapping[str, str]]:
        """The labels of each cluster."""
        return {name: cluster.labels for name, cluster in self.clusters.items()}

    def depends_on_labels(self, record: PlacementRecord) -> bool:
        """Whether labels of clusters count for a placement beside its scheduling: by overrides or variants."""
        latest, key = record.latest_resources, record.placement.key
        has_variants = latest is not None and bool(latest.folders)
        return has_variants or any(works.names_placement(snapshot.override, key) for snapshot in self.overrides)

    def beside(self, key: PlacementKey) -> Beside:
        """What the runs of a placement see beside its record."""
        return Beside(
            inputs=self.inputs,
            runs=self.runs,
            clusters=self.clusters,
            overrides=self.overrides,
            every_override=self.every_override,
            disturbed=self.disturbed.get(key, frozenset()),
            freezes=self.gates.freezes,
            quarantined=self.gates.quarantined(key),
        )

    def selected(self, key: PlacementKey) -> frozenset[Identity]:
        """The objects that a placement selects by the commit."""
        if key not in self.selections:
            placement = self.inputs.desired.placements.get(key)
            manifests = snapshots.select(placement, self.payload).manifests if placement is not None else ()
            self.selections[key] = frozenset(manifest.key.identity for manifest in manifests)
        return self.selections[key]

    @cached_property
    def dependencies(self) -> Dependencies:
        """What Folders wait for by the commit."""
        return Dependencies.of(self.payload, self.inputs.desired.placements, self.selected)

    def ordered(self, placements: Iterable[PlacementKey]) -> list[PlacementKey]:
        """The placements, each after those that it waits for."""
        return self.dependencies.ordered(placements)

    def waits(self, record: PlacementRecord) -> dict[str, Frozen]:
        """The clusters on which a placement starts nothing, as one of its folders waits there."""
        names = [binding.cluster for binding in record.bindings if is_active(binding)]
        clusters = [self.clusters[name] for name in names if name in self.clusters]
        return self.dependencies.waits(record.placement.key, clusters, self.heading, self.inputs.now)

    def heading(self, key: PlacementKey) -> Heading | None:
        """A placement as far as it is decided in this pass; None where there is none."""
        before = self.inputs.before.placements.get(key)
        record, runs = self.decided.get(key, (before, self.runs.unfinished(key)))
        if record is None:
            return None
        refused = bool(rollout.refusal_of(record, self.gates.quarantines.get(key, {})))
        disturbed = self.disturbed.get(key, frozenset())
        return Heading(record=record, runs=runs, disturbed=disturbed, refused=refused)

    @property
    def every_override(self) -> tuple[OverrideSnapshot, ...]:
        """The snapshots of all overrides that any binding or run names still, the newest ones included."""
        return tuple(chain.from_iterable(self.override_snapshots.values()))

    def memo(self, failures: Failures) -> SharedMemo:
        """What the next pass may use again."""
        index = None if failures.found else self.index  # a cluster that could not be judged is judged again
        return SharedMemo(payload=self.payload_memo, index=index, digests=self.digests)


def with_settings(state: FleetState, desired: Desired) -> FleetState:
    """The state as of a commit: what it says of itself, and what later commits and readers need of its settings."""
    return replace(
        state,
        observed_commit=desired.commit,
        scheduler_plugins=desired.config.scheduler_plugins,
        removal_settings=desired.config.removals,
        freezes=desired.freezes,
        last_good=desired.last_good,
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
    desired, before = inputs.desired, inputs.before
    in_use = snapshots.references_of(before, failures)
    taken = snapshots.take_override_snapshots(
        desired.overrides, before.overrides, commit=desired.commit, in_use=in_use, failures=failures
    )
    payload, payload_memo = snapshots.index_of(desired, memo.payload, failures)
    return Shared(
        inputs=inputs,
        clusters=clusters,
        profile=profile,
        index=schedule.index_fleet(clusters.values(), inputs.now, memo.index, failures),
        payload=payload,
        payload_memo=payload_memo,
        override_snapshots=taken,
        overrides=snapshots.current_overrides(desired.overrides, taken),
        disturbed=disturbed,
        digests={key: digest for key, digest in memo.digests.items() if key in before.placements},
        evictions=asked_for(desired, before.evictions),
        runs=runs_of(inputs),
        gates=Gates.of(inputs, clusters),
    )
