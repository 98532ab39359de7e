"""A reconcile without news costs looks and nothing else; whatever is news is seen by the very next reconcile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitfleet import reconcile
from gitfleet.model.decisions import Decision, Inputs
from tests.e2e.test_races import SETTINGS, Duel, files


class Counting(reconcile.Decider):
    """Counts how often it was asked to decide."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def decide(self, inputs: Inputs) -> Decision:
        self.asked += 1
        return super().decide(inputs)


def settled() -> tuple[Duel, Counting]:
    duel = Duel()
    decider = duel.quick_driver.decider = Counting()
    duel.commit(files("one"))
    duel.settle(duel.quick_driver)
    duel.settle(duel.quick_driver)
    decider.asked = 0
    return duel, decider


def test_nothing_is_decided_when_nothing_changed() -> None:
    duel, decider = settled()
    for _ in range(5):
        duel.clock.advance(3600)
        result = duel.quick_driver.reconcile()
        assert result.settled and not result.changed and not result.outcomes
    assert decider.asked == 0


def drift(duel: Duel) -> None:
    duel.fleet.cluster("c1").mutate(SETTINGS, [{"op": "replace", "path": "/data/k", "value": "by hand"}])


def deletion(duel: Duel) -> None:
    duel.fleet.cluster("c1").delete_by_hand(SETTINGS)


def silence(duel: Duel) -> None:
    duel.fleet.switch("c1", reachable=False)


def new_commit(duel: Duel) -> None:
    duel.commit(files("two"))


def other_process(duel: Duel) -> None:
    duel.commit(files("two"))
    duel.settle(duel.slow_driver)
    duel.commit(files("one"))


def lost_state(duel: Duel) -> None:
    duel.repo.move_branch("gitfleet/state", None)


@pytest.mark.parametrize("news", [drift, deletion, silence, new_commit, other_process, lost_state])
def test_all_news_is_seen_at_once(news: Callable[[Duel], None]) -> None:
    duel, decider = settled()
    duel.quick_driver.reconcile()
    assert decider.asked == 0
    news(duel)
    duel.quick_driver.reconcile()
    assert decider.asked == 1


@pytest.mark.parametrize("by_hand", [drift, deletion])
def test_drift_after_a_quiet_time_is_healed(by_hand: Callable[[Duel], None]) -> None:
    duel, _ = settled()
    duel.quick_driver.reconcile()
    by_hand(duel)
    duel.settle(duel.quick_driver)
    assert duel.value() == "one"
