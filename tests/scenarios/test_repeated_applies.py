"""An object that has to be applied again and again: with growing pauses, said with its cause, and delaying nobody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.fleet.texts import FleetText
from gitfleet.loop.runner import Runner, Wake
from gitfleet.observe.texts import ObserveText
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.cluster import ClusterEvent
from tests import builders
from tests.scenarios.test_contained_failures import poisoned
from tests.scenarios.test_crashes import NAMES, begin
from tests.scenarios.world import World

KEY = ObjectKey("", "v1", "ConfigMap", "web", "flag")
FLAG = builders.config_map("web", "flag", {"a": "1"})
Undo = Callable[[World], object]
UNDONE: dict[str, Undo] = {
    "is gone": lambda world: world.fleet.cluster("c2").delete_by_hand(KEY),
    "differs": lambda world: world.fleet.cluster("c2").mutate(
        KEY, [{"op": "replace", "path": "/data/a", "value": "9"}]
    ),
}
DOES = {"is gone": ("something", "deletes"), "differs": ("kubectl-edit", "changes")}


class MovingWake(Wake):
    """Waiting moves the clock of a world; after `seconds` the loop is told to end."""

    def __init__(self, world: World, seconds: float) -> None:
        super().__init__()
        self.clock, self.end, self.passes = world.clock, world.clock.now() + timedelta(seconds=seconds), 0

    def wait(self, seconds: float) -> None:
        self.passes += 1
        self.clock.advance(max(seconds, 0.0))
        if self.clock.now() >= self.end or self.passes >= 500:
            self.stop()


def undoing(how: str) -> World:
    """Three clusters that have all of `web`; something on c2 undoes every apply of the flag at once."""
    world = World()
    begin(world)

    def undo(happening: ClusterEvent) -> None:
        if (happening.cluster, happening.what, happening.key) == ("c2", "apply", KEY):
            UNDONE[how](world)

    world.watch = undo
    world.commit(FLAG)
    return world


def applies(world: World) -> int:
    return sum((h.cluster, h.what, h.key) == ("c2", "apply", KEY) for h in world.happenings)


def again(how: str, times: int, writer: str, does: str, *, upcoming: str) -> str:
    """What is said of an object that was applied so often since the first reconcile."""
    return FleetText.AGAIN_AFTER_EACH_APPLY(
        what=how, times=times, time_text="2026-01-01T00:00:05Z", names=writer, cluster="c2", does=does,
        time_text_2=upcoming,
    )  # fmt: skip


def run(world: World, seconds: float) -> MovingWake:
    """Reconcile continuously for so long."""
    wake = MovingWake(world, seconds)
    runner = Runner(
        driver=world.driver, clock=world.clock, wake=wake, interval=lambda: 30.0, watch=lambda _: lambda: None
    )
    runner.until_stopped()
    return wake


@pytest.mark.parametrize("how", UNDONE)
def test_ten_minutes_cost_few_applies_and_few_commits(how: str) -> None:
    world = undoing(how)
    commits = world.state_commits()
    wake = run(world, 600)
    assert applies(world) == 11, "at once, at once again, and after 1, 2, 4 ... 256 seconds"
    assert world.state_commits() - commits <= 4 * applies(world) + 10
    assert wake.passes <= 150
    result = world.driver.reconcile()
    assert not result.settled and result.wake_at is not None
    why = again(how, 11, *DOES[how], upcoming=f"{result.wake_at:%Y-%m-%dT%H:%M:%SZ}")
    unapplied = ObserveText.IS_NOT(first="ConfigMap/web/flag", verb="applied", why=why, more_than_first="")
    assert f"web: c2 {RolloutText.IS_NOT(step='Applied', condition=unapplied)}" in result.waiting


@pytest.mark.parametrize(
    ("module", "name", "hits"),
    [
        ("gitfleet.apply.fleet", "settle_inventory", lambda *args: any(o.operation.cluster == "c2" for o in args[1])),
        ("gitfleet.apply.ledgers", "_settle_one", lambda outcome, *_: outcome.operation.key == KEY),
        ("gitfleet.reconcile", "settle_placement", lambda record, *_: record.placement.key.name == "web"),
    ],
    ids=["cluster", "object", "placement"],
)
def test_what_cannot_be_noted_down_counts_as_no_repeat(
    module: str, name: str, hits: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = undoing("is gone")
    poison = poisoned(monkeypatch, module, name, hits)
    while not applies(world):
        world.reconcile()
    poison.armed = True
    for count in range(2, 9):
        world.reconcile()
        assert applies(world) == count
    assert poison.raised


def test_the_others_are_not_delayed_and_a_new_manifest_is_applied_at_once() -> None:
    world = undoing("is gone")
    run(world, 200)
    before, start = applies(world), world.clock.now()
    world.roll_out(
        builders.config_map("web", "flag", {"a": "2"}),
        builders.config_map("web", "more", {"a": "1"}),
        limit=timedelta(seconds=1),
    )
    assert applies(world) > before and world.clock.now() - start <= timedelta(seconds=1)
    assert world.live("c2", "ConfigMap", "more") is not None
    world.watch = lambda happening: None
    world.settle()
    result = world.driver.reconcile()
    assert result.settled
    flags = [world.live(name, "ConfigMap", "flag") for name in NAMES]
    assert [flag and flag["data"] for flag in flags] == [{"a": "2"}] * 3


@pytest.mark.parametrize("seconds", [0.0, 900.0], ids=["once at once", "again and again, long after"])
def test_what_is_repaired_now_and_then_is_repaired_at_once(seconds: float) -> None:
    world = World()
    world.commit(FLAG)
    begin(world)
    for _ in range(4 if seconds else 1):
        world.fleet.cluster("c2").delete_by_hand(KEY)
        world.reconcile()
        assert world.live("c2", "ConfigMap", "flag") is not None
        world.advance(seconds=seconds)


def test_the_status_names_who_fights_until_that_ends() -> None:
    world = World()
    begin(world)

    def undo(happening: ClusterEvent) -> None:
        if (happening.cluster, happening.what, happening.key) == ("c2", "apply", KEY):
            body = builders.config_map("web", "flag", {"a": "9"})
            world.fleet.cluster("c2").apply_by_hand(body, manager="flag-controller")

    world.watch = undo
    world.commit(FLAG)
    run(world, 100)
    world.reconcile()
    binding = world.bindings("web")["c2"]
    (failed,) = binding.failed
    why = again("differs", 8, "flag-controller", "changes", upcoming="2026-01-01T00:02:12Z")
    assert (failed.reason, failed.message) == ("NotAsked", why)
    (applied,) = (one for one in binding.conditions if one.type == "Applied")
    assert applied.status == "False" and failed.message in applied.message
    world.watch = lambda happening: None
    world.settle()
    assert world.bindings("web")["c2"].failed == ()
    live = world.body("c2", "ConfigMap", "flag")
    assert live["data"] == {"a": "1"}
