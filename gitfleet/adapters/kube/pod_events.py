"""Kubernetes Events about the pod that this process runs in, counted and limited as client-go's recorder does.

What is said again within ten minutes is counted in a series, and a burst is limited: so an API server gets few writes
whatever happens to the fleet.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gitfleet.adapters.kube.own_cluster import own_cluster, pod_namespace
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire, micro_time
from gitfleet.api.notifications import NotificationEvent
from gitfleet.api.objects import JsonObject
from gitfleet.errors import ClusterUnreachable, Forbidden
from gitfleet.model.notifications import NotificationMessage
from gitfleet.ports.clock import Clock
from gitfleet.ports.transport import Response
from gitfleet.settings import ConnectionRules

TOGETHER: Final = timedelta(minutes=10)
"""What is said again within so long is the same Event."""
BURST: Final = 25
"""So many writes at once, and then one in REFILL seconds."""
REFILL: Final = 300.0
_LONGEST_NOTE: Final = 1000
_CONTROLLER: Final = "gitfleet.dev/run"
_WARNING: Final = frozenset(
    {
        NotificationEvent.RUN_FAILED,
        NotificationEvent.APPLY_FAILED,
        NotificationEvent.CLUSTER_UNHEALTHY,
        NotificationEvent.ERROR,
        NotificationEvent.RECONCILE_FAILING,
    }
)
_ONCE: Final = Timeouts(connect_seconds=5.0, read_seconds=10.0, response_seconds=10.0, tries=1)


@dataclass(slots=True)
class _Series:
    name: str
    count: int
    last: datetime


@dataclass(slots=True, kw_only=True)
class PodEvents:
    """See ports.notifiers.Notifier: each occurrence of a message becomes an Event, or one more of its series."""

    wire: Wire
    namespace: str
    pod: str
    uid: str
    clock: Clock
    _series: dict[tuple[str, str], _Series] = field(default_factory=dict)
    _allowance: float = BURST
    _since: float | None = None

    def send(self, message: NotificationMessage) -> None:
        """See the port."""
        for event in message.document["events"]:
            if self._may():
                self._say(NotificationEvent(event["event"]), str(event["message"])[:_LONGEST_NOTE])

    def _say(self, event: NotificationEvent, note: str) -> None:
        now, reason = self.clock.now(), event.value[0].upper() + event.value[1:]
        self._series = {key: series for key, series in self._series.items() if now - series.last <= TOGETHER}
        previous = self._series.get((reason, note))
        if previous is not None and self._counted(previous, now):
            return
        name = f"{self.pod[:200]}.{secrets.token_hex(8)}"
        self._write("POST", self._folder, self._body(name, event, reason, note))
        self._series[reason, note] = _Series(name, 1, now)

    def _counted(self, previous: _Series, now: datetime) -> bool:
        """Count it in the series of an Event; whether that is still there."""
        body = {"series": {"count": previous.count + 1, "lastObservedTime": micro_time(now)}}
        if self._write("PATCH", f"{self._folder}/{previous.name}", body).status == 404:
            return False
        previous.count, previous.last = previous.count + 1, now
        return True

    def _body(self, name: str, event: NotificationEvent, reason: str, note: str) -> JsonObject:
        regarding = {"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace, "name": self.pod}
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": self.namespace},
            "eventTime": micro_time(self.clock.now()),
            "reportingController": _CONTROLLER,
            "reportingInstance": self.pod[:128],
            "action": "Reconcile",
            "reason": reason,
            "regarding": {**regarding, **({"uid": self.uid} if self.uid else {})},
            "note": note,
            "type": "Warning" if event in _WARNING else "Normal",
        }

    @property
    def _folder(self) -> str:
        return f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"

    def _write(self, method: str, path: str, body: JsonObject) -> Response:
        headers = {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
        response = self.wire.send(method, path, body=body, headers=headers)
        if response.status in (401, 403):
            hint = KubeText.NEEDS_CREATE_PATCH_EVENTS_EVENTS()
            raise Forbidden(KubeText.GITFLEET_NOT_WRITE_EVENTS_NAMESPACE(namespace=self.namespace), hint=hint)
        if not response.ok and response.status != 404:
            raise ClusterUnreachable(KubeText.API_SERVER_REFUSES_EVENT_STATUS(status=response.status))
        return response

    def _may(self) -> bool:
        """Take one of the writes that are allowed now."""
        now = self.clock.monotonic()
        passed = 0.0 if self._since is None else now - self._since
        self._allowance, self._since = min(BURST, self._allowance + passed / REFILL), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def pod_events(allowed: ConnectionRules, pod: str, uid: str, clock: Clock) -> Callable[[], PodEvents] | None:
    """What makes the writer of Events about the pod of this process; None where it runs in none."""
    namespace = pod_namespace(allowed.service_account)
    if namespace is None:
        return None

    made = list[PodEvents]()  # one, which counts what it has said

    def writer() -> PodEvents:
        if made:
            return made[0]
        from gitfleet.adapters.kube.http_transport import HttpTransport  # slow to import

        endpoint, login = own_cluster(allowed.service_account, KubeText.EVENT_POD())
        transport = HttpTransport(endpoint, login, parallel=1, timeouts=_ONCE)
        wire = Wire(KubeText.GITFLEET_OWN_CLUSTER(), transport, timeouts=_ONCE)
        made.append(PodEvents(wire=wire, namespace=namespace, pod=pod, uid=uid, clock=clock))
        return made[0]

    return writer
