"""The loop's part of workload rollouts: what they need to see, what they do on clusters, and their calls."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gitfleet import workload
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.fleet.fanout import Fanout
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import RefusedStep, RolloutOutcome, is_refused
from gitfleet.model.state import FleetState
from gitfleet.ports.rollout_calls import RolloutCalls

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class WorkloadRollouts:
    """`rollouts` has the workload handlers; `calls` makes the calls, None where none are made (a plan)."""

    rollouts: workload.RolloutsLoader = field(default_factory=workload.RolloutsLoader)
    calls: RolloutCalls | None = None
    outcomes: tuple[RolloutOutcome, ...] = ()
    """What came of the steps of the last pass that carried out any."""
    _started: set[str] = field(default_factory=set)

    def keys(
        self, before: FleetState, desired: Desired, clusters: Mapping[str, MemberCluster]
    ) -> dict[str, Collection[ObjectKey]]:
        """What is to be observed on each cluster: what is owned there, by the very mapping of the state, and the
        workloads that rollouts name beside it."""
        keys_by_cluster: dict[str, Collection[ObjectKey]] = {name: before.inventory.get(name, ()) for name in clusters}
        named = self.rollouts.of(desired, before).keys_to_observe(desired, before, clusters)
        for name, keys in named.items():
            if more := set(keys) - set(keys_by_cluster[name]):
                keys_by_cluster[name] = {*keys_by_cluster[name], *more}
        return keys_by_cluster

    def with_pods(
        self,
        fanout: Fanout,
        desired: Desired,
        before: FleetState,
        clusters: Mapping[str, MemberCluster],
        observations: Mapping[str, ClusterObservation],
    ) -> Mapping[str, ClusterObservation]:
        """The observations with the pods of workloads whose rollout needs them."""
        workloads = {}
        for name, keys in self.rollouts.of(desired, before).pods_to_observe(before).items():
            seen = observations.get(name)
            live = [
                workload for key in sorted(keys) if seen is not None and (workload := seen.live.get(key)) is not None
            ]
            if live:
                workloads[name] = live
        pods = fanout.pods(clusters, workloads) if workloads else {}
        return {name: replace(o, pods=pods[name]) if name in pods else o for name, o in observations.items()}

    def refused(self) -> tuple[RefusedStep, ...]:
        """The steps that the last pass tried and could not carry out."""
        return tuple(
            RefusedStep(
                cluster=step.cluster, rollout=step.rollout, key=step.key, code=outcome.code, message=outcome.message
            )
            for outcome in self.outcomes
            if is_refused(outcome.ok, outcome.code)
            for step in (outcome.operation,)
        )

    def with_outcomes(self, inputs: Inputs, reported: Iterable[RefusedStep]) -> Inputs:
        """The inputs with what came of the calls that were started, and of the steps; `reported` are those that agents
        could not carry out."""
        answers = self.calls.answers() if self.calls is not None else {}
        return replace(inputs, answers=answers, refused=(*self.refused(), *reported))

    def carry_out(self, fanout: Fanout, decision: Decision, make_sure: Callable[[], None]) -> None:
        """Carry out the steps, and start the calls; `make_sure` raises LostRace where they are not this process's any
        more. What a step comes to is seen in the next pass; what failed is said here."""
        self.outcomes = ()
        if decision.steps:
            make_sure()
            self.outcomes = fanout.perform_steps(decision.after.clusters, decision.steps)
            for refused in self.refused():
                log.warning("rollout %s on %s: %s: %s", refused.rollout, refused.cluster, refused.key, refused.sentence)
        self._start_calls(decision)

    def _start_calls(self, decision: Decision) -> None:
        """Drop what is recorded or needed no more, which makes room, and start what is to be under way."""
        if self.calls is None:
            return
        call_ids = {call.id for call in decision.calls}
        done = (self._started | decision.inputs.answers.keys()) - call_ids
        if done:
            self.calls.forget(done)
        self.calls.start(decision.calls)
        self._started = call_ids
