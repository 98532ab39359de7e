"""Back-off of objects that have to be applied again and again although their manifest stays: somebody deletes or
changes them after each apply, or their server does not do what it answers. The others on the cluster go on.

KubeFleet (work applier) and Argo CD back off likewise; here every apply costs commits on the state branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.apply import names_of
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.times import time_text
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Subject
from gitfleet.model.operations import Create, Outcome, OutcomeCode, Update, Write
from gitfleet.ports.clock import Clock

_Writes = Mapping[str, Sequence[Write]]
_PAUSES: Final = Curve.growing(1.0, 2.0, 300.0)
_LASTED: Final = 2 * _PAUSES.most
"""After so many seconds in place an object has lasted."""


class _Applied(NamedTuple):
    """Applies of one manifest: how many, since when, and the `last` one by a clock, in seconds, that never jumps, which
    was at `moment`."""

    digest: str
    key: ObjectKey
    placement: PlacementKey
    times: int
    since: datetime
    last: float
    moment: datetime

    @property
    def again(self) -> datetime:
        """The moment until when the next one waits."""
        return self.moment + timedelta(seconds=self.pause)

    def subjects(self, cluster: str) -> tuple[Subject, ...]:
        """What it is a part of."""
        object_ = Subject.of_object(self.key, cluster)
        return Subject("MemberCluster", cluster), Subject.of_placement(self.placement), object_

    @property
    def pause(self) -> float:
        """Seconds until the next apply: none for the first repeat, then 1 s, 2 s, 4 s and so on."""
        return 0.0 if self.times < 2 else _PAUSES.after(self.times - 1)


@dataclass(slots=True)
class ApplyBackoff:
    """What this process has applied of late. It is lost with the process: then the pauses begin again."""

    next_at: datetime | None = None
    """When the first of the objects that wait is applied again; None while none waits."""
    _applied: dict[tuple[str, Identity], _Applied] = field(default_factory=dict)

    def perform(
        self, operations: Iterable[Write], clock: Clock, perform: Callable[[_Writes], tuple[Outcome, ...]]
    ) -> tuple[Outcome, ...]:
        """Perform what is to be written, by cluster; what has to wait has the outcome NotAsked, with the reason."""
        now = clock.monotonic()
        writes: dict[str, list[Write]] = {}
        waiting: list[tuple[Create | Update, _Applied]] = []
        for operation in operations:
            if isinstance(operation, Create | Update) and (applied := self._waiting(operation, now)):
                waiting.append((operation, applied))
            else:
                writes.setdefault(operation.cluster, []).append(operation)
        self.next_at = min((applied.again for _, applied in waiting), default=None)
        outcomes = perform(writes) if writes else ()
        self._note(outcomes, clock.monotonic(), clock.now())
        return (*outcomes, *(_not_asked(*waiter) for waiter in waiting))

    def forget(self, failed: Iterable[Subject]) -> None:
        """Count from the beginning what is a part of something that could not be noted down: it is applied again
        because of that."""
        if subjects := frozenset(failed):
            entries = self._applied.items()
            self._applied = {key: applied for key, applied in entries if subjects.isdisjoint(applied.subjects(key[0]))}

    def _waiting(self, operation: Create | Update, now: float) -> _Applied | None:
        applied = self._applied.get((operation.cluster, operation.key.identity))
        if applied is None or applied.digest != operation.manifest.digest or now >= applied.last + applied.pause:
            return None
        return applied

    def _note(self, outcomes: Iterable[Outcome], now: float, moment: datetime) -> None:
        """Count what was applied, and forget what has lasted."""
        self._applied = {key: applied for key, applied in self._applied.items() if now - applied.last <= _LASTED}
        for outcome in outcomes:
            operation = outcome.operation
            if not outcome.ok or not isinstance(operation, Create | Update):
                continue
            key, digest = (operation.cluster, operation.key.identity), operation.manifest.digest
            applied = self._applied.get(key)
            times, since = (applied.times + 1, applied.since) if applied and applied.digest == digest else (1, moment)
            self._applied[key] = _Applied(digest, operation.key, operation.placement, times, since, now, moment)


def _not_asked(operation: Create | Update, applied: _Applied) -> Outcome:
    names = names_of(operation.writers) if isinstance(operation, Update) else ""
    state, does = ("is gone", "deletes") if isinstance(operation, Create) else ("differs", "changes")
    message = FleetText.AGAIN_AFTER_EACH_APPLY(
        what=state,
        times=applied.times,
        time_text=time_text(applied.since),
        names=names or "something",
        cluster=operation.cluster,
        does=does,
        time_text_2=time_text(applied.again),
    )
    return Outcome(operation=operation, ok=False, code=OutcomeCode.NOT_ASKED, message=message)
