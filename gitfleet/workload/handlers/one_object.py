"""Workloads that have pods of both contents in one object: what is common to them."""

from __future__ import annotations

from collections.abc import Sequence

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.workload.handlers.base import WorkloadHandler
from gitfleet.workload.handlers.reading import has_older_pods, is_ending, is_ready, is_seen, name_of, text
from gitfleet.workload.handlers.values import Counts, Goal, Workloads
from gitfleet.workload.texts import WorkloadText


class OneObject(WorkloadHandler):
    """They are rolled out in place, or to another size."""

    def has_older_pods(self, workload: JsonObject) -> bool:
        """By its status."""
        return has_older_pods(workload)

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """There is no older workload beside it."""
        if goal.mode is RolloutMode.SOURCE_TO_TARGET or seen.sources:
            return WorkloadText.PODS_BOTH_CONTENTS_ITSELF(name_of=name_of(seen))
        return ""

    def irreversible(self, seen: Workloads, goal: Goal) -> str:
        """Its controller makes pods of the revision of before only while some pod has it."""
        if goal.mode is RolloutMode.IN_PLACE and seen.target is not None and has_one_revision(seen.target):
            return WorkloadText.NO_LONGER_REVISION_BEFORE(name_of=name_of(seen))
        return ""

    def health(self, seen: Workloads) -> str:
        """Where nothing moves in it, whatever content it gets, it need only be seen: new content may repair it."""
        live = seen.target
        if live is not None and is_seen(live) and self._stands_still(live):
            return ""
        return super().health(seen)

    def _stands_still(self, live: LiveObject) -> bool:
        return False


def counts_of_pods(pods: Sequence[LiveObject], upgraded: Sequence[LiveObject], observed: bool) -> Counts:
    """The counts of pods, of which some are upgraded; those that are ending do not count."""
    newer = {pod.key for pod in upgraded}
    there = [pod for pod in pods if not is_ending(pod)]
    new, old = [pod for pod in there if pod.key in newer], [pod for pod in there if pod.key not in newer]
    return Counts(
        upgraded=len(new),
        upgraded_ready=sum(map(is_ready, new)),
        old=len(old),
        old_ready=sum(map(is_ready, old)),
        observed=observed,
    )


def has_one_revision(live: LiveObject) -> bool:
    """Whether its controller has given up the revision of before: all pods have had the newer content."""
    current, update = text(live.body, "/status/currentRevision"), text(live.body, "/status/updateRevision")
    return not current or current == update
