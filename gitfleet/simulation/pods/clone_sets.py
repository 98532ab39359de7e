"""The CloneSet controller of OpenKruise: a partition says how many pods keep the older revision.

Mirrors openkruise/kruise pkg/controller/cloneset (`sync/cloneset_sync_utils.go`, `cloneset_status.go`), with
`CloneSetPartitionRollback` on: a partition that is raised takes pods back to the current revision. Pods are replaced,
except with a type InPlace..., where they keep their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitfleet.simulation.pods.model import MOST_PODS, Pod, Revision, Spec, Status, number, section, share
from gitfleet.simulation.pods.stateful_sets import ON_DELETE
from gitfleet.simulation.pods.work import Work

_UNAVAILABLE: Final = "20%"
_MOST_STEPS: Final = 1000


@dataclass(slots=True)
class _Sync:
    """One CloneSet that is worked on."""

    work: Work
    spec: Spec
    wanted: int
    partition: int
    current: Revision
    update: Revision

    @property
    def min_ready(self) -> int:
        return number(self.spec.get("minReadySeconds"), 0)

    @property
    def updated(self) -> list[Pod]:
        return self.work.of(self.update.number)

    @property
    def old(self) -> list[Pod]:
        return [pod for pod in self.work.pods if pod.revision != self.update.number]

    @property
    def surge(self) -> int:
        """How many pods there may be above the wanted ones while some are still to be updated."""
        if is_paused(self.spec) or not self.to_update:
            return 0
        most = share(_strategy(self.spec).get("maxSurge"), 0, self.wanted, up=True)
        return min(most, abs(self.to_update), MOST_PODS)

    @property
    def unavailable(self) -> int:
        surges = share(_strategy(self.spec).get("maxSurge"), 0, self.wanted, up=True) > 0
        return share(_strategy(self.spec).get("maxUnavailable"), _UNAVAILABLE, self.wanted, up=not surges)

    @property
    def to_update(self) -> int:
        """How many pods are to get the newer revision; below zero: to go back to the current one."""
        by_old = len(self.old) - self.partition
        by_new = len(self.updated) - (self.wanted - self.partition)
        if self.update.number == self.current.number:
            by_old, by_new = max(by_old, 0), min(by_new, 0)
        return by_old if abs(by_old) <= abs(by_new) else -by_new

    def missing(self) -> int:
        return len(self.work.pods) - self.work.available(self.work.pods, self.min_ready)


def roll(work: Work, spec: Spec) -> None:
    """Do what the controller does at this moment, until it has nothing more to do."""
    update = work.latest(spec.get("template"))
    current = work.numbered(work.current) or update
    work.current = current.number
    sync = _Sync(work, spec, number(spec.get("replicas"), 1), _partition(spec), current, update)
    for _ in range(_MOST_STEPS):
        if not (_scale(sync) or _update(sync)):
            break
    work.pods.sort()
    if len(sync.updated) == len(work.pods) == sync.wanted:
        work.current = update.number


def is_paused(spec: Spec) -> bool:
    """Whether no pod is updated for now."""
    return _strategy(spec).get("paused") is True


def is_held(spec: Spec) -> bool:
    """Whether something in the spec may keep it in the middle."""
    stays = is_paused(spec) or _strategy(spec).get("type") == ON_DELETE
    return stays or _partition(spec) > 0 or number(spec.get("minReadySeconds"), 0) > 0


def is_complete(work: Work, spec: Spec) -> bool:
    """Whether all pods are of the newest template and available."""
    update = work.latest(spec.get("template")).number
    available = work.available(work.of(update), number(spec.get("minReadySeconds"), 0))
    return available == len(work.pods) == number(spec.get("replicas"), 1)


def status(work: Work, spec: Spec) -> Status:
    """CloneSetStatus; revisions are numbers here."""
    update, min_ready = work.latest(spec.get("template")).number, number(spec.get("minReadySeconds"), 0)
    updated = work.of(update)
    labels = section(spec, "selector", "matchLabels")
    shown: Status = {
        "replicas": len(work.pods),
        "readyReplicas": work.ready(work.pods),
        "availableReplicas": work.available(work.pods, min_ready),
        "updatedReplicas": len(updated),
        "updatedReadyReplicas": work.ready(updated),
    }
    counts = {
        "updatedAvailableReplicas": work.available(updated, min_ready),
        "expectedUpdatedReplicas": number(spec.get("replicas"), 1) - _partition(spec),
    }
    shown |= {name: count for name, count in counts.items() if count}
    shown |= {"currentRevision": work.current, "updateRevision": update}
    return shown | {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))}


def _scale(sync: _Sync) -> bool:
    """To the wanted number of pods, with a surge while some are to be updated; whether anything was done."""
    work, surge = sync.work, sync.surge
    kept_old = sync.partition + (surge if sync.to_update < 0 else 0)
    lacking = sync.wanted + surge - len(work.pods)
    if lacking >= 0:
        for _ in range(lacking):
            work.make(sync.current if len(sync.old) < kept_old and sync.current != sync.update else sync.update)
        return lacking > 0
    extra_old = min(max(len(sync.old) - kept_old, 0), -lacking)
    chosen = work.least_needed(sync.old, extra_old) + work.least_needed(sync.updated, -lacking - extra_old)
    chosen += work.least_needed([pod for pod in sync.old if pod not in chosen], -lacking - len(chosen))
    ready_most = max(sync.unavailable + len(work.pods) - sync.wanted - sync.missing(), 0)
    ready = [pod for pod in chosen if work.is_ready(pod)]
    gone = [pod for pod in chosen if not work.is_ready(pod)] + ready[:ready_most]
    work.drop(gone)
    return bool(gone)


def _update(sync: _Sync) -> bool:
    """Replace pods, so many that no more than `maxUnavailable` are missing at once; whether any was."""
    work = sync.work
    if is_paused(sync.spec) or _strategy(sync.spec).get("type") == ON_DELETE:
        return False
    back = sync.to_update < 0
    revision = sync.current if back else sync.update
    candidates = sync.updated if back else sync.old
    ranked = work.least_needed(candidates, len(candidates))[: abs(sync.to_update)]
    most = sync.unavailable + len(work.pods) - sync.wanted
    missing, changed = sync.missing(), False
    in_place = str(_strategy(sync.spec).get("type") or "").startswith("InPlace")
    for pod in ranked:
        was_missing = not work.is_available(pod, sync.min_ready)
        if not was_missing and missing >= most:
            break
        work.pods.remove(pod)
        made = work.make(revision, pod.place if in_place else None)
        missing += (not work.is_available(made, sync.min_ready)) - was_missing
        changed = True
    return changed


def _strategy(spec: Spec) -> Spec:
    return section(spec, "updateStrategy")


def _partition(spec: Spec) -> int:
    """`CalculatePartitionReplicas`: below 100 % one pod is updated at least."""
    wanted, value = number(spec.get("replicas"), 1), _strategy(spec).get("partition")
    kept = min(share(value, 0, wanted, up=True), wanted)
    if wanted > 1 and kept == wanted and isinstance(value, str) and value != "100%":
        return wanted - 1
    return kept
