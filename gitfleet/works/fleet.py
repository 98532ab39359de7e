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
    """A placement's works by cluster, each with what it was made of, and the record that named them."""

    record: PlacementRecord
    works: Mapping[str, tuple[MadeOf, Work]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorksMemo:
    """The works that were rendered last, for these clusters and overrides."""

    clusters: Mapping[str, MemberCluster] = field(default_factory=dict)
    overrides: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]] = field(default_factory=dict)
    placements: Mapping[PlacementKey, Rendered] = field(default_factory=dict)
    policy: PlacingPolicy = USUAL_POLICY


def render_fleet(
    state: FleetState, memo: WorksMemo, failures: Failures, policy: PlacingPolicy = USUAL_POLICY
) -> tuple[Works, WorksMemo]:
    """The works of every cluster, by cluster and placement: of each binding that was rolled out and not given up.

    A binding that is no longer picked keeps its work until the rollout removes it. A work that cannot be rendered has
    an `error`, so that nothing of it is applied and nothing removed. `policy` says what overrides may add to envelopes.
    """
    overrides = CompiledOverrides((s for snapshots in state.overrides.values() for s in snapshots), policy)
    same_fleet = (memo.clusters, memo.overrides, memo.policy) == (state.clusters, state.overrides, policy)
    texts: EnvelopeTexts = {}
    placements: dict[PlacementKey, Rendered] = {}
    works: dict[str, list[Work]] = {}
    for key, record in state.placements.items():
        previous = memo.placements.get(key)
        if previous is not None and previous.record is record and same_fleet:
            placements[key] = previous
            rendered: Iterable[tuple[MadeOf, Work]] = previous.works.values()
        else:
            before = previous.works if previous is not None else {}
            args = record, state.clusters, (overrides, texts), before
            made_now = failures.contain(Subject.of_placement(key), None, _works_of, *args)
            if made_now is None:
                continue
            rendered = made_now
            placements[key] = Rendered(record, {work.cluster: (made, work) for made, work in rendered})
        for _, work in rendered:
            works.setdefault(work.cluster, []).append(work)
    memo = WorksMemo(clusters=state.clusters, overrides=state.overrides, placements=placements, policy=policy)
    return {name: tuple(works[name]) for name in sorted(works)}, memo


def _works_of(
    record: PlacementRecord,
    clusters: Mapping[str, MemberCluster],
    shared: tuple[CompiledOverrides, EnvelopeTexts],
    memo: Mapping[str, tuple[MadeOf, Work]],
) -> list[tuple[MadeOf, Work]]:
    overrides, texts = shared
    named = {snapshot.name: snapshot for snapshot in record.resource_snapshots}
    works: list[tuple[MadeOf, Work]] = []
    variants = {name: SnapshotVariants(snapshot) for name, snapshot in named.items()}
    for binding in record.bindings:
        snapshot = named.get(binding.resource_snapshot or "")
        cluster = clusters.get(binding.cluster)
        if snapshot is None or cluster is None or binding.deleting is not None:
            continue
        made_of = _made_of(binding, snapshot, overrides, cluster)
        previous = memo.get(binding.cluster)
        if previous is None or previous[0] != made_of:
            chosen, member = variants[snapshot.name].of(binding.variants), as_rolled_out(cluster, binding)
            previous = (made_of, render_work(binding, chosen, overrides, member, texts))
        works.append(previous)
    return works


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
