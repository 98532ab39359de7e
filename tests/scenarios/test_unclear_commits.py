"""While a commit has an error, nothing that it takes away goes: it may be in what was to have that (invariant 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.texts import ApiText
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_holds_overrides import LABEL, of_objects, rule
from tests.scenarios.world import World

NAMESPACES = ("web", "x", "n1", "n2", "n3", "n4")
NOPE = "spec:\n  nope: 1\n"
Files = Mapping[str, str | None]


def placed(*placements: dict[str, Any], more: tuple[dict[str, Any], ...] = ()) -> World:
    """A fleet of three clusters on which these placements are rolled out; only the commit's errors hold anything."""
    world = World(rules=(QUICK,))
    objects = [one for name in NAMESPACES for one in (builders.namespace(name), builders.deployment(name, "app"))]
    settings = builders.fleet_config(massDelete={"maxPercent": 100})
    world.commit(settings, *members("c1", "c2", "c3"), *objects, *placements, *more)
    world.settle()
    assert world.state().faults == ()
    return world


def at(name: str) -> str:
    return f"placements/{name}.yaml"


def wrong(body: dict[str, Any]) -> str:
    return to_yaml(body).replace("spec:\n", NOPE)


def envelope(*texts: str) -> str:
    data = {f"{number}.yaml": text for number, text in enumerate(texts)}
    body = builders.an_object("v1", "ConfigMap", "env", namespace="web", data=data)
    body["metadata"]["annotations"] = {"kubernetes-fleet.io/envelope-configmap": "true"}
    return to_yaml(body)


