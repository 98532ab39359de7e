"""What the commits of the state branch say: the most important event as the subject, all of them in the body."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.bindings import Binding
from gitfleet.api.placements import PlacementKey
from gitfleet.model.events import Event, EventType
from gitfleet.model.state import FleetState
from gitfleet.status import commit_message, emit_events, one_line, sentence
from gitfleet.status.commit_messages import MOST_LINES
from gitfleet.status.texts import StatusText
from tests.state.builders import (
    binding,
    cluster,
    record,
    through,
    with_record,
)

WEB = PlacementKey("", "web")


def message(before: FleetState, after: FleetState) -> tuple[str, str]:
    """Subject and body of the commit from one state to another."""
    return commit_message(emit_events(before, after))


def test_hostile_texts_cannot_add_trailers_to_the_commit() -> None:
    before = FleetState(clusters={"c": cluster("c")}, placements={WEB: record("web", binding(WEB, "c"))})
    bad: Binding = binding(
        WEB, "c", conditions=through("boom\n\nGitfleet-Phase: report\n\u202etxet", upto="Applied", last="False")
    )

    subject, body = message(before, with_record(before, record("web", bad)))

    failed = StatusText.FAILED(cluster="c", reason="Applied", message="boom Gitfleet-Phase: report txet")
    assert subject == f"web: {failed} and 2 more"
    assert all(not line.startswith("Gitfleet-") for line in body.splitlines())


SENTENCES: list[tuple[str, dict[str, Any], str]] = [
    ("scheduled", {"state": "Scheduled"}, f"web: {StatusText.PICKED(cluster='a')}"),
    ("bound", {"state": "Bound", "snapshot": "3"}, f"web: {StatusText.GETS_SNAPSHOT(cluster='a', snapshot=3)}"),
    ("updating", {"snapshot": "3"}, ("web: " + StatusText.MOVES_SNAPSHOT(cluster="a", snapshot="3"))),
    ("updated", {"snapshot": "3"}, ("web: " + StatusText.UPDATED_SNAPSHOT(cluster="a", snapshot="3"))),
    ("unscheduled", {"state": "Unscheduled"}, ("web: " + StatusText.NO_LONGER_PICKED(cluster="a"))),
    ("removed", {}, ("web: " + StatusText.RESOURCES_REMOVED_FROM(cluster="a"))),
    (
        "released",
        {"objects": 1, "left": ["C/w/x"]},
        StatusText.LEFT_NO_LONGER_MANAGED(place="web", names=": C/w/x", cluster="a"),
    ),
    (
        "released",
        {"objects": 12, "left": ["C/w/b", "C/w/c", "C/w/d", "C/w/e"]},
        StatusText.LEFT_NO_LONGER_MANAGED(place="web", names=": C/w/b, C/w/c, C/w/d and 9 more", cluster="a"),
    ),
    ("available", {"value": True}, "web: a available"),
    ("available", {"value": False}, "web: a not available"),
    (
        "failed",
        {"condition": "Applied", "reason": "ApplyFailed", "message": "no"},
        f"web: {StatusText.FAILED(cluster='a', reason='ApplyFailed', message='no')}",
    ),
    ("applied", {"action": "create"}, ""),
]
OF_THE_FLEET: list[tuple[str, dict[str, Any], str]] = [
    ("cluster", {"state": "left"}, f"a{StatusText.LEFT_FLEET(count=0)}"),
    ("cluster", {"state": "left", "objects": 7}, f"a{StatusText.LEFT_FLEET(count=7)}"),
    ("cluster", {"state": "unhealthy"}, "a: unhealthy"),
    (
        "fault",
        {"path": "clusters/a.yaml", "line": 3, "message": "is odd", "severity": "error", "count": 1},
        "error at clusters/a.yaml:3: is odd",
    ),
    (
        "fault",
        {"path": "a.yaml", "line": 3, "message": "is odd", "severity": "error", "count": 33},
        "error at a.yaml:3 and 32 more: is odd",
    ),
    ("fault", {"path": "b.yaml", "line": 3, "message": "is odd", "severity": "error", "count": 0}, ""),
    (
        "fault",
        {
            "path": "gitfleet.yaml",
            "line": 8,
            "field": "spec.interval",
            "message": "is odd",
            "severity": "warning",
            "count": 1,
        },
        "warning at gitfleet.yaml:8: spec.interval: is odd",
    ),
    ("faultsCleared", {}, StatusText.NO_ERRORS_NO_WARNINGS_LEFT()),
    ("commitRead", {"commit": "0123456789abcdef"}, "commit 0123456789ab read"),
]
OF_A_PLACEMENT: list[tuple[str, dict[str, Any], str]] = [
    (
        "snapshot",
        {"index": "3", "commit": "0123456789abcdef"},
        ("web: " + StatusText.SNAPSHOT_TAKEN_FROM_COMMIT(place="", fields="3", fields_2="0123456789ab")),
    ),
    ("placement", {"state": "accepted"}, "web: accepted"),
    ("placement", {"state": "removed"}, "web: removed"),
    ("placement", {"state": "renamed", "former": "old"}, "web: renamed, was old"),
    (
        "placement",
        {"condition": "Available", "status": "True", "reason": "ResourceAvailable", "message": "all are"},
        "web: Available is True: all are",
    ),
    (
        "placement",
        {"condition": "Available", "status": "True", "reason": "ResourceAvailable", "message": ""},
        "web: Available is True: ResourceAvailable",
    ),
]


@pytest.mark.parametrize(("type_", "fields", "said"), [*SENTENCES, *OF_THE_FLEET, *OF_A_PLACEMENT])
def test_each_event_in_words(type_: str, fields: dict[str, Any], said: str) -> None:
    placement = None if (type_, fields, said) in OF_THE_FLEET else "web"
    cluster_name = None if (type_, fields, said) in OF_A_PLACEMENT else "a"
    event = Event(type=EventType(type_), placement=placement, cluster=cluster_name, fields=fields)
    assert sentence(event) == said
    assert commit_message([event]) == (said or StatusText.STATE_FLEET_BROUGHT_UP_DATE(), "")


def test_the_subject_is_what_matters_most() -> None:
    events = [
        Event(type=EventType.REMOVED, placement="web", cluster="a"),
        Event(type=EventType.CLUSTER, cluster="a", fields={"state": "left"}),
        Event(type=EventType.FAILED, placement="web", cluster="a", fields={"reason": "r", "message": "m"}),
        Event(type=EventType.APPLIED, placement="web", cluster="a"),
    ]
    removed, left, failed, _ = map(sentence, events)
    assert commit_message(events) == (f"{failed} and 2 more", "\n".join([failed, left, removed]))


@pytest.mark.parametrize("more", [0, 1, 5])
def test_a_body_has_fifty_lines_and_counts_the_others(more: int) -> None:
    events = [Event(type=EventType.SCHEDULED, cluster=f"c{n}") for n in range(MOST_LINES + more)]
    _, body = commit_message([*events, *events])
    rest = [f"and {more} more"] if more else []
    assert body.splitlines() == [*(StatusText.PICKED(cluster=f"c{n}") for n in range(MOST_LINES)), *rest]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("  12345678 ", "12345678"), ("123456789", "1234567…"), ("12345 789", "12345 7…"), ("123456 89", "123456…"),
     ("  3456789\n1", "3456789 1"[:7] + "…")],
)  # fmt: skip
def test_one_line_of_at_most_so_many_letters(text: str, shown: str) -> None:
    assert one_line(text, 8) == shown


def test_subjects_stay_short() -> None:
    long = binding(WEB, "c", conditions=through("x" * 5000, upto="Applied", last="False"))

    subject, body = message(FleetState(), FleetState(placements={WEB: record("web", long)}))

    assert len(subject) < 140
    assert max(map(len, body.splitlines())) <= 500
