"""A workload's pods while its controller is at work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from gitfleet.api.scenarios import Delay
from gitfleet.simulation.pods.model import (
    NEVER_AVAILABLE,
    Moment,
    Pod,
    Revision,
    Spec,
    Status,
    Workload,
    copy_of,
    number,
)

_DAY: Final = timedelta(days=1)


class Work:
    """The pods of one workload, to be changed until they are as the controller wants them. Making and deleting a pod
    takes no time; becoming ready takes what the rules say."""

    __slots__ = ("current", "groups", "made", "moment", "now", "since")

    def __init__(self, workload: Workload, moment: Moment) -> None:
        """Work that goes on from a value."""
        self.moment, self.now, self.since = moment, moment.now, workload.since
        self.groups = [copy_of(revision) for revision in workload.revisions]
        self.current, self.made = workload.current, workload.made

    def done(self) -> Workload:
        """The value that was made, without revisions that nothing refers to."""
        last = self.groups[-1:]
        groups = (group for group in self.groups if group.pods or group.number == self.current or group in last)
        return Workload(self.since, tuple(map(copy_of, groups)), self.current, self.made)

    def begin(self) -> None:
        """The delays count from now on, by the rules of now; a pod that would never be ready gets another chance."""
        self.since = self.now
        for group in self.groups:
            group.delay = self.moment.delay_of(group.template)
            at = self.ready_at(group.delay)
            group.pods = [pod._replace(ready=at) if pod.ready is None else pod for pod in group.pods]

    @property
    def pods(self) -> list[Pod]:
        """The pods of all revisions."""
        return [pod for group in self.groups for pod in group.pods]

    @property
    def size(self) -> int:
        """How many pods there are."""
        return sum(len(group.pods) for group in self.groups)

    def revision_of(self, template: Any) -> Revision | None:
        """The revision of a template, if it has one."""
        for group in reversed(self.groups):
            if group.template is template or group.template == template:
                return group
        return None

    def count_as_newest(self, group: Revision) -> None:
        """The group's number is the highest from now on."""
        highest = max(candidate.number for candidate in self.groups)
        if group.number != highest:
            group.number = highest + 1
            group.pods = [pod._replace(revision=group.number) for pod in group.pods]

    def numbered(self, revision: int) -> Revision | None:
        """The revision of a number."""
        return next((group for group in self.groups if group.number == revision), None)

    def latest(self, template: Any) -> Revision:
        """The revision of a template, made now if it is new, and the newest from now on."""
        existing = self.revision_of(template)
        if existing is None:
            highest = max((group.number for group in self.groups), default=0)
            existing = Revision(highest + 1, template, self.moment.delay_of(template))
        elif existing is self.groups[-1]:
            return existing
        else:
            self.groups.remove(existing)
        self.groups.append(existing)
        return existing

    def ready_at(self, delay: Delay) -> datetime | None:
        """When a pod that is made now is ready; None: never."""
        return max(self.now, self.since + delay) if isinstance(delay, timedelta) else None

    def make(self, group: Revision, place: int | None = None) -> Pod:
        """A new pod, the last of its revision."""
        serial = self.made
        self.made += 1
        at = serial if place is None else place
        pod = Pod(serial, at, group.number, self.now, self.ready_at(group.delay))
        group.pods.append(pod)
        return pod

    def drop(self, pods: Iterable[Pod]) -> None:
        """Delete pods."""
        serials = {pod.serial for pod in pods}
        for group in self.groups if serials else ():
            group.pods = [pod for pod in group.pods if pod.serial not in serials]

    def is_available(self, pod: Pod, min_ready: int = 0) -> bool:
        """Whether a pod has been ready for so many seconds; for 0: whether it is ready."""
        if pod.ready is None or min_ready >= NEVER_AVAILABLE:
            return False
        return pod.ready <= (self.now - timedelta(seconds=min_ready) if min_ready else self.now)

    def available(self, pods: Iterable[Pod], min_ready: int = 0) -> int:
        """How many are available."""
        if min_ready >= NEVER_AVAILABLE:
            return 0
        at = self.now - timedelta(seconds=min_ready) if min_ready else self.now
        return sum([pod.ready is not None and pod.ready <= at for pod in pods])

    def ready(self) -> int:
        """How many pods are ready."""
        return sum(self.available(group.pods) for group in self.groups)

    def least_needed(self, pods: Collection[Pod], count: int) -> list[Pod]:
        """The pods that a controller deletes first: those that are not ready, then those that were ready last, then
        those that were made last (kubernetes pkg/controller `ActivePodsWithRanks`)."""
        far = self.now + _DAY
        ranked = sorted(pods, key=lambda pod: (self.is_available(pod), far - (pod.ready or far), -pod.serial))
        return ranked[:count]

    def next_change(self, min_ready: int | None) -> datetime | None:
        """When the next pod becomes ready or available; `min_ready` None: by what its revision says."""
        moments = []
        for group in self.groups:
            seconds = group.min_ready if min_ready is None else min_ready
            for pod in group.pods:
                if pod.ready is None:
                    continue
                if pod.ready > self.now:
                    moments.append(pod.ready)
                elif 0 < seconds < NEVER_AVAILABLE and (at := pod.ready + timedelta(seconds=seconds)) > self.now:
                    moments.append(at)
        return min(moments, default=None)


class Controller(ABC):
    """What controls the pods of one kind of workload: at work on one of them."""

    def __init__(self, work: Work, spec: Spec) -> None:
        self.work, self.spec = work, spec
        self.min_ready = number(spec.get("minReadySeconds"), 0)

    @property
    def may_halt(self) -> bool:
        """Whether something in the spec may keep it in the middle."""
        return self.min_ready > 0

    @property
    def is_complete(self) -> bool:
        """Whether all is as the spec wants it."""
        return False

    @property
    def revision(self) -> int | None:
        """The number of the newest content, where the kind writes it into the object and it is known."""
        return None

    @abstractmethod
    def roll(self) -> None:
        """Do what the controller does at this moment, until it has nothing more to do."""

    @abstractmethod
    def status(self) -> Status:
        """Its counts as its kind has them, with numbers as the names of revisions, and conditions without times."""

    def next_change(self) -> datetime | None:
        """When the next pod becomes ready or available."""
        return self.work.next_change(self.min_ready)
