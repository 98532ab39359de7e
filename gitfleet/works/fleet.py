"""The works of the whole fleet, each one rendered only when something that it is made of has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeTexts
from gitfleet.api.objects import Identity
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.works.compiled import CompiledOverrides
from gitfleet.works.deletions import HeldObjects, target_overrides
from gitfleet.works.pinned import as_rolled_out
from gitfleet.works.render import empty_work, render_work
from gitfleet.works.unwritten import Unwritten

Works = dict[str, tuple[Work, ...]]
UnwrittenObjects = Mapping[PlacementKey, frozenset[Identity]]
_ALL_WRITTEN: Final[UnwrittenObjects] = {}
_NOTHING_HELD: Final[Mapping[PlacementKey, HeldObjects]] = {}


class MadeOf(NamedTuple):
    """All that a work depends on, beside its placement and its cluster's name."""

    generation: int
    snapshot: tuple[str, str, bool]
    apply_strategy: ApplyStrategy
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
    overrides = CompiledOverrides((s for found in state.overrides.values() for s in found), policy)
    same_fleet = (memo.clusters, memo.overrides, memo.policy) == (state.clusters, state.overrides, policy)
    texts: EnvelopeTexts = {}
    placements: dict[PlacementKey, Rendered] = {}
    works: dict[str, list[Work]] = {}
    for key, record in state.placements.items():
        known = memo.placements.get(key)
        if known is not None and known.record is record and same_fleet:
            placements[key] = known
            found: Iterable[Work] = (work for _, work in known.works.values())
        else:
            subject, before = Subject.of_placement(key), known.works if known is not None else {}
            mine = Failures()
            rendered = mine.contain(subject, [], _works_of, record, state.clusters, (overrides, texts), before, mine)
            if mine.found:
                failures.note_all(mine)
            else:
                placements[key] = Rendered(record, {work.cluster: (made, work) for made, work in rendered})
            found = (work for _, work in rendered)
        for work in found:
            works.setdefault(work.cluster, []).append(work)
    memo = WorksMemo(clusters=state.clusters, overrides=state.overrides, placements=placements, policy=policy)
    return {name: tuple(works[name]) for name in sorted(works)}, memo


def _works_of(
    record: PlacementRecord,
    clusters: Mapping[str, MemberCluster],
    shared: tuple[CompiledOverrides, EnvelopeTexts],
    memo: Mapping[str, tuple[MadeOf, Work]],
    failures: Failures,
) -> list[tuple[MadeOf, Work]]:
    overrides, texts = shared
    named = {snapshot.name: snapshot for snapshot in record.resource_snapshots}
    works: list[tuple[MadeOf, Work]] = []
    for binding in record.bindings:
        snapshot = named.get(binding.resource_snapshot or "")
        cluster = clusters.get(binding.cluster)
        if snapshot is None or cluster is None or binding.deleting is not None:
            continue
        made_of = _made_of(binding, snapshot, overrides, cluster)
        known = memo.get(binding.cluster)
        if known is None or known[0] != made_of:
            work = attempt(
                Subject("Work", str(binding.placement), binding.cluster),
                render_work,
                binding,
                snapshot,
                overrides,
                as_rolled_out(cluster, binding),
                texts,
            )
            if isinstance(work, Failure):
                failures.note(work)
                work = replace(empty_work(binding, snapshot), error=f"{work.sentence} (cluster {cluster.name})")
            known = (made_of, work)
        works.append(known)
    return works


def _made_of(
    binding: Binding, snapshot: ResourceSnapshot, overrides: CompiledOverrides, cluster: MemberCluster
) -> MadeOf:
    references = (*binding.cluster_resource_overrides, *binding.resource_overrides)
    return MadeOf(
        binding.generation,
        (snapshot.name, snapshot.hash, snapshot.manifests is not None),
        binding.apply_strategy,
        tuple((reference, overrides.hash_of(reference)) for reference in references),
        binding.override_labels or cluster.labels,
        overrides.policy if references else None,
    )


def works_when_done(
    state: FleetState,
    current: tuple[OverrideSnapshot, ...],
    policy: PlacingPolicy = USUAL_POLICY,
    held: Mapping[PlacementKey, HeldObjects] = _NOTHING_HELD,
    unwritten: UnwrittenObjects = _ALL_WRITTEN,
) -> Works:
    """The works when every rollout is through: the newest snapshot and overrides on every picked cluster, but for what
    is held."""
    failures = Failures()
    done = state_when_done(state, current, held, state.placements, failures, unwritten)
    return render_fleet(done, WorksMemo(), failures, policy)[0]


def state_when_done(
    state: FleetState,
    current: tuple[OverrideSnapshot, ...],
    held: Mapping[PlacementKey, HeldObjects],
    rolling: Iterable[PlacementKey],
    failures: Failures,
    unwritten: UnwrittenObjects = _ALL_WRITTEN,
) -> FleetState:
    """The state when the rollouts of these placements are through: every picked cluster is bound to the newest snapshot
    and overrides, and no other is bound. `held` are objects that overrides delete and that stay, `unwritten` those that
    stay and stand in no file."""
    records, every = dict(state.placements), tuple(s for found in state.overrides.values() for s in found)
    for key in rolling:
        record = records[key]
        records[key] = failures.contain(
            Subject.of_placement(key), record, _done, record, state, current, held.get(key, {}),
            Unwritten(unwritten.get(key, frozenset()), every),
        )  # fmt: skip
    return replace(state, placements=records)


def _done(
    record: PlacementRecord,
    state: FleetState,
    current: tuple[OverrideSnapshot, ...],
    held: HeldObjects,
    unwritten: Unwritten,
) -> PlacementRecord:
    latest = record.latest_resources
    if record.placement.deleting is not None:
        return replace(record, bindings=())
    if latest is None:
        return record
    target = target_overrides(record, current, state.clusters, held, unwritten)
    bindings = []
    for binding in record.bindings:
        if not is_active(binding):
            continue
        cluster_wide, namespaced = target.references.get(binding.cluster, ((), ()))
        bindings.append(
            replace(
                binding,
                resource_snapshot=latest.name,
                cluster_resource_overrides=cluster_wide,
                resource_overrides=namespaced,
                override_labels=target.labels.get(binding.cluster, ()),
            )
        )
    return replace(record, bindings=tuple(bindings))
