"""How many faults are kept and shown, and what is said of the others."""

from __future__ import annotations

import pytest

from gitfleet.api.annotations import Location
from gitfleet.api.faults import (
    LONGEST_MESSAGE,
    LONGEST_NAME,
    MOST_LISTED,
    Fault,
    Severity,
    are_all_listed,
    by_cause,
    fault_at,
    fault_from,
    listed,
)
from gitfleet.api.texts import ApiText


def faults(path: str, errors: int, warnings: int = 0) -> list[Fault]:
    """Warnings first in the file, an error a line after them."""
    severities = [Severity.WARNING] * warnings + [Severity.ERROR] * errors
    return [Fault(path, line, "Kind/name", "", "no", severity) for line, severity in enumerate(severities, 1)]


@pytest.mark.parametrize(
    ("given", "left_out"),
    [
        (faults("b.yaml", 2) * 2 + faults("a.yaml", 1), None),
        (faults("a.yaml", MOST_LISTED), None),
        (faults("a.yaml", 3, MOST_LISTED), ("a.yaml", 998, "warning", "3 more warnings")),
        (
            [fault for n in range(1002) for fault in faults(f"{n:04}.yaml", 1, 1)],
            ("1000.yaml", 2, "error", "2 more errors and 1002 more warnings"),
        ),
    ],
)
def test_faults_beyond_the_limit_are_counted(given: list[Fault], left_out: tuple[str, int, str, str] | None) -> None:
    found = listed(given)
    assert list(found) == sorted(found) and are_all_listed(found) == (left_out is None)
    said = [(fault.path, fault.line, fault.severity.value, fault.message) for fault in found if fault.message != "no"]
    expected = [(*left_out[:3], ApiText.NOT_LISTED_HERE(numbers=left_out[3]))] if left_out is not None else []
    assert said == expected
    assert len(found) - len(said) == min(MOST_LISTED, len(set(given)))


def test_long_texts_are_cut() -> None:
    (found,) = listed([Fault("a.yaml", 1, "o" * 9999, "f" * 9999, "m" * 9999)])
    assert [len(text) for text in (found.object, found.field, found.message)] == [
        LONGEST_NAME + 3, LONGEST_NAME + 3, LONGEST_MESSAGE + 3,
    ]  # fmt: skip


def at(place: str, location: Location, message: str, severity: Severity = Severity.ERROR) -> Fault:
    """A fault at `path:line` in a field."""
    path, line = place.split(":")
    return fault_at((path, int(line)), "Kind/name", location, message, severity)


NAMESPACE: Location = ("metadata", "namespace")
REQUIRED = ApiText.REQUIRED_ADD()


def write(choice: str) -> str:
    """A sentence whose cure needs its value."""
    return ApiText.MUST_ONE(replace="In, NotIn", end=choice)


def more(operator: str) -> str:
    """One whose cure does not."""
    return ApiText.NEEDS_LEAST_ONE_VALUE(operator=operator)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([at("b:1", NAMESPACE, REQUIRED), at("a:2", NAMESPACE, REQUIRED)], ["a:2 and 1 more"]),
        ([at("a:1", NAMESPACE, REQUIRED), at("a:1", ("metadata", "name"), REQUIRED)], ["a:1", "a:1"]),
        ([at("a:1", ("items", 0, "name"), REQUIRED), at("a:2", ("items", 7, "name"), REQUIRED)], ["a:1 and 1 more"]),
        ([at("a:1", ("n",), REQUIRED), at("a:2", ("n",), REQUIRED, Severity.WARNING)], ["a:1", "a:2"]),
        ([at("a:1", ("n",), write("In")), at("a:2", ("n",), write("In")), at("a:3", ("n",), write("NotIn"))],
         ["a:1 and 1 more", "a:3"]),
        ([at("a:1", ("n",), more("In")), at("a:2", ("n",), more("NotIn"))], ["a:1 and 1 more"]),
        ([at("a:1", ("n",), "as a program says it"), at("a:2", ("n",), "as a program says it")], ["a:1", "a:2"]),
    ],
)  # fmt: skip
def test_faults_that_the_same_edit_cures_are_one_line(given: list[Fault], said: list[str]) -> None:
    lines = [str(group) for group in by_cause(given)]
    assert [line.partition(":")[0] + ":" + line.split(":")[1] for line in lines] == said
    assert [str(group) for group in by_cause(fault_from(fault.document()) for fault in given)] == lines


def test_a_fault_keeps_its_cause_when_it_is_cut_and_is_equal_to_one_without() -> None:
    fault = at("a:1", ("items", 0), ApiText.MUST_ONE(replace="x" * 2000, end="write one"))
    (cut,) = listed([fault])
    assert (cut.code, cut.cause) == ("MUST_ONE", fault.cause) and len(fault.cause) == 12
    assert fault == Fault(fault.path, fault.line, fault.object, fault.field, fault.message)
