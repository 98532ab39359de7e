"""What a plan puts at risk: what goes, how much of what is placed, and what comes in later steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from gitfleet.api.clusters import is_leaving
from gitfleet.api.objects import GroupKind, ObjectKey
from gitfleet.model.decisions import Decision
from gitfleet.model.operations import Create, Delete, Operation, Refuse, Update
from gitfleet.model.state import FleetState
from gitfleet.status import object_reference
from gitfleet.views.texts import ViewsText

ASSUMES: Final = ViewsText.LATER_STEPS_COUNTED_IF_EVERY()
_COUNTED: Final = {"create": Create, "update": Update, "delete": Delete, "refuse": Refuse}


def risk_document(decision: Decision, now: Sequence[Operation], later: Sequence[Operation]) -> dict[str, Any]:
    """How many objects each action is about, in this reconcile and after it, on how many clusters, and their share of
    the objects that are placed (`percent`, null where nothing is placed); the clusters that leave the fleet; which
    Namespaces are deleted on how many clusters, and what each placement loses of what it has placed."""
    before, after = decision.inputs.before, decision.after
    placed = sum(map(len, before.inventory.values()))
    return {
        "placed": placed,
        **{action: _counts(kind, now, later, placed) for action, kind in _COUNTED.items()},
        "clusters": sum(cluster.deleting is None for cluster in before.clusters.values()),
        "touched": len({o.cluster for o in (*now, *later) if isinstance(o, Create | Update | Delete)}),
        "leaving": _leaving(before, after),
        **_losses(before, {(o.cluster, o.key): None for o in (*now, *later) if isinstance(o, Delete)}),
        "assumes": ASSUMES,
    }


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
    first = [operation for operation in now if isinstance(operation, kind)]
    rest = [operation for operation in later if isinstance(operation, kind)]
    # What one reconcile updates may be updated again by the next: it is one object all the same.
    objects = {(operation.cluster, operation.key.identity) for operation in (*first, *rest)}
    return {
        "objects": len(objects),
        "now": len(first),
        "later": len(objects) - len({(operation.cluster, operation.key.identity) for operation in first}),
        "clusters": len({cluster for cluster, _ in objects}),
        "percent": round(100 * len(objects) / placed, 1) if placed else None,
    }


def _losses(before: FleetState, deleted: Collection[tuple[str, ObjectKey]]) -> dict[str, list[dict[str, Any]]]:
    """The Namespaces among what is deleted, which go with everything in them, and the placements that lose something,
    the largest share first."""
    namespaces = Counter(key.name for _, key in deleted if key.group_kind == GroupKind("", "Namespace"))
    owners = {
        (cluster, key): str(e.placement) for cluster, found in before.inventory.items() for key, e in found.items()
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


def _leaving(before: FleetState, after: FleetState) -> list[dict[str, Any]]:
    return [
        {
            "clusterName": name,
            "objects": len(before.inventory.get(name, {})),
            "objectsStay": cluster.delete_propagation_policy.keeps_objects,
        }
        for name, cluster in sorted(before.clusters.items())
        if is_leaving(after.clusters.get(name))
    ]
