"""Verdicts that the vectors do not cover: Jobs, custom kinds, sentences."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe import availability_of

A, N, U = Availability.AVAILABLE, Availability.NOT_YET, Availability.NOT_TRACKABLE


def body(kind: str, status: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    api_version, _, name = kind.rpartition("/")
    metadata = {"name": "x", "generation": more.pop("generation", 2)}
    return {"apiVersion": api_version, "kind": name, "metadata": metadata, "status": status or {}, **more}


def ready(status: str = "True", **more: Any) -> dict[str, Any]:
    return {"type": "Ready", "status": status, "reason": "R", **more}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, Verdict(N, "no pod has succeeded or is ready")),
        ({"ready": 1, "active": 1}, Verdict(A)),
        ({"succeeded": 1}, Verdict(A)),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, Verdict(A)),
        (
            {"conditions": [{"type": "Failed", "status": "True", "message": "BackoffLimitExceeded"}]},
            Verdict(N, "the job failed: BackoffLimitExceeded"),
        ),
    ],
)
def test_jobs(status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("batch/v1/Job", status)) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, Verdict(U, "it has no Ready condition")),
        ({"conditions": "nonsense"}, Verdict(U, "it has no Ready condition")),
        ({"conditions": [ready()]}, Verdict(A)),
        ({"conditions": [ready("False", message="no disk")]}, Verdict(N, "it is not Ready: no disk")),
        ({"conditions": [ready("Unknown")]}, Verdict(N, "it is not Ready: R")),
        ({"conditions": [ready(observedGeneration=2)]}, Verdict(A)),
        ({"conditions": [ready(observedGeneration=1)]}, Verdict(N, "its Ready condition is of an older generation")),
        (
            {"observedGeneration": 1, "conditions": [ready()]},
            Verdict(N, "its controller has not observed the latest spec yet"),
        ),
        (
            {"conditions": [ready(), {"type": "Stalled", "status": "True", "reason": "BadChart"}]},
            Verdict(N, "it is Stalled: BadChart"),
        ),
        (
            {"conditions": [{"type": "Reconciling", "status": "True", "message": "upgrading"}]},
            Verdict(N, "it is Reconciling: upgrading"),
        ),
        ({"conditions": [{"type": "Reconciling", "status": "False"}]}, Verdict(A)),
    ],
)
def test_custom_kinds_by_kstatus(status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("example.com/v1/Foo", status)) == expected


def test_a_kind_of_a_known_name_in_another_group_is_custom() -> None:
    assert availability_of(body("example.com/v1/Deployment")).availability is U
    assert availability_of(body("example.com/v1/ConfigMap", {"conditions": [ready("False")]})).availability is N


@pytest.mark.parametrize(
    ("kind", "spec", "status", "reason"),
    [
        ("apps/v1/Deployment", {"replicas": 2}, {"updatedReplicas": 1}, "1 of 2 replicas are updated"),
        (
            "apps/v1/Deployment",
            {"replicas": 2},
            {"updatedReplicas": 2, "availableReplicas": 1, "unavailableReplicas": 1},
            "1 of 2 replicas are available",
        ),
        ("apps/v1/StatefulSet", {"replicas": 3}, {"availableReplicas": 2}, "2 of 3 replicas are available"),
        (
            "apps/v1/StatefulSet",
            {},
            {"availableReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
            "0 of 1 replicas are updated",
        ),
        ("apps/v1/DaemonSet", {}, {"desiredNumberScheduled": 3}, "0 of 3 pods are available"),
    ],
)
def test_why_a_workload_is_not_available(kind: str, spec: dict[str, Any], status: dict[str, Any], reason: str) -> None:
    assert availability_of(body(kind, {"observedGeneration": 2, **status}, spec=spec)) == Verdict(N, reason)


def test_nonsense_is_no_crash() -> None:
    assert availability_of({}).availability is U
    assert (
        availability_of({"apiVersion": "apps/v1", "kind": "Deployment", "status": [], "spec": None}).availability is N
    )
