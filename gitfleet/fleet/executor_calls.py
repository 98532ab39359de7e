"""Calls to clusters that other processes carry out: batches of values that go to an executor, and come back as values.

Nothing else travels: no connection, no credential. Whoever carries a batch out finds the clusters by its own settings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import FleetConfig, ListedProvider
from gitfleet.errors import Stopped
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.operations import OutcomeCode
from gitfleet.ports.clock import Clock

log = logging.getLogger(__name__)
THREADS: Final = "threads"
SIZE: Final = 20
"""Clusters of one batch: a call takes tens of milliseconds, and an engine about one for each task."""
_POLL_SECONDS: Final = 0.2
_MOST_SAID: Final = 3
Failed = Callable[[str, str, OutcomeCode], Any]


class CallKind(Enum):
    """What is asked of clusters."""

    OBSERVE = auto()
    DRY_RUN = auto()
    PERFORM = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One task: the same call to several clusters. `arguments` has for each cluster its keys, questions or operations.
    Nobody begins with it after `not_after`: what it asks for may be overtaken by then."""

    kind: CallKind
    clusters: Mapping[str, MemberCluster]
    arguments: Mapping[str, Any]
    probe: bool = True
    providers: tuple[ListedProvider, ...] = ()
    not_after: datetime | None = None

    def for_clusters(self, names: Iterable[str]) -> Batch:
        """The same call to some of the clusters."""
        chosen = tuple(names)
        clusters = {name: self.clusters[name] for name in chosen}
        return replace(self, clusters=clusters, arguments={name: self.arguments[name] for name in chosen})


RunBatch = Callable[[Batch], Mapping[str, Any]]
"""A module-level function: it is found by its name where it runs."""


@dataclass(slots=True, kw_only=True)
class ExecutorCalls:
    """Hands batches to the executor that the FleetConfig names, if the process was given its address: `address` is for
    the executor `name`, which `open_executor` opens at the first batch, and again after it failed."""

    name: str
    open_executor: Callable[[], Executor]
    run: RunBatch
    clock: Clock
    executors: Sequence[str] = (THREADS,)
    seconds: float = 60.0
    stopped: Callable[[], bool] = lambda: False
    _config: FleetConfig = FleetConfig()
    _executor: Executor | None = None
    _busy: dict[str, Future[Any]] = field(default_factory=dict)
    _warning: str = ""

    def configure(self, config: FleetConfig) -> None:
        """From the next call on, do as the configuration says."""
        warning = ""
        if config.executor not in (self.name, THREADS):
            hint = FleetText.RUN_EXECUTOR_NAME_ADDRESS_GIVES()
            if config.executor not in self.executors:
                hint = did_you_mean(config.executor, self.executors, f"known are {', '.join(self.executors)}")
            executor = f"was given {self.name}" if self.name != THREADS else FleetText.GIVEN_NONE()
            warning = FleetText.DELIVERY_EXECUTOR_PROCESS(executor=config.executor, given=executor, hint=hint)
        if warning and warning != self._warning:
            log.warning("%s", warning)
        self._config, self._warning = config, warning

    def clusters_taken(self, names: Sequence[str], batch: Batch) -> list[str]:
        """Those of the clusters that are asked elsewhere: those with an API server of their own, if any are."""
        if self.name == THREADS or self._config.executor != self.name:
            return []
        return [name for name in names if _has_server(batch.clusters[name].connection)]

    def begin(self, names: Sequence[str], batch: Batch) -> dict[str, Future[Any] | str]:
        """Begin with the calls to these clusters: for each the future of its batch, or why there is none."""
        begun: dict[str, Future[Any] | str] = {}
        free = []
        for name in names:
            if name in self._busy and not self._busy[name].done():
                begun[name] = FleetText.STILL_BUSY_EARLIER_CALL(name=name)
            else:
                free.append(name)
        until = self.clock.now() + timedelta(seconds=self.seconds / 2)
        whole = replace(batch, providers=self._config.property_providers, not_after=until)
        for start in range(0, len(free), SIZE):
            chunk = free[start : start + SIZE]
            made = attempt(Subject("executor", self.name), self._submit, whole.for_clusters(chunk))
            if isinstance(made, Failure):
                self.close()
                begun |= {name: FleetText.EXECUTOR_TAKES_NO_WORK(name=self.name, why=made.error) for name in chunk}
            else:
                begun |= dict.fromkeys(chunk, made)
                self._busy |= dict.fromkeys(chunk, made)
        return begun

    def results(self, begun: Mapping[str, Future[Any] | str], failed: Failed) -> dict[str, Any]:
        """What came of the calls, waited for; a cluster of which nothing came back was not asked."""
        futures = {future for future in begun.values() if isinstance(future, Future)}
        self._await(futures)
        done = {future: self._answer(future) for future in futures}
        results, reasons = {}, set()
        for name, future in begun.items():
            answer = future if isinstance(future, str) else done[future]
            why = answer if isinstance(answer, str) else FleetText.NOT_ASKED_TIME_EXECUTOR(name=name, name_2=self.name)
            if isinstance(answer, str) or name not in answer:
                results[name] = failed(name, why, OutcomeCode.NOT_ASKED)
                reasons.add(why)
            else:
                results[name] = answer[name]
        for why in sorted(reasons)[:_MOST_SAID]:
            log.warning("%s", why)
        return results

    def close(self) -> None:
        """Let the executor go."""
        executor, self._executor = self._executor, None
        if executor is not None:
            failed = attempt(Subject("executor", self.name), executor.shutdown, wait=False, cancel_futures=True)
            if isinstance(failed, Failure):
                log.debug("the executor %s did not end in order: %s", self.name, failed.error)

    def _answer(self, future: Future[Any]) -> Mapping[str, Any] | str:
        """What a batch came to, or why there is nothing of it."""
        if not future.done():
            return FleetText.EXECUTOR_NOT_ANSWERED_WITHIN(name=self.name, patience=self._patience)
        result = attempt(Subject("executor", self.name), future.result)
        if isinstance(result, Failure):
            self.close()  # it may be gone: the next batch opens it again
            return FleetText.EXECUTOR_FAILED(name=self.name, why=result.error)
        return result if isinstance(result, Mapping) else FleetText.EXECUTOR_GAVE_SOMETHING_ELSE(name=self.name)

    @property
    def _patience(self) -> float:
        """How long a batch may wait to begin, and take, in seconds."""
        return self.seconds * 1.5 + 5.0

    def _submit(self, batch: Batch) -> Future[Any]:
        if self._executor is None:
            self._executor = self.open_executor()
        return self._executor.submit(self.run, batch)

    def _await(self, futures: set[Future[Any]]) -> None:
        """Wait until all are done, at most for the time that a batch may wait and take."""
        pending, remaining = set(futures), self._patience
        while pending and remaining > 0:
            if self.stopped():
                for future in pending:
                    future.cancel()
                raise Stopped(FleetText.GITFLEET_BEING_STOPPED_WHILE_CLUSTERS())
            pending = wait(pending, timeout=_POLL_SECONDS).not_done
            remaining -= _POLL_SECONDS


def _has_server(connection: Connection | None) -> bool:
    """Whether a connection leads to an API server that other processes reach as well."""
    if connection is None or connection.simulated or connection.pull:
        return False
    return connection != Connection()
