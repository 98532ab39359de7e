"""ClusterClient on a real API server."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube.discovery import Discovery
from gitfleet.adapters.kube.dry_runs import DryRunner
from gitfleet.adapters.kube.observing import Observer
from gitfleet.adapters.kube.performing import Performer
from gitfleet.adapters.kube.pods import PodReader
from gitfleet.adapters.kube.properties_collecting import Collector, Gathered
from gitfleet.adapters.kube.steps import StepPerformer
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.watch_requests import BegunWatch, Kind, begin_watch
from gitfleet.adapters.kube.wire import Wire
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.errors import GitfleetError
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, RolloutOutcome, RolloutWrite, Update
from gitfleet.ports.clock import Clock


class KubeClient:
    """Both rights on one cluster. Used by one thread at a time; inside, requests run `parallel` abreast."""

    def __init__(
        self,
        cluster: str,
        wire: Wire,
        *,
        parallel: int = 8,
        collector: Collector | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`collector` asks the property providers; no properties are reported without it."""
        self.cluster = cluster
        self._wire = wire
        self._parallel = parallel
        self._collector = collector
        self.period = timedelta(seconds=60)
        """How long properties count before they are collected again: the cluster's heartbeat period."""
        self._clock: Clock = clock or SystemClock()
        self._discovery = Discovery(wire)
        self._observer = Observer(wire, self._discovery, parallel=parallel)
        self._server: str | None = None
        """The server's identity where the list of namespaces does not have it: read once for each connection."""

    @property
    def refused(self) -> bool:
        """Whether the server refused the credentials the last time."""
        return self._wire.refused

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """See ClusterReader."""
        return self._contained(lambda now: self._observe(keys, probe, now))

    def check(self, previous: ClusterObservation) -> ClusterObservation:
        """See ClusterReader."""
        return self._contained(lambda now: self._checked(previous, now))

    def _contained(self, observed: Callable[[datetime], ClusterObservation]) -> ClusterObservation:
        now = self._clock.now()
        try:
            return observed(now)
        except GitfleetError as error:
            why = str(error)
        except (AttributeError, KeyError, TypeError, ValueError):
            # JSON of any shape may come from whatever answers at that address.
            why = KubeText.API_SERVER_GAVE_JSON_ANOTHER(cluster=self.cluster)
        return ClusterObservation(cluster=self.cluster, reachable=False, error=why, observed=now)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """See ClusterReader."""
        runner = DryRunner(self._wire, self._discovery, self._observer, parallel=self._parallel, clock=self._clock)
        return runner.ask(questions)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """See ClusterReader."""
        return PodReader(self._wire, parallel=self._parallel).of(workloads)

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """See ClusterWriter."""
        return Performer(self._wire, self._discovery, self._observer, parallel=self._parallel).perform(operations)

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """See ClusterWriter."""
        return StepPerformer(self._wire, self._discovery, parallel=self._parallel).perform(steps)

    def begin_watch(self, kind: Kind, version: str) -> BegunWatch:
        """See watch_requests.begin_watch; may be called by any thread."""
        return begin_watch(self._wire, self._discovery, kind, version)

    def close(self) -> None:
        """See ClusterClient."""
        self._wire.close()

    def _observe(self, keys: Collection[ObjectKey], probe: bool, now: datetime) -> ClusterObservation:
        observed = ClusterObservation(cluster=self.cluster, reachable=True, observed=now)
        if probe:
            observed = self._checked(observed, now)
            namespaces, server = self._observer.namespaces()
            if not server and self._server is None:
                self._server = self._observer.identity()
            observed = replace(observed, namespaces=namespaces, server=server or self._server or "")
        objects = self._observer.objects(keys)
        return replace(observed, live=objects.live, unreadable=objects.unreadable)

    def _checked(self, previous: ClusterObservation, now: datetime) -> ClusterObservation:
        healthy, why = self._observer.probe()
        gathered = self._collector.gather(now, self.period) if self._collector else Gathered()
        return replace(
            previous,
            healthy=healthy,
            error=why,
            observed=now,
            properties=gathered.properties,
            resource_usage=gathered.usage,
            reported=gathered.reported,
        )
