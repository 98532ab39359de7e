"""What all rollouts of a pass depend on, and what is worked out once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import MIXED, ClusterRolloutStatus, RollingState, RolloutMode, RolloutRecord
from gitfleet.api.workload_rollouts import RolloutTrait, WorkloadRollout
from gitfleet.model.calls import Answers
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import RefusedStep
from gitfleet.model.rolling import Frozen, WorkloadMove
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.workload.cases import always_open, is_placed
from gitfleet.workload.finding import Found, Wanted, template_id
from gitfleet.workload.handlers import Handlers, WorkloadHandler, Workloads
from gitfleet.workload.records import Templates
from gitfleet.workload.texts import WorkloadText

Gate: TypeAlias = Callable[[WorkloadMove], Frozen | None]
"""Why pods must not start to move; None where they may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that workload rollouts depend on. `rollouts` and `templates` are those of the commit, `before` the records;
    `kept` are rollouts whose absence from the commit does not count, as they may be in what cannot be read;
    `works_before` are the works as they were until this pass."""

    rollouts: Mapping[NamespacedName, WorkloadRollout]
    templates: Templates
    before: Mapping[NamespacedName, RolloutRecord]
    kept: Collection[NamespacedName]
    clusters: Mapping[str, MemberCluster]
    placements: Mapping[PlacementKey, PlacementRecord]
    works: Mapping[str, tuple[Work, ...]]
    inventory: Mapping[str, Inventory]
    observations: Mapping[str, ClusterObservation]
    answers: Answers
    now: datetime
    handlers: Handlers
    policy: PlacingPolicy = USUAL_POLICY
    gate: Gate = always_open
    works_before: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    refused: tuple[RefusedStep, ...] = ()


@dataclass(slots=True)
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
    _wanted: dict[str, Wanted] = field(default_factory=dict)
    _owned: dict[str, frozenset[Identity]] = field(default_factory=dict)
    _templates: dict[str, str] = field(default_factory=dict)
    _named: dict[Identity, set[NamespacedName]] | None = None
    _mixed: dict[tuple[str, ObjectKey], set[NamespacedName]] | None = None
    _refused: dict[tuple[str, NamespacedName], list[RefusedStep]] | None = None

    def claim(self, record: RolloutRecord, status: ClusterRolloutStatus) -> None:
        """Note what a rollout moves on a cluster."""
        if status.target is None:
            return
        if self.shrinks(status):
            shrunk = status.rolling_state is RollingState.SUCCEEDED
            found = self.shrunk if shrunk else self.shrinking if status.is_running else {}
            found.setdefault(status.target.identity, set()).add(status.cluster)
        if status.is_running:
            for key in (status.target, *status.sources):
                self.claims.setdefault((status.cluster, key.identity), record.key)

    def shrinks(self, status: ClusterRolloutStatus) -> bool:
        """Whether a rollout leaves its target fewer pods than the manifest says."""
        target = status.target
        if target is None or status.mode is not RolloutMode.SCALE or target.group_kind not in self.request.handlers:
            return False
        manifest = self.wanted_on(status.cluster).manifests.get(target.identity)
        size = self.request.handlers[target.group_kind].size
        return manifest is not None and status.target_size < size(manifest.body)

    def closed(self, status: ClusterRolloutStatus) -> Frozen | None:
        """The gate that keeps a rollout from moving the pods of its next batch; None where it may. Budgets count before
        the first one alone: two rollouts that are under way would wait for each other."""
        keys = tuple(key for key in (status.target, *status.sources) if key is not None)
        move = WorkloadMove(
            cluster=status.cluster,
            workloads=keys,
            resizes=status.mode is RolloutMode.SCALE,
            shrinks=self.shrinks(status) and not status.is_running,
            shrinking=self.shrinking,
            shrunk=self.shrunk,
        )
        return self.request.gate(move)

    def is_named_by_other(self, record: RolloutRecord, found: Found) -> bool:
        """Whether another rollout of the commit names the target: that one has it from now on."""
        named = self._named
        if named is None:
            named = self._named = {}
            for key, one in self.request.rollouts.items():
                if isinstance(one, RolloutTrait):
                    named.setdefault(one.target.identity, set()).add(key)
        return bool(named.get(found.target.identity, set()) - {record.key})

    def is_mixed(self, record: RolloutRecord, cluster: str, found: Found) -> bool:
        """Whether another rollout has left the target with pods of two contents."""
        mixed = self._mixed
        if mixed is None:
            mixed = self._mixed = {}
            for key, other in self.request.before.items():
                for status in other.clusters:
                    if status.last_template == MIXED and status.target is not None:
                        mixed.setdefault((status.cluster, status.target), set()).add(key)
        return bool(mixed.get((cluster, found.target), set()) - {record.key})

    def claimed_by_other(self, record: RolloutRecord, cluster: str, found: Found) -> str:
        """Why the workloads are not this rollout's to move, "" where they are."""
        for key in (found.target, *found.sources):
            other = self.claims.get((cluster, key.identity), record.key)
            if other != record.key:
                return WorkloadText.ROLLOUT_MOVES_LET_ONE_ROLLOUT(other=other, key=key)
        return ""

    def is_owned(self, cluster: str, key: ObjectKey) -> bool:
        """Whether an object is gitfleet's: what a placement left on the cluster is not."""
        if cluster not in self._owned:
            self._owned[cluster] = frozenset(one.identity for one in self.request.inventory.get(cluster, {}))
        return key.identity in self._owned[cluster]

    def refused(self, record: RolloutRecord, status: ClusterRolloutStatus) -> tuple[RefusedStep, ...]:
        """Which of its steps on a cluster the pass before could not carry out."""
        if self._refused is None:
            self._refused = {}
            for one in self.request.refused:
                self._refused.setdefault((one.cluster, one.rollout), []).append(one)
        return tuple(self._refused.get((status.cluster, record.key), ()))

    def wanted_on(self, cluster: str) -> Wanted:
        """What placements want on a cluster."""
        if cluster not in self._wanted:
            self._wanted[cluster] = Wanted.of(self.request.works.get(cluster, ()))
        return self._wanted[cluster]

    def template_before(self, status: ClusterRolloutStatus, found: Found) -> JsonObject | None:
        """The pod template that a target goes back to: that which its placement had, once it brings another one over
        what was rolled out."""
        key, cluster = found.target.identity, status.cluster
        before, now = self.request.works_before.get(cluster, ()), self.request.works.get(cluster, ())
        if before == now:
            return status.template_before
        was, wanted = Wanted.of(before).manifests.get(key), self.wanted_on(cluster).manifests.get(key)
        if was is None or wanted is None:
            return status.template_before
        template = found.handler.template(was.body)
        rolled_out = status.last_template in ("", template_id(found.handler, was.body))
        is_new = rolled_out and template != found.handler.template(wanted.body)
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
        entry = self.request.inventory.get(cluster, {}).get(manifest.key)
        return entry is not None and entry.uid is not None and entry.applied_digest == manifest.digest

    def is_taken_over(self, cluster: str, manifest: Manifest | None) -> bool:
        """Whether somebody else made what a manifest was applied to."""
        entry = self.request.inventory.get(cluster, {}).get(manifest.key) if manifest is not None else None
        return entry is not None and entry.taken_over
