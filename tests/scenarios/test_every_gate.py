"""Every mover against every gate (decision D40): freezes, pins, quarantines, External and budgets keep a movement from
starting, whatever moves; what has started finishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_records import RollingState
from gitfleet.cli.fail_on import Condition
from gitfleet.cli.plan_text import lines_of
from gitfleet.cli.texts import CliText
from gitfleet.pull import read_delivery
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.views.plan_document import has_changes
from tests import builders
from tests.builders import deployment
from tests.scenarios.pull_world import PullWorld, pulled_cluster
from tests.scenarios.staged_world import EXTERNAL, one_stage, run
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.test_pull import DELIVER
from tests.scenarios.test_workload_rollouts import KEY, rollout
from tests.scenarios.world import World
from tests.texts import part

Body = dict[str, Any]
WEB = PlacementKey("", "web")
OLD, NEW = (deployment("web", "web", image, replicas=4) for image in ("web:1", "web:2"))
SECOND = deployment("web", "web-2", "web:2", replicas=4)
HOUR = timedelta(hours=1)


def spec(world: World, name: str = "web", cluster: str = "c1") -> Body:
    body = world.live(cluster, "Deployment", name, "web")
    return {} if body is None else dict(body["spec"])


def replicas(world: World, name: str = "web", cluster: str = "c1") -> int:
    return int(spec(world, name, cluster).get("replicas", -1))


def is_over(world: World) -> bool:
    found = world.state().rollouts
    return KEY in found and all(one.rolling_state is RollingState.SUCCEEDED for one in found[KEY].clusters)


def digest(world: World, index: int) -> str:
    return next(one.hash for one in world.state().placements[WEB].resource_snapshots if one.index == index)


@dataclass(frozen=True, kw_only=True)
class Mover:
    """`before` are the commits that lead to a world at rest, `starts` (and `removes`) the one that asks for the
    movement, `moved` whether it happened."""

    before: Iterable[tuple[Body, ...]]
    starts: tuple[Body, ...] = ()
    removes: tuple[Body, ...] = ()
    moved: Callable[[World], bool]
    quarantines: int = -1
    """Which snapshot is quarantined; the newest one by default."""
    external: bool = False


HALF = rollout(OLD, numBatches=2, lastBatchToRollout=0)
PAIR = rollout(SECOND, OLD, numBatches=2)
HALF_PAIR = rollout(SECOND, OLD, numBatches=2, lastBatchToRollout=0, revertOnDelete=True)
MOVERS = {
    "an update": Mover(before=[(OLD,), (NEW,)], starts=(OLD,), moved=lambda w: w.image("c1") == "web:1", quarantines=0),
    "an eviction": Mover(
        before=[(OLD,)],
        starts=(builders.eviction("ill", "web", "c1"),),
        moved=lambda w: any(one.was_executed for one in w.state().evictions.values()),
    ),
    "a run": Mover(
        before=[(OLD, one_stage()), (NEW,)],
        starts=(run("go"),),
        moved=lambda w: w.image("c1") == "web:2",
        external=True,
    ),
    "the first batch": Mover(
        before=[(OLD, rollout(OLD, numBatches=2, paused=True)), (NEW,)],
        starts=(rollout(OLD, numBatches=2),),
        moved=lambda w: is_over(w) and spec(w)["replicas"] == 4,
    ),
    "the next batch": Mover(
        before=[(OLD, HALF), (NEW,)], starts=(rollout(OLD, numBatches=2),), moved=lambda w: is_over(w)
    ),
    "another workload": Mover(
        before=[(OLD,), (SECOND, rollout(SECOND, OLD, numBatches=2, paused=True))],
        starts=(PAIR,),
        moved=lambda w: replicas(w) == 0,
    ),
    "the way back": Mover(before=[(OLD,), (SECOND, HALF_PAIR)], removes=(HALF_PAIR,), moved=lambda w: replicas(w) == 4),
    "no rollout any more": Mover(
        before=[(OLD, rollout(OLD, numBatches=2, paused=True)), (NEW,)],
        removes=(HALF,),
        moved=lambda w: "paused" not in spec(w) and w.image("c1") == "web:2",
    ),
    "fewer pods": Mover(before=[(OLD,)], starts=(rollout(OLD, targetSize=0),), moved=lambda w: replicas(w) == 0),
    "more pods": Mover(before=[(OLD,)], starts=(rollout(OLD, targetSize=6),), moved=lambda w: replicas(w) == 6),
}


def freeze(_: World, __: Mover) -> Body:
    return builders.freeze("busy", "2099-01-01T00:00:00Z")


def pin(world: World, _: Mover) -> Body:
    """To the content that the clusters have."""
    latest = world.state().placements[WEB].latest_resources
    assert latest is not None
    return builders.pin("web", latest.index, latest.hash)


def quarantine(world: World, mover: Mover) -> Body:
    latest = world.state().placements[WEB].latest_resources
    assert latest is not None
    content = latest.hash if mover.quarantines < 0 else digest(world, mover.quarantines)
    return builders.quarantine("bad", "web", content)


def budget(_: World, __: Mover) -> Body:
    return builders.placement_budget("web", minAvailable=2)


GATES: dict[str, Callable[[World, Mover], Body]] = {
    "a freeze": freeze, "a pin": pin, "a quarantine": quarantine, "a budget": budget,
}  # fmt: skip
OPEN = {
    # A pin, and a quarantine, say which content may be rolled out; an eviction brings none.
    ("a pin", "an eviction"), ("a quarantine", "an eviction"),
    # The pinned content is the one that is rolled out.
    ("a pin", "the first batch"), ("a pin", "the next batch"), ("a pin", "another workload"),
    ("a pin", "the way back"), ("a pin", "no rollout any more"),
    # Runs name the snapshot themselves; a pin is for rolling updates.
    ("a pin", "a run"),
    # A disruption budget is for what takes a cluster away for good; updates have maxUnavailable, batches their own.
    *(("a budget", name) for name in MOVERS if name not in ("an eviction", "fewer pods")),
}  # fmt: skip
ENDS = {("a budget", "an eviction"), ("a quarantine", "a run")}
"""What is refused for good."""


def at_rest(mover: Mover, *, external: bool = False) -> World:
    """Two clusters on which the movement is still to be asked for."""
    world = World()
    strategy = EXTERNAL if external or mover.external else builders.rolling_update(maxUnavailable="100%")
    brings = builders.placement("web", strategy=strategy)
    members = [builders.member_cluster(name) for name in ("c1", "c2")]
    for number, bodies in enumerate(mover.before):
        world.roll_out(
            *(() if number else (*members, builders.namespace("web"), brings, one_stage())), *bodies, limit=HOUR
        )
        if (external or mover.external) and number == 0:
            world.roll_out(run("first"), limit=HOUR)
        elif external:
            world.roll_out(run(f"run-{number}"), limit=HOUR)
    assert not mover.moved(world)
    return world


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("name", MOVERS)
def test_a_gate_keeps_a_movement_from_starting(name: str, gate: str) -> None:
    mover = MOVERS[name]
    world = at_rest(mover)
    closed = GATES[gate](world, mover)
    world.roll_out(closed, limit=HOUR)
    world.roll_out(*mover.starts, remove=mover.removes, limit=HOUR)
    assert mover.moved(world) is ((gate, name) in OPEN)
    world.roll_out(remove=[closed], limit=HOUR)
    assert mover.moved(world) is ((gate, name) not in ENDS)


@pytest.mark.parametrize(
    ("name", "moves"),
    [("an update", False), ("the first batch", True), ("the next batch", True), ("fewer pods", False),
     ("more pods", False)],
)  # fmt: skip
def test_an_external_placement_moves_by_its_runs(name: str, moves: bool) -> None:
    mover = MOVERS[name]
    world = at_rest(mover, external=True)
    world.roll_out(*mover.starts, limit=HOUR)
    assert mover.moved(world) is moves
    result = world.driver.reconcile()
    assert moves or name == "an update" or ReconcileText.MOVED_BY_RUNS() in "\n".join(result.asks)


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_pin_or_quarantine_lets_no_further_batch_of_other_content_begin(wrong: int) -> None:
    """The rollback of an incident comes while the bad content is half way."""
    mover = MOVERS["the next batch"]
    world = at_rest(mover)
    most = 0

    def count(_: object) -> None:
        nonlocal most
        body = world.live("c1", "Deployment", "web", "web")
        if body is not None and world.image("c1") == "web:2":
            most = max(most, int(body["status"].get("updatedReplicas") or 0))

    world.watch = count
    bad = builders.quarantine("bad", "web", digest(world, 1)) if wrong else builders.pin("web", 0, digest(world, 0))
    world.roll_out(bad, *mover.starts, limit=HOUR)
    assert most <= 2
    if not wrong:
        assert world.image("c1") == "web:1" and is_over(world)


def test_a_batch_that_is_under_way_finishes_in_a_freeze() -> None:
    slow = rollout(OLD, rolloutBatches=[{"replicas": 2, "instanceInterval": 60}, {"replicas": 2}])
    world = at_rest(Mover(before=[(OLD, slow)], moved=lambda w: False))
    world.commit(NEW)
    world.rest()
    closed = freeze(world, MOVERS["the next batch"])
    world.roll_out(closed, limit=HOUR)
    (one, _) = world.state().rollouts[KEY].clusters
    assert (one.current_batch, one.upgraded_ready_replicas) == (1, 2)
    result = world.driver.reconcile()
    assert result.wake_at is not None
    assert "rollout web/web on c1 (and 1 more cluster): frozen by busy until" in "\n".join(result.waiting)
    assert result.frozen
    world.move_to(result.wake_at)
    world.settle(HOUR)
    assert is_over(world)


@pytest.mark.parametrize(
    ("scope", "moves"),
    [
        ({}, set()),
        ({"clusters": {"matchLabels": {"tier": "gold"}}}, {"c2"}),
        ({"placements": ["web"]}, set()),
        ({"placements": ["other"]}, {"c1", "c2"}),
        ({"stages": ["production"]}, {"c1", "c2"}),
    ],
)
def test_a_scope_says_which_rollouts_are_frozen(scope: Body, moves: set[str]) -> None:
    world = World()
    gold = builders.member_cluster("c1", labels={"tier": "gold"})
    brings = builders.placement("web", strategy=builders.rolling_update(maxUnavailable="100%"))
    world.roll_out(gold, builders.member_cluster("c2"), builders.namespace("web"), brings, OLD)
    world.roll_out(builders.freeze("busy", "2099-01-01T00:00:00Z", scope=scope), rollout(OLD, targetSize=6), limit=HOUR)
    assert {name for name in ("c1", "c2") if replicas(world, cluster=name) == 6} == moves


@pytest.mark.parametrize(("stage", "moves"), [("all", False), ("other", True)])
def test_a_freeze_of_a_stage_freezes_the_rollouts_on_its_clusters(stage: str, moves: bool) -> None:
    mover = MOVERS["the first batch"]
    world = at_rest(mover, external=True)
    closed = builders.freeze("busy", "2099-01-01T00:00:00Z", scope={"stages": [stage]})
    world.roll_out(closed, *mover.starts, limit=HOUR)
    assert mover.moved(world) is moves


def test_a_workload_that_no_placement_has_is_frozen_with_the_fleet() -> None:
    world = World()
    world.roll_out(builders.member_cluster("c1"))
    world.fleet.cluster("c1").apply_by_hand(builders.namespace("web"))
    world.fleet.cluster("c1").apply_by_hand(OLD)
    trait = rollout(OLD, targetSize=1)
    closed = builders.freeze("busy", "2099-01-01T00:00:00Z")
    world.roll_out({**trait, "spec": {**trait["spec"], "clusters": {}}}, closed, limit=HOUR)
    assert replicas(world) == 4
    world.roll_out(remove=[closed], limit=HOUR)
    assert replicas(world) == 1


@pytest.mark.parametrize(("limit", "most"), [(1, 1), (2, 2), ("100%", 4)])
def test_so_many_clusters_lose_pods_at_a_time_as_max_unavailable_says(limit: int | str, most: int) -> None:
    names = [f"c{number}" for number in range(1, 5)]
    world = World()
    brings = builders.placement("web", strategy=builders.rolling_update(maxUnavailable=limit))
    world.roll_out(*map(builders.member_cluster, names), builders.namespace("web"), brings, OLD)
    seen = 0

    def count() -> None:
        nonlocal seen
        statuses = world.state().rollouts[KEY].clusters if KEY in world.state().rollouts else ()
        seen = max(seen, sum(one.is_running for one in statuses))

    batches = [{"replicas": 2}, {"replicas": 2}]
    world.commit(rollout(OLD, targetSize=0, rolloutBatches=batches))
    while not (KEY in world.state().rollouts and is_over(world)):
        world.reconcile()
        count()
        world.advance(seconds=5)
    assert seen == most and {replicas(world, cluster=name) for name in names} == {0}


def test_a_disruption_budget_keeps_clusters_at_the_size_of_their_manifests() -> None:
    world = World()
    brings = builders.placement("web", strategy=builders.rolling_update(maxUnavailable="100%"))
    members = [builders.member_cluster(f"c{number}") for number in range(1, 4)]
    world.roll_out(*members, builders.namespace("web"), brings, OLD, builders.placement_budget("web", minAvailable=2))
    world.roll_out(rollout(OLD, targetSize=1), limit=HOUR)
    assert [replicas(world, cluster=f"c{number}") for number in range(1, 4)] == [1, 4, 4]
    result = world.driver.reconcile()
    assert part(ReconcileText.DISRUPTION_BUDGET_ALLOWS_NO_CLUSTER) in "\n".join(result.asks)


def test_an_agent_gets_no_step_in_a_freeze() -> None:
    world = PullWorld()
    brings = builders.placement("web")
    world.commit(pulled_cluster("shop-1"), builders.namespace("web"), brings, OLD)
    world.start_agent("shop-1")
    world.turns()
    closed = freeze(world, MOVERS["fewer pods"])
    world.commit(closed, rollout(OLD, targetSize=0))
    world.turns()
    assert replicas(world, cluster="shop-1") == 4
    assert read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).steps == ()
    world.commit(remove=[closed])
    world.turns()
    assert replicas(world, cluster="shop-1") == 0


@pytest.mark.parametrize("clusters", ["simulated", "recorded", "none"])
@pytest.mark.parametrize("gate", ["", "a freeze"])
def test_a_plan_lists_what_is_scaled_down_below_its_manifest_among_the_removals(clusters: str, gate: str) -> None:
    mover = MOVERS["fewer pods"]
    world = at_rest(mover)
    world.commit(*([GATES[gate](world, mover)] if gate else []), *mover.starts)
    plan = plan_of(world, clusters)
    (row,) = plan["risk"]["scaledDown"]
    named = row["rollout"], row["object"]["name"], row["clusters"], row["pods"], row["podsAfter"]
    assert named == ("web/web", "web", ["c1", "c2"], 8, 0)
    assert has_changes(plan) and Condition("scaleDown", 1).met(plan) and not Condition("scaleDown", 2).met(plan)
    first, *_ = lines_of(plan)
    scales = CliText.SCALES_DOWN(
        kind="Deployment", name="web/web", pods="8 pods", after=0, clusters="c1, c2", rollout="web/web"
    )
    assert first.startswith(scales)
    assert CliText.NO_MANIFEST_CHANGES(count="1 workload") in list(lines_of(plan))


@pytest.mark.parametrize(("size", "lists"), [(4, False), (6, False), (3, True), (None, False)])
def test_a_plan_lists_nothing_that_keeps_its_size(size: int | None, lists: bool) -> None:
    mover = MOVERS["fewer pods"]
    world = at_rest(mover)
    trait = rollout(OLD, **({} if size is None else {"targetSize": size}))
    world.commit(trait)
    assert bool(plan_of(world)["risk"]["scaledDown"]) is lists
    world.settle(HOUR)
    assert not plan_of(world)["risk"]["scaledDown"] and not plan_of(world, "none")["risk"]["scaledDown"]
