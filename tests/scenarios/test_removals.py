"""The removal gate from end to end: the situations of docs/removal.md, each with what is held and by which rules."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.holds import HoldRule
from gitfleet.api.scenarios import ClusterRule
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import approval_path, approval_text
from tests import builders
from tests.scenarios.world import World

Body = dict[str, Any]
N = builders.namespace


def maps(count: int, namespace: str = "app") -> list[Body]:
    return [builders.config_map(namespace, f"m{n:02}", {"k": "v"}) for n in range(count)]


def world_of(bodies: list[Body], clusters: int = 2, *more: Body) -> World:
    world = World()
    members = (builders.member_cluster(f"c{n:02}") for n in range(clusters))
    every = (*members, N("app"), *bodies, builders.placement("app"), *more)
    world.roll_out(*{builders.path_of(one): one for one in every}.values())
    assert not world.state().faults
    return world


def held(world: World) -> dict[str, set[HoldRule]]:
    """What is held, by the text of each removal, with its rules."""
    return {str(one): set(one.rules) for hold in world.state().held.values() for one in hold.removals if one.rules}


def there(world: World, *bodies: Body, cluster: str = "c00") -> list[bool]:
    return [
        world.live(cluster, one["kind"], one["metadata"]["name"], one["metadata"].get("namespace", "")) is not None
        for one in bodies
    ]


def approve(world: World, *, approved: bool = True) -> None:
    """A person answers the one hold that there is."""
    (hold,) = world.state().held.values()
    status = Status.TRUE if approved else Status.FALSE
    world.roll_out(files={approval_path(hold.name): approval_text(hold.name, status)})


def annotated(name: str, *namespaces: str, **annotations: str) -> Body:
    body = builders.placement(name, *namespaces)
    body["metadata"]["annotations"] = {
        f"gitfleet.dev/{key.replace('_', '-')}": text for key, text in annotations.items()
    }
    return body


E, M, S = HoldRule.EMPTIED, HoldRule.MASS_REMOVAL, HoldRule.STILL_IN_REPO
P, A, C = HoldRule.PROTECTED_KIND, HoldRule.APPROVAL_REQUIRED, HoldRule.COMMIT_HAS_ERRORS


@dataclass(frozen=True)
class Change:
    """One commit that takes something away, and what is held of it."""

    held: dict[str, set[HoldRule]]
    bodies: tuple[Body, ...] = ()
    remove: tuple[Body, ...] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    maps: int = 2
    clusters: int = 2
    start: tuple[Body, ...] = ()
    """What there is besides two clusters, the namespace app with its maps, and the placement of it."""
    corrected: Mapping[str, str | None] = field(default_factory=dict)
    """What else ends the hold, with nothing left that holds the removal."""


def of(key: str) -> str:
    return ApiText.PLACEMENT(object=key, placement="app")


def on(cluster: str) -> str:
    return ApiText.PLACEMENT_CLUSTER(placement="app", cluster=cluster)


def of_app(rules: set[HoldRule], count: int, *more: HoldRule) -> dict[str, set[HoldRule]]:
    """The first maps of the namespace app by these rules, and the namespace by more."""
    namespaces = {of("Namespace/app"): {*rules, *more}} if more else {}
    return {**{of(f"ConfigMap/app/m{n:02}"): rules for n in range(count)}, **namespaces}


M00 = builders.path_of(maps(1)[0])
HIDDEN, BROKEN = f"{M00}.bak", "resources/app/broken.yaml"
LEAVING = builders.member_cluster("c01")
LEAVING["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
NEVER = {"removals": "Never", "allow_empty": "true"}
ALWAYS = (annotated("app", removals="Never"), builders.fleet_config(removals={"approval": "Always"}))
SWITCH = {"matchLabels": {"enabled": "true"}}
SWITCHED = builders.placement(
    "app", selectors=[{"group": "", "version": "v1", "kind": "Namespace", "labelSelector": SWITCH}]
)
CHANGES = {
    "seven of twenty": Change(of_app({M}, 7), remove=tuple(maps(7)), maps=19),
    "a lost folder": Change(of_app({E, M}, 19, P), remove=(N("app"), *maps(19)), maps=19),
    "a file out of sight": Change(
        of_app({S}, 1), files={M00: None, HIDDEN: builders.to_yaml(maps(1)[0])}, corrected={HIDDEN: None}
    ),
    "a placement whose manifests stay": Change(of_app({S, E}, 2, P), remove=(builders.placement("app"),)),
    "an annotation in the commit that removes": Change(
        of_app({E}, 2, P), bodies=(annotated("app", **NEVER),), remove=(N("app"), *maps(2))
    ),
    "four clusters of ten": Change(
        {on(f"c{n:02}"): {M} for n in range(4)},
        bodies=(builders.placement("app", policy=builders.pick_n(6)),),
        clusters=10,
        start=(builders.placement("app", policy=builders.pick_n(10)),),
    ),
    "no cluster named any more": Change(
        of_app({S, E}, 2, P),
        bodies=(builders.placement("app", policy=builders.pick_fixed()),),
        start=(builders.placement("app", policy=builders.pick_fixed("c00", "c01")),),
    ),
    "no cluster picked any more": Change(
        of_app({S, E}, 2, P),
        bodies=(builders.placement("app", policy=builders.pick_n(0)),),
        start=(builders.placement("app", policy=builders.pick_n(2)),),
    ),
    "a cluster that leaves": Change({"cluster c01": {E}}, remove=(LEAVING,), start=(LEAVING,)),
    "any with Always": Change(of_app({A}, 1), remove=tuple(maps(1)), start=ALWAYS),
    "an error elsewhere": Change(of_app({C}, 1), files={M00: None, BROKEN: "kind: ["}, corrected={BROKEN: None}),
    "a label that is selected no more": Change(
        of_app({S, E}, 2, P), bodies=(N("app"),), start=(N("app", labels=SWITCH["matchLabels"]), SWITCHED)
    ),
}


def on_clusters(world: World) -> set[tuple[str, str]]:
    """Each object of the placement app that is there, with its cluster."""
    live = [(name, one.key) for name in world.fleet.clusters for one in world.fleet.cluster(name).objects()]
    return {(name, str(key)) for name, key in live if "app" in (key.name, key.namespace)}


def is_held(at: tuple[str, str], removals: Collection[str]) -> bool:
    """Whether what is held takes this object away."""
    cluster, key = at
    return not {of(key), on(cluster), f"cluster {cluster}"}.isdisjoint(removals)


@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
@pytest.mark.parametrize(
    ("case", "answer"),
    [*itertools.product(CHANGES, ("approved", "rejected", "put back")),
     *((case, "corrected") for case, change in CHANGES.items() if change.corrected)],
)  # fmt: skip
def test_what_is_held_goes_or_stays_as_it_is_answered(case: str, answer: str, restart: bool) -> None:
    change = CHANGES[case]
    world = world_of(maps(change.maps), change.clusters, *change.start)
    files, there_first = world.repo.files("main"), on_clusters(world)
    with world.nothing_deleted():
        world.roll_out(*change.bodies, files=change.files or None, remove=change.remove)
        world.advance(hours=1)
        if restart:
            world.restart()
        world.settle()
        assert held(world) == change.held and world.driver.reconcile().settled
    goes = {at for at in there_first if is_held(at, change.held)}
    assert goes
    if answer in ("rejected", "put back"):
        goes = set()
    if answer == "put back":
        added = set(world.repo.files("main")) - set(files)
        world.roll_out(files={**dict.fromkeys(added), **{path: text.decode() for path, text in files.items()}})
    elif answer == "corrected":
        world.roll_out(files=change.corrected)
    else:
        approve(world, approved=answer == "approved")
    assert on_clusters(world) == there_first - goes
    assert held(world) == (change.held if answer == "rejected" else {})
    assert bool(world.state().holds) == (answer == "rejected")


def test_one_dropped_object_goes() -> None:
    one, two = maps(2)
    world = world_of([one, two])
    world.roll_out(remove=[one])
    assert held(world) == {} and there(world, one, two) == [False, True] and not world.state().holds


def test_removals_that_follow_each_other_settled_go() -> None:
    every = maps(19)
    world = world_of(every)
    for start in (0, 3, 6):
        world.roll_out(remove=every[start : start + 3])
    assert held(world) == {} and not any(there(world, *every[:9]))


@pytest.mark.parametrize(
    ("annotations", "left"),
    [
        ({"allow_empty": "true"}, {of("Namespace/app"): {P}}),
        ({"removals": "Never"}, {}),
        ({"removals": "Never", "allow_empty": "true"}, {}),
    ],
)
def test_a_preview_goes_as_its_annotations_say(annotations: dict[str, str], left: dict[str, set[HoldRule]]) -> None:
    every = maps(2)
    world = world_of(every, 1, annotated("app", **annotations))
    world.roll_out(remove=[N("app"), *every, builders.placement("app")])
    assert held(world) == left and there(world, *every) == [False, False]
    if left:
        approve(world)
    assert there(world, N("app")) == [False] and not world.state().placements and not world.state().holds


@pytest.mark.parametrize(("had", "has"), [(3, 2), (10, 8)])
def test_a_few_withdrawn_clusters_go(had: int, has: int) -> None:
    every = maps(2)
    world = world_of(every, had, builders.placement("app", policy=builders.pick_n(had)))
    world.roll_out(builders.placement("app", policy=builders.pick_n(has)))
    assert held(world) == {}
    assert sum(any(there(world, *every, cluster=f"c{n:02}")) for n in range(had)) == has


def test_a_leaving_cluster_by_default_is_released() -> None:
    every = maps(2)
    world = world_of(every)
    world.roll_out(remove=[builders.member_cluster("c01")])
    assert not world.state().holds and all(there(world, *every, cluster="c01"))


def test_an_object_moves_with_its_new_owner() -> None:
    one, two = maps(2)
    world = world_of([one, two])
    (other,) = maps(1, "other")
    other["metadata"]["name"] = "theirs"
    label = {"matchLabels": {"moves": "yes"}}
    one["metadata"]["labels"] = {"moves": "yes"}
    mover = builders.placement(
        "b", selectors=[{"group": "", "version": "v1", "kind": "ConfigMap", "labelSelector": label}]
    )
    with world.nothing_deleted():
        world.roll_out(one, mover)
    assert all(there(world, one, two))


def test_the_deletion_stage_of_a_run_ends_without_what_is_held() -> None:
    every = maps(2)
    world = World()
    members = [builders.member_cluster(f"c{n:02}") for n in range(5)]
    external = {"type": "External"}
    names = [f"c{n:02}" for n in range(5)]
    world.commit(
        *members, N("app"), *every, builders.staged_strategy("all", builders.stage("one")),
        builders.placement("app", policy=builders.pick_fixed(*names), strategy=external),
        builders.staged_run("first", placement="app", strategy="all"),
    )  # fmt: skip
    world.settle()
    assert all(all(there(world, *every, cluster=name)) for name in names)
    world.roll_out(
        builders.placement("app", policy=builders.pick_fixed(names[0]), strategy=external),
        builders.staged_run("second", placement="app", strategy="all"),
    )
    assert list(held(world).values()) == [{M}] * 4
    run = world.state().runs[NamespacedName("", "second")]
    assert run.finished and all(all(there(world, *every, cluster=name)) for name in names)
    approve(world)
    assert [all(there(world, *every, cluster=name)) for name in names] == [True, False, False, False, False]


def test_what_a_label_selects_no_more_goes_where_nothing_is_held() -> None:
    start = (N("app", labels=SWITCH["matchLabels"]), {**annotated("app", removals="Never"), "spec": SWITCHED["spec"]})
    world = world_of(maps(1), 2, *start)
    world.roll_out(N("app"))
    assert (held(world), on_clusters(world)) == ({}, set())


def envelope(*bodies: Body) -> Body:
    data = {f"{one['metadata']['name']}.yaml": one for one in bodies}
    return {**builders.an_object(builders.PLACEMENT_API, "ResourceEnvelope", "bundle", namespace="app"), "data": data}


def patch_of_envelope(path: str, labels: dict[str, str] | None = None) -> Body:
    rule = builders.override_rule({"op": "remove", "path": path}, labels=labels)
    body = builders.override("patch", "ResourceEnvelope/bundle", rule, namespace="app")
    body["spec"]["resourceSelectors"][0] |= {"group": "placement.kubernetes-fleet.io", "version": "v1beta1"}
    return body


LAB = {"zone": "lab"}
DROP = builders.override("drop", "ConfigMap/m00", builders.override_rule(), namespace="app")
DROP_IN_LAB = builders.override("drop", "ConfigMap/m00", builders.override_rule(labels=LAB), namespace="app")
OF_M00 = {of("ConfigMap/app/m00"): {S}}
OVERRIDES = {
    # what is committed, what is held, how many clusters of the lab and of the others have m00 still
    "deleted on 4 of 10": (DROP_IN_LAB, {on(f"c{n:02}"): {M} for n in range(4)}, (4, 6)),
    "deleted everywhere": (DROP, OF_M00, (4, 6)),
    "patched out of an envelope": (patch_of_envelope("/data/m00.yaml"), OF_M00, (4, 6)),
    "patch that fails in the lab": (patch_of_envelope("/data/none.yaml", LAB), {}, (4, 6)),
    "out of the envelope's file": (envelope(*maps(2)[1:]), {}, (0, 0)),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_what_overrides_and_envelopes_leave_out(case: str) -> None:
    change, expected, (lab, others) = OVERRIDES[case]
    one, two = maps(2)
    wrapped = "envelope" in case or "fails" in case
    names = [f"c{n:02}" for n in range(10)]
    clusters = [builders.member_cluster(name, labels=LAB if name < "c04" else {}) for name in names]
    placed = builders.placement("app", strategy=builders.rolling_update(maxUnavailable="100%"))
    world = World()
    world.roll_out(*clusters, N("app"), *([envelope(one, two)] if wrapped else [one, two]), placed)
    assert all(all(there(world, one, two, cluster=name)) for name in names) and not world.state().faults
    world.roll_out(change)
    assert held(world) == expected
    have = [name for name in names if all(there(world, one, cluster=name))]
    assert (sum(name < "c04" for name in have), sum(name >= "c04" for name in have)) == (lab, others)
    assert all(all(there(world, two, cluster=name)) for name in names)


@pytest.mark.parametrize("broken", [False, True])
def test_a_removal_half_done_is_taken_back(broken: bool) -> None:
    one, two = maps(2)
    world = World(rules=(ClusterRule(available=timedelta(seconds=10)),))
    strategy = builders.rolling_update(maxUnavailable=1)
    names = ("c00", "c01", "c02")
    web = builders.deployment("app", "web")
    world.roll_out(
        *map(builders.member_cluster, names), N("app"), one, two, web, builders.placement("app", strategy=strategy)
    )
    world.commit(builders.deployment("app", "web", "web:2"), remove=[one])
    while all(world.live(name, "ConfigMap", "m00", "app") for name in names):
        world.reconcile()
        world.advance(seconds=1)
    left = [name for name in names if world.live(name, "ConfigMap", "m00", "app")]
    assert left
    text = builders.to_yaml(one)
    with world.nothing_deleted():
        if broken:
            world.roll_out(files={builders.path_of(one): text.replace("kind:", "knd:")})
            assert all(there(world, one, cluster=name) == [True] for name in left)
        world.roll_out(files={builders.path_of(one): text})
    assert all(there(world, one, two, cluster=name) == [True, True] for name in names) and not world.state().holds


def test_a_cluster_whose_removal_is_held_is_picked_again() -> None:
    every = maps(2)
    world = world_of(every, 10, builders.placement("app", policy=builders.pick_n(10)))
    with world.nothing_deleted():
        for count in (6, 10):
            world.roll_out(builders.placement("app", policy=builders.pick_n(count)))
        world.roll_out(builders.config_map("app", "m00", {"k": "new"}))
    found = [world.live(f"c{n:02}", "ConfigMap", "m00", "app") for n in range(10)]
    assert [one["data"] for one in found if one] == [{"k": "new"}] * 10 and not world.state().holds


def test_an_approval_during_a_freeze_waits_for_its_end() -> None:
    every = maps(19)
    world = world_of(every)
    world.roll_out(remove=every[:7])
    until = (world.clock.now() + timedelta(days=9)).isoformat()
    freeze = builders.freeze("sale", until, scope={"placements": ["app"]})
    world.roll_out(freeze)
    with world.nothing_deleted():
        approve(world)
    world.roll_out(remove=[freeze])
    assert not any(there(world, *every[:7])) and not world.state().holds


def test_what_an_error_held_goes_on_a_few_clusters_at_a_time_once_it_is_corrected() -> None:
    every = maps(3)
    world = world_of(every, clusters=8)
    world.roll_out(files={builders.path_of(every[0]): None, "resources/app/broken.yaml": "kind: ["})
    gone: list[int] = []
    world.write({"resources/app/broken.yaml": None})
    for _ in range(12):
        before = sum(any(there(world, every[0], cluster=f"c{n:02}")) for n in range(8))
        world.reconcile()
        gone.append(before - sum(any(there(world, every[0], cluster=f"c{n:02}")) for n in range(8)))
    assert sum(gone) == 8 and max(gone) <= 2
