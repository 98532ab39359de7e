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

from gitfleet import apply, removals, rollout, snapshots, works
from gitfleet.api.bindings import is_active
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Create, Delete, Operation, Refuse, Update
from gitfleet.model.state import FleetState
from gitfleet.reconcile import Memo
from gitfleet.reconcile.applying import to_apply

Token = tuple[str, str, object, str, str]


def with_namespaces(decision: Decision, done: Decision) -> Inputs | None:
    """The inputs of `decision` as if each cluster had the namespaces already that `done` (of `when_rolled_out`) places
    there and that a ResourcePlacement is in: NamespaceAffinity admits no cluster before. None when none is missing.

    Once is enough: no ResourcePlacement can place a Namespace.
    """
    awaited = {key.namespace for key in done.after.placements if key.namespace}
    inputs, clusters, found = decision.inputs, dict(decision.inputs.before.clusters), dict(decision.inputs.observations)
    missing = False
    for name, cluster in done.after.clusters.items():
        keys = (manifest.key for work in done.works.get(name, ()) for manifest in work.manifests)
        placed = {key.name for key in keys if (key.group, key.kind) == ("", "Namespace") and key.name in awaited}
        if not placed - set(cluster.status.namespaces or ()):
            continue
        missing = True
        there = {**(cluster.status.namespaces or {}), **dict.fromkeys(placed, "")}
        if name in clusters:
            clusters[name] = replace(clusters[name], status=replace(clusters[name].status, namespaces=there))
        if name in found:
            found[name] = replace(found[name], namespaces=there)
    return replace(inputs, before=replace(inputs.before, clusters=clusters), observations=found) if missing else None


def when_rolled_out(decision: Decision, memo: Memo) -> Decision:
    """The decision with every picked cluster at the newest snapshot, or that of its run, and every other one given up,
    over the inventory that was observed. A cluster that does not answer counts as having what is recorded."""
    failures = Failures(decision.failures)
    wanted, before, after = decision.inputs.desired, decision.inputs.before, decision.after
    records = after.placements
    held = [k for k, plan in decision.plans.items() if plan.held and not records[k].placement.strategy.external]
    refused = [key for key in held if decision.plans[key].asks]
    rolling = [key for key in held if key not in refused]
    rolling += [key for key, record in records.items() if record.placement.deleting is not None]
    current = snapshots.current_overrides(wanted.overrides, after.overrides)
    kept = removals.Kept.of(removals.pending(after.holds.values()), wanted.payload)
    done = works.state_when_done(after, current, kept.overridden, rolling, failures, kept.unwritten)
    unmoved = {k: replace(records[k], bindings=tuple(filter(is_active, records[k].bindings))) for k in refused}
    done = _with_runs_done(replace(done, placements={**done.placements, **unmoved}))
    rendered, _ = works.render_fleet(done, memo.works, failures, wanted.config.policy)
    observations, inventory = dict(decision.inputs.observations), dict(before.inventory)
    left_alone = to_apply(decision).left_alone
    for name, observation in decision.inputs.observations.items():
        if not observation.reachable:
            known, owned = before.inventory.get(name, {}), decision.seen_works.get(name, ())
            observations[name], inventory[name] = apply.as_recorded(name, known, owned, left_alone(name))
            wanted_keys = (manifest.key for work in rendered.get(name, ()) for manifest in work.manifests)
            live = {**dict.fromkeys(wanted_keys), **observations[name].live}
            observations[name] = replace(observations[name], live=live)
    return replace(
        decision,
        inputs=replace(decision.inputs, observations=observations),
        after=replace(done, inventory=inventory),
        works=rendered,
        failures=failures.found,
    )


def _with_runs_done(state: FleetState) -> FleetState:
    """The state when the runs that are under way are through, in the order in which they were seen."""
    records, every = dict(state.placements), tuple(s for found in state.overrides.values() for s in found)
    for run in sorted(state.runs.values(), key=lambda run: (run.created, run.key)):
        record = records.get(run.placement)
        if record is None or run.finished or run.fell_back:
            continue
        updates = {cluster.cluster: cluster for stage in run.status.stages for cluster in stage.clusters}
        references = {n: (one.cluster_resource_overrides, one.resource_overrides) for n, one in updates.items()}
        labels = works.pinned_labels(references, every, state.clusters)
        left = (
            {cluster.cluster for cluster in run.status.deletion.clusters} if run.status.deletion is not None else set()
        )
        bindings = [
            replace(
                binding,
                resource_snapshot=run.snapshot,
                cluster_resource_overrides=references[binding.cluster][0],
                resource_overrides=references[binding.cluster][1],
                override_labels=labels.get(binding.cluster, ()),
            )
            if binding.cluster in updates and is_active(binding)
            else binding
            for binding in record.bindings
            if binding.cluster not in left
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
    planned, _ = apply.plan_fleet(after, to_apply(done), observations, removing, memo.plans, failures)
    known = {_token(operation) for operation in now}
    found = (operation for operation in planned if isinstance(operation, Create | Update | Delete | Refuse))
    return tuple(operation for operation in found if _token(operation) not in known)


def _token(operation: Operation) -> Token:
    """What is done to which object: an update to another manifest is another one."""
    digest = operation.manifest.digest if isinstance(operation, Create | Update) else ""
    return (operation.cluster, str(operation.placement), operation.key.identity, type(operation).__name__, digest)
