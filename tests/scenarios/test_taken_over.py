"""What a placement gives up and another one takes over: at no pass is it missing from a cluster that has it before and
after, whatever the other one waits for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.loop.texts import LoopText
from gitfleet.rollout import kept_there
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage
from tests.scenarios.test_faulty_renames import said_of
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

Files = list[dict[str, Any]]
ONE = builders.rolling_update(maxUnavailable=1)
ALL = builders.rolling_update(maxUnavailable="100%")
FEW, MANY = ("c1", "c2", "c3"), ("c1", "c2", "c3", "c4", "c5", "c6")
NAMES = ("web", "api", "x")
MORE = ("spare", "other")
"""What the other placement selects beside, so that it is none that only has another name."""


def placing(name: str, strategy: dict[str, Any], *namespaces: str) -> dict[str, Any]:
    return builders.placement(name, *namespaces, strategy=strategy)


BESIDE = placing("beside", ALL, MORE[1])
"""Another new one: which of the two only has another name cannot be said."""


def owners(world: World) -> set[str]:
    """The placements that own anything of what was there before."""
    owned = (entry for entries in world.state().inventory.values() for entry in entries.values())
    return {str(entry.placement) for entry in owned if entry.key.name not in MORE}


def has_all(world: World) -> bool:
    """Whether every cluster has every object."""
    return all(world.live(c, "Namespace", n) and world.image_in(c, n) for c in world.fleet.clusters for n in NAMES)


def begun(clusters: tuple[str, ...], *placements: dict[str, Any]) -> World:
    """Clusters that have everything, of External placements too."""
    world = World(rules=(QUICK,))
    objects = [one for name in NAMES for one in (builders.namespace(name), builders.deployment(name, "web"))]
    world.commit(*members(*clusters), *map(builders.namespace, MORE), *objects, *placements, one_stage())
    world.settle()
    external = [p["metadata"]["name"] for p in placements if p["spec"]["strategy"]["type"] == "External"]
    world.commit(*(builders.staged_run(f"on-{name}", placement=name, strategy="all") for name in external))
    world.settle()
    assert has_all(world)
    return world


def freeze(world: World, name: str) -> Files:
    until = (world.clock.now() + timedelta(days=300)).isoformat()
    return [builders.freeze("sale", until, scope={"placements": [name]})]


def override(name: str, **rule: Any) -> dict[str, Any]:
    return builders.an_object(
        "placement.kubernetes-fleet.io/v1beta1",
        "ClusterResourceOverride",
        f"of-{name}",
        spec={
            "placement": {"name": name},
            "clusterResourceSelectors": [builders.select_namespace("web")],
            "policy": {"overrideRules": [{"clusterSelector": {"clusterSelectorTerms": []}, **rule}]},
        },
    )


def failing(_: World, name: str) -> Files:
    return [override(name, jsonPatchOverrides=[{"op": "remove", "path": "/metadata/labels/nope"}])]


def no_file(world: World, *paths: str) -> None:
    world.commit(remove=paths)


def pin_of_shop(world: World, name: str) -> Files:
    return [builders.pin(name, 0, world.state().placements[PlacementKey("", name)].resource_snapshots[0].hash)]


def run_of(world: World, name: str) -> None:
    world.commit(builders.staged_run("again", placement=name, strategy="all"))


def nothing(_: World, __: str) -> Files:
    return []


GATES: dict[str, tuple[dict[str, Any], Callable[[World, str], Files], Callable[[World, str], None]]] = {
    "external": (EXTERNAL, nothing, run_of),
    "frozen": (ONE, freeze, lambda world, _: no_file(world, "freezes/sale.yaml")),
    "slower": (ONE, nothing, lambda _, __: None),
    "override fails": (ONE, failing, lambda world, name: no_file(world, f"overrides/of-{name}.yaml")),
}
"""What keeps the other placement from beginning at once, in which strategy; and what lets it begin."""


NO_PIN = ("renamed", "pinned")
"""A new name has no snapshot yet to which it could be pinned."""


@pytest.mark.parametrize(("clusters", "also"), [(FEW, ""), (FEW, "restart"), (MANY, "")])
@pytest.mark.parametrize(
    ("how", "gate"),
    [(how, gate) for how in ("renamed", "folded", "moved") for gate in (*GATES, "pinned") if (how, gate) != NO_PIN],
)
def test_an_object_stays_until_the_other_placement_has_it(
    how: str, gate: str, also: str, clusters: tuple[str, ...]
) -> None:
    pinned = (ONE, pin_of_shop, lambda world, name: no_file(world, f"pins/{name}.yaml"))
    strategy, close, open_ = {**GATES, "pinned": pinned}[gate]
    old = placing("web", ALL, "web") if how != "moved" else placing("web", ALL, "web", "x")
    others = [placing("rest", ALL, "x")] if how != "moved" else []
    shop = placing("shop", strategy, "api") if how != "renamed" else placing("rest2", ALL, "api")
    world = begun(clusters, old, *others, shop)
    left = ["placements/web.yaml"] if how != "moved" else []
    stays = [placing("web", ALL, "x")] if how == "moved" else []
    now = placing("shop", strategy, "web", MORE[0]) if how == "renamed" else placing("shop", strategy, "api", "web")
    with world.nothing_deleted():
        world.commit(now, *stays, *close(world, "shop"), remove=left)
        world.settle()
        assert has_all(world) and not world.state().holds
        if also:
            world.restart()
            world.settle()
        open_(world, "shop")
        world.settle()
        assert has_all(world)
    owned = [(k, str(e.placement)) for o in world.state().inventory.values() for k, e in o.items()]
    assert {
        owner for key, owner in owned if key.namespace == "web" or (key.kind, key.name) == ("Namespace", "web")
    } == {"shop"}


def placed_by_run(*clusters: str) -> World:
    """An External placement `web` on clusters, by a run `on-web`; massDelete holds nothing."""
    world = begun(clusters, placing("web", EXTERNAL, "web"), placing("rest", ALL, "api", "x"))
    world.commit(builders.fleet_config(massDelete={"maxPercent": 100}))
    world.settle()
    return world


def initialized(world: World) -> None:
    run = builders.staged_run("go", placement="web", strategy="all")
    world.commit({**run, "spec": {**run["spec"], "state": "Initialize"}})


def stopped_at_an_approval(world: World) -> None:
    world.commit(
        builders.staged_strategy("ask", builders.stage("first", approval=True, maxConcurrency=1)),
        builders.staged_run("go", placement="web", strategy="ask"),
        builders.deployment("web", "web", image="web:2"),
    )


@pytest.mark.parametrize("unfinished", [initialized, stopped_at_an_approval])
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE])
def test_a_placement_renamed_while_its_run_is_unfinished_stays_until_the_new_one_has_its_objects(
    unfinished: Callable[[World], None], strategy: dict[str, Any]
) -> None:
    world = placed_by_run(*MANY)
    unfinished(world)
    world.settle()
    with world.nothing_deleted():
        world.commit(placing("shop", strategy, "web", MORE[0]), BESIDE, remove=["placements/web.yaml"])
        world.settle()
        assert has_all(world)
        assert said_of(world, "web") == (
            StatusText.STAYS_UNTIL_OBJECTS_GITFLEET_EXPLAIN(
                where="c1, c2, c3 and 3 more", other="ClusterResourcePlacement", other_2="shop"
            )
            if strategy is EXTERNAL
            else ""
        )
        if strategy is EXTERNAL:
            result = world.reconcile()
            stays = "web stays on c1, c2, c3 and 3 more" + LoopText.UNTIL_OBJECTS(
                other="ClusterResourcePlacement", other_2="shop"
            )
            assert result is not None
            assert result.asks == ((f"{stays}" + LoopText.WAITS_RUN_ADD_ONE_GITFLEET(other="shop")),)


@pytest.mark.parametrize("to", ["web", "third"])
def test_a_rename_that_is_taken_back_or_goes_on_while_a_run_hands_over(to: str) -> None:
    world = placed_by_run(*FEW)
    stages = (builders.stage("a", match_labels={"e": "a"}, approval=True), builders.stage("b", match_labels={"e": "b"}))
    world.commit(*members("c1", e="a"), *members("c2", "c3", e="b"), builders.staged_strategy("ask", *stages))
    world.settle()
    with world.nothing_deleted():
        world.commit(placing("shop", EXTERNAL, "web", MORE[0]), BESIDE, remove=["placements/web.yaml"])
        world.settle()
        world.commit(builders.staged_run("half", placement="shop", strategy="ask"))
        world.settle()
        assert owners(world) == {"web", "shop", "rest"}
        world.commit(placing(to, EXTERNAL, "web", *MORE), remove=["placements/shop.yaml", BESIDE])
        world.settle()
        assert has_all(world)
        run_of(world, to)
        world.settle()
        assert has_all(world)
    assert owners(world) == {to, "rest"}


@pytest.mark.parametrize("budgets", [(ONE, ONE), (ALL, ONE), (ONE, ALL)])
def test_two_placements_that_swap_what_they_select_delete_nothing(budgets: tuple[dict[str, Any], ...]) -> None:
    first, second = budgets
    world = begun(FEW, placing("a", first, "web"), placing("b", second, "api"), placing("c", ALL, "x"))
    with world.nothing_deleted():
        world.commit(placing("a", second, "api"), placing("b", first, "web"))
        world.settle()
    assert has_all(world)
    owned = {(e.placement.name, k.namespace) for o in world.state().inventory.values() for k, e in o.items()}
    assert owned >= {("a", "api"), ("b", "web")}
    assert not owned & {("a", "web"), ("b", "api")}


@pytest.mark.parametrize("pinned", ["a", "b"])
@pytest.mark.parametrize("crd", ["a", "b", "none"])
def test_a_swap_with_a_pinned_placement_waits_for_the_pin_and_is_settled(pinned: str, crd: str) -> None:
    definition = builders.custom_definition("acme.example.com", "Widget")
    by_name = {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"}
    more = [{**by_name, "name": "widgets.acme.example.com"}] if crd != "none" else []

    def selecting(name: str, namespace: str, extra: list[dict[str, Any]]) -> dict[str, Any]:
        return builders.placement(name, selectors=[builders.select_namespace(namespace), *extra], strategy=ONE)

    world = begun(FEW, placing("a", ONE, "web"), placing("b", ONE, "api"), placing("c", ALL, "x"))
    world.commit(definition, selecting("a", "web", more))
    world.settle()
    held = world.state().placements[PlacementKey("", pinned)].resource_snapshots[-1]
    world.commit(builders.pin(pinned, held.index, held.hash))
    world.settle()
    with world.nothing_deleted():
        world.commit(
            selecting("a", "api", more if crd == "a" else []), selecting("b", "web", more if crd == "b" else [])
        )
        world.settle()
        result = world.reconcile()
        assert result is not None and (result.settled, result.waiting) == (True, ())
        other, namespace = ("b", "web") if pinned == "a" else ("a", "api")
        assert result.asks[0] == (
            f"{other}: Namespace/{namespace} stays with ClusterResourcePlacement {pinned} on c1, which a pin keeps at "
            f"older content; remove the pin to hand it over, or take it out of {other}"
        )
        world.commit(remove=[f"pins/{pinned}.yaml"])
        world.settle()
    assert has_all(world)
    result = world.reconcile()
    assert result is not None and (result.settled, result.asks) == (True, ())


@pytest.mark.parametrize("moved", [True, False])
def test_an_override_that_deletes_for_the_other_placement_is_held_as_any_that_newly_deletes(moved: bool) -> None:
    """By its number here: what is below the shares goes, as with every override."""
    shop = placing("shop", ONE, "api")
    world = begun(MANY, placing("web", ALL, "web", "x"), shop)
    now = [placing("web", ALL, "x")] if moved else [placing("left", ALL, "x")]
    with world.nothing_deleted():
        gone = [] if moved else ["placements/web.yaml"]
        world.commit(placing("shop", ONE, "api", "web"), *now, override("shop", overrideType="Delete"), remove=gone)
        world.settle()
        assert has_all(world)
    assert "12 of the 36 objects" in only_hold(world).reasons[0].message


def test_what_is_kept_for_another_placement_is_said_until_it_has_it() -> None:
    world = begun(FEW, placing("web", ALL, "web", "x"), placing("shop", EXTERNAL, "api"))
    world.commit(placing("web", ALL, "x"), placing("shop", EXTERNAL, "api", "web"))
    world.settle()
    result = world.reconcile()
    assert result is not None and (result.settled, result.waiting) == (True, ())
    keeps = (
        "web "
        + LoopText.KEEPS_NO_LONGER_SELECTS()
        + (" on c1, c2 and c3" + LoopText.UNTIL_OBJECTS(other="ClusterResourcePlacement", other_2="shop"))
    )
    assert result.asks == ((f"{keeps}" + LoopText.WAITS_RUN_ADD_ONE_GITFLEET(other="shop")),)
    kept = world.bindings("web")["c2"]
    assert [(str(one.key), one.message) for one in kept.kept] == [
        (name, "it stays until ClusterResourcePlacement shop, which selects it, has it here")
        for name in ("Namespace/web", "Deployment/web/web")
    ]
    assert kept_there(kept).startswith("keeps Namespace/web: it stays until ClusterResourcePlacement shop")
    run_of(world, "shop")
    world.settle()
    assert not any(binding.kept for binding in world.bindings("web").values()) and has_all(world)


def test_what_the_other_placement_is_not_to_have_goes_once_that_one_has_arrived_elsewhere() -> None:
    """Placed on c1 and c2 before, on c2 and c3 after: c1 loses it when c2 and c3 have it."""
    on = [builders.pick_fixed(*names) for names in (("c1", "c2"), ("c2", "c3"))]
    world = World(rules=(QUICK,))
    world.commit(*members(*FEW), builders.namespace("web"), builders.placement("web", strategy=ONE, policy=on[0]))
    world.settle()
    world.commit(
        builders.placement("shop", "web", strategy=EXTERNAL, policy=on[1]),
        one_stage(),
        remove=["placements/web.yaml"],
    )
    world.settle()
    assert [bool(world.live(name, "Namespace", "web")) for name in FEW] == [True, True, False]
    missing: list[str] = []
    world.watch = lambda _: missing.extend(n for n in ("c2",) if not world.live(n, "Namespace", "web"))
    run_of(world, "shop")
    world.settle()
    assert [bool(world.live(name, "Namespace", "web")) for name in FEW] == [False, True, True] and not missing


@pytest.mark.parametrize("gate", ["external", "frozen"])
@pytest.mark.parametrize("clusters", [FEW, MANY])
@pytest.mark.parametrize("also", ["", "restart"])
def test_what_moves_to_a_placement_that_waits_and_is_taken_back_is_deleted_nowhere(
    gate: str, clusters: tuple[str, ...], also: str
) -> None:
    strategy, close, _ = GATES[gate]
    world = begun(clusters, placing("web", ONE, *NAMES))
    with world.nothing_deleted():
        world.commit(placing("web", ONE, "web", "x"), placing("api", strategy, "api"), *close(world, "api"))
        world.settle()
        if also:
            world.restart()
        world.commit(placing("web", ONE, *NAMES), remove=["placements/api.yaml"])
        world.settle()
        assert has_all(world)
    assert owners(world) == {"web"}


def on(name: str, clusters: tuple[str, ...], *namespaces: str, **more: Any) -> dict[str, Any]:
    """A rolling placement on these clusters."""
    return builders.placement(name, *namespaces, strategy=ONE, policy=builders.pick_fixed(*clusters), **more)


def test_placements_of_the_same_on_other_clusters_that_are_renamed_at_once_go_on() -> None:
    clusters = ("c1", "c2", "c3", "c4")
    world = begun(clusters, on("eu", clusters[:2], *NAMES), on("us", clusters[2:], *NAMES))
    with world.nothing_deleted():
        world.commit(
            on("emea", clusters[:2], *NAMES),
            on("amer", clusters[2:], *NAMES),
            remove=["placements/eu.yaml", "placements/us.yaml"],
        )
        world.settle()
        world.commit(builders.deployment("web", "web", image="web:2"))
        world.settle()
    assert owners(world) == {"emea", "amer"}
    assert {world.image_in(name, "web") for name in clusters} == {"web:2"}


@pytest.mark.parametrize(("left", "right"), [(("c1", "c2"), ("c2", "c3")), (("c1", "c2"), ("c1", "c2")), (FEW, FEW)])
def test_a_placement_that_is_dissolved_into_two_others_leaves_when_they_have_its_objects(
    left: tuple[str, ...], right: tuple[str, ...]
) -> None:
    spare, other = MORE
    world = begun(FEW, placing("web", ONE, *NAMES), on("left", left, spare), on("right", right, other))
    gone: list[tuple[str, str]] = []
    wanted = [(n, "web") for n in left] + [(n, name) for n in right for name in ("api", "x")]
    world.watch = lambda _: gone.extend(w for w in wanted if not world.live(w[0], "Namespace", w[1]))
    world.commit(on("left", left, "web", spare), on("right", right, "api", "x", other), remove=["placements/web.yaml"])
    world.settle()
    assert not gone
    assert owners(world) == {"left", "right"}
    there = [(n, name) for n in FEW for name in NAMES if world.live(n, "Namespace", name)]
    assert sorted(there) == sorted(wanted)


def test_an_update_takes_a_cluster_from_a_snapshot_whose_objects_another_placement_keeps() -> None:
    """web, which leaves, stays for keep; shop waits for web with one snapshot, and its next one does not."""
    spare = MORE[0]
    world = begun(FEW, placing("web", ONE, "web", "api"), placing("rest", ONE, "x"), placing("shop", ONE, spare))
    with world.nothing_deleted():
        world.commit(
            placing("shop", ONE, spare, "api"), placing("keep", EXTERNAL, "web"), remove=["placements/web.yaml"]
        )
        world.advance(minutes=1)
        world.reconcile()
        world.commit(builders.deployment(spare, "web"), placing("shop", ONE, spare), placing("pay", EXTERNAL, "api"))
        world.settle(timedelta(minutes=30))
        assert has_all(world)
    assert {world.image_in(name, spare) for name in FEW} == {"web:1"}


@pytest.mark.parametrize("policy", [{"clusterNames": ["c11"]}, {"tier": "gld"}, {"clusterNames": ["c1", "c11"]}])
@pytest.mark.parametrize("moved", [True, False])
def test_what_a_placement_takes_over_that_picks_no_cluster_by_a_slip_stays(policy: dict[str, Any], moved: bool) -> None:
    picks = (
        builders.pick_fixed(*policy["clusterNames"])
        if "clusterNames" in policy
        else builders.pick_n(3, match_labels=policy)
    )
    world = begun(FEW, placing("web", ONE, *NAMES))
    now = [placing("web", ONE, "api", "x")] if moved else [placing("rest", ONE, "api", "x")]
    with world.nothing_deleted():
        shop = builders.placement("shop", "web", MORE[0], strategy=ONE, policy=picks)
        world.commit(shop, *now, remove=[] if moved else ["placements/web.yaml"])
        world.settle()
        assert has_all(world)
    result = world.reconcile()
    assert result is not None and result.settled
    assert [sentence.split(" on ")[0] for sentence in result.asks][-1:] == [
        ("web " + LoopText.KEEPS_NO_LONGER_SELECTS()) if moved else "web stays"
    ]


def test_what_a_placement_takes_over_that_only_reports_stays_and_says_so() -> None:
    world = begun(FEW, placing("web", ONE, "web"), placing("rest", ONE, "api", "x"))
    strategy = {**ONE, "applyStrategy": {"type": "ReportDiff"}}
    with world.nothing_deleted():
        world.commit(placing("shop", strategy, "web", MORE[0]), BESIDE, remove=["placements/web.yaml"])
        world.settle()
        assert has_all(world)
    result = world.reconcile()
    assert result is not None and result.settled
    stays = "web stays on c1, c2 and c3" + LoopText.UNTIL_OBJECTS(other="ClusterResourcePlacement", other_2="shop")
    assert result.asks == (f"{stays}, and it only reports differences: change its applyStrategy, or what it selects",)


@pytest.mark.parametrize("at_once", [True, False])
def test_what_a_placement_that_only_reports_selects_no_more_is_handed_over_and_never_deleted(at_once: bool) -> None:
    """KubeFleet removes it once the mode is off (workapplier/preprocess.go); it writes nothing before."""
    reports = {**ONE, "applyStrategy": {"type": "ReportDiff"}}
    world = begun(FEW, placing("web", ONE, *NAMES), placing("shop", ONE, MORE[0]))
    with world.nothing_deleted():
        if not at_once:
            world.commit(placing("web", reports, *NAMES))
            world.settle()
        world.commit(placing("web", reports, "web"), placing("shop", ONE, MORE[0], "api"))
        world.settle()
        world.commit(builders.deployment("api", "web", image="web:2"))
        world.settle()
        assert has_all(world) and {world.image_in(name, "api") for name in FEW} == {"web:2"}
    owned = {(str(e.placement), k.namespace) for o in world.state().inventory.values() for k, e in o.items()}
    assert {("shop", "api"), ("web", "web"), ("web", "x")} <= owned and ("web", "api") not in owned
    result = world.reconcile()
    assert result is not None and (result.settled, result.waiting, result.asks) == (True, (), ())
    world.commit(placing("web", ONE, "web"))
    world.settle()
    assert {n for n in NAMES if world.live("c1", "Namespace", n)} == {"web", "api"}


@pytest.mark.parametrize("passes", range(1, 6))
@pytest.mark.parametrize("cluster", ["c1", "c3"])
def test_a_move_that_is_taken_back_after_a_cluster_refused_it_deletes_nothing(cluster: str, passes: int) -> None:
    world = begun(FEW, placing("web", ONE, *NAMES), placing("z", ONE, MORE[0]))
    with world.nothing_deleted():
        world.fleet.cluster(cluster).failing = 1000
        world.commit(placing("web", ONE, "web", "x"), placing("z", ONE, MORE[0], "api"))
        for _ in range(passes):
            world.reconcile()
            world.advance(seconds=3)
        world.fleet.cluster(cluster).failing = 0
        world.commit(placing("web", ONE, *NAMES), placing("z", ONE, MORE[0]))
        world.settle()
        assert has_all(world)


def test_a_rename_that_waits_takes_over_later_what_it_is_to_select_besides() -> None:
    world = begun(FEW, placing("pay", ONE, "web"), placing("web", ONE, "api", "x"))
    world.commit(builders.placement_budget("pay", minAvailable=1))
    world.settle()
    with world.nothing_deleted():
        world.commit(placing("api", ONE, "web", "api"), placing("web", ONE, "x"), remove=["placements/pay.yaml"])
        world.settle()
        assert has_all(world) and set(map(str, world.state().placements)) == {"pay", "web"}
        world.commit(builders.placement_budget("api", minAvailable=1), remove=["budgets/pay.yaml"])
        world.settle()
        assert has_all(world)
    assert owners(world) == {"api", "web"}


@pytest.mark.parametrize("broken", ["field", "unreadable", "kind"])
@pytest.mark.parametrize("new", [True, False])
def test_a_selector_that_moves_into_a_file_with_an_error_stays_where_it_was(new: bool, broken: str) -> None:
    world = begun(FEW, placing("web", ONE, "web", "x"), placing("api", ONE, "api"))
    name, others = ("shop", ("web",)) if new else ("api", ("api", "web"))
    text = builders.to_yaml(placing(name, ONE, *others))
    spoilt = {
        "field": text.replace("strategy:", "stratgy:"),
        "unreadable": "kind: [\n",
        "kind": text.replace("kind: ClusterResourcePlacement", "kind: ClusterResourcePlacemnt"),
    }[broken]
    with world.nothing_deleted():
        world.write(
            {f"placements/{name}.yaml": spoilt, "placements/web.yaml": builders.to_yaml(placing("web", ONE, "x"))}
        )
        world.settle()
        world.commit(builders.namespace("later"))
        world.restart()
        world.settle()
        assert has_all(world) and owners(world) == {"web", "api"}
        stays = "may be meant to replace ClusterResourcePlacement web (placements/web.yaml), which goes on as it was"
        assert any(stays in str(fault) for fault in world.state().faults)
        world.write({f"placements/{name}.yaml": text})
        world.settle()
        assert has_all(world)
    assert owners(world) == {name, "web", "api"}
    assert not world.state().faults


@pytest.mark.parametrize("gate", ["external", "frozen"])
def test_what_comes_back_to_a_placement_that_waits_keeps_the_content_that_it_has(gate: str) -> None:
    strategy, close, _ = GATES[gate]
    world = begun(FEW, placing("a", strategy, "web", "x"), placing("z", ONE, "api"))
    world.commit(*close(world, "a"))
    world.settle()
    world.commit(placing("a", strategy, "x"), placing("z", ONE, "api", "web"))
    world.settle()
    world.write(answer(only_hold(world)))
    world.settle()
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    assert {world.image_in(name, "web") for name in FEW} == {"web:2"}
    seen: set[str | None] = set()
    world.watch = lambda _: seen.update(world.image_in(name, "web") for name in FEW)
    with world.nothing_deleted():
        world.commit(placing("a", strategy, "web", "x"), placing("z", ONE, "api"))
        world.settle()
    assert seen <= {"web:2"} and {world.image_in(name, "web") for name in FEW} == {"web:2"}


def test_a_placement_leaves_though_two_others_select_what_it_has() -> None:
    world = begun(FEW, placing("a", ONE, *NAMES), placing("y", ONE, MORE[0]), placing("z", ONE, MORE[1]))
    with world.nothing_deleted():
        world.commit(
            placing("y", ONE, MORE[0], *NAMES),
            placing("z", ONE, MORE[1], "web"),
            builders.deployment("web", "web", image="web:2"),
            remove=["placements/a.yaml"],
        )
        world.settle()
    assert owners(world) == {"y"}
    assert {world.image_in(name, "web") for name in FEW} == {"web:2"}
