"""The guarantee of removals, and the budgets, in random histories (see `invariants` and `unchanged`).

`--histories N` plays more. What breaks an invariant is played again by its seed: `--first-history SEED --histories 1`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.apply import deletions
from gitfleet.model.operations import Delete
from gitfleet.model.removals import ClusterGate, Permit
from tests.properties.histories import History
from tests.properties.options import number_of
from tests.properties.unchanged import check_histories

CHUNKS = 20
"""Enough to keep several workers busy to the end."""


@pytest.mark.deeper("histories")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_history_breaks_a_law(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-history"), number_of("histories", pytestconfig)
    checked = check_histories(History, range(first + chunk, first + count, CHUNKS), lambda history: None)
    assert checked or count < 10 * CHUNKS  # an invariant that never applies proves nothing


def test_the_same_seed_gives_the_same_history() -> None:
    one, other = History(7), History(7)
    one.play()
    other.play()
    assert one.log == other.log
    assert one.world.repo.fetch() == other.world.repo.fetch()


def permit_everything(monkeypatch: pytest.MonkeyPatch) -> str:
    """The removal gate lets everything go."""
    monkeypatch.setattr(ClusterGate, "permit", lambda gate, identity: Permit(gate.cluster, identity, "mutant"))
    monkeypatch.setattr(ClusterGate, "why_held", lambda gate, identity: "")
    return "was deleted, .* holds"


def delete_past_the_gate(monkeypatch: pytest.MonkeyPatch) -> str:
    """For a ConfigMap that may go its neighbour is deleted, and the one assertion about that is gone."""

    def neighbour(**values: Any) -> Delete:
        delete = Delete(**values)
        if delete.key.kind != "ConfigMap":
            return delete
        return replace(delete, key=replace(delete.key, group="apps", kind="Deployment", name="app"), uid="")

    monkeypatch.setattr(deletions, "Delete", neighbour)
    monkeypatch.setattr(Permit, "covers", lambda permit, cluster, key: True)
    return "was deleted, which .* wants there"


@pytest.mark.parametrize("mutate", [permit_everything, delete_past_the_gate])
def test_the_judge_notices_a_removal_past_the_gate(
    mutate: Callable[[pytest.MonkeyPatch], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match=mutate(monkeypatch)):
        check_histories(History, range(40), lambda history: None)
