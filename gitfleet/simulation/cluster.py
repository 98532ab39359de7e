"""A member cluster in memory: the Transport to a `MemoryServer`, with the faults that a real cluster has.

The adapter of clusters, the packages, the loop and the commands run on it unchanged; only the clock and what carries
their requests differ (contracts.md §5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import RLock
from typing import Final, TypeAlias

from gitfleet.api.clusters import K8S_VERSION, NODE_COUNT, ClusterStatus, ResourceUsage
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule
from gitfleet.errors import NoResponse
from gitfleet.model.observations import LiveObject
from gitfleet.ports.clock import Clock
from gitfleet.ports.properties import Collected
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation.bodies import Stored
from gitfleet.simulation.pods.model import MOST_PODS
from gitfleet.simulation.refusals import Refused
from gitfleet.simulation.requests import respond, target_of
from gitfleet.simulation.server import MemoryServer

KUBERNETES_VERSION: Final = "v1.36.0"
"""What a simulated cluster says it is, unless the MemberCluster file says otherwise."""


class SimulatedCrash(BaseException):
    """The process ends here, as by kill -9: what was done stays done, and no `except Exception` sees it."""


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
class ClusterEvent:
    """Something on a cluster: `what` is apply, delete, patch (by hand) or available; `ok` False is a refusal."""

    at: datetime
    cluster: str
    what: str
    key: ObjectKey
    ok: bool = True


Listener: TypeAlias = Callable[[ClusterEvent], None]


class SimulatedCluster:
    """Transport in memory. Its faults: `reachable`, `silent_because`, `failing`, `crash`, `mutate`, rules."""

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
        """A new cluster with the namespaces that every cluster has; `listener` gets what happens on it."""
        self.name = name
        self.reachable = True
        """False: nothing gets through, and everything on the cluster goes on by itself."""
        self.silent_because = "connection refused"
        self.reported = Collected()
        """What the MemberCluster file says of it, and its version; see `describe`."""
        self._clock = clock
        self._rules = tuple(rules)
        self._labels: Mapping[str, str] = dict(labels or {})
        self.crash = crash or CrashPoint()
        self._listener = listener
        self.failing = 0
        """So many of the next requests that would change something fail in a way that may pass (status 500)."""
        self._lock = RLock()
        self._server = MemoryServer(name)
        self._server.make_namespaces(clock.now())
        if listener is not None:
            self._server.on_settled = lambda key, at: self._emit("available", key, at=at)
        self._choose_rules()
        self.describe(self._labels, ClusterStatus())

    # The transport

    @property
    def server(self) -> str:
        """Transport.server."""
        return f"https://{self.name}.simulated.invalid"

    def request(self, request: Request) -> Response:
        """Transport.request. SimulatedCrash when one was planned."""
        with self._lock:
            if request.method == "GET" or "dryRun" in request.query:
                return respond(self._server, request, self._reached())
            self.crash.before_operation()
            try:
                return self._change(request)
            finally:
                self.crash.after_operation()

    def close(self) -> None:
        """There is no connection to let go."""

    # Faults and questions, for scenarios and tests

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

    def describe(self, labels: Mapping[str, str], status: ClusterStatus) -> bool:
        """Take over what the MemberCluster file says: labels (for the rules), properties and resources. Whether it says
        anything new of the latter."""
        if labels != self._labels:
            self._labels = dict(labels)
            self._choose_rules()
        properties = {K8S_VERSION: KUBERNETES_VERSION, **{n: value.value for n, value in status.properties.items()}}
        usage = replace(status.resource_usage, observed=None)
        reported = Collected(properties=properties, usage=None if usage == ResourceUsage() else usage)
        if reported == self.reported:
            return False
        self.reported = reported
        count = properties.get(NODE_COUNT, "")
        self._server.nodes = min(int(count), MOST_PODS) if count.isdecimal() else 1
        self._server.kubernetes_version = properties[K8S_VERSION]
        return True

    def behave(self, rules: Sequence[ClusterRule]) -> None:
        """Other rules from now on; what is under way keeps the time it was given."""
        self._rules = tuple(rules)
        self._choose_rules()

    # For saving

    @property
    def memory(self) -> MemoryServer:
        """What is behind the transport."""
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

    def _reached(self) -> datetime:
        """Now, when the request gets through."""
        now = self._present()
        if not self.reachable:
            raise NoResponse(self.silent_because, passing=True)
        return now

    def _change(self, request: Request) -> Response:
        now = self._reached()
        target = target_of(self._server, request.path)
        if self.failing > 0:
            self.failing -= 1
            why = Refused(500, "InternalError", "Internal error occurred: the scenario lets this request fail")
            response = Response(500, why.body)
        else:
            response = respond(self._server, request, now)
        if target is not None:
            action = "delete" if request.method == "DELETE" else "apply"
            self._emit(action, target.key, at=now, ok=response.ok)
        return response

    def _emit(self, action: str, key: ObjectKey, *, at: datetime, ok: bool = True) -> None:
        if self._listener is not None:
            self._listener(ClusterEvent(at=at, cluster=self.name, what=action, key=key, ok=ok))
