"""The tables of the staged runs' state machines: docs/staged-runs.md shows them, and every phase is what its conditions
say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from gitfleet.rollout.staged import phases
from gitfleet.rollout.staged.phases import ClusterPhase, RunPhase, StagePhase, marked, phase_of

PAGE = Path(__file__).parents[2] / "docs" / "staged-runs.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TABLES: Mapping[str, tuple[Mapping[Any, Any], StrEnum]] = {
    "A run": (phases.RUN_MOVES, RunPhase.NEW),
    "A stage": (phases.STAGE_MOVES, StagePhase.PENDING),
    "A cluster of a stage": (phases.CLUSTER_MOVES, ClusterPhase.PENDING),
}


def drawn(moves: Mapping[Any, Any], first: StrEnum) -> str:
    """A table as a Mermaid state diagram."""
    lines = [f"  {phase} --> {after}: {event}" for (phase, event), after in moves.items()]
    return "\n".join(["stateDiagram-v2", f"  [*] --> {first}", *lines, ""])


@pytest.mark.parametrize("title", TABLES)
def test_the_page_shows_the_tables(title: str) -> None:
    found = re.search(rf"### {title}\n\n```mermaid\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    assert found[1] == drawn(*TABLES[title])


@pytest.mark.parametrize("marks", [phases.RUN_MARKS, phases.STAGE_MARKS, phases.CLUSTER_MARKS])
def test_a_phase_is_what_its_conditions_say(marks: Mapping[Any, phases.Marks]) -> None:
    for phase, wanted in marks.items():
        said = phase_of(marks, marked((), wanted, "", NOW))
        # Before its clusters a stage waits with the same reason as after them: only its start tells them apart.
        assert said is (StagePhase.WAITING if phase is StagePhase.GATED else phase)


@pytest.mark.parametrize("title", TABLES)
def test_every_phase_is_reached_and_only_ends_end(title: str) -> None:
    moves, first = TABLES[title]
    reached, left = {first, *moves.values()}, {phase for phase, _ in moves}
    assert reached == set(type(first))
    ends = {"A run": 3, "A stage": 3, "A cluster of a stage": 1}[title]
    assert len(reached - left) == ends
