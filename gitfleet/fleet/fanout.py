"""Observes and changes many clusters at once; one that does not respond never delays the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeAlias, TypeVar, assert_never

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.branches.steps import Step
from gitfleet.errors import GitfleetError, Stopped
from gitfleet.fleet.executor_calls import Batch, CallKind, ExecutorCalls
from gitfleet.fleet.texts import FleetText
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Write
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader, HealthReader
from gitfleet.ports.tracing import SpanFailed, Tracing
from gitfleet.pull import by_cluster

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_Result = TypeVar("_Result")
_Outcome = TypeVar("_Outcome", Outcome, RolloutOutcome)
_Call: TypeAlias = Callable[[str], _Result]
_Failed: TypeAlias = Callable[[str, str, OutcomeCode], _Result]
"""What a cluster came to that was not asked, or did not answer: by its name, why, and the code of that."""
_POLL_SECONDS = 0.2
_GRACE = 3.0


class Untraced:
    """Tracing where nobody traces."""

    def began(self) -> None:
        """See Tracing."""

    def phase(self, name: str) -> None:
        """See Tracing."""

    def ended(self, outcome: str, attributes: Mapping[str, str]) -> None:
        """See Tracing."""

    def cluster(self, action: str, name: str) -> AbstractContextManager[SpanFailed]:  # noqa: ARG002 - of the port
        """See Tracing."""
        return nullcontext(lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanout:
    """`executor` None does one cluster after the other, in the caller's thread (simulate: the same order every time).

    `timeout` is how long, in seconds, clusters are begun with and waited for; the others' results count meanwhile. One
    that was begun late has half of it all the same. Those that nobody came to are not asked in this pass, which says
    nothing of them; they come before others in the next one, and clusters that did not answer come last.
    `remote` takes calls that other processes carry out. `tracing` is told of each call, and `reach` is called around
    the writes to each cluster.
    Once `stopped` says so a reconcile is given up (Stopped) rather than waited for: that is as harmless as a kill."""

    directory: ClusterDirectory
    executor: Executor | None
    timeout: float = 60.0
    stopped: Callable[[], bool] = lambda: False
    reach: Callable[[Step], None] = lambda _: None
    tracing: Tracing = Untraced()
    remote: ExecutorCalls | None = None
    _busy: dict[str, Future[Any]] = field(default_factory=dict)
    _turns: dict[str, tuple[bool, int]] = field(default_factory=dict)
    _passes: Iterator[int] = field(default_factory=lambda: count(1))

    def observe(
        self, clusters: Mapping[str, MemberCluster], keys: Mapping[str, Collection[ObjectKey]], *, probe: bool = True
    ) -> dict[str, ClusterObservation]:
        """One observation of every cluster that `keys` names; one that cannot be reached is observed as unreachable."""

        def observe_one(name: str) -> ClusterObservation:
            return self._observe(clusters[name], lambda reader: reader.observe(keys[name], probe=probe))

        def failed(name: str, why: str, code: OutcomeCode) -> ClusterObservation:
            attempted = code is not OutcomeCode.NOT_ASKED
            return ClusterObservation(cluster=name, reachable=False, error=why, attempted=attempted)

        batch = Batch(kind=CallKind.OBSERVE, clusters=clusters, arguments=keys, probe=probe)
        observations = self._all(sorted(keys), observe_one, failed, batch)
        number = next(self._passes)
        for name, observation in observations.items():
            if observation.attempted:
                self._turns[name] = (not observation.reachable, number)
        return observations

    def check(
        self, clusters: Mapping[str, MemberCluster], earlier: Mapping[str, ClusterObservation]
    ) -> dict[str, ClusterObservation]:
        """These observations, with health and properties of now; one that cannot be reached is observed as unreachable,
        and one that nobody came to stays as it is known."""

        def check_one(name: str) -> ClusterObservation:
            def check(reader: ClusterReader) -> ClusterObservation:
                return reader.check(earlier[name]) if isinstance(reader, HealthReader) else reader.observe(())

            return self._observe(clusters[name], check)

        def failed(name: str, why: str, code: OutcomeCode) -> ClusterObservation:
            if code is OutcomeCode.NOT_ASKED:
                return earlier[name]
            return ClusterObservation(cluster=name, reachable=False, error=why)

        batch = Batch(kind=CallKind.OBSERVE, clusters=clusters, arguments=dict.fromkeys(earlier, ()))
        observations = self._all(sorted(earlier), check_one, failed, batch)
        return {
            name: replace(observation, live=earlier[name].live) if observation.reachable else observation
            for name, observation in observations.items()
        }

    def _observe(
        self, cluster: MemberCluster, read: Callable[[ClusterReader], ClusterObservation]
    ) -> ClusterObservation:
        with self.tracing.cluster("observe", cluster.name) as failed:
            observation = read(self.directory.reader(cluster))
            if not observation.reachable:
                failed(OutcomeCode.UNREACHABLE.value)
            return observation

    def dry_run(
        self, clusters: Mapping[str, MemberCluster], questions: Mapping[str, Sequence[tuple[Manifest, LiveObject]]]
    ) -> dict[str, Sequence[DryRun]]:
        """What each cluster would make of manifests, clusters side by side; one answer for each question."""

        def ask(name: str) -> Sequence[DryRun]:
            with self.tracing.cluster("dry_run", name):
                return self.directory.reader(clusters[name]).dry_run(questions[name])

        def failed(name: str, why: str, _: OutcomeCode) -> Sequence[DryRun]:
            return [DryRun(live.body, None, why) for _, live in questions[name]]

        batch = Batch(kind=CallKind.DRY_RUN, clusters=clusters, arguments=questions)
        return self._all(sorted(questions), ask, failed, batch)

    def perform(
        self, clusters: Mapping[str, MemberCluster], operations: Mapping[str, Sequence[Write]]
    ) -> tuple[Outcome, ...]:
        """Carry out the operations of each cluster, clusters side by side; one outcome for each operation."""

        def perform_on(name: str) -> Sequence[Outcome]:
            return self._write("perform", clusters[name], lambda client: client.perform(operations[name]))

        def failed(name: str, why: str, code: OutcomeCode) -> Sequence[Outcome]:
            return [Outcome(operation=o, ok=False, code=code, message=why) for o in operations[name]]

        batch = Batch(kind=CallKind.PERFORM, clusters=clusters, arguments=operations)
        outcomes = self._all(sorted(name for name in operations if operations[name]), perform_on, failed, batch)
        return tuple(outcome for name in sorted(outcomes) for outcome in outcomes[name])

    def perform_steps(
        self, clusters: Mapping[str, MemberCluster], steps: Iterable[RolloutWrite]
    ) -> tuple[RolloutOutcome, ...]:
        """Carry out steps of workload rollouts, clusters side by side; one outcome for each step, by cluster. This
        process does it itself, whatever takes calls elsewhere: there are few, and each is for one moment."""
        orders = by_cluster(steps)

        def perform_on(name: str) -> Sequence[RolloutOutcome]:
            return self._write("perform_steps", clusters[name], lambda client: client.perform_steps(orders[name]))

        def failed(name: str, why: str, code: OutcomeCode) -> Sequence[RolloutOutcome]:
            return [RolloutOutcome(operation=step, ok=False, code=code, message=why) for step in orders[name]]

        outcomes = self._near(sorted(orders), perform_on, failed)
        return tuple(outcome for name in sorted(outcomes) for outcome in outcomes[name])

    def _write(
        self, action: str, cluster: MemberCluster, write: Callable[[ClusterClient], Sequence[_Outcome]]
    ) -> Sequence[_Outcome]:
        with self.tracing.cluster(action, cluster.name) as failed:
            client = self.directory.client(cluster)
            self.reach(Step.CLUSTER_WRITE)
            outcomes = write(client)
            self.reach(Step.CLUSTER_WRITTEN)
            if (refused := next((outcome for outcome in outcomes if not outcome.ok), None)) is not None:
                failed(refused.code.value)
            return outcomes

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
        self, names: Sequence[str], call: _Call[_Result], failed: _Failed[_Result], batch: Batch
    ) -> dict[str, _Result]:
        away = self.remote.clusters_taken(names, batch) if self.remote is not None else []
        if self.remote is None or not away:
            return self._near(names, call, failed)
        if batch.kind is CallKind.PERFORM:
            self.reach(Step.CLUSTER_WRITE)
        begun = self.remote.begin(away, batch)
        results = self._near([name for name in names if name not in begun], call, failed)
        results |= self.remote.results(begun, failed)
        if batch.kind is CallKind.PERFORM:
            self.reach(Step.CLUSTER_WRITTEN)
        return results

    def _near(self, names: Sequence[str], call: _Call[_Result], failed: _Failed[_Result]) -> dict[str, _Result]:
        """What this process asks itself."""
        if self.executor is None:
            return {name: self._here(name, call, failed) for name in names}
        results: dict[str, _Result] = {}
        futures: dict[str, Future[_Result]] = {}
        for name in sorted(names, key=lambda name: (self._turns.get(name, (False, 0)), name)):
            # A call that outlived its reconcile may still be changing the cluster: nobody else may use its client
            # meanwhile.
            if name in self._busy and not self._busy[name].done():
                results[name] = failed(name, FleetText.STILL_BUSY_EARLIER_CALL(name=name), OutcomeCode.UNREACHABLE)
            else:
                futures[name] = self._busy[name] = self.executor.submit(call, name)
        self._await_all(futures.values())
        for name, future in futures.items():
            if future.cancelled():
                why = FleetText.NOT_ASKED_WITHIN(name=name, timeout=self.timeout)
                results[name] = failed(name, why, OutcomeCode.NOT_ASKED)
            elif not future.done():
                why = FleetText.NOT_ANSWER_WITHIN(name=name, timeout=self.timeout / 2)
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
        pending, remaining = set(futures), seconds
        while pending and remaining > 0:
            if self.stopped() and wait(pending, timeout=_GRACE).not_done:
                raise Stopped(FleetText.GITFLEET_BEING_STOPPED_WHILE_CLUSTERS())
            pending = wait(pending, timeout=min(_POLL_SECONDS, remaining)).not_done
            remaining -= _POLL_SECONDS
        return pending

    def _here(self, name: str, call: _Call[_Result], failed: _Failed[_Result]) -> _Result:
        result = attempt(Subject("MemberCluster", name), call, name)
        if not isinstance(result, Failure):
            return result
        if isinstance(result.cause, GitfleetError):
            return failed(name, str(result.cause), OutcomeCode.UNREACHABLE)
        log.error("%s", result.report)
        return failed(name, f"{name}: {result.sentence}", OutcomeCode.INTERNAL_ERROR)


def _result_of(future: Future[_Result], _name: str) -> _Result:
    return future.result()


def carry_out(batch: Batch, fanout: Fanout, clock: Clock) -> Mapping[str, Any]:
    """What a worker does with a batch: the results by cluster; nothing where it is too late to begin, and nothing for a
    cluster that nobody came to."""
    if batch.not_after is not None and clock.now() > batch.not_after:
        return {}
    match batch.kind:
        case CallKind.OBSERVE:
            seen = fanout.observe(batch.clusters, batch.arguments, probe=batch.probe)
            return {name: observation for name, observation in seen.items() if observation.attempted}
        case CallKind.DRY_RUN:
            return fanout.dry_run(batch.clusters, batch.arguments)
        case CallKind.PERFORM:
            outcomes: dict[str, list[Any]] = {}
            for outcome in fanout.perform(batch.clusters, batch.arguments):
                outcomes.setdefault(outcome.operation.cluster, []).append(outcome)
            return outcomes
    assert_never(batch.kind)


class Workers(Executor):
    """An executor whose number of threads may change between calls of the one thread that submits.

    What is under way goes on in the threads that it has; only a call that hangs takes part in two numbers meanwhile.
    """

    def __init__(self, number: int) -> None:
        """Begin with so many threads at most; each is started when it is needed first."""
        self.number = number
        self._pool = _pool_of(number)

    def resize(self, number: int) -> None:
        """From now on do so many calls at a time at most."""
        if number != self.number:
            self._pool.shutdown(wait=False)
            self.number, self._pool = number, _pool_of(number)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See Executor."""
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See Executor."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)


def _pool_of(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=number, thread_name_prefix="cluster")
