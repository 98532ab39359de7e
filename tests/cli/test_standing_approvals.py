"""Approvals that stood when it was asked: to write them another way approves nothing, to answer again does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from gitfleet.apply.texts import ApplyText
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.cli.main import run
from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_staged_runs import staged

PATH = "approvals/go-before-all.yaml"
PAYLOAD = (
    '{"status":{"conditions":[{"type":"Approved","status":"True","reason":"lgtm",'
    '"message":"lgtm","lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":1}]}}\n'
)
WHOLE = yaml.safe_dump(
    {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterApprovalRequest",
        "metadata": {"name": "go-before-all"},
        **json.loads(PAYLOAD),
    }
)
BESIDE = f"{WHOLE.replace('go-before-all', 'another')}---\n{WHOLE}"
BOUND = WHOLE.replace("metadata:\n", "metadata:\n  annotations: {gitfleet.dev/digest: '0123'}\n")
Files = Mapping[str, str | None]


@pytest.fixture
def gate(moving: Path) -> Path:
    """A run `go` that is about to ask before its only stage."""
    staged(moving)
    strategy = builders.staged_strategy("slow", builders.stage("all", beforeStageTasks=[{"type": "Approval"}]))
    commit(moving, builders.repo_files_for(strategy))
    return moving


def stands(gitfleet: Shell, repo: Path, files: Files) -> str:
    """What is said once the approvals stood and it was asked."""
    commit(repo, dict(files))
    return gitfleet("run", "--until-settled", repo).err


@pytest.mark.parametrize(
    ("before", "edits"),
    [
        (PAYLOAD, [{PATH: PAYLOAD.replace('"status":', ' "status": ')}]),
        (PAYLOAD, [{PATH: PAYLOAD.replace("\n", "\r\n")}]),
        (PAYLOAD, [{PATH: WHOLE}]),
        (PAYLOAD, [{PATH: PAYLOAD.replace('"lgtm"', '"Looks good to me"')}]),
        (PAYLOAD, [{PATH: PAYLOAD.replace('"lastTransitionTime":"2026-01-02T03:04:05Z",', "")}]),
        (PAYLOAD, [{PATH: PAYLOAD.replace("03:04:05Z", "04:04:05+01:00")}]),
        (WHOLE, [{PATH: None, "approvals/go-before-all.json": PAYLOAD}]),
        (WHOLE, [{PATH: None, "approvals/old/any.yaml": WHOLE}]),
        (PAYLOAD, [{PATH: None, "approvals/go-before-all.2.yaml": PAYLOAD}]),
        (PAYLOAD, [{PATH: "{"}, {PATH: PAYLOAD}]),
        (PAYLOAD, [{PATH: None}, {"approvals/go-before-all.2.yaml": PAYLOAD}]),
        (BESIDE, [{PATH: WHOLE}]),
        (BOUND, [{PATH: WHOLE}]),
    ],
    ids=[
        "spaces", "line-ends", "json-to-yaml", "other-words", "without-its-time", "time-zone", "to-json", "moved",
        "renamed", "broken-and-mended", "renamed-in-two-commits", "taken-out-of-a-file", "without-its-digest",
    ],
)  # fmt: skip
def test_an_old_approval_that_is_written_another_way_approves_nothing(
    gitfleet: Shell, gate: Path, before: str, edits: list[Files]
) -> None:
    assert "go waits before stage all for approval" in stands(gitfleet, gate, {PATH: before})
    for edit in edits:
        commit(gate, dict(edit))
    ran = gitfleet("run", "--until-settled", gate)
    assert ApprovalsText.BEFORE_ASKED_APPROVAL_ONE_REQUEST() in ran.err
    assert "go waits before stage all for approval" in ran.err


OLD = ({PATH: PAYLOAD}, {"approvals/go-before-all.json": PAYLOAD}, {"approvals/old/any.yaml": WHOLE})


def _command(repo: Path, word: str) -> None:
    git(repo, "config", "user.name", "Ann")
    git(repo, "config", "user.email", "ann@example.org")
    assert run([word, "go", "all", "-C", str(repo)]) == 0


def _merged(repo: Path) -> None:
    git(repo, "merge", "gitfleet/approve/go-before-all")


@pytest.mark.parametrize("answer", [lambda repo: _command(repo, "approve"), _merged], ids=["command", "merge"])
@pytest.mark.parametrize("files", OLD, ids=["its-file", "json", "other-file"])
def test_a_person_approves_again_beside_an_old_approval(
    gitfleet: Shell, gate: Path, files: Files, answer: Callable[[Path], None]
) -> None:
    assert (ApplyText.WAS_THERE_BEFORE() + " it was asked for") in stands(gitfleet, gate, files)
    answer(gate)
    ran = gitfleet("run", "--until-settled", gate)
    assert "waiting" not in ran.err and "a second time" not in ran.err


@pytest.mark.parametrize("files", OLD, ids=["its-file", "json", "other-file"])
def test_a_person_rejects_beside_an_old_approval(gitfleet: Shell, gate: Path, files: Files) -> None:
    stands(gitfleet, gate, files)
    _command(gate, "reject")
    ran = gitfleet("run", "--until-settled", gate)
    assert "rejected by go-before-all" in ran.out and "a second time" not in ran.err


def _later(_: Path) -> Files:
    return {PATH: PAYLOAD.replace("2026-01-02", "2026-01-03")}


def _beside(_: Path) -> Files:
    return {"approvals/go-before-all.2.yaml": PAYLOAD}


def _bound(repo: Path) -> Files:
    request = yaml.safe_load(git(repo, "show", "gitfleet/state:approvals/go-before-all.yaml"))
    body = yaml.safe_load(WHOLE)
    body["metadata"]["annotations"] = request["metadata"]["annotations"]
    return {PATH: yaml.safe_dump(body)}


def _decided(_: Path) -> Files:
    return {PATH: PAYLOAD}


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        (PAYLOAD, _later),
        (PAYLOAD, _beside),
        (PAYLOAD, _bound),
        (PAYLOAD.replace('"True"', '"Unknown"'), _decided),
        ("{", _decided),
    ],
    ids=["with-a-later-time", "in-a-further-file", "with-the-digest", "decided", "mended-for-the-first-time"],
)
def test_an_old_approval_that_is_answered_again_approves(
    gitfleet: Shell, gate: Path, before: str, answer: Callable[[Path], Files]
) -> None:
    assert "go waits before stage all for approval" in stands(gitfleet, gate, {PATH: before})
    commit(gate, dict(answer(gate)))
    assert "waiting" not in gitfleet("run", "--until-settled", gate).err
