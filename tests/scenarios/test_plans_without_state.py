"""A plan in a clone that has no state branch: with a base it names what a reconciler does that has the base rolled out,
now and later, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.simulation.memory_repo import MemoryRepo
from tests import builders
from tests.folders import FOLDER, folder, select_folder, settings, without_namespace
from tests.scenarios.explaining import open_workspace
from tests.scenarios.test_planned_steps import happened, planned
from tests.scenarios.world import World

CLUSTERS = {f"c{number}": "eu" if number < 5 else "us" for number in range(1, 9)}
REGION = {"region": "eu"}
A_QUARTER = builders.rolling_update(maxUnavailable="25%")
GOLD = builders.override_rule({"op": "add", "path": "/metadata/labels", "value": {"tier": "gold"}}, labels=REGION)
ALL_OF_DATA = {**builders.select_namespace("data"), "selectionScope": "NamespaceOnly"}


def web(strategy: dict[str, Any] | None = None) -> dict[str, Any]:
    """The placement of the namespace web, on every cluster of eu."""
    policy = {"placementType": "PickAll", "affinity": builders.pick_n(1, match_labels=REGION)["affinity"]}
    return builders.placement("web", policy=policy, strategy=strategy or A_QUARTER)


def app(image: str = "app:1", replicas: int = 1) -> dict[str, Any]:
    """The Deployment."""
    body = builders.deployment("web", "app", image=image)
    return {**body, "spec": {**body["spec"], "replicas": replicas}}


def shop(number: int = 6) -> dict[str, Any]:
    """A placement on some of the clusters."""
    return builders.placement(
        "shop", policy=builders.pick_n(number), strategy=builders.rolling_update(maxUnavailable=3)
    )


def settled() -> World:
    """Eight clusters; web is on three of them, shop on all, etl where the placement data brings its namespace, and the
    Folder env on two, in a variant each."""
    world = World()
    variants = ("eu", "eu", {"matchLabels": REGION}), ("us", "us", None)
    world.write({
        f"resources/env/{FOLDER}": builders.to_yaml(folder("env", *variants, namespace="env", createNamespace=True)),
        "resources/env/eu/more.yaml": builders.to_yaml(without_namespace(builders.config_map("x", "more"))),
        **{f"resources/env/{region}/settings.yaml": settings(region=region) for region in ("eu", "us")},
    })  # fmt: skip
    etl = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "etl"}
    world.roll_out(
        builders.fleet_config(),
        *(builders.member_cluster(name, labels={"region": region}) for name, region in CLUSTERS.items()),
        builders.namespace("web"),
        builders.config_map("web", "settings", {"version": "1"}),
        builders.config_map("web", "more"),
        app(),
        web(),
        builders.namespace("shop"),
        builders.deployment("shop", "cart"),
        shop(),
        builders.namespace("data"),
        builders.config_map("data", "etl"),
        builders.placement("env", selectors=[select_folder("env")], policy=builders.pick_fixed("c4", "c5")),
        builders.placement("data", selectors=[ALL_OF_DATA], policy=builders.pick_fixed("c1", "c2", "c3")),
        builders.an_object(
            builders.PLACEMENT_API, "ResourcePlacement", "etl", namespace="data",
            spec={"resourceSelectors": [etl], "policy": {"placementType": "PickAll"}},
        ),
    )  # fmt: skip
    assert not world.state().holds
    return world


def clone_without_state(world: World, change: Callable[[World], object]) -> tuple[MemoryRepo, str]:
    """The change is committed in the world and in a clone that has no state branch; the clone, and its base."""
    before = world.repo.files("main")
    change(world)
    after = world.repo.files("main")
    clone = MemoryRepo()
    base = clone.commit_files("main", before, world.clock.now())
    clone.commit_files("main", {**dict.fromkeys(before), **after}, world.clock.now())
    return clone, base


def replicas(world: World) -> None:
    world.commit(app(replicas=3))


def image(world: World) -> None:
    world.commit(app(image="app:2"))


def image_everywhere(world: World) -> None:
    world.commit(builders.deployment("shop", "cart", image="cart:2"))


def removal_of_one_object(world: World) -> None:
    world.commit(remove=[builders.config_map("web", "settings")])


def removal_of_a_namespace(world: World) -> None:
    """Its kind is protected, and the placement has nothing any more: that is held."""
    world.commit(
        remove=[builders.namespace("shop"), builders.deployment("shop", "cart")],
    )


def removal_of_a_placement(world: World) -> None:
    world.commit(remove=[web()])


def removal_of_a_placement_and_its_files(world: World) -> None:
    world.commit(remove=[shop(), builders.namespace("shop"), builders.deployment("shop", "cart")])


def new_cluster(world: World) -> None:
    world.commit(builders.member_cluster("c9", labels=REGION), app(replicas=2))


def cluster_leaves(world: World) -> None:
    world.commit(remove=[builders.member_cluster("c2")])


def label_of_a_cluster(world: World) -> None:
    world.commit(
        builders.member_cluster("c1", labels={"region": "us"}), builders.member_cluster("c7", labels={"region": "eu"})
    )


def variant_edited(world: World) -> None:
    world.write({"resources/env/us/settings.yaml": settings(region="us", size="large")})


def object_moved_between_variants(world: World) -> None:
    more = builders.to_yaml(without_namespace(builders.config_map("x", "more")))
    world.write({"resources/env/us/more.yaml": more, "resources/env/eu/more.yaml": None})


def override_added(world: World) -> None:
    world.commit(builders.override("gold", "ConfigMap/settings", GOLD, placement={"name": "web"}))


def strategy_changed(world: World) -> None:
    world.commit(web(strategy=builders.rolling_update(maxUnavailable=2)), app(image="app:2"))


def external_from_now_on(world: World) -> None:
    world.commit(web(strategy={"type": "External"}), app(image="app:2"))


def reports_only_from_now_on(world: World) -> None:
    strategy = {**A_QUARTER, "applyStrategy": {"type": "ReportDiff"}}
    world.commit(web(strategy=strategy), app(image="app:2"))


def another_number(world: World) -> None:
    world.commit(shop(4))


def an_approval_is_required(world: World) -> None:
    world.commit(builders.fleet_config(removals={"approval": "Always"}))
    world.commit(remove=[builders.config_map("web", "settings")])


EMPTIED = "Emptied, ProtectedKind"
CHANGES: dict[Callable[[World], None], tuple[str, str]] = {
    replicas: ("now 1, later 3", ""),
    image: ("now 1, later 3", ""),
    image_everywhere: ("now 3, later 3", ""),
    removal_of_one_object: ("now 1, later 3", ""),
    removal_of_a_namespace: ("now 0, later 0", EMPTIED),
    removal_of_a_placement: ("now 0, later 0", f"StillInRepo, {EMPTIED}"),
    removal_of_a_placement_and_its_files: ("now 0, later 0", EMPTIED),
    new_cluster: ("now 5, later 3", ""),
    cluster_leaves: ("now 0, later 0", ""),
    label_of_a_cluster: ("now 4, later 0", ""),
    variant_edited: ("now 1, later 0", ""),
    object_moved_between_variants: ("now 1, later 1", ""),
    override_added: ("now 1, later 3", ""),
    strategy_changed: ("now 2, later 2", ""),
    external_from_now_on: ("now 0, later 0", ""),
    reports_only_from_now_on: ("now 0, later 0", ""),
    another_number: ("now 0, later 0", "MassRemoval"),
    an_approval_is_required: ("now 0, later 0", "ApprovalRequired"),
}


def plans_of(world: World, change: Callable[[World], object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plan of a change in a clone without state, and the one over the recorded state."""
    clone, base = clone_without_state(world, change)
    document = open_workspace(clone, world.fleet, world.clock, "none").plan(None, base)
    assert document["stateCommit"] is None
    return document, open_workspace(world.repo, world.fleet, world.clock, "none").plan(None, None)


