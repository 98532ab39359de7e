"""The works of a whole fleet: which bindings have one, what fails alone, and what overrides look at."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.clusters import ClusterStatus, MemberCluster, PropertyValue
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.overrides import JsonPatch, OverridePlacement
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.views.texts import ViewsText
from gitfleet.works import WorksMemo, looked_at_beside_labels, pinned_labels, render_fleet, works_when_done
from tests.works.builders import EAST, NAMESPACE, ROLE, SETTINGS, WEB, WEST, binding_of, override, rule, snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD = snapshot(NAMESPACE)
LATEST = replace(snapshot(NAMESPACE, SETTINGS), index=1)
CLUSTERS = {"east": EAST, "west": WEST}
LABELLED = override("few", NAMESPACE, rule(JsonPatch("add", "/metadata/labels", {"a": "b"}), region="eu"))


def at(cluster: MemberCluster, **more: Any) -> Binding:
    """A binding that has the old snapshot."""
    return replace(binding_of(cluster), **{"resource_snapshot": OLD.name, **more})


def state_of(*bindings: Binding, overrides: tuple[OverrideSnapshot, ...] = (), **more: Any) -> FleetState:
    """A fleet of two clusters with one placement."""
    record = PlacementRecord(
        placement=Placement(key=WEB, selectors=()),
        bindings=bindings,
        resource_snapshots=more.pop("snapshots", (OLD, LATEST)),
    )
    found = {o.override.key: (o,) for o in overrides}
    return FleetState(placements={WEB: record}, overrides=found, clusters=CLUSTERS, **more)


def names_of(state: FleetState, failures: Failures | None = None) -> dict[str, list[str]]:
    """The snapshot of each work by cluster."""
    works, _ = render_fleet(state, WorksMemo(), failures or Failures())
    return {name: [work.snapshot for work in found] for name, found in works.items()}


@pytest.mark.parametrize(
    ("east", "has_work"),
    [
        (at(EAST), True),
        (at(EAST, state=BindingState.UNSCHEDULED), True),
        (at(EAST, deleting=NOW), False),
        (at(EAST, resource_snapshot=None), False),
        (at(EAST, resource_snapshot="web-9-snapshot"), False),
        (at(MemberCluster(name="gone")), False),
    ],
    ids=["bound", ViewsText.NO_LONGER_PICKED(), "given up", "not rolled out", "no such snapshot", "no such cluster"],
)
def test_which_bindings_have_a_work_and_the_next_has_its_own(east: Binding, has_work: bool) -> None:
    assert names_of(state_of(east, at(WEST, resource_snapshot=LATEST.name))) == {
        **({"east": [OLD.name]} if has_work else {}),
        "west": [LATEST.name],
    }


def test_a_placement_that_cannot_be_read_has_no_work_and_the_others_have_theirs() -> None:
    odd: Any = (object(),)
    state, other = state_of(at(EAST)), PlacementKey("", "other")
    record = replace(state.placements[WEB], bindings=odd)
    failures = Failures()
    works, memo = render_fleet(replace(state, placements={other: record, **state.placements}), WorksMemo(), failures)
    assert [work.placement for work in works["east"]] == [WEB]
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(other)]
    assert set(memo.placements) == {WEB}


def test_when_all_is_done_every_picked_cluster_has_the_newest_of_everything() -> None:
    """Whatever labels the binding was rolled out with, the cluster's are read."""
    here = JsonPatch("add", "/data", {"at": "${MEMBER-CLUSTER-LABEL-KEY-region}"})
    named = override("named", NAMESPACE, rule(), placement=OverridePlacement("web", "Cluster"))
    latest = (LABELLED, override("at", SETTINGS, rule(here), ns="web"), named)
    state = state_of(
        at(EAST, cluster_resource_overrides=("old-0",)),
        at(MemberCluster(name="third"), state=BindingState.UNSCHEDULED),
        at(WEST, override_labels=(("region", "eu"),)),
        overrides=latest,
    )
    works = works_when_done(state, latest)
    assert {name: [(w.snapshot, w.error, w.overridden) for w in found] for name, found in works.items()} == {
        "east": [(LATEST.name, None, True)],
        "west": [(LATEST.name, None, True)],
    }
    (east,), (west,) = works["east"], works["west"]
    assert east.manifests[0].body["metadata"]["labels"] == {"a": "b"}
    assert [work.manifests[1].body.get("data") for work in (east, west)] == [{"at": "eu"}, {"at": "us"}]
    assert works_when_done(state_of(at(EAST, deleting=NOW), at(WEST, state=BindingState.UNSCHEDULED)), ()) == {}
    assert works_when_done(state_of(at(EAST), snapshots=()), ()) == {}


