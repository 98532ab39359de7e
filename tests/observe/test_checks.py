"""Availability by the fleet's own health checks: before gitfleet's rules, in the order of Flux's RFC 0009."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.fleet import FleetConfig, HealthCheck
from gitfleet.api.objects import GroupKind
from gitfleet.formats.cel import read_expression
from gitfleet.formats.texts import FormatsText
from gitfleet.model.failures import Failures
from gitfleet.model.observations import LiveObject, Verdict
from gitfleet.observe import Seen, availability_of, observe_bindings
from gitfleet.observe.availability import NO_CHECKS, Checks
from gitfleet.observe.results import results_of
from gitfleet.observe.texts import ObserveText
from tests.observe.test_availability import STALE, UNTRACKED, A, N, body, ready
from tests.observe.test_bindings import CM, T1, binding, create, done_by_cluster, kept, manifest, work
from tests.observe.test_fleet import UP, record

AVAILABLE, FAILED = "status.phase == 'Ready'", "status.phase in ['Error', 'Lost']"
UNAVAILABLE = ObserveText.HEALTH_CHECK_SAYS_NOT_AVAILABLE
HAS_FAILED = Verdict(N, ObserveText.HEALTH_CHECK_SAYS_FAILED(beside=""))
NO_READY = ObserveText.NOT_READY(cause_text="NoDisk")


def check(kind: str, available: str | None = AVAILABLE, failed: str | None = FAILED) -> Checks:
    group, _, name = kind.rpartition("/")
    read = {"available": available, "failed": failed}
    found = HealthCheck(
        group=group, kind=name, **{field: read_expression(text) for field, text in read.items() if text is not None}
    )
    return FleetConfig(health_checks=(found,)).checks


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Ready"}, Verdict(A)),
        ({"phase": "Ready", "observedGeneration": 2}, Verdict(A)),
        ({"phase": "Ready", "observedGeneration": "1"}, Verdict(A)),
        ({"phase": "Ready", "observedGeneration": 1}, Verdict(N, STALE)),
        ({"phase": "Ready", "conditions": [ready("False")]}, Verdict(A)),
        ({"phase": "Building"}, Verdict(N, UNAVAILABLE(beside=""))),
        (
            {"phase": "Building", "conditions": [ready("False", reason="NoDisk")]},
            Verdict(N, UNAVAILABLE(beside=f"; {NO_READY}")),
        ),
        ({"phase": "Error"}, HAS_FAILED),
        (
            {"phase": "Error", "conditions": [ready("False", reason="NoDisk")]},
            Verdict(N, ObserveText.HEALTH_CHECK_SAYS_FAILED(beside=f"; {NO_READY}")),
        ),
    ],
)
def test_the_order_of_the_questions(status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body("example.com/v1/Foo", status), check("example.com/Foo")) == expected


FOO_KIND, LOST = "example.com/v1/Foo", {"phase": "Lost"}
RUNNING = check("Pod", "status.phase == 'Running'", None)


def no_phase(name: str) -> Verdict:
    error = FormatsText.NO_FIELD(missing="phase")
    return Verdict(N, ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name=name, error=error))


@pytest.mark.parametrize(
    ("kind", "checks", "status", "expected"),
    [
        (FOO_KIND, check("example.com/Foo", failed=None), {}, no_phase("available")),
        (FOO_KIND, check("example.com/Foo"), {}, no_phase("failed")),
        (FOO_KIND, check("example.com/Foo", available=None), {"phase": "Ready"}, UNTRACKED),
        (FOO_KIND, check("example.com/Foo", available=None), LOST, HAS_FAILED),
        (FOO_KIND, check("example.com/Bar"), LOST, UNTRACKED),
        (FOO_KIND, check("example.org/Foo"), LOST, UNTRACKED),
        (
            "apps/v1/Deployment",
            check("apps/Deployment", "status.readyReplicas >= 1", None),
            {"readyReplicas": 1},
            Verdict(A),
        ),
        ("v1/ConfigMap", check("ConfigMap", "has(self.data)", None), {}, Verdict(N, UNAVAILABLE(beside=""))),
        ("v1/Pod", RUNNING, {"phase": "Running"}, Verdict(A)),
        ("v1/Pod", RUNNING, {"phase": "Failed", "reason": "Evicted"}, Verdict(N, UNAVAILABLE(beside="; Evicted"))),
    ],
)
def test_which_objects_it_decides(kind: str, checks: Checks, status: dict[str, Any], expected: Verdict) -> None:
    assert availability_of(body(kind, status), checks) == expected


FOO = manifest("example.com/v1/Foo", "x")
JUST = Verdict(N, ObserveText.ONLY_JUST_APPLIED())


@pytest.mark.parametrize(
    ("status", "after_apply", "as_found"),
    [
        ({"phase": "Ready"}, JUST, Verdict(A)),
        ({"phase": "Ready", "observedGeneration": 1}, Verdict(A), Verdict(A)),
        ({"phase": "Error"}, HAS_FAILED, HAS_FAILED),
    ],
)
def test_a_status_that_may_be_older_than_the_apply_does_not_count(
    status: dict[str, Any], after_apply: Verdict, as_found: Verdict
) -> None:
    """Decision D24, in built-in kinds too."""
    for wanted, checks in ((FOO, check("example.com/Foo")), (CM, check("ConfigMap"))):
        live = LiveObject(wanted.key, {**wanted.body, "metadata": {"generation": 1}, "status": status})
        applied = replace(done_by_cluster(create(wanted)), live=live)
        (first,) = results_of(work(wanted), [create(wanted)], [applied], checks)
        (next_one,) = results_of(work(wanted), [kept(wanted, live=live)], [], checks)
        assert (first.verdict, next_one.verdict) == (after_apply, as_found)


def test_bindings_are_judged_by_the_checks_of_the_fleet() -> None:
    for checks, status in ((check("ConfigMap", failed="true"), "False"), (NO_CHECKS, "True")):
        seen = Seen.of({"c1": (work(CM),)}, [kept(CM)], [], UP, checks)
        (found,) = observe_bindings(record(binding()), seen, T1, Failures())
        assert found.conditions[-1].status.value == status


def test_another_check_is_another_observation() -> None:
    """So that a placement that nothing else changed for is observed again."""
    without = Seen.of({}, [], [], UP)
    one, same, other = (
        Seen.of({}, [], [], UP, check("example.com/Foo", available=text)) for text in ("true", "true", "false")
    )
    equal = [one.since(seen).is_as_last(record()) for seen in (same, other, without)]
    assert equal == [True, False, False]
    assert GroupKind("example.com", "Foo") in one.checks
