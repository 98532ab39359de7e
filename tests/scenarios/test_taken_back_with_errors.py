"""A removal that is under way and that a file with an error takes back waits until that is corrected (D33)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.faults import is_error
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage
from tests.scenarios.test_faulty_renames import said_of
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_taken_over import ALL, FEW, MORE, NAMES, ONE, begun, has_all, owners, placing
from tests.scenarios.world import World

Files = dict[str, str | None]
WEB, SHOP = "placements/web.yaml", "placements/shop.yaml"
SPOILT: dict[str, Callable[[str], str]] = {
    "field": lambda text: text.replace("strategy:", "stratgy:"),
    "selectors": lambda text: text.replace("resourceSelectors:", "resourceSelectrs:"),
    "kind": lambda text: text.replace("kind: ClusterResourcePlacement", "kind: ClusterResourcePlacemnt"),
    "unreadable": lambda text: f"{text}\nkind: [\n",
    "not YAML": lambda _: "kind: [\n",
    "budget": lambda text: text.replace("maxUnavailable: 1", "maxUnavailable: 0"),
    "one more selector": lambda text: text.replace(
        "  resourceSelectors:\n", "  resourceSelectors:\n  - {group: '', version: v1, kind: ConfgMap, name: x}\n"
    ),
}


def taken_out(how: str) -> World:
    """What `web` loses is gone from a cluster already, and goes from the next ones."""
    world = begun(FEW, placing("web", ONE, *NAMES))
    if how == "selector":
        world.commit(placing("web", ONE, "web", "x"))
    else:
        world.commit(remove=[WEB])
    while all(world.live(name, "Namespace", "api") for name in FEW):
        world.reconcile()
        world.advance(seconds=1)
    assert not has_all(world) and any(world.live(name, "Namespace", "api") for name in FEW)
    return world


def left(world: World) -> set[tuple[str, str]]:
    return {(c, n) for c in FEW for n in NAMES if world.live(c, "Namespace", n)}


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("how", ["selector", "placement"])
def test_what_is_taken_back_with_an_error_is_deleted_no_more(how: str, spoilt: str) -> None:
    world = taken_out(how)
    text = builders.to_yaml(placing("web", ONE, *NAMES))
    broken = SPOILT[spoilt](text)
    assert broken != text
    with world.nothing_deleted():
        world.write({WEB: broken})
        world.settle()
        world.commit(builders.namespace("later"))
        world.restart()
        world.settle()
        assert any(fault.path == WEB for fault in world.state().faults)
        result = world.reconcile()
        assert result is not None and result.settled
        is_back = how == "placement" and spoilt not in ("kind", "unreadable", "not YAML")
        what = "keeps what it no longer selects" if how == "selector" else "stays"
        where = "goes on as it was accepted last" if how == "selector" or is_back else "stays on c2 and c3"
        assert said_of(world, "web") == f"{where} until the errors in {WEB} are corrected"
        assert result.asks == (() if is_back else (f"web {what} on c2 and c3, and {WEB} has an error: correct it",))
        world.write({WEB: text})
        world.settle()
        assert has_all(world) and owners(world) == {"web"}
    assert not world.state().faults


@pytest.mark.parametrize("spoilt", ["field", "budget"])
@pytest.mark.parametrize("how", ["selector", "placement"])
def test_what_another_name_takes_over_with_an_error_is_deleted_no_more(how: str, spoilt: str) -> None:
    world = taken_out(how)
    text = builders.to_yaml(placing("shop", ONE, "api", MORE[0]))
    there = [name for name in FEW if world.live(name, "Namespace", "api")]
    with world.nothing_deleted():
        assert how == "selector" or said_of(world, "web") == ""
        world.write({SHOP: SPOILT[spoilt](text)})
        world.settle()
        assert [name for name in FEW if world.live(name, "Namespace", "api")][-len(there) :] == there
    world.write({SHOP: text})
    world.settle()
    assert all(world.live(name, "Namespace", "api") for name in FEW)
    assert owners(world) == ({"web", "shop"} if how == "selector" else {"shop"})


@pytest.mark.parametrize("how", ["selector", "placement"])
def test_an_error_in_what_does_not_select_it_stops_no_removal_that_is_under_way(how: str) -> None:
    world = taken_out(how)
    world.write({SHOP: SPOILT["field"](builders.to_yaml(placing("shop", ONE, MORE[0])))})
    world.settle()
    assert {name for _, name in left(world)} == ({"web", "x"} if how == "selector" else set())


def test_a_file_that_selects_it_no_more_stops_no_removal_by_an_error() -> None:
    world = taken_out("selector")
    world.write({WEB: SPOILT["field"](builders.to_yaml(placing("web", ONE, "web", "x")))})
    world.settle()
    assert {name for _, name in left(world)} == {"web", "x"}


@pytest.mark.parametrize("spoilt", ["field", "not YAML"])
def test_a_removal_that_goes_on_once_the_file_with_the_error_is_gone(spoilt: str) -> None:
    world = taken_out("placement")
    world.write({WEB: SPOILT[spoilt](builders.to_yaml(placing("web", ONE, *NAMES)))})
    world.settle()
    assert left(world)
    world.write({WEB: None})
    world.settle()
    assert not left(world) and not world.state().placements


@pytest.mark.parametrize("spoilt", ["spec:\n  taint: []", "spec:"])
def test_a_cluster_that_is_taken_back_keeps_what_it_has(spoilt: str) -> None:
    policy = {"deleteOptions": {"propagationPolicy": "Delete"}}
    member: dict[str, Any] = builders.member_cluster("c3")
    member["spec"] = {**member.get("spec", {}), **policy}
    world = begun(FEW, placing("web", ALL, *NAMES))
    world.commit(member)
    world.settle()
    world.silence("c3")
    world.commit(remove=["clusters/c3.yaml"])
    world.reconcile()
    with world.nothing_deleted():
        world.write({"clusters/c3.yaml": builders.to_yaml(member).replace("spec:", spoilt, 1)})
        world.reconcile()
        world.fleet.cluster("c3").reachable = True
        world.settle()
        assert has_all(world)


def test_an_external_placement_that_is_taken_back_with_an_error_keeps_what_it_has() -> None:
    world = begun(FEW, placing("web", EXTERNAL, *NAMES))
    world.commit(remove=[WEB])
    world.reconcile()
    with world.nothing_deleted():
        world.write({WEB: SPOILT["field"](builders.to_yaml(placing("web", EXTERNAL, *NAMES)))})
        world.settle()
    assert world.state().placements


UNREADABLE = " : : [\n"
OTHERS: dict[str, Files] = {
    "a run of something like it": {
        "runs/x.yaml": f"kind: ClusterStagedUpdateRun\nmetadata: {{name: web-2}}\n{UNREADABLE}"
    },
    "a text with an escape": {"notes/x.yaml": f'text: "a\\tb"\n{UNREADABLE}'},
    "an object of its name": {"notes/x.yaml": f"kind: ConfigMap\nmetadata: {{name: web}}\n{UNREADABLE}"},
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "RollingUpdate"])
def test_a_new_file_about_something_else_stops_no_removal(strategy: dict[str, Any], files: Files) -> None:
    world = begun(FEW, placing("web", strategy, *NAMES))
    world.commit(remove=[WEB])
    world.reconcile()
    world.write(files)
    world.settle()
    assert world.state().faults and not left(world) and not world.state().placements


def test_a_new_file_in_which_a_name_may_be_spelt_otherwise_stops_a_removal() -> None:
    world = taken_out("placement")
    with world.nothing_deleted():
        world.write({"notes/x.yaml": f'name: "\\x77eb"\n{UNREADABLE}'})
        world.settle()
    assert left(world)


BY_LABEL = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"g": "a"}}}
X, X_APP = builders.namespace("x", labels={"g": "a"}), builders.deployment("x", "web")
AT_X, AT_APP = builders.path_of(X), builders.path_of(X_APP)
TEXT, APP_TEXT = builders.to_yaml(X), builders.to_yaml(X_APP)
AS_ENVELOPE = {"kubernetes-fleet.io/envelope-configmap": "true"}
INNER = builders.to_yaml(builders.config_map("web", "inner", {"key": "1"}))
ENVELOPE = builders.config_map("web", "env", {"a": INNER}, annotations=AS_ENVELOPE)
EMPTY, AT_ENVELOPE = builders.config_map("web", "env", annotations=AS_ENVELOPE), builders.path_of(ENVELOPE)
ENVELOPE_TEXT = builders.to_yaml(ENVELOPE)
NO_X: Files = {AT_X: None, AT_APP: None}
BACK: dict[str, tuple[Files, Files]] = {
    "a label": ({AT_X: TEXT.replace("g: a", "g: b")}, {AT_X: TEXT.replace("g: a", "g: [a]")}),
    "a Namespace": (NO_X, {AT_X: TEXT.replace("g: a", "g: [a]"), AT_APP: APP_TEXT}),
    "a Namespace elsewhere": (NO_X, {"resources/y.yaml": TEXT.replace("g: a", "g: [a]")}),
    "a file that cannot be read": (NO_X, {"resources/y.yaml": f"{TEXT}\n : : ["}),
    "a kind": (NO_X, {AT_X: TEXT.replace("kind: Namespace", "kind: Namespce")}),
    "a name": (NO_X, {AT_X: TEXT.replace("name: x", "name: [x]")}),
    "an object": ({AT_APP: None}, {AT_APP: APP_TEXT.replace("spec:", "spec: []\nspc:", 1)}),
    "an entry of an envelope": (
        {AT_ENVELOPE: builders.to_yaml(EMPTY)},
        {AT_ENVELOPE: ENVELOPE_TEXT.replace("key: '1'", "key: [")},
    ),
}


def waiting(strategy: dict[str, Any], removal: Files, by_label: dict[str, Any] = BY_LABEL, text: str = TEXT) -> World:
    """What the newest content of `web` lost is on clusters still: the run that takes it away has not come, or the
    rolling update has reached one of them."""
    web = builders.placement("web", selectors=[builders.select_namespace("web"), by_label], strategy=strategy)
    world = World(rules=(QUICK,))
    objects = [builders.namespace("web"), builders.deployment("web", "web"), ENVELOPE, X_APP]
    config = builders.fleet_config(massDelete={"maxPercent": 100})
    world.write({AT_X: text})
    world.commit(config, *members(*FEW), *objects, web, one_stage())
    world.settle()
    go_out(world, "on-web")
    assert placed(world) == len(FEW) * 5
    world.write(removal)
    world.reconcile()
    if world.state().holds:
        world.write(answer(only_hold(world)))
        world.reconcile()
    while strategy is ONE and placed(world) == len(FEW) * 5:
        world.advance(seconds=1)
        world.reconcile()
    return world


def placed(world: World) -> int:
    return sum(map(len, world.state().inventory.values()))


def go_out(world: World, name: str) -> None:
    world.commit(builders.staged_run(name, placement="web", strategy="all"))
    world.settle()


@pytest.mark.parametrize("back", BACK)
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "RollingUpdate"])
def test_what_an_object_with_an_error_may_be_is_deleted_no_more(strategy: dict[str, Any], back: str) -> None:
    removal, files = BACK[back]
    world = waiting(strategy, removal)
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        world.restart()
        go_out(world, "with-error")
        result = world.reconcile()
        assert result is not None and result.settled
        assert world.state().faults and next(iter(files)) in " ".join(result.asks)
        world.write({**dict.fromkeys(files), AT_X: TEXT, AT_APP: APP_TEXT, AT_ENVELOPE: ENVELOPE_TEXT})
        world.settle()
        go_out(world, "corrected")
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert placed(world) == len(FEW) * 5


ELSEWHERE: dict[str, Files] = {
    "another object of its name": {"resources/y.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: []\n"},
    "a file that does not name it": {"resources/y.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: y}\n : : ["},
    "a placement of something else": {SHOP: SPOILT["field"](builders.to_yaml(placing("shop", ONE, MORE[0])))},
}


@pytest.mark.parametrize("files", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "RollingUpdate"])
def test_an_error_in_what_is_something_else_stops_no_removal(strategy: dict[str, Any], files: Files) -> None:
    world = waiting(strategy, NO_X)
    world.write(files)
    world.settle()
    go_out(world, "with-error")
    assert world.state().faults and not any(world.live(name, "Namespace", "x") for name in FEW)


ALPHA = {"group": "alpha"}
MISSPELT = {"a letter twice": "group: alppha", "its case": "group: Alpha", "the key": "gruop: alpha"}


@pytest.mark.parametrize("went", ["by its file", "by its label"])
@pytest.mark.parametrize("misspelt", MISSPELT)
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "RollingUpdate"])
def test_what_is_taken_back_with_a_label_that_is_misspelt_is_deleted_no_more(
    strategy: dict[str, Any], misspelt: str, went: str
) -> None:
    text = TEXT.replace("g: a", "g: a\n    group: alpha")
    by_label = {**BY_LABEL, "labelSelector": {"matchLabels": ALPHA}}
    removal: Files = NO_X if went == "by its file" else {AT_X: TEXT.replace("g: a", "group: zebra")}
    world = waiting(strategy, removal, by_label, text)
    with world.nothing_deleted():
        world.write({AT_X: text.replace("group: alpha", MISSPELT[misspelt]), AT_APP: APP_TEXT})
        world.settle()
        world.restart()
        go_out(world, "misspelt")
        world.write({"docs/a.md": "text"})
        world.settle()
        (fault,) = world.state().faults
        assert "nearly are those that ClusterResourcePlacement web selects by" in str(fault)
        world.write({AT_X: text})
        world.settle()
        go_out(world, "corrected")
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert placed(world) == len(FEW) * 5


@pytest.mark.parametrize("goes", ["the placement", "the selector"])
def test_what_another_placement_is_to_have_by_a_label_that_is_misspelt_is_deleted_no_more(goes: str) -> None:
    by_label = {**BY_LABEL, "labelSelector": {"matchLabels": ALPHA}}
    store = builders.placement("store", selectors=[by_label], strategy=ONE)
    y = builders.namespace("y", labels=ALPHA)
    text, others = builders.to_yaml(builders.namespace("x")), () if goes == "the placement" else ("web",)
    web = builders.to_yaml(placing("web", ONE, "x", *others))
    world = World(rules=(QUICK,))
    world.write({AT_X: text, WEB: web})
    config = builders.fleet_config(massDelete={"maxPercent": 100})
    world.commit(config, *members(*FEW), builders.namespace("web"), X_APP, y, store)
    world.settle()
    assert not world.state().faults
    world.write({WEB: builders.to_yaml(placing("web", ONE, *others)) if others else None})
    world.reconcile()
    assert sum(world.live(name, "Namespace", "x") is not None for name in FEW) == 2
    with world.nothing_deleted():
        world.write({AT_X: TEXT.replace("g: a", "group: alppha")})
        world.settle()
        assert "nearly are those that ClusterResourcePlacement store selects by" in str(world.state().faults)
        world.write({AT_X: TEXT.replace("g: a", "group: alpha")})
        world.settle()
    assert all(world.live(name, "Deployment", "web", "x") for name in FEW)


def test_a_label_that_is_nearly_the_same_and_approved_lets_it_go_whatever_else_is_edited() -> None:
    text, by_label = TEXT.replace("g: a", "group: alpha"), {**BY_LABEL, "labelSelector": {"matchLabels": ALPHA}}
    misspelt = text.replace("alpha", "alppha")
    world = waiting(ONE, {AT_X: misspelt}, by_label, text)
    world.write({AT_X: f"# edited\n{misspelt}"})
    world.settle()
    assert (world.state().holds, [one for one in world.state().faults if is_error(one)]) == ({}, [])
    assert not any(world.live(name, "Namespace", "x") for name in FEW)


@pytest.mark.parametrize("path", ["resources/x/namespace-x.ymal", "resources/x/.namespace-x.yaml"])
@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "RollingUpdate"])
def test_what_is_taken_back_where_nobody_reads_it_is_deleted_no_more(strategy: dict[str, Any], path: str) -> None:
    """Its Namespace lost the label, and gets it back in a file that is out of sight: what lies in it is refused."""
    world = waiting(strategy, {AT_X: TEXT.replace("g: a", "g: b")})
    with world.nothing_deleted():
        world.write({AT_X: None, path: TEXT})
        world.settle()
        world.restart()
        go_out(world, "with-error")
        assert "lost its manifest" in " ".join(map(str, world.state().faults))
        world.write({AT_X: TEXT, path: None})
        world.settle()
        go_out(world, "corrected")
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert placed(world) == len(FEW) * 5
