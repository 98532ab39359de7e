"""What the controllers of workloads do when a spec changes, when a pod goes and when time has passed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.api.scenarios import DEFAULT_DELAY
from gitfleet.simulation.pods.clone_sets import CloneSetController
from gitfleet.simulation.pods.daemon_sets import DaemonSetController
from gitfleet.simulation.pods.deployments import DeploymentController
from gitfleet.simulation.pods.model import (
    CLONE_SET,
    DAEMON_SET,
    DEPLOYMENT,
    STATEFUL_SET,
    Controlled,
    Moment,
    Status,
    Workload,
    spec_of,
)
from gitfleet.simulation.pods.stateful_sets import StatefulSetController
from gitfleet.simulation.pods.views import revision_name
from gitfleet.simulation.pods.work import Controller, Work
from gitfleet.simulation.statuses import time_text

_CONTROLLERS: Final[Mapping[GroupKind, type[Controller]]] = {
    DEPLOYMENT: DeploymentController,
    STATEFUL_SET: StatefulSetController,
    DAEMON_SET: DaemonSetController,
    CLONE_SET: CloneSetController,
}


def start(group_kind: GroupKind, body: JsonObject, workload: Workload | None, moment: Moment) -> Controlled:
    """What the controllers make of a changed spec, or of a pod that was deleted: the delays count from now on."""
    work = Work(workload or Workload(moment.now), moment)
    work.begin()
    return _controlled(group_kind, body, work)


def go_on(group_kind: GroupKind, body: JsonObject, workload: Workload, moment: Moment) -> Controlled:
    """What the controllers make of pods that are ready or available by now."""
    return _controlled(group_kind, body, Work(workload, moment))


def _controlled(group_kind: GroupKind, body: JsonObject, work: Work) -> Controlled:
    before = work.done() if work.since == work.now else None
    controller = _CONTROLLERS[group_kind](work, spec_of(body))
    controller.roll()
    may_halt, complete, due = controller.may_halt, controller.is_complete, controller.next_change()
    if complete and not may_halt and due is None and before is not None:
        observed = _observed(work)
        if observed is None or observed > work.now:
            # Where no pod has to become ready, it is the controller that takes its time: it does all this only then.
            return Controlled(before, body.get("status") or {}, complete=False, halted=False, due=observed)
    generation = int((body.get("metadata") or {}).get("generation") or 0)
    status = {"observedGeneration": generation, **controller.status()}
    complete = complete and due is None
    halted = may_halt and not complete and due is None and work.ready() == work.size
    named = _named(body, status, work)
    return Controlled(work.done(), named, complete=complete, halted=halted, due=due, revision=controller.revision)


def _observed(work: Work) -> datetime | None:
    """When the controller does what needs no pod to become ready. Without any pods a rule about pods says nothing."""
    delay = work.groups[-1].delay
    if not isinstance(delay, timedelta):
        return None if work.size else work.since + DEFAULT_DELAY
    return work.since + delay


def _named(body: JsonObject, status: Status, work: Work) -> Status:
    """Revisions by their names, and the conditions with their times."""
    for field in ("currentRevision", "updateRevision"):
        if field in status:
            group = work.numbered(status[field])
            status[field] = revision_name(body, group.template if group else None)
    if "conditions" in status:
        at = time_text(work.now)
        for condition in status["conditions"]:
            condition["lastTransitionTime"] = at
    return status
