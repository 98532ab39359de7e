"""What is kept from pass to pass saves work and nothing else: in every step of random histories an empty memo
gives the same decision, the same operations and so the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet import reconcile
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Operation
from tests.properties.histories import History

EMPTY = reconcile.Memo()


@pytest.mark.parametrize("seed", range(12))
def test_an_empty_memo_gives_the_same_decision(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    decide, plan_operations = reconcile.decide, reconcile.plan_operations
    compared: list[bool] = []

    def decided(inputs: Inputs, memo: reconcile.Memo, *more: Any) -> tuple[Decision, reconcile.Memo]:
        decision, after = decide(inputs, memo, *more)
        anew, _ = decide(inputs, EMPTY, *more)
        assert anew == decision
        compared.append(memo.shared.index is not None)
        return decision, after

    def planned(
        decision: Decision, newly_observed: Mapping[str, ClusterObservation], memo: reconcile.Memo, *more: Any
    ) -> tuple[Decision, tuple[Operation, ...], reconcile.Memo]:
        result = plan_operations(decision, newly_observed, memo, *more)
        assert plan_operations(decision, newly_observed, EMPTY, *more)[:2] == result[:2]
        return result

    monkeypatch.setattr(reconcile, "decide", decided)
    monkeypatch.setattr(reconcile, "plan_operations", planned)
    History(seed).play()
    assert any(compared), "something was kept"
