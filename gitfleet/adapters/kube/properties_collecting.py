"""Asking the property providers of one cluster: rarely, in time, and so that none of them harms anybody else.

Source: KubeFleet pkg/controllers/internalmembercluster/v1beta1 (reasons, messages, ten seconds for each operation).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NoReturn, Protocol, TypeVar

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.clusters import PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.api.fleet import ListedProvider
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.hooks import misspelt_hook
from gitfleet.formats.masking import masked
from gitfleet.model.observations import ReportedCondition
from gitfleet.ports.properties import ClusterView, Collected, PropertyProvider, PropertyProviderFactory

T = TypeVar("T")
CORE: Final = "core"
STARTED: Final = "ClusterPropertyProviderStarted"
SUCCEEDED: Final = "ClusterPropertyCollectionSucceeded"
TIME_LIMIT: Final = 10.0
"""Seconds for each operation of a provider (KubeFleet's two deadlines)."""
_LONGEST_VALUE: Final = 1024
_LONGEST_REST: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider to be asked: `key` identifies its name and args, `make` makes one for one cluster."""

    name: str
    key: str
    make: Callable[[], PropertyProvider]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What all providers of a cluster said; in `reported` are the conditions."""

    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    usage: ResourceUsage | None = None
    reported: tuple[ReportedCondition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProviderResult:
    name: str
    collected: Collected = Collected()
    started: tuple[str, str] | None = None
    """Reason and message when it could not be started."""
    failed: tuple[str, str] | None = None
    """Reason and message when it could not collect, or not all."""


class _NotReturned(Exception):
    """No result, and why in one word: TimedOut (it did not come in time) or TooManyCalls (an earlier call has not
    returned, so none was made). The words are KubeFleet's."""


class _TimedCaller:
    """At most one thread, however many calls: while one is stuck no other begins."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None

    def call(self, work: Callable[[], T], seconds: float | None) -> T:
        """What `work` returns or raises, waited for so many seconds; None waits for ever, and needs no thread."""
        if seconds is None:
            return work()
        if self._thread is not None and self._thread.is_alive():
            raise _NotReturned("TooManyCalls")
        future = Future[T]()

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 - somebody else's code: whatever it raises is its result
                future.set_exception(error)
            except BaseException as error:  # noqa: BLE001 - what is to end the process ends this call alone
                future.set_exception(RuntimeError(type(error).__name__))

        # A daemon: a stuck call must not keep the process from ending.
        self._thread = threading.Thread(target=run, name=self._name, daemon=True)
        self._thread.start()
        self._thread.join(seconds)
        if not future.done():
            raise _NotReturned("TimedOut")
        return future.result()


def chosen_providers(
    listed: Iterable[ListedProvider], installed: Mapping[str, PropertyProviderFactory]
) -> tuple[Provider, ...]:
    """The providers to ask, in order: `core` first, then those of gitfleet.yaml. One that is not installed is among
    them, and says so when it is started."""
    named = {provider.name: provider for provider in listed}
    ordered = [named.pop(CORE, ListedProvider(name=CORE)), *named.values()]
    return tuple(
        Provider(
            name=provider.name, key=digest_of([provider.name, dict(provider.args)]), make=_maker(provider, installed)
        )
        for provider in ordered
    )


def _maker(
    provider: ListedProvider, installed: Mapping[str, PropertyProviderFactory]
) -> Callable[[], PropertyProvider]:
    factory = installed.get(provider.name)
    if factory is not None:
        return lambda: factory(provider.args)

    def missing() -> NoReturn:
        names = ", ".join(sorted(installed)) or "none"
        raise MissingPart(KubeText.NO_PROPERTY_PROVIDER(one=provider.name, known=names))

    return missing


class Rests(Protocol):
    """Knows whether anything changed on a cluster of which `core` counts something. Used by one thread at a time."""

    def mark(self) -> Hashable | None:
        """This moment; None where it is not known what changes from now on."""

    def unchanged(self, mark: Hashable) -> bool:
        """Whether nothing changed since."""


class Collector:
    """Asks the providers of one cluster, at most once in a period; in between it repeats what they said, and an hour
    long where `core` is the only one and `rests` says that nothing changed.

    `core` is ours and comes back by itself, so it has a caller of its own; all others share one, so that at most one
    thread of a cluster can be stuck. Used by one thread at a time. Losing what is kept here costs time only.
    """

    def __init__(
        self,
        view: ClusterView,
        providers: Callable[[], Sequence[Provider]],
        *,
        limit: float | None = TIME_LIMIT,
        rests: Rests | None = None,
    ) -> None:
        self._view = view
        self._providers = providers
        self._limit = limit
        self._rests = rests
        self._mark: Hashable | None = None
        self._callers = {
            True: _TimedCaller(f"properties-{view.name}-core"),
            False: _TimedCaller(f"properties-{view.name}"),
        }
        self._running: dict[str, PropertyProvider] = {}
        self._last: tuple[datetime, tuple[str, ...], Gathered] | None = None

    def gather(self, now: datetime, period: timedelta) -> Gathered:
        """What the providers say; they are asked when the last time is a period ago (or to come, as the clock jumped
        back), or others are listed."""
        providers = self._providers()
        keys = tuple(provider.key for provider in providers)
        if self._last is not None and self._last[1] == keys and self._counts_still(now - self._last[0], period):
            return self._last[2]
        alone = self._rests is not None and [provider.name for provider in providers] == [CORE]
        self._mark = self._rests.mark() if self._rests is not None and alone else None
        self._running = {key: running for key, running in self._running.items() if key in keys}
        gathered = _combined([self._query(provider) for provider in providers], now)
        self._last = (now, keys, gathered)
        return gathered

    def _counts_still(self, age: timedelta, period: timedelta) -> bool:
        if not timedelta(0) <= age < max(period, _LONGEST_REST):
            return False
        return age < period or (
            self._rests is not None and self._mark is not None and self._rests.unchanged(self._mark)
        )

    def _query(self, provider: Provider) -> _ProviderResult:
        caller, name = self._callers[provider.name == CORE], provider.name
        if provider.key not in self._running:
            try:
                self._running[provider.key] = caller.call(lambda: self._start(provider), self._limit)
            except _NotReturned as error:
                return _ProviderResult(name=name, started=(str(error), _NOT_STARTED[str(error)]))
            except Exception as error:  # noqa: BLE001 - as in _TimedCaller
                sentence = KubeText.FAILED_START_PROPERTY_PROVIDER(error_text=_error_text(error))
                return _ProviderResult(name=name, started=("FailedToStart", sentence))
        try:
            return _checked(name, caller.call(self._running[provider.key].collect, self._limit))
        except _NotReturned as error:
            return _ProviderResult(name=name, failed=(str(error), _NOT_COLLECTED[str(error)]))
        except Exception as error:  # noqa: BLE001 - as in _TimedCaller
            return _ProviderResult(name=name, failed=("FailedToCollect", _error_text(error)))

    def _start(self, provider: Provider) -> PropertyProvider:
        running = provider.make()
        if not isinstance(running, PropertyProvider):
            raise BadInput(KubeText.FACTORY_MADE_NOT_DERIVE_FROM(name=type(running).__name__))
        if misspelt := misspelt_hook(running, PropertyProvider):
            raise BadInput(misspelt)
        running.start(self._view)
        return running


_TOO_MANY: Final = KubeText.TOO_MANY_GOING_CALLS_PROPERTY()
_NOT_STARTED: Final = {"TimedOut": KubeText.PROPERTY_PROVIDER_NOT_START_UP(), "TooManyCalls": _TOO_MANY}
_NOT_COLLECTED: Final = {"TimedOut": KubeText.PROPERTY_PROVIDER_NOT_RESPOND_TIME(), "TooManyCalls": _TOO_MANY}


def _checked(name: str, collected: object) -> _ProviderResult:
    """The result without what cannot be written: a provider is anybody's code."""
    if not isinstance(collected, Collected):
        return _ProviderResult(
            name=name, failed=("FailedToCollect", KubeText.GAVE_NOT_COLLECTED(name=type(collected).__name__))
        )
    usage = collected.usage or ResourceUsage()
    parts = [_texts(part) for part in (collected.properties, usage.capacity, usage.allocatable, usage.available)]
    reported = len(collected.properties) + len(usage.capacity) + len(usage.allocatable) + len(usage.available)
    problem = collected.problem
    if not problem and sum(map(len, parts)) < reported:
        problem = KubeText.NAME_VALUE_NO_TEXT_MOST(longest_value=_LONGEST_VALUE)
    failed = ("FailedToCollect", masked(problem)) if problem else None
    amounts = ResourceUsage(capacity=parts[1], allocatable=parts[2], available=parts[3])
    clean = replace(collected, properties=parts[0], usage=None if collected.usage is None else amounts)
    return _ProviderResult(name=name, collected=clean, failed=failed)


def _texts(values: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in values.items() if _is_text(key) and _is_text(value)}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_VALUE and value.isprintable()


def _combined(results: Sequence[_ProviderResult], now: datetime) -> Gathered:
    """All results as one: where two report the same property, the later provider counts."""
    properties: dict[str, PropertyValue] = {}
    usages: list[ResourceUsage] = []
    own: dict[str, ReportedCondition] = {}
    for result in results:
        collected = result.collected
        properties.update({key: PropertyValue(value, now) for key, value in collected.properties.items()})
        usages += [collected.usage] if collected.usage is not None else []
        own.update(
            {reported.type: replace(reported, message=masked(reported.message)) for reported in collected.conditions}
        )
    reported = [_verdict(STARTED, "Started", _HAS_STARTED, [(a.name, a.started) for a in results])]
    if any(result.started is None for result in results):
        returned = [(result.name, result.failed) for result in results if result.started is None]
        reported.append(_verdict(SUCCEEDED, "PropertiesCollected", _HAS_RETURNED, returned))
    conditions = [condition for type_, condition in own.items() if type_ not in (STARTED, SUCCEEDED)]
    return Gathered(properties=properties, usage=_added(usages, now), reported=(*reported, *conditions))


_HAS_STARTED: Final = KubeText.PROPERTY_PROVIDER_STARTED_SUCCESSFULLY()
_HAS_RETURNED: Final = KubeText.PROPERTY_PROVIDER_RETURNED_LATEST_CLUSTER()


def _verdict(
    type_: str, reason: str, message: str, results: Iterable[tuple[str, tuple[str, str] | None]]
) -> ReportedCondition:
    """True when all is well; otherwise the first failure's reason, and every failure with its provider's name."""
    failures = [(name, fault) for name, fault in results if fault is not None]
    if not failures:
        return ReportedCondition(type_, Status.TRUE, reason, message)
    sentence = "; ".join(f"{name}: {fault[1]}" for name, fault in failures)
    return ReportedCondition(type_, Status.FALSE, failures[0][1][0], masked(sentence))


def _added(usages: Sequence[ResourceUsage], now: datetime) -> ResourceUsage | None:
    if not usages:
        return None
    return ResourceUsage(
        capacity={name: amount for usage in usages for name, amount in usage.capacity.items()},
        allocatable={name: amount for usage in usages for name, amount in usage.allocatable.items()},
        available={name: amount for usage in usages for name, amount in usage.available.items()},
        observed=now,
    )


def _error_text(error: Exception) -> str:
    return masked(str(error) or type(error).__name__)
