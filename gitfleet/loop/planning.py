"""What would happen: a decision, its operations and all later ones, over clusters that are asked or taken as recorded.

Nothing is written, neither to git nor to a cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import apply
from gitfleet.api.clusters import MemberCluster, ResourceUsage
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.loop.driver import Driver
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from gitfleet.reconcile import later_steps

Keys = Mapping[str, Collection[ObjectKey]]
_NEVER_APPLIED = "planned"
"""The uid of an object that would have been made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """One moment. `clusters` says what counts: live and simulated ask the clusters; none asks nobody: each cluster is
    healthy and has what the state branch recorded; recorded does the same for clusters that are known, and decides
    nothing about others."""

    driver: Driver
    clusters: str
    now: datetime

    def decide(self, wanted: Desired, before: FleetState) -> tuple[Decision, tuple[Operation, ...]]:
        """The decision and the operations of a reconcile of `wanted` from `before`."""
        before = self.driver.rebuilt(before, wanted)
        if self._asks:
            decision = self.driver.decide(self.driver.inputs_for(wanted, before, self.now))
            return self.driver.observe_unseen(decision)
        clusters, known = {**before.clusters, **wanted.clusters}, self._recorded(before)
        observations = {name: _empty(cluster) for name, cluster in clusters.items() if name not in known}
        given = self.driver.approvals_of(wanted, before, self.now)
        inputs = Inputs(desired=wanted, before=before, observations=observations, now=self.now, approvals=given)
        decision = self.driver.decide(inputs)
        decision, recorded = _with_recorded(decision)
        missing = self._observed(decision, decision.unseen())
        return self.driver.plan_operations(decision, {**missing, **recorded})

    def remaining(
        self, decision: Decision, operations: tuple[Operation, ...]
    ) -> tuple[tuple[Operation, ...], tuple[Work, ...]]:
        """The operations of all later steps; and the works that cannot be made, where the rollout stops."""
        done = self._rolled_out(decision)
        seen = self._observed(done, done.unseen())
        blocked = tuple(work for found in done.works.values() for work in found if work.error is not None)
        return later_steps.remaining_operations(done, operations, seen, self.driver.memo), blocked

    def rolled_out(self, decision: Decision) -> tuple[Decision, Mapping[str, ClusterObservation]]:
        """The decision at the end of all rollouts, and the observations with everything that it wants in them."""
        done = self._rolled_out(decision)
        return done, apply.merge_observations(done.inputs.observations, self._observed(done, done.unseen()))

    def as_rolled_out(self, wanted: Desired, before: FleetState) -> FleetState:
        """The state as if `wanted` had been rolled out; where no cluster is asked, everything of it is there."""
        decision, _ = self.decide(wanted, before)
        if self._asks:
            return decision.after
        done = self._rolled_out(decision)
        inventory = {name: _applied(done.after.inventory.get(name, {}), done, name) for name in done.after.clusters}
        return replace(done.after, inventory={name: owned for name, owned in inventory.items() if owned})

    def _rolled_out(self, decision: Decision) -> Decision:
        """The decision at the end of all rollouts, with the placements that wait for a namespace of another one."""
        done = later_steps.when_rolled_out(decision, self.driver.memo)
        inputs = later_steps.with_namespaces(decision, done)
        if inputs is None:
            return done
        if not self._asks:
            known = self._recorded(inputs.before)
            fresh = {name: seen for name, seen in inputs.observations.items() if name not in known}
            then, recorded = _with_recorded(self.driver.decide(replace(inputs, observations=fresh)))
            then = replace(then, inputs=replace(then.inputs, observations={**fresh, **recorded}))
        else:
            then = self.driver.decide(inputs)
        return later_steps.when_rolled_out(then, self.driver.memo)

    def _recorded(self, before: FleetState) -> Collection[str]:
        """The clusters that count as having what is recorded, where no cluster is asked."""
        return before.inventory if self.clusters == "none" else before.clusters

    @property
    def _asks(self) -> bool:
        return self.clusters in ("live", "simulated")

    def _observed(self, decision: Decision, missing: Keys) -> Mapping[str, ClusterObservation]:
        if self._asks:
            return self.driver.fanout.observe(decision.after.clusters, missing, probe=False) if missing else {}
        return {
            name: ClusterObservation(cluster=name, reachable=True, live=dict.fromkeys(keys))
            for name, keys in missing.items()
        }


def _with_recorded(decision: Decision) -> tuple[Decision, dict[str, ClusterObservation]]:
    """The decision over the inventory by which clusters that were not observed are compared, and these clusters."""
    before = decision.inputs.before
    ignored = decision.inputs.desired.config.ignore_differences
    wanted = apply.Wanted(decision.works, ignored=ignored, held=decision.held)
    recorded: dict[str, ClusterObservation] = {}
    inventory: dict[str, Inventory] = dict(before.inventory)
    for name, owned in before.inventory.items():
        if name not in decision.inputs.observations:
            works, left_alone = decision.seen_works.get(name, ()), wanted.left_alone(name)
            observation, inventory[name] = apply.as_recorded(name, owned, works, left_alone)
            keys = (manifest.key for work in decision.works.get(name, ()) for manifest in work.manifests)
            recorded[name] = replace(observation, live={**dict.fromkeys(keys), **observation.live})
    inputs = replace(decision.inputs, before=replace(before, inventory=inventory))
    return replace(decision, inputs=inputs, after=replace(decision.after, inventory=inventory)), recorded


def _applied(owned: Inventory, done: Decision, cluster: str) -> dict[ObjectKey, InventoryEntry]:
    """The inventory of a cluster with everything applied that its works want, and nothing else of these placements."""
    works = done.works.get(cluster, ())
    known = {key.identity: entry for key, entry in owned.items()}
    found: dict[ObjectKey, InventoryEntry] = {}
    for placement, manifest in ((work.placement, manifest) for work in works for manifest in work.manifests):
        had = known.get(manifest.key.identity)
        taken = apply.is_taken_over(had)
        found[manifest.key] = InventoryEntry(
            key=manifest.key,
            placement=placement,
            uid=(had.uid if had is not None else None) or _NEVER_APPLIED,
            applied_digest=manifest.digest,
            shape_digest="",
            taken_over=taken,
            protected_by=apply.protected_by(manifest.body, taken_over=taken),
        )
    return found


def _empty(cluster: MemberCluster) -> ClusterObservation:
    status = cluster.status
    return ClusterObservation(
        cluster=cluster.name,
        reachable=True,
        namespaces=status.namespaces,
        properties=status.properties,
        resource_usage=status.resource_usage if status.resource_usage != ResourceUsage() else None,
    )
