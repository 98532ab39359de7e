"""What the controllers of workloads do when a spec changes, when a pod goes and when time has passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.api.scenarios import DEFAULT_DELAY
from gitfleet.formats import times
from gitfleet.simulation.pods import clone_sets, daemon_sets, deployments, stateful_sets
from gitfleet.simulation.pods.model import (
    CLONE_SET,
    DAEMON_SET,
    DEPLOYMENT,
    MOST_PODS,
    STATEFUL_SET,
    Controlled,
    Moment,
    Spec,
    Status,
    Workload,
    number,
    spec_of,
)
from gitfleet.simulation.pods.views import revision_name
from gitfleet.simulation.pods.work import Work, available_at


@dataclass(frozen=True, slots=True)
class _Controller:
    roll: Callable[[Work, Spec], None]
    is_held: Callable[[Spec], bool]
    is_complete: Callable[[Work, Spec], bool]
    status: Callable[[Work, Spec], Status]


_CONTROLLERS: Final[Mapping[GroupKind, _Controller]] = {
    group_kind: _Controller(module.roll, module.is_held, module.is_complete, module.status)
    for group_kind, module in (
        (DEPLOYMENT, deployments),
        (STATEFUL_SET, stateful_sets),
        (DAEMON_SET, daemon_sets),
        (CLONE_SET, clone_sets),
    )
}


def has_pods(group_kind: GroupKind, body: JsonObject, nodes: int) -> bool:
    """Whether the object's pods are simulated: a workload of a size that anybody would run."""
    size = nodes if group_kind == DAEMON_SET else number(spec_of(body).get("replicas"), 1)
    return group_kind in _CONTROLLERS and size <= MOST_PODS


def settled(group_kind: GroupKind, body: JsonObject, replicas: object, now: datetime, nodes: int) -> Workload:
    """The pods of an object that is as its spec wants it, where they are not known: on a cluster that was saved before
    it had any, or of an object with more than are simulated. There are so many as `replicas` says."""
    running = {**body, "spec": {**spec_of(body), "paused": False, "replicas": replicas}}
    at_once = Moment(now=now, nodes=nodes, delay_of=lambda _: timedelta(0))
    return _controlled(group_kind, running, Work.on(Workload(since=now), at_once)).workload


def start(group_kind: GroupKind, body: JsonObject, workload: Workload | None, moment: Moment) -> Controlled:
    """What the controllers make of a changed spec, or of a pod that was deleted: the delays count from now on."""
    work = Work.on(workload or Workload(since=moment.now), moment)
    work.begin()
    return _controlled(group_kind, body, work)


def go_on(group_kind: GroupKind, body: JsonObject, workload: Workload, moment: Moment) -> Controlled:
    """What the controllers make of pods that are ready or available by now."""
    return _controlled(group_kind, body, Work.on(workload, moment))


def _controlled(group_kind: GroupKind, body: JsonObject, work: Work) -> Controlled:
    controller, spec, before = _CONTROLLERS[group_kind], spec_of(body), work.done()
    controller.roll(work, spec)
    may_be_held, complete = controller.is_held(spec), controller.is_complete(work, spec)
    due = _next_change(work, None if group_kind == DEPLOYMENT else number(spec.get("minReadySeconds"), 0))
    if complete and not may_be_held and due is None:
        observed = _observed_at(work, spec)
        if observed > work.moment.now:
            # Where no pod has to become ready, it is the controller that takes its time: it does all this only then.
            status = body.get("status") or {}
            return Controlled(workload=before, status=status, complete=False, held=False, due=observed)
    generation = int((body.get("metadata") or {}).get("generation") or 0)
    status = {"observedGeneration": generation, **controller.status(work, spec)}
    complete = complete and due is None
    return Controlled(
        workload=work.done(),
        status=_named(body, status, work),
        complete=complete,
        held=may_be_held and not complete and due is None and work.ready(work.pods) == len(work.pods),
        due=due,
    )


def _observed_at(work: Work, spec: Spec) -> datetime:
    delay = work.latest(spec.get("template")).delay
    return work.since + (delay if isinstance(delay, timedelta) else DEFAULT_DELAY)


def _next_change(work: Work, min_ready: int | None) -> datetime | None:
    """When the next pod becomes ready or available; `min_ready` None: by what its revision says."""
    seconds = {one.number: one.min_ready if min_ready is None else min_ready for one in work.revisions}
    moments = [pod.ready for pod in work.pods]
    moments += [available_at(pod, seconds[pod.revision]) for pod in work.pods if seconds[pod.revision]]
    return min((moment for moment in moments if moment is not None and moment > work.moment.now), default=None)


def _named(body: JsonObject, status: Status, work: Work) -> Status:
    """Revisions by their names, and the conditions with their times."""
    for field in ("currentRevision", "updateRevision"):
        if field in status:
            revision = work.numbered(status[field])
            status[field] = revision_name(body, revision.template if revision else None)
    at = times.time_text(work.moment.now.replace(microsecond=0))
    for condition in status.get("conditions") or ():
        condition["lastTransitionTime"] = at
    return status