def test_the_labels_that_overrides_look_at() -> None:
    term = rule(region="eu").cluster_terms or ()
    expression = LabelSelector(
        match_labels={"tier": "gold"}, match_expressions=(LabelRequirement("zone", LabelOperator.EXISTS),)
    )
    looks = override("looks", NAMESPACE, replace(rule(), cluster_terms=(replace(term[0], label_selector=expression),)))
    value = "${MEMBER-CLUSTER-LABEL-KEY-region} ${MEMBER-CLUSTER-LABEL-KEY-disk} ${MEMBER-CLUSTER-NAME}"
    reads = override("reads", SETTINGS, rule(JsonPatch("add", "/data/x", value)), ns="web")
    blind = override("blind", ROLE, rule(delete=True))
    references: Any = {
        "east": ClusterContent(("looks-0",), ("web/reads-0",)),
        "west": ClusterContent(("blind-0", "not-there-0")),
        "gone": ClusterContent(("looks-0",)),
    }
    assert pinned_labels(references, (looks, reads, blind), CLUSTERS) == {
        "east": (("disk", None), ("region", "eu"), ("tier", "gold"), ("zone", None))
    }
    assert pinned_labels({}, (looks,), CLUSTERS) == {}


def test_the_annotations_and_properties_that_overrides_look_at_are_those_of_the_last_rollout() -> None:
    value = "${MEMBER-CLUSTER-ANNOTATION-KEY-a/b}-${MEMBER-CLUSTER-PROPERTY-c/d}-${MEMBER-CLUSTER-LABEL-KEY-region}"
    reads = override("reads", SETTINGS, rule(JsonPatch("add", "/data", {"x": value})), ns="web")
    status = ClusterStatus(properties={"c/d": PropertyValue("2"), "other": PropertyValue("3")})
    noted = replace(EAST, annotations={"a/b": "new"}, status=status)
    pinned = pinned_labels({"east": ClusterContent((), ("web/reads-0",))}, (reads,), {"east": noted})
    assert pinned == {"east": (("annotation:a/b", "new"), ("property:c/d", "2"), ("region", "eu"))}
    beside = (("annotation:a/b", "new"), ("property:c/d", "2")), (("annotation:a/b", None), ("property:c/d", None))
    both, looked_at = {"east": noted, "west": WEST}, dict(zip(CLUSTERS, beside, strict=True))
    assert (looked_at_beside_labels((LABELLED, reads), both), looked_at_beside_labels((LABELLED,), both)) == (
        looked_at,
        {},
    )
    then = (("annotation:a/b", "old"), ("property:c/d", "1"), ("region", "eu"))
    for labels, placed in ((pinned["east"], "new-2-eu"), (then, "old-1-eu"), ((), "new-2-eu")):
        binding = at(EAST, resource_snapshot=LATEST.name, resource_overrides=("web/reads-0",), override_labels=labels)
        state = replace(state_of(binding, overrides=(reads,)), clusters={"east": noted})
        ((work,),) = render_fleet(state, WorksMemo(), Failures())[0].values()
        assert [m.body["data"] for m in work.manifests if m.key.name == "settings"] == [{"x": placed}]


def test_a_placement_whose_end_cannot_be_foreseen_is_shown_as_it_is() -> None:
    odd: Any = object()
    works = works_when_done(state_of(at(EAST)), (odd,))
    assert [(w.snapshot, w.error) for w in works["east"]] == [(OLD.name, None)]
