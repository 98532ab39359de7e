"""StatefulSet: the controller upgrades the pods from the highest ordinal down to `partition`, one after the other
(kubernetes pkg/controller/statefulset/stateful_set_control.go). It counts from the first ordinal, whatever that is.
"""

from __future__ import annotations

from typing import Final

from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, Fields
from gitfleet.workload.handlers.base import OneObject, counts_of_pods
from gitfleet.workload.handlers.reading import (
    REPLICAS,
    asked,
    given_back,
    is_ending,
    is_ready,
    is_seen,
    kept_fields,
    label,
    name_of,
    number,
    of_manifest,
    pods_there,
    target_key,
    text,
)
from gitfleet.workload.handlers.replicas import until_seen
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads
from gitfleet.workload.texts import WorkloadText

TYPE: Final = "/spec/updateStrategy/type"
PARTITION: Final = "/spec/updateStrategy/rollingUpdate/partition"
_ROLLING: Final = "/spec/updateStrategy/rollingUpdate"
REVISION: Final = "controller-revision-hash"
"""The label of a pod that names its revision."""


class StatefulSetHandler(OneObject):
    """`updateStrategy.rollingUpdate.partition` is moved."""

    needs_pods = True

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Pods are upgraded in the order of their ordinals alone."""
        if refusal := super().refusal(seen, goal):
            return refusal
        if goal.pod_list and goal.mode is RolloutMode.IN_PLACE:
            names = _next_pods(seen, goal.size, len(goal.pod_list))
            if set(names) != set(goal.pod_list):
                return WorkloadText.UPGRADES_PODS_FROM_HIGHEST_ORDINAL(
                    name_of=name_of(seen), names=", ".join(names[:10]), part=", ..." if len(names) > 10 else ""
                )
        return ""

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """By the pods' revisions."""
        live = seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None:
            return super().counts(seen, goal)
        newest = text(live.body, "/status/updateRevision")
        upgraded = [pod for pod in seen.pods if newest and label(pod, REVISION) == newest]
        asked_for = asked(live) - min(asked(live), number(live.body, PARTITION))
        present = sum(not is_ending(pod) for pod in upgraded)
        observed = is_seen(live) and pods_there(live) == asked(live) and present >= asked_for
        return until_seen(counts_of_pods(seen.pods, upgraded, observed), seen, goal)

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """The partition; to go back, the pods that have the newer revision too, and to go on, one that is not ready."""
        key, live = target_key(seen), seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None or key is None:
            return super().scale(seen, goal, step)
        reverts = step is Step.REVERT and not self.irreversible(seen, goal)
        fields = _fields(seen, live, goal, step, reverts=reverts)
        is_raised = number(live.body, PARTITION) >= asked(live) and is_seen(live)
        if reverts and is_raised:
            return Scaling(fields={key: fields}, pods=_next_to_go(seen, live))
        moves = step in (Step.FIRST, Step.SECOND) and is_seen(live)
        return Scaling(fields={key: fields}, pods=_in_the_way(seen, live, goal) if moves else ())

    def _stands_still(self, live: LiveObject) -> bool:
        return asked(live) <= number(live.body, PARTITION)


def _fields(seen: Workloads, live: LiveObject, goal: Goal, step: Step, *, reverts: bool) -> Fields:
    if step is Step.RELEASE:
        size = of_manifest(seen, REPLICAS, goal.size)
        if given_back(seen, TYPE) == "OnDelete":
            return {REPLICAS: size, TYPE: "OnDelete", _ROLLING: ABSENT}
        return {REPLICAS: size, TYPE: "RollingUpdate", PARTITION: 0}
    if step is Step.KEEP or (step is Step.REVERT and not reverts):
        return kept_fields(live.body, (REPLICAS, TYPE, PARTITION))
    if step is Step.HOLD:
        return {REPLICAS: asked(live), TYPE: "RollingUpdate", PARTITION: asked(live)}
    upgraded = goal.upgraded if step in (Step.FIRST, Step.SECOND) else 0
    return {REPLICAS: goal.size, TYPE: "RollingUpdate", PARTITION: max(0, goal.size - upgraded)}


def _next_pods(seen: Workloads, size: int, count: int) -> list[str]:
    """The pods that are upgraded first, in that order."""
    live = seen.target
    start = number(live.body, "/spec/ordinals/start") if live is not None else 0
    name = live.key.name if live is not None else ""
    return [f"{name}-{start + size - 1 - index}" for index in range(min(count, size))]


def _next_to_go(seen: Workloads, live: LiveObject) -> tuple[LiveObject, ...]:
    """The pod that goes next for one of the revision of before to come: one that is not ready, else the one with the
    highest ordinal once all are ready."""
    newest = text(live.body, "/status/updateRevision")
    if len(seen.pods) < asked(live) or any(map(is_ending, seen.pods)):
        return ()
    newer = sorted((pod for pod in seen.pods if label(pod, REVISION) == newest), key=_ordinal, reverse=True)
    failing = [pod for pod in newer if not is_ready(pod)]
    return tuple((failing or (newer if all(map(is_ready, seen.pods)) else []))[:1])


def _in_the_way(seen: Workloads, live: LiveObject, goal: Goal) -> tuple[LiveObject, ...]:
    """The pod that is not ready, and that its controller would replace by one of the newest revision, were it ready:
    with OrderedReady it waits for it, for ever where what failed is an older revision. The lowest ordinal goes first,
    as its controller waits for it first."""
    newest = text(live.body, "/status/updateRevision")
    if not newest or len(seen.pods) < asked(live) or any(map(is_ending, seen.pods)):
        return ()
    first = number(live.body, "/spec/ordinals/start") + goal.size - goal.upgraded
    outdated = (pod for pod in seen.pods if label(pod, REVISION) not in ("", newest))
    failing = (pod for pod in outdated if not is_ready(pod) and _ordinal(pod) >= first)
    return tuple(sorted(failing, key=_ordinal)[:1])


def _ordinal(pod: LiveObject) -> int:
    last = pod.key.name.rpartition("-")[2]
    return int(last) if last.isdecimal() else -1
