"""A Lease of coordination.k8s.io/v1 as the record of who leads; each write names the version that it replaces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gitfleet.adapters.kube.kubeconfigs import read_kubeconfig
from gitfleet.adapters.kube.logins import Endpoint, LoginSource
from gitfleet.adapters.kube.own_cluster import own_cluster, pod_namespace
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire, micro_time
from gitfleet.api.objects import JsonObject
from gitfleet.errors import ClusterUnreachable, Forbidden, MissingPart
from gitfleet.formats.json_values import section
from gitfleet.ports.clock import Clock
from gitfleet.ports.leases import LeaseRecord
from gitfleet.ports.transport import Response
from gitfleet.settings import ConnectionRules

_LONGEST_QUOTE: Final = 400
_ONCE: Final = Timeouts(connect_seconds=2.0, read_seconds=3.0, response_seconds=4.0, tries=1)
"""The election tries again by itself, and a request must end well within its deadline."""


class KubeLease:
    """See ports.leases.Lease. The times in it are for people: nobody compares them with a clock of its own."""

    def __init__(self, wire: Wire, namespace: str, name: str, clock: Clock) -> None:
        self._wire, self._namespace, self._name, self._clock = wire, namespace, name, clock

    def __str__(self) -> str:
        return f"Lease {self._namespace}/{self._name}"

    @property
    def _folder(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self._namespace}/leases"

    def read(self) -> LeaseRecord | None:
        """See the port."""
        response = self._wire.send("GET", f"{self._folder}/{self._name}")
        return None if response.status == 404 else self._record(response, "read")

    def write(self, holder: str, seconds: float, over: LeaseRecord | None) -> LeaseRecord | None:
        """See the port."""
        body = self._body(holder, seconds, over)
        if over is None:
            response = self._wire.send("POST", self._folder, body=body)
            if response.status == 404:
                raise MissingPart(KubeText.NO_NAMESPACE(namespace=self._namespace, name=self), hint="make it")
        else:
            response = self._wire.send("PUT", f"{self._folder}/{self._name}", body=body)
        taken = response.status == 409 or (response.status == 404 and over is not None)
        return None if taken else self._record(response, "write")

    def close(self) -> None:
        """See the port."""
        self._wire.close()

    def _body(self, holder: str, seconds: float, over: LeaseRecord | None) -> JsonObject:
        """The next object; what others keep in it stays."""
        before = over.body if over is not None else {}
        spec, now = dict(before.get("spec") or {}), micro_time(self._clock.now())
        if over is None or over.holder != holder:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = over.transitions + 1 if over is not None and holder else _transitions(spec)
        spec |= {"holderIdentity": holder, "leaseDurationSeconds": max(1, int(seconds)), "renewTime": now}
        kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        return {**kind, **before, "metadata": before.get("metadata") or {"name": self._name}, "spec": spec}

    def _record(self, response: Response, verb: str) -> LeaseRecord:
        if response.status in (401, 403):
            # The log of the election has no hints: the sentence itself says what to do.
            refusal = f"{KubeText.GITFLEET_NOT(verb=verb, name=self)}: {refusal_of(response).message}"[:_LONGEST_QUOTE]
            raise Forbidden(f"{refusal.rstrip('.')}; {KubeText.NEEDS_VERBS_GET()}")
        if not response.ok:
            raise ClusterUnreachable(KubeText.GAVE_STATUS(name=self, status=response.status))
        body = response.json()
        spec = section(body, "spec")
        seconds = spec.get("leaseDurationSeconds")
        return LeaseRecord(
            holder=str(spec.get("holderIdentity") or ""),
            seconds=float(seconds) if isinstance(seconds, int) else 0.0,
            transitions=_transitions(spec),
            renewed=str(spec.get("renewTime")),
            body=body,
        )


def _transitions(spec: JsonObject) -> int:
    transitions = spec.get("leaseTransitions")
    return transitions if isinstance(transitions, int) else 0


def open_lease(allowed: ConnectionRules, place: tuple[str, str], clock: Clock) -> KubeLease:
    """The lease of that namespace and name in the cluster of this pod, or, in no pod, in that of the current context of
    the kubeconfig. MissingPart and BadInput where that cannot be."""
    from gitfleet.adapters.kube.http_transport import HttpTransport  # slow to import

    namespace, name = place
    transport = HttpTransport(*_access(allowed, f"Lease {namespace}/{name}", clock), parallel=1, timeouts=_ONCE)
    return KubeLease(Wire(KubeText.CLUSTER_LEASE(), transport, timeouts=_ONCE), namespace, name, clock)


def _access(allowed: ConnectionRules, subject: str, clock: Clock) -> tuple[Endpoint, LoginSource]:
    if pod_namespace(allowed.service_account) is not None or allowed.kubeconfig is None:
        return own_cluster(allowed.service_account, subject, "give --kubeconfig FILE")
    path = Path(str(allowed.kubeconfig).split(os.pathsep)[0])
    kubeconfig = read_kubeconfig(path, KubeText.KUBECONFIG(path=path.name, name=subject))
    return kubeconfig.access(allowed, clock.now)
