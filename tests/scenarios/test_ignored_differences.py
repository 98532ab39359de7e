"""`ignoreDifferences` through whole reconciles, `diff` and `plan`: no drift, no difference, not written over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet.api.objects import key_of
from gitfleet.api.texts import ApiText
from gitfleet.apply import Ignored
from gitfleet.formats.texts import FormatsText
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Update
from gitfleet.model.works import Work
from gitfleet.views.diff_document import ClusterSides, diff_document, differing
from gitfleet.views.plan_document import diff_of
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.world import World

RULE = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
DEPLOYMENT = builders.deployment("web", "web", replicas=2)


def begun(*rules: dict[str, Any], **strategy: str) -> World:
    """Two replicas by git, which somebody then makes five."""
    world = World(rules=(QUICK,))
    applied = {**builders.rolling_update(maxUnavailable="100%"), "applyStrategy": strategy}
    config = [builders.fleet_config(ignoreDifferences=list(rules))] if rules else []
    world.commit(*members("c1"), builders.namespace("web"), DEPLOYMENT, *config,
                 builders.placement("web", "web", strategy=applied))  # fmt: skip
    world.settle()
    assert seen(world) == (2, "web:1")
    change = [{"op": "replace", "path": "/spec/replicas", "value": 5}]
    world.fleet.clusters["c1"].mutate(key_of(DEPLOYMENT), change)
    return world


def seen(world: World) -> tuple[int, str | None]:
    live = world.body("c1", "Deployment", "web", "web")
    return live["spec"]["replicas"], world.image("c1")


def applies(world: World) -> int:
    return sum(happening.what == "apply" for happening in world.happenings)


@pytest.mark.parametrize(
    "strategy",
    [{}, {"whenToApply": "IfNotDrifted"}, {"type": "ServerSideApply"}, {"comparisonOption": "FullComparison"}],
)
@pytest.mark.parametrize(
    ("by", "writes"), [({"jsonPointers": ["/spec/replicas"]}, 0), ({"managers": ["kubectl-edit"]}, 1)]
)
def test_what_somebody_set_stays_is_no_drift_and_survives_the_next_release(
    strategy: dict[str, str], by: dict[str, Any], writes: int
) -> None:
    """Which fields a manager has is known from the object alone: a new one costs an apply that changes nothing."""
    world = begun({"kind": "Deployment", **by}, **strategy)
    count = applies(world)
    world.settle()
    (binding,) = world.bindings("web").values()
    assert (seen(world), applies(world) - count) == ((5, "web:1"), writes)
    assert not binding.failed
    assert [one for one in binding.drifted if one.key.kind == "Deployment"] == []
    world.roll_out(builders.deployment("web", "web", "web:2", replicas=3))
    assert seen(world) == (5, "web:2")
    count = applies(world)
    world.restart()
    world.settle()
    assert (seen(world), applies(world) - count) == ((5, "web:2"), 0)


def test_without_the_rule_it_is_corrected_and_with_it_from_then_on_not() -> None:
    world = begun()
    world.settle()
    assert seen(world) == (2, "web:1")
    world.roll_out(builders.fleet_config(ignoreDifferences=[RULE]))
    change = [{"op": "replace", "path": "/spec/replicas", "value": 7}]
    world.fleet.clusters["c1"].mutate(key_of(DEPLOYMENT), change)
    world.settle()
    assert seen(world) == (7, "web:1")
    world.roll_out(builders.fleet_config())
    assert seen(world) == (2, "web:1")


def test_a_field_that_leaves_the_manifest_stays_while_it_is_left_alone() -> None:
    world = begun(RULE)
    world.settle()
    world.roll_out(builders.deployment("web", "web", "web:2"))
    assert seen(world) == (5, "web:2")


def wrong_rules(*rules: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    """Line, field and message of what is wrong with them."""
    world = World(rules=(QUICK,))
    world.commit(builders.fleet_config(ignoreDifferences=list(rules)))
    world.reconcile()
    return [(fault.line, fault.field, fault.message) for fault in world.state().faults]


def test_wrong_rules_are_errors_with_their_line() -> None:
    rule = "spec.ignoreDifferences"
    needs = ApiText.NEEDS_JSONPOINTERS_MANAGERS()
    assert wrong_rules({"kind": "Deployment"}) == [(7, f"{rule}[0].jsonPointers", needs)]
    pointer = ApiText.MUST_JSON_POINTER_SPEC_REPLICAS()
    manager = ApiText.MUST_NAME_ANOTHER_FIELD_MANAGER(field_manager="gitfleet", rollout_manager="gitfleet-rollout")
    assert wrong_rules(
        {"kind": "Deployment"},
        {"jsonPointers": ["spec/replicas", "/metadata/name"], "managers": ["gitfleet", "gitfleet-rollout"]},
        {"jsonPointer": ["/spec/replicas"]},
    ) == [
        (9, f"{rule}[1].jsonPointers[0]", pointer),
        (10, f"{rule}[1].jsonPointers[1]", pointer),
        (12, f"{rule}[1].managers[0]", manager),
        (13, f"{rule}[1].managers[1]", manager),
        (14, f"{rule}[2].jsonPointer", ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near="jsonPointers"))),
    ], "rules over several fields are judged once each field is sound"


def test_diff_and_plan_show_nothing_of_it() -> None:
    world = begun(RULE)
    (inventory,) = world.state().inventory.values()
    (entry,) = (one for key, one in inventory.items() if key.kind == "Deployment")
    live = world.fleet.clusters["c1"].get(entry.key)
    assert live is not None
    observation = ClusterObservation(cluster="c1", reachable=True, live={entry.key: live})
    work = Work(
        placement=entry.placement, cluster="c1", generation=1, snapshot="s",
        manifests=(builders.manifest_of(DEPLOYMENT),),
    )  # fmt: skip
    side = ClusterSides(cluster="c1", work=work, observation=observation)
    config = world.driver.repository.desired_trees.at(world.repo.fetch()["main"], world.state()).config
    ignored = Ignored(config.ignore_differences)
    assert differing(diff_document(entry.placement, "abc", (side,)))
    assert not differing(diff_document(entry.placement, "abc", (side,), lambda cluster: ignored))
    world.commit(builders.deployment("web", "web", "web:2", replicas=3))
    inputs = world.driver.gather(world.repo.fetch(), world.clock.now())
    _, operations = world.driver.observe_unseen(world.driver.decide(inputs))
    (update,) = (one for one in operations if isinstance(one, Update))
    shown = [line for line in diff_of(update).splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert [line.split() for line in shown] == [["-", "-", "image:", "web:1"], ["+", "-", "image:", "web:2"]]
