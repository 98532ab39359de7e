"""What a rollout needs to know of a kind of workload: the plug-in point of the seed (scale the resources, determine the
health of the workload, report how many replicas are upgraded and ready)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import Fields
from gitfleet.workload.handlers.reading import (
    REPLICAS,
    chooses_itself,
    has_older_pods,
    is_ending,
    is_ready,
    is_seen,
    name_of,
    number,
    pods_there,
    stored_template,
    target_key,
    text,
    unseen,
    unstable,
)
from gitfleet.workload.handlers.replicas import is_pair, pair_counts, pair_sizes, scale_counts, scaled_size
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads
from gitfleet.workload.texts import WorkloadText


class WorkloadHandler:
    """One kind of workload. All that is not overridden is that of one whose `spec.replicas` alone is moved, whose
    `status` has `replicas`, `readyReplicas` and `observedGeneration`, and whose pods are made of `spec.template`."""

    needs_pods: ClassVar[bool] = False
    """Whether it is to be given the pods of the target, or, of a Deployment, its ReplicaSets, while it is rolled out in
    place."""

    def size(self, workload: JsonObject) -> int:
        """How many pods a workload asks for."""
        return number(workload, REPLICAS, 1)

    def template(self, workload: JsonObject) -> JsonObject:
        """The part of a workload of which pods are made: a rollout begins where it differs."""
        return stored_template(workload)

    def has_older_pods(self, workload: JsonObject) -> bool:
        """Whether a live workload has pods of older content, as its own status says: where a rollout left it half way,
        or nobody has rolled its newest content out. No kind says so that does not override this."""
        return False

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Why such a rollout cannot be carried out on such workloads, in one sentence; "" where it can."""
        if goal.mode is RolloutMode.IN_PLACE:
            return WorkloadText.MOVED_SPEC_REPLICAS_ALONE(name_of=name_of(seen))
        if goal.pod_list:
            return chooses_itself(seen)
        return ""

    def irreversible(self, seen: Workloads, goal: Goal) -> str:
        """Why REVERT keeps the pods as they are, in one sentence; "" where it brings those of before back."""
        return ""

    def health(self, seen: Workloads) -> str:
        """Why the workloads are not stable, in half a sentence; "" where they are. Sources need only be seen by their
        controllers: their pods go, those that are not ready first."""
        target = unstable(seen.target) if seen.target is not None else ""
        return next(filter(None, (target, *map(unseen, seen.sources))), "")

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """How many pods are upgraded and ready."""
        if goal.mode is RolloutMode.SCALE:
            return scale_counts(seen)
        return pair_counts(seen, goal, pods_there(seen.target))

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """What the fields are to be for a step, of every workload that is there, and of the target where it is still to
        be made; the same for the same arguments, and for as long as the step lasts."""
        key = target_key(seen)
        if not is_pair(seen, goal, step):
            is_sized = goal.mode is RolloutMode.SCALE or seen.target is not None
            size = scaled_size(seen, goal, step)
            return Scaling(fields={key: {REPLICAS: size}} if key is not None and is_sized else {})
        target, sources = pair_sizes(seen, goal, step)
        fields: dict[ObjectKey, Fields] = {
            source.key: {REPLICAS: n} for source, n in zip(seen.sources, sources, strict=True)
        }
        if key is not None:
            fields[key] = {REPLICAS: target}
        return Scaling(fields=fields)


HandlerFactory: TypeAlias = Callable[[], WorkloadHandler]
Handlers: TypeAlias = Mapping[GroupKind, WorkloadHandler]
"""By the kind of the workload."""


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
    present = [pod for pod in pods if not is_ending(pod)]
    new, old = [pod for pod in present if pod.key in newer], [pod for pod in present if pod.key not in newer]
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
