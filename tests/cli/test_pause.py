"""`gitfleet pause` and `gitfleet resume`: one field of a workload rollout's file, all else as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.cli.texts import CliText
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, commit, git

WEB = """\
# Slowly: the pods of web take a minute to warm up.
apiVersion: standard.oam.dev/v1alpha1
kind: RolloutTrait
metadata:
  name: web
  namespace: web
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}   # what `gitfleet init` lays out
  rolloutPlan:
    # One pod at a time.
    numBatches: 2
"""
TWO = """\
---
apiVersion: standard.oam.dev/v1alpha1
kind: Rollout
metadata: {name: one, namespace: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: one}
  rolloutPlan: {numBatches: 2}
---
apiVersion: standard.oam.dev/v1alpha1
kind: RolloutTrait
metadata: {name: two, namespace: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: two}
  rolloutPlan: {paused: true}   # until Monday
"""


@pytest.fixture
def rolling(moving: Path) -> Path:
    """The fleet with three workload rollouts in two files."""
    commit(moving, {"rollouts/web/web.yaml": WEB, "rollouts/others.yaml": TWO})
    return moving


def test_a_rollout_is_paused_and_goes_on_by_commits_that_change_one_line(gitfleet: Shell, rolling: Path) -> None:
    said = gitfleet("pause", "rollout", "web", "-C", rolling)
    made = git(rolling, "rev-parse", "main").strip()
    assert (said.code, said.out) == (0, ""), said.err
    assert said.err.splitlines() == [
        "rollouts/web/web.yaml pauses workload rollout web/web",
        CliText.COMMITTED_AS_BY(branch="main", commit=made[:10], email="", merge="person@example.com"),
    ]
    assert git(rolling, "log", "-1", "--format=%s") == "Pause workload rollout web/web\n"
    paused = WEB.replace("    # One pod", "    paused: true\n    # One pod")
    assert git(rolling, "show", "main:rollouts/web/web.yaml") == paused
    assert gitfleet("validate", rolling).code == 0

    again = gitfleet("pause", "rollout", "web/web", "-C", rolling)
    assert again.code == 0
    assert CliText.ALREADY_NOTHING_COMMITTED(branch="main") in again.err

    resumed = gitfleet("resume", "RolloutTrait", "web/web", "-C", rolling)
    assert resumed.code == 0, resumed.err
    assert git(rolling, "show", "main:rollouts/web/web.yaml") == paused.replace("true", "false")
    assert git(rolling, "log", "-1", "--format=%s") == "Resume workload rollout web/web\n"


def test_one_of_several_objects_of_a_file_changes(gitfleet: Shell, rolling: Path) -> None:
    assert gitfleet("pause", "rollout", "one", "-C", rolling).code == 0
    assert gitfleet("resume", "rollout", "two", "-C", rolling).code == 0
    assert git(rolling, "show", "main:rollouts/others.yaml") == TWO.replace("{numB", "{paused: true, numB").replace(
        "{paused: true}", "{paused: false}"
    )


def test_a_pause_for_a_pull_request_goes_to_a_branch(gitfleet: Shell, rolling: Path) -> None:
    before = git(rolling, "rev-parse", "main")
    said = gitfleet("pause", "rollout", "web", "--branch", "stop-web", "-C", rolling)
    assert said.err.splitlines()[-1].endswith(CliText.MERGE_INTO(watched="main"))
    assert git(rolling, "rev-parse", "main") == before
    assert "    paused: true\n" in git(rolling, "show", "stop-web:rollouts/web/web.yaml")
    again = gitfleet("resume", "rollout", "web", "--branch", "stop-web", "-C", rolling)
    assert again.code == 0
    assert "    paused: false\n" in git(rolling, "show", "stop-web:rollouts/web/web.yaml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rollout", "wep"), [ViewsText.NO_WORKLOAD_ROLLOUT(name="wep"), "did you mean web?"]),
        (("run", "web"), [ViewsText.ONLY_WORKLOAD_ROLLOUTS_PAUSED(kind="run"), "give `rollout NAME`"]),
        (("pod", "web"), [ApiText.NO_KIND(word="pod")]),
    ],
)
def test_what_cannot_be_paused(gitfleet: Shell, rolling: Path, words: tuple[str, str], said: list[str]) -> None:
    ended = gitfleet("pause", *words, "-C", rolling)
    assert ended.code != 0
    assert all(text in ended.err for text in said), ended.err
