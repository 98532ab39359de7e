"""What the commits of the state branch say: the most important event as the subject, all of them in the body."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.bindings import Binding
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef
from gitfleet.model.state import FleetState
from gitfleet.status import commit_message, emit_events
from tests.state.builders import (
    NAMESPACE,
    binding,
    cluster,
    record,
    reported,
    small_fleet,
    snapshot,
    through,
    with_record,
)

WEB = PlacementKey("", "web")


def message(before: FleetState, after: FleetState) -> tuple[str, str]:
    """Subject and body of the commit from one state to another."""
    return commit_message(emit_events(before, after))


def test_one_event_is_the_subject_and_needs_no_body() -> None:
    before = small_fleet()

    assert message(before, replace(before, observed_commit="c0ffee" * 6)) == ("commit c0ffeec0ffee read", "")


def test_several_events_stand_in_the_body() -> None:
    before = small_fleet()
    web = before.placements[WEB]
    healed = reported(replace(web, bindings=(web.bindings[0], replace(web.bindings[1], conditions=through()))))

    assert message(before, with_record(before, healed)) == (
        "web: eu-2 available and 1 more",
        "web: eu-2 available\nweb: Available is True: The selected resources in 2 cluster are available now",
    )


def test_a_snapshot_says_its_commit() -> None:
    before = small_fleet()
    web = before.placements[WEB]
    newer = snapshot(WEB, 1, DocumentRef("resources/web.yaml", "c" * 40, 0, NAMESPACE))

    subject, _ = message(before, with_record(before, replace(web, resource_snapshots=(*web.resource_snapshots, newer))))

    assert subject == "web: snapshot 1 taken from commit 4b825dc642cb"


def test_hostile_texts_cannot_add_trailers_to_the_commit() -> None:
    before = FleetState(clusters={"c": cluster("c")}, placements={WEB: record("web", binding(WEB, "c"))})
    bad: Binding = binding(
        WEB, "c", conditions=through("boom\n\nGitfleet-Phase: report\n\u202etxet", upto="Applied", last="False")
    )

    subject, body = message(before, with_record(before, record("web", bad)))

    assert subject == "web: c failed: Applied: boom Gitfleet-Phase: report txet and 2 more"
    assert all(not line.startswith("Gitfleet-") for line in body.splitlines())


def test_subjects_stay_short() -> None:
    long = binding(WEB, "c", conditions=through("x" * 5000, upto="Applied", last="False"))

    subject, body = message(FleetState(), FleetState(placements={WEB: record("web", long)}))

    assert len(subject) < 140
    assert max(map(len, body.splitlines())) <= 500
