"""What would happen: a decision, its operations and all later ones, over clusters that are asked or taken as recorded.

Nothing is written, neither to git nor to a cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import apply
from gitfleet.api.clusters import MemberCluster, ResourceUsage
from gitfleet.api.objects import ObjectKey
from gitfleet.loop import rolled_out
from gitfleet.loop.driver import Driver
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from gitfleet.reconcile import later_steps

Keys = Mapping[str, Collection[ObjectKey]]
_MOST_PASSES = 6
"""So many decisions lead to a fleet where everything is rolled out: placements wait for the namespaces of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """One moment. `clusters` says what counts: live and simulated ask the clusters; none asks nobody: each cluster is
    healthy and has what the state branch recorded; recorded does the same for clusters that are known, and decides
    nothing about others."""

    driver: Driver
    clusters: str
    now: datetime

    def decide(self, desired: Desired, before: FleetState) -> tuple[Decision, tuple[Operation, ...]]:
        """The decision and the operations of a reconcile of `desired` from `before`."""
        before = self.driver.repository.loaded(before, desired)
        if self._asks:
            decision = self.driver.decide(self.driver.inputs_for(desired, before, self.now))
            return self.driver.observe_unseen(decision)
        decision = self.driver.decide(self._inputs(desired, before))
        decision, recorded = _with_recorded(decision)
        missing = self._observed(decision, decision.unseen())
        return self.driver.plan_operations(decision, {**missing, **recorded})

    def _inputs(self, desired: Desired, before: FleetState) -> Inputs:
        """The inputs of a reconcile that asks no cluster."""
        clusters, recorded_names = {**before.clusters, **desired.clusters}, self._recorded(before)
        observations = {
            name: _empty(cluster, before.clusters.get(name, cluster))
            for name, cluster in clusters.items()
            if name not in recorded_names
        }
        approvals = self.driver.repository.approvals_of(desired, before, self.now)
        return Inputs(desired=desired, before=before, observations=observations, now=self.now, approvals=approvals)

    def remaining(
        self, decision: Decision, operations: tuple[Operation, ...]
    ) -> tuple[tuple[Operation, ...], tuple[Work, ...]]:
        """The operations of all later steps; and the works that cannot be made, where the rollout stops."""
        done = self._rolled_out(decision)
        seen = self._observed(done, done.unseen())
        blocked = tuple(work for works in done.works.values() for work in works if work.error is not None)
        return later_steps.remaining_operations(done, operations, seen, self.driver.memo), blocked

    def rolled_out(self, decision: Decision) -> tuple[Decision, Mapping[str, ClusterObservation]]:
        """The decision at the end of all rollouts, and the observations with everything that it wants in them."""
        done = self._rolled_out(decision)
        return done, apply.merge_observations(done.inputs.observations, self._observed(done, done.unseen()))

    def as_rolled_out(self, base: Desired, before: FleetState) -> FleetState:
        """The state once `base` is rolled out and available; no cluster is asked."""
        free = rolled_out.unhindered(base, before)
        for _ in range(_MOST_PASSES):
            last, before = (
                before,
                rolled_out.applied(self.driver.decide(self._inputs(free, before)), self.now, self.driver.memo),
            )
            if before == last:
                break
        return rolled_out.as_written(before, base)

    def _rolled_out(self, decision: Decision) -> Decision:
        """The decision at the end of all rollouts, with the placements that wait for a namespace of another one."""
        done = later_steps.when_rolled_out(decision, self.driver.memo)
        inputs = later_steps.with_namespaces(decision, done)
        if inputs is None:
            return done
        if not self._asks:
            recorded_names = self._recorded(inputs.before)
            fresh = {name: seen for name, seen in inputs.observations.items() if name not in recorded_names}
            repeated, recorded = _with_recorded(self.driver.decide(replace(inputs, observations=fresh)))
            repeated = replace(repeated, inputs=replace(repeated.inputs, observations={**fresh, **recorded}))
        else:
            repeated = self.driver.decide(inputs)
        return later_steps.when_rolled_out(repeated, self.driver.memo)

    def _recorded(self, before: FleetState) -> Collection[str]:
        """The clusters that count as having what is recorded, where no cluster is asked."""
        return before.inventory if self.clusters == "none" else before.clusters

    @property
    def _asks(self) -> bool:
        return self.clusters in ("live", "simulated")

    def _observed(self, decision: Decision, missing: Keys) -> Mapping[str, ClusterObservation]:
        if self._asks:
            return self.driver.clusters.fanout.observe(decision.after.clusters, missing, probe=False) if missing else {}
        return {
            name: ClusterObservation(cluster=name, reachable=True, live=dict.fromkeys(keys))
            for name, keys in missing.items()
        }


def _with_recorded(decision: Decision) -> tuple[Decision, dict[str, ClusterObservation]]:
    """The decision over the inventory by which clusters that were not observed are compared, and these clusters."""
    before = decision.inputs.before
    ignored = decision.inputs.desired.config.ignore_differences
    apply_input = apply.Wanted(decision.works, ignored=ignored, by_rollouts=decision.by_rollouts)
    recorded: dict[str, ClusterObservation] = {}
    inventory: dict[str, Inventory] = dict(before.inventory)
    for name, owned in before.inventory.items():
        if name not in decision.inputs.observations:
            works, left_alone = decision.seen_works.get(name, ()), apply_input.left_alone(name)
            observation, inventory[name] = apply.as_recorded(name, owned, works, left_alone)
            keys = (manifest.key for work in decision.works.get(name, ()) for manifest in work.manifests)
            recorded[name] = replace(observation, live={**dict.fromkeys(keys), **observation.live})
    inputs = replace(decision.inputs, before=replace(before, inventory=inventory))
    return replace(decision, inputs=inputs, after=replace(decision.after, inventory=inventory)), recorded


def _empty(cluster: MemberCluster, before: MemberCluster) -> ClusterObservation:
    status = cluster.status
    return ClusterObservation(
        cluster=cluster.name,
        reachable=True,
        namespaces=before.status.namespaces,
        properties=status.properties,
        resource_usage=status.resource_usage if status.resource_usage != ResourceUsage() else None,
    )
