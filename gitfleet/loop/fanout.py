"""Observes and changes many clusters at once; one that does not respond never delays the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, TypeVar

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.errors import GitfleetError, Stopped
from gitfleet.loop.spread import Batch, CallKind, Spread
from gitfleet.loop.steps import Step
from gitfleet.loop.texts import LoopText
from gitfleet.loop.untraced import Untraced
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Write
from gitfleet.ports.clusters import ClusterDirectory, HealthReader
from gitfleet.ports.tracing import Tracing

log = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_POLL_SECONDS = 0.2
_GRACE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanout:
    """`executor` None does one cluster after the other, in the caller's thread (simulate: the same order every time).

    `timeout` is how long, in seconds, clusters are begun with and waited for; the others' results count meanwhile. One
    that was begun late has half of it all the same. Those that nobody came to are not asked in this pass, which says
    nothing of them; they come before others in the next one, and clusters that did not answer come last.
    `spread` takes calls that other processes carry out. `tracing` is told of each call, and `reach` is called around
    the writes to each cluster.
    Once `stopped` says so a reconcile is given up (Stopped) rather than waited for: that is as harmless as a kill."""

    directory: ClusterDirectory
    executor: Executor | None
    timeout: float = 60.0
    stopped: Callable[[], bool] = lambda: False
    reach: Callable[[Step], None] = lambda _: None
    tracing: Tracing = Untraced()
    spread: Spread | None = None
    _busy: dict[str, Future[Any]] = field(default_factory=dict)
    _turns: dict[str, tuple[bool, int]] = field(default_factory=dict)
    _passes: Iterator[int] = field(default_factory=lambda: count(1))

    def observe(
        self, clusters: Mapping[str, MemberCluster], keys: Mapping[str, Collection[ObjectKey]], *, probe: bool = True
    ) -> dict[str, ClusterObservation]:
        """One observation of every cluster that `keys` names; one that cannot be reached is observed as unreachable."""

        def observe_one(name: str) -> ClusterObservation:
            with self.tracing.cluster("observe", name) as failed:
                found = self.directory.reader(clusters[name]).observe(keys[name], probe=probe)
                if not found.reachable:
                    failed(OutcomeCode.UNREACHABLE.value)
                return found

        def failed(name: str, why: str, code: OutcomeCode) -> ClusterObservation:
            asked = code is not OutcomeCode.NOT_ASKED
            return ClusterObservation(cluster=name, reachable=False, error=why, asked=asked)

        batch = Batch(kind=CallKind.OBSERVE, clusters=clusters, asked=keys, probe=probe)
        observations = self._all(sorted(keys), observe_one, failed, batch)
        number = next(self._passes)
        for name, observation in observations.items():
            if observation.asked:
                self._turns[name] = (not observation.reachable, number)
        return observations

    def check(
        self, clusters: Mapping[str, MemberCluster], known: Mapping[str, ClusterObservation]
    ) -> dict[str, ClusterObservation]:
        """These observations, with health and properties of now; one that cannot be reached is observed as unreachable,
        and one that nobody came to stays as it is known."""

        def check_one(name: str) -> ClusterObservation:
            with self.tracing.cluster("observe", name) as failed:
                reader = self.directory.reader(clusters[name])
                seen = reader.check(known[name]) if isinstance(reader, HealthReader) else reader.observe(())
                if not seen.reachable:
                    failed(OutcomeCode.UNREACHABLE.value)
                return seen

        def failed(name: str, why: str, code: OutcomeCode) -> ClusterObservation:
            if code is OutcomeCode.NOT_ASKED:
                return known[name]
            return ClusterObservation(cluster=name, reachable=False, error=why)

        batch = Batch(kind=CallKind.OBSERVE, clusters=clusters, asked=dict.fromkeys(known, ()))
        found = self._all(sorted(known), check_one, failed, batch)
        return {name: replace(one, live=known[name].live) if one.reachable else one for name, one in found.items()}

    def dry_run(
        self, clusters: Mapping[str, MemberCluster], questions: Mapping[str, Sequence[tuple[Manifest, LiveObject]]]
    ) -> dict[str, Sequence[DryRun]]:
        """What each cluster would make of manifests, clusters side by side; one answer for each question."""

        def ask(name: str) -> Sequence[DryRun]:
            with self.tracing.cluster("dry_run", name):
                return self.directory.reader(clusters[name]).dry_run(questions[name])

        def failed(name: str, why: str, _: OutcomeCode) -> Sequence[DryRun]:
            return [DryRun(live.body, None, why) for _, live in questions[name]]

        batch = Batch(kind=CallKind.DRY_RUN, clusters=clusters, asked=questions)
        return self._all(sorted(questions), ask, failed, batch)

    def perform(
        self, clusters: Mapping[str, MemberCluster], operations: Mapping[str, Sequence[Write]]
    ) -> tuple[Outcome, ...]:
        """Carry out the operations of each cluster, clusters side by side; one outcome for each operation."""

        def perform_on(name: str) -> Sequence[Outcome]:
            with self.tracing.cluster("perform", name) as failed:
                client = self.directory.client(clusters[name])
                self.reach(Step.CLUSTER_WRITE)
                outcomes = client.perform(operations[name])
                self.reach(Step.CLUSTER_WRITTEN)
                if (refused := next((one for one in outcomes if not one.ok), None)) is not None:
                    failed(refused.code.value)
                return outcomes

        def failed(name: str, why: str, code: OutcomeCode) -> Sequence[Outcome]:
            return [Outcome(operation=o, ok=False, code=code, message=why) for o in operations[name]]

        batch = Batch(kind=CallKind.PERFORM, clusters=clusters, asked=operations)
        outcomes = self._all(sorted(name for name in operations if operations[name]), perform_on, failed, batch)
        return tuple(outcome for name in sorted(outcomes) for outcome in outcomes[name])

    def perform_steps(
        self, clusters: Mapping[str, MemberCluster], steps: Iterable[RolloutWrite]
    ) -> tuple[RolloutOutcome, ...]:
        """Carry out steps of workload rollouts, clusters side by side; one outcome for each step, by cluster. This
        process does it itself, whatever takes calls elsewhere: there are few, and each is for one moment."""
        asked: dict[str, list[RolloutWrite]] = {}
        for step in steps:
            asked.setdefault(step.cluster, []).append(step)

        def perform_on(name: str) -> Sequence[RolloutOutcome]:
            with self.tracing.cluster("perform_steps", name) as failed:
                client = self.directory.client(clusters[name])
                self.reach(Step.CLUSTER_WRITE)
                outcomes = client.perform_steps(asked[name])
                self.reach(Step.CLUSTER_WRITTEN)
                if (refused := next((one for one in outcomes if not one.ok), None)) is not None:
                    failed(refused.code.value)
                return outcomes

        def failed(name: str, why: str, code: OutcomeCode) -> Sequence[RolloutOutcome]:
            return [RolloutOutcome(operation=step, ok=False, code=code, message=why) for step in asked[name]]

        outcomes = self._near(sorted(asked), perform_on, failed)
        return tuple(outcome for name in sorted(outcomes) for outcome in outcomes[name])

    def pods(
        self, clusters: Mapping[str, MemberCluster], workloads: Mapping[str, Sequence[LiveObject]]
    ) -> dict[str, Mapping[ObjectKey, tuple[LiveObject, ...]]]:
        """The pods of workloads by the workload's key, clusters side by side; as ClusterReader, and likewise by this
        process itself. None of a cluster that does not answer."""

        def read(name: str) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
            with self.tracing.cluster("pods", name):
                return self.directory.reader(clusters[name]).pods(workloads[name])

        return self._near(sorted(name for name in workloads if workloads[name]), read, lambda *_: {})

    def _all(
        self,
        names: Sequence[str],
        call: Callable[[str], _Result],
        failed: Callable[[str, str, OutcomeCode], _Result],
        batch: Batch,
    ) -> dict[str, _Result]:
        away = self.spread.taken(names, batch) if self.spread is not None else []
        if self.spread is None or not away:
            return self._near(names, call, failed)
        if batch.kind is CallKind.PERFORM:
            self.reach(Step.CLUSTER_WRITE)
        begun = self.spread.begin(away, batch)
        results = self._near([name for name in names if name not in begun], call, failed)
        results |= self.spread.results(begun, failed)
        if batch.kind is CallKind.PERFORM:
            self.reach(Step.CLUSTER_WRITTEN)
        return results

    def _near(
        self, names: Sequence[str], call: Callable[[str], _Result], failed: Callable[[str, str, OutcomeCode], _Result]
    ) -> dict[str, _Result]:
        """What this process asks itself."""
        if self.executor is None:
            return {name: self._here(name, call, failed) for name in names}
        results: dict[str, _Result] = {}
        futures: dict[str, Future[_Result]] = {}
        for name in sorted(names, key=lambda name: (self._turns.get(name, (False, 0)), name)):
            # A call that outlived its reconcile may still be changing the cluster: nobody else may use its client
            # meanwhile.
            if name in self._busy and not self._busy[name].done():
                results[name] = failed(name, LoopText.STILL_BUSY_EARLIER_CALL(name=name), OutcomeCode.UNREACHABLE)
            else:
                futures[name] = self._busy[name] = self.executor.submit(call, name)
        self._await_all(futures.values())
        for name, future in futures.items():
            if future.cancelled():
                why = LoopText.NOT_ASKED_WITHIN(name=name, timeout=self.timeout)
                results[name] = failed(name, why, OutcomeCode.NOT_ASKED)
            elif not future.done():
                why = LoopText.NOT_ANSWER_WITHIN(name=name, timeout=self.timeout / 2)
                results[name] = failed(name, why, OutcomeCode.UNREACHABLE)
            else:
                results[name] = self._here(name, partial(_result_of, future), failed)
        return results

    def _await_all(self, futures: Iterable[Future[Any]]) -> None:
        """Wait for all, and cancel those that no worker began with. Each that was begun has had half of the timeout."""
        half = self.timeout / 2
        pending = self._await(futures, half)
        late = [future for future in pending if not future.running()]
        self._await(pending, half)
        self._await([future for future in late if not future.cancel()], half)

    def _await(self, futures: Iterable[Future[Any]], seconds: float) -> set[Future[Any]]:
        """Wait so long; those that are not done."""
        pending, left = set(futures), seconds
        while pending and left > 0:
            if self.stopped() and wait(pending, timeout=_GRACE).not_done:
                raise Stopped(LoopText.GITFLEET_BEING_STOPPED_WHILE_CLUSTERS())
            pending = wait(pending, timeout=min(_POLL_SECONDS, left)).not_done
            left -= _POLL_SECONDS
        return pending

    def _here(
        self, name: str, call: Callable[[str], _Result], failed: Callable[[str, str, OutcomeCode], _Result]
    ) -> _Result:
        result = attempt(Subject("MemberCluster", name), call, name)
        if not isinstance(result, Failure):
            return result
        if isinstance(result.cause, GitfleetError):
            return failed(name, str(result.cause), OutcomeCode.UNREACHABLE)
        log.error("%s", result.report)
        return failed(name, f"{name}: {result.sentence}", OutcomeCode.INTERNAL_ERROR)


def _result_of(future: Future[_Result], _name: str) -> _Result:
    return future.result()
