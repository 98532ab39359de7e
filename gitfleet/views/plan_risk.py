"""What a plan puts at risk: what is deleted or scaled down, how much of what is placed, and what comes later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from gitfleet.api.clusters import is_leaving
from gitfleet.api.holds import RemovalKind
from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.values import is_reserved_namespace
from gitfleet.model.decisions import Decision
from gitfleet.model.operations import Create, Delete, Operation, Refuse, Update
from gitfleet.model.rollout_fields import value_at
from gitfleet.model.state import FleetState
from gitfleet.model.works import manifests_on
from gitfleet.status import object_reference
from gitfleet.views.texts import ViewsText

_NAMESPACE: Final = GroupKind("", "Namespace")
ASSUMES: Final = ViewsText.LATER_STEPS_COUNTED_IF_EVERY()
_COUNTED: Final = {"create": Create, "update": Update, "delete": Delete, "refuse": Refuse}


def risk_document(decision: Decision, now: Sequence[Operation], later: Sequence[Operation]) -> dict[str, Any]:
    """How many objects each action is about, in this reconcile and after it, on how many clusters, and their share of
    the objects that are placed (`percent`, null where nothing is placed); the clusters that leave the fleet; which
    Namespaces are deleted on how many clusters, what each placement loses of what it has placed, and which workloads
    get fewer pods than their manifests say."""
    before, after = decision.inputs.before, decision.after
    now, later = _without_steps(now), _without_steps(later)
    placed = sum(map(len, before.inventory.values()))
    return {
        "placed": placed,
        **{action: _counts(kind, now, later, placed) for action, kind in _COUNTED.items()},
        "clusters": sum(cluster.deleting is None for cluster in before.clusters.values()),
        "touched": len({o.cluster for o in (*now, *later) if isinstance(o, Create | Update | Delete)}),
        "leaving": _leaving(before, after),
        **_losses(before, {(o.cluster, o.key): None for o in (*now, *later) if isinstance(o, Delete)}),
        "scaledDown": _scaled_down(decision),
        "assumes": ASSUMES,
    }


def missing_namespaces(decision: Decision) -> list[dict[str, Any]]:
    """The namespaces that clusters get objects in and nothing brings to them: a Namespace in one variant of a Folder
    serves the repo, and not the clusters of other variants."""
    after, config, inventory = decision.after, decision.inputs.desired.config, decision.inputs.before.inventory
    missing: dict[str, list[str]] = {}
    for cluster in sorted(after.clusters):
        wants = {identity: key for key, content in after.wanted.on(cluster).items() for identity in content or ()}
        used = {identity[2] for identity, key in wants.items() if identity[2] and not key.namespace}
        # One that gitfleet owns and nothing wants goes.
        owned = {key.name for key in inventory.get(cluster, {}) if key.group_kind == _NAMESPACE}
        present = set(after.clusters[cluster].status.namespaces or ()) - owned
        brought = {identity[3] for identity in wants if identity[:2] == _NAMESPACE}
        for name in sorted(used - present - brought):
            if not (is_reserved_namespace(name) or config.has_namespace(name)):
                missing.setdefault(name, []).append(cluster)
    return [{"name": name, "clusters": clusters} for name, clusters in sorted(missing.items())]


def _without_steps(operations: Sequence[Operation]) -> Sequence[Operation]:
    """The operations without the deletions of Jobs that run again as steps, or have run: nothing is lost."""
    return [operation for operation in operations if not (isinstance(operation, Delete) and operation.step)]


def later_document(operations: Iterable[Operation], unreachable: Iterable[str]) -> list[dict[str, Any]]:
    """What is done to objects after this reconcile: `waitsFor` is rollout, or cluster where it does not answer."""
    silent = frozenset(unreachable)
    return [
        {
            "clusterName": operation.cluster,
            "action": next(action for action, kind in _COUNTED.items() if isinstance(operation, kind)),
            "object": object_reference(operation.key),
            "reason": operation.reason,
            "waitsFor": "cluster" if operation.cluster in silent else "rollout",
        }
        for operation in operations
    ]


def _counts(kind: type[Operation], now: Sequence[Operation], later: Sequence[Operation], placed: int) -> dict[str, Any]:
    current = [operation for operation in now if isinstance(operation, kind)]
    remaining = [operation for operation in later if isinstance(operation, kind)]
    # What one reconcile updates may be updated again by the next: it is one object all the same.
    objects = {(operation.cluster, operation.key.identity) for operation in (*current, *remaining)}
    return {
        "objects": len(objects),
        "now": len(current),
        "later": len(objects) - len({(operation.cluster, operation.key.identity) for operation in current}),
        "clusters": len({cluster for cluster, _ in objects}),
        "percent": round(100 * len(objects) / placed, 1) if placed else None,
    }


def _losses(before: FleetState, deleted: Collection[tuple[str, ObjectKey]]) -> dict[str, list[dict[str, Any]]]:
    """The Namespaces among what is deleted, which go with everything in them, and the placements that lose something,
    the largest share first."""
    namespaces = Counter(key.name for _, key in deleted if key.group_kind == GroupKind("", "Namespace"))
    owners = {
        (cluster, key): str(e.placement) for cluster, entries in before.inventory.items() for key, e in entries.items()
    }
    placed, lost = Counter(owners.values()), Counter(owners[place] for place in deleted if place in owners)
    rows = [
        {
            "placement": name,
            "objects": lost[name],
            "placed": placed[name],
            "percent": round(100 * lost[name] / placed[name], 1),
        }
        for name in lost
    ]
    return {
        "namespaces": [{"name": name, "clusters": number} for name, number in sorted(namespaces.items())],
        "losses": sorted(rows, key=lambda row: (-row["percent"], row["placement"])),
    }


def _scaled_down(decision: Decision) -> list[dict[str, Any]]:
    """The placed workloads that rollouts take below the number of pods of their manifests, whatever keeps them from
    starting; not those that have no more already."""
    rows = []
    for record in decision.after.rollouts.values():
        size, shrinking = record.rollout_plan.target_size, dict[str, tuple[ObjectKey, int]]()
        for status in record.clusters if size is not None and not record.removing else ():
            target, reached = status.target, status.is_over and status.target_size == size
            if target is None or status.sources or reached:
                continue
            manifests = manifests_on(decision.works, status.cluster)
            written = next((_replicas(m.body) for m in manifests if m.key.identity == target.identity), 0)
            observation = decision.inputs.observations.get(status.cluster)
            live = observation.live.get(target) if observation is not None else None
            pods = min(written, _replicas(live.body)) if live is not None else written
            if size is not None and size < pods:
                shrinking[status.cluster] = target, pods
        if shrinking:
            rows.append(
                {
                    "rollout": str(record.key),
                    "object": object_reference(next(target for target, _ in shrinking.values())),
                    "clusters": sorted(shrinking),
                    "pods": sum(pods for _, pods in shrinking.values()),
                    "podsAfter": (size or 0) * len(shrinking),
                }
            )
    return rows


def _replicas(body: JsonObject) -> int:
    """How many pods a workload asks for; 0 for one without such a number."""
    written = value_at(body, "/spec/replicas")
    usual = 1 if body.get("kind") in ("Deployment", "StatefulSet") else 0
    return written if isinstance(written, int) else usual


def _leaving(before: FleetState, after: FleetState) -> list[dict[str, Any]]:
    removals = (removal for hold in after.held.values() for removal in hold.removals)
    held = {removal.cluster for removal in removals if removal.kind is RemovalKind.CLUSTER and removal.rules}
    return [
        {
            "clusterName": name,
            "objects": len(before.inventory.get(name, {})),
            "objectsStay": after.clusters.get(name, cluster).delete_propagation_policy.keeps_objects,
            "held": name in held,
        }
        for name, cluster in sorted(before.clusters.items())
        if is_leaving(after.clusters.get(name))
    ]
