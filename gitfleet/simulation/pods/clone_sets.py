"""The CloneSet controller of OpenKruise: a partition says how many pods keep the older revision.

Mirrors openkruise/kruise pkg/controller/cloneset (`sync/cloneset_sync_utils.go`, `cloneset_status.go`), with
`CloneSetPartitionRollback` on: a partition that is raised takes pods back to the current revision. Pods are replaced,
except with a type InPlace..., where they keep their names.
"""

from __future__ import annotations

from typing import Final

from gitfleet.simulation.pods.model import MOST_PODS, Pod, Spec, Status, number, section, share
from gitfleet.simulation.pods.stateful_sets import ON_DELETE
from gitfleet.simulation.pods.work import Controller, Work

_UNAVAILABLE: Final = "20%"
_MOST_STEPS: Final = 1000


class CloneSetController(Controller):
    """At work on one CloneSet."""

    def __init__(self, work: Work, spec: Spec) -> None:
        super().__init__(work, spec)
        strategy = section(spec, "updateStrategy")
        self.desired = number(spec.get("replicas"), 1)
        self.partition = _kept_by_partition(strategy.get("partition"), self.desired)
        self.type, self.paused = str(strategy.get("type") or ""), strategy.get("paused") is True
        self.most_surge = min(share(strategy.get("maxSurge"), 0, self.desired, up=True), MOST_PODS)
        up = self.most_surge == 0
        self.unavailable = share(strategy.get("maxUnavailable"), _UNAVAILABLE, self.desired, up=up)
        self.update = work.latest(spec.get("template"))
        self.current = work.numbered(work.current) or self.update

    def roll(self) -> None:
        """See Controller."""
        self.work.current = self.current.number
        for _ in range(_MOST_STEPS):
            if not (self._scale() or self._update()):
                break
        if len(self.update.pods) == self.work.size == self.desired:
            self.work.current = self.update.number

    @property
    def may_halt(self) -> bool:
        """See Controller."""
        return self.paused or self.type == ON_DELETE or self.partition > 0 or self.min_ready > 0

    @property
    def is_complete(self) -> bool:
        """All pods are of the newest template and available."""
        return self.work.available(self.update.pods, self.min_ready) == self.work.size == self.desired

    def status(self) -> Status:
        """CloneSetStatus."""
        work, updated = self.work, self.update.pods
        labels = section(self.spec, "selector", "matchLabels")
        shown: Status = {
            "replicas": work.size,
            "readyReplicas": work.ready(),
            "availableReplicas": work.available(work.pods, self.min_ready),
            "updatedReplicas": len(updated),
            "updatedReadyReplicas": work.available(updated),
        }
        counts = {
            "updatedAvailableReplicas": work.available(updated, self.min_ready),
            "expectedUpdatedReplicas": self.desired - self.partition,
        }
        shown |= {name: count for name, count in counts.items() if count}
        shown |= {"currentRevision": work.current, "updateRevision": self.update.number}
        return shown | {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))}

    def _old(self) -> list[Pod]:
        return [pod for group in self.work.groups if group is not self.update for pod in group.pods]

    def _to_update(self) -> int:
        """How many pods are to get the newer revision; below zero: to go back to the current one."""
        updated = len(self.update.pods)
        by_old = self.work.size - updated - self.partition
        by_new = updated - (self.desired - self.partition)
        if self.update is self.current:
            by_old, by_new = max(by_old, 0), min(by_new, 0)
        return by_old if abs(by_old) <= abs(by_new) else -by_new

    def _scale(self) -> bool:
        """To the wanted number of pods, with a surge while some are to be updated; whether anything was done."""
        work, to_update = self.work, self._to_update()
        surge = 0 if self.paused else min(self.most_surge, abs(to_update))
        kept_old = self.partition + (surge if to_update < 0 else 0)
        lacking = self.desired + surge - work.size
        for _ in range(lacking):
            older = self.current is not self.update and work.size - len(self.update.pods) < kept_old
            work.make(self.current if older else self.update)
        if lacking >= 0:
            return lacking > 0
        old = self._old()
        extra_old = min(max(len(old) - kept_old, 0), -lacking)
        ranked = work.least_needed(old, len(old))
        chosen = ranked[:extra_old] + work.least_needed(self.update.pods, -lacking - extra_old)
        chosen += ranked[extra_old:][: -lacking - len(chosen)]
        ready_most = max(self.unavailable + work.size - self.desired - self._missing(), 0)
        ready = [pod for pod in chosen if work.is_available(pod)]
        deleted = [pod for pod in chosen if not work.is_available(pod)] + ready[:ready_most]
        work.drop(deleted)
        return bool(deleted)

    def _update(self) -> bool:
        """Replace pods, so many that no more than `maxUnavailable` are missing at once; whether any was."""
        work, to_update = self.work, self._to_update()
        if self.paused or self.type == ON_DELETE or not to_update:
            return False
        group, candidates = (self.current, self.update.pods) if to_update < 0 else (self.update, self._old())
        most, missing, deleted = self.unavailable + work.size - self.desired, self._missing(), list[Pod]()
        for pod in work.least_needed(candidates, abs(to_update)):
            was_missing = not work.is_available(pod, self.min_ready)
            if not was_missing and missing >= most:
                break
            deleted.append(pod)
            made = work.make(group, pod.place if self.type.startswith("InPlace") else None)
            missing += (not work.is_available(made, self.min_ready)) - was_missing
        work.drop(deleted)
        return bool(deleted)

    def _missing(self) -> int:
        return self.work.size - self.work.available(self.work.pods, self.min_ready)


def _kept_by_partition(partition: object, replicas: int) -> int:
    """`CalculatePartitionReplicas`: below 100 % one pod is updated at least."""
    old = min(share(partition, 0, replicas, up=True), replicas)
    if replicas > 1 and old == replicas and isinstance(partition, str) and partition != "100%":
        return replicas - 1
    return old
