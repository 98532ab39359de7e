"""Verdicts that the vectors do not cover: Jobs, custom kinds, sentences."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe import availability_of
from gitfleet.observe.availability import reports_generation
from gitfleet.observe.texts import ObserveText

A, N, U = Availability.AVAILABLE, Availability.NOT_YET, Availability.NOT_TRACKABLE
STALE, NO_POD = ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC(), ObserveText.NO_POD_SUCCEEDED_READY()
UNTRACKED = Verdict(U, ObserveText.NO_READY_CONDITION())


def body(kind: str, status: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    api_version, _, name = kind.rpartition("/")
    metadata = {"name": "x", "generation": more.pop("generation", 2)}
    return {"apiVersion": api_version, "kind": name, "metadata": metadata, "status": status or {}, **more}


def not_ready(cause: str) -> Verdict:
    return Verdict(N, ObserveText.NOT_READY(cause_text=cause))


def ready(status: str = "True", **more: Any) -> dict[str, Any]:
    return {"type": "Ready", "status": status, "reason": "R", **more}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, Verdict(N, NO_POD)),
        ({"ready": 1, "active": 1}, Verdict(A)),
        ({"succeeded": 1}, Verdict(A)),
        (
            {"conditions": [{"type": "Failed", "status": "True", "reason": "Backoff", "message": "twice"}]},
            Verdict(N, f"{NO_POD}; Backoff: twice"),
        ),
        ({"conditions": [{"type": "Failed", "status": "False"}]}, Verdict(N, NO_POD)),
    ],
)
def test_jobs(status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("batch/v1/Job", status)) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, UNTRACKED),
        ({"conditions": "nonsense"}, UNTRACKED),
        ({"conditions": [ready()]}, Verdict(A)),
        ({"conditions": [ready("False", message="no disk")]}, not_ready("R: no disk")),
        ({"conditions": [ready(observedGeneration=2)]}, Verdict(A)),
        ({"conditions": [ready(observedGeneration=1)]}, Verdict(N, ObserveText.READY_CONDITION_OLDER_GENERATION())),
        ({"observedGeneration": 1, "conditions": [ready()]}, Verdict(N, STALE)),
        (
            {"conditions": [ready(), {"type": "Stalled", "status": "True", "reason": "BadChart"}]},
            Verdict(N, "it is Stalled: BadChart"),
        ),
        (
            {"conditions": [{"type": "Reconciling", "status": "True", "message": "upgrading"}]},
            Verdict(N, "it is Reconciling: upgrading"),
        ),
        ({"conditions": [{"type": "Reconciling", "status": "False"}]}, Verdict(A)),
        ({"observedGeneration": 2, "conditions": [ready()]}, Verdict(A)),
        ({"conditions": [ready("False", reason="")]}, not_ready(ObserveText.NO_REASON_GIVEN())),
        ({"conditions": [ready("False", message="  no\n disk\n")]}, not_ready("R: no disk")),
        ({"conditions": [ready("False", message="x" * 253)]}, not_ready("R: " + "x" * 253)),
        ({"conditions": [ready("False", message="x" * 254)]}, not_ready("R: " + "x" * 252 + "…")),
    ],
)
def test_custom_kinds_by_kstatus(status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("example.com/v1/Foo", status)) == expected


DEPLOYMENT, STATEFUL_SET, DAEMON_SET = (f"apps/v1/{kind}" for kind in ("Deployment", "StatefulSet", "DaemonSet"))


def updated(some: int, wanted: int) -> str:
    return ObserveText.REPLICAS_UPDATED(updated=some, wanted=wanted)


def available(some: int, wanted: int) -> str:
    return ObserveText.REPLICAS_AVAILABLE(available=some, wanted=wanted)


@pytest.mark.parametrize(
    ("kind", "spec", "status", "reason"),
    [
        (DEPLOYMENT, {"replicas": 2}, {"updatedReplicas": 1}, updated(1, 2)),
        (
            DEPLOYMENT,
            {"replicas": 2},
            {"updatedReplicas": 2, "availableReplicas": 1, "unavailableReplicas": 1},
            available(1, 2),
        ),
        (STATEFUL_SET, {"replicas": 3}, {"availableReplicas": 2}, available(2, 3)),
        (STATEFUL_SET, {}, {"availableReplicas": 1, "currentRevision": "a", "updateRevision": "b"}, updated(0, 1)),
        (DAEMON_SET, {}, {"desiredNumberScheduled": 3}, ObserveText.PODS_AVAILABLE(available="0", wanted="3")),
        (
            DAEMON_SET,
            {},
            {"currentNumberScheduled": 3, "updatedNumberScheduled": 2},
            ObserveText.PODS_UPDATED(updated="2", current="3"),
        ),
        (DEPLOYMENT, {}, {}, updated(0, 1)),
        (
            STATEFUL_SET,
            {"replicas": 2},
            {"availableReplicas": 2, "currentReplicas": 2, "updatedReplicas": 1},
            updated(1, 2),
        ),
        *[(kind, {}, {"observedGeneration": 1}, STALE) for kind in (DEPLOYMENT, STATEFUL_SET, DAEMON_SET)],
    ],
)
def test_why_a_workload_is_not_available(kind: str, spec: dict[str, Any], status: dict[str, Any], reason: str) -> None:
    assert availability_of(body(kind, {"observedGeneration": 2, **status}, spec=spec)) == Verdict(N, reason)


def _ingress(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"loadBalancer": {"ingress": list(entries)}}


NO_IP, NO_ADDRESS = ObserveText.NO_CLUSTER_IP_ASSIGNED(), ObserveText.LOAD_BALANCER_NO_ADDRESS_YET()


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({}, {}, Verdict(N, NO_IP)),
        ({"type": "ClusterIP", "clusterIPs": [""]}, {}, Verdict(N, NO_IP)),
        ({"type": "NodePort"}, {}, Verdict(N, NO_IP)),
        ({"type": "LoadBalancer"}, _ingress({}), Verdict(N, NO_ADDRESS)),
        ({"type": "LoadBalancer"}, _ingress({"hostname": "lb.example.com"}), Verdict(A)),
        (
            {"type": "ExternalName"},
            {},
            Verdict(U, ObserveText.AVAILABILITY_SERVICE_TYPE_NOT_TRACKABLE(other="ExternalName")),
        ),
    ],
)
def test_services(spec: dict[str, Any], status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("v1/Service", status, spec=spec)) == expected


def _allowed(status: str, reason: str, **more: Any) -> dict[str, Any]:
    return {"conditions": [{"type": "DisruptionAllowed", "status": status, "reason": reason}], **more}


NOT_OBSERVED = ObserveText.DISRUPTION_CONTROLLER_NOT_OBSERVED_YET()
NOT_CURRENT = ObserveText.DISRUPTIONALLOWED_CONDITION_NOT_CURRENT_YET()


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, Verdict(N, NOT_OBSERVED)),
        (_allowed("True", "SufficientPods", observedGeneration=1, disruptionsAllowed=1), Verdict(N, NOT_OBSERVED)),
        (_allowed("True", "SufficientPods", observedGeneration=2, disruptionsAllowed=1), Verdict(A)),
        (_allowed("False", "InsufficientPods", observedGeneration=2, disruptionsAllowed=1), Verdict(N, NOT_CURRENT)),
        (_allowed("True", "SufficientPods", observedGeneration=2), Verdict(N, NOT_CURRENT)),
        (_allowed("False", "SyncFailed", observedGeneration=2), Verdict(N, NOT_CURRENT)),
    ],
)
def test_disruption_budgets(status: dict[str, Any], expected: Verdict) -> None:
    """The condition must be current; it need not allow disruptions."""
    assert availability_of(body("policy/v1/PodDisruptionBudget", status)) == expected


@pytest.mark.parametrize(
    ("true", "expected"),
    [
        (("Established",), Verdict(N, ObserveText.DEFINITION_NOT_YET(kind="NamesAccepted"))),
        (("NamesAccepted",), Verdict(N, ObserveText.DEFINITION_NOT_YET(kind="Established"))),
    ],
)
def test_definitions(true: tuple[str, ...], expected: Verdict) -> None:
    status = {"conditions": [{"type": type_, "status": "True"} for type_ in true]}
    assert availability_of(body("apiextensions.k8s.io/v1/CustomResourceDefinition", status)) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("networking.k8s.io/v1/Ingress", Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Ingress"))),
        ("v1/Unheard", Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Unheard"))),
    ],
)
def test_kinds_without_a_rule(kind: str, expected: Verdict) -> None:
    assert availability_of(body(kind)) == expected


@pytest.mark.parametrize(
    ("status", "reports"),
    [
        ({}, False),
        ({"observedGeneration": 1}, True),
        ({"conditions": [ready()]}, False),
        ({"conditions": [ready(observedGeneration=1)]}, True),
        ({"conditions": [{"type": "Stalled", "observedGeneration": 1}]}, False),
    ],
)
def test_who_says_for_which_generation_it_speaks(status: dict[str, Any], reports: bool) -> None:
    assert reports_generation(body("example.com/v1/Foo", status)) is reports


def test_nonsense_is_no_crash() -> None:
    assert availability_of({}) == Verdict(U, ObserveText.AVAILABILITY_NOT_TRACKABLE(kind=""))
    assert (
        availability_of({"apiVersion": "apps/v1", "kind": "Deployment", "status": [], "spec": None}).availability is N
    )
