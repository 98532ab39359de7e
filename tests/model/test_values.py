"""Values that pass between packages: what failed and where, what a decision has yet to look at, what events say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.errors import GiveUp
from gitfleet.model.approvals import by_request
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Delete, Outcome, OutcomeCode
from gitfleet.model.state import FleetState, changed
from gitfleet.model.works import Work
from tests.gates import permit
from tests.removals.fleets import SHOP, WEB, config_map
from tests.rollout.builders import NOW

A, B = config_map("a"), config_map("b")
HERE = Subject("ConfigMap", "web/a", "c1")


def test_what_failed_by_its_name() -> None:
    space = ObjectKey("", "v1", "Namespace", "", "web")
    for subject, said in (
        (Subject.of_object(A.key), "ConfigMap web/a"),
        (Subject.of_object(A.key, "c1"), "ConfigMap web/a on cluster c1"),
        (Subject.of_object(space), "Namespace web"),
        (Subject.of_run(NamespacedName("", "go")), "ClusterStagedUpdateRun go"),
        (Subject.of_run(NamespacedName("shop", "go")), "StagedUpdateRun shop/go"),
        (Subject.of_placement(WEB), "ClusterResourcePlacement web"),
        (Subject.of_placement(PlacementKey("shop", "web")), "ResourcePlacement shop/web"),
    ):
        assert str(subject) == said


def raising(error: Exception) -> None:
    raise error


def test_a_foreseen_error_says_its_own_sentence_and_another_one_its_type_alone() -> None:
    foreseen, odd = GiveUp("the file x has no name"), KeyError("hunter2")
    known, unknown = attempt(HERE, raising, foreseen), attempt(lambda: HERE, raising, error=odd)
    assert known == Failure(subject=HERE, error="the file x has no name")
    assert isinstance(known, Failure) and known.cause is foreseen
    assert isinstance(unknown, Failure) and unknown.cause is odd
    assert (unknown.subject, unknown.error) == (HERE, "unexpected KeyError")
    assert attempt(HERE, int, "11", base=2) == 3 == Failures().contain(HERE, 0, int, "11", base=2)


def test_the_first_of_several_failures_is_that_of_a_subject() -> None:
    first, second = (Failure(subject=HERE, error=error) for error in ("one", "two"))
    failures = Failures((first, second))
    assert (failures.of(HERE), failures.of(Subject("ConfigMap", "web/b"))) == (first, None)
    assert failures.found == (first, second)


def code_at(path: str) -> Callable[[], None]:
    """A function that fails, which stands in a file of this path."""
    scope: dict[str, Any] = {}
    exec(compile("def fails():\n    raise ValueError", path, "exec"), scope)
    found: Callable[[], None] = scope["fails"]
    return found


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/usr/lib/gitfleet/apply/fleet.py", "gitfleet/apply/fleet.py"),
        ("/srv/gitfleet/lib/gitfleet/wiring/hub.py", "gitfleet/wiring/hub.py"),
        ("/usr/lib/python3/json/decoder.py", "decoder.py"),
    ],
)
def test_a_frame_of_a_report_says_the_path_in_the_package(path: str, said: str) -> None:
    failed = attempt(HERE, code_at(path))
    assert isinstance(failed, Failure) and failed.trace[-1] == f"{said}:2 fails"


def test_a_report_has_the_last_frames_of_a_long_trace() -> None:
    def deep(left: int) -> None:
        deep(left - 1) if left else raising(ValueError())

    failed = attempt(HERE, deep, 50)
    assert isinstance(failed, Failure)
    assert [frame.rpartition(" ")[2] for frame in failed.trace] == ["deep"] * 29 + ["raising"]


def work(*manifests: Any, cluster: str = "c1") -> tuple[Work, ...]:
    """What a cluster is to have of web."""
    return (Work(placement=WEB, cluster=cluster, generation=1, snapshot="s", manifests=manifests),)


def seen(name: str, **more: Any) -> ClusterObservation:
    """A cluster that answers, if nothing else is said."""
    return ClusterObservation(**{"cluster": name, "reachable": True, **more})


def decision(*observations: ClusterObservation, **more: Any) -> Decision:
    """A decision over these observations."""
    found = {one.cluster: one for one in observations}
    inputs = Inputs(desired=Desired(commit="d"), before=FleetState(), observations=found, now=NOW)
    return Decision(inputs=inputs, after=FleetState(), **more)


def test_what_nobody_has_observed_of_the_works_of_clusters_that_answer() -> None:
    works = {name: work(B, A, cluster=name) for name in ("c0", "c1", "c2", "c3", "c4", "c5")}
    given = decision(
        seen("c1", reachable=False),
        seen("c2", live={A.key: None}),
        seen("c3", unreadable={A.key: "forbidden"}),
        seen("c4", live={A.key: None}, unreadable={B.key: "forbidden"}),
        seen("c5"),
        works=works,
    )
    assert given.unseen() == {"c2": (B.key,), "c3": (B.key,), "c5": (A.key, B.key)}


def test_the_clusters_that_are_otherwise_than_they_were_observed() -> None:
    def deleted(cluster: str) -> Outcome:
        gone = Delete(
            cluster=cluster, placement=SHOP, reason="why", key=A.key, uid="u", wave=1, permit=permit(cluster, A.key)
        )
        return Outcome(operation=gone, ok=True, code=OutcomeCode.DELETED)

    same, other = work(A), work(A, B)
    given = decision(
        *map(seen, ("done", "again", "same", "other", "fresh", "left", "nothing")),
        works={"same": same, "other": other, "fresh": same},
        seen_works={"same": same, "other": same, "left": same},
        observed_again=frozenset({"again", "unknown"}),
    )
    assert list(given.touched([deleted("done"), deleted("unknown")])) == ["done", "again", "other", "fresh", "left"]


@pytest.mark.parametrize(
    ("event", "at", "line"),
    [
        (Event(EventType.END), 0, {"t": 0, "type": "end"}),
        (Event(EventType.END), 2.0, {"t": 2, "type": "end"}),
        (Event(EventType.END), 2.5, {"t": 2.5, "type": "end"}),
        (
            Event(EventType.BOUND, "web", "c1", {"reason": "r"}),
            None,
            {"type": "bound", "placement": "web", "cluster": "c1", "reason": "r"},
        ),
    ],
)
def test_the_line_of_an_event(event: Event, at: float | None, line: dict[str, Any]) -> None:
    assert event.to_json(at) == line
    assert not isinstance(line.get("t"), int) or isinstance(event.to_json(at)["t"], int)


def test_what_is_another_object_than_before_by_key() -> None:
    one, two = [1], [1]
    before = {"b": one, "a": one, "c": one}
    assert list(changed(before, {"d": two, "b": one, "c": two})) == [
        ("a", one, None),
        ("c", one, two),
        ("d", None, two),
    ]
    assert not list(changed(before, before)) and not list(changed(before, {**before}))


def test_the_requests_that_an_approval_may_be_meant_for() -> None:
    """By each part of its name, in its namespace."""
    names = [NamespacedName("", "go"), NamespacedName("", "go.2.x"), NamespacedName("shop", "go.2")]
    one, further, other = (Approval(key=name) for name in names)
    assert by_request([one, further, other]) == {
        names[0]: [one, further],
        NamespacedName("", "go.2"): [further],
        names[1]: [further],
        NamespacedName("shop", "go"): [other],
        names[2]: [other],
    }
