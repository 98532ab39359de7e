"""A member cluster in memory: the ClusterClient port on a `MemoryServer`, with the faults that a real cluster has.

The packages, the loop and the commands run on it unchanged; only the clock and the server differ (contracts.md §5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from gitfleet.api.clusters import ClusterStatus, PropertyValue, ResourceUsage
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, Update
from gitfleet.ports.clock import Clock
from gitfleet.simulation import kinds
from gitfleet.simulation.bodies import Refused, Stored
from gitfleet.simulation.rules import ClusterRule, ObjectPattern
from gitfleet.simulation.server import MemoryServer

KUBERNETES_VERSION: Final = "v1.36.0"
"""What a simulated cluster says it is, unless the MemberCluster file says otherwise."""
NODE_COUNT: Final = "kubernetes-fleet.io/node-count"
K8S_VERSION: Final = "k8s.io/k8s-version"

Performable: TypeAlias = Create | Update | Delete


class SimulatedCrash(BaseException):
    """The process dies here, as by kill -9: what was done stays done, and no `except Exception` learns of it."""


class CrashPoint:
    """When to crash: after so many operations on the clusters that share it; never while it is not armed."""

    def __init__(self) -> None:
        self._left: int | None = None

    def arm(self, operations: int | None) -> None:
        """Crash once that many operations are done (0: before the next one); None: not any more."""
        self._left = operations

    def before_operation(self) -> None:
        """SimulatedCrash when the time has come; that disarms it."""
        if self._left is not None and self._left <= 0:
            self._left = None
            raise SimulatedCrash("the process was killed between two operations")

    def after_operation(self) -> None:
        """Count one operation; SimulatedCrash when it was the last, before its outcome is known."""
        if self._left is not None:
            self._left -= 1
            self.before_operation()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something on a cluster: `what` is apply, delete, patch (by hand) or available; `ok` False is a refusal."""

    at: datetime
    cluster: str
    what: str
    key: ObjectKey
    ok: bool = True


Listener: TypeAlias = Callable[[Happening], None]


