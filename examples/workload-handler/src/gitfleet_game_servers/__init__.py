"""A workload handler for gitfleet: rollouts of `GameServerSet` (`games.example.com`), a made-up kind.

A GameServerSet has pods of the newer and of the older `spec.template` side by side: `spec.keepOld` of them stay old.
Its controller replaces the others as their games end, and brings old ones back where `keepOld` is raised. Its status
counts `replicas`, `readyReplicas`, `updatedReplicas` and `updatedReadyReplicas`, and has `observedGeneration`.
"""

from __future__ import annotations

from gitfleet.ports.workloads import (
    Counts,
    Fields,
    Goal,
    JsonObject,
    LiveObject,
    RolloutMode,
    Scaling,
    Step,
    WorkloadHandler,
    Workloads,
    value_at,
)

REPLICAS, KEEP_OLD = "/spec/replicas", "/spec/keepOld"


class GameServerSets(WorkloadHandler):
    """Another size, and health, are as of any workload with `spec.replicas`: only what is done in place stands here."""

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Why such a rollout cannot be carried out."""
        if goal.mode is RolloutMode.SOURCE_TO_TARGET:
            return "a GameServerSet has pods of both contents itself; leave sourceRef out"
        return "a GameServerSet chooses the pods itself; give replicas in place of podList" if goal.pod_list else ""

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """How many pods are upgraded and ready."""
        live = seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None:
            return super().counts(seen, goal)
        upgraded, upgraded_ready = _status(live, "updatedReplicas"), _status(live, "updatedReadyReplicas")
        return Counts(
            upgraded=upgraded,
            upgraded_ready=upgraded_ready,
            old=_status(live, "replicas") - upgraded,
            old_ready=_status(live, "readyReplicas") - upgraded_ready,
            observed=_status(live, "observedGeneration") >= live.generation,
        )

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """What the fields are to be."""
        live = seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None:
            return super().scale(seen, goal, step)
        return Scaling(fields={live.key: _fields(live, goal, step)})


def _fields(live: LiveObject, goal: Goal, step: Step) -> Fields:
    match step:
        case Step.HOLD:  # the goal is not known yet: what counts is what is there
            return {KEEP_OLD: value_at(live.body, REPLICAS)}
        case Step.KEEP:
            return {KEEP_OLD: value_at(live.body, KEEP_OLD)}
        case Step.CLAIM | Step.REVERT:
            return {KEEP_OLD: goal.size - goal.before if step is Step.CLAIM else goal.size}
        case Step.FIRST | Step.SECOND:
            return {KEEP_OLD: goal.size - goal.upgraded}
        case Step.RELEASE:
            return {KEEP_OLD: 0}


def _status(live: LiveObject, name: str) -> int:
    status: JsonObject = live.body.get("status") or {}
    return int(status.get(name) or 0)
