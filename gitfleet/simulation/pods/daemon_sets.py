"""The DaemonSet controller: one pod a node, replaced within `maxUnavailable` or `maxSurge`, or when it is deleted.

Mirrors kubernetes v1.36 pkg/controller/daemon/update.go. Nodes are taken in order; a real controller takes them as a
map has them.
"""

from __future__ import annotations

from gitfleet.simulation.pods.model import Pod, Revision, Spec, Status, number, section, share
from gitfleet.simulation.pods.stateful_sets import ON_DELETE
from gitfleet.simulation.pods.work import Work


def roll(work: Work, spec: Spec) -> None:
    """Do what the controller does at this moment, until it has nothing more to do."""
    update = work.latest(spec.get("template"))
    nodes = work.moment.nodes
    work.drop([pod for pod in work.pods if pod.place >= nodes])
    present = {pod.place for pod in work.pods}
    for node in range(nodes):
        if node not in present:
            work.make(update, node)
    if not is_on_delete(spec):
        surge, unavailable = _limits(spec, nodes)
        if surge:
            _surge(work, spec, update, surge)
        else:
            _replace(work, spec, update, unavailable)
    work.pods.sort()


def is_on_delete(spec: Spec) -> bool:
    """Whether a pod is made of the newest template only where somebody deleted it."""
    return section(spec, "updateStrategy").get("type") == ON_DELETE


def is_held(spec: Spec) -> bool:
    """Whether something in the spec may keep it in the middle."""
    return is_on_delete(spec) or number(spec.get("minReadySeconds"), 0) > 0


def is_complete(work: Work, spec: Spec) -> bool:
    """Whether every node has one pod, of the newest template and available."""
    update = work.latest(spec.get("template")).number
    available = work.available(work.of(update), number(spec.get("minReadySeconds"), 0))
    return available == len(work.pods) == work.moment.nodes


def status(work: Work, spec: Spec) -> Status:
    """The counts of apps/v1: of each node the oldest pod."""
    update, nodes = work.latest(spec.get("template")).number, work.moment.nodes
    oldest = [pods[0] for pods in _by_node(work).values()]
    ready = work.ready(oldest)
    available = work.available(oldest, number(spec.get("minReadySeconds"), 0))
    shown: Status = {
        "desiredNumberScheduled": nodes,
        "currentNumberScheduled": len(oldest),
        "numberMisscheduled": 0,
        "numberReady": ready,
    }
    updated = sum(pod.revision == update for pod in oldest)
    counts = {"updatedNumberScheduled": updated, "numberAvailable": available, "numberUnavailable": nodes - available}
    return shown | {name: count for name, count in counts.items() if count}


def _limits(spec: Spec, nodes: int) -> tuple[int, int]:
    rolling = section(spec, "updateStrategy", "rollingUpdate")
    surge = share(rolling.get("maxSurge"), 0, nodes, up=True)
    unavailable = share(rolling.get("maxUnavailable"), 1, nodes, up=True)
    return surge, unavailable if surge or unavailable else 1


def _by_node(work: Work) -> dict[int, list[Pod]]:
    found: dict[int, list[Pod]] = {}
    for pod in sorted(work.pods):
        found.setdefault(pod.place, []).append(pod)
    return found


def _replace(work: Work, spec: Spec, update: Revision, most: int) -> None:
    """Old pods go where they are not available, and of the others so many that `most` are not available at once."""
    min_ready = number(spec.get("minReadySeconds"), 0)
    missing = sum(not work.is_available(pod, min_ready) for pod in work.pods)
    old = [pod for pod in work.pods if pod.revision != update.number]
    for pod in sorted(old, key=lambda pod: (work.is_available(pod, min_ready), pod.place)):
        was_missing = not work.is_available(pod, min_ready)
        if not was_missing and missing >= most:
            return
        work.pods.remove(pod)
        is_missing = not work.is_available(work.make(update, pod.place), min_ready)
        missing += is_missing - was_missing


def _surge(work: Work, spec: Spec, update: Revision, most: int) -> None:
    """New pods are made beside old ones, which go once the new ones are available."""
    min_ready = number(spec.get("minReadySeconds"), 0)
    extra = sum(len(pods) > 1 and not work.is_available(pods[-1], min_ready) for pods in _by_node(work).values())
    for node, pods in sorted(_by_node(work).items()):
        old = [pod for pod in pods if pod.revision != update.number]
        new = next((pod for pod in pods if pod.revision == update.number), None)
        if not old:
            continue
        if new is None:
            if work.is_available(old[0], min_ready) and extra >= most:
                continue
            new = work.make(update, node)
            extra += not work.is_available(new, min_ready)
        if work.is_available(new, min_ready):
            work.drop(old)
