"""What a rollout needs to know of a kind of workload: the plug-in point of the seed (scale the resources, determine the
health of the workload, report how many replicas are upgraded and ready)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.held_fields import Fields
from gitfleet.workload.handlers.reading import (
    REPLICAS,
    chooses_itself,
    name_of,
    number,
    pods_there,
    target_key,
    unseen,
    unstable,
)
from gitfleet.workload.handlers.replicas import is_pair, pair_counts, pair_sizes, scale_counts, scaled_size
from gitfleet.workload.handlers.templates import stored_template
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
            held = goal.mode is RolloutMode.SCALE or seen.target is not None
            size = scaled_size(seen, goal, step)
            return Scaling(fields={key: {REPLICAS: size}} if key is not None and held else {})
        target, sources = pair_sizes(seen, goal, step)
        fields: dict[ObjectKey, Fields] = {one.key: {REPLICAS: n} for one, n in zip(seen.sources, sources, strict=True)}
        if key is not None:
            fields[key] = {REPLICAS: target}
        return Scaling(fields=fields)


HandlerFactory: TypeAlias = Callable[[], WorkloadHandler]
Handlers: TypeAlias = Mapping[GroupKind, WorkloadHandler]
"""By the kind of the workload."""
