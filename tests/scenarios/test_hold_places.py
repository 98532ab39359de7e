"""The place of a hold is the line of the field that a commit edited, in `plan` and on the state branch alike."""

from __future__ import annotations

import pytest

from gitfleet.api.objects import JsonObject
from tests import builders
from tests.scenarios.test_holds import only_hold, settled
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
