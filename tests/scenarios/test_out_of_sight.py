"""A file that nothing reads may be what is to have what the same commit takes away: that waits (invariant 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import dumps
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_unclear_commits import APP, APP_TEXT, Files, at, placed, wrong
from tests.scenarios.world import World

IGNORED = "placements/drafts/"
STORE, BOTH = to_yaml(placing("store", "n3")), to_yaml(placing("store", "n2", "n3"))
WEB = to_yaml(placing("web", "n2"))
PLACES = (
    "resources/placements/store.yaml",
    "placements/drafts/store.yaml",
    "placements/.store.yaml",
    "placements/store",
    "placements/store.ymal",
    "placements/store.YAML",
    "placements/store.yaml ",
    "placements/store.yaml.txt",
)


def fleet() -> World:
    """web has n2 and n3, pay n4; a folder of drafts is ignored."""
    world = placed(placing("web", "n2", "n3"), placing("pay", "n4"), more=(builders.deployment("web", "db"),))
    world.write({".gitfleetignore": f"{IGNORED}\nresources/drafts/\n"})
    world.settle()
    return world


def held_rules(world: World) -> set[HoldRule]:
    return {reason.rule for hold in world.state().holds.values() for reason in hold.reasons}


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_what_goes_to_a_new_file_out_of_sight_stays(place: str, renamed: bool) -> None:
    world = fleet()
    with world.nothing_deleted():
        world.write({at("web"): None, place: BOTH} if renamed else {at("web"): WEB, place: STORE})
        world.settle()
        assert held_rules(world) == {HoldRule.UNCLEAR_COMMIT}
        world.write({place: None, at("store"): BOTH if renamed else STORE})
        world.settle()
    state = world.state()
    assert (state.holds, state.faults) == ({}, ())
    assert {key.name for key in state.placements} == ({"pay", "store"} if renamed else {"pay", "store", "web"})


@pytest.mark.parametrize("place", PLACES)
def test_what_waits_for_an_error_stays_where_the_correction_is_out_of_sight(place: str) -> None:
    world = fleet()
    with world.nothing_deleted():
        world.write({at("web"): WEB, at("store"): wrong(placing("store", "n3"))})
        world.settle()
        world.write({at("store"): None, place: STORE})
        world.settle()
        assert held_rules(world) == {HoldRule.UNCLEAR_COMMIT}
        world.write({place: None, at("store"): STORE})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())


MISNAMED = (
    *("placements/store", "placements/store.ymal", "placements/store.YAML", "placements/store.yaml.txt"),
    "placements/.store.yaml",
)


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("place", MISNAMED)
def test_what_goes_to_a_file_with_another_ending_that_an_earlier_commit_brought_stays(
    place: str, renamed: bool
) -> None:
    world = fleet()
    with world.nothing_deleted():
        world.write({place: BOTH if renamed else STORE})
        world.settle()
        world.write({at("web"): None if renamed else WEB})
        world.settle()
        assert held_rules(world) == {HoldRule.UNCLEAR_COMMIT}
        world.write({place: None, at("store"): BOTH if renamed else STORE})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())


OLD: dict[str, tuple[str, str]] = {
    "what was taken out of the placement itself": ("placements/web.yaml.bak", to_yaml(placing("web", "n2", "n3"))),
    "a placement that there is": ("placements/pay.yaml.bak", to_yaml(placing("pay", "n3"))),
    "about something else": ("placements/store.yaml.bak", to_yaml(placing("store", "n1"))),
    "no YAML": ("placements/store.yaml.bak", f"{STORE}kind: ["),
    "a page": ("placements/store.md", STORE),
    "an ignored draft": ("placements/drafts/store.yaml", STORE),
}


@pytest.mark.parametrize("old", OLD)
def test_what_lies_about_for_long_holds_nothing_that_it_would_not_select_as_a_new_placement(old: str) -> None:
    world, (path, text) = fleet(), OLD[old]
    world.write({path: text})
    world.settle()
    world.write({at("web"): WEB})
    world.settle()
    assert (world.state().holds, world.live("c1", "Namespace", "n3")) == ({}, None)


def pay(*names: str) -> str:
    return to_yaml(placing("pay", "n4", *names))


def commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


TAKERS: dict[str, Files] = {
    "a selector moves, an ignore rule": {at("web"): WEB, at("pay"): pay("n3"), ".gitfleetignore": "placements/pay.*\n"},
    "a selector moves, to the payload": {at("web"): WEB, at("pay"): None, "resources/pay.yaml": pay("n3")},
    "a selector moves, a hidden name": {at("web"): WEB, at("pay"): None, "placements/.pay.yaml": pay("n3")},
    "a fold, an ignore rule": {
        at("web"): None,
        at("pay"): pay("n2", "n3"),
        ".gitfleetignore": "placements/pay.*\n",
    },
    "a fold, to the payload": {at("web"): None, at("pay"): None, "resources/pay.yaml": pay("n2", "n3")},
    "a fold, commented out": {at("web"): None, at("pay"): commented(pay("n2", "n3"))},
}


@pytest.mark.parametrize("files", TAKERS.values(), ids=TAKERS)
def test_what_goes_to_a_placement_whose_file_goes_out_of_sight_stays(files: Files) -> None:
    world = fleet()
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        assert HoldRule.UNCLEAR_COMMIT in held_rules(world)
        taken = pay("n3") if files[at("web")] else pay("n2", "n3")
        world.write({**dict.fromkeys(files), at("web"): files[at("web")], at("pay"): taken})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())


def gone_with_all(name: str) -> str:
    body = builders.member_cluster(name)
    body["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    return to_yaml(body)


CLUSTERS: dict[str, Files] = {
    "to the payload": {"resources/clusters/prod.yaml": gone_with_all("prod")},
    "another ending": {"clusters/prod.YAML": gone_with_all("prod")},
    "a misspelt ending": {"clusters/prod.ymal": gone_with_all("prod")},
    "edited, another ending": {"clusters/c3.YAML": f"# x\n{gone_with_all('c3')}"},
    "edited, a hidden name": {"clusters/.c3.yaml": f"# x\n{gone_with_all('c3')}"},
    "edited, an old version": {"clusters/c3.yaml.bak": f"# x\n{gone_with_all('c3')}"},
}


@pytest.mark.parametrize("files", CLUSTERS.values(), ids=CLUSTERS)
def test_a_cluster_whose_file_goes_out_of_sight_keeps_what_it_has(files: Files) -> None:
    world = fleet()
    world.write({f"clusters/{name}.yaml": gone_with_all(name) for name in ("c1", "c2", "c3")})
    world.settle()
    with world.nothing_deleted():
        world.write({"clusters/c3.yaml": None, **files})
        world.settle()
        assert HoldRule.UNCLEAR_COMMIT in held_rules(world)
        world.write({**dict.fromkeys(files), "clusters/c3.yaml": gone_with_all("c3")})
        world.settle()
    assert world.state().holds == {}


NEWER, DB_TEXT = APP_TEXT.replace("nginx", "nginx2"), to_yaml(builders.deployment("web", "db"))
DB = builders.path_of(builders.deployment("web", "db"))
MOVED: dict[str, Files] = {
    "an old version": {APP: None, f"{APP}.bak": f"# 2\n{NEWER}"},
    "another ending": {APP: None, f"{APP[:-5]}.YAML": f"# 2\n{NEWER}"},
    "a misspelt ending": {APP: None, f"{APP[:-5]}.ymal": f"# 2\n{NEWER}"},
    "a hidden name": {APP: None, "resources/web/.app.yaml": f"# 2\n{NEWER}"},
    "compact JSON": {APP: None, "resources/web/all.jsn": dumps(builders.deployment("web", "app", image="nginx2"))},
    "an ignored folder": {APP: None, "resources/drafts/app.yaml": f"# 2\n{NEWER}"},
    "two into one": {APP: None, DB: None, "resources/web/all.ymal": f"{APP_TEXT}---\n{DB_TEXT}"},
    "two into an ignored folder": {APP: None, DB: None, "resources/drafts/all.yaml": f"{APP_TEXT}---\n{DB_TEXT}"},
}


@pytest.mark.parametrize("files", MOVED.values(), ids=MOVED)
def test_an_object_that_is_edited_as_it_goes_out_of_sight_stays(files: Files) -> None:
    world = placed(placing("web", "web"), more=(builders.deployment("web", "db"),))
    world.write({".gitfleetignore": "resources/drafts/\n"})
    world.settle()
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        assert held_rules(world)
        world.write({**dict.fromkeys(files), APP: APP_TEXT, DB: DB_TEXT})
        world.settle()
    assert world.state().holds == {}


CLEAR: dict[str, Files] = {
    "a page about it": {"placements/README.md": f"```yaml\n{STORE}```\n"},
    "a script": {"resources/web/apply.sh": "#!/bin/sh\necho this kind of thing\n"},
    "a file that is nobody's": {"hack/store.txt": STORE},
    "a chart that is nobody's": {"charts/x/templates/a.tpl": APP_TEXT},
    "a picture": {"resources/web/logo.png": "\x89PNG kind: x"},
}


@pytest.mark.parametrize("files", CLEAR.values(), ids=CLEAR)
def test_other_files_that_are_not_read_hold_nothing(files: Files) -> None:
    world = fleet()
    world.write({at("web"): WEB, **files})
    world.settle()
    assert (world.state().holds, world.live("c1", "Namespace", "n3")) == ({}, None)


def test_an_edit_of_what_only_is_placed_holds_nothing() -> None:
    world = fleet()
    world.write({"resources/of-a-hub/store.yaml": STORE})
    world.settle()
    world.write({at("web"): WEB, "resources/of-a-hub/store.yaml": BOTH})
    world.settle()
    assert (world.state().holds, world.live("c1", "Namespace", "n3")) == ({}, None)


def fixed(name: str, *clusters: str) -> dict[str, Any]:
    return placing(name, "n1", policy=builders.pick_fixed(*clusters))


def test_where_one_error_of_two_is_corrected_a_cluster_waits_for_the_other() -> None:
    world = placed(fixed("web", "c1", "c2", "c3"), fixed("store", "c1"))
    with world.nothing_deleted():
        world.write({at("web"): wrong(fixed("web", "c1", "c2")), at("store"): wrong(fixed("store", "c1", "c3"))})
        world.settle()
        world.commit(fixed("web", "c1", "c2"))
        world.settle()
        assert held_rules(world) == {HoldRule.UNCLEAR_COMMIT}
        world.commit(fixed("store", "c1", "c3"))
        world.settle()
    state = world.state()
    assert (state.holds, state.faults) == ({}, ())
    assert [b.cluster for b in state.placements[PlacementKey("", "store")].bindings] == ["c1", "c3"]


COMMENTED = commented(to_yaml(placing("store", "n2", "n3")))
AGAIN: dict[str, tuple[str, str, str]] = {
    "the payload": ("resources/store.yaml", BOTH, to_yaml(placing("store", "n2", "n3", "n4"))),
    "an old version": ("placements/store.yaml.bak", BOTH, to_yaml(placing("store", "n2", "n3", "n4"))),
    "commented out": (at("store"), COMMENTED, commented(to_yaml(placing("store", "n2", "n3", "n4")))),
    "a folder of nobody": ("teams/.store.yaml", BOTH, to_yaml(placing("store", "n2", "n3", "n4"))),
}


@pytest.mark.parametrize(("path", "first", "second"), AGAIN.values(), ids=AGAIN)
def test_what_goes_later_to_a_file_that_is_out_of_sight_stays(path: str, first: str, second: str) -> None:
    """web is renamed to store, which nothing reads; then pay's selector moves there as well."""
    world = placed(placing("web", "n2", "n3"), placing("pay", "n1", "n4"))
    with world.nothing_deleted():
        world.write({at("web"): None, path: f"# 1\n{first}"})
        world.settle()
        assert HoldRule.UNCLEAR_COMMIT in held_rules(world)
        world.write({"docs/a.md": "text"})
        world.settle()
        world.write({at("pay"): to_yaml(placing("pay", "n1")), path: second})
        world.settle()
        world.write({path: None, at("store"): to_yaml(placing("store", "n2", "n3", "n4"))})
        world.settle()
    assert world.state().holds == {}


