"""`plan --fail-on`: every good spelling and every bad one, and when each condition is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitfleet.cli.fail_on import Condition, read_conditions
from gitfleet.cli.texts import CliText
from gitfleet.formats.texts import FormatsText
from tests.cli.conftest import Shell, commit
from tests.cli.test_validate import BAD

GOOD = {
    "errors": (Condition("errors"),),
    "none": (),
    "errors,unreachable,held": (Condition("errors"), Condition("unreachable"), Condition("held")),
    "delete": (Condition("delete"),),
    "delete>0": (Condition("delete"),),
    "delete>30%": (Condition("delete", 30, True),),
    "delete>0%": (Condition("delete", 0, True),),
    " errors , update > 50 % ": (Condition("errors"), Condition("update", 50, True)),
    "create>100,refuse,leave>1": (Condition("create", 100), Condition("refuse"), Condition("leave", 1)),
    "leave>10%": (Condition("leave", 10, True),),
    "scaleDown,scaleDown>3": (Condition("scaleDown"), Condition("scaleDown", 3)),
}
BAD_SPELLINGS = ("", "errors,", "none,errors", "errors delete", "errors>3", "create>10%", "delete>=3", "delete>many")


@pytest.mark.parametrize("text", GOOD)
def test_good_spellings(text: str) -> None:
    assert read_conditions(text) == GOOD[text]


@pytest.mark.parametrize("text", BAD_SPELLINGS)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_conditions(text)


def counts(number: int, percent: float) -> dict[str, Any]:
    return {"objects": number, "percent": percent}


DOCUMENT: dict[str, Any] = {
    "faults": [{"severity": "error"}, {"severity": "warning"}],
    "blocked": [{"placement": "web"}, {"placement": "web"}],
    "runs": [{"state": "refused"}, {"state": "running"}, {"state": "failed"}],
    "unreachable": [{}, {}],
    "holds": [{}],
    "risk": {
        "placed": 60, "clusters": 10, "leaving": [{}, {}, {}],
        "create": counts(4, 6.7), "update": counts(0, 0), "delete": counts(18, 30.0), "refuse": counts(1, 1.7),
        "scaledDown": [{"clusters": ["c1", "c2"]}, {"clusters": ["c1"]}],
    },
}  # fmt: skip
DELETED = "18 objects of 60 placed (30%) would be deleted"
MET = {
    "errors": " and ".join(
        (
            CliText.COMMIT_HAS(count="1 error"),
            CliText.CANNOT_ROLLED_OUT(count="1 placement"),
            CliText.WOULD_BE_REFUSED(count="1 run"),
        )
    ),
    "unreachable": CliText.NOT_ANSWER(count="2 clusters", verb="do"),
    "held": "1 removal is held",
    "create": "4 objects would be created",
    "create>3": "4 objects would be created",
    "create>4": "",
    "update": "",
    "update>0%": "",
    "delete": DELETED,
    "delete>17": DELETED,
    "delete>18": "",
    "delete>29%": DELETED,
    "delete>30%": "",
    "refuse": "1 object would be refused",
    "leave": CliText.WOULD_LEAVE_FLEET(number="3", count="10 clusters"),
    "leave>2": CliText.WOULD_LEAVE_FLEET(number="3", count="10 clusters"),
    "leave>29%": CliText.WOULD_LEAVE_FLEET(number="3", count="10 clusters"),
    "leave>30%": "",
    "scaleDown": ("3 workloads " + CliText.WOULD_SCALED_DOWN()),
    "scaleDown>3": "",
}


@pytest.mark.parametrize("text", MET)
def test_when_a_condition_is_met(text: str) -> None:
    (condition,) = read_conditions(text)
    assert condition.met(DOCUMENT) == MET[text]
    assert str(condition) == text


def test_a_share_of_nothing_is_no_share() -> None:
    empty = {**DOCUMENT, "risk": {**DOCUMENT["risk"], "placed": 0, "delete": {"objects": 0, "percent": None}}}
    assert [one.met(empty) for one in read_conditions("delete,delete>0%")] == ["", ""]


def failing(gitfleet: Shell, repo: Path, *words: str) -> tuple[int, list[str]]:
    """The exit code and what is said on stderr."""
    ended = gitfleet("plan", repo, "--clusters", "none", *words)
    assert ended.out
    return ended.code, ended.err.splitlines()


def test_errors_of_the_commit_make_a_plan_fail(gitfleet: Shell, fleet: Path) -> None:
    assert failing(gitfleet, fleet) == (0, [])
    assert failing(gitfleet, fleet, "--fail-on", "delete,held") == (0, [])
    created = [CliText.PLAN_FAILS(condition="create>10", sentence="24 objects would be created")]
    assert failing(gitfleet, fleet, "--fail-on", "create>10,delete") == (1, created)
    assert failing(gitfleet, fleet, "--fail-on", "create>10", "--detailed-exitcode") == (1, created)
    assert failing(gitfleet, fleet, "--detailed-exitcode") == (2, [])
    commit(fleet, {"placements/bad.yaml": BAD})
    code, said = failing(gitfleet, fleet)
    assert (
        code == 1
        and len(said) == 1
        and said[0].startswith(CliText.PLAN_FAILS(condition="errors", sentence=CliText.COMMIT_HAS(count="")))
    )
    assert failing(gitfleet, fleet, "--fail-on", "none") == (0, [])
    assert failing(gitfleet, fleet, "--fail-on", "none", "--detailed-exitcode") == (2, [])


def test_a_misspelt_condition_is_wrong_usage(gitfleet: Shell, fleet: Path) -> None:
    ended = gitfleet("plan", fleet, "--fail-on", "deletes>30%")
    assert (ended.code, ended.out) == (64, "")
    assert ended.err.splitlines()[0] == (
        "error: invalid value for '--fail-on': "
        + CliText.NO_CONDITION(text="deletes>30%", meant=FormatsText.YOU_MEAN(near="delete"))
    )
