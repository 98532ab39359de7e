"""A placement that only has another name keeps what it has, and nothing moves on any cluster (decision record 0021)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.model.events import EventType
from gitfleet.views import last_run_failures
from tests import builders
from tests.scenarios.staged_world import (
    EXTERNAL,
    QUICK,
    SUCCEEDED,
    members,
    message,
    never,
    one_stage,
    rolled_out,
    run,
    said,
    staged,
)
from tests.scenarios.test_contained_failures import poisoned
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_pins import EVERY, pinned, released
from tests.scenarios.test_quarantine import digest_of, failed_world
from tests.scenarios.world import World

ROLLING = builders.rolling_update(maxUnavailable=1)
SHOP = PlacementKey("", "shop")
RENAMED = (
    "placements/shop.yaml:1: ClusterResourcePlacement/shop: metadata.name: is ClusterResourcePlacement web under a "
)
RENAMED += "new name, and goes on as web for now, because "
Pair = tuple[dict[str, Any], dict[str, Any]]
"""A file that names `web`, and the same that names `shop`."""


def shop(strategy: dict[str, Any] = ROLLING, **parts: Any) -> dict[str, Any]:
    """What `web` selects, under another name."""
    return builders.placement("shop", selectors=[builders.select_namespace("web")], strategy=strategy, **parts)


def rename(world: World, *also: dict[str, Any], strategy: dict[str, Any] = ROLLING, **parts: Any) -> None:
    world.commit(shop(strategy, **parts), *also, remove=["placements/web.yaml"])


def owners(world: World) -> set[str]:
    """The placements that own anything."""
    return {str(entry.placement) for owned in world.state().inventory.values() for entry in owned.values()}


def names(world: World) -> set[str]:
    """The placements that there are."""
    return {str(key) for key in world.state().placements}


def untouched(world: World, change: Callable[[], object]) -> None:
    """A change and all that follows it do nothing on any cluster, in this process and in the next."""
    start = len(world.happenings)
    change()
    world.settle()
    world.restart()
    world.settle()
    assert [f"{h.what} {h.key} on {h.cluster}" for h in world.happenings[start:]] == []


def picked(world: World) -> set[str]:
    return {name for name, image in rolled_out(world).items() if image is not None}


def test_a_renamed_placement_keeps_its_clusters_and_snapshots_and_says_so_once() -> None:
    world = released("web:2")
    before = world.state().placements[PlacementKey("", "web")]
    untouched(world, lambda: rename(world))
    assert (names(world), owners(world)) == ({"shop"}, {"shop"})
    after = world.state().placements[SHOP]
    assert [s.name for s in after.resource_snapshots] == ["shop-0-snapshot", "shop-1-snapshot"]
    assert [s.hash for s in after.resource_snapshots] == [s.hash for s in before.resource_snapshots]
    assert [(b.cluster, b.resource_snapshot, b.applied_snapshot, b.policy_snapshot) for b in after.bindings] == [
        (name, "shop-1-snapshot", "shop-1-snapshot", "shop-0") for name in EVERY
    ]
    told = [event for event in world.events if event.type is EventType.PLACEMENT and "state" in event.fields]
    assert (told[-1].placement, dict(told[-1].fields)) == ("shop", {"state": "renamed", "former": "web"})
    assert world.state().faults == ()
    untouched(world, lambda: world.commit(builders.placement("web", strategy=ROLLING), remove=[shop()]))
    assert (names(world), owners(world)) == ({"web"}, {"web"})


def test_older_content_comes_back_under_the_new_name() -> None:
    world = released("web:2")
    rename(world)
    world.settle()
    digest = world.state().placements[SHOP].resource_snapshots[0].hash
    world.commit(builders.pin("shop", 0, digest))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")


def test_a_rename_with_an_edit_goes_out_within_the_budget() -> None:
    world = World(rules=(never(image="web:9"),))
    world.commit(
        *members(*EVERY),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", strategy=ROLLING),
    )
    world.settle()
    with world.nothing_deleted():
        rename(world, builders.deployment("web", "web", image="web:9"))
        world.settle()
    assert sorted(rolled_out(world).values(), key=str) == ["web:1", "web:1", "web:9"]
    assert (names(world), owners(world)) == ({"shop"}, {"shop"})


def test_a_renamed_placement_stays_on_the_clusters_that_it_chose() -> None:
    world = World()
    pick = builders.pick_n(2)
    world.commit(
        *members("c3", "c4"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", policy=pick, strategy=ROLLING),
    )
    world.settle()
    world.commit(*members("c1", "c2", "c5"))
    world.settle()
    untouched(world, lambda: rename(world, policy=pick))
    assert picked(world) == {"c3", "c4"}


def test_a_renamed_placement_stays_on_a_cluster_that_takes_nothing_new() -> None:
    world = released("web:2")
    cordoned = builders.member_cluster("c2")
    cordoned["spec"]["taints"] = [{"key": "drain", "value": "", "effect": "NoSchedule"}]
    world.commit(cordoned)
    world.settle()
    untouched(world, lambda: rename(world))
    assert picked(world) == set(EVERY)


def test_a_renamed_external_placement_goes_on_with_the_runs_of_its_new_name() -> None:
    world = staged(World(rules=(QUICK,)), *members(*EVERY))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    untouched(world, lambda: rename(world, strategy=EXTERNAL))
    assert (names(world), owners(world)) == ({"shop"}, {"shop"}) and not world.state().holds
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.commit(builders.staged_run("on", placement="shop", strategy="all"))
    world.settle()
    assert (said(world, "on"), rolled_out(world)) == (SUCCEEDED, dict.fromkeys(EVERY, "web:2"))


def test_a_rename_that_loses_external_is_held_as_the_loss_alone_is() -> None:
    world = staged(World(rules=(QUICK,)), *members(*EVERY))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    world.commit(builders.config_map("web", "unreviewed", {"k": "v"}))
    world.settle()
    untouched(world, lambda: rename(world, builders.deployment("web", "web", image="web:9")))
    hold = only_hold(world)
    assert [reason.rule for reason in hold.reasons] == [HoldRule.NOT_EXTERNAL]
    world.write(answer(hold))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:9")


def test_content_that_a_run_took_back_stays_quarantined_under_the_new_name() -> None:
    world, one = failed_world()
    world.commit(shop(EXTERNAL), remove=["placements/web.yaml"])
    world.settle()
    (kept,) = world.state().quarantines.values()
    assert (kept.content, kept.reason, kept.name) == ((SHOP, one.digest), one.reason, one.name.replace("web", "shop"))
    again = run("again")
    again["spec"] |= {"placementName": "shop", "resourceSnapshotIndex": "1"}
    world.commit(again)
    world.settle()
    assert said(world, "again") == ["Initialized=False UpdateRunInitializedFailed"]
    assert f"snapshot 1 is quarantined by {kept.name} (run new: " in message(world, "again", "Initialized")


def test_a_failed_run_of_the_name_that_is_gone_fails_nothing_any_more() -> None:
    """A run that was refused is still said: its placement may be what is missing."""

    def failures() -> dict[str, str]:
        state = world.state()
        return {str(k): why for k, why in last_run_failures(state.runs.values(), state.placements).items()}

    world, _ = failed_world()
    world.settle()
    assert list(failures()) == ["web"]
    world.commit(shop(EXTERNAL), run("lost"), remove=["placements/web.yaml"])
    world.settle()
    assert failures() == {"web": f"web: its last run lost was refused: {message(world, 'lost', 'Initialized')}"}
    world.commit(remove=["runs/lost.yaml"])
    world.settle()
    assert failures() == {}


def test_content_that_was_let_out_again_is_let_out_under_the_new_name() -> None:
    world, one = failed_world()
    for cluster in rolled_out(world):
        world.fleet.cluster(cluster).behave([QUICK])
    lift = builders.quarantine("bad", "web", one.digest, lifted=True)
    world.commit(lift)
    world.settle()
    untouched(world, lambda: rename(world, strategy=EXTERNAL))
    assert names(world) == {"web"} and "quarantines/bad.yaml:1 names web" in str(world.state().faults)
    again = run("again")
    again["spec"] |= {"placementName": "shop", "resourceSnapshotIndex": "1"}
    world.commit({**lift, "spec": {**lift["spec"], "placement": "shop"}}, again)
    world.settle()
    assert [(q.placement, q.lifted) for q in world.state().quarantines.values()] == [(SHOP, True)]
    assert (said(world, "again"), set(rolled_out(world).values())) == (SUCCEEDED, {"web:2"})


TOLERATES = {"placementType": "PickAll", "tolerations": [{"key": "drain", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("had", "has", "why"),
    [
        (
            {"policy": builders.pick_fixed("c1")},
            {},
            "spec.policy cannot be removed once it is set, and it was PickFixed",
        ),
        (
            {"policy": {"placementType": "PickAll"}},
            {"policy": builders.pick_fixed("c1")},
            "spec.policy.placementType cannot change from PickAll to PickFixed",
        ),
        (
            {"policy": TOLERATES},
            {"policy": {"placementType": "PickAll"}},
            "spec.policy.tolerations may only gain items, and one is changed or gone",
        ),
    ],
)
def test_a_rename_changes_nothing_that_an_edit_may_not_change(
    had: dict[str, Any], has: dict[str, Any], why: str
) -> None:
    world = World()
    content = builders.namespace("web"), builders.deployment("web", "web")
    world.commit(*members(*EVERY), *content, builders.placement("web", strategy=ROLLING, **had))
    world.settle()
    where = picked(world)
    untouched(world, lambda: rename(world, **has))
    (fault,) = map(str, world.state().faults)
    assert fault.startswith(f"{RENAMED}{why}; put it back, or remove the object in one commit")
    assert (names(world), picked(world)) == ({"web"}, where)
    untouched(world, lambda: world.commit(shop(**had)))
    assert (names(world), owners(world), world.state().faults) == ({"shop"}, {"shop"}, ())


def test_a_rename_whose_quarantine_cannot_be_written_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    world, one = failed_world()
    poison = poisoned(monkeypatch, "gitfleet.state.file_kinds", "write", lambda value: isinstance(value, Quarantine))
    poison.armed = True
    untouched(world, lambda: rename(world, strategy=EXTERNAL))
    assert (names(world), world.state().quarantines) == ({"web"}, {one.name: one})
    poison.armed = False
    untouched(world, lambda: world.advance(seconds=30))
    (kept,) = world.state().quarantines.values()
    assert (names(world), kept.content) == ({"shop"}, (SHOP, one.digest))


def a_pin(world: World) -> Pair:
    pin = pinned(world, 0)
    return pin, {**pin, "spec": {**pin["spec"], "placement": "shop"}}


def a_quarantine(world: World) -> Pair:
    bad = digest_of(world, 1)
    return builders.quarantine("bad", "web", bad), builders.quarantine("bad", "shop", bad)


def a_lift(world: World) -> Pair:
    bad = digest_of(world, 1)
    return builders.quarantine("bad", "web", bad, lifted=True), builders.quarantine("bad", "shop", bad, lifted=True)


def a_freeze(world: World) -> Pair:
    until = (world.clock.now() + timedelta(days=300)).isoformat()
    old, new = (builders.freeze("sale", until, scope={"placements": [name]}) for name in ("web", "shop"))
    return old, new


def a_budget(world: World) -> Pair:
    return builders.placement_budget("web", minAvailable=1), builders.placement_budget("shop", minAvailable=1)


def override(name: str, **patch: Any) -> dict[str, Any]:
    rule = builders.override_rule(patch or {"op": "add", "path": "/metadata/annotations", "value": {"x": "y"}})
    return builders.override("only", "Namespace/web", rule, placement={"name": name})


def an_override(world: World) -> Pair:
    return override("web"), override("shop")


@pytest.mark.parametrize("naming", [a_pin, a_quarantine, a_lift, a_freeze, a_budget, an_override])
def test_a_placement_keeps_its_old_name_while_a_file_names_it(
    naming: Callable[[World], Pair],
) -> None:
    world = released("web:2")
    old, new = naming(world)
    world.commit(old)
    world.settle()
    untouched(world, lambda: rename(world, builders.deployment("web", "web", image="web:2", replicas=1)))
    where = builders.path_of(old)
    assert [str(f) for f in world.state().faults if "under a new name" in str(f)] == [
        f"{RENAMED}{where}:1 names web; name shop there, too{'' if naming is a_freeze else ', or remove it'}"
    ]
    assert (names(world), owners(world)) == ({"web"}, {"web"})
    untouched(world, lambda: world.commit(new))
    assert (names(world), owners(world)) == ({"shop"}, {"shop"})


def with_a_run_to_start() -> tuple[World, dict[str, Any]]:
    """An External placement that is rolled out, with a run that is only initialized, and that run."""
    world = staged(World(rules=(QUICK,)), *members(*EVERY))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    waiting = builders.staged_run("go2", placement="web", strategy="all")
    waiting["spec"]["state"] = "Initialize"
    world.commit(waiting, builders.deployment("web", "web", image="web:2"))
    world.settle()
    return world, waiting


def test_a_placement_keeps_its_old_name_until_its_run_is_over() -> None:
    world, waiting = with_a_run_to_start()
    untouched(world, lambda: rename(world, strategy=EXTERNAL))
    assert [str(f) for f in world.state().faults if "under a new name" in str(f)] == [
        f"{RENAMED}run go2 of it is not over; let it end, or remove its file"
    ]
    with world.nothing_deleted():
        world.commit({**waiting, "spec": {**waiting["spec"], "state": "Run"}})
        world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:2")
    assert (names(world), owners(world)) == ({"shop"}, {"shop"})


def test_a_run_and_an_eviction_of_the_new_name_wait_for_the_rename() -> None:
    world, waiting = with_a_run_to_start()
    early = builders.staged_run("next", placement="shop", strategy="all"), builders.eviction("out", "shop", "c1")
    untouched(world, lambda: rename(world, *early, strategy=EXTERNAL))
    assert ("next" in map(str, world.state().runs), dict(world.state().evictions)) == (False, {})
    said = "waits until ClusterResourcePlacement shop has its new name; the error there says what to change"
    assert [fault.path for fault in world.state().faults if fault.message == said] == [
        "evictions/out.yaml",
        "runs/next.yaml",
    ]
    world.commit(remove=[waiting])
    world.settle()
    assert (names(world), owners(world), said in str(world.state().faults)) == ({"shop"}, {"shop"}, False)
    assert world.state().evictions["out"].executed is not None


@pytest.mark.parametrize("selected", ["shop", "wbe"])
def test_a_rename_that_also_changes_the_selector_is_held_like_any_emptied_selection(selected: str) -> None:
    world = released("web:2")
    emptied = builders.placement("shop", selectors=[builders.select_namespace(selected)], strategy=ROLLING)
    untouched(world, lambda: world.commit(emptied, remove=["placements/web.yaml"]))
    assert HoldRule.EMPTY_SELECTION in {reason.rule for reason in only_hold(world).reasons}


@pytest.mark.parametrize("more", ["before", "after"])
def test_a_rename_with_a_selector_more_or_less_goes_out_within_the_budget(more: str) -> None:
    world = World(rules=(never(image="web:9"), QUICK))
    wide = [builders.select_namespace("web"), builders.select_namespace("other")]
    content = builders.namespace("web"), builders.deployment("web", "web"), builders.namespace("other")
    few: dict[str, Any] = {"selectors": wide[:1], "strategy": ROLLING}
    before, after = (few, {**few, "selectors": wide}) if more == "after" else ({**few, "selectors": wide}, few)
    world.commit(*members(*EVERY), *content, builders.placement("web", **before))
    world.settle()
    bad = builders.deployment("web", "web", image="web:9")
    world.commit(builders.placement("shop", **after), bad, remove=["placements/web.yaml"])
    world.settle()
    assert names(world) == {"shop"}
    assert sorted(str(image) for image in rolled_out(world).values()) == ["web:1", "web:1", "web:9"]


def test_a_placement_that_another_one_of_the_same_shape_replaces_is_removed() -> None:
    world = released("web:2")
    api = builders.namespace("api"), builders.deployment("api", "api"), builders.placement("api", strategy=ROLLING)
    world.commit(builders.fleet_config(massDelete={"maxPercent": 100}), *api, remove=["placements/web.yaml"])
    world.settle()
    assert (names(world), picked(world)) == ({"api"}, set())
    assert not any(event.fields.get("state") == "renamed" for event in world.events)


def test_an_override_that_cannot_be_applied_under_the_new_name_leaves_what_runs() -> None:
    world = released("web:2")
    bad = override("shop", op="remove", path="/metadata/labels/no")
    untouched(world, lambda: rename(world, bad))
    assert picked(world) == set(EVERY)


def test_a_process_that_dies_while_a_placement_is_renamed_leaves_it_to_the_next() -> None:
    seen: set[str] = set()
    while True:
        world = released("web:2")
        start = len(world.happenings)

        def die(label: str) -> None:
            if label not in seen:
                seen.add(label)
                raise SystemExit

        world.driver.checkpoint = die
        rename(world)
        try:
            world.reconcile()
        except SystemExit:
            world.restart()
            world.settle()
            assert [h.what for h in world.happenings[start:]] == []
            assert (names(world), owners(world)) == ({"shop"}, {"shop"})
            continue
        break
    assert len(seen) > 3


@pytest.mark.parametrize(("step", "name"), [("placement_file_object", "shop"), ("_drop_placement", "web")])
def test_a_rename_that_cannot_be_written_waits_for_the_pass_that_can(
    step: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither name loses anything, and what is beside it goes on; then the new content goes out within the budget."""
    world = World(rules=(never(image="web:9"),))
    beside = builders.namespace("api"), builders.deployment("api", "api"), builders.placement("api", strategy=ROLLING)
    world.commit(*members(*EVERY), builders.namespace("web"), builders.deployment("web", "web"), *beside)
    world.commit(builders.placement("web", strategy=ROLLING))
    world.settle()
    before, start = world.state(), len(world.happenings)
    poison = poisoned(monkeypatch, "gitfleet.state.placement_files", step, lambda *args: name in str(args))
    poison.armed = True
    new = builders.deployment("web", "web", image="web:9"), builders.deployment("api", "api", image="api:2")
    rename(world, *new)
    world.rest()
    commits, after = world.state_commits(), world.state()
    world.restart()
    world.rest()
    assert poison.raised and world.state_commits() == commits, "a failure that lasts is no news"
    web = PlacementKey("", "web")
    assert (names(world), owners(world)) == ({"api", "web"}, {"api", "web"})
    assert after.placements[web] == before.placements[web]
    assert {h.key.name for h in world.happenings[start:]} == {"api"}
    assert [event.fields["state"] for event in world.events if event.placement == "shop"] == []
    poison.armed = False
    with world.nothing_deleted():
        world.settle()
    assert sorted(rolled_out(world).values(), key=str) == ["web:1", "web:1", "web:9"]
    assert (names(world), owners(world)) == ({"api", "shop"}, {"api", "shop"})


