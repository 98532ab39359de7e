"""The works of the whole fleet, each one rendered only when something that it is made of has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gitfleet.api.bindings import Binding, ClusterContent, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeTexts
from gitfleet.api.folders import ChosenVariants
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot, SnapshotVariants
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.works.compiled import CompiledOverrides
from gitfleet.works.matching import as_rolled_out, target_contents
from gitfleet.works.render import render_work

Works = dict[str, tuple[Work, ...]]


class MadeOf(NamedTuple):
    """All that a work depends on, beside its placement and its cluster's name."""

    generation: int
    snapshot: tuple[str, str, bool]
    apply_strategy: ApplyStrategy
    variants: ChosenVariants
    overrides: tuple[tuple[str, str | None], ...]
    labels: Mapping[str, str] | tuple[tuple[str, str | None], ...]
    policy: PlacingPolicy | None
    """What overrides may add to envelopes, where there are any."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A placement's works by cluster, what each was made of, and the record that named them."""

    record: PlacementRecord
    works: Mapping[str, Work]
    made_of: Mapping[str, MadeOf]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorksMemo:
    """The works that were rendered last, for clusters with these labels and for these overrides."""

    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    overrides: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]] = field(default_factory=dict)
    placements: Mapping[PlacementKey, Rendered] = field(default_factory=dict)
    policy: PlacingPolicy = USUAL_POLICY

    @property
    def works(self) -> dict[PlacementKey, Mapping[str, Work]]:
        """The works of each placement, by cluster: the same mapping again for the same works."""
        return {key: rendered.works for key, rendered in self.placements.items()}


def render_fleet(
    state: FleetState, memo: WorksMemo, failures: Failures, policy: PlacingPolicy = USUAL_POLICY
) -> tuple[Works, WorksMemo]:
    """The works of every cluster, by cluster and placement: of each binding that was rolled out and not given up.

    A binding that is no longer picked keeps its work until the rollout removes it. A work that cannot be rendered has
    an `error`, so that nothing of it is applied and nothing removed. `policy` says what overrides may add to envelopes.
    """
    overrides = CompiledOverrides((s for snapshots in state.overrides.values() for s in snapshots), policy)
    labels = {name: cluster.labels for name, cluster in state.clusters.items()}
    same_fleet = (memo.labels, memo.overrides, memo.policy) == (labels, state.overrides, policy)
    texts: EnvelopeTexts = {}
    placements: dict[PlacementKey, Rendered] = {}
    works: dict[str, list[Work]] = {}
    for key, record in state.placements.items():
        rendered = memo.placements.get(key)
        if rendered is None or rendered.record is not record or not same_fleet:
            args = record, state.clusters, (overrides, texts), rendered
            rendered = failures.contain(Subject.of_placement(key), None, _works_of, *args)
        if rendered is not None:
            placements[key] = rendered
            for cluster, work in rendered.works.items():
                works.setdefault(cluster, []).append(work)
    memo = WorksMemo(labels=labels, overrides=state.overrides, placements=placements, policy=policy)
    return {name: tuple(works[name]) for name in sorted(works)}, memo


def _works_of(
    record: PlacementRecord,
    clusters: Mapping[str, MemberCluster],
    shared: tuple[CompiledOverrides, EnvelopeTexts],
    before: Rendered | None,
) -> Rendered:
    overrides, texts = shared
    named = {snapshot.name: snapshot for snapshot in record.resource_snapshots}
    variants = {name: SnapshotVariants(snapshot) for name, snapshot in named.items()}
    works: dict[str, Work] = {}
    made_of: dict[str, MadeOf] = {}
    for binding in record.bindings:
        name, snapshot = binding.cluster, named.get(binding.resource_snapshot or "")
        cluster = clusters.get(name)
        if snapshot is None or cluster is None or binding.deleting is not None:
            continue
        made_of[name] = _made_of(binding, snapshot, overrides, cluster)
        if before is not None and before.made_of.get(name) == made_of[name]:
            works[name] = before.works[name]
        else:
            chosen, member = variants[snapshot.name].of(binding.variants), as_rolled_out(cluster, binding)
            works[name] = render_work(binding, chosen, overrides, member, texts)
    is_same = before is not None and before.works == works
    return Rendered(record, before.works if before is not None and is_same else works, made_of)


def _made_of(
    binding: Binding, snapshot: ResourceSnapshot, overrides: CompiledOverrides, cluster: MemberCluster
) -> MadeOf:
    references = ClusterContent.of(binding).overrides
    return MadeOf(
        binding.generation,
        (snapshot.name, snapshot.hash, snapshot.manifests is not None),
        binding.apply_strategy,
        binding.variants,
        tuple((reference, overrides.hash_of(reference)) for reference in references),
        binding.override_labels or cluster.labels,
        overrides.policy if references else None,
    )


def works_when_done(
    state: FleetState, current: tuple[OverrideSnapshot, ...], policy: PlacingPolicy = USUAL_POLICY
) -> Works:
    """The works when every rollout is through: the newest snapshot and overrides on every picked cluster."""
    failures = Failures()
    done = state_when_done(state, current, state.placements, failures)
    return render_fleet(done, WorksMemo(), failures, policy)[0]


def state_when_done(
    state: FleetState, current: tuple[OverrideSnapshot, ...], rolling: Iterable[PlacementKey], failures: Failures
) -> FleetState:
    """The state when the rollouts of these placements are through: every picked cluster is bound to the newest snapshot
    and overrides, and no other is bound."""
    records = dict(state.placements)
    for key in rolling:
        record = records[key]
        records[key] = failures.contain(Subject.of_placement(key), record, _done, record, state, current)
    return replace(state, placements=records)


def _done(record: PlacementRecord, state: FleetState, current: tuple[OverrideSnapshot, ...]) -> PlacementRecord:
    latest = record.latest_resources
    if record.placement.deleting is not None:
        return replace(record, bindings=())
    if latest is None:
        return record
    target = target_contents(record, current, state.clusters)
    bindings = []
    for binding in record.bindings:
        if not is_active(binding):
            continue
        content = target.contents.get(binding.cluster, ClusterContent())
        moved = replace(
            binding,
            resource_snapshot=latest.name,
            override_labels=target.labels.get(binding.cluster, ()),
            apply_strategy=record.placement.strategy.apply_strategy,
            **content._asdict(),
        )
        bindings.append(moved)
    return replace(record, bindings=tuple(bindings))
