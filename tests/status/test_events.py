"""The timeline's events from two states and from outcomes (contracts.md §5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings

from gitfleet.api.bindings import DELETED, Binding, BindingState, FailedObject
from gitfleet.api.faults import Fault
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import RENAMED_FROM, PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.model.events import Event, EventType
from gitfleet.model.operations import Create, Delete, Keep, Outcome, OutcomeCode
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.status import emit_events, events_of_outcomes, sentence
from gitfleet.status.texts import StatusText
from tests.gates import permit
from tests.profiles import examples
from tests.state.builders import (
    COMMIT,
    CONFIG,
    binding,
    cluster,
    fault,
    manifest,
    record,
    through,
)
from tests.state.fleets import fleets

WEB = PlacementKey("", "web")


def lines(before: FleetState, after: FleetState) -> list[dict[str, Any]]:
    """The events as JSON, without those of placements' conditions."""
    reported = emit_events(before, after)
    return [
        event.to_json() for event in reported if not (event.type == EventType.PLACEMENT and "condition" in event.fields)
    ]


def fleet(*bound: Binding, latest: int = 0) -> FleetState:
    """One placement with bindings."""
    return FleetState(placements={WEB: record("web", *bound, latest=latest)})


def scheduled(name: str) -> Binding:
    """Picked and nothing more."""
    return binding(WEB, name, index=None, state=BindingState.SCHEDULED, conditions=())


def of(type_: str, **fields: Any) -> dict[str, Any]:
    """An event of cluster a."""
    return {"type": type_, "placement": "web", "cluster": "a", **fields}


def test_the_life_of_a_binding() -> None:
    bound = binding(WEB, "a", conditions=(), applied_snapshot=None)
    ready = binding(WEB, "a")
    moving = binding(WEB, "a", index=1, applied_snapshot="web-0-snapshot", generation=2)
    moved = binding(WEB, "a", index=1, generation=2, conditions=through(generation=2))
    unpicked = replace(moved, state=BindingState.UNSCHEDULED)
    steps = [fleet(b, latest=1) for b in (scheduled("a"), bound, ready, moving, moved, unpicked)] + [fleet(latest=1)]

    reported = [lines(before, after) for before, after in pairwise(steps)]

    assert reported == [
        [of("bound", state="Bound", snapshot="0")],
        [of("updated", snapshot="0"), of("available", value=True)],
        [of("updating", snapshot="1"), of("available", value=False)],
        [of("updated", snapshot="1"), of("available", value=True)],
        [of("unscheduled", state="Unscheduled")],
        [of("removed")],
    ]


def test_a_failure_is_told_again_only_when_it_says_something_else() -> None:
    failing = binding(WEB, "a", conditions=through("no", upto="Applied", last="False"))
    state = fleet(failing)
    assert lines(state, fleet(replace(failing, cluster_resource_overrides=("cro-1",)))) == []
    assert lines(state, fleet(replace(failing, conditions=through("never", upto="Applied", last="False")))) == [
        of("failed", condition="Applied", reason="Applied", message="never")
    ]
    assert lines(fleet(scheduled("a")), fleet(replace(failing, generation=2))) == [
        of("bound", state="Bound", snapshot="0"),
        of("updated", snapshot="0"),
    ], "what was said of an earlier generation says nothing of this one"
    later = replace(failing, conditions=through("no", upto="Applied", last="False", generation=2), generation=2)
    assert lines(fleet(replace(failing, generation=2)), fleet(later)) == [
        of("failed", condition="Applied", reason="Applied", message="no")
    ]


