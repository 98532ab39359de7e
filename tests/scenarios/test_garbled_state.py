"""Our own state files are never fatal: what is too large, unreadable, of a wrong type or forged on the state branch is
set aside, said and rebuilt, by whole passes on simulated API servers; nothing is deleted for it, nobody is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.ports.repos import BranchChange
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.test_settled import only_reported
from tests.scenarios.world import STATE, World

NAMES: Final = ("c1", "c2", "c3")
KINDS: Final = (
    "fleet.yaml", "faults.yaml", "placements/web.yaml", "clusters/c2.yaml", "snapshots/resources/web/0/snapshot.yaml",
    "snapshots/policies/web/0.yaml", "snapshots/overrides/few/0.yaml", "bindings/web/all.yaml",
    "inventory/c1/all.yaml",
)  # fmt: skip
GARBLINGS: Final[Mapping[str, Callable[[bytes, bytes], bytes]]] = {
    "truncated": lambda content, other: content[: len(content) * 2 // 3],
    "cut at the end of a line": lambda content, other: b"".join(content.splitlines(keepends=True)[:-1]),
    "empty": lambda content, other: b"",
    "a list": lambda content, other: b"- 1\n- {a: b}\n",
    "a text": lambda content, other: b"gone\n",
    "of another object": lambda content, other: other,
    "5 MB": lambda content, other: b"a: " + b"x" * (5 << 20) + b"\n",
    "5 MB of entries": lambda content, other: b"- {a: 1}\n" * (5 << 17),
    "binary": lambda content, other: bytes(range(256)) * 64,
    "deeply nested": lambda content, other: b"[" * 100_000,
    "twice": lambda content, other: content + b"---\n" + content,
    "of an unknown version": lambda content, other: b"apiVersion: gitfleet.dev/v9\nkind: Riddle\nspec: {answer: 42}\n",
}


def payload(name: str, image: str) -> list[JsonObject]:
    """What a placement places."""
    return [
        builders.namespace(name),
        builders.deployment(name, "web", image=image),
        builders.config_map(name, "settings", {"image": image}),
    ]


def override(value: str) -> JsonObject:
    """One that labels all of `web` everywhere."""
    patch = {"op": "add", "path": "/metadata/labels", "value": {"override": value}}
    return builders.override("few", "Namespace/web", builders.override_rule(patch))


def begin() -> World:
    """A settled fleet: one placement on three clusters, one on the third, and a file that cannot be read any more."""
    world = World()
    strategy = builders.rolling_update(maxUnavailable=1, maxSurge=1)
    world.commit(
        *(builders.member_cluster(name) for name in NAMES),
        *payload("web", "web:1"), *payload("api", "api:1"), override("a"),
        builders.placement("web", strategy=strategy),
        builders.placement("api", policy=builders.pick_fixed("c3"), strategy=strategy),
    )  # fmt: skip
    world.write({"resources/extra.yaml": builders.to_yaml(builders.config_map("api", "extra", {"a": "b"}))})
    world.settle()
    world.write({"resources/extra.yaml": "kind: [\n"})
    world.settle()
    assert set(KINDS) <= set(world.repo.files(STATE))
    return world


def garble(world: World, files: Mapping[str, bytes | None], *, history: bool) -> None:
    """Somebody else writes files on the state branch; without history, as one commit that has no other before it."""
    if history:
        world.repo.commit_files(STATE, files, world.clock.now(), "Somebody else's edit")
        return
    whole = {**world.repo.files(STATE), **{path: data for path, data in files.items() if data is not None}}
    kept = {path: data for path, data in whole.items() if files.get(path, b"") is not None}
    change = BranchChange(branch="other", expected=None, subject="All of it", when=world.clock.now(), write=kept)
    world.repo.move_branch(STATE, world.repo.commit(change))
    world.repo.move_branch("other", None)


def objects(world: World) -> dict[str, list[tuple[str, str]]]:
    """What lies on the clusters: every object with its uid."""
    return {name: sorted((str(live.key), live.uid) for live in world.fleet.cluster(name).objects()) for name in NAMES}


def check_heals(world: World, before: Mapping[str, object], *, restarts: bool = True) -> None:
    """A fresh process reconciles the other placement in its first pass, deletes nothing, and leaves a sound branch."""
    if restarts:
        world.restart()
    world.commit(*payload("api", "api:2"))
    with world.nothing_deleted():
        assert world.reconcile() is not None
        assert world.image_in("c3", "api") == "api:2"
        world.settle()
    assert objects(world) == before
    state = world.state()
    assert not state.damage.any
    assert not state.misplaced
    assert {str(key): [b.cluster for b in record.bindings] for key, record in state.placements.items()} == {
        "web": list(NAMES), "api": ["c3"]
    }  # fmt: skip
    assert {name: len(owned) for name, owned in state.inventory.items()} == {"c1": 3, "c2": 3, "c3": 7}
    assert all(entry.uid for owned in state.inventory.values() for entry in owned.values())
    world.commit(*payload("web", "web:2"))
    with world.nothing_deleted():
        world.settle()
    assert {name: world.image_in(name, "web") for name in NAMES} == dict.fromkeys(NAMES, "web:2")


@pytest.mark.parametrize(
    ("garbling", "history"),
    [*((name, True) for name in GARBLINGS), *((name, False) for name in ("truncated", "of another object"))],
)
@pytest.mark.parametrize("path", KINDS)
def test_a_garbled_file_is_set_aside_and_rebuilt(path: str, garbling: str, history: bool) -> None:
    world = begin()
    before = objects(world)
    files = world.repo.files(STATE)
    other = {"inventory/c1/all.yaml": "inventory/c2/all.yaml", "placements/web.yaml": "placements/api.yaml"}
    content = GARBLINGS[garbling](files[path], files[other.get(path, "placements/web.yaml")])

    garble(world, {path: content}, history=history)

    check_heals(world, before)


@pytest.mark.parametrize("history", [True, False], ids=["with history", "without history"])
@pytest.mark.parametrize("path", KINDS)
def test_a_file_that_a_stranger_removed_is_rebuilt(path: str, history: bool) -> None:
    world = begin()
    before = objects(world)
    garble(world, {path: None}, history=history)
    check_heals(world, before)


def test_what_was_only_compared_is_not_rebuilt_as_owned() -> None:
    """Somebody else applied it, so it is not gitfleet's to update or delete."""
    world = only_reported()
    world.commit(builders.namespace("shop"), builders.placement("shop", policy=builders.pick_fixed("c1")))
    world.settle()
    garble(world, {"inventory/c1/all.yaml": b"\x00"}, history=False)
    world.restart()
    rebuilt = world.driver.gather(world.repo.fetch(), world.clock.now()).before
    assert [(key.name, entry.placement.name) for key, entry in rebuilt.inventory["c1"].items()] == [("shop", "shop")]


