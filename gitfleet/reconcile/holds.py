"""The removal gate in one decision: what clusters are to have, what of the rest is an orphan, and what may go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from gitfleet import approvals, removals, snapshots, status, works
from gitfleet.api.envelopes import carried_identities
from gitfleet.api.folders import ChosenVariants, choose_variants, of_variants
from gitfleet.api.holds import Hold
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, SnapshotVariants
from gitfleet.model.approvals import Verdict
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.removals import RemovalGate
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.reconcile.run_approvals import wrong_approvals
from gitfleet.reconcile.shared import Shared
from gitfleet.reconcile.wanted import WantedMemo, Works, content_of, wanted_objects


@dataclass(frozen=True, slots=True)
class GateMemo:
    """What clusters were to have and the orphans of the pass before: when its state was read, and after its
    decision."""

    objects_before: WantedMemo = WantedMemo()
    objects: WantedMemo = WantedMemo()
    before: removals.OrphansMemo = removals.OrphansMemo()
    after: removals.OrphansMemo = removals.OrphansMemo()


def with_wanted(
    state: FleetState, overrides: tuple[OverrideSnapshot, ...], rendered: Works, memo: GateMemo, failures: Failures
) -> tuple[FleetState, GateMemo]:
    """A decided state with what clusters are to have by it."""
    objects, objects_memo = wanted_objects(state, overrides, rendered, memo.objects, failures)
    return replace(state, wanted=objects), replace(memo, objects=objects_memo)


def with_gate(decision: Decision, shared: Shared, memo: GateMemo, failures: Failures) -> tuple[Decision, GateMemo]:
    """The decision with its holds, and the gate that every deletion passes."""
    inputs, after = decision.inputs, decision.after
    request = removals.OrphansRequest(
        state=after,
        commit=inputs.desired.commit,
        newest=_newest_content(after, decision.works, shared, failures),
        evicted=frozenset(_evicted(after)),
    )
    orphans, orphans_memo = removals.orphans_of(request, memo.after)
    verdicts = verdicts_on(inputs)
    judgement = removals.judge(
        removals.JudgeRequest(
            desired=inputs.desired,
            before=inputs.before,
            after=after,
            orphans=orphans,
            works=decision.works,
            written=_identities(inputs.desired.payload) if orphans else frozenset(),
            verdicts=verdicts,
            frozen=shared.gates.frozen,
            now=inputs.now,
        )
    )
    held = replace(after, holds=judgement.holds, restored=judgement.restored)
    waiting = [verdicts[name] for name in held.held if name in verdicts and verdicts[name].answer is None]
    warnings = (
        *status.restored_state(held),
        *chain.from_iterable(verdict.faults for verdict in waiting),
        *wrong_approvals(held.held.values(), inputs.before, inputs.desired),
    )
    held = replace(held, faults=(*held.faults, *warnings)) if warnings else held
    decided = replace(decision, after=status.with_holds(held, inputs.before, inputs.now), gate=judgement.gate)
    return replace(decided, after=status.with_kept(decided)), replace(memo, after=orphans_memo)


def _evicted(state: FleetState) -> Iterable[tuple[PlacementKey, str]]:
    """The bindings that an eviction gave up: none that is new since then."""
    for eviction in state.evictions.values():
        key, executed = PlacementKey("", eviction.placement_name), eviction.executed
        record = state.placements.get(key)
        if record is None or executed is None or not eviction.was_executed:
            continue
        given_up = (binding.deleting for binding in record.bindings if binding.cluster == eviction.cluster_name)
        if any(since is not None and since <= executed.last_transition_time for since in given_up):
            yield key, eviction.cluster_name


def verdicts_on(inputs: Inputs) -> dict[str, Verdict]:
    """What the watched branch says about each hold."""
    desired, policy, facts = inputs.desired, inputs.desired.config.approvals, inputs.approvals

    def verdict(hold: Hold) -> Verdict:
        request = removals.asked(hold)
        answers = approvals.given(request, desired.approvals_by_request)
        return approvals.judge(request, answers, facts, policy, inputs.now)

    return {name: verdict(hold) for name, hold in inputs.before.holds.items()}


def _newest_content(
    state: FleetState, works_of: Mapping[str, tuple[Work, ...]], shared: Shared, failures: Failures
) -> Callable[[PlacementKey, str], Collection[Identity]]:
    """What the newest content of a placement has for a cluster, where clusters may be kept at other content: a pin, a
    run, a quarantine or a rollback leaves it out. On a cluster that has it, overrides may have changed envelopes."""
    contents: dict[PlacementKey, Callable[[str], Collection[Identity]]] = {}

    def newest(key: PlacementKey, cluster: str) -> Collection[Identity]:
        if key not in contents:
            subject = Subject.of_placement(key)
            contents[key] = failures.contain(subject, _nothing, _newest_of, state.placements[key], state, shared)
        latest = state.placements[key].latest_resources
        is_whole = latest is not None and not latest.folders and state.placements[key].pinned is None
        for work in works_of.get(cluster, ()) if is_whole else ():
            if work.placement == key and latest is not None and work.snapshot == latest.name:
                return frozenset(manifest.key.identity for manifest in work.manifests)
        return contents[key](cluster)

    return newest


def _nothing(_: str) -> frozenset[Identity]:
    return frozenset()


def _newest_of(record: PlacementRecord, state: FleetState, shared: Shared) -> Callable[[str], Collection[Identity]]:
    """The objects by cluster, each with the variants that its labels choose."""
    key, latest = record.placement.key, record.latest_resources
    placement = shared.inputs.desired.placements.get(key)
    if latest is None:
        return _nothing
    deleted = works.deletions_of(key, latest, shared.overrides, state.clusters)
    selected = snapshots.select(placement, shared.payload) if record.pinned is not None and placement else None
    folders = latest.folders if selected is None else selected.folders
    variants, contents = SnapshotVariants(latest), dict[ChosenVariants, frozenset[Identity]]()

    def on(cluster: str) -> Collection[Identity]:
        member = state.clusters.get(cluster)
        chosen = choose_variants(folders, member.scheduling_labels) if member is not None else ()
        if chosen not in contents:
            contents[chosen] = (
                content_of(variants.of(chosen)) or frozenset()
                if selected is None
                else _identities(of_variants(selected.manifests, chosen))
            )
        return contents[chosen] - deleted(cluster)

    return on


def _identities(manifests: Iterable[Manifest]) -> frozenset[Identity]:
    """Of these objects, and of what envelopes among them carry."""
    by_identity = {manifest.key.identity: manifest for manifest in manifests}
    return frozenset(by_identity).union(*carried_identities(by_identity.values()).values())


def gate_before(
    state: FleetState, seen_works: Works, memo: GateMemo, failures: Failures
) -> tuple[FleetState, RemovalGate, GateMemo]:
    """The state before with what clusters were to have by it, and the gate as the pass before recorded it."""
    overrides = tuple(history[-1] for history in state.overrides.values() if history)
    objects, objects_memo = wanted_objects(state, overrides, seen_works, memo.objects_before, failures)
    state = replace(state, wanted=objects)
    orphans, before = removals.orphans_of(removals.OrphansRequest(state=state), memo.before)
    memo = replace(memo, objects_before=objects_memo, before=before)
    return state, removals.recorded_gate(state.holds, orphans), memo
