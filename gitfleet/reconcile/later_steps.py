"""What is left to do when a reconcile has done its part: the later steps of every rollout, for `plan`.

    with_namespaces      the inputs of a decision once the namespaces are there that ResourcePlacements wait for
    when_rolled_out      a decision as it will be when every rolling update is through
    remaining_operations what is to be done on clusters until then, beside what is done now

Only the end of the rollouts counts here, not their order in time. It takes for granted that each step succeeds, that
nobody changes anything meanwhile, that what is held or quarantined stays so, that every approval of a run is given, and
that a cluster that does not answer has what the inventory says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from gitfleet import apply, rollout, snapshots, works
from gitfleet.api.bindings import ClusterContent, is_active
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures
from gitfleet.model.folder_order import NO_ORDER
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Create, Delete, Operation, Refuse, Update
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import manifests_on
from gitfleet.reconcile import Memo
from gitfleet.reconcile.applying import to_apply

Token = tuple[str, str, object, str, str]


def with_namespaces(decision: Decision, done: Decision) -> Inputs | None:
    """The inputs of `decision` as if each cluster had the namespaces already that `done` (of `when_rolled_out`) places
    there and that a ResourcePlacement is in: NamespaceAffinity admits no cluster before. None when none is missing.

    Once is enough: no ResourcePlacement can place a Namespace.
    """
    awaited = {key.namespace for key in done.after.placements if key.namespace}
    inputs, missing = decision.inputs, False
    clusters, observations = dict(inputs.before.clusters), dict(inputs.observations)
    for name, cluster in done.after.clusters.items():
        keys = (manifest.key for manifest in manifests_on(done.works, name))
        placed = {key.name for key in keys if (key.group, key.kind) == ("", "Namespace") and key.name in awaited}
        if not placed - set(cluster.status.namespaces or ()):
            continue
        missing = True
        namespaces = {**(cluster.status.namespaces or {}), **dict.fromkeys(placed, "")}
        if name in clusters:
            clusters[name] = replace(clusters[name], status=replace(clusters[name].status, namespaces=namespaces))
        if name in observations:
            observations[name] = replace(observations[name], namespaces=namespaces)
    before = replace(inputs.before, clusters=clusters)
    return replace(inputs, before=before, observations=observations) if missing else None


def when_rolled_out(decision: Decision, memo: Memo) -> Decision:
    """The decision with every picked cluster at the newest snapshot, or that of its run, and every other one given up,
    over the inventory that was observed. A cluster that does not answer counts as having what is recorded."""
    failures = Failures(decision.failures)
    desired, before, after = decision.inputs.desired, decision.inputs.before, decision.after
    records = after.placements
    waiting = [k for k, plan in decision.plans.items() if plan.blocked and not records[k].placement.strategy.external]
    rolling = [*waiting, *(key for key, record in records.items() if record.placement.deleting is not None)]
    current = snapshots.current_overrides(desired.overrides, after.overrides)
    done = works.state_when_done(after, current, rolling, failures)
    unmoved = {key: _without_asked(done.placements[key], records[key], decision.plans[key]) for key in waiting}
    done = _with_runs_done(replace(done, placements={**done.placements, **unmoved}))
    rendered, _ = works.render_fleet(done, memo.works, failures, desired.config.policy)
    observations, inventory = dict(decision.inputs.observations), dict(before.inventory)
    left_alone = to_apply(decision).left_alone
    for name, observation in decision.inputs.observations.items():
        if not observation.reachable:
            recorded, owned = before.inventory.get(name, {}), decision.seen_works.get(name, ())
            observations[name], inventory[name] = apply.as_recorded(name, recorded, owned, left_alone(name))
            wanted_keys = (manifest.key for manifest in manifests_on(rendered, name))
            live = {**dict.fromkeys(wanted_keys), **observations[name].live}
            observations[name] = replace(observations[name], live=live)
    return replace(
        decision,
        inputs=replace(decision.inputs, observations=observations),
        after=replace(done, inventory=inventory),
        works=rendered,
        failures=failures.found,
    )


def _without_asked(done: PlacementRecord, now: PlacementRecord, plan: RolloutPlan) -> PlacementRecord:
    """The record in which the clusters that wait for a person stay as they are now."""
    stay = {binding.cluster: binding for binding in now.bindings if plan.blocked.get(binding.cluster) in plan.asks}
    return replace(done, bindings=tuple(stay.get(binding.cluster, binding) for binding in done.bindings))


def _with_runs_done(state: FleetState) -> FleetState:
    """The state when the runs that are under way are through, in the order in which they were seen."""
    records, overrides = dict(state.placements), tuple(chain.from_iterable(state.overrides.values()))
    for run in sorted(state.runs.values(), key=lambda run: (run.created, run.key)):
        record = records.get(run.placement)
        if record is None or not run.goes_forward:
            continue
        updates = {cluster.cluster: cluster for cluster in run.status.clusters}
        contents = {name: ClusterContent.of(update) for name, update in updates.items()}
        labels = works.pinned_labels(contents, overrides, state.clusters)
        deletion = run.status.deletion
        removed = {cluster.cluster for cluster in deletion.clusters} if deletion is not None else set()
        bindings = [
            replace(
                binding,
                resource_snapshot=run.snapshot,
                override_labels=labels.get(binding.cluster, ()),
                apply_strategy=run.status.apply_strategy,
                **contents[binding.cluster]._asdict(),
            )
            if binding.cluster in updates and is_active(binding)
            else binding
            for binding in record.bindings
            if binding.cluster not in removed
        ]
        records[run.placement] = replace(record, bindings=tuple(bindings))
    return replace(state, placements=records)


def remaining_operations(
    done: Decision, now: Iterable[Operation], newly_observed: Mapping[str, ClusterObservation], memo: Memo
) -> tuple[Operation, ...]:
    """The operations that lead to `done` (of `when_rolled_out`) and are not among those of `now`: creates, updates,
    deletes and refusals, by cluster name."""
    failures = Failures(done.failures)
    after = done.after
    observations = apply.merge_observations(done.inputs.observations, newly_observed)
    removing = rollout.removals(after.clusters, after.placements, after.inventory, failures)
    going = apply.Going(removing, done.gate.without_pace)
    planned, _ = apply.plan_fleet(
        after, to_apply(done)._replace(order=NO_ORDER, foresees=True), observations, going, memo.plans, failures
    )
    current = {_token(operation) for operation in now}
    writes = (operation for operation in planned if isinstance(operation, Create | Update | Delete | Refuse))
    return tuple(operation for operation in writes if _token(operation) not in current)


def _token(operation: Operation) -> Token:
    """What is done to which object: an update to another manifest is another one."""
    digest = operation.manifest.digest if isinstance(operation, Create | Update) else ""
    return (operation.cluster, str(operation.placement), operation.key.identity, type(operation).__name__, digest)
