"""Removals that may be an accident wait for a person; everything else of the commit goes out (D25, D31, D33)."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.holds import Hold, HoldRule
from tests import builders
from tests.scenarios.world import World

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