def test_what_stays_on_a_cluster_is_counted_for_the_placement_and_for_the_cluster() -> None:
    bound, there = binding(WEB, "a"), replace(fleet(binding(WEB, "a")), clusters={"a": cluster("a"), "b": cluster("b")})
    one, two, three = (ObjectKey("", "v1", "ConfigMap", "web", name) for name in ("one", "two", "three"))
    stays = {"a": {WEB: (one, two, three), PlacementKey("", "gone"): (one, two)}}
    names = ["ConfigMap/web/one", "ConfigMap/web/two", "ConfigMap/web/three"]
    left = of("released", objects=3, left=names)
    assert lines(there, replace(there, placements=fleet().placements, left_behind=stays)) == [left]
    assert lines(there, replace(there, placements=fleet().placements, left_behind={"a": {}})) == [of("removed")]
    assert lines(there, replace(fleet(bound), left_behind=stays)) == [
        {"type": "cluster", "cluster": "a", "state": "left", "objects": 5},
        {"type": "cluster", "cluster": "b", "state": "left"},
        left,
    ]
    ill = cluster("a", healthy="False")
    stayed = lines(there, replace(there, clusters={**there.clusters, "a": ill}, left_behind={"a": {WEB: (one,)}}))
    assert stayed == [
        {"type": "cluster", "cluster": "a", "state": "unhealthy"},
        of("released", objects=1, left=["ConfigMap/web/one"]),
    ], "what stays is said of a cluster that left"


def test_a_deletion_that_is_refused_is_told_once_for_each_object_and_sentence() -> None:
    def failed(condition: str, message: str) -> FailedObject:
        return FailedObject(key=CONFIG, condition=condition, reason="Forbidden", message=message)

    bound = binding(WEB, "a")
    refused = replace(bound, failed=(failed("Available", "slow"), failed(DELETED, "no")))
    told = of(
        "failed",
        condition=DELETED,
        reason="Forbidden",
        message=StatusText.NOT_DELETED(failed="ConfigMap/web/settings", failed_2="no"),
    )
    assert lines(fleet(bound), fleet(refused)) == [told]
    assert lines(fleet(refused), fleet(replace(refused, policy_snapshot="web-1"))) == []
    again = replace(refused, failed=(failed(DELETED, "no"), failed(DELETED, "never")))
    assert lines(fleet(refused), fleet(again)) == [{**told, "message": told["message"].replace(": no", ": never")}]
    assert lines(fleet(), fleet(refused))[-2:] == [told, of("available", value=True)]


def renamed_from_web(placed: PlacementRecord) -> PlacementRecord:
    return replace(placed, placement=replace(placed.placement, annotations={RENAMED_FROM: "web"}))


def test_a_rename_is_told_with_what_changed_beside_it_and_as_nothing_else() -> None:
    """What is under another name was not accepted, nor is the old name removed; the others are told as ever."""
    site, old = PlacementKey("", "site"), fleet(binding(WEB, "a"), binding(WEB, "b"), latest=1)
    other = {PlacementKey("", "api"): record("api")}
    renamed = {"type": "placement", "placement": "site", "state": "renamed", "former": "web"}
    moved = binding(site, "a", index=1, conditions=())
    removed = [{"type": "placement", "placement": "api", "state": "removed"}]
    for bound, told in (
        ((binding(site, "a"), binding(site, "b")), []),
        ((moved, binding(site, "b")), [{**of("updating", snapshot="1"), "placement": "site"},
                                       {**of("updated", snapshot="1"), "placement": "site"},
                                       {**of("available", value=False), "placement": "site"}]),
        ((binding(site, "b"),), [{**of("removed"), "placement": "site"}]),
    ):  # fmt: skip
        after = FleetState(placements={site: renamed_from_web(record("site", *bound, latest=1))})
        before = replace(old, placements={**old.placements, **other})
        found = emit_events(before, after)
        assert [event.to_json() for event in found if "condition" not in event.fields] == [*removed, renamed, *told]


def test_of_new_faults_of_one_cause_the_first_counts_them_all() -> None:
    old, *new = (Fault(f"{name}.yaml", 1, "Kind/name", "metadata.namespace", ApiText.REQUIRED_ADD()) for name in "abcd")
    told = lines(FleetState(faults=(old,)), FleetState(faults=(old, *new)))
    assert [(event["path"], event["count"]) for event in told] == [("b.yaml", 3), ("c.yaml", 0), ("d.yaml", 0)]
    assert len({event["cause"] for event in told}) == 1


