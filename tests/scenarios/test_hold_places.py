"""The place of a hold is the line of the field that a commit edited, in `plan` and on the state branch alike."""

from __future__ import annotations

import pytest

from gitfleet.api.objects import JsonObject
from tests import builders
from tests.scenarios.test_holds import CLUSTERS, only_hold, settled
from tests.scenarios.test_holds_overrides import of_objects, rule
from tests.scenarios.test_planned_steps import plan_of

BY_TEAM = [{"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"team": "web"}}}]
ANOTHER = builders.config_map("pay", "another", {"a": "b"})
ELSEWHERE = {"affinity": builders.pick_n(1, match_labels={"region": "ue"})["affinity"], "placementType": "PickAll"}
EDITS: dict[str, tuple[tuple[JsonObject, ...], JsonObject, str]] = {
    "a selector": (
        (),
        builders.placement("web", selectors=[builders.select_namespace("webb")]),
        "resourceSelectors:",
    ),
    "a label": (
        (builders.placement("web", selectors=BY_TEAM),),
        builders.namespace("web", labels={"app": "x", "team": "wbe"}),
        "team: wbe",
    ),
    "a label that is gone": (
        (builders.placement("web", selectors=BY_TEAM),),
        builders.namespace("web", labels={"app": "x"}),
        "labels:",
    ),
    "the number of clusters": (
        (builders.placement("own", policy=builders.pick_n(6)), builders.namespace("own")),
        builders.placement("own", policy=builders.pick_n(1)),
        "policy:",
    ),
    "the affinity": ((), builders.placement("web", policy=ELSEWHERE), "policy:"),
    "a rule of an override": (
        (of_objects(rule({"labelSelector": {"matchLabels": {"region": "lab"}}})),),
        of_objects(rule()),
        "- clusterSelector:",
    ),
}


@pytest.mark.parametrize(("before", "edit", "text"), EDITS.values(), ids=EDITS)
def test_a_hold_is_at_the_field_that_was_edited(before: tuple[JsonObject, ...], edit: JsonObject, text: str) -> None:
    world = settled()
    world.commit(*before)
    world.settle()
    assert not world.state().holds
    path = builders.path_of(edit)
    world.write({path: builders.to_yaml(builders.config_map("pay", "beside"), edit)})
    planned = {(reason["path"], reason["line"]) for hold in plan_of(world)["holds"] for reason in hold["reasons"]}
    world.settle()
    reasons = only_hold(world).reasons
    assert {(reason.path, reason.line) for reason in reasons} == planned == {(path, reasons[0].line)}
    lines = world.repo.files("main")[path].decode().splitlines()
    assert lines[reasons[0].line - 1].strip() == text
    commits = world.state_commits()
    world.restart()
    world.settle()
    assert world.state_commits() == commits
    world.commit(ANOTHER)
    world.settle()
    assert only_hold(world).reasons == reasons, "a later commit does not move the place"


@pytest.mark.parametrize("restarts", [False, True])
def test_a_text_that_cannot_be_read_costs_its_own_line_and_nothing_else(
    caplog: pytest.LogCaptureFixture, restarts: bool
) -> None:
    world = settled()
    edits = [builders.placement(team, selectors=[builders.select_namespace("wwww")]) for team in ("web", "pay")]
    world.commit(*edits, builders.config_map("shop", "settings", {"version": "2"}))
    lost, sound = map(builders.path_of, edits)
    files = world.repo.list_tree(world.repo.fetch()["main"])
    world.driver.desired_trees.at(world.repo.fetch()["main"], world.state())  # parsed, and kept so
    text = world.repo._blobs.pop(files[lost].oid)
    world.settle()
    reasons = {reason.path: reason.line for reason in only_hold(world).reasons}
    wanted = builders.to_yaml(edits[1]).splitlines().index("  resourceSelectors:") + 1
    assert reasons == {lost: 1, sound: wanted}
    said = [record.getMessage() for record in caplog.records if f"lines of {lost}" in record.getMessage()]
    assert len(said) == 1 and files[lost].oid in said[0]
    bodies = [world.live(name, "ConfigMap", "settings", "shop") for name in CLUSTERS]
    assert [body and body["data"]["version"] for body in bodies] == ["2"] * len(CLUSTERS) and not world.state().faults
    world.repo._blobs[files[lost].oid] = text
    if restarts:
        world.restart()
    world.commit(ANOTHER)
    world.settle()
    assert {reason.path: reason.line for reason in only_hold(world).reasons} == {lost: wanted, sound: wanted}
    for path in (lost, sound):
        world.repo._blobs.pop(files[path].oid)
    world.commit(builders.config_map("pay", "another", {"a": "c"}))
    world.settle()
    reasons = {reason.path: reason.line for reason in only_hold(world).reasons}
    assert reasons == {lost: wanted, sound: wanted}, "each text is read once"