def test_a_loss_is_said_in_faults_readme_and_events_until_the_next_commit_of_the_config_repo() -> None:
    world = begin()
    garble(world, {"bindings/web/all.yaml": b"\x00"}, history=True)
    head = world.repo.fetch()[STATE]
    world.restart()
    world.settle()
    (fault,) = [f for f in world.state().faults if f.object == "StateFile/bindings/web/all.yaml"]
    assert f"`git show {head[:12]}:bindings/web/all.yaml`" in fault.message
    assert "holds instead" in fault.message
    assert "bindings/web/all.yaml" in world.state_text("README.md")
    assert [e for e in world.events if e.type == "fault" and e.fields["object"] == fault.object]
    world.restart()
    world.settle()
    assert fault in world.state().faults
    world.commit(*payload("api", "api:2"))
    world.settle()
    assert fault not in world.state().faults


def test_a_forged_inventory_entry_of_a_placement_that_is_not_there_is_released() -> None:
    """An owner that does not exist gives nothing up, and its objects are nobody's to delete."""
    world = begin()
    line = next(line for line in world.state_text("inventory/c3/all.yaml").splitlines() if '"extra"' in line)
    forged = line.replace('"placement":"api"', '"placement":"ghost"')
    assert forged != line
    text = world.state_text("inventory/c3/all.yaml").replace(line, forged)
    before = objects(world)
    garble(world, {"inventory/c3/all.yaml": text.encode()}, history=True)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert objects(world) == before
    owners = {str(entry.placement) for owned in world.state().inventory.values() for entry in owned.values()}
    assert owners == {"web", "api"}
    assert [f.message for f in world.state().faults if f.object.startswith("StateFile/")] == [
        (
            StatusText.OBJECT_STAYS_CLUSTER_GITFLEET_NO(cluster="c3")
            + StatusText.NOT_EXIST(stay="", owner="ClusterResourcePlacement", owner_2="ghost")
        )
    ]


def test_a_forged_inventory_entry_deletes_nothing_that_gitfleet_did_not_apply() -> None:
    """The object has its true uid in the entry, and `api` does not want it: only the server's own word counts."""
    world = begin()
    live = next(o for o in world.fleet.cluster("c3").objects() if o.key.name == "kube-public")
    entry = f'- {{"kind":"Namespace","name":"kube-public","placement":"api","uid":"{live.uid}","version":"v1"}}'
    text = world.state_text("inventory/c3/all.yaml").replace("count: 7", "count: 8") + f"{entry}\n"
    garble(world, {"inventory/c3/all.yaml": text.encode()}, history=True)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert world.live("c3", "Namespace", "kube-public") is not None
    assert "kube-public" not in world.state_text("inventory/c3/all.yaml")


@pytest.mark.parametrize("content", [b"\x00", None], ids=["garbled", "removed"])
def test_a_hold_that_is_lost_is_made_anew_and_nothing_is_deleted(content: bytes | None) -> None:
    world, names = World(), tuple(f"c{number}" for number in range(6))
    world.commit(
        *(builders.member_cluster(name) for name in names), *payload("web", "web:1"), builders.placement("web")
    )
    world.settle()
    world.commit(remove=[builders.placement("web")])
    world.settle()
    (name,) = world.state().holds
    garble(world, {f"holds/{name}.yaml": content}, history=False)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    (again,) = world.state().holds.values()
    assert [str(removal.placement) for removal in again.removals] == ["web"]
    assert sorted(world.bindings("web")) == sorted(names)
