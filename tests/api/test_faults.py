"""How many faults are kept and shown, and what is said of the others."""

from __future__ import annotations

import pytest

from gitfleet.api.annotations import Location
from gitfleet.api.faults import (
    LONGEST_MESSAGE,
    LONGEST_NAME,
    MOST_IN_ALL,
    MOST_OF_A_FILE,
    Fault,
    Severity,
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


def summaries(found: tuple[Fault, ...]) -> list[tuple[str, int, str, str]]:
    return [(f.path, f.line, f.severity.value, f.message.partition(",")[0]) for f in found if f.message != "no"]


@pytest.mark.parametrize(
    ("given", "count", "said"),
    [
        ([], 0, []),
        (faults("b.yaml", 2) * 2 + faults("a.yaml", 1), 3, []),
        (faults("a.yaml", MOST_OF_A_FILE), 100, []),
        (faults("a.yaml", MOST_OF_A_FILE + 1), 101, [("a.yaml", 101, "error", (ApiText.THIS_FILE_HAS() +
            " 1 more error"))]),
        (faults("a.yaml", 3, 200), 101, [("a.yaml", 98, "warning", (ApiText.THIS_FILE_HAS() + " 103 more warnings"))]),
        (
            faults("a.yaml", 101, 2), 101,
            [("a.yaml", 103, "error", (ApiText.THIS_FILE_HAS() + " 1 more error and 2 more warnings"))],
        ),
        (
            [fault for n in range(1002) for fault in faults(f"{n:04}.yaml", 1, 1)], 1003,
            [
                ("0000.yaml", 1, "warning", (ApiText.THIS_FILE_HAS() + " 1 more warning")),
                ("1000.yaml", 1, "error", (ApiText.FILE_OTHERS(count="1") + " 2 more errors and 2 more warnings")),
            ],
        ),
        (
            faults("w.yaml", 0, 1) + [fault for n in range(1000) for fault in faults(f"{n:04}.yaml", 1)], 1001,
            [("w.yaml", 1, "warning", (ApiText.THIS_FILE_HAS() + " 1 more warning"))],
        ),
    ],
)  # fmt: skip
def test_faults_beyond_the_limits_are_counted(
    given: list[Fault], count: int, said: list[tuple[str, int, str, str]]
) -> None:
    found = listed(given)
    assert list(found) == sorted(found)
    assert (summaries(found)[:1] + summaries(found)[-1:] if len(said) == 2 else summaries(found)) == said
    assert len([f for f in found if f.message == "no"]) == min(MOST_IN_ALL, count - (len(said) if count < 1001 else 0))


def test_every_error_is_listed_before_any_warning() -> None:
    found = listed([fault for n in range(40) for fault in faults(f"{n}.yaml", 30, 100)])
    assert sum(f.message == "no" and f.severity is Severity.ERROR for f in found) == 1000


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
        ([], []),
        ([at("b:1", NAMESPACE, REQUIRED), at("a:2", NAMESPACE, REQUIRED)], ["a:2 and 1 more"]),
        ([at("a:1", NAMESPACE, REQUIRED), at("a:1", ("metadata", "name"), REQUIRED)], ["a:1", "a:1"]),
        ([at("a:1", ("items", 0, "name"), REQUIRED), at("a:2", ("items", 7, "name"), REQUIRED)], ["a:1 and 1 more"]),
        ([at("a:1", ("n",), REQUIRED), at("a:2", ("n",), REQUIRED, Severity.WARNING)], ["a:1", "a:2"]),
        ([at("a:1", ("n",), write("In")), at("a:2", ("n",), write("In")), at("a:3", ("n",), write("NotIn"))],
         ["a:1 and 1 more", "a:3"]),
        ([at("a:1", ("n",), more("In")), at("a:2", ("n",), more("NotIn"))], ["a:1 and 1 more"]),
        ([at("a:1", ("n",), write(more("In"))), at("a:2", ("n",), write(more("NotIn")))], ["a:1 and 1 more"]),
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
