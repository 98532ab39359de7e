"""Files of ClusterResourceSnapshot and ClusterSchedulingPolicySnapshot, and their namespaced forms, as the seeds show
them (003, "Resource Selection" and "Placement Policy"; kubefleet.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from gitfleet.api import InvalidContent, read_state, write, write_as
from gitfleet.api.annotations import At
from gitfleet.api.bindings import ClusterDecision
from gitfleet.api.conditions import Condition, Conditions, ConditionType, find_condition
from gitfleet.api.objects import JsonObject
from gitfleet.api.snapshots import PolicySnapshot, ResourceSnapshot
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.state.paths import is_rendered
from gitfleet.state.shapes.fields import LATEST_LABEL, document
from gitfleet.state.shapes.lines import entry_line, lines_bytes, read_lines
from gitfleet.state.texts import StateText

_DECISIONS = "targetClusters"
"""The last field of a policy snapshot's file."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """snapshots/policies/...; the latest one carries the decisions."""

    snapshot: PolicySnapshot
    scheduled: Condition | None
    decisions: tuple[ClusterDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    conditions: Annotated[Conditions, At("status", "conditions")] = ()
    decisions: Annotated[tuple[ClusterDecision, ...], At("status", _DECISIONS)] = ()


def resource_snapshot_object(snapshot: ResourceSnapshot, *, latest: bool) -> JsonObject:
    """The snapshot with `spec.documents` in the place of `spec.selectedResources`: which document of which file. What
    was rendered has no blob of the config repo."""
    documents = tuple(replace(ref, blob="", document=0) if is_rendered(ref) else ref for ref in snapshot.documents)
    return _labelled(write(replace(snapshot, documents=documents)), latest=latest)


def _labelled(body: dict[str, Any], *, latest: bool) -> JsonObject:
    body["metadata"]["labels"][LATEST_LABEL] = str(latest).lower()
    return body


def read_resource_snapshot(source: Mapping[str, Any]) -> ResourceSnapshot:
    """The snapshot back, its manifests not loaded."""
    snapshot = read_state(ResourceSnapshot, source)
    if all(ref.blob for ref in snapshot.documents):
        return snapshot
    documents = tuple(ref if ref.blob else replace(ref, rendered=True) for ref in snapshot.documents)
    return replace(snapshot, documents=documents)


def policy_snapshot_object(
    snapshot: PolicySnapshot, *, latest: bool, scheduled: Condition | None, decisions: tuple[ClusterDecision, ...]
) -> JsonObject:
    """The snapshot; the latest one carries the scheduler's decisions, as in KubeFleet."""
    body = write(snapshot)
    status = body.setdefault("status", {})
    if latest and scheduled is not None:
        status["conditions"] = write_as(Conditions, (replace(scheduled, type=ConditionType.SCHEDULED.value),))
    if latest and decisions:
        status[_DECISIONS] = write_as(tuple[ClusterDecision, ...], decisions)
    return _labelled(body, latest=latest)


def policy_snapshot_bytes(body: JsonObject) -> bytes:
    """The file of a policy snapshot: the object with a decision a line."""
    status = body["status"]
    decisions = status.get(_DECISIONS)
    if not decisions:
        return write_documents([body])
    head = {**body, "status": {name: value for name, value in status.items() if name != _DECISIONS}}
    return lines_bytes(head, _DECISIONS, map(entry_line, decisions), indent="  ")


def policy_document(content: bytes) -> JsonObject:
    """The object back."""
    parsed = read_lines(content, _DECISIONS, indent="  ")
    if parsed is None:  # this version did not write it, or it has no decisions
        return document(content)
    head, decisions = parsed
    status = head.get("status")
    if not isinstance(status, dict):
        raise InvalidContent(StateText.STATUS_MUST_MAPPING())
    return {**head, "status": {**status, _DECISIONS: decisions}}


def read_policy_snapshot(source: Mapping[str, Any]) -> PolicyFile:
    """The snapshot, with the Scheduled condition and the decisions that it carries."""
    decided = read_state(_Decided, source)
    scheduled = find_condition(decided.conditions, ConditionType.SCHEDULED)
    return PolicyFile(read_state(PolicySnapshot, source), scheduled, decided.decisions)