def two_of(*pair: str) -> Iterable[dict[str, Any]]:
    return [builders.placement(name, selectors=[builders.select_namespace("web")], strategy=ROLLING) for name in pair]


def test_two_that_go_and_two_that_come_are_no_rename() -> None:
    world = World()
    world.commit(*members(*EVERY), builders.namespace("web"), builders.deployment("web", "web"), *two_of("a", "b"))
    world.settle()
    with world.nothing_deleted():
        world.commit(*two_of("c", "d"), remove=["placements/a.yaml", "placements/b.yaml"])
        world.settle()
    assert names(world) == {"c", "d"} and owners(world) <= {"c", "d"}
    assert not any(event.fields.get("state") == "renamed" for event in world.events)


def resource_placement(name: str) -> dict[str, Any]:
    selector = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}
    spec = {"resourceSelectors": [selector], "strategy": ROLLING}
    return builders.an_object(builders.PLACEMENT_API, "ResourcePlacement", name, namespace="web", spec=spec)


def test_a_resource_placement_is_renamed_within_its_namespace() -> None:
    world = World()
    only = {**builders.select_namespace("web"), "selectionScope": "NamespaceOnly"}
    world.commit(
        *members(*EVERY),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("spaces", selectors=[only]),
        resource_placement("app"),
    )
    world.settle()
    assert owners(world) == {"spaces", "web/app"}
    untouched(world, lambda: world.commit(resource_placement("app2"), remove=[resource_placement("app")]))
    assert names(world) == {"spaces", "web/app2"} and owners(world) == {"spaces", "web/app2"}