APP = builders.path_of(builders.deployment("web", "app"))
APP_TEXT = to_yaml(builders.deployment("web", "app"))
NAMESPACE_X = builders.path_of(builders.namespace("x"))
BY_LABEL = builders.placement(
    "shop",
    selectors=[{"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"g": "b"}}}],
    strategy=builders.rolling_update(maxUnavailable=1),
)


@dataclass(frozen=True)
class Case:
    """A commit with an error that takes objects away, and the commit that corrects it: nothing goes in either."""

    placements: tuple[dict[str, Any], ...]
    commit: Files
    correction: Files


CASES = {
    "three pass a selector on, the last has an error": Case(
        (placing("web", "n2"), placing("pay", "n3", "n4"), placing("store", "n1")),
        {
            at("web"): to_yaml(placing("web", "n3")),
            at("pay"): to_yaml(placing("pay", "n4")),
            at("store"): wrong(placing("store", "n1", "n2")),
        },
        {at("store"): to_yaml(placing("store", "n1", "n2"))},
    ),
    "three pass a selector on, the first is gone": Case(
        (placing("web", "n2"), placing("pay", "n3"), placing("store", "n1")),
        {
            at("web"): to_yaml(placing("web", "n3")),
            at("pay"): None,
            at("store"): wrong(placing("store", "n1", "n2")),
        },
        {at("store"): to_yaml(placing("store", "n1", "n2"))},
    ),
    "a split of which both parts have the same name": Case(
        (placing("web", "web", "x"),),
        {at("web"): f"{to_yaml(placing('web', 'web'))}---\n{to_yaml(placing('web', 'x'))}"},
        {at("web"): f"{to_yaml(placing('web', 'web'))}---\n{to_yaml(placing('shop', 'x'))}"},
    ),
    "a split into another file with the same name": Case(
        (placing("web", "web", "x"),),
        {at("web"): to_yaml(placing("web", "web")), at("zz"): to_yaml(placing("web", "x"))},
        {at("zz"): to_yaml(placing("zz", "x"))},
    ),
    "an object moves into an envelope that cannot be read": Case(
        (placing("web", "web"),),
        {APP: None, "resources/web/env.yaml": envelope(f"{APP_TEXT}\n : [")},
        {"resources/web/env.yaml": envelope(APP_TEXT)},
    ),
    "an object moves into an envelope with an error in another entry": Case(
        (placing("web", "web"),),
        {
            APP: None,
            "resources/web/env.yaml": envelope(APP_TEXT, to_yaml(builders.deployment("kube-system", "x"))),
        },
        {"resources/web/env.yaml": envelope(APP_TEXT)},
    ),
    "an object is another one's by a label that is no text": Case(
        (placing("web", "web", "x"), BY_LABEL),
        {
            at("web"): to_yaml(placing("web", "web")),
            NAMESPACE_X: to_yaml(builders.namespace("x", labels={"g": "b"})).replace("g: b", "g: [b]"),
        },
        {NAMESPACE_X: to_yaml(builders.namespace("x", labels={"g": "b"}))},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_commit_with_an_error_takes_away_stays_until_it_is_corrected(case: Case) -> None:
    world = placed(*case.placements)
    with world.nothing_deleted():
        world.write(case.commit)
        world.settle()
        reasons = {reason.rule for reason in only_hold(world).reasons}
        assert reasons == {HoldRule.UNCLEAR_COMMIT}
        world.write({"docs/unrelated.md": "text"})
        world.settle()
        assert only_hold(world).answer is None
        world.write(case.correction)
        world.settle()
    state = world.state()
    assert (state.holds, state.faults) == ({}, ())
    assert {entry.placement for owned in state.inventory.values() for entry in owned.values()} == set(state.placements)


def waiting_rename() -> World:
    """web is renamed to shop, which waits, since a pin names it still."""
    world = placed(placing("web", "web"))
    latest = world.state().placements[PlacementKey("", "web")].latest_resources
    assert latest is not None
    world.commit(builders.pin("web", latest.index, latest.hash))
    world.settle()
    world.commit(placing("shop", "web"), remove=[at("web")])
    world.settle()
    assert [str(key) for key in world.state().placements] == ["web"]
    return world


SHOP = to_yaml(placing("shop", "web"))
WRONG: dict[str, Files] = {
    "a field is misspelt": {at("shop"): wrong(placing("shop", "web"))},
    "a kind is misspelt": {at("shop"): SHOP.replace("kind: Namespace", "kind: Namespce")},
    "it cannot be read": {at("shop"): f"{SHOP}\n : : ["},
}
OUT_OF_SIGHT: dict[str, Files] = {
    "an ignore rule hides it": {".gitfleetignore": "placements/shop.yaml\n"},
    "it has a name that is not read": {at("shop"): None, "placements/shop.yaml.bak": SHOP},
    "it has another ending, edited": {at("shop"): None, "placements/shop.yml.txt": f"# later\n{SHOP}"},
    "it moves to the payload": {at("shop"): None, "resources/shop.yaml": SHOP},
    "it is empty": {at("shop"): ""},
    "it is commented out": {at("shop"): "".join(f"# {line}\n" for line in SHOP.splitlines())},
}


@pytest.mark.parametrize("case", [*WRONG, *OUT_OF_SIGHT])
def test_a_rename_that_waits_and_goes_out_of_sight_removes_nothing(case: str) -> None:
    world, files = waiting_rename(), (WRONG | OUT_OF_SIGHT)[case]
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        rules = {reason.rule for hold in world.state().holds.values() for reason in hold.reasons}
        assert rules == ({HoldRule.UNCLEAR_COMMIT} if case in OUT_OF_SIGHT else set())
        world.write({**dict.fromkeys(files), at("shop"): SHOP})
        world.settle()
    assert world.state().holds == {}
    assert [str(key) for key in world.state().placements] == ["web"]


def test_a_file_for_whose_error_a_placement_goes_on_may_not_be_hidden() -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({at("web"): None, "placements/team/store.yaml": wrong(placing("store", "web"))})
        world.settle()
        assert [str(key) for key in world.state().placements] == ["web"]
        world.write({".gitfleetignore": "placements/team/\n"})
        world.settle()
        assert "placements/team/store.yaml is not read any more" in str(only_hold(world).reasons[0])


def test_a_person_may_let_it_go_before_the_error_is_corrected() -> None:
    world = placed(placing("web", "web", "x"))
    world.write({at("web"): to_yaml(placing("web", "web")), at("shop"): wrong(placing("shop", "n1"))})
    world.settle()
    world.write(answer(only_hold(world)))
    world.settle()
    assert world.state().holds == {}
    assert not [key for owned in world.state().inventory.values() for key in owned if key.namespace == "x"]


EVICTION = builders.an_object("placement.kubernetes-fleet.io/v1beta1", "ClusterResourcePlacementEviction", "x")
APPROVAL = builders.an_object("placement.kubernetes-fleet.io/v1beta1", "ClusterApprovalRequest", "x", stat={})
BESIDE: dict[str, Files] = {
    "an approval with a misspelt field": {"approvals/x.yaml": to_yaml(APPROVAL)},
    "an eviction without a cluster": {"evictions/x.yaml": to_yaml(EVICTION)},
}


@pytest.mark.parametrize("files", BESIDE.values(), ids=BESIDE)
def test_errors_of_files_that_place_nothing_hold_nothing(files: Files) -> None:
    world = placed(placing("web", "web", "x"))
    world.write({at("web"): to_yaml(placing("web", "web")), **files})
    world.settle()
    assert world.state().holds == {}
    assert any(fault.path in files for fault in world.state().faults)
    assert not [key for owned in world.state().inventory.values() for key in owned if key.namespace == "x"]


def test_an_edit_with_an_error_that_was_there_before_holds_nothing_of_later_commits() -> None:
    world = placed(placing("web", "web", "x"), placing("shop", "n1"))
    world.write({at("shop"): wrong(placing("shop", "n1"))})
    world.settle()
    world.write({at("web"): to_yaml(placing("web", "web"))})
    world.settle()
    assert world.state().holds == {}
    assert not [key for owned in world.state().inventory.values() for key in owned if key.namespace == "x"]


def test_a_cluster_that_is_picked_no_more_waits_for_errors_of_its_own_commit_alone() -> None:
    def web(*clusters: str) -> dict[str, Any]:
        return placing("web", "web", policy=builders.pick_fixed(*clusters))

    world = placed(web("c1", "c2", "c3"))
    world.write({at("shop"): wrong(placing("shop", "n1"))})
    world.settle()
    world.commit(web("c1", "c2"))
    world.settle()
    assert (world.state().holds, "c3" in world.state().inventory) == ({}, False)
    with world.nothing_deleted():
        world.write({at("zoo"): wrong(placing("zoo", "n1")), at("web"): to_yaml(web("c1"))})
        world.settle()
    assert [str(removal) for removal in only_hold(world).removals] == [
        ApiText.PLACEMENT_CLUSTER(placement="web", cluster="c2")
    ]


@pytest.mark.parametrize("more", [builders.config_map("web", "keep"), builders.deployment("n4", "apps")])
def test_a_namesake_that_was_there_before_is_nothing_that_the_object_moved_to(more: dict[str, Any]) -> None:
    world = placed(placing("web", "web"), more=(more,))
    world.write({APP: None})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app")) == ({}, None)


def beside() -> dict[str, Any]:
    return placing("other", "n1")


def test_a_hold_that_was_rejected_does_not_end_with_the_error() -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: None, at("other"): wrong(beside())})
        world.settle()
        world.write(answer(only_hold(world), approved=False))
        world.settle()
        world.commit(beside())
        world.settle()
        assert only_hold(world).answer is Status.FALSE


def test_a_hold_that_is_rejected_as_the_error_is_corrected_stays() -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: None, at("other"): wrong(beside())})
        world.settle()
        world.write({**answer(only_hold(world), approved=False), at("other"): to_yaml(beside())})
        world.settle()
        assert only_hold(world).answer is Status.FALSE