def test_the_fleets_own_events() -> None:
    before = FleetState(clusters={"a": cluster("a"), "b": cluster("b")}, faults=(fault("old"),))
    after = FleetState(
        observed_commit=COMMIT,
        clusters={"a": cluster("a", healthy="False"), "c": cluster("c")},
        faults=(fault("old"), fault("new")),
    )

    assert lines(before, after) == [
        {"type": "commitRead", "commit": COMMIT},
        {
            "type": "fault", "path": "resources/a.yaml", "line": 3, "object": "ConfigMap/a", "field": "data",
            "message": "new", "severity": "error", "code": "", "cause": "", "count": 1,
        },
        {"type": "cluster", "cluster": "a", "state": "unhealthy"},
        {"type": "cluster", "cluster": "b", "state": "left"},
        {"type": "cluster", "cluster": "c", "state": "healthy"},
    ]  # fmt: skip
    assert lines(replace(after, faults=(fault("old"),)), replace(after, faults=())) == [{"type": "faultsCleared"}]


def test_conditions_of_a_placement() -> None:
    before, after = fleet(binding(WEB, "a", conditions=through(last="False"))), fleet(binding(WEB, "a"))

    [event] = [event for event in emit_events(before, after) if event.type == EventType.PLACEMENT]

    assert event.to_json(1.5) == {
        "t": 1.5, "type": "placement", "placement": "web", "condition": "Available", "status": "True",
        "reason": "ResourceAvailable", "message": StatusText.SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW().format("1"),
    }  # fmt: skip


def test_whole_seconds_have_no_point() -> None:
    assert Event(type=EventType.CRASH).to_json(210.0) == {"t": 210, "type": "crash"}
    assert str(Event(type=EventType.CRASH).to_json(210.0)["t"]) == "210"


def test_outcomes_tell_what_was_applied() -> None:
    state = fleet(binding(WEB, "a", index=1), latest=1)
    create = Create(cluster="a", placement=WEB, manifest=manifest(CONFIG), wave=0, reason="")
    elsewhere = Delete(
        cluster="z",
        placement=PlacementKey("", "gone"),
        key=CONFIG,
        uid="u",
        wave=0,
        reason="",
        permit=permit("z", CONFIG),
    )
    keep = Keep(cluster="a", placement=WEB, key=CONFIG, reason="")
    outcomes = [
        Outcome(operation=create, ok=True, code=OutcomeCode.APPLIED),
        Outcome(operation=create, ok=False, code=OutcomeCode.INVALID),
        Outcome(operation=elsewhere, ok=True, code=OutcomeCode.DELETED),
        Outcome(operation=keep, ok=True, code=OutcomeCode.APPLIED),
    ]

    reference = {"group": "", "version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings"}
    assert [event.to_json(5) for event in events_of_outcomes(outcomes, state)] == [
        {"t": 5, **of("applied", snapshot="1", object=reference, action="create")},
        {
            "t": 5, "type": "applied", "placement": "gone", "cluster": "z", "snapshot": None, "object": reference,
            "action": "delete",
        },
    ]  # fmt: skip


@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
@given(fleets(), fleets())
def test_equal_states_tell_nothing_and_every_event_has_a_sentence(before: FleetState, after: FleetState) -> None:
    assert emit_events(before, before) == emit_events(before, replace(before)) == ()
    reported = emit_events(before, after)
    assert all(sentence(event) for event in reported)
    assert reported == emit_events(before, after)


class CountedBindings(tuple[Binding, ...]):
    """Bindings that count how many of them were read."""

    read = 0

    def __iter__(self) -> Iterator[Binding]:
        for found in super().__iter__():
            CountedBindings.read += 1
            yield found


def test_the_bindings_of_a_placement_are_read_once_for_all_its_outcomes() -> None:
    names = [f"c{number:03d}" for number in range(50)]
    bound = CountedBindings(binding(WEB, name, index=1) for name in names)
    state = FleetState(placements={WEB: replace(record("web", latest=1), bindings=bound)})
    CountedBindings.read = 0
    create = Create(cluster="", placement=WEB, manifest=manifest(CONFIG), wave=0, reason="")
    outcomes = [Outcome(operation=replace(create, cluster=name), ok=True, code=OutcomeCode.APPLIED) for name in names]

    events = events_of_outcomes(outcomes, state)

    assert [event.fields["snapshot"] for event in events] == ["1"] * 50
    assert CountedBindings.read == 50
