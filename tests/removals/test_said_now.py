"""What a hold says of what it holds now: counts, causes, and the edits of labels that took objects out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.holds import Cause, FieldPlace, Hold, Removal, RemovalKind
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import Manifest, Origin
from gitfleet.api.placements import PlacementKey, ResourceSelector
from gitfleet.api.strategies import DeletePropagation
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals import as_of_now, fields_of, with_lines
from gitfleet.removals.selected import label_edit, matches
from gitfleet.removals.unfinished import brought_unfinished
from tests.removals.fleets import (
    SHOP,
    WEB,
    config_map,
    fleet,
    hold,
    none_overridden,
    of_binding,
    of_cluster,
    of_object,
    placed,
    with_web,
)
from tests.state import builders
from tests.works.builders import obj

A, B = config_map("a"), config_map("b")
CLUSTERS = ("c1", "c2", "c3")
BEFORE = fleet(placed(WEB, CLUSTERS, A, B), placed(SHOP, CLUSTERS, config_map("s", "shop")))


def now(known: Hold, before: FleetState = BEFORE, after: FleetState | None = None, **wanted: Any) -> Hold:
    """The hold after a pass."""
    (found,) = as_of_now(
        {known.name: known}, Desired(commit="d", **wanted), before, after or before, none_overridden
    ).values()
    return found


def counts(known: Hold) -> dict[str, tuple[int, int]]:
    """By cluster, what goes and what stays there unmanaged."""
    assert known.objects == sum(count.objects for count in known.clusters)
    return {count.cluster: (count.objects, count.unmanaged) for count in known.clusters}


@pytest.mark.parametrize(
    ("removals", "expected"),
    [
        ([of_object(A)], {"c1": (1, 0), "c2": (1, 0), "c3": (1, 0)}),
        ([of_object(A), of_binding("c2")], {"c1": (1, 0), "c2": (2, 0), "c3": (1, 0)}),
        ([of_cluster("c2")], {"c2": (0, 3)}),
        ([of_object(config_map("never-placed"))], {}),
    ],
    ids=["object", "object and cluster of a placement", "cluster", "nothing"],
)
def test_a_hold_counts_what_would_go(removals: list[Removal], expected: dict[str, tuple[int, int]]) -> None:
    stale = hold("h", removals, "why", objects=99)
    found = now(stale)
    assert counts(found) == expected
    assert now(found) is found, "what says so already is the same object"


def test_of_a_cluster_that_deletes_its_objects_they_all_go() -> None:
    deletes = replace(BEFORE.clusters["c2"], delete_propagation_policy=DeletePropagation.DELETE)
    before = replace(BEFORE, clusters={**BEFORE.clusters, "c2": deletes})
    assert counts(now(hold("h", [of_cluster("c2")], "why"), before)) == {"c2": (3, 0)}


def test_what_was_never_applied_or_is_abandoned_does_not_go() -> None:
    never = {key: replace(entry, uid=None if key == A.key else "u") for key, entry in BEFORE.inventory["c1"].items()}
    before = replace(BEFORE, inventory={**BEFORE.inventory, "c1": never})
    assert counts(now(hold("h", [of_binding("c1")], "why"), before)) == {"c1": (1, 0)}
    assert counts(now(hold("h", [of_object(A)], "why"), before)) == {"c2": (1, 0), "c3": (1, 0)}
    record = BEFORE.placements[WEB]
    strategy = replace(record.placement.strategy, delete_propagation_policy=DeletePropagation.ABANDON)
    abandons = replace(record, placement=replace(record.placement, strategy=strategy))
    before = replace(BEFORE, placements={**BEFORE.placements, WEB: abandons})
    assert now(hold("h", [of_binding("c1")], "why"), before).objects == 0
    assert now(hold("h", [of_object(A)], "why"), before).objects == 3, "it leaves the selection, not the placement"


def test_what_is_only_kept_wants_nothing() -> None:
    """Two placements have one object: the first owns it; while both are held it is gone once, by its owner."""
    shared = fleet(placed(WEB, CLUSTERS, A), placed(SHOP, CLUSTERS, A))
    both = hold("h", [of_object(A), of_object(A, SHOP)], "why")
    assert now(both, shared).objects == 3
    assert now(hold("h", [of_object(A)], "why"), shared).objects == 0, "shop goes on with it"
    wholes = [Removal(kind=RemovalKind.PLACEMENT, placement=key) for key in (WEB, SHOP)]
    assert now(hold("h", wholes, "why"), shared).objects == 3
    assert now(hold("h", wholes[:1], "why"), shared).objects == 0
    part = hold("h", [of_object(A), of_binding("c1", SHOP)], "why")
    assert counts(now(part, shared)) == {"c1": (1, 0)}
    leaving = hold("h", [of_object(A), of_cluster("c2")], "why")
    assert counts(now(leaving, shared)) == {"c2": (1, 0)}
    partly = fleet(placed(WEB, CLUSTERS, A), placed(SHOP, ("c2",), A))
    assert counts(now(hold("h", [of_object(A)], "why"), partly)) == {"c1": (1, 0), "c3": (1, 0)}


def test_where_nothing_is_placed_nothing_goes() -> None:
    empty = replace(BEFORE, inventory={"c2": BEFORE.inventory["c2"]})
    deletes = replace(BEFORE.clusters["c1"], delete_propagation_policy=DeletePropagation.DELETE)
    removals = [of_cluster("c1"), of_binding("c1"), of_object(A, PlacementKey("", "gone"))]
    before = replace(empty, clusters={**BEFORE.clusters, "c1": deletes})
    assert counts(now(hold("h", removals, "why"), before)) == {"c1": (0, 0)}


def test_what_an_unfinished_rollout_brought_where_all_that_was_before_stays() -> None:
    """c1 has the newest snapshot, with b; the others still wait for it."""
    record = placed(WEB, CLUSTERS, A, B)
    (newest,) = record.resource_snapshots
    older = placed(WEB, CLUSTERS, A).resource_snapshots[0]
    first, *others = record.bindings
    record = replace(
        record,
        resource_snapshots=(older, replace(newest, index=1)),
        bindings=(replace(first, resource_snapshot="web-1-snapshot"), *others),
    )
    inventory = {
        name: owned if name == "c1" else {A.key: owned[A.key]} for name, owned in fleet(record).inventory.items()
    }
    before = replace(fleet(record), inventory=inventory)
    assert now(hold("h", [of_object(B)], "why"), before).objects == 1, "that it goes is counted, if it is held"
    back = with_web(before, replace(record, resource_snapshots=(older, replace(older, index=2))))
    assert brought_unfinished(before, back, WEB, frozenset()) == {("c1", B.key.identity): "c0"}
    assert brought_unfinished(before, before, WEB, frozenset({B.key.identity})) == {("c1", B.key.identity): "c0"}
    unpicked = (record.bindings[0], *(replace(b, state=BindingState.UNSCHEDULED) for b in others))
    assert brought_unfinished(with_web(before, replace(record, bindings=unpicked)), back, WEB, frozenset()) == {}
    silent = {name: builders.cluster(name, healthy="Unknown") for name in before.clusters}
    assert brought_unfinished(replace(before, clusters=silent), back, WEB, frozenset()) == {}
    one = {**silent, "c3": before.clusters["c3"]}
    assert brought_unfinished(replace(before, clusters=one), back, WEB, frozenset()) == {("c1", B.key.identity): "c0"}
    assert counts(now(hold("h", [of_object(A), of_object(B)], "why"), before)) == {
        "c1": (2, 0),
        "c2": (1, 0),
        "c3": (1, 0),
    }


def test_a_reason_has_the_causes_of_what_waits_for_it() -> None:
    a, b = of_object(A, cause="one", reasons=(0,)), of_object(B, cause="two", reasons=(1,))
    both = of_object(config_map("c"), cause="three")
    first, second, third = now(hold("h", [a, b, both], "first", "second", "third")).reasons
    assert str(first) == "resources/a.yaml:1: first: one and three"
    assert str(second) == "resources/b.yaml:1: second: two and three"
    assert str(third) == "resources/c.yaml:1: third: three"
    (unknown,) = now(hold("h", [of_cluster("c1")], "why")).reasons
    assert str(unknown) == "why" and unknown.line == 0


def test_the_lines_of_fields_take_the_place_of_those_of_their_objects() -> None:
    places = [FieldPlace(Origin(f"{name}.yaml", 1, "blob"), ("spec", name)) for name in "ab"]
    a, b = (
        replace(of_object(one), cause=Cause(place.origin.path, 1, "why", field=place), reasons=(number,))
        for number, (one, place) in enumerate(zip((A, B), places, strict=True))
    )
    known = now(hold("h", [a, b, of_cluster("c1")], "first", "second"))
    known = replace(known, removals=(a, b, of_cluster("c1")))
    other = hold("other", [of_cluster("c2")], "why")
    holds = {"h": known, "other": other}
    assert fields_of(holds) == frozenset(places) and fields_of({"other": other}) == frozenset()
    found = with_lines(holds, {places[1]: 7})
    assert [removal.cause for removal in found["h"].removals] == [a.cause, Cause("b.yaml", 7, "why"), Cause()]
    assert [(reason.message, reason.path, reason.line) for reason in found["h"].reasons] == [
        ("first", "a.yaml", 1),
        ("second", "b.yaml", 7),
    ]
    assert (found["h"].name, found["other"]) == ("h", other) and found["other"] is other
    assert with_lines(holds, {})["h"] is known


def test_a_reason_names_the_line_of_the_field_that_it_is_about_once_that_is_known() -> None:
    places = [FieldPlace(Origin(f"{name}.yaml", 1, "blob"), ("spec", name)) for name in "ab"]
    known = now(hold("h", [of_object(A)], "selects a (a.yaml:1)", "selects b (b.yaml:1)", "by far too much"))
    first, second, third = known.reasons
    known = replace(known, reasons=(replace(first, field=places[0]), replace(second, field=places[1]), third))
    assert fields_of({"h": known}) == frozenset(places)
    found = with_lines({"h": known}, {places[1]: 7})["h"]
    assert found == replace(known, reasons=(known.reasons[0], replace(second, message="selects b (b.yaml:7)"), third))
    assert [reason.field for reason in found.reasons] == [places[0], None, None]
    assert with_lines({"h": known}, {})["h"] is known


def ignored(line: int) -> Cause:
    """A file that an ignore rule hid."""
    return Cause(".gitfleetignore", line, f"line {line} hides x.yaml", hidden="x.yaml")


@pytest.mark.parametrize(
    ("held", "hidden", "expected"),
    [
        (Cause("p.yaml", 1, "p.yaml was removed"), {}, Cause("p.yaml", 1, "p.yaml was removed")),
        (ignored(2), {"x.yaml": 2}, ignored(2)),
        (ignored(2), {"x.yaml": 5}, ignored(5)),
        (ignored(2), {"y.yaml": 2}, Cause("x.yaml", 1, "x.yaml has it no more")),
        (Cause(), {}, Cause()),
        (Cause("x.yaml", 1, "x.yaml is now y, which", hidden="x.yaml"), {"x.yaml": 3}, ignored(3)),
    ],
    ids=["removed", "ignored", "the rule moved", "the rule is gone", "unknown", "renamed and ignored"],
)
def test_a_cause_lasts_until_there_is_another(held: Cause, hidden: dict[str, int], expected: Cause) -> None:
    removal = replace(of_cluster("c1"), cause=held)
    assert now(hold("h", [removal], "why"), ignored=hidden).removals[0].cause == expected


def chosen(*, api: str = "v1", **labels: str) -> Manifest:
    """A Namespace."""
    return obj(api, "Namespace", "web", metadata={"labels": labels})


def selector(group: str, version: str, kind: str, **how: Any) -> ResourceSelector:
    """A selector."""
    return ResourceSelector(group=group, version=version, kind=kind, **how)


def by(*needs: LabelRequirement, **labels: str) -> ResourceSelector:
    """A selector of Namespaces by their labels."""
    return selector("", "v1", "Namespace", label_selector=LabelSelector(labels, needs))


NOT_OLD = LabelRequirement("old", "DoesNotExist")


@pytest.mark.parametrize(
    ("one", "then", "later", "said"),
    [
        (by(a="1"), chosen(a="1"), chosen(a="2"), "has label a=2 instead of a=1"),
        (by(a="1"), chosen(a="1"), chosen(), "has no label a=1 any more"),
        (by(NOT_OLD), chosen(), chosen(old="x"), "has label old=x now"),
        (
            by(NOT_OLD, a="1"),
            chosen(a="1", z="1"),
            chosen(old="x", z="2"),
            "has no label a=1 any more and label old=x now",
        ),
        (by(a="1"), chosen(a="1", z="1"), chosen(a="1", z="2"), ""),
        (by(a="2"), chosen(a="1"), chosen(a="1"), ""),
        (by(a="2"), chosen(a="1"), chosen(a="2"), ""),
        (by(LabelRequirement("a", "Wrong"), b="1"), chosen(), chosen(), ""),
        (selector("", "v1", "Namespace", name="web"), chosen(a="1"), chosen(a="2"), ""),
        (
            selector("", "v1", "ConfigMap", label_selector=LabelSelector({"a": "1"})),
            chosen(a="1"),
            chosen(),
            "",
        ),
    ],
)
def test_the_edit_of_labels_that_takes_an_object_out_is_named(
    one: ResourceSelector, then: Manifest, later: Manifest, said: str
) -> None:
    assert (label_edit([by(zone="nowhere"), one], then, later) or ("", ""))[1] == said


def test_a_selector_names_objects_whatever_version_they_are_written_in() -> None:
    role = obj("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")
    for version in ("v1", "v1beta1"):
        assert matches(selector("rbac.authorization.k8s.io", version, "ClusterRole", name="reader"), role)
    assert not matches(selector("rbac.authorization.k8s.io", "v1", "ClusterRole", name="writer"), role)
    assert not matches(selector("", "v1", "ClusterRole", name="reader"), role)
    assert not matches(selector("rbac.authorization.k8s.io", "v1", "Role", name="reader"), role)
    assert matches(by(LabelRequirement("a", "Wrong")), chosen()), "one that cannot be read has not lost anything"


@pytest.mark.parametrize("edited", ["object", "namespace"])
def test_an_object_that_leaves_by_labels_has_the_place_of_the_edit(edited: str) -> None:
    selected = A if edited == "namespace" else config_map("a", team="web")
    record = placed(WEB, CLUSTERS, chosen(team="web"), selected)
    kind = "Namespace" if edited == "namespace" else "ConfigMap"
    by_team = selector("", "v1", kind, label_selector=LabelSelector({"team": "web"}))
    placement = replace(record.placement, selectors=(by_team,), origin=Origin("placements/web.yaml", 1))
    record = replace(record, placement=placement)
    changed = chosen(team="wbe") if edited == "namespace" else config_map("a", team="wbe")
    changed = replace(changed, origin=Origin("resources/edited.yaml", 7))
    payload = (changed, A) if edited == "namespace" else (changed, chosen(team="web"))
    objects = {"placements": {WEB: placement}}
    found = now(hold("h", [of_object(selected)], "why"), fleet(record), objects=objects, payload=payload)
    sentence = f"{changed.key} in resources/edited.yaml has label team=wbe instead of team=web"
    assert str(found.reasons[0]) == f"resources/edited.yaml:7: why: {sentence}"
    changed = replace(changed, origin=Origin("resources/edited.yaml", 7, "blob"))
    written = tuple(changed if one.key == changed.key else one for one in payload)
    found = now(hold("h", [of_object(selected)], "why"), fleet(record), objects=objects, payload=written)
    assert found.removals[0].cause.field == FieldPlace(changed.origin, ("metadata", "labels", "team"))
    without = fleet(replace(placed(WEB, CLUSTERS, selected), placement=placement))
    found = now(hold("h", [of_object(selected)], "why"), without, objects=objects, payload=written)
    is_known = edited == "object"
    assert (found.removals[0].cause.path == changed.origin.path) is is_known, "what its Namespace had is not known"
