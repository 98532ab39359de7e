"""The removal rules, each at its limit, and the settings by which they are judged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import FleetConfig, RemovalApproval, RemovalSettings
from gitfleet.api.holds import ALLOW_EMPTY, HoldRule, Removal
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import REMOVALS, PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals import Orphan, OrphanKind
from gitfleet.removals.rules import CommitErrors, Counts, Repo, Settings, judged_once
from gitfleet.removals.texts import RemovalsText
from tests.removals.fleets import (
    CLUSTERS,
    SHOP,
    WEB,
    config_map,
    fleet,
    of_binding,
    of_cluster,
    of_object,
    placed,
    wanting,
)
from tests.works.builders import obj

A, B = config_map("a"), config_map("b")
ALWAYS, GUARDED, NEVER = "Always", "Guarded", "Never"
USUAL = RemovalSettings()


def settings(
    before: RemovalSettings = USUAL,
    now: RemovalSettings = USUAL,
    old: dict[str, str] | None = None,
    new: dict[str, str] | None = None,
) -> Settings:
    """The settings of the fleet, and the annotations of web and of the cluster c1, before a commit and in it; None:
    web is not there."""
    state = fleet(placed(WEB, CLUSTERS, A))
    web = replace(state.placements[WEB], placement=replace(state.placements[WEB].placement, annotations=old or {}))
    c1 = replace(state.clusters["c1"], annotations=old or {})
    state = replace(state, removal_settings=before, clusters={**state.clusters, "c1": c1})
    state = replace(state, placements={WEB: web} if old is not None else {})
    written = {WEB: replace(web.placement, annotations=new)} if new is not None else {}
    config = {"fleet": FleetConfig(removals=now)}
    return Settings(state, Desired(commit="d", objects={"placements": written, "fleetconfigs": config}))


def approval(text: str) -> RemovalSettings:
    """Settings that say when."""
    return RemovalSettings(approval=RemovalApproval(text))


@pytest.mark.parametrize(
    ("before", "now", "old", "new", "expected"),
    [
        (GUARDED, GUARDED, {}, {}, GUARDED),
        (NEVER, NEVER, {}, {}, NEVER),
        (NEVER, GUARDED, {}, {}, GUARDED),
        (GUARDED, NEVER, {}, {}, GUARDED),
        (GUARDED, ALWAYS, {}, {}, ALWAYS),
        (ALWAYS, GUARDED, {}, {}, ALWAYS),
        (GUARDED, GUARDED, {REMOVALS: NEVER}, {REMOVALS: NEVER}, NEVER),
        (GUARDED, GUARDED, {}, {REMOVALS: NEVER}, GUARDED),
        (GUARDED, GUARDED, {REMOVALS: NEVER}, {}, GUARDED),
        (NEVER, NEVER, {REMOVALS: ALWAYS}, {}, ALWAYS),
        (NEVER, NEVER, {}, {REMOVALS: ALWAYS}, ALWAYS),
        (ALWAYS, ALWAYS, {REMOVALS: NEVER}, {REMOVALS: NEVER}, ALWAYS),
        (GUARDED, GUARDED, {REMOVALS: NEVER}, None, NEVER),
        (GUARDED, GUARDED, {REMOVALS: "Perhaps"}, {REMOVALS: GUARDED}, GUARDED),
    ],
)
def test_the_stricter_of_the_settings_before_a_commit_and_in_it_holds(
    before: str, now: str, old: dict[str, str], new: dict[str, str] | None, expected: str
) -> None:
    found = settings(approval(before), approval(now), old, new)
    assert found.approval(WEB) == expected
    assert found.guards(WEB) is (expected != NEVER)
    fleets = found.approval(None)
    assert fleets is RemovalApproval(before).stricter(RemovalApproval(now))


def test_the_limits_of_both_commits_hold() -> None:
    before = RemovalSettings(max_percent=10, min_objects=50, min_clusters=3, protected_kinds=("A",))
    now = RemovalSettings(max_percent=40, min_objects=5, min_clusters=9, protected_kinds=("B", "A"))
    assert settings(before, now).fleet == RemovalSettings(
        max_percent=10, min_objects=5, min_clusters=3, protected_kinds=("A", "B")
    )


EMPTY = {ALLOW_EMPTY: "true"}


@pytest.mark.parametrize(
    ("removal", "old", "new", "allowed"),
    [
        (of_object(A), EMPTY, EMPTY, True),
        (of_object(A), EMPTY, None, True),
        (of_object(A), {}, EMPTY, False),
        (of_object(A), EMPTY, {}, False),
        (of_object(A), {ALLOW_EMPTY: "yes"}, None, False),
        (of_object(A, SHOP), EMPTY, EMPTY, False),
        (of_binding("c1"), EMPTY, EMPTY, True),
        (of_cluster("c1"), EMPTY, None, True),
        (of_cluster("c2"), EMPTY, None, False),
        (of_cluster("c9"), EMPTY, None, False),
    ],
)
def test_what_may_be_empty(removal: Removal, old: dict[str, str], new: dict[str, str] | None, allowed: bool) -> None:
    assert settings(old=old, new=new).may_be_empty(removal) is allowed


def owning(objects: int, clusters: int, key: PlacementKey = WEB) -> FleetState:
    """A placement with so many objects on each of so many clusters."""
    every = [config_map(f"o{number}", key.name) for number in range(objects)]
    return fleet(placed(key, [f"c{number}" for number in range(clusters)], *every))


def going(state: FleetState, kind: OrphanKind, objects: int, clusters: int, key: PlacementKey = WEB) -> list[Orphan]:
    """So many objects of it go from so many clusters."""
    names = sorted(state.inventory)[:clusters]
    return [Orphan(name, key, one, kind) for name in names for one in list(state.inventory[name])[:objects]]


@pytest.mark.parametrize(
    ("objects", "clusters", "dropped", "withdrawn", "most_objects", "most_clusters"),
    [
        (20, 5, 6, 1, False, False),
        (20, 5, 7, 2, True, True),
        (19, 4, 19, 4, False, False),
        (1, 10, 1, 3, False, False),
        (1, 10, 1, 4, False, True),
        (100, 1, 30, 1, False, False),
        (100, 1, 31, 1, True, False),
    ],
)
def test_how_much_of_a_placement_is_too_much(
    objects: int, clusters: int, dropped: int, withdrawn: int, most_objects: bool, most_clusters: bool
) -> None:
    """An object counts once, however many clusters have it."""
    state = owning(objects, clusters)
    first = next(iter(state.inventory["c0"]))
    removal = replace(of_object(A), object=first)
    for kind, said in ((OrphanKind.DROPPED, most_objects), (OrphanKind.WITHDRAWN, False)):
        counts = Counts(state, RemovalSettings(), going(state, kind, dropped, clusters))
        expected = RemovalsText.MOST_OF_PLACEMENT_OBJECTS(placement=WEB, part=dropped, whole=objects, percent=30)
        assert counts.too_much(removal) == (expected if said else "")
    for kind in (OrphanKind.WITHDRAWN, OrphanKind.LEAVING):
        counts = Counts(state, RemovalSettings(), going(state, kind, 1, withdrawn))
        expected = RemovalsText.MOST_OF_PLACEMENT_BINDINGS(placement=WEB, part=withdrawn, whole=clusters, percent=30)
        for one in (of_binding("c0"), of_cluster("c0")):
            assert counts.too_much(one) == (expected if most_clusters else "")


def test_how_much_of_the_fleet_is_too_much() -> None:
    """Of two placements, each of which has too few objects and clusters to be counted for itself."""
    first, second = owning(10, 3), owning(10, 3, SHOP)
    inventory = {name: {**owned, **second.inventory[name]} for name, owned in first.inventory.items()}
    state = replace(first, inventory=inventory, placements={**first.placements, **second.placements})
    for count, said in ((3, False), (4, True)):
        gone = [one for key in (WEB, SHOP) for one in going(owning(10, 1, key), OrphanKind.DROPPED, count, 1, key)]
        expected = RemovalsText.MOST_OF_FLEET_OBJECTS(part=2 * count, whole=20, percent=30)
        assert Counts(state, RemovalSettings(), gone).too_much(of_object(A)) == (expected if said else "")
    for kind, said in ((OrphanKind.WITHDRAWN, True), (OrphanKind.REQUESTED, False)):
        gone = [Orphan(name, key, A.key, kind) for key in (WEB, SHOP) for name in ("c0",)]
        expected = RemovalsText.MOST_OF_FLEET_BINDINGS(part=2, whole=6, percent=30)
        assert Counts(state, RemovalSettings(), gone).too_much(of_cluster("c0")) == (expected if said else "")


CLAIM = obj("v1", "PersistentVolumeClaim", "data", "web")
ROLE = obj("rbac.authorization.k8s.io/v1", "Role", "r", "web")


@pytest.mark.parametrize(
    ("removal", "wants", "fleet_settings", "annotations", "rules"),
    [
        (of_object(A), (B,), {}, {}, []),
        (of_object(A), (), {}, {}, ["Emptied"]),
        (of_object(A), (), {}, EMPTY, []),
        (of_object(A), None, {}, {}, ["Emptied"]),  # a cluster for which it cannot be rendered
        (of_binding("c1"), (B,), {}, {}, []),
        (of_binding("c1"), (), {}, {}, ["Emptied"]),
        (of_cluster("c1"), (B,), {}, {}, ["Emptied"]),
        (of_cluster("c1"), (B,), {}, EMPTY, []),
        (of_object(CLAIM), (B,), {}, {}, ["ProtectedKind"]),
        (of_object(ROLE), (B,), {"protected_kinds": ("Role.rbac.authorization.k8s.io",)}, {}, ["ProtectedKind"]),
        (of_object(ROLE), (B,), {"protected_kinds": ("Role.other.io",)}, {}, []),
        (of_object(CLAIM), (B,), {"protected_kinds": ()}, {}, ["ProtectedKind"]),
        (of_object(A), (B,), {"max_percent": 0, "min_objects": 1}, {}, ["MassRemoval"]),
        (of_object(A), (B,), {}, {REMOVALS: ALWAYS}, ["ApprovalRequired"]),
        (of_object(A), (), {}, {REMOVALS: NEVER}, []),
        (of_object(CLAIM), (), {"max_percent": 0, "min_objects": 1}, {REMOVALS: ALWAYS},
         ["Emptied", "MassRemoval", "ProtectedKind", "ApprovalRequired"]),
        (of_cluster("c1"), (B,), {}, {REMOVALS: NEVER}, ["Emptied"]),
    ],
)  # fmt: skip
def test_what_holds_a_removal_for_good(
    removal: Removal,
    wants: Collection[Manifest] | None,
    fleet_settings: dict[str, Any],
    annotations: dict[str, str],
    rules: list[str],
) -> None:
    limits = RemovalSettings(**fleet_settings)
    found = settings(now=limits, old=annotations, new=annotations)
    state = wanting(fleet(placed(WEB, CLUSTERS, A, B, CLAIM)), {WEB: {"c2": wants}})
    counts = Counts(state, found.fleet, [Orphan("c1", WEB, A.key, OrphanKind.DROPPED)])
    assert list(judged_once(removal, found, counts, state)) == rules


def fault(path: str, object_: str = "", severity: Severity = Severity.ERROR) -> Fault:
    """An error of a file."""
    return Fault(path, 1, object_, "", "is wrong", severity)


SPACE = obj("v1", "Namespace", "web")
OTHER_SPACE = obj("v1", "Namespace", "other")
EVERYWHERE = [A, ROLE, SPACE, OTHER_SPACE]


@pytest.mark.parametrize(
    ("one", "about"),
    [
        (fault("placements/web.yaml", "ClusterResourcePlacement/web"), EVERYWHERE),
        (fault("clusters/c1.yaml", "MemberCluster/c1"), EVERYWHERE),
        (fault("overrides/o.yaml"), EVERYWHERE),
        (fault("resources/a.yaml"), EVERYWHERE),
        (fault("resources/a.yaml", "ClusterRole/x"), EVERYWHERE),
        (fault("fleet.yaml", "FleetConfig/fleet"), EVERYWHERE),
        (fault("resources/a.yaml", "ConfigMap/web/x"), [A, ROLE, SPACE]),
        (fault("placements/p.yaml", "ResourcePlacement/other/p"), [OTHER_SPACE]),
        (fault("apps/web/placement.yaml", "ClusterResourcePlacement/web"), EVERYWHERE),
        (fault("apps/web/app.yaml"), EVERYWHERE),
        (fault("runs/web.yaml", "ClusterResourcePlacement/web"), EVERYWHERE),
        (fault("runs/go.yaml", "ClusterStagedUpdateRun/go"), []),
        (fault("apps/web/go.yaml", "ClusterStagedUpdateRun/go"), []),
        (fault("runs/go.yaml"), []),
        (fault("approvals/go.yaml", "ClusterApprovalRequest/go"), []),
        (fault("resources/a.yaml", "ConfigMap/web/x", Severity.WARNING), []),
        (fault("clusters/c1.yaml", "", Severity.WARNING), []),
    ],
)
def test_an_error_holds_what_may_be_wanted_still(one: Fault, about: list[Manifest]) -> None:
    errors = CommitErrors.of([one], FleetState())
    orphans = {m.key: Orphan("c1", WEB, m.key, OrphanKind.DROPPED) for m in EVERYWHERE}
    assert [m for m in EVERYWHERE if errors.about(orphans[m.key]) is not None] == about
    both = CommitErrors.of([one, fault("clusters/c9.yaml")], FleetState())
    assert all(both.about(orphan) is not None for orphan in orphans.values())


def test_an_error_of_the_namespace_of_a_placement_holds_what_the_placement_has() -> None:
    mine = PlacementKey("web", "p")
    errors = CommitErrors.of([fault("placements/p.yaml", "ResourcePlacement/web/p")], FleetState())
    assert errors.about(Orphan("c1", mine, config_map("a", "web").key, OrphanKind.DROPPED)) is not None
    assert errors.about(Orphan("c1", WEB, config_map("a", "other").key, OrphanKind.DROPPED)) is None


@pytest.mark.parametrize(
    ("removal", "still"),
    [
        (of_object(A), True),
        (of_object(obj("v2", "ConfigMap", "a", "web")), True),
        (of_object(B), False),
        (replace(of_object(B), blob="b10b"), True),
        (replace(of_object(B), blob="gone"), False),
        (of_binding("c1"), False),
        (of_cluster("c1"), False),
    ],
)
def test_what_is_still_in_the_repo(removal: Removal, still: bool) -> None:
    """The object in any version, or the very file that it was read from under whatever name."""
    assert Repo({A.key.identity}, {"b10b", ""}).has(removal) is still


def test_the_rules_are_those_of_the_guarantee() -> None:
    assert [rule.value for rule in HoldRule] == [
        "StateRestored", "CommitHasErrors", "StillInRepo", "Emptied", "MassRemoval", "ProtectedKind", "ApprovalRequired"
    ]  # fmt: skip
