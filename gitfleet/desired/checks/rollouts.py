"""Workload rollouts: one of each name, one for each workload on a cluster, and only of workloads that can be moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitfleet.api import Break, Location
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import GroupKind, Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.rollout_plans import OnFailure, RolloutPlan, RolloutWebhook
from gitfleet.api.scalers import is_scaled_by, scalers_of
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS, AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.known_kinds import is_kubernetes_group
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText

_DAEMON_SET: Final = GroupKind("apps", "DaemonSet")
_TARGET: Final = ("spec", "targetRef")
_KINDS: Final = ", ".join(sorted(kind.kind for kind in WORKLOAD_KINDS))
_Clusters = Mapping[str, Mapping[str, str]]
"""The labels of each cluster by its name."""
_Selected = frozenset[str]
"""The names of the clusters that a rollout selects; one for every cluster has "" as well, for those to come."""
_Workload = Identity | tuple[str, PlacementKey]
"""A workload, or one of those that a placement has in a namespace."""


def rollout_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse rollouts of one name or of one workload, of which the one in force stays. A rollout of another namespace
    takes nothing from those of the workload's own namespace."""
    rollouts = sorted(_rollouts(commit), key=lambda pair: (_reaches_out(pair[1]), commit.standing(pair[0])))
    first: dict[object, ReadObject] = {}
    renamed: set[Identity] = set()
    for item, rollout in rollouts:
        standing = first.setdefault(rollout.key, item)
        if standing is not item:
            renamed.add(item.identity)
            sentence = DesiredText.NAME_TOO_WORKLOAD_ROLLOUT(other=standing.label, origin=standing.origin)
            yield item, (("metadata", "name"), sentence)
    clusters = {name: cluster.scheduling_labels for name, cluster in commit.named(MemberCluster).items()}
    yield from _same_workload([pair for pair in rollouts if pair[0].identity not in renamed], clusters)


def workload_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse rollouts to a size that an autoscaler sets, of kinds of Kubernetes that cannot be moved, and rollouts of
    DaemonSets that are to go back. Sources are of the target's kind."""
    rollouts = commit.of(RolloutTrait)
    scalers = scalers_of(commit.manifests) if rollouts else {}
    for item, rollout in rollouts:
        plan, kind = rollout.rollout_plan, rollout.target.group_kind
        for workload, place in rollout.workloads if plan.target_size is not None else ():
            if (scaler := scalers.get(workload.identity)) is not None:
                yield item, (place, f"is {is_scaled_by(scaler)}")
        if is_kubernetes_group(kind.group) and kind not in WORKLOAD_KINDS:
            yield item, ((*_TARGET, "kind"), DesiredText.NO_KIND_ROLLOUT_MOVE(kinds=_KINDS))
        if kind == _DAEMON_SET:
            yield from noted(item, _one_way(plan))


def workload_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of rollouts of a kind that may have no handler, and of targets that no manifest has. A rollout that says on
    which `clusters` its workloads are may name some that live there without a manifest; sources may be gone."""
    for item, rollout in commit.of(RolloutTrait):
        target, kind = rollout.target, rollout.target.group_kind
        if kind not in WORKLOAD_KINDS and not is_kubernetes_group(kind.group):
            yield item, ((*_TARGET, "kind"), DesiredText.NO_KIND_WITHOUT_HANDLER(kinds=_KINDS, kind=kind))
        if rollout.clusters is None and not commit.has_payload(*target.identity):
            hint = commit.payload_hint(*target.identity, DesiredText.CORRECT_ADD_MANIFEST())
            yield item, ((*_TARGET, "name"), DesiredText.NAMES_NO_MANIFEST_REPO(workload=target.kind, hint=hint))


def _rollouts(commit: Commit) -> list[tuple[ReadObject, WorkloadRollout]]:
    return [*commit.of(RolloutTrait), *commit.of(AppRollout)]


def _reaches_out(rollout: WorkloadRollout) -> bool:
    workloads = rollout.workloads if isinstance(rollout, RolloutTrait) else ()
    return any(workload.namespace != rollout.key.namespace for workload, _ in workloads)


def _one_way(plan: RolloutPlan) -> Iterator[Break]:
    """Steps back, which a DaemonSet cannot take: its controller makes pods of its newest template alone."""
    if plan.revert_on_delete:
        yield ("spec", "rolloutPlan", "revertOnDelete"), DesiredText.CANNOT_GO_BACK_DAEMON_SET()
    hooks: list[tuple[Location, RolloutWebhook]]
    hooks = [(("rolloutWebhooks", index), hook) for index, hook in enumerate(plan.webhooks)]
    for number, batch in enumerate(plan.batches):
        location = "rolloutBatches", number, "batchRolloutWebhooks"
        hooks += [((*location, index), hook) for index, hook in enumerate(batch.webhooks)]
    for place, hook in hooks:
        if hook.on_failure is OnFailure.ROLLBACK:
            yield ("spec", "rolloutPlan", *place, "onFailure"), DesiredText.CANNOT_GO_BACK_DAEMON_SET()


def _same_workload(rollouts: Sequence[tuple[ReadObject, WorkloadRollout]], clusters: _Clusters) -> Iterator[Refusal]:
    """Refuse rollouts of a workload that an earlier one moves on one of their clusters."""
    everywhere = frozenset({"", *clusters})
    movers: dict[_Workload, list[tuple[ReadObject, str, _Selected]]] = {}
    for item, rollout in rollouts:
        selector, component = rollout.clusters, _component(rollout)
        selected = everywhere
        if selector is not None:
            selected = frozenset(name for name, labels in clusters.items() if selector.matches(labels))
        refusals = [
            (item, (place, DesiredText.MOVED_ALREADY(other=mover.label, origin=mover.origin)))
            for workload, place in _workloads(rollout)
            for mover, moved, on in movers.get(workload, ())
            if (not component or not moved or component == moved) and not selected.isdisjoint(on)
        ]
        yield from refusals
        for workload, _ in _workloads(rollout) if not refusals else ():
            movers.setdefault(workload, []).append((item, component, selected))


def _workloads(rollout: WorkloadRollout) -> Iterator[tuple[_Workload, Location]]:
    """What a rollout moves, and the field that says so: a workload, or one of those of a placement."""
    match rollout:
        case RolloutTrait():
            yield from ((workload.identity, field) for workload, field in rollout.workloads)
        case AppRollout():
            yield (rollout.key.namespace, rollout.placement), ("spec", "placementRef")


def _component(rollout: WorkloadRollout) -> str:
    """The one workload of a placement that a rollout moves, "" where it does not say."""
    return next(iter(rollout.component_list), "") if isinstance(rollout, AppRollout) else ""
