"""Freezes on the command line: `plan`, `explain`, `get freezes` and `simulate` name what is frozen and until when."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitfleet.cli.texts import CliText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.texts import part

FREEZE = builders.freeze("century", "2099-12-31T00:00:00Z", scope={"placements": ["web"]})
WHY = "frozen by century until 2099-12-31 00:00:00 UTC (ops: no changes)"


@pytest.fixture
def frozen(fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repo in which the placement `web` is frozen for long."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    override = builders.freeze_override("late", "2020-01-01T00:00:00Z", freezes=["century"])
    commit(fleet, {"freezes/century.yaml": builders.to_yaml(FREEZE), "freezes/late.yaml": builders.to_yaml(override)})
    return fleet


def test_plan_says_what_waits_and_explain_the_same_before_and_after_the_reconcile(
    gitfleet: Shell, frozen: Path
) -> None:
    plan = json.loads(gitfleet("plan", frozen, "-o", "json").out)
    waits = {p["name"]: {row["reason"] for row in p["rollout"] if row["move"] == "wait"} for p in plan["placements"]}
    assert waits == {"web": {WHY}, "monitoring": set()}
    assert gitfleet("explain", "web", "us-east-1", "-C", frozen).out.count(WHY) == 1
    assert gitfleet("run", "--once", frozen).code == 0
    assert gitfleet("explain", "web", "us-east-1", "-C", frozen).out.count(WHY) == 1
    assert WHY in gitfleet("describe", "crp", "web", "-C", frozen).out


def test_a_run_ends_where_all_that_waits_is_frozen_for_longer_than_it_may_take(gitfleet: Shell, frozen: Path) -> None:
    ended = gitfleet("run", "--until-settled", "--timeout", "40", frozen)
    assert (ended.code, WHY in ended.err) == (0, True), ended.err
    assert CliText.ALL_WAITS_FROZEN_LONGER(timeout=40) in ended.err
    assert part(CliText.SETTLED_COMMIT_PLACEMENTS) not in ended.err


def test_get_lists_freezes_with_their_state(gitfleet: Shell, frozen: Path) -> None:
    assert gitfleet("run", "--once", frozen).code == 0
    lines = gitfleet("get", "freezes", "-C", frozen).out.splitlines()
    assert max(map(len, lines)) <= 80, lines
    rows = [line.split() for line in lines]
    assert [row[:3] for row in rows] == [
        ["NAME", "KIND", "STATE"],
        ["century", "Freeze", "Frozen"],
        ["late", "FreezeOverride", "Expired"],
    ]
    assert json.loads(gitfleet("get", "freeze", "century", "-C", frozen, "-o", "json").out) == FREEZE
    assert gitfleet("get", "freezes", "-C", frozen).err == ""
    git(frozen, "commit", "-q", "--allow-empty", "-m", "More")
    newer = CliText.NEWER_COMMITS_NOT_RECONCILED_YET(otherwise=(CliText.NEXT_RECONCILE_TAKES_UP_FREEZE() + "\n"))
    assert gitfleet("get", "freezes", "-C", frozen).err == newer
    faults = gitfleet("validate", frozen)
    assert faults.code == 0, faults.out


def test_an_eviction_that_is_frozen_is_listed_and_described(gitfleet: Shell, frozen: Path) -> None:
    assert gitfleet("run", "--once", frozen).code == 0
    commit(frozen, {"evictions/ill.yaml": builders.to_yaml(builders.eviction("ill", "web", "us-east-1"))})
    said = f"eviction ill {ViewsText.WAITS_TO_EVICT()} web from us-east-1: {WHY}"
    assert any(line.startswith(said) for line in gitfleet("plan", frozen).out.splitlines())
    (waits,) = json.loads(gitfleet("plan", frozen, "-o", "json").out)["evictions"]
    assert waits.pop("message").startswith(WHY)
    assert waits == {"name": "ill", "placement": "web", "clusterName": "us-east-1", "valid": None, "executed": None}
    assert gitfleet("run", "--once", frozen).code == 0
    for shown in (("get", "evictions", "-o", "wide"), ("describe", "eviction", "ill"), ("explain", "web", "us-east-1")):
        assert WHY in gitfleet(*shown, "-C", frozen).out, shown
