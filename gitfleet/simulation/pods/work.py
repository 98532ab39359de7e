"""A workload's pods while its controller is at work."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from gitfleet.simulation.pods.model import NEVER_AVAILABLE, Moment, Pod, Revision, Workload


@dataclass(slots=True)
class Work:
    """The pods of one workload, to be changed until they are as the controller wants them. Making and deleting a pod
    takes no time; becoming ready takes what the rules say."""

    moment: Moment
    since: datetime
    revisions: list[Revision] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    current: int = 0
    made: int = 0

    @classmethod
    def on(cls, workload: Workload, moment: Moment) -> Work:
        """Work that goes on from a value."""
        revisions, pods = list(workload.revisions), list(workload.pods)
        return cls(moment, workload.since, revisions, pods, workload.current, workload.made)

    def done(self) -> Workload:
        """The value that was made, without revisions that nothing refers to."""
        used = {pod.revision for pod in self.pods} | {self.current} | {one.number for one in self.revisions[-1:]}
        kept = tuple(one for one in self.revisions if one.number in used)
        return Workload(since=self.since, revisions=kept, pods=tuple(self.pods), current=self.current, made=self.made)

    def found(self, template: Any) -> Revision | None:
        """The revision of a template, if it has one."""
        same = (one for one in reversed(self.revisions) if one.template is template or one.template == template)
        return next(same, None)

    def numbered(self, number: int) -> Revision | None:
        """The revision of a number."""
        return next((one for one in self.revisions if one.number == number), None)

    def latest(self, template: Any) -> Revision:
        """The revision of a template, made now if it is new, and the newest from now on."""
        known = self.found(template)
        if known is not None and known is self.revisions[-1]:
            return known
        if known is None:
            highest = max((one.number for one in self.revisions), default=0)
            known = Revision(highest + 1, template, self.moment.delay_of(template))
        else:
            self.revisions.remove(known)
        self.revisions.append(known)
        return known

    def keep(self, revision: Revision) -> Revision:
        """Put a changed revision in its place."""
        places = {one.number: place for place, one in enumerate(self.revisions)}
        self.revisions[places[revision.number]] = revision
        return revision

    def begin(self) -> None:
        """The delays count from now on, by the rules of now; a pod that would never be ready gets another chance."""
        self.since = self.moment.now
        self.revisions = [replace(one, delay=self.moment.delay_of(one.template)) for one in self.revisions]
        at = {one.number: self.ready_at(one) for one in self.revisions}
        self.pods = [pod._replace(ready=at[pod.revision]) if pod.ready is None else pod for pod in self.pods]

    def ready_at(self, revision: Revision) -> datetime | None:
        """When a pod that is made now is ready."""
        if not isinstance(revision.delay, timedelta):
            return None
        return max(self.moment.now, self.since + revision.delay)

    def make(self, revision: Revision, place: int | None = None) -> Pod:
        """A new pod, the last of the list."""
        serial = self.made
        self.made += 1
        at = serial if place is None else place
        pod = Pod(serial, at, revision.number, self.moment.now, self.ready_at(revision))
        self.pods.append(pod)
        return pod

    def drop(self, gone: Iterable[Pod]) -> None:
        """Delete pods."""
        serials = {pod.serial for pod in gone}
        self.pods = [pod for pod in self.pods if pod.serial not in serials]

    def of(self, number: int) -> list[Pod]:
        """The pods of a revision."""
        return [pod for pod in self.pods if pod.revision == number]

    def is_ready(self, pod: Pod) -> bool:
        """Whether a pod is Ready now."""
        return pod.ready is not None and pod.ready <= self.moment.now

    def is_available(self, pod: Pod, min_ready: int) -> bool:
        """Whether a pod has been ready for so many seconds."""
        moment = available_at(pod, min_ready)
        return moment is not None and moment <= self.moment.now

    def ready(self, pods: Iterable[Pod]) -> int:
        """How many are ready."""
        return sum(map(self.is_ready, pods))

    def available(self, pods: Iterable[Pod], min_ready: int) -> int:
        """How many are available."""
        return sum(self.is_available(pod, min_ready) for pod in pods)

    def least_needed(self, pods: Collection[Pod], count: int) -> list[Pod]:
        """The pods that a controller deletes first: those that are not ready, then those that were ready last, then
        those that were made last (kubernetes pkg/controller `ActivePodsWithRanks`)."""
        far = self.moment.now + timedelta(days=1)
        ranked = sorted(pods, key=lambda pod: (self.is_ready(pod), far - (pod.ready or far), -pod.serial))
        return ranked[:count]


def available_at(pod: Pod, min_ready: int) -> datetime | None:
    """When a pod becomes available; None: never."""
    if pod.ready is None or min_ready >= NEVER_AVAILABLE:
        return None
    try:
        return pod.ready + timedelta(seconds=min_ready)
    except OverflowError:  # after the year 9999
        return None
