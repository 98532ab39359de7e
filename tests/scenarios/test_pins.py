"""Pins on whole simulated fleets: a rolling placement keeps the content of an older snapshot as long as a file says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import BadInput
from gitfleet.model.desired import Desired
from gitfleet.model.state import PlacementRecord
from gitfleet.model.texts import ModelText
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.snapshots.texts import SnapshotsText
from gitfleet.views import rollback_of
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, never, one_stage, rolled_out, run
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_quarantine import WEB, digest_of, quarantine, rolling_world
from tests.scenarios.world import World, end_of


def released(*images: str) -> World:
    """Three clusters that had these images one after the other, and have the last one."""
    world = rolling_world()
    for image in images:
        world.commit(builders.deployment("web", "web", image=image))
        world.settle()
    return world


def pinned(world: World, snapshot: int, **spec: Any) -> dict[str, Any]:
    """A pin of `web` to a snapshot that it has."""
    return builders.pin("web", snapshot, digest_of(world, snapshot), **spec)


def record_of(world: World) -> PlacementRecord:
    """The record of `web`."""
    return world.state().placements[WEB]


def said_of_pin(world: World) -> tuple[str, str]:
    """Status and message of the condition that a pin gives `web`; empty where it has none."""
    found = record_of(world).pinned
    return (found.status.value, found.message) if found is not None else ("", "")


EVERY = ("c1", "c2", "c3")
OTHER = (
    ReconcileText.SNAPSHOT_DIGEST_OTHER_CONTENT(snapshot="0", placement="web", hash="{digest}")
    + "; write that only if it is meant, or "
)
OTHER += "remove the file and revert the change instead"


def test_a_pin_gives_every_cluster_the_old_content_within_the_budget_and_later_edits_wait() -> None:
    world = released("web:2", "web:3")
    world.commit(pinned(world, 0, reason="3 drops orders"))
    most = 0

    def count() -> None:
        nonlocal most
        moved = [b for b in world.bindings("web").values() if b.resource_snapshot == "web-3-snapshot"]
        most = max(most, sum(1 for b in moved if b.conditions[-1].status is not Status.TRUE))

    world.settle(each=count)
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")
    assert most == 1
    taken = record_of(world).resource_snapshots
    assert [s.index for s in taken] == [0, 1, 2, 3]
    assert (taken[3].hash, taken[3].documents) == (taken[0].hash, taken[0].documents)
    keeps = "pins/web.yaml:1 " + ReconcileText.KEEPS_CONTENT_SNAPSHOT(what="it", snapshot="0 (3 drops orders)")
    assert said_of_pin(world) == (
        "True",
        (f"{keeps}" + ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="", waiting="snapshot 2")),
    )

    commits = world.state_commits()
    world.commit(builders.deployment("web", "web", image="web:4"))
    world.settle()
    world.restart()
    world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")
    assert len(record_of(world).resource_snapshots) == 4
    assert said_of_pin(world) == (
        "True",
        (f"{keeps}" + ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="", waiting="newer content")),
    )
    assert world.state_commits() - commits == 1

    world.commit(remove=["pins/web.yaml"])
    world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:4")
    assert said_of_pin(world) == ("", "")


def test_a_process_that_knows_nothing_writes_the_same_bytes() -> None:
    ends = []
    for forgetful in (False, True):
        world = released("web:2")
        world.commit(pinned(world, 0))
        for _ in range(100):
            if forgetful:
                world.restart()
            result = world.reconcile()
            assert result is not None
            if not result.changed and world.fleet.next_change() is None:
                break
            world.advance(seconds=5)
        world.commit(builders.deployment("web", "web", image="web:4"))
        world.settle(each=world.restart if forgetful else lambda: None)
        ends.append((end_of(world), said_of_pin(world), [s.hash for s in record_of(world).resource_snapshots]))
    assert ends[0] == ends[1]


def test_what_newer_content_added_goes_and_what_it_removed_comes_back() -> None:
    world = released()
    world.commit(builders.config_map("web", "old", {"a": "1"}))
    world.settle()
    world.commit(builders.config_map("web", "new"), remove=["resources/web/configmap-old.yaml"])
    world.settle()
    world.commit(pinned(world, 1))
    world.settle()
    assert world.state().holds == {}
    for cluster in EVERY:
        assert world.live(cluster, "ConfigMap", "new") is None
        found = world.live(cluster, "ConfigMap", "old")
        assert found is not None and found["data"] == {"a": "1"}
    world.commit(remove=["pins/web.yaml"])
    world.settle()
    assert world.state().holds == {}
    assert [world.live("c1", "ConfigMap", name) is None for name in ("old", "new")] == [True, False]


def test_a_pin_that_deletes_much_is_held_and_the_rest_of_it_goes_out() -> None:
    world = released()
    world.commit(
        builders.deployment("web", "web", image="web:2"),
        *(builders.config_map("web", f"new-{number}") for number in range(30)),
    )
    world.settle()
    world.commit(pinned(world, 0))
    with world.nothing_deleted():
        world.settle()
        world.commit(builders.config_map("web", "new-0", {"edited": "while it is held"}))
        world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")
    kept = world.live("c1", "ConfigMap", "new-0")
    assert kept is not None and not kept.get("data")
    hold = only_hold(world)
    assert {(r.cause.path, r.cause.text) for r in hold.removals} == {
        ("pins/web.yaml", "pins/web.yaml takes web back to snapshot 0")
    }
    assert len(hold.removals) == 30
    world.write(answer(hold))
    world.settle()
    assert [world.live(cluster, "ConfigMap", "new-0") for cluster in EVERY] == [None] * 3
    latest = record_of(world).latest_resources
    assert latest is not None and latest.hash == digest_of(world, 0)


def no_snapshot(world: World) -> dict[str, Any]:
    return builders.pin("web", 7, digest_of(world, 0))


def other_digest(world: World) -> dict[str, Any]:
    return builders.pin("web", 0, digest_of(world, 1))


STAYS = "until then " + DesiredText.NOTHING_ROLLED_OUT() + ", and what runs stays"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (no_snapshot, ReconcileText.NO_SNAPSHOT_NAME_ONE_THESE(placement="web", snapshot="7", known="0, 1")),
        (other_digest, OTHER),
    ],
)
def test_a_pin_that_names_nothing_holds_the_rollout_and_takes_nothing_away(
    made: Callable[[World], dict[str, Any]], why: str
) -> None:
    world = released("web:2")
    why = why.format(digest=digest_of(world, 0))
    world.commit(made(world), builders.deployment("web", "web", image="web:3"), *members("c4"))
    with world.nothing_deleted():
        world.settle()
        world.restart()
        world.settle()
    assert rolled_out(world) == {**dict.fromkeys(EVERY, "web:2"), "c4": None}
    (fault,) = world.state().faults
    assert (fault.path, fault.line, fault.severity) == ("pins/web.yaml", 1, Severity.WARNING)
    assert fault.message.replace("(it has 0, 1, 2)", "(it has 0, 1)") == why
    status, said = said_of_pin(world)
    assert (status, said.replace("(it has 0, 1, 2)", "(it has 0, 1)")) == (
        "False",
        ("pins/web.yaml:" + ReconcileText.CANNOT_FOLLOWED(where="1", why=f"{why}; {STAYS}")),
    )
    world.commit(remove=["pins/web.yaml"])
    world.settle()
    assert set(rolled_out(world).values()) == {"web:3"}


def test_a_pin_of_no_placement_or_of_an_external_one_is_a_warning() -> None:
    world = released("web:2")
    pin = pinned(world, 0)
    world.commit({**pin, "spec": {**pin["spec"], "placement": "wbe"}})
    world.settle()
    (fault,) = world.state().faults
    assert str(fault) == (
        "pins/web.yaml:6: Pin/web: spec.placement: "
        + ModelText.NAMES_PLACEMENT_NOT_REPO()
        + (", so " + DesiredText.ABOUT_NOTHING() + "; did you mean web?")
    )
    assert set(rolled_out(world).values()) == {"web:2"}
    world.commit(pin, builders.placement("web", strategy=EXTERNAL))
    world.settle()
    (fault,) = world.state().faults
    assert fault.message == (ReconcileText.COUNTS_NOTHING_RUNS_NAME_SNAPSHOTS(placement="web", snapshot="0"))
    assert (said_of_pin(world), set(rolled_out(world).values())) == (("", ""), {"web:2"})
    world.commit(one_stage(), run())
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}


def test_a_pin_with_an_error_keeps_its_last_good_version_and_a_second_one_is_refused() -> None:
    world = released("web:2")
    good = pinned(world, 0)
    world.commit(good)
    world.settle()
    for broken in ({**good, "spec": {**good["spec"], "digest": "no digest"}}, {**good, "spec": {"placement": "web"}}):
        world.commit(broken, builders.deployment("web", "web", image="web:3"))
        world.restart()
        world.settle()
        assert (set(rolled_out(world).values()), said_of_pin(world)[0]) == ({"web:1"}, "True")
        assert any(fault.path == "pins/web.yaml" and fault.severity is Severity.ERROR for fault in world.state().faults)
    world.commit(good, builders.pin("web", 1, digest_of(world, 1), name="a-second"))
    world.settle()
    world.restart()
    world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}
    assert [f.message for f in world.state().faults if f.severity is Severity.ERROR] == [
        DesiredText.PINNED_ALREADY_REMOVE_ONE_TWO(origin="pins/web.yaml:1")
    ]
    world.commit(remove=["pins/web.yaml"])
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}


def test_a_pin_to_quarantined_content_waits_until_it_is_lifted() -> None:
    world = released("web:2")
    world.commit(quarantine(digest_of(world, 0)))
    world.settle()
    wanted = Desired(commit="", objects={"quarantines": world.state().quarantines})
    with pytest.raises(BadInput, match="snapshot 0 of web is quarantined by web-bad"):
        rollback_of(world.state(), wanted, "web", 0, None, lambda path: False)
    world.commit(pinned(world, 0))
    world.settle()
    assert set(rolled_out(world).values()) == {"web:2"}
    result = world.reconcile()
    assert result is not None and [ask.partition(";")[0] for ask in result.asks] == [
        "web: snapshot 2 is quarantined by web-bad"
    ]
    world.commit(remove=["quarantines/web-bad.yaml"])
    world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}


def test_a_pin_waits_for_the_end_of_a_freeze() -> None:
    world = released("web:2")
    until = world.clock.now() + timedelta(hours=1)
    world.commit(builders.freeze("night", until.strftime("%Y-%m-%dT%H:%M:%SZ")), pinned(world, 0))
    world.rest()
    assert set(rolled_out(world).values()) == {"web:2"}
    world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}


def test_overrides_of_today_are_applied_to_the_old_content() -> None:
    world = released("web:2")
    world.commit(pinned(world, 0))
    world.settle()
    rule = builders.override_rule({"op": "add", "path": "/spec/replicas", "value": 7})
    world.commit(builders.override("more", "Deployment/web", rule, placement={"name": "web"}))
    world.settle()
    body = world.live("c1", "Deployment", "web")
    assert body is not None and body["spec"]["replicas"] == 7
    assert set(rolled_out(world).values()) == {"web:1"}


def begun(world: World) -> None:
    world.commit(builders.deployment("web", "web", image="web:3"))
    world.rest()


def stuck(world: World) -> None:
    world.fleet.cluster("c1").behave([never("web:3"), QUICK])
    begun(world)
    world.settle(limit=timedelta(minutes=20))


def silent(world: World) -> None:
    begun(world)
    world.fleet.cluster("c3").reachable = False
    world.settle(limit=timedelta(minutes=20))
    world.fleet.cluster("c3").reachable = True


@pytest.mark.parametrize("state", [begun, stuck, silent])
def test_a_rollback_is_possible_in_every_state_of_the_rollout(state: Callable[[World], None]) -> None:
    world = released("web:2")
    state(world)
    made = rollback_of(world.state(), Desired(commit=""), "web", 0, None, lambda path: False)
    world.write({made.path: made.text})
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}


API = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "api"}


def test_a_namespaced_placement_is_pinned_too() -> None:
    world = released()
    world.commit(
        builders.placement("web", strategy=EXTERNAL),
        builders.deployment("web", "api"),
        builders.an_object(
            builders.PLACEMENT_API, "ResourcePlacement", "api", namespace="web", spec={"resourceSelectors": [API]}
        ),
    )
    world.settle()
    key = PlacementKey("web", "api")
    world.commit(builders.deployment("web", "api", image="web:2"))
    world.settle()
    made = rollback_of(world.state(), Desired(commit=""), "web/api", 0, None, lambda path: False)
    assert made.path == "pins/web/api.yaml"
    world.write({made.path: made.text})
    world.settle()
    record = world.state().placements[key]
    assert record.is_pinned and record.latest_resources is not None
    assert record.latest_resources.hash == record.resource_snapshots[0].hash
    assert said_of_pin(world) == ("", "")


def test_the_pinned_snapshot_is_kept_whatever_the_limit_is() -> None:
    world = released("web:2")
    pin = pinned(world, 0)
    few = builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1))
    few["spec"]["revisionHistoryLimit"] = 1
    world.commit(pin, few)
    world.settle()
    assert [s.index for s in record_of(world).resource_snapshots] == [0, 2]
    world.commit(remove=["pins/web.yaml"])
    world.settle()
    assert [s.index for s in record_of(world).resource_snapshots] == [3]


def test_without_the_state_branch_a_pin_holds_what_runs() -> None:
    world = released("web:2")
    world.commit(pinned(world, 0))
    world.settle()
    world.repo.move_branch("gitfleet/state", None)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}
    assert said_of_pin(world)[0] == "False"


def test_selectors_with_an_error_do_not_keep_a_pin_from_going_back() -> None:
    world = released("web:2")
    twice = [builders.select_namespace("web"), {**builders.select_namespace("web")}]
    world.commit(pinned(world, 0), builders.placement("web", selectors=twice))
    world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}
    assert said_of_pin(world)[1].endswith(
        SnapshotsText.SELECTS_NOW_CANNOT_USED() + ReconcileText.WAITS_UNTIL_FILE_REMOVED(waiting="")
    )
