"""Whether a workload has pods of older content, and what its sources are asked before a rollout begins."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.workload.handlers import BUILT_IN, WorkloadHandler, Workloads
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import Deployment

DEPLOYMENT, STATEFUL_SET, DAEMON_SET, CLONE_SET = (
    next(handler for kind, handler in BUILT_IN.items() if kind.kind == name)
    for name in ("Deployment", "StatefulSet", "DaemonSet", "CloneSet")
)


@pytest.mark.parametrize(
    ("handler", "status", "expected"),
    [
        *(
            (handler, status, expected)
            for handler in (DEPLOYMENT, STATEFUL_SET, CLONE_SET)
            for status, expected in (
                ({"replicas": 4, "updatedReplicas": 4}, False),
                ({"replicas": 4, "updatedReplicas": 3}, True),
                ({"replicas": 4}, True),
                ({}, False),
            )
        ),
        (DAEMON_SET, {"currentNumberScheduled": 3, "updatedNumberScheduled": 3}, False),
        (DAEMON_SET, {"currentNumberScheduled": 3, "updatedNumberScheduled": 2}, True),
        (DAEMON_SET, {"currentNumberScheduled": 3}, True),
        (WorkloadHandler(), {"replicas": 4}, False),
    ],
)
def test_by_its_status(handler: WorkloadHandler, status: dict[str, Any], expected: bool) -> None:
    assert handler.has_older_pods({"status": status}) is expected


def test_a_target_has_to_be_stable_and_sources_only_seen() -> None:
    target, source = Deployment.running("new", 0).live, Deployment.running("old", 4, broken=4).live
    assert DEPLOYMENT.health(Workloads(target=target, sources=(source,), pods=(), wanted=None)) == ""
    unready = DEPLOYMENT.health(Workloads(target=source, sources=(target,), pods=(), wanted=None))
    assert unready == WorkloadText.PODS_READY(ready="0", wanted="4", live=source.key)