def compared(document: dict[str, Any]) -> dict[str, Any]:
    """What two plans of one change have in common: all but what has the number of a snapshot or a commit in it."""
    moves = [{row["clusterName"]: row["move"] for row in placed["rollout"]} for placed in document["placements"]]
    return {
        "operations": planned(document, "operations"),
        "later": planned(document, "later"),
        "holds": [(hold["reasons"], hold["removals"], hold["clusters"]) for hold in document["holds"]],
        "moves": moves,
        **{part: document[part] for part in ("risk", "summary", "faults", "unreachable", "blocked")},
    }


@pytest.mark.table("histories")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_planned_without_state_is_what_happens(change: Callable[[World], None]) -> None:
    world = settled()
    document, with_state = plans_of(world, change)
    assert compared(document) == compared(with_state)
    now, later = planned(document, "operations"), planned(document, "later")
    start = len(world.happenings)
    world.reconcile()
    assert happened(world, start) == now
    world.settle()
    assert happened(world, start) == now + later
    rules = ", ".join(reason["rule"] for hold in document["holds"] for reason in hold["reasons"])
    assert (f"now {now.total()}, later {later.total()}", rules) == CHANGES[change]
    assert len(world.state().held) == len(document["holds"])


def test_what_a_freeze_keeps_comes_later() -> None:
    world = settled()

    def change(world: World) -> None:
        world.commit(builders.freeze("holidays", "2099-01-01T00:00:00Z"), app(image="app:2"))

    document, with_state = plans_of(world, change)
    assert compared(document) == compared(with_state)
    assert (planned(document, "operations").total(), planned(document, "later").total()) == (0, 4)


