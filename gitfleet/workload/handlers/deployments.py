"""Deployment: from source to target, another size, or in place."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.rollout_fields import ABSENT, NEVER_AVAILABLE, FieldValue, value_at
from gitfleet.workload.handlers.base import WorkloadHandler
from gitfleet.workload.handlers.deployment_in_place import MIN_READY, in_place_counts, in_place_fields, outdated_fields
from gitfleet.workload.handlers.reading import (
    PAUSED,
    asked,
    chooses_itself,
    has_older_pods,
    name_of,
    number,
    target_key,
    updated_there,
)
from gitfleet.workload.handlers.replicas import is_pair, pair_counts
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads
from gitfleet.workload.texts import WorkloadText


class DeploymentHandler(WorkloadHandler):
    """`spec.paused` is moved besides. One that was made while it was paused has no pods, whatever it asks for."""

    needs_pods = True

    def size(self, workload: JsonObject) -> int:
        """What it asks for, unless it has been paused since it was made."""
        is_live = value_at(workload, "/metadata/uid") is not ABSENT
        if is_live and value_at(workload, PAUSED) is True and not number(workload, "/status/replicas"):
            return 0
        return super().size(workload)

    def has_older_pods(self, workload: JsonObject) -> bool:
        """By its status."""
        return has_older_pods(workload)

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Its controller chooses the pods."""
        if goal.pod_list:
            return chooses_itself(seen)
        return ""

    def irreversible(self, seen: Workloads, goal: Goal) -> str:
        """In place, the template of before is gone from the object: a snapshot has to say it."""
        if goal.mode is not RolloutMode.IN_PLACE or seen.before is not None:
            return ""
        return WorkloadText.NO_LONGER_TEMPLATE_BEFORE(name_of=name_of(seen))

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """By the status of the Deployments; in place by that of its ReplicaSets too."""
        if goal.mode is RolloutMode.IN_PLACE:
            return in_place_counts(seen, goal)
        if goal.mode is RolloutMode.SOURCE_TO_TARGET and seen.target is not None:
            return pair_counts(seen, goal, updated_there(seen.target.body))
        return super().counts(seen, goal)

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """replicas of all, and `paused` of the target; in place its strategy too."""
        key = target_key(seen)
        if key is None or goal.mode is RolloutMode.SCALE:
            return super().scale(seen, goal, step)
        if not is_pair(seen, goal, step):
            fields = in_place_fields(seen, goal, step)
            return Scaling(fields={key: fields, **outdated_fields(seen, step)} if fields else {})
        moved = super().scale(seen, goal, step).fields
        # The pods of a source that was rolled out in place half way would go on being replaced as it gets smaller.
        amid = [source.key for source in seen.sources if number(source.body, MIN_READY) == NEVER_AVAILABLE]
        stopped = {source: {**moved[source], PAUSED: step is not Step.RELEASE} for source in amid if source in moved}
        return Scaling(fields={**moved, **stopped, key: {**moved[key], PAUSED: _paused(seen, step)}})


def _paused(seen: Workloads, step: Step) -> FieldValue:
    """Whether the target of a pair is paused: only so that nothing moves while it gets other content."""
    live = seen.target
    if live is None or step not in (Step.HOLD, Step.KEEP):
        return False
    return True if step is Step.HOLD and asked(live) else value_at(live.body, PAUSED)
