"""Runs a scenario: virtual time passes, people commit, clusters fail, the reconciler crashes and comes back.

The reconciler itself is handed in, so that the very code decides here that decides in `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from gitfleet.api.bindings import is_available
from gitfleet.api.conditions import Status
from gitfleet.api.scenarios import Change, Entry, Gate, Removed, Scenario, Switch, Written
from gitfleet.api.snapshots import snapshot_index
from gitfleet.approvals import approval_path, approval_text
from gitfleet.errors import BadInput, RetryLater
from gitfleet.model.events import Event, EventType
from gitfleet.model.state import FleetState
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.simulation.rules import matches
from gitfleet.views.runs import pending_request

Listener = Callable[[Event, float], None]
_MOST_RECONCILES_AT_ONCE = 50


class Reconcile(Protocol):
    """The result of one reconcile."""

    @property
    def changed(self) -> bool:
        """Whether anything was written."""

    @property
    def state(self) -> FleetState:
        """The fleet's state after it."""

    @property
    def asks(self) -> tuple[str, ...]:
        """What only a person can let go on, in a sentence each."""

    @property
    def wake_at(self) -> datetime | None:
        """When time alone may change the decision."""


class Reconciler(Protocol):
    """What reconciles."""

    def reconcile(self) -> Reconcile:
        """One reconcile; RetryLater for a passing error."""


@dataclass(slots=True, kw_only=True)
class ScenarioRun:
    """One run. `start_reconciler` makes a fresh one (no memory), with a listener for its events; `is_answered` says
    whether a call has an answer that no reconcile has seen."""

    scenario: Scenario
    repo: MemoryRepo
    fleet: SimulatedFleet
    clock: ManualClock
    branch: str
    start_reconciler: Callable[[Callable[[Event], None]], Reconciler]
    listen: Listener
    is_answered: Callable[[], bool] = lambda: False
    _state: FleetState = FleetState()
    asks: tuple[str, ...] = ()
    """What only a person can let go on after the last reconcile, in a sentence each."""

    @property
    def state(self) -> FleetState:
        """The fleet's state after the last reconcile."""
        return self._state

    def run(self) -> FleetState:
        """Run to the end: nothing can move any more, or the scenario's time is over; the fleet's last state."""
        reconciler = self.start_reconciler(self._emit)
        waiting = list(self.scenario.timeline)
        end = self.scenario.start + self.scenario.max_time
        reason = "maxTime"
        while self.clock.now() <= end:
            while waiting and self._time_of(waiting[0]) <= self.clock.now():
                if self._apply_entry(waiting.pop(0)):
                    reconciler = self.start_reconciler(self._emit)
            settled, wake_at = self._reconcile(reconciler)
            moments = [self._time_of(waiting[0])] if waiting else []
            moments += [moment for moment in (self.fleet.next_change(), wake_at) if moment is not None]
            if not settled:
                moments.append(self.clock.now())
            later = [moment for moment in moments if moment > self.clock.now()]
            if settled and not later:
                reason = "settled"
                break
            self._advance(min(later, default=self.clock.now()))
        self._emit(Event(type=EventType.END, fields={"reason": reason, "placements": _summary(self._state)}))
        return self._state

    def _reconcile(self, reconciler: Reconciler) -> tuple[bool, datetime | None]:
        """Reconcile until nothing changes at this moment: (whether it settled, when to wake)."""
        wake_at: datetime | None = None
        for _ in range(_MOST_RECONCILES_AT_ONCE):
            try:
                result = reconciler.reconcile()
            except RetryLater:
                return False, None
            self._state, self.asks, wake_at = result.state, result.asks, result.wake_at
            if not (result.changed or self.is_answered()):
                return True, wake_at
        return False, wake_at

    def _advance(self, until: datetime) -> None:
        """Let time pass in whole steps: to the first reconcile at or after the moment at which something can happen."""
        tick = self.scenario.tick
        steps = max(1, -((self.clock.now() - until) // tick))
        self.clock.advance((steps * tick).total_seconds())

    def _time_of(self, entry: Entry) -> datetime:
        return self.scenario.start + entry.at

    def _emit(self, event: Event) -> None:
        self.listen(event, (self.clock.now() - self.scenario.start) / timedelta(seconds=1))

    def _apply_entry(self, entry: Entry) -> bool:
        """Let one entry of the timeline happen; whether the reconciler lost its memory."""
        match entry:
            case Entry(write=Written(path=path, content=content)):
                self._commit({path: content}, f"Write {path}")
            case Entry(remove=Removed(path=path)):
                inside = [p for p in self.repo.files(self.branch) if p == path or p.startswith(f"{path.rstrip('/')}/")]
                if not inside:
                    raise BadInput(f'the scenario removes "{path}" at {entry.at}, and there is no such file')
                self._commit(dict.fromkeys(inside), f"Remove {path}")
            case Entry(approve=Gate() as gate):
                self._answer(gate, Status.TRUE, entry.at)
            case Entry(reject=Gate() as gate):
                self._answer(gate, Status.FALSE, entry.at)
            case Entry(cluster=Switch(name=name, state=state)):
                self.fleet.cluster(name).reachable = state == "reachable"
            case Entry(mutate=Change(cluster=name, object=pattern, patch=patch)):
                cluster = self.fleet.cluster(name)
                objects = [live for live in cluster.objects() if matches(pattern, live.key, live.body)]
                if not objects:
                    raise BadInput(f"the scenario changes an object on {name} at {entry.at} that is not there")
                for live in objects:
                    cluster.mutate(live.key, patch)
            case _:  # the reconciler crashes: an entry is exactly one thing
                self._emit(Event(type=EventType.CRASH))
                return True
        return False

    def _answer(self, gate: Gate, answer: Status, at: timedelta) -> None:
        """A person answers the request that a stage waits for."""
        request = pending_request(self._state, gate.run, gate.stage)
        if request is None:
            word = "approves" if answer is Status.TRUE else "rejects"
            raise BadInput(
                f"the scenario {word} stage {gate.stage} of run {gate.run} at {at}, and it waits for no approval then",
                hint="the timeline's approvalRequested events say when one is asked for",
            )
        key = request.key
        content = approval_text(key.name, answer, namespace=key.namespace)
        subject = f"{'Approve' if answer is Status.TRUE else 'Reject'} {key}"
        self._commit({approval_path(key.name, key.namespace): content}, subject)

    def _commit(self, files: Mapping[str, str | None], subject: str) -> None:
        self.repo.commit_files(self.branch, files, self.clock.now(), subject)
        self._emit(Event(type=EventType.COMMIT, fields={"branch": self.branch, "subject": subject}))


def _summary(state: FleetState) -> dict[str, Any]:
    """What each placement has where, for the last line of the timeline."""
    return {
        str(key): {
            "clusters": {
                binding.cluster: {
                    "snapshot": snapshot_index(binding.applied_snapshot),
                    "available": is_available(binding),
                }
                for binding in record.bindings
                if binding.applied_snapshot is not None
            }
        }
        for key, record in state.placements.items()
    }