@pytest.mark.parametrize(("step", "name"), [("under_name", "shop"), ("_naming", "shop"), ("_renamed", "web")])
def test_a_rename_that_cannot_be_worked_out_removes_nothing_and_stops_nothing_beside_it(
    step: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is known which placement it is, it waits as it was accepted last."""
    world = released("web:2")
    poison = poisoned(monkeypatch, "gitfleet.reconcile.renamed", step, lambda *args: name in str(args))
    poison.armed = True
    beside = builders.namespace("api"), builders.deployment("api", "api"), builders.placement("api", strategy=ROLLING)
    with world.nothing_deleted():
        rename(world, builders.deployment("web", "web", image="web:3"), *beside)
        world.rest()
        unknown = step == "_renamed"
        assert poison.raised and names(world) == {"api", "shop" if unknown else "web"}
        assert set(rolled_out(world).values()) == {"web:3" if unknown else "web:2"}
        assert world.live("c1", "Deployment", "api", "api") is not None
        assert unknown or f"{RENAMED}unexpected ZeroDivisionError (report " in str(world.state().faults[0])
        poison.armed = False
        world.settle()
    assert (names(world), owners(world), set(rolled_out(world).values())) == (
        {"api", "shop"},
        {"api", "shop"},
        {"web:3"},
    )
