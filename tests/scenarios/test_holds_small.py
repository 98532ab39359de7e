"""Removals of a placement that is too small for a share of it to count: what looks like an accident is held all the
same, with the cause and as many holds as there are causes."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2")
EXPORTED = ("namespace", "settings", "app")


def settled() -> World:
    """Two clusters and one placement with three objects, each in a file of its own."""
    world = World()
    settings, app = builders.config_map("legacy", "settings", {"k": "v"}), builders.deployment("legacy", "app")
    bodies = (builders.namespace("legacy"), settings, app)
    files = {f"resources/exported/{n}.yaml": builders.to_yaml(b) for n, b in zip(EXPORTED, bodies, strict=True)}
    world.write(files)
    world.commit(*map(builders.member_cluster, CLUSTERS), builders.placement("legacy"))
    world.settle()
    assert not world.state().faults and len(placed(world)) == 6
    return world


def placed(world: World) -> set[str]:
    """What is placed, as `cluster kind`."""
    kinds = {"Namespace": "legacy", "ConfigMap": "settings", "Deployment": "app"}
    return {f"{c} {k}" for c in CLUSTERS for k, name in kinds.items() if world.live(c, k, name) is not None}


def move(world: World, old: str, new: str) -> dict[str, str | None]:
    """`git mv`: of a file, or of a folder whose name ends with a slash. Returns what takes it back."""
    files = world.repo.files("main")
    pairs = {path: new + path.removeprefix(old) for path in files if path.startswith(old)}
    assert pairs
    world.write({**dict.fromkeys(pairs), **{target: files[path].decode() for path, target in pairs.items()}})
    return {**{path: files[path].decode() for path in pairs}, **dict.fromkeys(pairs.values())}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("placements/legacy.yaml", "placements/legacy.yaml.bak", "a rename takes placement legacy away"),
        ("clusters/c2.yaml", "clusters/c2.yaml.off", "a rename takes cluster c2 away"),
        (
            "resources/exported/app.yaml",
            "resources/exported/app.yaml.bak",
            "a rename takes Deployment/legacy/app of placement legacy away",
        ),
        ("resources/exported/", "resources/.exported/", ".exported/app.yaml, which gitfleet does not read"),
    ],
)
def test_a_file_that_is_renamed_so_that_it_is_not_read_is_held(old: str, new: str, says: str) -> None:
    world = settled()
    with world.nothing_deleted():
        back = move(world, old, new)
        world.settle()
        hold = only_hold(world)
        assert {reason.rule for reason in hold.reasons} <= {HoldRule.IGNORED_FILE, HoldRule.EMPTY_SELECTION}
        (reason,) = [reason for reason in hold.reasons if reason.rule is HoldRule.IGNORED_FILE]
        assert says in reason.sentence and reason.path.startswith(old)
        assert f"{reason.path} is now {reason.path.replace(old, new)}, which gitfleet does not read" in reason.sentence
        world.restart()
        world.settle()
        assert only_hold(world) == hold
        world.write(back)
        world.settle()
        assert not world.state().holds and len(placed(world)) == 6
    move(world, old, new)
    world.settle()
    world.write(answer(only_hold(world)))
    world.settle()
    assert not world.state().holds
    if not old.startswith("clusters/"):
        assert len(placed(world)) < 6


def test_a_rename_to_another_file_that_is_read_and_a_mere_removal_beside_an_old_copy_are_not_held() -> None:
    world = settled()
    copy = {"docs/app.yaml.txt": world.repo.files("main")["resources/exported/app.yaml"].decode()}
    world.write(copy)
    world.settle()
    with world.nothing_deleted():
        move(world, "placements/legacy.yaml", "placements/old.yaml")
        world.settle()
    world.write({"resources/exported/app.yaml": None})
    world.settle()
    assert not world.state().holds and placed(world) == {
        f"{c} {k}" for c in CLUSTERS for k in ("Namespace", "ConfigMap")
    }


def many(world: World) -> str:
    """A file of twelve ConfigMaps, placed."""
    bodies = [builders.config_map("legacy", f"map-{number}", {"k": "v"}) for number in range(12)]
    world.write({"resources/exported/many.yaml": builders.to_yaml(*bodies)})
    world.settle()
    return builders.to_yaml(
        *({**one, "metadata": {**one["metadata"], "name": f"mop-{i}"}} for i, one in enumerate(bodies))
    )


@pytest.mark.parametrize("how", ["one ignore line", "one rename", "misspelt in one file"])
def test_one_cause_is_one_hold(how: str) -> None:
    world = settled()
    world.commit(builders.fleet_config(massDelete={"maxPercent": 100}))
    misspelt = many(world)
    with world.nothing_deleted():
        match how:
            case "one ignore line":
                world.write({".gitfleetignore": "# tools\nmany.yaml\n"})
            case "one rename":
                move(world, "resources/exported/many.yaml", "resources/exported/many.yml.bak")
            case _:
                world.write({"resources/exported/many.yaml": misspelt})
        world.settle()
    hold = only_hold(world)
    (reason,) = hold.reasons
    assert (len(hold.removals), hold.objects) == (12, 24)
    assert "ConfigMap/legacy/map-0" in reason.sentence and "and 9 more" in reason.sentence


def test_two_ignore_lines_are_two_holds() -> None:
    world = settled()
    with world.nothing_deleted():
        world.write({".gitfleetignore": "app.yaml\nsettings.yaml\n"})
        world.settle()
    assert sorted(len(hold.removals) for hold in world.state().holds.values()) == [1, 1]


@pytest.mark.parametrize(
    ("old", "new", "held"),
    [
        ("worker-a", "worker-b", False),
        ("worker-blue", "worker-green", False),
        ("worker-v1", "worker-v2", False),
        ("worker-a", "wokrer-a", True),
        ("worker-a", "woker-a", True),
        ("worker-a", "worrker-a", True),
    ],
)
@pytest.mark.parametrize("moved", [True, False])
def test_a_name_with_another_letter_at_its_end_is_meant_and_a_misspelt_one_held(
    old: str, new: str, held: bool, moved: bool
) -> None:
    world = settled()
    world.commit(builders.config_map("legacy", old, {"k": "v"}))
    world.settle()
    (path,) = (path for path in world.repo.files("main") if old in path)
    target = f"resources/legacy/moved/{new}.yaml" if moved else path
    world.write({path: None, target: builders.to_yaml(builders.config_map("legacy", new, {"k": "v"}))})
    world.settle()
    assert (world.live("c1", "ConfigMap", old) is not None, bool(world.state().holds)) == (held, held)
    if held:
        assert [reason.rule for reason in only_hold(world).reasons] == [HoldRule.LIKELY_TYPO]
