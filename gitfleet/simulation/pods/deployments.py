"""The Deployment controller: its ReplicaSets are revisions, and each has as many pods as it wants.

Mirrors kubernetes v1.36 pkg/controller/deployment: `rolling.go`, `recreate.go` and `sync.go` (scaling), with the
arithmetic of `util/deployment_util.go`; what they compute from statuses that lag is computed from the pods here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor
from typing import Any, Final

from gitfleet.simulation.pods.model import MOST_PODS, Revision, Spec, Status, number, section, share
from gitfleet.simulation.pods.work import Work

_NO_DEADLINE: Final = 2147483647
_MOST_STEPS: Final = 1000
_DEFAULT: Final = "25%"


@dataclass(slots=True)
class _Rollout:
    """One Deployment that is worked on."""

    work: Work
    template: Any
    wanted: int
    surge: int
    unavailable: int
    recreates: bool
    min_ready: int

    @property
    def new(self) -> Revision | None:
        return self.work.found(self.template)

    @property
    def active(self) -> list[Revision]:
        """The ReplicaSets that want pods, oldest first."""
        return [one for one in self.work.revisions if self.size(one)]

    @property
    def old(self) -> list[Revision]:
        new = self.new
        return [one for one in self.active if new is None or one.number != new.number]

    def size(self, revision: Revision) -> int:
        return len(self.work.of(revision.number))

    def available(self, revision: Revision) -> int:
        return self.work.available(self.work.of(revision.number), revision.min_ready)

    def scale(self, revision: Revision, size: int) -> bool:
        """Scale a ReplicaSet; whether it had another size."""
        pods = self.work.of(revision.number)
        self.work.keep(replace(revision, wanted=self.wanted, most=self.wanted + self.surge))
        for _ in range(size - len(pods)):
            self.work.make(revision)
        if size < len(pods):
            self.work.drop(self.work.least_needed(pods, len(pods) - size))
        return size != len(pods)


def roll(work: Work, spec: Spec) -> None:
    """Do what the controller does at this moment, until it has nothing more to do."""
    rollout = _rollout_of(work, spec)
    new = rollout.new
    if new is not None and new.min_ready != rollout.min_ready:
        work.keep(replace(new, min_ready=rollout.min_ready))
    if spec.get("paused") is True:
        _scale_all(rollout)
        return
    if any(one.wanted != rollout.wanted for one in rollout.active):
        _scale_all(rollout)
        if any(one.wanted != rollout.wanted for one in rollout.active):
            return  # the real one does no more either while the numbers differ
    for _ in range(_MOST_STEPS):
        if rollout.recreates:
            _recreate(rollout)
            return
        if not (_grow_new(rollout) or _shrink_old(rollout)):
            return


def is_held(spec: Spec) -> bool:
    """Whether something in the spec may keep it in the middle."""
    return spec.get("paused") is True or number(spec.get("minReadySeconds"), 0) > 0


def is_complete(work: Work, spec: Spec) -> bool:
    """Whether all pods are of the newest template and available, and no other is left."""
    rollout = _rollout_of(work, spec)
    new = rollout.new
    updated = 0 if new is None else rollout.available(new)
    return updated == rollout.wanted == len(work.pods)


def status(work: Work, spec: Spec) -> Status:
    """The counts of apps/v1, a zero left out, and the conditions without their times."""
    rollout = _rollout_of(work, spec)
    new = rollout.new
    total, available = len(work.pods), sum(rollout.available(one) for one in rollout.active)
    counts = {
        "replicas": total,
        "updatedReplicas": 0 if new is None else rollout.size(new),
        "readyReplicas": work.ready(work.pods),
        "availableReplicas": available,
        "unavailableReplicas": total - available,
    }
    shown: Status = {name: count for name, count in counts.items() if count}
    most = 0 if rollout.recreates else min(rollout.unavailable, rollout.wanted)
    enough = available >= rollout.wanted - most
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    shown["conditions"] = [{"type": "Available", "status": "True" if enough else "False", "reason": reason}]
    if number(spec.get("progressDeadlineSeconds"), 600) != _NO_DEADLINE:
        shown["conditions"].append(_progressing(work, spec))
    return shown


def _progressing(work: Work, spec: Spec) -> Status:
    if spec.get("paused") is True:
        return {"type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused"}
    reason = "NewReplicaSetAvailable" if is_complete(work, spec) else "ReplicaSetUpdated"
    return {"type": "Progressing", "status": "True", "reason": reason}


def _rollout_of(work: Work, spec: Spec) -> _Rollout:
    wanted = number(spec.get("replicas"), 1)
    recreates = section(spec, "strategy").get("type") == "Recreate"
    rolling = section(spec, "strategy", "rollingUpdate")
    surge = 0 if recreates else min(share(rolling.get("maxSurge"), _DEFAULT, wanted, up=True), MOST_PODS)
    unavailable = 0 if recreates else share(rolling.get("maxUnavailable"), _DEFAULT, wanted, up=False)
    if not recreates and surge == unavailable == 0:
        unavailable = 1
    min_ready = number(spec.get("minReadySeconds"), 0)
    return _Rollout(work, spec.get("template"), wanted, surge, unavailable, recreates, min_ready)


def _made(rollout: _Rollout) -> Revision:
    """The new ReplicaSet, made without pods where it is not there."""
    known = rollout.new
    new = rollout.work.latest(rollout.template)
    if known is None:
        most = rollout.wanted + rollout.surge
        new = rollout.work.keep(replace(new, wanted=rollout.wanted, most=most, min_ready=rollout.min_ready))
    return new


def _recreate(rollout: _Rollout) -> None:
    for one in rollout.old:
        rollout.scale(one, 0)
    rollout.scale(_made(rollout), rollout.wanted)


def _grow_new(rollout: _Rollout) -> bool:
    """`reconcileNewReplicaSet`."""
    new = _made(rollout)
    size = rollout.size(new)
    if size >= rollout.wanted:
        return size > rollout.wanted and rollout.scale(new, rollout.wanted)
    room = rollout.wanted + rollout.surge - len(rollout.work.pods)
    return room > 0 and rollout.scale(new, size + min(room, rollout.wanted - size))


def _shrink_old(rollout: _Rollout) -> bool:
    """`reconcileOldReplicaSets`: what is not available goes first."""
    new, old = _made(rollout), rollout.old
    least = rollout.wanted - min(rollout.unavailable, rollout.wanted)
    most = len(rollout.work.pods) - least - (rollout.size(new) - rollout.available(new))
    if not old or most <= 0:
        return False
    changed, left = False, most
    for one in old:
        unhealthy = min(left, rollout.size(one) - rollout.available(one))
        if unhealthy > 0:
            changed = rollout.scale(one, rollout.size(one) - unhealthy) or changed
            left -= unhealthy
    spare = sum(rollout.available(one) for one in rollout.active) - least
    for one in rollout.old:
        count = min(rollout.size(one), spare)
        if count > 0:
            changed = rollout.scale(one, rollout.size(one) - count) or changed
            spare -= count
    return changed


def _scale_all(rollout: _Rollout) -> None:
    """`scale`: to another number of replicas, or while paused."""
    new, active = rollout.new, rollout.active
    if len(active) < 2:
        target = active[0] if active else new or next(reversed(rollout.work.revisions), None)
        if target is not None and rollout.size(target) != rollout.wanted:
            rollout.scale(target, rollout.wanted)
        return
    full = new is not None and rollout.size(new) == new.wanted == rollout.available(new) == rollout.wanted
    if full:
        for one in rollout.old:
            rollout.scale(one, 0)
    elif not rollout.recreates:
        _scale_in_proportion(rollout, active)


def _scale_in_proportion(rollout: _Rollout, active: list[Revision]) -> None:
    """What is to be added or to go is spread over the ReplicaSets by their size, the remainder to the largest."""
    allowed = rollout.wanted + rollout.surge if rollout.wanted else 0
    adding = allowed - len(rollout.work.pods)
    newer_first = list(reversed(active)) if adding > 0 else active
    ordered = sorted(newer_first, key=rollout.size, reverse=True)
    sizes, added = {}, 0
    for one in ordered:
        part = _proportion(rollout, one, adding, adding - added)
        sizes[one.number] = rollout.size(one) + part
        added += part
    if adding:
        largest = ordered[0].number
        sizes[largest] = max(sizes[largest] + adding - added, 0)
    for one in ordered:
        rollout.scale(one, sizes[one.number])


def _proportion(rollout: _Rollout, revision: Revision, adding: int, left: int) -> int:
    """`GetReplicaSetProportion`."""
    if adding == 0 or left == 0:
        return 0
    size = rollout.size(revision)
    if rollout.wanted == 0:
        fraction = -size
    else:
        before = revision.most or len(rollout.work.pods)
        fraction = floor(size * (rollout.wanted + rollout.surge) / before + 0.5) - size
    return min(fraction, left) if adding > 0 else max(fraction, left)
