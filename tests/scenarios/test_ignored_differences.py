"""`ignoreDifferences` through whole reconciles, `diff` and `plan`: no drift, no difference, not written over."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import key_of
from gitfleet.api.texts import ApiText
from gitfleet.apply import Ignored
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Update
from gitfleet.model.works import Work
from gitfleet.views import ClusterSides, diff_document, differing
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
    live = world.live("c1", "Deployment", "web", "web")
    assert live is not None
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
    world.commit(builders.deployment("web", "web", "web:2", replicas=3))
    world.settle()
    assert seen(world) == (5, "web:2")
    count = applies(world)
    world.restart()
    world.settle()
    assert (seen(world), applies(world) - count) == ((5, "web:2"), 0)


def test_without_the_rule_it_is_corrected_and_with_it_from_then_on_not() -> None:
    world = begun()
    world.settle()
    assert seen(world) == (2, "web:1")
    world.commit(builders.fleet_config(ignoreDifferences=[RULE]))
    world.settle()
    change = [{"op": "replace", "path": "/spec/replicas", "value": 7}]
    world.fleet.clusters["c1"].mutate(key_of(DEPLOYMENT), change)
    world.settle()
    assert seen(world) == (7, "web:1")
    world.commit(builders.fleet_config())
    world.settle()
    assert seen(world) == (2, "web:1")


def test_a_field_that_leaves_the_manifest_stays_while_it_is_left_alone() -> None:
    world = begun(RULE)
    world.settle()
    world.commit(builders.deployment("web", "web", "web:2"))
    world.settle()
    assert seen(world) == (5, "web:2")


CONTAINERS = [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]


def by_another(body: dict[str, Any], rule: dict[str, Any], theirs: dict[str, Any]) -> World:
    """An object of which another manager applied `theirs` too, and from then on the rule."""
    world = World(rules=(QUICK,))
    strategy = builders.rolling_update(maxUnavailable="100%")
    placement = builders.placement("web", "web", strategy=strategy)
    world.commit(*members("c1"), builders.namespace("web"), body, placement)
    world.settle()
    identity = {part: body[part] for part in ("apiVersion", "kind")}
    metadata = {"name": "web", "namespace": "web", **theirs.pop("metadata", {})}
    world.fleet.clusters["c1"].apply_by_hand({**identity, "metadata": metadata, **theirs}, manager="another")
    world.settle()
    before = stable(world, body)
    world.commit(builders.fleet_config(ignoreDifferences=[rule]))
    world.settle()
    assert stable(world, body) == before
    return world


def stable(world: World, body: dict[str, Any]) -> Any:
    live = world.live("c1", body["kind"], "web", "web")
    assert live is not None
    metadata = {part: live["metadata"].get(part) for part in ("labels", "annotations")}
    return {"metadata": metadata, "spec": live.get("spec"), "data": live.get("data")}


@pytest.mark.parametrize("place", ["metadata/annotations", "spec/template/metadata/annotations", "data"])
def test_a_map_of_which_another_manager_has_one_entry_keeps_all_the_others(place: str) -> None:
    def inside(body: dict[str, Any], entries: dict[str, str]) -> dict[str, Any]:
        at = body
        for part in place.split("/")[:-1]:
            at = at.setdefault(part, {})
        at[place.rpartition("/")[2]] = entries
        return body

    def made(image: str) -> dict[str, Any]:
        return builders.config_map("web", "web", {}) if place == "data" else builders.deployment("web", "web", image)

    manifest, theirs = inside(made("web:1"), {"team": "a", "more": "1"}), inside({}, {"theirs": "1"})
    world = by_another(manifest, {"kind": manifest["kind"], "jsonPointers": [f"/{place}"]}, theirs)
    changed = inside(made("web:2"), {"team": "b"})
    changed["metadata"]["labels"] = {"new": "1"}
    world.commit(changed)
    world.settle()
    live = world.live("c1", manifest["kind"], "web", "web")
    for part in place.split("/"):
        live = live[part] if live is not None else None
    assert live is not None
    kept = {name: value for name, value in live.items() if name != "deployment.kubernetes.io/revision"}
    assert kept == {"team": "a", "more": "1", "theirs": "1"}  # beside what its controller notes
    seen_labels = world.live("c1", manifest["kind"], "web", "web")
    assert seen_labels is not None and seen_labels["metadata"]["labels"]["new"] == "1"


@pytest.mark.parametrize("first", ["a", "b", "c"])
def test_an_item_of_a_list_keeps_its_own_value_wherever_it_stands(first: str) -> None:
    def with_containers(*containers: dict[str, str]) -> dict[str, Any]:
        body = builders.deployment("web", "web")
        body["spec"]["template"]["spec"]["containers"] = list(containers)
        return body

    rule = {"kind": "Deployment", "jsonPointers": ["/spec/template/spec/containers/0/image"]}
    side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "s:1"}]}}}}
    world = by_another(with_containers(*CONTAINERS), rule, side)
    added = [{"name": "c", "image": "c:1"}] if first == "c" else []
    world.commit(with_containers(*sorted([*added, *CONTAINERS], key=lambda one: one["name"] != first)))
    world.settle()
    live = world.live("c1", "Deployment", "web", "web")
    assert live is not None
    images = {one["name"]: one["image"] for one in live["spec"]["template"]["spec"]["containers"]}
    assert images == {one["name"]: one["image"] for one in [*CONTAINERS, *added]} | {"side": "s:1"}


def test_wrong_rules_are_errors_with_their_line() -> None:
    world = World(rules=(QUICK,))
    rules = [
        {"kind": "Deployment"},
        {"jsonPointers": ["spec/replicas", "/metadata/name"], "managers": ["gitfleet", "gitfleet-rollout"]},
        {"jsonPointer": ["/spec/replicas"]},
    ]
    world.commit(builders.fleet_config(ignoreDifferences=rules))
    world.reconcile()
    rule, spec = "spec.ignoreDifferences", "must be a JSON Pointer such as /spec/replicas, a / in a name as ~1"
    needs = ApiText.NEEDS_JSONPOINTERS_MANAGERS()
    pointer = f"{spec}, to a field that does not say what the object is"
    manager = ApiText.MUST_NAME_ANOTHER_FIELD_MANAGER(field_manager="gitfleet", rollout_manager="gitfleet-rollout")
    assert [(fault.line, fault.field, fault.message) for fault in world.state().faults] == [
        (7, f"{rule}[0].jsonPointers", needs),
        (9, f"{rule}[1].jsonPointers[0]", pointer),
        (10, f"{rule}[1].jsonPointers[1]", pointer),
        (12, f"{rule}[1].managers[0]", manager),
        (13, f"{rule}[1].managers[1]", manager),
        (14, f"{rule}[2].jsonPointer", ApiText.NOT_KNOWN_FIELD(hint="did you mean jsonPointers?")),
        (14, f"{rule}[2].jsonPointers", needs),
    ]


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
    config = world.driver.desired_trees.at(world.repo.fetch()["main"], world.state()).config
    ignored = Ignored(config.ignore_differences)
    assert differing(diff_document(entry.placement, "abc", (side,)))
    assert not differing(diff_document(entry.placement, "abc", (side,), lambda cluster: ignored))
    world.commit(builders.deployment("web", "web", "web:2", replicas=3))
    inputs = world.driver.gather(world.repo.fetch(), world.clock.now())
    _, operations = world.driver.observe_unseen(world.driver.decide(inputs))
    (update,) = (one for one in operations if isinstance(one, Update))
    shown = [line for line in diff_of(update).splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert [line.split() for line in shown] == [["-", "-", "image:", "web:1"], ["+", "-", "image:", "web:2"]]
