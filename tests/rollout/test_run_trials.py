"""Staged runs as transcripts: each section of tests/rollout/runs is one run, in the form of Python's doctest."""

from __future__ import annotations

import doctest
import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest

from gitfleet.api.bindings import BindingState, ClusterContent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementType
from gitfleet.api.runs import ApprovalRequest
from gitfleet.api.stage_tasks import OnStageFailure, TaskType
from gitfleet.api.staged import Membership, RunState, StagedRun, Unreachable
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.rollout.staged import steps
from tests.rollout import run_trials
from tests.rollout.builders import scheduled
from tests.texts import said

NAMES = {
    one.__name__: one
    for one in (
        ApplyStrategy,
        ApprovalRequest,
        BindingState,
        ClusterContent,
        Membership,
        OnStageFailure,
        PlacementType,
        RunState,
        StagedRun,
        TaskType,
        Unreachable,
    )
} | vars(run_trials)
FOLDER = Path(__file__).parent / "runs"
SECTIONS = {
    f"{path.stem}: {section.partition(chr(10))[0]}": section
    for path in sorted(FOLDER.glob("*.txt"))
    for section in re.split(r"^## ", said(path.read_text()), flags=re.MULTILINE)[1:]
}


@pytest.mark.parametrize("title", SECTIONS)
def test_a_run_does_as_its_transcript_says(title: str) -> None:
    found = doctest.DocTestParser().get_doctest(SECTIONS[title], NAMES.copy(), title, title, 0)
    assert len(found.examples) > 1
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.FAIL_FAST | doctest.REPORT_NDIFF)
    assert runner.run(found, out=told.append).failed == 0, "".join(told)


def test_a_pass_costs_as_much_as_the_clusters_that_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as much as their square: how many are under way is counted once for all that may start."""
    counted = [phases_asked(clusters, monkeypatch) for clusters in (50, 100)]
    assert counted[1] < 2.5 * counted[0]


def phases_asked(clusters: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the pass that starts all clusters of a stage asks how far one of them is."""
    names = [f"c{at}" for at in range(clusters)]
    run = run_trials.trial(run_trials.stage(max_concurrency="100%"), bindings=tuple(scheduled(name) for name in names))
    run.request = replace(run.request, clusters={name: MemberCluster(name=name) for name in names})
    asked = Mock(side_effect=steps.cluster_phase)
    monkeypatch.setattr("gitfleet.rollout.staged.clusters.cluster_phase", asked)
    with redirect_stdout(StringIO()):
        run.go()
    assert len(run.step.moves) == clusters
    return asked.call_count
