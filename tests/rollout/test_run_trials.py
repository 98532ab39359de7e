"""Staged runs as transcripts: each section of tests/rollout/runs is one run, in the form of Python's doctest."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.labels import LabelRequirement
from gitfleet.api.placements import PlacementType
from gitfleet.api.runs import ApprovalRequest
from gitfleet.api.staged import StagedRun
from gitfleet.api.strategies import ApplyStrategy
from tests.rollout import run_trials

NAMES = {
    one.__name__: one
    for one in (
        ApplyStrategy,
        ApprovalRequest,
        BindingState,
        LabelRequirement,
        PlacementType,
        StagedRun,
    )
} | vars(run_trials)
FOLDER = Path(__file__).parent / "runs"
SECTIONS = {
    f"{path.stem}: {section.partition(chr(10))[0]}": section
    for path in sorted(FOLDER.glob("*.txt"))
    for section in re.split(r"^## ", path.read_text(), flags=re.MULTILINE)[1:]
}


@pytest.mark.parametrize("title", SECTIONS)
def test_a_run_does_as_its_transcript_says(title: str) -> None:
    found = doctest.DocTestParser().get_doctest(SECTIONS[title], NAMES.copy(), title, title, 0)
    assert len(found.examples) > 1
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.FAIL_FAST | doctest.REPORT_NDIFF)
    assert runner.run(found, out=told.append).failed == 0, "".join(told)
