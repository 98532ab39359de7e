"""DaemonSet: its controller makes pods of the newer content where one is missing and, by `updateStrategy: OnDelete`,
takes none away: the rollout does, node by node.

A pod has the newer content if its label `pod-template-generation` is the DaemonSet's annotation
`deprecated.daemonset.template.generation`, which the API server raises in the very write that changes the template
(kubernetes pkg/registry/apps/daemonset/strategy.go), or if it has the revision of such a pod
(pkg/controller/daemon/util IsPodUpdated).
"""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import value_at
from gitfleet.workload.handlers.base import OneObject, counts_of_pods
from gitfleet.workload.handlers.reading import (
    given_back,
    is_ending,
    is_ready,
    is_seen,
    label,
    name_of,
    number,
    text,
    unseen,
)
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads
from gitfleet.workload.texts import WorkloadText

TYPE: Final = "/spec/updateStrategy/type"
GENERATION: Final = "/metadata/annotations/deprecated.daemonset.template.generation"
_POD_GENERATION: Final = "pod-template-generation"
_REVISION: Final = "controller-revision-hash"
_DESIRED: Final = "/status/desiredNumberScheduled"


class DaemonSetHandler(OneObject):
    """Pods of the batch are deleted: those that are not ready first, then by the names of their nodes, or those that
    podList names. At most `unavailable` pods, and one at least, are not ready meanwhile."""

    needs_pods = True

    def size(self, workload: JsonObject) -> int:
        """As many as there are nodes for it; none in a manifest."""
        return number(workload, _DESIRED)

    def has_older_pods(self, workload: JsonObject) -> bool:
        """By its status."""
        return number(workload, "/status/currentNumberScheduled") > number(workload, "/status/updatedNumberScheduled")

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Its size follows from the nodes."""
        if refusal := super().refusal(seen, goal):
            return refusal
        if goal.mode is RolloutMode.SCALE:
            return WorkloadText.POD_EVERY_NODE_SELECTS(name_of=name_of(seen))
        if seen.target is not None and not text(seen.target.body, GENERATION):
            return WorkloadText.SERVER_NOT_SAY_TEMPLATE(name_of=name_of(seen), generation=GENERATION[22:])
        return ""

    def irreversible(self, seen: Workloads, goal: Goal) -> str:
        """New pods always have the newest template."""
        return WorkloadText.MAKES_PODS_NEWEST_TEMPLATE_ALONE(name_of=name_of(seen))

    def health(self, seen: Workloads) -> str:
        """By its own status."""
        live = seen.target
        if live is None:
            return ""
        if why := unseen(live):
            return why
        desired, ready = number(live.body, _DESIRED), number(live.body, "/status/numberReady")
        if ready >= desired or self._stands_still(live):
            return ""
        return WorkloadText.PODS_READY(ready=ready, wanted=desired, live=live.key)

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """By the pods. A node that is gone needs no pod any more: it counts as upgraded."""
        live = seen.target
        if live is None:
            return Counts(observed=False)
        desired, present = number(live.body, _DESIRED), sum(not is_ending(pod) for pod in seen.pods)
        counts = counts_of_pods(seen.pods, _upgraded(seen, live), is_seen(live) and present >= desired)
        missing = max(0, goal.size - max(desired, present))
        return Counts(
            upgraded=counts.upgraded + missing,
            upgraded_ready=counts.upgraded_ready + missing,
            old=counts.old,
            old_ready=counts.old_ready,
            observed=counts.observed,
        )

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """Its strategy, and the pods that go now."""
        live = seen.target
        if live is None:
            return Scaling(fields={})
        if step is Step.RELEASE:
            return Scaling(fields={live.key: {TYPE: given_back(seen, TYPE, "RollingUpdate")}})
        rolls = step in (Step.FIRST, Step.SECOND) and self._stands_still(live) and is_seen(live)
        pods = _going(seen, live, goal, self.counts(seen, goal)) if rolls else ()
        return Scaling(fields={live.key: {TYPE: "OnDelete"}}, pods=pods)

    def _stands_still(self, live: LiveObject) -> bool:
        return value_at(live.body, TYPE) == "OnDelete"


def _upgraded(seen: Workloads, live: LiveObject) -> tuple[LiveObject, ...]:
    generation = text(live.body, GENERATION)
    newest = [pod for pod in seen.pods if generation and label(pod, _POD_GENERATION) == generation]
    revisions = {label(pod, _REVISION) for pod in newest} - {""}
    return tuple(pod for pod in seen.pods if pod in newest or label(pod, _REVISION) in revisions)


def _going(seen: Workloads, live: LiveObject, goal: Goal, counts: Counts) -> tuple[LiveObject, ...]:
    """The pods that go now. One that is not ready is none the less missing already."""
    newer = {pod.key for pod in _upgraded(seen, live)}
    present = [pod for pod in seen.pods if not is_ending(pod)]
    old = [pod for pod in present if pod.key not in newer]
    if len(goal.pod_list) >= goal.upgraded > 0:  # all batches so far name their pods
        candidates = [pod for pod in old if pod.key.name in goal.pod_list]
    else:
        candidates = old
    named = set(goal.pod_list)
    candidates.sort(
        key=lambda pod: (pod.key.name not in named, is_ready(pod), text(pod.body, "/spec/nodeName"), pod.key.name)
    )
    desired = max(number(live.body, _DESIRED), len(present))
    coming = desired - len(present)  # pods that are told to end, or have ended, give way to new ones
    # After the last batch no node is left, however many there are by now.
    room = len(old) if goal.upgraded >= goal.size else max(0, goal.upgraded - counts.upgraded - coming)
    may_go = max(1, goal.unavailable) - (desired - sum(map(is_ready, present)))
    going = []
    for pod in candidates[:room]:
        if is_ready(pod):
            if may_go <= 0:
                continue
            may_go -= 1
        going.append(pod)
    return tuple(going)
