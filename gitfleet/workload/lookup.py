"""What all rollouts of a pass depend on, and what is worked out once for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.objects import Identity, JsonObject, Manifest
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutMode, RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.model.decisions import Inputs
from gitfleet.model.operations import RefusedStep
from gitfleet.model.rolling import Frozen, Passage, WorkloadMove
from gitfleet.model.state import FleetState
from gitfleet.workload.cases import is_placed
from gitfleet.workload.finding import NamedWorkloads, PlacedObjects, template_id
from gitfleet.workload.handlers import Handlers, WorkloadHandler, Workloads
from gitfleet.workload.seam import Gate, Works
from gitfleet.workload.texts import WorkloadText


@dataclass(frozen=True, slots=True)
class Request:
    """All that workload rollouts depend on: the decided state, with the records as they were, and the works of clusters
    before this pass and after it."""

    state: FleetState
    works_before: Works
    works: Works
    inputs: Inputs
    handlers: Handlers
    gate: Gate


@dataclass
class Lookup:
    """What is worked out once for all rollouts of a pass: what placements want on each cluster, and what identifies the
    templates of manifests."""

    request: Request
    claims: dict[tuple[str, Identity], NamespacedName] = field(default_factory=dict)
    """Which rollout moves a workload on a cluster."""
    shrinking: dict[Identity, set[str]] = field(default_factory=dict)
    """The clusters on which a workload gets fewer pods than its manifest says."""
    shrunk: dict[Identity, set[str]] = field(default_factory=dict)
    """Those on which it has got them."""
    _placed: dict[str, PlacedObjects] = field(default_factory=dict)
    _templates: dict[str, str] = field(default_factory=dict)

    def claim(self, record: RolloutRecord, status: ClusterRolloutStatus) -> None:
        """Note what a rollout moves on a cluster."""
        if status.target is None:
            return
        if self.shrinks(status):
            shrunk = status.rolling_state is RollingState.SUCCEEDED
            clusters = self.shrunk if shrunk else self.shrinking if status.is_running else {}
            clusters.setdefault(status.target.identity, set()).add(status.cluster)
        if status.is_running:
            for key in (status.target, *status.sources):
                self.claims.setdefault((status.cluster, key.identity), record.key)

    def shrinks(self, status: ClusterRolloutStatus) -> bool:
        """Whether a rollout leaves its target fewer pods than the manifest says."""
        target = status.target
        if target is None or status.mode is not RolloutMode.SCALE or target.group_kind not in self.request.handlers:
            return False
        manifest = self.placed_on(status.cluster).manifests.get(target.identity)
        size = self.request.handlers[target.group_kind].size
        return manifest is not None and status.target_size < size(manifest.body)

    def passage(self, status: ClusterRolloutStatus) -> Passage | Frozen:
        """Leave to move the pods of a next batch, or the gate that keeps a rollout from that. Budgets count before the
        first one alone: two rollouts that are under way would wait for each other."""
        move = WorkloadMove(
            cluster=status.cluster,
            workloads=tuple(filter(None, (status.target, *status.sources))),
            resizes=status.mode is RolloutMode.SCALE,
            shrinks=self.shrinks(status) and not status.is_running,
            shrinking=self.shrinking,
            shrunk=self.shrunk,
        )
        return self.request.gate(move)

    def is_named_by_other(self, record: RolloutRecord, workloads: NamedWorkloads) -> bool:
        """Whether another rollout of the commit names the target: that one has it from now on."""
        return bool(self._named.get(workloads.target.identity, set()) - {record.key})

    @cached_property
    def _named(self) -> Mapping[Identity, set[NamespacedName]]:
        named = defaultdict[Identity, set[NamespacedName]](set)
        for key, rollout in self.request.inputs.desired.rollouts.items():
            if isinstance(rollout, RolloutTrait):
                named[rollout.target.identity].add(key)
        return named

    def claimed_by_other(self, record: RolloutRecord, cluster: str, workloads: NamedWorkloads) -> str:
        """Why the workloads are not this rollout's to move, "" where they are."""
        for key in (workloads.target, *workloads.sources):
            owner = self.claims.get((cluster, key.identity), record.key)
            if owner != record.key:
                return WorkloadText.ROLLOUT_MOVES_LET_ONE_ROLLOUT(other=owner, key=key)
        return ""

    def refused(self, record: RolloutRecord, status: ClusterRolloutStatus) -> tuple[RefusedStep, ...]:
        """Which of its steps on a cluster the pass before could not carry out."""
        return tuple(self._refused.get((status.cluster, record.key), ()))

    @cached_property
    def _refused(self) -> Mapping[tuple[str, NamespacedName], list[RefusedStep]]:
        refused = defaultdict[tuple[str, NamespacedName], list[RefusedStep]](list)
        for step in self.request.inputs.refused:
            refused[step.cluster, step.rollout].append(step)
        return refused

    def placed_on(self, cluster: str) -> PlacedObjects:
        """What placements want on a cluster."""
        if cluster not in self._placed:
            self._placed[cluster] = PlacedObjects.of(self.request.works.get(cluster, ()))
        return self._placed[cluster]

    def template_before(self, status: ClusterRolloutStatus, workloads: NamedWorkloads) -> JsonObject | None:
        """The pod template that a target goes back to: that which its placement had, once it brings another one over
        what was rolled out."""
        key, cluster = workloads.target.identity, status.cluster
        before, now = self.request.works_before.get(cluster, ()), self.request.works.get(cluster, ())
        if before == now:
            return status.template_before
        last_manifest = PlacedObjects.of(before).manifests.get(key)
        manifest = self.placed_on(cluster).manifests.get(key)
        if last_manifest is None or manifest is None:
            return status.template_before
        template = workloads.handler.template(last_manifest.body)
        rolled_out = status.last_template in ("", template_id(workloads.handler, last_manifest.body))
        is_new = rolled_out and template != workloads.handler.template(manifest.body)
        return template if is_new else status.template_before

    def template(
        self, handler: WorkloadHandler, manifest: Manifest | None, seen: Workloads, status: ClusterRolloutStatus
    ) -> str:
        """What identifies the newest content of a target: as its placement has it, or else as it is; "" for none. One
        that its placement has given up has no newer content than it had."""
        if manifest is None and is_placed(seen.target):
            return status.new_template or status.last_template
        if manifest is None:
            return template_id(handler, seen.target.body) if seen.target is not None else ""
        if manifest.digest not in self._templates:
            self._templates[manifest.digest] = template_id(handler, manifest.body)
        return self._templates[manifest.digest]

    def is_applied(self, cluster: str, manifest: Manifest | None) -> bool:
        """Whether a manifest was applied as it is; what no placement has is as it is."""
        if manifest is None:
            return True
        entry = self.request.state.inventory.get(cluster, {}).get(manifest.key)
        return entry is not None and entry.uid is not None and entry.applied_digest == manifest.digest


