"""A reconcile without news costs looks and nothing else; whatever is news is seen by the very next reconcile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet import reconcile
from gitfleet.model.decisions import Decision, Inputs
from tests.e2e.test_races import SETTINGS, Duel, files


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[Inputs]:
    """What it was asked to decide since the fleet settled."""
    asked: list[Inputs] = []
    decide = reconcile.decide

    def counting(inputs: Inputs, memo: reconcile.Memo, *more: Any) -> tuple[Decision, reconcile.Memo]:
        asked.append(inputs)
        return decide(inputs, memo, *more)

    monkeypatch.setattr(reconcile, "decide", counting)
    return asked


def settled(decided: list[Inputs]) -> Duel:
    duel = Duel()
    duel.commit(files("one"))
    duel.settle(duel.quick_driver)
    duel.settle(duel.quick_driver)
    decided.clear()
    return duel


def test_nothing_is_decided_when_nothing_changed(decided: list[Inputs]) -> None:
    duel = settled(decided)
    for _ in range(5):
        duel.clock.advance(3600)
        result = duel.quick_driver.reconcile()
        assert result.settled and not result.changed and not result.outcomes
    assert not decided


def drift(duel: Duel) -> None:
    duel.fleet.cluster("c1").mutate(SETTINGS, [{"op": "replace", "path": "/data/k", "value": "by hand"}])


def deletion(duel: Duel) -> None:
    duel.fleet.cluster("c1").delete_by_hand(SETTINGS)


def silence(duel: Duel) -> None:
    duel.fleet.cluster("c1").reachable = False


def new_commit(duel: Duel) -> None:
    duel.commit(files("two"))


def other_process(duel: Duel) -> None:
    duel.commit(files("two"))
    duel.settle(duel.slow_driver)
    duel.commit(files("one"))


def lost_state(duel: Duel) -> None:
    duel.repo.move_branch("gitfleet/state", None)


@pytest.mark.parametrize("news", [drift, deletion, silence, new_commit, other_process, lost_state])
def test_all_news_is_seen_at_once(news: Callable[[Duel], None], decided: list[Inputs]) -> None:
    duel = settled(decided)
    duel.quick_driver.reconcile()
    assert not decided
    news(duel)
    decided.clear()
    duel.quick_driver.reconcile()
    assert len(decided) == 1


@pytest.mark.parametrize("by_hand", [drift, deletion])
def test_drift_after_a_quiet_time_is_healed(by_hand: Callable[[Duel], None], decided: list[Inputs]) -> None:
    duel = settled(decided)
    duel.quick_driver.reconcile()
    by_hand(duel)
    duel.settle(duel.quick_driver)
    assert duel.value() == "one"