def test_what_is_written_back_with_an_error_does_not_go_with_the_correction_of_another() -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: None, at("other"): wrong(beside())})
        world.settle()
        world.write({"resources/web/back.yaml": f"{APP_TEXT}\n : : ["})
        world.settle()
        world.commit(beside())
        world.settle()
        world.write({"resources/web/back.yaml": APP_TEXT})
        world.settle()
    assert world.state().holds == {}


def test_of_two_errors_each_is_waited_for() -> None:
    by_label = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"g": "a"}}}
    web = placing("web", "web")
    web["spec"]["resourceSelectors"].append(by_label)
    world = placed(web, BY_LABEL, more=(builders.namespace("k", labels={"g": "a"}),))
    relabelled = to_yaml(builders.namespace("k", labels={"g": "b"}))
    at_k = builders.path_of(builders.namespace("k"))
    with world.nothing_deleted():
        files = {at_k: relabelled.replace("g: b", "g: [b]"), at("other"): wrong(beside())}
        world.write({at("web"): to_yaml(placing("web", "web")), **files})
        world.settle()
        world.commit(beside())
        world.settle()
        world.write({at_k: relabelled})
        world.settle()
    assert (world.state().holds, world.live("c1", "Namespace", "k") is None) == ({}, False)


@pytest.mark.parametrize("slip", [{}, {"docs/a.md": "text"}, {APP: None}])
def test_a_placement_that_is_held_as_a_whole_goes_by_itself_only_where_no_commit_came_between(slip: Files) -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({at("web"): None, at("other"): wrong(beside())})
        world.settle()
        if slip:
            world.write(slip)
            world.settle()
    world.commit(beside())
    world.settle()
    said = [reason.message for hold in world.state().holds.values() for reason in hold.reasons]
    assert [message.partition(", ")[2][:23] for message in said] == (["and commits that came s"] if slip else [])
    assert (world.live("c1", "Deployment", "app", "web") is None) == (not slip)


