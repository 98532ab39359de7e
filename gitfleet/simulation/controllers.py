"""The controllers of a simulated cluster: what they write into an object when its spec changes, and by themselves.

Workloads have pods (`pods`); every other kind has the two faces that `statuses` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, Delay
from gitfleet.formats.kinds import REVISION
from gitfleet.simulation import kinds, statuses
from gitfleet.simulation.bodies import Stored, default_delay
from gitfleet.simulation.pods import control
from gitfleet.simulation.pods.model import KINDS, Controlled, Moment, spec_of
from gitfleet.simulation.rules import rule_for


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What controllers see beside the object: the rules of the scenario, the nodes of the cluster, and the time."""

    rules: Sequence[ClusterRule]
    nodes: int
    now: datetime


def start(stored: Stored, kind: kinds.Kind, body: JsonObject, around: Surroundings) -> JsonObject:
    """Start the controllers of an object again: `body`, whose spec has changed, with their first status."""
    key = stored.live.key
    stored.first = stored.first and not stored.done
    if key.group_kind in KINDS:
        return _taken(stored, body, control.start(key.group_kind, body, stored.workload, _moment(key, body, around)))
    rule = rule_for(around.rules, key, body)
    reports = statuses.has_status(key.group_kind) or (kind.custom and (kind.reports or rule is not None))
    delay = rule.available if rule else default_delay(key, body)
    stored.done = not reports or delay == timedelta(0)
    stored.due = around.now + delay if reports and not stored.done and isinstance(delay, timedelta) else None
    if not reports:
        return body
    progress = statuses.Progress(done=stored.done, first=stored.first, at=around.now)
    return statuses.reconciled(key.group_kind, body, progress, reports=kind.custom)


def go_on(stored: Stored, around: Surroundings) -> JsonObject:
    """Let controllers do what is due now: the object with their next status."""
    key, body = stored.live.key, stored.live.body
    if stored.workload is not None:
        return _taken(stored, body, control.go_on(key.group_kind, body, stored.workload, _moment(key, body, around)))
    stored.done, stored.first, stored.due = True, False, None
    progress = statuses.Progress(done=True, first=False, at=around.now)
    return statuses.reconciled(key.group_kind, body, progress, reports=True)


def is_available(stored: Stored) -> bool:
    """Whether the object is done, and not kept in the middle by a pause or a partition."""
    return stored.done and not stored.halted


def _taken(stored: Stored, body: JsonObject, controlled: Controlled) -> JsonObject:
    stored.workload, stored.due, stored.halted = controlled.workload, controlled.due, controlled.halted
    stored.done = controlled.complete or controlled.halted
    metadata = _with_revision(body["metadata"], controlled.revision)
    return {**body, "metadata": metadata, "status": controlled.status}


def _with_revision(metadata: JsonObject, revision: int | None) -> JsonObject:
    annotations = metadata.get("annotations") or {}
    if revision is None or annotations.get(REVISION) == str(revision):
        return metadata
    return {**metadata, "annotations": {**annotations, REVISION: str(revision)}}


def _moment(key: ObjectKey, body: JsonObject, around: Surroundings) -> Moment:
    def delay_of(template: Any) -> Delay:
        if not around.rules:
            return default_delay(key, body)
        of_template = {**body, "spec": {**spec_of(body), "template": template}}
        rule = rule_for(around.rules, key, of_template)
        return rule.available if rule else default_delay(key, body)

    return Moment(now=around.now, nodes=around.nodes, delay_of=delay_of)
