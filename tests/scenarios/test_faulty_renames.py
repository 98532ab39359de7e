"""A placement or cluster that goes while what may take its place has an error stays as it was (invariant 2)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.status.texts import StatusText
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members, one_stage, rolled_out
from tests.scenarios.test_renamed_clusters import cluster, placed, settled
from tests.scenarios.test_renamed_placements import ROLLING, names, owners, untouched
from tests.scenarios.world import World

WEB, NEW = "placements/web.yaml", "placements/shop.yaml"
GOES_ON = (
    "may be meant to replace ClusterResourcePlacement web (placements/web.yaml), which goes on as it was accepted "
)
GOES_ON += "last until this is corrected"


def placing(name: str, *namespaces: str, strategy: dict[str, Any] = ROLLING, **parts: Any) -> dict[str, Any]:
    """A placement of whole namespaces."""
    selectors = [builders.select_namespace(one) for one in namespaces]
    return builders.placement(name, selectors=selectors, strategy=strategy, **parts)


def world_with_web(*also: dict[str, Any]) -> World:
    world = World(rules=(QUICK,))
    world.commit(
        *members("c1", "c2", "c3"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        placing("web", "web"),
        builders.namespace("other"),
        builders.deployment("other", "other"),
        *also,
    )
    world.settle()
    assert world.state().faults == ()
    return world


def with_selector(name: str, *also: str, group: str = "", kind: str = "ConfgMap") -> dict[str, Any]:
    body = placing(name, *also)
    body["spec"]["resourceSelectors"].append({"group": group, "version": "v1", "kind": kind, "name": "x"})
    return body


ALONE = to_yaml(placing("shop", "web"))
BOTH = to_yaml(placing("shop", "web", "other"))
RENAMED = {
    "a field is misspelt": ALONE.replace("strategy:", "stratgy:"),
    "no cluster could be updated": to_yaml(placing("shop", "web", strategy=builders.rolling_update(maxUnavailable=0))),
    "a name that none may have": to_yaml(placing("Shop_1", "web")),
    "one more selector of a misspelt kind": to_yaml(with_selector("shop", "web")),
    "the only selector of a misspelt kind": ALONE.replace("Namespace\n", "Namspace\n"),
    "selectors under a misspelt field": ALONE.replace("resourceSelectors:", "resourceSelectrs:"),
    "selectors that are no list": to_yaml(
        {**placing("shop"), "spec": {"resourceSelectors": {"kind": "Namespace", "name": "web"}}}
    ),
    "a misspelt field, and the name of what is selected": to_yaml(placing("shop", "wbe")).replace(
        "strategy:", "stratgy:"
    ),
    "a misspelt kind": ALONE.replace("ClusterResourcePlacement", "ClusterResourcePlacemnt"),
    "a misspelt group": ALONE.replace("placement.kubernetes-fleet.io", "placement.kubernetes-flet.io"),
    "no YAML, and the old name nowhere": "kind: [\n",
}
FOLDED = {
    "a field is misspelt": BOTH.replace("strategy:", "stratgy:"),
    "no YAML": "kind: [\n",
    "a policy of another type": to_yaml(placing("shop", "web", "other", policy=builders.pick_fixed("c1", "c2", "c3"))),
    "no cluster could be updated": to_yaml(
        placing("shop", "web", "other", strategy=builders.rolling_update(maxUnavailable=0))
    ),
    "one more selector of a misspelt kind": to_yaml(with_selector("shop", "web", "other")),
}


@pytest.mark.parametrize("case", RENAMED)
def test_a_placement_renamed_with_an_error_goes_on_until_it_is_corrected(case: str) -> None:
    world = world_with_web()
    untouched(world, lambda: world.write({WEB: None, NEW: RENAMED[case]}))
    assert (names(world), owners(world)) == ({"web"}, {"web"})
    (said,) = [fault for fault in world.state().faults if GOES_ON in fault.message]
    assert said.path == NEW
    untouched(world, lambda: world.write({"docs/unrelated.md": "text"}))
    assert (names(world), said in world.state().faults) == ({"web"}, True)
    untouched(world, lambda: world.write({NEW: ALONE}))
    assert (names(world), owners(world), world.state().faults) == ({"shop"}, {"shop"}, ())


@pytest.mark.parametrize("case", FOLDED)
def test_a_placement_folded_into_another_with_an_error_goes_on_until_it_is_corrected(case: str) -> None:
    world = world_with_web(placing("shop", "other"))
    untouched(world, lambda: world.write({WEB: None, NEW: FOLDED[case]}))
    assert names(world) == {"web", "shop"}
    (said,) = [fault for fault in world.state().faults if GOES_ON in fault.message]
    assert said.path == NEW
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}
    with world.nothing_deleted():
        world.write({NEW: BOTH})
        world.settle()
    assert (names(world), owners(world), world.state().faults) == ({"shop"}, {"shop"}, ())


def test_a_second_definition_in_a_new_file_is_no_reason_to_remove_what_it_was_before() -> None:
    world = world_with_web(placing("shop", "other"))
    untouched(world, lambda: world.write({WEB: None, "placements/shop2.yaml": BOTH}))
    assert names(world) == {"web", "shop"}


def test_removing_the_file_with_the_error_removes_what_went_on_for_it() -> None:
    world = world_with_web()
    world.write({WEB: None, NEW: RENAMED["a field is misspelt"]})
    world.settle()
    world.write({NEW: None})
    world.settle()
    assert (names(world), owners(world), world.state().faults) == (set(), set(), ())


OTHERS = {"of a placement of other things": to_yaml(placing("shop", "other")), "of a whole file": "kind: [\n"}


@pytest.mark.parametrize("case", OTHERS)
def test_an_error_that_was_there_before_does_not_stop_a_removal(case: str) -> None:
    world = world_with_web(placing("shop", "other"))
    world.write({NEW: OTHERS[case].replace("strategy:", "stratgy:")})
    world.settle()
    world.write({WEB: None})
    world.settle()
    assert (names(world), owners(world)) == ({"shop"}, {"shop"})


def test_an_error_in_what_selects_other_things_delays_a_removal_in_its_commit() -> None:
    world = world_with_web()
    untouched(
        world,
        lambda: world.write(
            {WEB: None, NEW: OTHERS["of a placement of other things"].replace("strategy:", "stratgy:")}
        ),
    )
    assert [str(removal) for hold in world.state().holds.values() for removal in hold.removals] == ["placement web"]
    world.write({NEW: OTHERS["of a placement of other things"]})
    world.settle()
    assert (names(world), owners(world), world.state().holds) == ({"shop"}, {"shop"}, {})


@pytest.mark.parametrize("new", ["app2", "App_2"])
def test_a_resource_placement_goes_on_for_one_with_an_error_in_its_namespace(new: str) -> None:
    def within(namespace: str, name: str) -> dict[str, Any]:
        selectors = [{"group": "apps", "version": "v1", "kind": "Deployment", "name": namespace}]
        return builders.an_object(
            builders.PLACEMENT_API,
            "ResourcePlacement",
            name,
            namespace=namespace,
            spec={"resourceSelectors": selectors, "strategy": ROLLING},
        )

    only = {**builders.select_namespace("web"), "selectionScope": "NamespaceOnly"}
    world = World(rules=(QUICK,))
    world.commit(
        *members("c1", "c2"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("spaces", selectors=[only]),
        within("web", "app"),
    )
    world.settle()
    broken = to_yaml(within("web", new)).replace("strategy:", "stratgy:")
    untouched(world, lambda: world.write({"placements/web/app.yaml": None, "placements/web/app2.yaml": broken}))
    assert PlacementKey("web", "app") in world.state().placements


MISSPELT = cluster("prod").replace("spec:", "spec:\n  taint: []", 1)
MEMBERS = {
    "a misspelt field": ("clusters/prod.yaml", MISSPELT),
    "a misspelt field in the same file": ("clusters/c1.yaml", MISSPELT),
    "the name of another member": ("clusters/c1.yaml", MISSPELT.replace("prod", "c2")),
    "no YAML": ("clusters/prod.yaml", "kind: [\n"),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_a_cluster_renamed_with_an_error_stays_a_member(case: str) -> None:
    world, (path, text) = settled(), MEMBERS[case]
    with world.nothing_deleted():
        world.write({"clusters/c1.yaml": None, path: text})
        world.settle()
        world.restart()
        world.settle()
    assert set(world.state().clusters) == {"c1", "c2", "c3", "c4"} and "c1" in placed(world)
    world.write({path: None})
    world.settle()
    assert set(world.state().clusters) == {"c2", "c3", "c4"} and "c1" not in placed(world)


def said_of(world: World, name: str) -> str:
    """Why a placement goes on, as its status says."""
    record = world.state().placements[PlacementKey("", name)]
    return next((one.message for one in record.conditions if one.type == "ClusterResourcePlacementKept"), "")


SECOND = {
    "of a placement": to_yaml(placing("third", "web")).replace("strategy:", "stratgy:"),
    "of a whole file": "kind: [\n",
}


@pytest.mark.parametrize("first", SECOND)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("corrected", [NEW, "placements/third.yaml"])
def test_a_placement_that_goes_on_because_of_two_files_names_both(first: str, second: str, corrected: str) -> None:
    third = "placements/third.yaml"
    world = world_with_web()
    with world.nothing_deleted():
        world.write({WEB: None, NEW: SECOND[first]})
        world.settle()
        assert said_of(world, "web") == StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=NEW)
        world.write({third: SECOND[second]})
        for _ in range(2):
            world.restart()
            world.settle()
            both = StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=f"{NEW} and {third}")
            assert said_of(world, "web") == both
            assert {f.path for f in world.state().faults if GOES_ON in f.message} == {NEW, third}
        world.write({corrected: None})
        world.settle()
        (left,) = {NEW, third} - {corrected}
        assert said_of(world, "web") == StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=left)
    world.write({left: to_yaml(placing("shop", "web"))})
    world.settle()
    assert (names(world), said_of(world, "shop")) == ({"shop"}, "")


def test_a_placement_with_an_error_of_its_own_says_that_its_last_version_is_in_force() -> None:
    world = world_with_web()
    world.write({WEB: to_yaml(placing("web", "web", "other")).replace("strategy:", "stratgy:")})
    world.settle()
    assert said_of(world, "web") == StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=WEB)
    world.write({WEB: to_yaml(placing("web", "web"))})
    world.settle()
    assert said_of(world, "web") == ""


def test_a_rename_that_waits_says_where_to_read_why() -> None:
    world = world_with_web()
    world.commit(builders.placement_budget("web", minAvailable=1))
    world.commit(placing("shop", "web"), remove=[WEB])
    world.settle()
    waits = StatusText.GOES_UNDER_NAME_UNTIL_CALLED(late="shop", where=f" at {NEW}:1")
    assert said_of(world, "web") == waits


ABSENT = "is not in the repo"


@pytest.mark.parametrize("case", RENAMED)
def test_a_run_and_an_eviction_of_a_new_name_wait_until_its_error_is_corrected(case: str) -> None:
    world = world_with_web(one_stage())
    world.write({WEB: None, NEW: RENAMED[case]})
    name = "Shop_1" if "that none may have" in case else "shop"
    asked = builders.staged_run("go", placement=name, strategy="all"), builders.eviction("out", name, "c1")
    untouched(world, lambda: world.commit(*asked))
    state = world.state()
    assert not state.runs and not state.evictions
    waits = f"waits until the errors in {NEW} are corrected, as ClusterResourcePlacement {name} may be there"
    assert [f.object for f in state.faults if f.message == waits] == [
        "ClusterResourcePlacementEviction/out",
        "ClusterStagedUpdateRun/go",
    ]
    assert not [f for f in state.faults if ABSENT in f.message]
    world.write({NEW: to_yaml(placing("shop", "web"))})
    world.settle()
    state = world.state()
    if name == "shop":
        assert [c.type for c in state.evictions["out"].conditions] == ["Valid", "Executed"]
        said = [c.message for run in state.runs.values() for c in run.status.conditions]
        assert said and not any("not found" in one for one in said)


@pytest.mark.parametrize("what", ["pin", "budget", "eviction"])
def test_what_still_names_a_placement_that_waits_for_its_new_name_is_not_said_to_name_none(what: str) -> None:
    world = world_with_web()
    snapshot = world.state().placements[PlacementKey("", "web")].resource_snapshots[0]
    naming = {
        "pin": [builders.pin("web", 0, snapshot.hash)],
        "budget": [builders.placement_budget("web", minAvailable=1)],
        "eviction": [builders.placement_budget("web", minAvailable=3), builders.eviction("out", "web", "c1")],
    }[what]
    world.commit(*naming)
    world.settle()
    untouched(world, lambda: world.commit(placing("shop", "web"), remove=[WEB]))
    (said,) = [fault for fault in world.state().faults if fault.severity == "error"]
    assert f"goes on as web for now, because {'pins' if what == 'pin' else 'budgets'}/web.yaml:1 names" in said.message
    assert not [fault for fault in world.state().faults if ABSENT in fault.message]


@pytest.mark.parametrize("spoilt", ["a field is misspelt", "no YAML, and the old name nowhere"])
def test_a_rename_that_waits_goes_on_waiting_when_its_new_file_gets_an_error(spoilt: str) -> None:
    world = world_with_web(builders.placement_budget("web", minAvailable=1))
    untouched(world, lambda: world.commit(placing("shop", "web"), remove=[WEB]))
    untouched(world, lambda: world.write({NEW: RENAMED[spoilt]}))
    world.restart()
    untouched(world, lambda: world.write({"docs/unrelated.md": "text"}))
    assert [str(key) for key, one in world.state().placements.items() if one.placement.deleting is None] == ["web"]
    assert len([f for f in world.state().faults if "goes on as web for now" in f.message]) == 1
    budget = builders.placement_budget("shop", minAvailable=1)
    untouched(world, lambda: world.write({NEW: ALONE, **builders.repo_files_for(budget), "budgets/web.yaml": None}))
    assert (names(world), owners(world), world.state().faults) == ({"shop"}, {"shop"}, ())
