"""`plan -o json` (contracts.md §4): what a reconcile would do, with reasons and diffs, as one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from gitfleet import rollout, schedule
from gitfleet.api.bindings import Binding, ClusterDecision
from gitfleet.api.conditions import Reason
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Removal
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.field_trees import union
from gitfleet.formats.managed_fields import (
    OwnedFields,
    child_fields,
    item_fields,
    list_keys,
    named_items,
    owned_fields,
    owned_items,
)
from gitfleet.formats.secret_objects import as_stored, masked_object
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.decisions import Decision
from gitfleet.model.folder_order import FolderOrder
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Refuse, Release, Update
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.status import object_reference
from gitfleet.views.evictions import evictions_document
from gitfleet.views.holds import hold_document
from gitfleet.views.plan_moves import moves_document
from gitfleet.views.plan_risk import later_document, missing_namespaces, risk_document
from gitfleet.views.plan_runs import run_documents
from gitfleet.views.removed_fields import removed_fields
from gitfleet.views.rollout_documents import rollout_documents
from gitfleet.views.texts import ViewsText

_ACTIONS = ("create", "update", "delete", "wait", "keep", "refuse")
_WAITS = (KeepCode.FOLDER, KeepCode.STEP, KeepCode.STEP_RUNS)
_MAX_DIFF_LINES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReconcile:
    """What a plan shows: the decision on `commit` over the state at `state_commit`, the `operations` of this reconcile
    and those that `remain` after it, the works that are `blocked` since they cannot be made, and whether `commit` is
    the one that is watched."""

    commit: str
    state_commit: str | None
    decision: Decision
    faults: Sequence[Fault]
    operations: Sequence[Operation]
    remain: Sequence[Operation] = ()
    blocked: Sequence[Work] = ()
    watched: bool = False
    renamed: Mapping[PlacementKey, PlacementKey] = field(default_factory=dict)
    """The old names of placements by their new ones."""


def plan_document(planned: PlannedReconcile) -> dict[str, Any]:
    """The Plan as JSON values, placements in key order; a placement that ends with this plan is listed too."""
    decision = planned.decision
    before, after = decision.inputs.before, decision.after
    unreachable = {name: seen.error for name, seen in decision.inputs.observations.items() if not seen.reachable}
    return {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "Plan",
        "commit": planned.commit,
        "stateCommit": planned.state_commit,
        "workTree": None,
        "faults": [fault.document() for fault in planned.faults],
        "holds": _holds(planned),
        "unreachable": [{"clusterName": name, "message": unreachable[name]} for name in sorted(unreachable)],
        "blocked": [_blocked(work) for work in planned.blocked],
        "risk": risk_document(decision, planned.operations, planned.remain),
        "placements": _placements(planned, unreachable),
        "runs": run_documents(before, after, decision.inputs.now),
        "evictions": evictions_document(before, after),
        "rollouts": rollout_documents(decision),
        "missingNamespaces": missing_namespaces(decision),
        "folderOrder": FolderOrder.of(decision.inputs.desired).names,
        "summary": _summary(planned.operations),
    }


def _placements(planned: PlannedReconcile, unreachable: Iterable[str]) -> list[dict[str, Any]]:
    decision, renamed = planned.decision, planned.renamed
    before, after = decision.inputs.before, decision.after
    now, later = _by_placement(planned.operations), _by_placement(planned.remain)
    pending = [removal for hold in after.held.values() for removal in hold.removals if removal.rules]
    return [
        {
            **_placement(
                key,
                after.placements.get(key) or before.placements[key],
                before.placements.get(key),
                decision,
                now.get(key, []),
                [removal for removal in pending if removal.placement == key],
            ),
            "formerName": str(renamed[key]) if key in renamed else None,
            "later": later_document(later.get(key, []), unreachable),
            "moves": moves_document(key, before, after, pending),
        }
        for key in sorted({*after.placements, *before.placements})
    ]


def _summary(operations: Iterable[Operation]) -> dict[str, int]:
    counted = Counter("wait" if _waits(operation) else action_of(operation) for operation in operations)
    return {action: counted[action] for action in _ACTIONS}


def _waits(operation: Operation) -> bool:
    """Whether an object is kept until something else is there."""
    return isinstance(operation, Keep) and operation.code in _WAITS


def _blocked(work: Work) -> dict[str, Any]:
    return {"placement": str(work.placement), "clusterName": work.cluster, "message": work.error or ""}


def _holds(planned: PlannedReconcile) -> list[dict[str, Any]]:
    """The removals that wait for a person's approval. The commit is part of a hold's name: unless it is the watched
    one, or the hold is there already, the name is another once the change is merged."""
    recorded, held = planned.decision.inputs.before.holds, planned.decision.after.held
    return [{**hold_document(hold), "nameIsFinal": planned.watched or name in recorded} for name, hold in held.items()]


def _by_placement(operations: Iterable[Operation]) -> dict[PlacementKey, list[Operation]]:
    by_placement: dict[PlacementKey, list[Operation]] = {}
    for operation in operations:
        by_placement.setdefault(operation.placement, []).append(operation)
    return by_placement


def action_of(operation: Operation) -> str:
    """create, update, delete, keep or refuse; letting go of an object counts as keeping it."""
    match operation:
        case Create():
            return "create"
        case Update():
            return "update"
        case Delete():
            return "delete"
        case Refuse():
            return "refuse"
        case Keep() | Release():
            return "keep"


def has_changes(document: Mapping[str, Any]) -> bool:
    """Whether a reconcile would write to a cluster, or move a binding or the pods of a workload."""
    summary = document["summary"]
    moves = any(move["move"] not in ("none", "wait") for p in document["placements"] for move in p["rollout"])
    moves = moves or any(p["moves"]["leave"] or p["moves"]["join"] or p["later"] for p in document["placements"])
    moves = moves or any(rollout["next"] for rollout in document["rollouts"]) or bool(document["risk"]["scaledDown"])
    return moves or any(summary[action] for action in ("create", "update", "delete"))


def diff_of(operation: Operation) -> str:
    """A unified YAML diff of what the manifest changes in the live object; values of Secrets are masked on both
    sides."""
    old, new = _sides(operation)
    lines = list(unified_diff(old.splitlines(), new.splitlines(), "live", "desired", lineterm="", n=3))
    if len(lines) > _MAX_DIFF_LINES:
        lines = [*lines[:_MAX_DIFF_LINES], ViewsText.MORE_LINES(count=len(lines) - _MAX_DIFF_LINES)]
    return "\n".join(lines)


def _sides(operation: Operation) -> tuple[str, str]:
    """What is there of what the manifest names, and what is to be there."""
    match operation:
        case Create(manifest=manifest):
            return "", _shown(masked_object(manifest.body))
        case Update(manifest=manifest, live=live):
            own = owned_fields(live.body)
            shown = union(own, operation.removes) if own is not None and operation.removes else own
            stored, have = as_stored(manifest.body), as_stored(live.body)
            live_part = _only("", stored, have, shown)
            return _shown(masked_object(live_part)), _shown(masked_object(stored, have))
        case Delete() | Release() | Keep() | Refuse():
            return "", ""


def _placement(
    key: PlacementKey,
    record: PlacementRecord,
    before: PlacementRecord | None,
    decision: Decision,
    operations: Sequence[Operation],
    held: Sequence[Removal],
) -> dict[str, Any]:
    """`held` are its removals that wait."""
    resources, policy = record.latest_resources, record.latest_policy
    scheduled = record.scheduled
    return {
        "name": key.name,
        "namespace": key.namespace or None,
        "placementType": str(record.placement.effective_policy.placement_type),
        "resourceSnapshotIndex": str(resources.index) if resources else None,
        "resourceHash": resources.hash if resources else None,
        "policySnapshotIndex": str(policy.index) if policy else None,
        "scheduled": {
            "status": str(scheduled.status) if scheduled else "Unknown",
            "reason": scheduled.reason if scheduled else Reason.SCHEDULE_PENDING.value,
            "message": scheduled.message if scheduled else "",
        },
        "selectedResources": [object_reference(key) for key in resources.keys] if resources else [],
        "clusters": _clusters(record, before),
        "removalsHeld": bool(held),
        "rollout": _rollout(record, decision),
        "operations": [{**_operation(operation), **_variant(operation, record)} for operation in operations],
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "clusterName": operation.cluster,
        "action": action_of(operation),
        "object": object_reference(operation.key),
        "reason": operation.reason,
        "code": operation.code if isinstance(operation, Keep | Refuse) else None,
        "diff": diff_of(operation),
        **removed_fields(operation),
    }


def _variant(operation: Operation, record: PlacementRecord) -> dict[str, str]:
    """The variant from which an object comes; nothing where every cluster gets it."""
    manifest = operation.manifest if isinstance(operation, Create | Update) else None
    if manifest is None or not manifest.variants:
        return {}
    binding = next((b for b in record.bindings if b.cluster == operation.cluster), None)
    variant = dict(binding.variants).get(manifest.folder) if binding is not None else None
    return {"variant": variant} if variant is not None else {}


def _clusters(record: PlacementRecord, before: PlacementRecord | None) -> list[dict[str, Any]]:
    bindings = {binding.cluster: binding for binding in record.bindings}
    had = {binding.cluster for binding in before.bindings} if before else set()
    rows = [_cluster(d.cluster, d, bindings.get(d.cluster)) for d in record.decisions]
    named = {decision.cluster for decision in record.decisions}
    leaving = sorted((set(bindings) | had) - named)
    return rows + [_cluster(name, bindings[name].decision, bindings[name]) for name in leaving if name in bindings]


def _cluster(name: str, decision: ClusterDecision | None, binding: Binding | None) -> dict[str, Any]:
    score = decision.score if decision else None
    return {
        "clusterName": name,
        "selected": decision.selected if decision else False,
        "state": str(binding.state) if binding else None,
        "clusterScore": {
            "topologySpreadScore": score.topology_spread if score else 0,
            "affinityScore": score.affinity if score else 0,
        },
        "refusedBy": decision.refused_by if decision else None,
        "reason": schedule.common_reason(decision) if decision else ViewsText.NO_LONGER_PICKED(),
        **({"variants": dict(binding.variants)} if binding is not None and binding.variants else {}),
    }


def _rollout(record: PlacementRecord, decision: Decision) -> list[dict[str, Any]]:
    plan = decision.plans.get(record.placement.key)
    refused = rollout.recorded_refusal(record, decision.after.quarantines.values())
    awaited = {b.cluster: rollout.run_awaited(record, [b], refused) for b in record.bindings}

    def unmoved(clusters: Iterable[str], otherwise: str) -> list[dict[str, Any]]:
        return [_move(n, "wait" if awaited.get(n) else "none", awaited.get(n) or otherwise) for n in clusters]

    if plan is None:
        return unmoved(awaited, ViewsText.MOVED_STAGED_UPDATE_RUN())
    moves = [_move(move.cluster, str(move.kind), move.reason) for move in plan.moves]
    blocked = [_move(name, "wait", why) for name, why in plan.blocked.items()]
    return moves + blocked + unmoved(plan.up_to_date, ViewsText.UP_DATE())


def _move(cluster: str, move: str, reason: str) -> dict[str, Any]:
    return {"clusterName": cluster, "move": move, "reason": reason}


def _only(name: str, manifest: Any, live: Any, owned: OwnedFields) -> Any:
    """The live object's values where the manifest says something, or where we own what it no longer says (an apply
    takes that away); the rest is not ours to change."""
    if isinstance(manifest, Mapping) and isinstance(live, Mapping):
        ours = {key for key in live if key in manifest or (owned and f"f:{key}" in owned)}
        return {
            key: _only(key, manifest[key], value, child_fields(owned, key)) if key in manifest else value
            for key, value in live.items()
            if key in ours
        }
    if not isinstance(manifest, list) or not isinstance(live, list):
        return live
    keys = list_keys(name, manifest, owned)
    if keys is None:
        return live
    shown: list[Any] = []
    items = owned_items(owned)
    for item, named_item in zip(live, named_items(live, manifest, keys), strict=True):
        fields = item_fields(items, item, keys) if isinstance(item, Mapping) else None
        if named_item is not None:
            shown.append(_only("", named_item, item, fields))
        elif fields is not None or owned is None:
            shown.append(item)
    return shown


def _shown(value: JsonObject) -> str:
    return yaml_text(value, blocks=True)
