"""Removals that may be an accident wait for a person; everything else of the commit goes out (D25, D31, D33)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gitfleet.api.holds import Hold, HoldRule
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.views import table_of
from tests import builders
from tests.scenarios.explaining import explain
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import World
from tests.state.builders import reader_of

CLUSTERS = tuple(f"c{number}" for number in range(1, 7))
TEAMS = ("web", "shop", "pay")


def settled() -> World:
    """Six clusters, three placements with a Namespace and two objects each."""
    world = World()
    for team in TEAMS:
        world.commit(
            *(builders.member_cluster(name, labels={"region": "eu"}) for name in CLUSTERS),
            builders.namespace(team, labels={"team": team}),
            builders.config_map(team, "settings", {"version": "1"}),
            builders.deployment(team, "app"),
            builders.placement(team, strategy=builders.rolling_update(maxUnavailable=1)),
        )
    world.settle()
    assert not world.state().faults and not world.state().holds
    assert len(objects(world)) == len(CLUSTERS) * len(TEAMS) * 3
    return world


def objects(world: World) -> set[str]:
    """Every placed object, as `cluster kind namespace/name`."""
    return {
        f"{name} {found.key}"
        for name, cluster in world.fleet.clusters.items()
        for found in cluster.objects()
        if found.key.namespace in TEAMS or found.key.name in TEAMS
    }


def only_hold(world: World) -> Hold:
    """The one hold that there is."""
    (hold,) = world.state().holds.values()
    return hold


def answer(hold: Hold, approved: bool = True) -> Mapping[str, str]:
    """The approval file that a person adds."""
    status = "True" if approved else "False"
    body = {
        **builders.an_object("placement.kubernetes-fleet.io/v1beta1", "ClusterApprovalRequest", hold.name),
        "status": {"conditions": [{"type": "Approved", "status": status}]},
    }
    return {f"approvals/{hold.name}.yaml": builders.to_yaml(body)}


def resources(world: World) -> dict[str, None]:
    """The resources/ folder removed."""
    return {path: None for path in world.repo.files("main") if path.startswith("resources/")}


def test_a_removed_folder_removes_nothing_until_a_person_says_so() -> None:
    world = settled()
    before = objects(world)
    kept = world.repo.files("main")["resources/shop/configmap-settings.yaml"]
    with world.nothing_deleted():
        gone = resources(world)
        world.write(gone)
        world.settle()
        assert objects(world) == before
        hold = only_hold(world)
        assert hold.name.startswith("hold-fleet-")
        assert hold.objects == 54
        assert {count.cluster: count.objects for count in hold.clusters} == dict.fromkeys(CLUSTERS, 9)
        assert {reason.rule for reason in hold.reasons} == {HoldRule.MASS_DELETION, HoldRule.EMPTY_SELECTION}
        commits = world.state_commits()
        world.restart()
        world.settle()
        assert world.state_commits() == commits, "a hold that nothing changes for makes no commit"
        world.write(answer(hold, approved=False))
        world.settle()
        assert only_hold(world).name == hold.name
    assert kept
    world.write(answer(hold))
    world.settle()
    assert not objects(world)
    assert not world.state().holds


def test_a_removal_that_is_taken_back_leaves_no_hold() -> None:
    world = settled()
    before, files = objects(world), world.repo.files("main")
    with world.nothing_deleted():
        gone = resources(world)
        world.write(gone)
        world.settle()
        assert world.state().holds
        world.write({path: files[path].decode() for path in gone})
        world.settle()
    assert not world.state().holds
    assert objects(world) == before
    assert [event.type for event in world.events if "hold" in event.fields] == ["held", "released"]
    assert not [path for path in world.repo.files("gitfleet/state") if path.startswith("holds/")]


def placement_of(team: str) -> dict[str, object]:
    """A placement of the fleet."""
    return builders.placement(team, strategy=builders.rolling_update(maxUnavailable=1))


def test_everything_else_of_the_commit_goes_out() -> None:
    world = settled()
    with world.nothing_deleted():
        app = builders.deployment("shop", "app", image="web:2")
        world.commit(app, builders.config_map("shop", "more", {"k": "v"}), remove=["placements/web.yaml"])
        world.settle()
        for name in CLUSTERS:
            assert "web:2" in str(world.live(name, "Deployment", "app", "shop"))
        assert all(world.live(name, "ConfigMap", "more", "shop") for name in CLUSTERS)
    (reason,) = only_hold(world).reasons
    expected = "the commit removes 18 of the 54 objects that the fleet has, from 6 clusters (more than 30%)"
    assert str(reason) == f"placements/web.yaml:1: {expected}: placements/web.yaml was removed"
    (condition,) = [c for c in world.state().placements[PlacementKey("", "web")].conditions if "Held" in c.type]
    name = only_hold(world).name
    assert condition.message == f"its removal waits for an approval of {name}; until then it gets nothing new"


def version_of(world: World, team: str) -> set[str]:
    """What the settings of a placement say, over all clusters."""
    found = (world.live(name, "ConfigMap", "settings", team) or {} for name in CLUSTERS)
    return {body.get("data", {}).get("version", "") for body in found}


def test_what_is_kept_goes_on_with_the_edits_of_later_commits() -> None:
    """A selector and a policy that were broken: only the removal is held."""
    elsewhere = {**builders.pick_n(1, match_labels={"region": "us"}), "placementType": "PickAll"}
    del elsewhere["numberOfClusters"]
    for broken in (
        builders.placement("web", "wbe", strategy=builders.rolling_update(maxUnavailable=1)),
        builders.placement("web", policy=elsewhere, strategy=builders.rolling_update(maxUnavailable=1)),
    ):
        world = settled()
        with world.nothing_deleted():
            world.commit(broken, builders.config_map("web", "settings", {"version": "2"}))
            world.settle()
            assert only_hold(world)
            assert version_of(world, "web") == {"2"}, "the same commit"
            world.commit(builders.config_map("web", "settings", {"version": "3"}))
            world.settle()
            assert version_of(world, "web") == {"3"}, "a later commit"
            world.commit(remove=["resources/web/configmap-settings.yaml"])
            world.settle()
            assert version_of(world, "web") == {"3"}, "what has no manifest any more stays as it is"
            commits = world.state_commits()
            world.restart()
            world.settle()
            assert world.state_commits() == commits


def test_a_placement_whose_own_removal_is_held_stays_as_it_is_and_says_so() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(builders.config_map("web", "settings", {"version": "2"}), remove=["placements/web.yaml"])
        world.settle()
    assert version_of(world, "web") == {"1"}
    (condition,) = [c for c in world.state().placements[PlacementKey("", "web")].conditions if "Held" in c.type]
    name = only_hold(world).name
    assert condition.message == f"its removal waits for an approval of {name}; until then it gets nothing new"


def test_an_approved_placement_leaves_its_clusters_one_after_another() -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    world.write(answer(only_hold(world)))
    seen: list[set[str]] = []
    for _ in range(30):
        start = len(world.happenings)
        result = world.reconcile()
        seen.append({h.cluster for h in world.happenings[start:] if h.what == "delete"})
        if result is not None and not result.changed:
            break
    assert [sorted(clusters) for clusters in seen if clusters] == [[name] for name in CLUSTERS]
    assert not world.state().holds and PlacementKey("", "web") not in world.state().placements
    assert len(objects(world)) == 36


def test_a_placement_that_comes_back_half_way_keeps_the_rest() -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    world.write(answer(only_hold(world)))
    for _ in range(4):
        world.reconcile()
    gone = 54 - len(objects(world))
    assert 0 < gone < 18
    with world.nothing_deleted():
        world.commit(placement_of("web"))
        world.settle()
    assert len(objects(world)) == 54


def test_an_approval_is_for_one_set_and_releases_it_once() -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    first = only_hold(world)
    world.write(answer(first))
    world.settle()
    world.commit(placement_of("web"))
    world.settle()
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        second = only_hold(world)
        assert second.name != first.name
        (warning,) = [fault for fault in world.state().faults if first.name in fault.object]
        expected = f"answers no hold that is there now; {second.name} waits for an approval of its own"
        assert (warning.path, warning.message) == (f"approvals/{first.name}.yaml", expected)


@pytest.mark.parametrize(
    "slip",
    [
        lambda name: "hold-web",
        lambda name: name.removeprefix("hold-"),
        lambda name: name.replace("web", "wbe"),
        lambda name: name[:-3] + "z" + name[-2:],
        lambda name: "hold-web-0123456789",
    ],
    ids=["without digest", "without hold-", "other subject", "digit of the digest", "other digest"],
)
def test_an_approval_with_a_wrong_name_is_said(slip: Callable[[str], str]) -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    name = only_hold(world).name
    body = next(iter(answer(only_hold(world)).values())).replace(name, slip(name))
    with world.nothing_deleted():
        world.write({"approvals/a.yaml": body})
        world.settle()
        found = [fault for fault in world.state().faults if "waits for an approval of its own" in fault.message]
        assert [(fault.path, fault.line, name in fault.message) for fault in found] == [("approvals/a.yaml", 1, True)]


def test_an_old_approval_of_something_else_is_not_said() -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    world.write(answer(only_hold(world)))
    world.settle()
    world.commit(remove=["placements/shop.yaml"])
    world.settle()
    assert only_hold(world) and not world.state().faults


def test_what_a_later_commit_removes_has_a_hold_of_its_own() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        first = only_hold(world)
        world.commit(remove=["placements/shop.yaml"])
        world.settle()
        assert {name.rpartition("-")[0] for name in world.state().holds} == {"hold-web", "hold-shop"}
    world.write(answer(first))
    world.settle()
    assert {name.rpartition("-")[0] for name in world.state().holds} == {"hold-shop"}
    assert not any("web" in one for one in objects(world))
    assert len(objects(world)) == 36


def test_a_part_that_is_taken_back_leaves_the_hold_and_the_approval_counts_for_the_rest() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml", "placements/shop.yaml"])
        world.settle()
        hold = only_hold(world)
        assert [str(removal) for removal in hold.removals] == ["placement shop", "placement web"]
        world.commit(placement_of("shop"))
        world.settle()
        assert [str(removal) for removal in only_hold(world).removals] == ["placement web"]
        assert only_hold(world).name == hold.name
    world.write(answer(hold))
    world.settle()
    assert len(objects(world)) == 36 and not world.state().holds


def test_a_second_commit_does_not_remove_the_rest_piece_by_piece() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["resources/web/configmap-settings.yaml"])
        world.settle()
        assert only_hold(world).reasons[0].rule is HoldRule.MASS_DELETION
        world.commit(remove=["resources/web/deployment-app.yaml"])
        world.settle()
        assert len(world.state().holds) == 2


def test_a_share_below_the_limit_goes_and_so_does_a_small_fleet() -> None:
    world = settled()
    world.commit(builders.fleet_config(massDelete={"maxPercent": 40}))
    world.settle()
    world.commit(remove=["resources/web/configmap-settings.yaml"])
    world.settle()
    assert not world.state().holds and len(objects(world)) == 48
    world.commit(builders.fleet_config(massDelete={"maxPercent": 0, "minClusters": 7, "minObjects": 60}))
    world.settle()
    world.commit(remove=["placements/shop.yaml"])
    world.settle()
    assert not world.state().holds and len(objects(world)) == 30


def test_a_hold_stays_though_the_limit_is_raised_later() -> None:
    world = settled()
    with world.nothing_deleted():
        world.commit(remove=["resources/web/configmap-settings.yaml"])
        world.settle()
        world.commit(builders.fleet_config(massDelete={"maxPercent": 100}))
        world.settle()
        assert only_hold(world)


LIFTED = ({"maxPercent": 100}, {"minClusters": 7, "minObjects": 60})


@pytest.mark.parametrize("limits", LIFTED, ids=str)
def test_a_commit_does_not_lift_the_limit_that_it_exceeds(limits: JsonObject) -> None:
    world = settled()
    config = builders.fleet_config(massDelete=limits)
    with world.nothing_deleted():
        world.commit(config, remove=["placements/web.yaml"])
        world.settle()
        (reason,) = only_hold(world).reasons
        assert "(more than 30%; massDelete as it was before this commit counts for it too)" in reason.message
        world.restart()
        world.settle()
        assert only_hold(world)
    world.commit(remove=["placements/shop.yaml"])
    world.settle()
    assert [name.rpartition("-")[0] for name in world.state().holds] == ["hold-web"]
    assert len(objects(world)) == 36, "for the next commit the new limit counts"


def test_a_commit_that_lowers_the_limit_is_measured_by_it() -> None:
    world = settled()
    config = builders.fleet_config(massDelete={"maxPercent": 40})
    world.commit(config)
    world.settle()
    with world.nothing_deleted():
        world.commit(remove=[config, "resources/web/configmap-settings.yaml"])
        world.settle()
        assert only_hold(world)


def test_a_rejected_hold_says_how_to_approve_it_after_all() -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    hold = only_hold(world)
    path = f"approvals/{hold.name}.yaml"
    assert f"To remove it, add `{path}` to the config repo:" in world.state_text("README.md")
    world.write(answer(hold, approved=False))
    world.settle()
    page = world.state_text("README.md")
    expected = f'`{path}` rejects it. To remove it after all, set the status there to "True":'
    assert expected in page and "add `approvals" not in page
    assert "## Pending approvals: 0, rejected: 1" in page
    (condition,) = (c for c in world.state().placements[PlacementKey("", "web")].conditions if "RemovalsHeld" in c.type)
    until = "its removal waits for an approval of {name} (rejected); until then it gets nothing new"
    assert condition.message == until.format(name=hold.name)
    world.write(answer(hold))
    world.settle()
    assert not world.state().holds and len(objects(world)) == 36


def test_a_lost_state_branch_holds_nothing_and_removes_nothing() -> None:
    world = settled()
    with world.nothing_deleted():
        world.repo.move_branch("gitfleet/state", None)
        world.restart()
        world.commit(remove=["placements/web.yaml"])
        world.settle()
    assert not world.state().holds


def test_a_hold_that_cannot_be_read_is_asked_for_again() -> None:
    world = settled()
    with world.nothing_deleted():
        world.write(resources(world))
        world.settle()
        path = f"holds/{only_hold(world).name}.yaml"
        for commit in range(60):
            world.repo.commit_files("gitfleet/state", {path: f"broken: [{commit}\n"}, world.clock.now(), "Broken")
        world.restart()
        world.settle()
        assert HoldRule.UNREADABLE_HOLD in {reason.rule for reason in only_hold(world).reasons}


@pytest.mark.parametrize("changed", [False, True])
def test_a_placement_hands_its_objects_over_and_fails_nowhere(changed: bool) -> None:
    """At once where nothing changes in an object, and cluster by cluster where it does."""
    world = settled()
    before = objects(world)
    # More than another name: it would select something else, too, if that were there, and is not the only new one.
    renamed = builders.placement("renamed", "web", "more", strategy=builders.rolling_update(maxUnavailable=1))
    settings = builders.config_map("web", "settings", {"version": "2" if changed else "1"})
    world.commit(renamed, settings, builders.placement("beside", "less"), remove=["placements/web.yaml"])
    document = plan_of(world)
    assert not document["holds"]
    assert (document["risk"]["refuse"]["objects"], document["risk"]["delete"]["objects"]) == (0, 0)
    waiting = "ConfigMap/web/settings is handed over to ClusterResourcePlacement renamed"
    if changed:
        waiting = (
            "ConfigMap/web/settings belongs to ClusterResourcePlacement web on this cluster, which is being removed"
        )
    kept = {
        row["clusterName"]
        for placement in document["placements"]
        for row in placement["operations"]
        if row["action"] == "keep" and row["reason"].startswith(waiting)
    }
    assert kept == set(CLUSTERS)  # it leaves the first of them once the new name is there
    failed: set[str] = set()
    with world.nothing_deleted():
        while (result := world.reconcile()) is not None and result.changed:
            failed |= {one.message for binding in world.bindings("renamed").values() for one in binding.failed}
        world.settle()
    assert not failed and objects(world) == before and not world.state().holds
    owners = {str(entry.placement) for owned in world.state().inventory.values() for entry in owned.values()}
    assert owners == {"renamed", "shop", "pay"}


def cluster_states(world: World) -> dict[str, str]:
    """What `get clusters` says of each."""
    table = table_of("clusters", reader_of(world.state()), now=world.clock.now())
    return {row[0]: row[table.columns.index("STATE")] for row in table.rows}


def test_a_cluster_whose_removal_is_held_gets_nothing_new() -> None:
    world = settled()
    members = [builders.member_cluster(name) for name in CLUSTERS[:3]]
    small = builders.placement("small", policy=builders.pick_n(1))
    world.commit(small, builders.namespace("small"), builders.member_cluster("c7"))
    world.settle()
    (first,) = world.bindings("small")
    with world.nothing_deleted():
        world.commit(remove=members)
        world.settle()
        hold = only_hold(world)
        gone = {removal.cluster for removal in hold.removals}
        assert gone == {"c1", "c2", "c3"}
        states = {name: f"healthy{' (removal held)' if name in gone else ''}" for name in (*CLUSTERS, "c7")}
        assert cluster_states(world) == states
        until = f"its removal waits for an approval of {hold.name}; until then it gets nothing new"
        page = world.state_text("README.md")
        assert "## Clusters: 4 healthy, 3 healthy (removal held)" in page
        assert page.count(f"| healthy, `{until}` |") == 3
        world.commit(builders.placement("small", policy=builders.pick_n(7)))
        world.settle()
        assert set(world.bindings("small")) == {first, "c4", "c5", "c6", "c7"}
        assert len(world.bindings("web")) == 7, "what is there stays"
        rows = {row["clusterName"]: row for row in explain(world.repo, world.fleet, world.clock, "small")}
        for name in gone - {first}:
            assert "its removal from the fleet is held, so it gets nothing new" in rows[name]["reason"]
            assert rows[name]["remedy"] == "add the cluster's file again, or approve its removal"
        tolerant = {"placementType": "PickAll", "tolerations": [{"operator": "Exists"}]}
        world.commit(builders.placement("web", policy=tolerant))
        world.settle()
        assert len(world.bindings("web")) == 7, "a new policy keeps them too"
        world.commit(*members)
        world.settle()
        assert not world.state().holds and len(world.bindings("small")) == 7
        assert set(cluster_states(world).values()) == {"healthy"}


def test_a_hold_of_clusters_stays_while_the_selectors_of_a_later_commit_cannot_be_used() -> None:
    world = settled()
    before, strict = objects(world), builders.rolling_update(maxUnavailable=1)
    nowhere = {"placementType": "PickAll", "affinity": builders.pick_n(1, match_labels={"region": "ue"})["affinity"]}
    unpicked = builders.placement("web", policy=nowhere, strategy=strict)
    reserved = {"group": "", "version": "v1", "kind": "Namespace", "name": "kube-system"}
    with world.nothing_deleted():
        world.commit(unpicked)
        world.settle()
        hold = only_hold(world)
        assert {removal.cluster for removal in hold.removals} == set(CLUSTERS)
        world.commit(builders.placement("web", policy=nowhere, strategy=strict, selectors=[reserved]))
        world.settle()
        assert "InvalidResourceSelectors" in {
            condition.reason for condition in world.state().placements[PlacementKey("", "web")].conditions
        }
        assert only_hold(world) == hold
        assert set(world.bindings("web")) == set(CLUSTERS)
        world.restart()
        world.commit(unpicked)
        world.settle()
        assert only_hold(world) == hold
    assert objects(world) == before
    world.write(answer(hold))
    world.settle()
    assert not world.state().holds and not world.bindings("web")


def test_a_hold_that_another_one_replaces_says_so() -> None:
    world = settled()
    web = [path for path in world.repo.files("main") if path.startswith("resources/web/")]
    world.write(dict.fromkeys(web))
    world.settle()
    first = only_hold(world)
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
    second = only_hold(world)
    (event,) = [event for event in world.events if event.type == "released"]
    assert event.fields == {"hold": first.name, "objects": 18, "approved": False, "replacedBy": second.name}
