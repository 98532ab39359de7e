"""`plan --fail-on`: every good spelling and every bad one, and when each condition is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitfleet.cli.fail_on import Condition, read_conditions
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
}
THERE_ARE = "there are errors, unreachable, held, create, update, delete, refuse, leave, none"
BAD_SPELLINGS = {
    "": "there is an empty condition between the commas",
    "errors,": "there is an empty condition between the commas",
    "error": '"error" is no condition; did you mean errors?',
    "Errors": '"Errors" is no condition; did you mean errors?',
    "deletes": '"deletes" is no condition; did you mean delete?',
    "deletions>30%": f'"deletions" is no condition; {THERE_ARE}',
    "unreachble": '"unreachble" is no condition; did you mean unreachable?',
    "hold": '"hold" is no condition; did you mean held?',
    "xyz": f'"xyz" is no condition; {THERE_ARE}',
    "errors delete": f'"errors delete" is no condition; {THERE_ARE}',
    "errors>3": '"errors" takes no number: write it alone',
    "held>1": '"held" takes no number: write it alone',
    "delete>=30%": '"delete>=30%": only ">" is known, as in delete>30%',
    "delete=3": '"delete=3": only ">" is known, as in delete>3',
    "delete<3": '"delete<3": only ">" is known, as in delete>3',
    "delete>": '"delete>": behind ">" stands a whole number, or one with "%", as in delete>10',
    "delete>%": '"delete>%": behind ">" stands a whole number, or one with "%", as in delete>10',
    "delete>many": '"delete>many": behind ">" stands a whole number, or one with "%", as in delete>10',
    "delete>-1": '"delete>-1": behind ">" stands a whole number, or one with "%", as in delete>10',
    "delete>1.5%": '"delete>1.5%": behind ">" stands a whole number, or one with "%", as in delete>10',
    "delete>101%": '"delete>101%" can never be met: no share is more than 100%',
    "create>10%": '"create>10%": create takes a number, a share is of update and delete and leave alone',
    "none,errors": '"none" stands alone: with it nothing makes the plan fail',
}


@pytest.mark.parametrize("text", GOOD)
def test_good_spellings(text: str) -> None:
    assert read_conditions(text) == GOOD[text]


@pytest.mark.parametrize("text", BAD_SPELLINGS)
def test_bad_spellings_say_what_was_meant(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_conditions(text)
    assert str(caught.value) == BAD_SPELLINGS[text]


def counts(number: int, percent: float) -> dict[str, Any]:
    return {"objects": number, "percent": percent}


DOCUMENT: dict[str, Any] = {
    "faults": [{"severity": "error"}, {"severity": "warning"}],
    "blocked": [{"placement": "web"}, {"placement": "web"}],
    "unreachable": [{}, {}],
    "holds": [{}],
    "risk": {
        "placed": 60, "clusters": 10, "leaving": [{}, {}, {}],
        "create": counts(4, 6.7), "update": counts(0, 0), "delete": counts(18, 30.0), "refuse": counts(1, 1.7),
    },
}  # fmt: skip
DELETED = "18 objects of 60 placed (30%) would be deleted"
MET = {
    "errors": "the commit has 1 error and 1 placement cannot be rolled out",
    "unreachable": "2 clusters do not answer",
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
    "leave": "3 of 10 clusters would leave the fleet",
    "leave>2": "3 of 10 clusters would leave the fleet",
    "leave>29%": "3 of 10 clusters would leave the fleet",
    "leave>30%": "",
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
    created = ["plan fails on create>10: 24 objects would be created"]
    assert failing(gitfleet, fleet, "--fail-on", "create>10,delete") == (1, created)
    assert failing(gitfleet, fleet, "--fail-on", "create>10", "--detailed-exitcode") == (1, created)
    assert failing(gitfleet, fleet, "--detailed-exitcode") == (2, [])
    commit(fleet, {"placements/bad.yaml": BAD})
    code, said = failing(gitfleet, fleet)
    assert code == 1 and len(said) == 1 and said[0].startswith("plan fails on errors: the commit has ")
    assert failing(gitfleet, fleet, "--fail-on", "none") == (0, [])
    assert failing(gitfleet, fleet, "--fail-on", "none", "--detailed-exitcode") == (2, [])


def test_a_misspelt_condition_is_wrong_usage(gitfleet: Shell, fleet: Path) -> None:
    ended = gitfleet("plan", fleet, "--fail-on", "deletes>30%")
    assert (ended.code, ended.out) == (64, "")
    assert ended.err.splitlines()[0] == (
        "error: invalid value for '--fail-on': \"deletes\" is no condition; did you mean delete?"
    )
