"""Why an object is not available, in its controller's own words; only what it says of its present spec."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.model.observations import Verdict
from gitfleet.observe import availability_of
from gitfleet.observe.texts import ObserveText
from tests.observe.test_availability import NO_POD, STALE, A, N, U, body


def said(type_: str, status: str, reason: str, message: str = "") -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def waiting(reason: str, message: str = "", name: str = "web") -> dict[str, Any]:
    return {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}


DEADLINE = said("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "web-1" has timed out progressing.')
QUOTA = said("ReplicaFailure", "True", "FailedCreate", "pods are forbidden: exceeded quota")
BACKOFF = said("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
LATE = said("Failed", "True", "DeadlineExceeded", "Job was active longer than specified deadline")
FEW = ObserveText.REPLICAS_UPDATED(updated="0", wanted="1")
PULLING = 'Back-off pulling image "web:nope"'
UP = {"observedGeneration": 2, "updatedReplicas": 1, "availableReplicas": 1}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("apps/v1/Deployment", {"conditions": [DEADLINE]},
         Verdict(N, f'{FEW}; ProgressDeadlineExceeded: ReplicaSet "web-1" has timed out progressing.')),
        ("apps/v1/Deployment", {"conditions": [DEADLINE, QUOTA]},
         Verdict(N, f"{FEW}; FailedCreate: pods are forbidden: exceeded quota")),
        ("apps/v1/Deployment", {"conditions": [said("Progressing", "True", "ReplicaSetUpdated")]}, Verdict(N, FEW)),
        ("apps/v1/Deployment", {"observedGeneration": 1, "conditions": [DEADLINE]}, Verdict(N, STALE)),
        ("apps/v1/Deployment", {**UP, "conditions": [DEADLINE]}, Verdict(A)),
        ("apps/v1/StatefulSet", {"conditions": [QUOTA]},
         Verdict(N, (ObserveText.REPLICAS_AVAILABLE(available="0", wanted="1") +
             "; FailedCreate: pods are forbidden: exceeded quota"))),
        ("apps/v1/DaemonSet", {"desiredNumberScheduled": 1, "conditions": [QUOTA]},
         Verdict(N, (ObserveText.PODS_AVAILABLE(available="0", wanted="1") +
             "; FailedCreate: pods are forbidden: exceeded quota"))),
        ("apps/v1/ReplicaSet", {"conditions": [QUOTA]}, Verdict(N, "FailedCreate: pods are forbidden: exceeded quota")),
        ("apps/v1/ReplicaSet", {"conditions": [said("ReplicaFailure", "False", "")]},
         Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="ReplicaSet"))),
        ("v1/ReplicationController", {"conditions": [QUOTA]},
         Verdict(N, "FailedCreate: pods are forbidden: exceeded quota")),
        ("batch/v1/Job", {"conditions": [BACKOFF]},
         Verdict(N, f"{NO_POD}; BackoffLimitExceeded: Job has reached the specified backoff limit")),
        ("batch/v1/Job", {"succeeded": 1, "conditions": [LATE]}, Verdict(A)),
        ("v1/PersistentVolumeClaim", {"phase": "Lost"}, Verdict(N, ObserveText.VOLUME_LOST())),
        ("v1/PersistentVolumeClaim", {"phase": "Pending"},
         Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="PersistentVolumeClaim"))),
        ("v1/Service", {"phase": "Lost"}, Verdict(N, ObserveText.NO_CLUSTER_IP_ASSIGNED())),
        ("v1/Pod", {"phase": "Running", "containerStatuses": [{"name": "web", "state": {"running": {}}}]},
         Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Pod"))),
        ("v1/Pod", {"phase": "Pending", "containerStatuses": [waiting("ContainerCreating")]},
         Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Pod"))),
        *[
            ("v1/Pod", {"phase": "Pending", "containerStatuses": [waiting(reason, PULLING)]},
             Verdict(N, f"container web: {reason}: {PULLING}"))
            for reason in ("CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError")
        ],
        ("v1/Pod", {"containerStatuses": [waiting("PodInitializing")],
                    "initContainerStatuses": [waiting("CrashLoopBackOff", name="migrate")]},
         Verdict(N, "container migrate: CrashLoopBackOff")),
        ("v1/Pod", {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."},
         Verdict(N, "Evicted: The node was low on resource: memory.")),
        ("v1/Pod", {"phase": "Failed"}, Verdict(N, ObserveText.NO_REASON_GIVEN())),
        *[
            ("v1/Pod", {"containerStatuses": odd}, Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Pod")))
            for odd in (None, "x", [None], ["x"], [{"state": {"waiting": {"reason": ["x"]}}}])
        ],
    ],
)  # fmt: skip
def test_the_cause_is_named(kind: str, status: dict[str, Any], expected: Verdict) -> None:
    stated = {"observedGeneration": 2, **status} if kind.startswith("apps/") else status
    assert availability_of(body(kind, stated)) == expected
