"""A placement becomes External and goes back to RollingUpdate: no run is cut off, and no gate is lost by accident."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.texts import ApiText
from gitfleet.cli.plan_markdown import lines_of as markdown_lines
from gitfleet.cli.plan_text import lines_of
from gitfleet.desired.texts import DesiredText
from gitfleet.status.texts import StatusText
from gitfleet.views import approval_requests, held_placements_line
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, members, message, rolled_out, run_named, staged
from tests.scenarios.test_crashes import Killer
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import World
from tests.state.builders import reader_of

QUICK = ClusterRule(available=timedelta(seconds=10))
NAMES = ("c1", "c2", "c3")
ROLLING = builders.rolling_update(maxUnavailable=1)
BACK = builders.placement("web", strategy=ROLLING)
FIRST = builders.stage("first", match_labels={"stage": "first"}, approval=True)
ALL = builders.staged_strategy("all", FIRST, builders.stage("rest", match_labels={"stage": "rest"}, onFailure="Stop"))
OLD, NEW = dict.fromkeys(NAMES, "web:1"), dict.fromkeys(NAMES, "web:2")
PARTLY = {**OLD, "c1": "web:2"}
WHY = (
    "placements/web.yaml:11: ClusterResourcePlacement web would need no run any more: its latest snapshot and all "
    "later ones would go to every cluster without stages and approvals: placements/web.yaml has strategy RollingUpdate"
)


def web(image: str, strategy: dict[str, Any]) -> list[dict[str, Any]]:
    return [builders.deployment("web", "web", image), builders.placement("web", strategy=strategy)]


def run(name: str, index: str | None = None) -> dict[str, Any]:
    return builders.staged_run(name, placement="web", strategy="all", index=index)


def answer_stage(world: World, name: str, approved: bool = True) -> None:
    world.commit(builders.approval(name, "first", approved=approved))
    world.settle()


def external(*rules: ClusterRule) -> World:
    """A fleet whose External placement a run has brought to web:1, with web:2 in the repo and on no cluster."""
    world = staged(World(rules=(*rules, QUICK)), *members("c1", stage="first"), *members("c2", "c3", stage="rest"))
    world.commit(ALL, run("go"))
    world.settle()
    answer_stage(world, "go")
    world.commit(*web("web:2", EXTERNAL))
    world.settle()
    assert rolled_out(world) == OLD
    assert run_named(world, "go").finished
    return world


def is_external(world: World) -> bool:
    """Whether runs alone roll the placement out."""
    (record,) = world.state().placements.values()
    return record.placement.strategy.external


def approve(world: World) -> None:
    """A person approves the only hold."""
    world.write(answer(only_hold(world)))


def most_down(world: World) -> int:
    """So many clusters at most were without an available Deployment at once, until the world settles."""
    seen = []
    world.settle(each=lambda: seen.append(sum(bool(world.fleet.cluster(name).unavailable()) for name in NAMES)))
    return max(seen)


def test_it_goes_back_once_a_person_approves_and_on_to_the_latest_snapshot_within_its_budget() -> None:
    world = external()
    world.commit(BACK)
    world.settle()
    assert is_external(world)
    assert rolled_out(world) == OLD
    hold = only_hold(world)
    assert ([str(one) for one in hold.removals], [str(one) for one in hold.reasons], hold.objects) == (
        [(ApiText.CHANGE_PLACEMENT_FROM_EXTERNAL(placement="web") + ApiText.ENDS_STAGES_APPROVALS_RUNS(change=""))],
        [WHY],
        0,
    )
    said = StatusText.CHANGE_FROM_EXTERNAL(
        part=StatusText.APPROVAL_UNTIL_THEN_NEEDS_RUNS(what="waits", holds=hold.name)
    )
    (condition,) = [
        c for record in world.state().placements.values() for c in record.conditions if "RemovalsHeld" in c.type
    ]
    assert condition.message == said
    listed = "changes from " + ViewsText.HELD_GITFLEET_GET_HOLDS(what="External", names="web")
    assert held_placements_line(reader_of(world.state()), None) == listed
    (request,) = approval_requests(world.state())
    assert "What changes" in request.body and "remove" not in request.body, request.body
    document = plan_of(world)
    for page in ("\n".join(lines_of(document)), "\n".join(markdown_lines(document)), world.state_text("README.md")):
        assert ("To " + ViewsText.LET_CHANGE()) in page and "remov" not in page, page
    approve(world)
    assert most_down(world) == 1
    assert (world.state().faults, world.state().holds) == ((), {})
    assert rolled_out(world) == NEW
    assert run_named(world, "go").finished
    world.commit(*web("web:3", ROLLING))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:3")


def test_one_that_no_run_ever_moved_is_placed_by_the_rolling_update_once_a_person_approves() -> None:
    world = staged(World(rules=(QUICK,)), *members(*NAMES))
    world.commit(BACK)
    world.settle()
    assert rolled_out(world) == dict.fromkeys(NAMES)
    approve(world)
    world.settle()
    assert rolled_out(world) == OLD


def test_with_an_unfinished_run_it_stays_external_and_says_which() -> None:
    world = external()
    world.commit(run("next"))
    world.rest()
    world.commit(BACK)
    world.rest()
    (fault,) = world.state().faults
    assert str(fault).startswith("placements/web.yaml:")
    assert fault.field == "spec.strategy.type"
    assert fault.message == (
        DesiredText.CANNOT_GO_BACK_ROLLINGUPDATE_WHILE(runs="run", found="next is")
        + DesiredText.THEN_HELD_UNTIL_PERSON_APPROVES(word="it")
    )
    assert is_external(world)
    assert world.state().holds == {}


def rejected(world: World) -> None:
    answer_stage(world, "next", approved=False)
    assert "rejected" in message(world, "next", "Succeeded")


def aborted(world: World) -> None:
    world.commit(*members("c4", stage="rest"))
    world.settle()
    assert "outdated" in message(world, "next", "Succeeded")


def removed(world: World) -> None:
    world.commit(remove=[run("next")])
    world.settle()


def failed(world: World) -> None:
    answer_stage(world, "next")
    assert "c2 did not finish" in message(world, "next", "Succeeded")


def succeeded(world: World) -> None:
    answer_stage(world, "next")
    assert run_named(world, "next").finished


FAILING = ClusterRule(names=("c2",), object=ObjectPattern(image="web:2"), available="never")


@pytest.mark.parametrize(
    ("end", "index", "rules", "there", "after"),
    [
        (rejected, None, (), PARTLY, NEW),
        (failed, None, (FAILING,), {**PARTLY, "c2": "web:2"}, {**PARTLY, "c2": "web:2"}),
        (aborted, None, (), {**PARTLY, "c4": None}, {**NEW, "c4": "web:2"}),
        (removed, None, (), PARTLY, NEW),
        (succeeded, "0", (), OLD, NEW),
        (succeeded, None, (), NEW, NEW),
    ],
    ids=["rejected", "failed", "aborted", "removed", "succeeded with an older one", "succeeded with the latest"],
)
def test_however_the_run_ends_the_refused_edit_is_held_and_rolls_nothing_out_until_a_person_approves(
    end: Callable[[World], None],
    index: str | None,
    rules: tuple[ClusterRule, ...],
    there: dict[str, str | None],
    after: dict[str, str],
) -> None:
    world = external(*rules)
    world.commit(run("next", index))
    world.settle()
    world.commit(BACK)
    world.settle()
    assert [fault.field for fault in world.state().faults] == ["spec.strategy.type"]
    end(world)
    world.restart()
    world.settle()
    assert is_external(world)
    assert rolled_out(world) == there
    assert [fault.field for fault in world.state().faults] == []
    approve(world)
    world.settle()
    assert not is_external(world)
    assert rolled_out(world) == after


def test_external_put_back_takes_the_hold_away_and_asks_anew_when_it_goes_again() -> None:
    world = external()
    world.commit(BACK)
    world.settle()
    first = only_hold(world)
    world.commit(builders.placement("web", strategy=EXTERNAL))
    world.settle()
    assert world.state().holds == {}
    world.write(answer(first))
    world.settle()
    world.commit(BACK)
    world.settle()
    assert only_hold(world).name != first.name
    assert rolled_out(world) == OLD


def test_a_rejected_one_stays_external_and_runs_go_on() -> None:
    world = external()
    world.commit(BACK)
    world.settle()
    world.write(answer(only_hold(world), approved=False))
    world.settle()
    world.commit(run("next"))
    world.settle()
    answer_stage(world, "next")
    assert is_external(world)
    assert rolled_out(world) == NEW


def test_an_approval_that_comes_while_a_run_is_unfinished_lets_nothing_go_until_the_hold_of_then_is_approved() -> None:
    world = external()
    world.commit(BACK)
    world.settle()
    first = only_hold(world)
    world.commit(run("next"))
    world.settle()
    world.write(answer(first))
    world.settle()
    assert [fault.field for fault in world.state().faults] == ["spec.strategy.type"]
    rejected(world)
    assert is_external(world)
    assert rolled_out(world) == PARTLY
    assert only_hold(world).name != first.name


def test_other_edits_of_its_file_go_on_while_its_strategy_is_held() -> None:
    world = external()
    edited = builders.placement("web", strategy=ROLLING, policy=builders.pick_fixed(*NAMES))
    edited["spec"]["revisionHistoryLimit"] = 3
    del edited["spec"]["policy"]
    world.commit(edited)
    world.settle()
    (record,) = world.state().placements.values()
    assert (record.placement.strategy.external, record.placement.revision_history_limit) == (True, 3)
    assert rolled_out(world) == OLD


@pytest.mark.parametrize("state", ["Stop", "Initialize"])
def test_a_run_that_stands_still_is_unfinished_and_one_that_is_taken_out_in_the_same_commit_is_not(state: str) -> None:
    world = external()
    still = run("next")
    still["spec"]["state"] = state
    world.commit(still)
    world.settle()
    world.commit(BACK)
    world.settle()
    assert [fault.field for fault in world.state().faults] == ["spec.strategy.type"]
    world.commit(BACK, remove=[still])
    world.settle()
    assert world.state().faults == ()
    assert rolled_out(world) == OLD
    approve(world)
    world.settle()
    assert rolled_out(world) == NEW


def test_a_rolling_update_that_becomes_external_stops_after_what_has_started_and_goes_on_when_it_is_back() -> None:
    slow = ClusterRule(object=ObjectPattern(image="web:2"), available=timedelta(minutes=1))
    world = World(rules=(slow, QUICK))
    world.commit(*members(*NAMES), builders.namespace("web"), *web("web:1", ROLLING))
    world.settle()
    world.commit(*web("web:2", ROLLING))
    world.rest()
    world.commit(builders.placement("web", strategy=EXTERNAL))
    world.settle()
    assert rolled_out(world) == PARTLY
    world.commit(BACK)
    world.settle()
    approve(world)
    assert most_down(world) == 1
    assert rolled_out(world) == NEW


@pytest.mark.parametrize("at", range(1, 16))
@pytest.mark.parametrize("approved", [False, True])
def test_a_crash_in_between_changes_nothing_about_the_end(at: int, approved: bool) -> None:
    world = external()
    world.commit(BACK)
    if approved:
        world.settle()
        approve(world)
    world.driver.checkpoint = Killer(at)
    world.settle()
    assert rolled_out(world) == (NEW if approved else OLD)
    assert is_external(world) is not approved
    assert len(world.state().holds) == (not approved)
    assert world.state().faults == ()
