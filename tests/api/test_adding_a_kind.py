"""A new kind is one declaration: reading with every error, writing, defaults and schema come from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import pytest
from annotated_types import Interval, Len

from gitfleet.api import Break, InvalidContent, dotted, read, read_state, write
from gitfleet.api.annotations import At, OneOf, Only
from gitfleet.api.conditions import Condition
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Labels, NonEmpty, ObjectName, Seconds
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import lines_of, parse_documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """When it is open."""

    day: Annotated[str, OneOf("Mon", "Sat")]
    length: Seconds = 3600.0


@document("spec", identify=lambda _: ("example.com/v1", "MaintenancePlan"))
@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenancePlan:
    """A kind of a test."""

    name: Annotated[ObjectName, At("metadata", "name")]
    labels: Annotated[Labels, At("metadata", "labels")] = field(default_factory=dict)
    windows: Annotated[tuple[Window, ...], Len(1, 3)]
    most_clusters: Annotated[int, Interval(ge=1, le=100), At("spec", "limits", "mostClusters")] = 10
    contact: NonEmpty | None = None
    body: Annotated[JsonObject, Only.MEMORY] = field(default_factory=dict)
    origin: Annotated[Origin | None, Only.MEMORY] = None

    def breaks(self) -> Iterator[Break]:
        """Each day once."""
        days = [window.day for window in self.windows]
        for index, day in enumerate(days):
            if day in days[:index]:
                yield ("spec", "windows", index, "day"), ApiText.STANDS_TWICE_REMOVE_ONE()


SOUND = b"""\
apiVersion: example.com/v1
kind: MaintenancePlan
metadata: {name: weekly, uid: 1234-5678}
spec:
  windows:
  - day: Sat
    length: 90m
"""
FAULTY = b"""\
apiVersion: example.com/v1
kind: MaintenancePlan
metadata:
  name: Weekly
spec:
  windows:
  - day: Sun
  - day: Sat
    lenght: 90m
  limits:
    mostClusters: "7"
  contact: ""
"""


def body_of(content: bytes) -> object:
    (document_,) = parse_documents(content, max_bytes=10_000).documents
    return document_.value


def test_it_is_read_with_its_defaults_and_written_without_them() -> None:
    plan, breaks = read(MaintenancePlan, body_of(SOUND))

    assert breaks == []
    assert plan == MaintenancePlan(name="weekly", windows=(Window(day="Sat", length=5400.0),))
    assert plan.most_clusters == 10
    assert write(plan) == {
        "apiVersion": "example.com/v1",
        "kind": "MaintenancePlan",
        "metadata": {"name": "weekly"},
        "spec": {"windows": [{"day": "Sat", "length": "1h30m0s"}]},
    }
    assert read_state(MaintenancePlan, write(plan)) == plan


def test_every_error_is_said_at_once_each_with_its_line() -> None:
    plan, breaks = read(MaintenancePlan, body_of(FAULTY))

    assert plan is None
    lines = lines_of(FAULTY, [(0, location) for location, _ in breaks])
    assert sorted(zip(lines, [f"{dotted(where)}: {sentence}" for where, sentence in breaks], strict=True)) == [
        (4, ("metadata.name: " + ApiText.MUST_LOWER_CASE_LETTERS_DIGITS_DASHES())),
        (7, ("spec.windows[0].day: " + ApiText.MUST_ONE(replace="'Mon', 'Sat'", end="correct it"))),
        (9, ("spec.windows[1].lenght: " + ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near="length")))),
        (11, ("spec.limits.mostClusters: " + ApiText.MUST_WHOLE_NUMBER())),
        (12, ("spec.contact: " + ApiText.MUST_NOT_EMPTY_FILL())),
    ]


@pytest.mark.parametrize(
    ("contact", "expected"),
    [
        (3, (("spec", "contact"), ApiText.MUST_STRING_PUT_QUOTES())),
        ("me", (("spec", "windows", 1, "day"), ApiText.STANDS_TWICE_REMOVE_ONE())),
    ],
)
def test_a_rule_between_fields_is_judged_once_the_fields_are_sound(contact: object, expected: Break) -> None:
    body = {
        "apiVersion": "example.com/v1",
        "kind": "MaintenancePlan",
        "metadata": {"name": "weekly"},
        "spec": {"windows": [{"day": "Sat"}, {"day": "Sat"}], "contact": contact},
    }

    assert read(MaintenancePlan, body)[1] == [expected]


def test_the_state_branch_is_read_whatever_a_newer_version_added() -> None:
    body = {"metadata": {"name": "weekly"}, "spec": {"windows": [{"day": "Sun", "color": "red"}]}}

    assert read_state(MaintenancePlan, body).windows == (Window(day="Sun"),)
    with pytest.raises(InvalidContent, match=re.escape(f"`spec.windows` {ApiText.MUST_LIST_BEGIN_EACH_ITEM()}")):
        read_state(MaintenancePlan, {**body, "spec": {"windows": {}}})


def test_a_boolean_is_no_number_wherever_it_stands() -> None:
    sound = {"type": "Applied", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
    spoilt = {**sound, "observedGeneration": True}

    assert len(read_state(tuple[Condition, ...], [sound, sound])) == 2
    for conditions in ([spoilt], [sound, spoilt]):
        with pytest.raises(InvalidContent, match="observedGeneration"):
            read_state(tuple[Condition, ...], conditions)
