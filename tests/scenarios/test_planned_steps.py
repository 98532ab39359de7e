"""A plan counts every step of a rollout: what it names for now and later is what a reconciler then does, no more and no
less; and planning writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.apply.texts import ApplyText
from gitfleet.cli.fail_on import Condition
from gitfleet.cli.plan_text import lines_of
from gitfleet.cli.texts import CliText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.explaining import open_workspace
from tests.scenarios.test_overrides_that_fail import failing_override, is_false
from tests.scenarios.world import World, answer, only_hold
from tests.texts import part

CLUSTERS = tuple(f"c{number}" for number in range(1, 7))
ONE_AT_A_TIME = builders.rolling_update(maxUnavailable=1)
Done = Counter[tuple[str, str, str]]


def placed(*clusters: str) -> dict[str, Any]:
    """The placement with its clusters."""
    return builders.placement("web", policy=builders.pick_fixed(*clusters), strategy=ONE_AT_A_TIME)


def committed() -> World:
    """Six clusters for a Namespace, a ConfigMap and a Deployment each; nothing was reconciled yet."""
    world = World()
    world.commit(
        builders.fleet_config(removals={"approval": "Never"}),
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web", labels={"team": "web"}),
        builders.config_map("web", "settings", {"version": "1"}),
        builders.deployment("web", "app"),
        placed(*CLUSTERS),
    )
    return world


def settled() -> World:
    """Six clusters with a Namespace, a ConfigMap and a Deployment each; nothing is held."""
    world = committed()
    world.settle()
    assert len(world.happenings) > 0 and not world.state().holds
    return world


def plan_of(world: World, clusters: str = "simulated", **options: Any) -> dict[str, Any]:
    """The Plan document of what people committed last."""
    workspace = open_workspace(world.repo, world.fleet, world.clock, clusters)
    return workspace.plan(options.get("rev"), options.get("base"))


def planned(document: dict[str, Any], *parts: str) -> Done:
    """What a plan names, as (cluster, apply or delete, object)."""
    what = {"create": "apply", "update": "apply", "delete": "delete"}
    return Counter(
        (row["clusterName"], what[row["action"]], f"{row['object']['kind']}/{row['object']['name']}")
        for placement in document["placements"]
        for part in parts
        for row in placement[part]
        if row["action"] in what
    )


def happened(world: World, since: int) -> Done:
    """What was done on clusters since then."""
    return Counter(
        (one.cluster, one.what, f"{one.key.kind}/{one.key.name}")
        for one in world.happenings[since:]
        if one.what in ("apply", "delete") and one.ok
    )


def change_image(world: World) -> None:
    world.commit(builders.deployment("web", "app", image="app:2"))


def drop_an_object(world: World) -> None:
    world.commit(remove=[builders.config_map("web", "settings")])


def swap_an_object(world: World) -> None:
    world.commit(builders.config_map("web", "more", {"a": "b"}), remove=[builders.config_map("web", "settings")])


def pick_two(world: World) -> None:
    world.commit(placed("c1", "c2"))


def move_and_change(world: World) -> None:
    world.commit(placed("c4", "c5", "c6"), builders.deployment("web", "app", image="app:2"))


def remove_the_placement(world: World) -> None:
    world.commit(remove=[builders.placement("web")])


def remove_a_cluster(world: World) -> None:
    world.commit(remove=[builders.member_cluster("c6")])


def override_on_two(world: World) -> None:
    gold = {"tier": "gold"}
    rule = builders.override_rule({"op": "add", "path": "/metadata/labels", "value": gold}, labels=gold)
    world.commit(
        *(builders.member_cluster(name, labels=gold) for name in ("c2", "c3")),
        builders.override("gold", "ConfigMap/settings", rule, placement={"name": "web"}),
    )


def second_placement(world: World) -> None:
    world.commit(
        builders.namespace("shop"), builders.deployment("shop", "app"), builders.placement("shop"),
        builders.deployment("web", "app", image="app:2"),
    )  # fmt: skip


def a_namespace_and_what_waits_for_it(world: World) -> None:
    """NamespaceAffinity admits the second placement where the first one has put its namespace."""
    selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "etl"}
    only = {**builders.select_namespace("data"), "selectionScope": "NamespaceOnly"}
    world.commit(
        builders.namespace("data"),
        builders.config_map("data", "etl"),
        builders.placement("data", selectors=[only], policy=builders.pick_fixed("c1", "c2", "c3")),
        builders.an_object(
            builders.PLACEMENT_API,
            "ResourcePlacement",
            "etl",
            namespace="data",
            spec={"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}},
        ),
    )


def quarantined_content(world: World) -> None:
    """A person forbids what the commit before was reverted for, and the content comes again."""
    change_image(world)
    world.settle()
    digest = world.state().placements[PlacementKey("", "web")].resource_snapshots[-1].hash
    world.roll_out(builders.deployment("web", "app"))
    world.commit(builders.quarantine("bad", "web", digest), builders.deployment("web", "app", image="app:2"))


def rename_to_one_that_needs_a_run(world: World) -> None:
    selectors = [builders.select_namespace("web")]
    world.commit(
        builders.placement("shop", selectors=selectors, strategy={"type": "External"}), remove=["placements/web.yaml"]
    )


def by_runs() -> World:
    """The same fleet with strategy External, rolled out by a run; the first half of the clusters is the first stage."""
    world = World()
    world.roll_out(
        builders.fleet_config(removals={"approval": "Never"}),
        *(builders.member_cluster(name, labels={"half": "1" if name < "c4" else "2"}) for name in CLUSTERS),
        builders.namespace("web", labels={"team": "web"}),
        builders.config_map("web", "settings", {"version": "1"}),
        builders.deployment("web", "app"),
        builders.placement("web", policy=builders.pick_fixed(*CLUSTERS), strategy={"type": "External"}),
        builders.staged_strategy("all", *(builders.stage(f"s{half}", match_labels={"half": half}) for half in "12")),
        builders.staged_run("first", placement="web", strategy="all"),
    )
    return world


def a_run(world: World) -> None:
    world.commit(
        builders.deployment("web", "app", image="app:2"), builders.staged_run("second", placement="web", strategy="all")
    )


def a_run_of_an_older_snapshot(world: World) -> None:
    world.commit(builders.config_map("web", "more"), builders.config_map("web", "settings", {"version": "2"}))
    world.roll_out(builders.staged_run("second", placement="web", strategy="all"))
    world.commit(builders.staged_run("back", placement="web", strategy="all", index=0))


def a_run_that_leaves_clusters(world: World) -> None:
    world.commit(
        builders.placement("web", policy=builders.pick_fixed("c1", "c4"), strategy={"type": "External"}),
        builders.deployment("web", "app", image="app:2"),
        builders.staged_run("second", placement="web", strategy="all"),
    )


RUNS: dict[Callable[[World], None], str] = {
    a_run: "now 1, later 5",
    a_run_of_an_older_snapshot: "now 2, later 10",
    a_run_that_leaves_clusters: "now 1, later 13",
}


@pytest.mark.parametrize("change", RUNS, ids=lambda change: change.__name__)
def test_what_is_planned_of_a_run_is_what_happens(change: Callable[[World], None]) -> None:
    world = by_runs()
    change(world)
    start, document, recorded = len(world.happenings), plan_of(world), plan_of(world, "none")
    now, later = planned(document, "operations"), planned(document, "later")
    assert (planned(recorded, "operations", "later"), recorded["risk"]) == (now + later, document["risk"])
    world.settle()
    assert happened(world, start) == now + later
    assert f"now {now.total()}, later {later.total()}" == RUNS[change]
    assert planned(plan_of(world), "operations", "later") == Counter()


def test_what_comes_after_a_gate_is_counted_as_if_it_were_approved() -> None:
    world = by_runs()
    stages = (builders.stage(f"s{half}", match_labels={"half": half}, approval=True) for half in "12")
    world.commit(builders.staged_strategy("gated", *stages), builders.deployment("web", "app", image="app:2"))
    world.commit(builders.staged_run("gated", placement="web", strategy="gated"))
    document = plan_of(world)
    assert document["risk"]["update"]["objects"] == 6
    text = "\n".join(lines_of(document))
    assert ViewsText.LATER_STEPS_COUNTED_IF_EVERY() in text
    for line in (
        ViewsText.RUN_PLACEMENT(
            name="gated", document="", snapshot="web with snapshot 1", document_2="", why="running"
        ),
        "stage s1 (updating): c1, c2, c3, then Approval",
        "stage s2 (pending): c4, c5, c6, then Approval",
    ):
        assert line in text, line


CHANGES: dict[Callable[[World], None], str] = {
    change_image: "now 1, later 5",
    drop_an_object: "now 1, later 5",
    swap_an_object: "now 2, later 10",
    pick_two: "now 12, later 0",
    move_and_change: "now 10, later 2",
    remove_the_placement: "now 3, later 15",
    remove_a_cluster: "now 0, later 0",
    override_on_two: "now 1, later 1",
    second_placement: "now 13, later 5",
    a_namespace_and_what_waits_for_it: "now 3, later 3",
    quarantined_content: "now 0, later 0",
    rename_to_one_that_needs_a_run: "now 0, later 0",
}


@pytest.mark.table("histories")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_planned_is_what_happens(change: Callable[[World], None]) -> None:
    world = settled()
    change(world)
    commits, start = world.state_commits(), len(world.happenings)
    document = plan_of(world)
    assert (world.state_commits(), happened(world, start)) == (commits, Counter())
    now, later = planned(document, "operations"), planned(document, "later")
    world.reconcile()
    assert happened(world, start) == now
    world.settle()
    assert happened(world, start) == now + later
    assert f"now {now.total()}, later {later.total()}" == CHANGES[change]
    assert planned(plan_of(world), "operations", "later") == Counter()


@pytest.mark.table("histories")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_without_asking_a_cluster_the_same_is_planned(change: Callable[[World], None]) -> None:
    world = settled()
    before = world.repo.fetch()["main"]
    change(world)
    asked, recorded = plan_of(world), plan_of(world, "none")
    assert planned(recorded, "operations", "later") == planned(asked, "operations", "later")
    assert recorded["risk"] == asked["risk"]
    assert planned(plan_of(world, "none", base=before), "operations", "later") == planned(asked, "operations", "later")


def test_a_base_counts_as_rolled_out_where_no_state_is_recorded() -> None:
    world = committed()
    before = world.repo.fetch()["main"]
    assert planned(plan_of(world, "none", base=before), "operations", "later") == Counter()
    swap_an_object(world)
    document = plan_of(world, "none", base=before)
    expected = Counter(
        {
            (name, what, f"ConfigMap/{obj}"): 1
            for name in CLUSTERS
            for what, obj in (("apply", "more"), ("delete", "settings"))
        }
    )
    assert planned(document, "operations", "later") == expected
    assert document["risk"]["placed"] == 18


@pytest.mark.parametrize("clusters", ["simulated", "none"])
def test_the_first_plan_counts_what_waits_for_a_namespace(clusters: str) -> None:
    world = World()
    world.commit(builders.fleet_config(), *(builders.member_cluster(name) for name in CLUSTERS))
    a_namespace_and_what_waits_for_it(world)
    document = plan_of(world, clusters)
    (_, etl) = document["placements"]
    assert [row["clusterName"] for row in etl["later"]] == ["c1", "c2", "c3"]
    assert ("  later + ConfigMap/data/etl on c1, c2, c3: " + ApplyText.NOT_CLUSTER_YET()) in list(lines_of(document))
    world.settle()
    assert happened(world, 0) == planned(document, "operations", "later")


def test_a_placement_that_is_on_no_cluster_says_why() -> None:
    world = settled()
    a_namespace_and_what_waits_for_it(world)
    world.commit(remove=[builders.placement("data")])
    lines = list(lines_of(plan_of(world)))
    at = lines.index("data/etl (PickAll): 0 clusters, 1 object, snapshot 0")
    assert lines[at + 1].startswith("  not    c1, c2, c3, c4 and 2 more: ")


@pytest.mark.parametrize("clusters", ["simulated", "none"])
def test_an_override_that_cannot_be_applied_blocks(clusters: str) -> None:
    world = settled()
    world.commit(failing_override())
    document = plan_of(world, clusters)
    assert [(row["placement"], row["clusterName"]) for row in document["blocked"]] == [("web", c) for c in CLUSTERS]
    (line,) = (line for line in lines_of(document) if part(CliText.BLOCKED_CHANGES_NOTHING) in line)
    assert line.startswith(
        CliText.BLOCKED_CHANGES_NOTHING(placement="web", tuple="c1, c2, c3, c4 and 2 more", message="")
    )
    said = CliText.COMMIT_HAS(count="1 error"), CliText.CANNOT_ROLLED_OUT(count="1 placement")
    assert Condition("errors").met(document) == " and ".join(said)
    world.settle()
    assert [b.cluster for b in world.bindings("web").values() if is_false(b.conditions, "Overridden")] == ["c1"]


def test_what_a_silent_cluster_has_is_counted_too() -> None:
    world = settled()
    world.fleet.cluster("c2").reachable = False
    world.rest()
    remove_the_placement(world)
    start = len(world.happenings)
    document = plan_of(world)
    assert [row["clusterName"] for row in document["unreachable"]] == ["c2"]
    (web,) = document["placements"]
    assert {row["waitsFor"] for row in web["later"] if row["clusterName"] == "c2"} == {"cluster"}
    assert {row["waitsFor"] for row in web["later"] if row["clusterName"] != "c2"} == {"rollout"}
    world.settle()
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert happened(world, start) == planned(document, "operations", "later")


def test_risk_counts_each_object_once() -> None:
    world = settled()
    move_and_change(world)
    risk = plan_of(world)["risk"]
    assert {name: risk[name] for name in ("placed", "clusters", "touched", "leaving", "delete", "update")} == {
        "placed": 18, "clusters": 6, "touched": 6, "leaving": [],
        "delete": {"objects": 9, "now": 9, "later": 0, "clusters": 3, "percent": 50.0},
        "update": {"objects": 3, "now": 1, "later": 2, "clusters": 3, "percent": 16.7},
    }  # fmt: skip


def test_risk_names_the_namespaces_that_go_and_what_each_placement_loses() -> None:
    world = settled()
    world.roll_out(builders.namespace("db"), builders.placement("db"))
    move_and_change(world)
    document = plan_of(world)
    assert document["risk"]["placed"] == 24
    assert document["risk"]["namespaces"] == [{"name": "web", "clusters": 3}]
    assert document["risk"]["losses"] == [{"placement": "web", "objects": 9, "placed": 18, "percent": 50.0}]
    lines = list(lines_of(document))
    assert lines[lines.index(CliText.NAMESPACES_GO_EVERYTHING(namespaces="web (on 3 clusters)")) - 1].startswith(
        "Risk: "
    )
    assert CliText.PLACEMENTS_LOSE(losses="web 9 of 18 placed objects (50%)") in lines


def test_a_held_removal_is_planned_as_held() -> None:
    world = settled()
    world.roll_out(builders.fleet_config(removals={"approval": "Always"}))
    drop_an_object(world)
    document = plan_of(world)
    (hold,) = document["holds"]
    assert planned(document, "operations", "later") == Counter()
    assert (hold["objects"], hold["nameIsFinal"]) == (6, True)
    assert hold["removals"] == [ApiText.PLACEMENT(object="ConfigMap/web/settings", placement="web")]
    world.reconcile()
    assert list(world.state().held) == [hold["name"]], "the plan of the watched commit names the hold that comes"
    branch = world.repo.commit_files(
        "my-change", dict(world.repo.files("main")), world.clock.now(), "The same elsewhere"
    )
    assert plan_of(world, rev=branch)["holds"][0]["name"] == hold["name"], "the hold is there already"


def test_a_cluster_that_leaves_is_named_with_what_stays_or_goes() -> None:
    world = settled()
    remove_a_cluster(world)
    assert plan_of(world)["risk"]["leaving"] == [
        {"clusterName": "c6", "objects": 3, "objectsStay": True, "held": False}
    ]


def test_a_cluster_whose_removal_is_held_does_not_leave_yet() -> None:
    """Neither the fleet nor a placement."""
    world = settled()
    world.roll_out(builders.fleet_config(removals={"approval": "Always"}), builders.config_map("web", "more"))
    deletes = builders.member_cluster("c6")
    deletes["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    world.roll_out(deletes)
    world.commit(placed("c2", "c3", "c4", "c5"), remove=[deletes])
    document = plan_of(world)
    (row,) = document["risk"]["leaving"]
    assert (row["clusterName"], row["objectsStay"], row["held"]) == ("c6", False, True)
    lines = list(lines_of(document))
    objects = CliText.ITS_ARE_HELD(number="4 objects")
    assert CliText.LEAVES_FLEET(cluster="c6", what=objects) in lines
    moves = document["placements"][0]["moves"]
    assert (moves["leave"], moves["held"]) == (["c1", "c6"], ["c1", "c6"])
    moved = "  " + ViewsText.WOULD_LEAVE_IF_APPROVED(clusters="2 clusters") + ", because "
    assert any(line.startswith(moved) for line in lines)
    start = len(world.happenings)
    world.settle()
    assert happened(world, start) == Counter()


def test_removals_that_go_cluster_by_cluster_come_later() -> None:
    world = settled()
    world.roll_out(builders.fleet_config(removals={"approval": "Always"}))
    drop_an_object(world)
    world.settle()
    world.write(answer(only_hold(world)))
    document = plan_of(world)
    now, later = planned(document, "operations"), planned(document, "later")
    assert (now.total(), later.total()) == (1, 5)
    start = len(world.happenings)
    world.settle()
    assert happened(world, start) == now + later


def test_a_plan_fails_on_a_run_that_would_be_refused() -> None:
    world = by_runs()
    world.commit(builders.staged_run("second", placement="web", strategy="none"))
    for document in (plan_of(world), plan_of(world, base=world.repo.log("main")[1].id)):
        assert Condition("errors").met(document) == CliText.WOULD_BE_REFUSED(count="1 run")
