"""What the state branch lost is rebuilt before anything is decided: tables of what was read, over whole states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet import snapshots
from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType, RolloutStrategy
from gitfleet.model.desired import Desired
from gitfleet.model.state import Damage, FleetState, PlacementRecord
from gitfleet.reconcile.rebuilding import rebuild
from gitfleet.rollout import evict_no_more, staged
from tests.reconcile.test_evictions import of as eviction
from tests.reconcile.test_runs import asked, known, requested
from tests.removals.fleets import SHOP, WEB, config_map, fleet, placed, with_web
from tests.rollout.builders import NOW

A, B = config_map("a"), config_map("b")
READ = fleet(placed(WEB, ("c1", "c2"), A, B), placed(SHOP, ("c1",), config_map("s", "shop")))
BRANCH = "bindings/web/all.yaml"
GHOST = PlacementKey("", "ghost")


def wanted(*, without: tuple[object, ...] = (), **more: Any) -> Desired:
    """The commit that the fleet follows, without some placements and clusters."""
    clusters = {n: replace(c, generation=7, deleting=NOW) for n, c in READ.clusters.items() if n not in without}
    placements = {k: replace(r.placement, generation=9) for k, r in READ.placements.items() if k not in without}
    holds = more.pop("holds_removals", False)
    return Desired(commit="c", holds_removals=holds, objects={"clusters": clusters, "placements": placements, **more})


def notice(path: str, of: str, message: str) -> Fault:
    """What is said of the state branch."""
    return Fault(path, 1, f"StateFile/{of}", "", message, Severity.WARNING)


def lost(*paths: str, **more: Any) -> Damage:
    """Files for which no version holds."""
    return Damage(files=dict.fromkeys(paths, "is empty"), **more)


def web(**changes: Any) -> PlacementRecord:
    """The placement web with something else."""
    return replace(READ.placements[WEB], **changes)


def unconfirmed(*which: str) -> dict[Any, InventoryEntry]:
    """What web has on a cluster, as nobody has confirmed it."""
    return {m.key: InventoryEntry(key=m.key, placement=WEB) for m in (A, B) if m.key.name in which}


def whole(state: FleetState) -> tuple[FleetState, Damage]:
    """A state with its damage, which states are not compared by."""
    return state, state.damage


def test_what_lost_nothing_is_the_same() -> None:
    assert rebuild(READ, wanted(), NOW) is READ
    assert rebuild(READ, wanted(holds_removals=True), NOW) is READ


@pytest.mark.parametrize("name", ["c1", "c2"])
def test_a_lost_cluster_counts_as_seen_just_now(name: str) -> None:
    read = replace(READ, clusters={n: c for n, c in READ.clusters.items() if n != name})
    found = rebuild(read, wanted(), NOW)
    again = found.clusters[name]
    assert list(found.clusters) == ["c1", "c2"]
    assert whole(found) == whole(replace(READ, clusters=found.clusters, damage=Damage(rebuilt=frozenset({name}))))
    assert (again.name, again.labels, again.generation, again.deleting) == (name, {}, 1, None)
    assert again.status.agent is not None and again.status.agent.last_received_heartbeat == NOW
    conditions = (*again.status.conditions, *again.status.agent.conditions)
    assert [(c.type, c.status, c.last_transition_time) for c in conditions] == [
        (type_, Status.TRUE, NOW) for type_ in ("ReadyToJoin", "Joined", "Joined", "Healthy")
    ]
    assert not again.status.properties, "what was measured is not known any more"


def test_a_cluster_that_only_a_binding_names_is_rebuilt_too() -> None:
    read = replace(READ, clusters={}, inventory={})
    found = rebuild(read, wanted(), NOW)
    assert list(found.clusters) == ["c1", "c2"]
    in_orphans = replace(read, placements={}, damage=Damage(orphans=READ.placements))
    assert list(rebuild(in_orphans, wanted(), NOW).clusters) == ["c1", "c2"]
    nobody = replace(read, placements={})
    assert rebuild(nobody, wanted(), NOW) is nobody


def test_what_belongs_to_nobody_is_released() -> None:
    """A cluster and a placement that neither the branch nor the commit knows; all waits for an unreadable file."""
    owned = {A.key: READ.inventory["c2"][A.key], B.key: replace(READ.inventory["c2"][B.key], placement=GHOST)}
    read = replace(READ, inventory={**READ.inventory, "c2": owned, "c9": READ.inventory["c1"]})
    found = rebuild(read, wanted(), NOW)
    notices = (
        notice(
            "inventory/c2",
            "c2/ghost",
            "1 object stays on cluster c2 and is gitfleet's no longer: ClusterResourcePlacement ghost does not exist",
        ),
        notice(
            "inventory/c9",
            "c9",
            "3 objects stay on cluster c9 and are gitfleet's no longer: the fleet has no such cluster",
        ),
    )
    inventory = {"c1": READ.inventory["c1"], "c2": {A.key: owned[A.key]}}
    damage = Damage(notices=notices, rebuilt=frozenset({"c2", "c9"}))
    assert whole(found) == whole(replace(READ, inventory=inventory, damage=damage))
    assert rebuild(read, wanted(holds_removals=True), NOW) is read
    first = replace(read, inventory={"c0": owned, "c1": {**READ.inventory["c1"], B.key: owned[B.key]}})
    found = rebuild(first, wanted(), NOW)
    assert [one.message[:9] for one in found.damage.notices] == ["2 objects", "1 object "]
    assert {name: list(kept) for name, kept in found.inventory.items() if name != "c2"} == {
        "c1": [key for key in READ.inventory["c1"] if key != B.key]
    }


def test_a_lost_placement_is_as_the_commit_has_it() -> None:
    """With the snapshots and bindings that are left, and the generation that its policy names."""
    policy = replace(web().policy_snapshots[0], placement_generation=4)
    parts = web(placement=replace(web().placement, labels={}), policy_snapshots=(policy,))
    left = {SHOP: READ.placements[SHOP]}
    read = replace(READ, placements=left, damage=Damage(orphans={WEB: parts}))
    found = rebuild(read, wanted(), NOW)
    again = replace(parts, placement=replace(web().placement, generation=4))
    assert list(found.placements) == [SHOP, WEB]
    damage = Damage(orphans={WEB: parts}, rebuilt=frozenset({WEB}))
    assert whole(found) == whole(replace(READ, placements={**left, WEB: again}, damage=damage))


def test_of_a_placement_that_only_the_inventory_knows_bindings_are_rebuilt() -> None:
    read = replace(READ, placements={SHOP: READ.placements[SHOP]})
    found = rebuild(read, wanted(), NOW)
    bound = Binding(
        placement=WEB, cluster="c1", state=BindingState.BOUND, policy_snapshot="web-0",
        resource_snapshot="web-0-snapshot", apply_strategy=web().placement.strategy.apply_strategy,
    )  # fmt: skip
    bindings = (bound, replace(bound, cluster="c2"))
    record = PlacementRecord(placement=replace(web().placement, generation=1), bindings=bindings)
    assert whole(found) == whole(
        replace(READ, placements={**read.placements, WEB: record}, damage=Damage(rebuilt=frozenset({WEB})))
    )


@pytest.mark.parametrize(
    ("holds", "without", "orphans", "unfinished"),
    [
        (False, (WEB,), True, False),
        (True, (WEB,), False, True),
        (True, (), False, False),
    ],
)
def test_what_an_unknown_placement_left_waits_until_every_file_can_be_read(
    holds: bool, without: tuple[object, ...], orphans: bool, unfinished: bool
) -> None:
    read = replace(READ, placements={SHOP: READ.placements[SHOP]}, damage=Damage(orphans={WEB: web()}))
    found = rebuild(read, wanted(without=without, holds_removals=holds), NOW)
    assert (bool(found.damage.orphans), found.damage.unfinished) == (orphans, unfinished)
    assert (WEB in found.placements) is (not without)
    assert (WEB in {e.placement for e in found.inventory["c1"].values()}) is (holds or not without)


def test_damage_that_is_nothing_to_rebuild_is_still_said() -> None:
    read = replace(READ, damage=lost("fleet.yaml", commit="d" * 40))
    found = rebuild(read, wanted(), NOW)
    (said,) = found.damage.notices
    assert (said.object, said.severity) == ("StateFile/fleet.yaml", Severity.WARNING)
    assert whole(found) == whole(replace(READ, damage=replace(read.damage, notices=(said,))))


@pytest.mark.parametrize(
    ("path", "has", "index"),
    [
        ("snapshots/policies/web/3.yaml", True, 3),
        ("snapshots/policies/web/0.yaml", True, None),
        ("snapshots/policies/web/0.yaml", False, 0),
        ("snapshots/policies/shop/3.yaml", True, None),
        ("snapshots/policies/web/1234567890.yaml", True, None),
        ("snapshots/resources/web/3/snapshot.yaml", True, None),
    ],
)
def test_a_lost_policy_is_restored_under_its_index(path: str, has: bool, index: int | None) -> None:
    of = web() if has else web(policy_snapshots=(), bindings=tuple(b for b in web().bindings))
    found = rebuild(replace(with_web(READ, of), damage=lost(path)), wanted(), NOW).placements[WEB]
    if index is None:
        assert found is of
    else:
        policy = snapshots.restored_policy(of.placement, index)
        policies = (*of.policy_snapshots, policy)
        assert found == replace(of, policy_snapshots=policies, decisions=(), schedule_key="")
        assert policy.index == index


@pytest.mark.parametrize(
    ("named", "index"),
    [(("web-2", "web-5"), 5), (("web-0", "web-0"), None), (("web-x", "web-"), None), (("web-\u0665", "api-7"), None)],
)
def test_bindings_name_the_policy_that_was_lost(named: tuple[str, str], index: int | None) -> None:
    bindings = tuple(replace(b, policy_snapshot=name) for b, name in zip(web().bindings, named, strict=True))
    found = rebuild(with_web(READ, web(bindings=bindings)), wanted(), NOW)
    latest = found.placements[WEB].latest_policy
    assert latest is not None and latest.index == (index or 0)
    assert found.damage.rebuilt == (frozenset() if index is None else {WEB})


LOST_C2 = replace(READ, inventory={"c1": READ.inventory["c1"]})


@pytest.mark.parametrize(
    ("read", "owned", "unsure"),
    [
        (replace(LOST_C2, damage=lost("inventory/c2/all.yaml")), {"c2": unconfirmed("a", "b")}, {"c2"}),
        (LOST_C2, {"c2": unconfirmed("a", "b")}, {"c2"}),
        (replace(READ, damage=lost("inventory/c2/all.yaml")), {}, {"c2"}),
        (
            replace(READ, inventory={**READ.inventory, "c2": {B.key: READ.inventory["c2"][B.key]}},
                    damage=lost("inventory/c2/0.yaml")),
            {"c2": {**unconfirmed("a"), B.key: READ.inventory["c2"][B.key]}},
            {"c2"},
        ),
        (
            with_web(LOST_C2, web(bindings=tuple(replace(b, applied_snapshot=None) for b in web().bindings))),
            {"c2": None},
            set(),
        ),
        (
            replace(with_web(LOST_C2, web(bindings=tuple(replace(b, applied_snapshot=None) for b in web().bindings))),
                    damage=lost("inventory/c2/all.yaml")),
            {"c2": unconfirmed("a", "b")},
            {"c2"},
        ),
    ],
)  # fmt: skip
def test_a_lost_inventory_has_what_was_applied_to_be_confirmed(
    read: FleetState, owned: dict[str, Any], unsure: set[str]
) -> None:
    found = rebuild(read, wanted(), NOW)
    expected = {name: known for name, known in {**READ.inventory, **owned}.items() if known is not None}
    assert found.inventory == expected
    assert list(found.inventory) == sorted(expected)
    for name in owned.keys() & found.inventory.keys():
        assert list(found.inventory[name]) == sorted(expected[name], key=lambda key: key.order)
    assert found.damage.unsure == unsure
    assert found.placements == read.placements


def test_what_another_placement_has_is_not_taken_and_what_is_only_compared_is_not_owned() -> None:
    other = {A.key: replace(READ.inventory["c2"][A.key], placement=SHOP)}
    shop = replace(READ.placements[SHOP], bindings=placed(SHOP, ("c1", "c2")).bindings)
    read = replace(READ, placements={**READ.placements, SHOP: shop}, inventory={**READ.inventory, "c2": other})
    assert rebuild(read, wanted(), NOW).inventory["c2"] == {**other, **unconfirmed("b")}
    only = ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)
    reports = tuple(replace(b, apply_strategy=only) for b in web().bindings)
    placement = replace(web().placement, strategy=RolloutStrategy(apply_strategy=only))
    read = with_web(LOST_C2, web(placement=placement, bindings=reports))
    found = rebuild(replace(read, damage=lost("inventory/c2/all.yaml")), wanted(), NOW)
    assert found.inventory == {"c1": READ.inventory["c1"]}


def test_of_two_placements_with_one_object_the_first_has_it_and_one_that_only_compares_stops_no_other() -> None:
    """In the order of their names: shop, that reports, and web, then another one that selects what web has."""
    only = ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)
    zoo = PlacementKey("", "zoo")
    shop, late = placed(SHOP, ("c2",), config_map("s", "shop")), placed(zoo, ("c2",), A, config_map("z", "zoo"))
    reports = replace(shop, bindings=tuple(replace(b, apply_strategy=only) for b in shop.bindings))
    read = replace(fleet(reports, web(), late), inventory={})
    desired = replace(wanted(), objects={**wanted().objects, "placements": {}})
    found = rebuild(replace(read, damage=lost("inventory/c2/all.yaml")), desired, NOW).inventory["c2"]
    assert [(key.name, entry.placement) for key, entry in found.items()] == [("a", WEB), ("b", WEB), ("z", zoo)]


def test_what_cannot_be_rendered_is_not_owned() -> None:
    no_body: Any = None
    broken = web(resource_snapshots=(replace(web().resource_snapshots[0], manifests=(no_body,)),))
    read = replace(with_web(LOST_C2, broken), damage=lost("inventory/c2/all.yaml"))
    assert rebuild(read, wanted(), NOW).inventory == {"c1": READ.inventory["c1"]}


def test_lost_bindings_are_made_anew_where_something_is_owned() -> None:
    """Between those that are left, in the order of clusters; scheduled again."""
    left = web(bindings=tuple(b for b in web().bindings if b.cluster == "c2"))
    found = rebuild(with_web(READ, left), wanted(), NOW)
    (again, kept) = found.placements[WEB].bindings
    assert kept is left.bindings[0]
    assert again == Binding(
        placement=WEB,
        cluster="c1",
        state=BindingState.BOUND,
        policy_snapshot="web-0",
        resource_snapshot="web-0-snapshot",
        apply_strategy=left.placement.strategy.apply_strategy,
    )
    record = replace(left, bindings=(again, kept), schedule_key="")
    assert whole(found) == whole(replace(with_web(READ, record), damage=Damage(rebuilt=frozenset({WEB}))))


def test_evictions_whose_end_is_lost_are_not_decided_again() -> None:
    a, b, c = eviction("a"), eviction("b"), eviction("c")
    damage = lost("evictions/a.yaml", "evictions/gone.yaml", "evictions/x/c.yaml")
    read = replace(READ, evictions={"b": b}, damage=damage)
    found = rebuild(read, wanted(evictions={one.name: one for one in (c, b, a)}), NOW).evictions
    assert list(found.items()) == [("a", evict_no_more(a, NOW)), ("b", b)]
    none = replace(READ, evictions={"b": b})
    assert rebuild(none, wanted(evictions={"a": a}), NOW) is none


@pytest.mark.parametrize(
    ("paths", "requests", "runs"),
    [
        (["runs/a.yaml"], [], ["a"]),
        (["runs/shop/b.yaml"], [], ["shop/b"]),
        (["runs/x/y/a.yaml", "runs/gone.yaml", "runs/c.yaml"], [], []),
        ([], [requested("r", "a")], ["a"]),
        ([], [requested("r", "b", "shop"), requested("s", "c")], ["shop/b"]),
        ([], [], []),
    ],
)
def test_runs_that_began_and_are_lost_are_refused(paths: list[str], requests: list[Any], runs: list[str]) -> None:
    every = {one.key: one for one in (asked("a"), asked("b", "shop"), asked("c"))}
    c = known("c")
    approvals = {one.key: one for one in requests}
    read = replace(READ, runs={c.key: c}, approvals=approvals, damage=lost(*paths))
    rebuilt = rebuild(read, wanted(runs=every), NOW)
    found = rebuilt.runs
    assert rebuilt.damage.rebuilt == {one for one in every if str(one) in runs}
    expected = {key: staged.lost_run(run, NOW) for key, run in every.items() if str(key) in runs}
    assert list(found.items()) == sorted({**expected, c.key: c}.items(), key=lambda item: item[0])
