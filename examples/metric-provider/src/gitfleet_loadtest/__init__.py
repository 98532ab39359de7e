"""How slow a service is under load, measured by a server that runs load tests.

    POST   /runs        {"test": NAME}   begins a run: 201 and {"run": ID}; the same Idempotency-Key gives the same run
    GET    /runs/ID                      {"state": "running"}, or {"state": "done", "p95Seconds": NUMBER}
    DELETE /runs/ID                      ends it

A run takes minutes: `start` returns at once, and gitfleet calls `resume` until it is over.
"""

from __future__ import annotations

import json
from typing import Any

from gitfleet.ports.metric_providers import (
    BadInput,
    MeasurementState,
    MetricOutcome,
    MetricProvider,
    MetricProviderAccess,
    MetricQuery,
    OutboundRequest,
)

LOOK_AGAIN_SECONDS = 10.0


class LoadTest(MetricProvider):
    """The `query` of a MetricTemplate is the name of a test, `address` where the server is."""

    def __init__(self, access: MetricProviderAccess) -> None:
        self._http = access.http

    def start(self, query: MetricQuery) -> MeasurementState:
        """Begin a run. A process that was killed comes back with the same id, and so to the same run."""
        body = json.dumps({"test": query.query}).encode()
        found = self._asked("POST", query, "/runs", body, {"Idempotency-Key": query.id})
        return MeasurementState(after=LOOK_AGAIN_SECONDS, progress={"run": str(found["run"])})

    def resume(self, query: MetricQuery, state: MeasurementState) -> MeasurementState:
        """Look whether the run is over."""
        found = self._asked("GET", query, f"/runs/{state.progress['run']}")
        if found.get("state") == "running":
            return state
        if "p95Seconds" not in found:
            return MeasurementState(
                outcome=MetricOutcome.NO_DATA, message=f"the run {state.progress['run']} sent nothing"
            )
        return MeasurementState(outcome=MetricOutcome.MEASURED, values=(float(found["p95Seconds"]),))

    def stop(self, query: MetricQuery, state: MeasurementState) -> None:
        """Put no more load on a service whose rollout is over."""
        self._asked("DELETE", query, f"/runs/{state.progress['run']}")

    def _asked(
        self, method: str, query: MetricQuery, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        request = OutboundRequest(
            method=method,
            url=query.address.rstrip("/") + path,
            content=body,
            content_type="application/json" if body else "",
            headers=headers or {},
            seconds=10.0,
        )
        reply = self._http.request(request)
        if reply.status not in (200, 201, 204):
            line = self._http.without_secrets(reply.content.decode(errors="replace"))
            raise BadInput(f"{reply.host} answers {reply.status} to {method} {path}: {line}")
        found = json.loads(reply.content or b"{}")
        if not isinstance(found, dict):
            raise BadInput(f"{reply.host} answers {method} {path} with no JSON object")
        return found