Templates = Mapping[NamespacedName, MetricTemplate]


def record_of(
    rollout: WorkloadRollout, before: RolloutRecord | None, templates: Templates, now: datetime
) -> RolloutRecord:
    """A rollout with what the commit says, and how far it is. A template that the commit has no more stays as it was
    while the rollout names it."""
    plan = rollout.rollout_plan
    if isinstance(rollout, AppRollout) and rollout.revert_on_delete:
        plan = replace(plan, revert_on_delete=True)
    created, clusters, earlier = (before.created, before.clusters, before.templates) if before else (now, (), ())
    known_templates = {**{template.key: template for template in earlier}, **templates}
    metrics = (*plan.canary_metric, *(metric for batch in plan.batches for metric in batch.canary_metric))
    references = (metric.template_ref for metric in metrics)
    keys = sorted({NamespacedName(r.namespace or rollout.key.namespace, r.name) for r in references})
    new = RolloutRecord(
        key=rollout.key,
        kind=rollout.kind,
        created=created,
        rollout_plan=plan,
        clusters_selector=rollout.clusters,
        order=rollout.order,
        # Without what only its file has.
        templates=tuple(replace(known_templates[k], body={}, origin=None) for k in keys if k in known_templates),
        clusters=clusters,
    )
    match rollout:
        case RolloutTrait():
            new = replace(new, target_ref=rollout.target_ref, source_ref=rollout.source_ref)
        case AppRollout():
            new = replace(
                new,
                placement_ref=rollout.placement_ref,
                target_revision=rollout.target_revision,
                source_revision=rollout.source_revision,
                component_list=rollout.component_list,
            )
    return before if before == new else new
