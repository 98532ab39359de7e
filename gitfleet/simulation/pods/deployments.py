"""The Deployment controller: its ReplicaSets are revisions, and each has as many pods as it wants.

Mirrors kubernetes v1.36 pkg/controller/deployment: `rolling.go`, `recreate.go` and `sync.go` (scaling), with the
arithmetic of `util/deployment_util.go`; what they compute from statuses that lag is computed from the pods here.
"""

from __future__ import annotations

from datetime import datetime
from math import floor
from typing import Final

from gitfleet.simulation.pods.model import MOST_PODS, Revision, Spec, Status, number, section, share
from gitfleet.simulation.pods.work import Controller, Work

_NO_DEADLINE: Final = 2147483647
_MOST_STEPS: Final = 1000
_DEFAULT: Final = "25%"


class DeploymentController(Controller):
    """At work on one Deployment."""

    def __init__(self, work: Work, spec: Spec) -> None:
        super().__init__(work, spec)
        self.desired = number(spec.get("replicas"), 1)
        self.paused = spec.get("paused") is True
        strategy = section(spec, "strategy")
        self.recreates = strategy.get("type") == "Recreate"
        rolling = section(strategy, "rollingUpdate")
        self.surge = self.unavailable = 0
        if not self.recreates:
            self.surge = min(share(rolling.get("maxSurge"), _DEFAULT, self.desired, up=True), MOST_PODS)
            self.unavailable = min(share(rolling.get("maxUnavailable"), _DEFAULT, self.desired, up=False), self.desired)
            if self.surge == self.unavailable == 0:
                self.unavailable = min(1, self.desired)
        self.new = work.revision_of(spec.get("template"))

    def roll(self) -> None:
        """See Controller."""
        if self.new is not None:
            self.new.min_ready = self.min_ready
            self.work.count_as_newest(self.new)
        if self.paused:
            self._scale_all()
            return
        if self._was_scaled():
            self._scale_all()
            if self._was_scaled():
                return  # the real one does no more either while the numbers differ
        new = self._made()
        if self.recreates:
            self._stop_old()
            self._scale(new, self.desired)
            return
        if self._is_immediate(new):
            self._scale(new, self.desired)
            self._stop_old()
            return
        for _ in range(_MOST_STEPS):
            if not (self._grow(new) or self._shrink_old(new)):
                return

    def _stop_old(self) -> None:
        for group in self._old():
            self._scale(group, 0)

    @property
    def revision(self) -> int | None:
        """See Controller: of a paused one with a new template the real controller does not write it either."""
        return None if self.new is None else self.new.number

    @property
    def may_halt(self) -> bool:
        """See Controller."""
        return self.paused or self.min_ready > 0

    @property
    def is_complete(self) -> bool:
        """All pods are of the newest template and available, and no other is left."""
        updated = 0 if self.new is None else self._available(self.new)
        return updated == self.desired == self.work.size

    def next_change(self) -> datetime | None:
        """See Controller."""
        return self.work.next_change(None)

    def status(self) -> Status:
        """The counts of apps/v1, a zero left out."""
        total, available = self.work.size, sum(map(self._available, self.work.groups))
        counts = {
            "replicas": total,
            "updatedReplicas": 0 if self.new is None else len(self.new.pods),
            "readyReplicas": self.work.ready(),
            "availableReplicas": available,
            "unavailableReplicas": total - available,
        }
        shown: Status = {name: count for name, count in counts.items() if count}
        enough = available >= self.desired - self.unavailable
        reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
        shown["conditions"] = [{"type": "Available", "status": "True" if enough else "False", "reason": reason}]
        if self.spec.get("progressDeadlineSeconds") != _NO_DEADLINE:
            shown["conditions"].append(self._progressing())
        return shown

    def _progressing(self) -> Status:
        if self.paused:
            return {"type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused"}
        reason = "NewReplicaSetAvailable" if self.is_complete else "ReplicaSetUpdated"
        return {"type": "Progressing", "status": "True", "reason": reason}

    def _available(self, group: Revision) -> int:
        return self.work.available(group.pods, group.min_ready)

    def _old(self) -> list[Revision]:
        """The other ReplicaSets that have pods, oldest first."""
        return [group for group in self.work.groups if group.pods and group is not self.new]

    def _was_scaled(self) -> bool:
        return any(group.desired != self.desired for group in self.work.groups if group.pods)

    def _scale(self, group: Revision, size: int) -> bool:
        """Scale a ReplicaSet; whether it had another size."""
        group.desired, group.most = self.desired, self.desired + self.surge
        before = len(group.pods)
        for _ in range(size - before):
            self.work.make(group)
        if size < before:
            self.work.drop(self.work.least_needed(group.pods, before - size))
        return size != before

    def _made(self) -> Revision:
        """The new ReplicaSet, made without pods where it is not there."""
        is_new = self.new is None
        self.new = self.work.latest(self.spec.get("template"))
        if is_new:
            self.new.desired, self.new.most, self.new.min_ready = (
                self.desired,
                self.desired + self.surge,
                self.min_ready,
            )
        return self.new

    def _is_immediate(self, new: Revision) -> bool:
        """Whether new pods are available as soon as they are made, so that all steps there are follow at once."""
        at = self.work.ready_at(new.delay)
        is_at_once = at is not None and at <= self.work.now and self.min_ready == 0
        return is_at_once and self._available(new) == len(new.pods)

    def _grow(self, new: Revision) -> bool:
        """`reconcileNewReplicaSet`."""
        size = len(new.pods)
        if size >= self.desired:
            return size > self.desired and self._scale(new, self.desired)
        room = self.desired + self.surge - self.work.size
        return room > 0 and self._scale(new, size + min(room, self.desired - size))

    def _shrink_old(self, new: Revision) -> bool:
        """`reconcileOldReplicaSets`: what is not available goes first."""
        old = self._old()
        if not old:
            return False
        least, available = self.desired - self.unavailable, self._available(new)
        surplus = self.work.size - least - (len(new.pods) - available)
        if surplus <= 0:
            return False
        changed = False
        for group in old:
            unhealthy = min(surplus, len(group.pods) - self._available(group))
            if unhealthy > 0:
                changed = self._scale(group, len(group.pods) - unhealthy) or changed
                surplus -= unhealthy
        spare = available + sum(map(self._available, old)) - least
        for group in old:
            count = min(len(group.pods), spare)
            if count > 0:
                changed = self._scale(group, len(group.pods) - count) or changed
                spare -= count
        return changed

    def _scale_all(self) -> None:
        """`scale`: to another number of replicas, or while paused."""
        active = [group for group in self.work.groups if group.pods]
        if len(active) < 2:
            target = active[0] if active else self.new or next(reversed(self.work.groups), None)
            if target is not None and len(target.pods) != self.desired:
                self._scale(target, self.desired)
            return
        new = self.new
        if new is not None and len(new.pods) == new.desired == self._available(new) == self.desired:
            for group in self._old():
                self._scale(group, 0)
        elif not self.recreates:
            self._scale_in_proportion(active)

    def _scale_in_proportion(self, active: list[Revision]) -> None:
        """What is to be added or to go is spread over the ReplicaSets by their size, the remainder to the largest."""
        adding = (self.desired + self.surge if self.desired else 0) - self.work.size
        newer_first = list(reversed(active)) if adding > 0 else active
        ordered = sorted(newer_first, key=lambda group: len(group.pods), reverse=True)
        sizes, added = list[int](), 0
        for group in ordered:
            part = self._proportion(group, adding, adding - added)
            sizes.append(len(group.pods) + part)
            added += part
        sizes[0] = max(sizes[0] + adding - added, 0)
        for group, size in zip(ordered, sizes, strict=True):
            self._scale(group, size)

    def _proportion(self, group: Revision, adding: int, remainder: int) -> int:
        """`GetReplicaSetProportion`."""
        if adding == 0 or remainder == 0:
            return 0
        size = len(group.pods)
        if self.desired == 0:
            fraction = -size
        else:
            before = group.most or self.work.size
            fraction = floor(size * (self.desired + self.surge) / before + 0.5) - size
        return min(fraction, remainder) if adding > 0 else max(fraction, remainder)
