"""The StatefulSet controller: one pod an ordinal, updated from the highest ordinal down to the partition.

Mirrors kubernetes v1.36 pkg/controller/statefulset/stateful_set_control.go, but for two things: a pod that is missing
is made at once, whatever its predecessors do, and so are all pods of a new StatefulSet; and `maxUnavailable`, which
is off by default there, is not looked at.
"""

from __future__ import annotations

from typing import Final

from gitfleet.simulation.pods.model import Pod, Revision, Spec, Status, number, section
from gitfleet.simulation.pods.work import Controller, Work

ON_DELETE: Final = "OnDelete"


class StatefulSetController(Controller):
    """At work on one StatefulSet."""

    def __init__(self, work: Work, spec: Spec) -> None:
        super().__init__(work, spec)
        self.update = work.latest(spec.get("template"))
        strategy = section(spec, "updateStrategy")
        self.on_delete = strategy.get("type") == ON_DELETE
        self.partition = 0 if self.on_delete else number(section(strategy, "rollingUpdate").get("partition"), 0)
        first = number(section(spec, "ordinals").get("start"), 0)
        self.desired = range(first, first + number(spec.get("replicas"), 1))

    def roll(self) -> None:
        """See Controller."""
        work = self.work
        current = work.numbered(work.current) or self.update
        work.current = current.number
        present = {pod.place for pod in work.pods}
        for ordinal in self.desired:
            if ordinal not in present:
                work.make(self._revision_for(ordinal, current), ordinal)
        if self._moves():
            work.drop([pod for pod in work.pods if pod.place not in self.desired])
            if not self.on_delete:
                self._update()
        if not self.on_delete and work.available(self.update.pods) == work.size == len(self.desired):
            work.current = self.update.number

    @property
    def may_halt(self) -> bool:
        """See Controller."""
        return self.on_delete or self.partition > 0 or self.min_ready > 0

    @property
    def is_complete(self) -> bool:
        """All pods are available and of the newest template, which is the current one."""
        if self.work.current != self.update.number:
            return False
        return self.work.available(self.update.pods, self.min_ready) == self.work.size == len(self.desired)

    def status(self) -> Status:
        """The counts of apps/v1."""
        work = self.work
        current, ready = work.numbered(work.current), work.ready()
        shown: Status = {
            "replicas": work.size,
            "currentReplicas": len(current.pods) if current else 0,
            "updatedReplicas": len(self.update.pods),
            "availableReplicas": work.available(work.pods, self.min_ready),
            "currentRevision": work.current,
            "updateRevision": self.update.number,
        }
        return shown | ({"readyReplicas": ready} if ready else {})

    def _update(self) -> None:
        """From the highest ordinal down, each once the ones above it are available."""
        deleted = list[Pod]()
        for pod in sorted(self.work.pods, key=lambda pod: pod.place, reverse=True):
            if pod.place < self.partition:
                break
            current = pod
            if pod.revision != self.update.number:
                deleted.append(pod)
                current = self.work.make(self.update, pod.place)
            if not self.work.is_available(current, self.min_ready):
                break
        self.work.drop(deleted)

    def _moves(self) -> bool:
        """In order (the default) nothing is updated or scaled down while a pod that stays is not available: one that
        never becomes so must be deleted by somebody."""
        if self.spec.get("podManagementPolicy") == "Parallel":
            return True
        return all(self._is_fine(pod) for pod in self.work.pods)

    def _is_fine(self, pod: Pod) -> bool:
        return pod.place not in self.desired or self.work.is_available(pod, self.min_ready)

    def _revision_for(self, ordinal: int, current: Revision) -> Revision:
        """`newVersionedStatefulSetPod`."""
        return current if ordinal < self.partition else self.update
