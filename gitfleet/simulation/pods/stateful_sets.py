"""The StatefulSet controller: one pod an ordinal, updated from the highest ordinal down to the partition.

Mirrors kubernetes v1.36 pkg/controller/statefulset/stateful_set_control.go, but for two things: a pod that is missing
is made at once, whatever its predecessors do, and so are all pods of a new StatefulSet; and `maxUnavailable`, which
is off by default there, is not looked at.
"""

from __future__ import annotations

from typing import Final

from gitfleet.simulation.pods.model import Pod, Revision, Spec, Status, number, section
from gitfleet.simulation.pods.work import Work

ON_DELETE: Final = "OnDelete"


def roll(work: Work, spec: Spec) -> None:
    """Do what the controller does at this moment, until it has nothing more to do."""
    update = work.latest(spec.get("template"))
    current = work.numbered(work.current) or update
    work.current = current.number
    first = number(section(spec, "ordinals").get("start"), 0)
    wanted = range(first, first + number(spec.get("replicas"), 1))
    present = {pod.place for pod in work.pods}
    for ordinal in wanted:
        if ordinal not in present:
            work.make(_revision_for(ordinal, spec, current, update), ordinal)
    work.pods.sort(key=lambda pod: pod.place)
    if _rolls_out(work, spec, wanted):
        work.drop([pod for pod in work.pods if pod.place not in wanted])
        if not _is_on_delete(spec):
            _update(work, spec, current, update)
    updated = work.of(update.number)
    if not _is_on_delete(spec) and work.ready(updated) == len(work.pods) == len(wanted):
        work.current = update.number


def is_held(spec: Spec) -> bool:
    """Whether something in the spec may keep it in the middle."""
    return _is_on_delete(spec) or _partition(spec) > 0 or number(spec.get("minReadySeconds"), 0) > 0


def is_complete(work: Work, spec: Spec) -> bool:
    """Whether all pods are available and of the newest template, which is the current one."""
    update = work.latest(spec.get("template")).number
    available = work.available(work.pods, number(spec.get("minReadySeconds"), 0))
    same = work.current == update and len(work.of(update)) == len(work.pods)
    return same and available == len(work.pods) == number(spec.get("replicas"), 1)


def status(work: Work, spec: Spec) -> Status:
    """The counts of apps/v1; revisions are numbers here."""
    update = work.latest(spec.get("template")).number
    ready = work.ready(work.pods)
    shown: Status = {
        "replicas": len(work.pods),
        "currentReplicas": len(work.of(work.current)),
        "updatedReplicas": len(work.of(update)),
        "availableReplicas": work.available(work.pods, number(spec.get("minReadySeconds"), 0)),
        "currentRevision": work.current,
        "updateRevision": update,
    }
    return shown | ({"readyReplicas": ready} if ready else {})


def _update(work: Work, spec: Spec, current: Revision, update: Revision) -> None:
    """From the highest ordinal down, each once the ones above it are available."""
    min_ready, partition = number(spec.get("minReadySeconds"), 0), _partition(spec)
    for pod in reversed(list(work.pods)):
        if pod.place < partition:
            break
        kept = pod if pod.revision == update.number else _replaced(work, pod, spec, current, update)
        if not work.is_available(kept, min_ready):
            break
    work.pods.sort(key=lambda pod: pod.place)


def _replaced(work: Work, pod: Pod, spec: Spec, current: Revision, update: Revision) -> Pod:
    work.pods.remove(pod)
    return work.make(_revision_for(pod.place, spec, current, update), pod.place)


def _rolls_out(work: Work, spec: Spec, wanted: range) -> bool:
    """In order (the default) nothing is updated or scaled down while a pod that stays is not available: one that never
    becomes so must be deleted by somebody."""
    if spec.get("podManagementPolicy") == "Parallel":
        return True
    min_ready = number(spec.get("minReadySeconds"), 0)
    return all(work.is_available(pod, min_ready) for pod in work.pods if pod.place in wanted)


def _revision_for(ordinal: int, spec: Spec, current: Revision, update: Revision) -> Revision:
    """`newVersionedStatefulSetPod`."""
    return current if ordinal < _partition(spec) else update


def _partition(spec: Spec) -> int:
    if _is_on_delete(spec):
        return 0
    return number(section(spec, "updateStrategy", "rollingUpdate").get("partition"), 0)


def _is_on_delete(spec: Spec) -> bool:
    return section(spec, "updateStrategy").get("type") == ON_DELETE