def test_an_object_that_moves_into_a_file_which_an_ignore_rule_hides_stays() -> None:
    world = placed(placing("web", "web"), more=(builders.deployment("web", "db"),))
    with world.nothing_deleted():
        world.write({APP: f"{APP_TEXT}---\n{DB_TEXT}", DB: None, ".gitfleetignore": "deployment-app.*\n"})
        world.settle()
        world.write({".gitfleetignore": None})
        world.settle()
    assert world.state().holds == {}


def test_texts_of_other_folders_are_not_read() -> None:
    world, read = fleet(), list[str]()
    world.write({at("web"): WEB, **{f"src/{number}.py": f"kind: {number}" for number in range(40)}})
    contents = world.repo.read_blobs

    def noted(oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        read.extend(wanted := list(oids))
        return contents(wanted, limit=limit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.repo, "read_blobs", noted)
        world.settle()
    assert len(set(read)) < 20


N3_APP, N3_APP_TEXT = (of(builders.deployment("n3", "app")) for of in (builders.path_of, to_yaml))
COPIES: dict[str, Files] = {
    "resources/all.yaml.txt": {N3_APP: None},
    "resources/n3/app.ymal": {N3_APP: None},
    "resources/n3/.app.yaml": {N3_APP: None},
    "placements/pay.yaml.txt": {at("pay"): None},
}


@pytest.mark.parametrize("path", COPIES)
def test_what_is_removed_and_stands_in_a_file_out_of_sight_since_an_earlier_commit_stays(path: str) -> None:
    world, gone = fleet(), COPIES[path]
    had = len(world.state().inventory["c1"])
    with world.nothing_deleted():
        world.write({path: "# a copy\n" + "---\n".join(N3_APP_TEXT if one == N3_APP else pay() for one in gone)})
        world.settle()
        world.write({"docs/a.md": "text"})
        world.settle()
        world.write(gone)
        world.settle()
        assert f"{path} is not read" in str(only_hold(world).reasons[0])
    world.write({path: None} if N3_APP in gone else answer(only_hold(world)))
    world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert len(world.state().inventory["c1"]) < had


BESIDE: dict[str, tuple[Files, Files]] = {
    "a new placement": ({at("other"): "kind: [\n"}, {at("other"): to_yaml(placing("other", "n1"))}),
    "a new placement that is taken away": ({at("other"): "kind: [\n"}, {at("other"): None}),
    "a placement that there is": ({at("pay"): "kind: [\n"}, {at("pay"): pay()}),
    "an object": ({"resources/y.yaml": "kind: [\n"}, {"resources/y.yaml": None}),
}


@pytest.mark.parametrize("emptied", ["", commented(to_yaml(placing("web", "n2", "n3")))], ids=["empty", "a comment"])
@pytest.mark.parametrize("case", BESIDE)
def test_a_placement_whose_file_says_nothing_any_more_beside_an_error_stays_when_that_is_corrected(
    case: str, emptied: str
) -> None:
    world, (error, correction) = fleet(), BESIDE[case]
    with world.nothing_deleted():
        world.write({at("web"): emptied, **error})
        world.settle()
        assert world.state().faults
        world.write(correction)
        world.settle()
        assert f"{at('web')} " in str(only_hold(world).reasons[-1]) and "says nothing any more" in str(only_hold(world))
        world.write({at("web"): to_yaml(placing("web", "n2", "n3"))})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())