def test_a_selector_that_was_dropped_beside_an_error_goes_with_the_correction() -> None:
    world = placed(placing("web", "web", "x"))
    world.write({at("web"): to_yaml(placing("web", "web")), "resources/bad.yaml": "kind: Foo\nmetadata: {name: a}\n"})
    world.settle()
    world.write({"resources/bad.yaml": None})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app", "x")) == ({}, None)


def test_a_rejection_that_is_taken_away_lets_nothing_go() -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: None, at("other"): wrong(beside())})
        world.settle()
        rejection = answer(only_hold(world), approved=False)
        world.write(rejection)
        world.settle()
        world.commit(beside())
        world.settle()
        world.write(dict.fromkeys(rejection))
        world.settle()
        assert only_hold(world).answer is None


@pytest.mark.parametrize("between", [False, True])
def test_an_override_that_is_taken_back_with_an_error_deletes_nothing(between: bool) -> None:
    gone = of_objects(rule())
    world = placed(placing("web", "web"), more=(builders.config_map("web", "settings"),))
    at_drop = builders.path_of(gone)
    with world.nothing_deleted():
        world.write({at_drop: to_yaml(gone), at("other"): wrong(beside())})
        world.settle()
        assert {reason.rule for reason in only_hold(world).reasons} == {HoldRule.UNCLEAR_COMMIT}
        back = {at_drop: to_yaml(of_objects(rule(patch=LABEL))).replace("spec:\n", NOPE)}
        world.write(back)
        world.settle()
        if between:
            world.write({"docs/a.md": "text"})
            world.settle()
        world.commit(beside())
        world.settle()
        world.write({at_drop: to_yaml(of_objects(rule(patch=LABEL)))})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())


ELSEWHERE = (
    "resources/neu.yaml.txt",
    "resources/neu.txt",
    "docs/neu.txt",
    "resources/neu.yaml",
    "placements/.neu.yaml",
)
NEU = to_yaml(placing("neu", "web"))


@pytest.mark.parametrize("path", ELSEWHERE)
@pytest.mark.parametrize("error", [wrong(placing("neu", "web")), "kind: [\n"], ids=["a field", "no YAML"])
def test_a_correction_that_is_written_where_it_is_not_read_removes_nothing(error: str, path: str) -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({at("web"): None, at("neu"): error})
        world.settle()
        world.write({at("neu"): None, path: NEU})
        world.settle()
        assert f"{path} is " in str(only_hold(world).reasons[0])
        world.write({path: None, at("neu"): NEU})
        world.settle()
    assert (world.state().holds, [str(key) for key in world.state().placements]) == ({}, ["neu"])


@pytest.mark.parametrize("path", ["resources/web/neu.yaml.txt", "docs/a.txt"])
def test_an_object_that_is_corrected_where_it_is_not_read_stays(path: str) -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: APP_TEXT.replace("spec:", "spec: []\nspc:", 1)})
        world.settle()
        world.write({APP: None, path: f"# corrected\n{APP_TEXT}"})
        world.settle()
        assert f"{path} is not read" in str(only_hold(world).reasons[0])


PAGE = "# About\n\n```yaml\nkind: Namespace\nmetadata: {name: neu}\n```\n"
AROUND: dict[str, Files] = {
    "nothing": {},
    "a page of the same name": {"placements/README.yaml.md": PAGE, "placements/notes.yaml-old.md": PAGE},
    "another file": {"docs/other.txt": to_yaml(builders.namespace("other"))},
    "a script": {"scripts/web.sh": "echo web neu"},
    "another manifest": {"resources/other.yaml": to_yaml(builders.namespace("other"))},
}