class SimulatedCluster:
    """ClusterClient in memory. Its faults: `reachable`, `fail_next`, `crash_after`, `mutate`, and the rules."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        *,
        rules: Sequence[ClusterRule] = (),
        labels: Mapping[str, str] | None = None,
        listener: Listener | None = None,
        crash: CrashPoint | None = None,
    ) -> None:
        """A new cluster with the namespaces that every cluster has; `listener` hears what happens on it."""
        self.name = name
        self.reachable = True
        """False: nothing gets through, and everything on the cluster goes on by itself."""
        self.on_performed: Callable[[], None] = lambda: None
        """Called once operations were carried out, before their outcomes are told."""
        self._clock = clock
        self._rules = tuple(rules)
        self._labels: Mapping[str, str] = dict(labels or {})
        self._status = ClusterStatus()
        self._crash = crash or CrashPoint()
        self._listener = listener
        self._failing: tuple[int, str] = (0, "")
        self._server = MemoryServer(name)
        self._server.found(clock.now())
        if listener is not None:
            self._server.on_settled = lambda key, at: self._emit("available", key, at=at)
        self._choose_rules()

    # The port

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """ClusterReader.look."""
        now = self._present()
        if not self.reachable:
            return ClusterObservation(cluster=self.name, reachable=False, error=self._unreachable(), observed=now)
        live: dict[ObjectKey, LiveObject | None] = {}
        unreadable: dict[ObjectKey, str] = {}
        for key in keys:
            try:
                live[key] = self._server.get(key)
            except Refused as refused:
                unreadable[key] = refused.message
        if not probe:
            return ClusterObservation(cluster=self.name, reachable=True, observed=now, live=live, unreadable=unreadable)
        return ClusterObservation(
            cluster=self.name,
            reachable=True,
            observed=now,
            live=live,
            unreadable=unreadable,
            namespaces=self._server.namespaces(),
            properties=self._properties(now),
            resource_usage=self._usage(now),
        )

    def perform(self, operations: Sequence[Performable]) -> Sequence[Outcome]:
        """ClusterWriter.perform. SimulatedCrash when one was planned."""
        outcomes: dict[int, Outcome] = {}
        for place in sorted(range(len(operations)), key=lambda place: (*_turn(operations[place]), place)):
            self._crash.before_operation()
            outcomes[place] = self._perform_one(operations[place])
            self._crash.after_operation()
        self.on_performed()
        return [outcomes[place] for place in range(len(operations))]

    def close(self) -> None:
        """There is no connection to let go."""

    # Faults and questions, for scenarios and tests

    def fail_next(self, count: int, code: str = "ServerError") -> None:
        """Let the next `count` operations fail in a way that may pass."""
        self._failing = (count, code)

    def crash_after(self, operations: int | None) -> None:
        """Let the process die once that many more operations are done here (0: before the next); None takes it back."""
        self._crash.arm(operations)

    def mutate(self, key: ObjectKey, patch: Sequence[JsonObject]) -> LiveObject:
        """Change an object by hand, reachable or not: a JSON patch under the manager kubectl-edit. BadInput."""
        now = self._present()
        live = self._server.patch_by_hand(key, patch, now=now)
        self._emit("patch", key, at=now)
        return live

    def delete_by_hand(self, key: ObjectKey) -> None:
        """Delete an object behind gitfleet's back; nothing happens when it is not there."""
        now = self._present()
        if key.identity in self._server.objects:
            self._server.delete(key, now=now)
            self._emit("delete", key, at=now)

    def apply_by_hand(self, body: JsonObject, *, manager: str = "kubectl") -> LiveObject:
        """Server-side apply by somebody else, forced: an object that is not gitfleet's. Refused as for anybody."""
        return self._server.apply(body, now=self._present(), manager=manager)

    def get(self, key: ObjectKey) -> LiveObject | None:
        """The object as it is now, reachable or not, under any version."""
        self._present()
        stored = self._server.objects.get(key.identity)
        return stored.live if stored else None

    def find(self, pattern: ObjectPattern) -> ObjectKey | None:
        """The key of the first object, in order of identity, that a pattern means."""
        return next((live.key for live in self.objects() if pattern.matches(live.key, live.body)), None)

    def objects(self) -> tuple[LiveObject, ...]:
        """Everything on the cluster now, in order of identity."""
        self._present()
        return tuple(self._server.objects[identity].live for identity in sorted(self._server.objects))

    def unavailable(self) -> tuple[ObjectKey, ...]:
        """What is not available now, whether or not it is reachable: what budgets are measured by."""
        self._present()
        return tuple(self._server.unsettled())

    def next_change(self) -> datetime | None:
        """When something here changes by itself next; None when nothing will."""
        self._present()
        return self._server.next_change()

    def describe(self, labels: Mapping[str, str], status: ClusterStatus) -> None:
        """Take over what the MemberCluster file says: labels (for the rules), properties and resources."""
        if status is not self._status:
            self._status = status
            count = status.properties.get(NODE_COUNT)
            self._server.nodes = int(count.value) if count is not None and count.value.isdecimal() else 1
        if labels != self._labels:
            self._labels = dict(labels)
            self._choose_rules()

    def behave(self, rules: Sequence[ClusterRule]) -> None:
        """Other rules from now on; what is under way keeps the time it was given."""
        self._rules = tuple(rules)
        self._choose_rules()

    # For saving

    @property
    def server(self) -> MemoryServer:
        """What is behind the port."""
        return self._server

    def restore(self, *, reachable: bool, version: int, objects: Sequence[Stored]) -> None:
        """Be what another cluster of this name was."""
        self.reachable = reachable
        self._server.restore(version, objects)
        self._server.changed = False

    def _present(self) -> datetime:
        now = self._clock.now()
        self._server.pass_time(now)
        return now

    def _choose_rules(self) -> None:
        self._server.rules = tuple(rule for rule in self._rules if rule.matches_cluster(self.name, self._labels))

    def _unreachable(self) -> str:
        return f"the API server of {self.name} does not answer"

    def _properties(self, now: datetime) -> dict[str, PropertyValue]:
        known = {name: PropertyValue(value.value, now) for name, value in self._status.properties.items()}
        return {K8S_VERSION: PropertyValue(KUBERNETES_VERSION, now), **known}

    def _usage(self, now: datetime) -> ResourceUsage | None:
        usage = self._status.resource_usage
        known = usage.capacity or usage.allocatable or usage.available
        return replace(usage, observed=now) if known else None

    def _perform_one(self, operation: Performable) -> Outcome:
        now = self._present()
        try:
            if not self.reachable:
                raise Refused("Unreachable", self._unreachable())
            count, code = self._failing
            if count > 0:
                self._failing = (count - 1, code)
                raise Refused(code, f"the API server of {self.name} failed while it handled {operation.key}")
            outcome = self._delete(operation, now) if isinstance(operation, Delete) else self._apply(operation, now)
        except Refused as refused:
            outcome = Outcome(
                operation=operation, ok=False, code=refused.code, message=refused.message, retry=refused.retry
            )
        self._emit("delete" if isinstance(operation, Delete) else "apply", operation.key, at=now, ok=outcome.ok)
        return outcome

    def _apply(self, operation: Create | Update, now: datetime) -> Outcome:
        for need in operation.needs:
            self._require(need)
        body, force = operation.manifest.body, operation.force
        if isinstance(operation, Update):
            version, uid = operation.resource_version, operation.live.uid or None
            live = self._server.apply(body, now=now, force=force, uid=uid, resource_version=version)
        else:
            live = self._server.apply(body, now=now, force=force)
        return Outcome(operation=operation, ok=True, code="Applied", live=live)

    def _delete(self, operation: Delete, now: datetime) -> Outcome:
        try:
            left = self._server.delete(operation.key, now=now, uid=operation.uid or None)
        except Refused as refused:
            if refused.code != "NotFound":
                raise
            return Outcome(operation=operation, ok=True, code="NotFound", message=refused.message)
        return Outcome(operation=operation, ok=True, code="Deleting" if left else "Deleted", live=left)

    def _require(self, need: ObjectKey) -> None:
        """Refused when an object that another one needs is not there, or is not ready to be used."""
        stored = self._server.objects.get(need.identity)
        body = stored.live.body if stored else None
        if need.group_kind == kinds.CRD:
            if body is None or not kinds.is_established(body):
                raise Refused("NeedsCRD", f"{need} is not established on {self.name}")
        elif body is None or body["metadata"].get("deletionTimestamp"):
            code = "NeedsNamespace" if need.group_kind == kinds.NAMESPACE else "NeedsObject"
            raise Refused(code, f"{need} is not there on {self.name}")

    def _emit(self, what: str, key: ObjectKey, *, at: datetime, ok: bool = True) -> None:
        if self._listener is not None:
            self._listener(Happening(at=at, cluster=self.name, what=what, key=key, ok=ok))


def _turn(operation: Any) -> tuple[bool, int]:
    """Applies by rising wave, then deletes by falling wave."""
    if isinstance(operation, Delete):
        return True, -operation.wave
    return False, int(operation.wave)