def test_a_base_is_rolled_out_whatever_delays_it() -> None:
    """Its freezes, its External placement without a run, and a run that waits for an approval."""
    world = World()
    always = {"name": "always", "schedule": "0 0 * * *", "duration": "1439m"}
    world.commit(
        builders.fleet_config(freezeWindows=[always]),
        *(builders.member_cluster(name, labels={"region": region}) for name, region in CLUSTERS.items()),
        builders.namespace("web"),
        app(),
        web(strategy={"type": "External"}),
        builders.staged_strategy("all", builders.stage("eu", match_labels=REGION, approval=True)),
        builders.staged_run("first", placement="web", strategy="all"),
        builders.freeze("holidays", "2099-01-01T00:00:00Z"),
    )

    def change(world: World) -> None:
        world.commit(
            builders.fleet_config(), app(image="app:2"), builders.staged_run("second", placement="web", strategy="all"),
            remove=[builders.freeze("holidays", "2099-01-01T00:00:00Z")],
        )  # fmt: skip

    document, _ = plans_of(world, change)
    assert [run["name"] for run in document["runs"]] == ["second"]
    risk = document["risk"]
    assert (risk["placed"], risk["create"]["objects"], risk["update"]["objects"]) == (8, 0, 4)


def test_a_placement_that_only_reports_has_nothing_in_a_base() -> None:
    world = settled()
    strategy = {"applyStrategy": {"type": "ReportDiff"}}
    one = builders.pick_fixed("c1")
    reports = builders.placement("other", selectors=[builders.select_namespace("other")], policy=one, strategy=strategy)
    world.roll_out(builders.namespace("other"), builders.config_map("other", "settings"), reports)

    def change(world: World) -> None:
        world.commit(remove=[reports])

    document, with_state = plans_of(world, change)
    assert compared(document) == compared(with_state)
    assert document["holds"] == []


def test_a_base_over_a_recorded_state_has_the_pinned_content() -> None:
    world = settled()
    old = world.state().placements[PlacementKey("", "web")].resource_snapshots[-1]
    world.roll_out(app(image="app:2"))
    world.roll_out(builders.pin("web", old.index, old.hash))
    base = world.repo.fetch()["main"]
    image_everywhere(world)
    document = open_workspace(world.repo, world.fleet, world.clock, "none").plan(None, base)
    assert compared(document) == compared(open_workspace(world.repo, world.fleet, world.clock, "none").plan(None, None))
    assert document["risk"]["update"]["objects"] == 6


def test_a_base_over_a_recorded_state_has_what_was_taken_over() -> None:
    world = settled()
    theirs = builders.namespace("theirs")
    world.fleet.cluster("c1").apply_by_hand(theirs, manager="kubectl")
    world.roll_out(theirs, builders.placement("theirs", selectors=[builders.select_namespace("theirs")]))
    base = world.repo.fetch()["main"]
    world.commit(remove=[theirs])
    document = open_workspace(world.repo, world.fleet, world.clock, "none").plan(None, base)
    with_state = open_workspace(world.repo, world.fleet, world.clock, "none").plan(None, None)
    assert compared(document) == compared(with_state)


def test_evictions_of_the_base_are_over() -> None:
    world = settled()
    world.roll_out(builders.eviction("off", "web", "c1"))

    def change(world: World) -> None:
        world.commit(app(image="app:2"), builders.eviction("off", "web", "c2"))

    document, with_state = plans_of(world, change)
    assert planned(document, "operations") == planned(with_state, "operations")
    assert document["risk"]["delete"]["objects"] == 0