@pytest.mark.parametrize("files", AROUND.values(), ids=AROUND)
def test_a_file_with_an_error_that_is_removed_holds_nothing(files: Files) -> None:
    world = placed(placing("web", "web"))
    world.write({at("web"): None, at("neu"): wrong(placing("neu", "web"))})
    world.settle()
    world.write({at("neu"): None, **files})
    world.settle()
    assert (world.state().holds, world.state().placements) == ({}, {})


@pytest.mark.parametrize(
    "path", ["placements/README.yaml.md", "placements/notes.yaml-old.md", "placements/new.yaml.rst"]
)
def test_a_page_about_manifests_is_no_manifest_of_another_name(path: str) -> None:
    world = placed(placing("web", "web", "x"))
    world.write({at("web"): to_yaml(placing("web", "web")), path: PAGE})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app", "x")) == ({}, None)


@pytest.mark.parametrize("between", [False, True])
def test_a_hold_for_a_file_out_of_sight_ends_when_that_is_back(between: bool) -> None:
    store = "placements/team/store.yaml"
    world = placed(placing("web", "web"), placing("other", "n1", "n2"))
    with world.nothing_deleted():
        world.write({at("web"): None, store: wrong(placing("store", "web"))})
        world.settle()
        world.write({".gitfleetignore": "placements/team/\n"})
        world.settle()
        assert "placements/team/store.yaml is not read any more" in str(only_hold(world).reasons[0])
        if between:
            world.write({"docs/a.md": "text"})
            world.settle()
        world.write({".gitfleetignore": None})
        world.settle()
        said = [reason.message for reason in only_hold(world).reasons]
        assert said[0].startswith(f"{store}:6 has an error") and len(said) == 1 + between
        world.write({store: to_yaml(placing("store", "web"))})
        world.settle()
    assert (world.state().holds, [str(key) for key in world.state().placements]) == ({}, ["other", "store"])


def test_what_went_beside_a_file_out_of_sight_goes_when_that_is_back() -> None:
    world = placed(placing("web", "web", "x"))
    with world.nothing_deleted():
        world.write({at("web"): to_yaml(placing("web", "web")), "placements/late.yaml.txt": NEU})
        world.settle()
        assert "placements/late.yaml.txt is not read (its name or an ignore rule hides it)" in str(
            only_hold(world).reasons[0]
        )
    world.write({"placements/late.yaml.txt": None})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app", "x")) == ({}, None)


SETTINGS = builders.path_of(builders.config_map("web", "settings"))


@pytest.mark.parametrize("rules", ["docs/\n", "resources/n2/\n"])
def test_a_namesake_in_a_file_that_was_read_before_is_nothing_that_an_object_moved_to(rules: str) -> None:
    world = placed(placing("web", "web"), more=tuple(builders.config_map(one, "settings") for one in ("web", "n4")))
    world.write({SETTINGS: None, ".gitfleetignore": rules})
    world.settle()
    assert (world.state().holds, world.live("c1", "ConfigMap", "settings")) == ({}, None)


def test_a_name_that_is_nearly_the_same_in_a_file_that_is_read_now_may_be_a_typing_error() -> None:
    world = placed(placing("web", "web"), more=(builders.config_map("web", "settings"),))
    world.write({"extra/a.yaml": to_yaml(builders.config_map("web", "setting")), ".gitfleetignore": "extra/\n"})
    world.settle()
    with world.nothing_deleted():
        world.write({SETTINGS: None, ".gitfleetignore": None})
        world.settle()
    assert only_hold(world).reasons[0].rule is HoldRule.LIKELY_TYPO


@pytest.mark.parametrize(("path", "ends"), [("notes/bad.yaml", True), ("placements/bad.yaml", False)])
def test_a_hold_ends_when_the_file_with_the_error_is_ignored_where_it_is_none_of_ours(path: str, ends: bool) -> None:
    world = placed(placing("web", "web"))
    with world.nothing_deleted():
        world.write({APP: None, path: "kind: [\n"})
        world.settle()
        assert only_hold(world).reasons[0].error_in == path
    world.write({".gitfleetignore": f"{path}\n"})
    world.settle()
    assert (world.state().holds == {}, world.live("c1", "Deployment", "app") is None) == (ends, ends)