NO_COPIES: dict[str, Files] = {
    "of another namespace": {"resources/old.yaml.bak": to_yaml(builders.deployment("n4", "other"))},
    "that an object of its name is nothing of": {"resources/app.txt": to_yaml(builders.config_map("n3", "app"))},
    "in a folder that is no part of the layout": {"old/app.yaml.bak": N3_APP_TEXT},
    "that an ignore rule hides": {"resources/drafts/app.yaml.bak": N3_APP_TEXT},
    "of a folder that is hidden": {"resources/.old/app.yaml": N3_APP_TEXT},
}


@pytest.mark.parametrize("files", NO_COPIES.values(), ids=NO_COPIES)
def test_what_is_no_copy_of_what_is_removed_holds_nothing(files: Files) -> None:
    world = fleet()
    world.write(files)
    world.settle()
    world.write({N3_APP: None})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app", "n3")) == ({}, None)


@pytest.mark.parametrize("path", ["placements/store.yaml.txt", "resources/store.yaml", at("store")])
def test_what_a_file_out_of_sight_is_to_have_stays_when_its_placement_goes_later(path: str) -> None:
    world = placed(placing("web", "n2", "n3"), placing("pay", "n4"))
    with world.nothing_deleted():
        world.write({at("web"): WEB, path: commented(STORE) if path == at("store") else STORE})
        world.settle()
        world.write({"docs/a.md": "text"})
        world.settle()
        world.write({at("web"): None})
        world.settle()
        world.write({path: None, at("store"): BOTH})
        world.settle()
    assert {key.name for key in world.state().placements} == {"pay", "store"}
