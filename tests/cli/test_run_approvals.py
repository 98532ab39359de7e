"""Who may approve a stage, from commit to status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitfleet.adapters.git.texts import GitText
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.cli.main import run
from tests import builders
from tests.cli.conftest import Shell, copied, git
from tests.cli.test_approvals import Person, as_person, assert_status_says, sign_as
from tests.realparts import signers

POLICY = """\
apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  approvals: {required: 2, allowedSigners: keys/signers, separateDuties: true, expiresAfter: 1h}
"""
REQUEST = "go-before-all"
PATH = f"approvals/{REQUEST}.yaml"
BRANCH = f"gitfleet/approve/{REQUEST}"


@dataclass(frozen=True)
class Gate:
    """A run `go` that Ann committed and that waits before its only stage. Ann, Bob and Cyd may sign."""

    repo: Path
    people: dict[str, Person]

    def approve(self, who: str, number: str = "") -> None:
        """A person commits what the request's branch asks for, maybe in one more file."""
        text = git(self.repo, "show", f"{BRANCH}:{PATH}").replace(REQUEST, REQUEST + number)
        files = {PATH.replace(".yaml", f"{number}.yaml"): text}
        as_person(self.repo, self.people[who], timedelta(), "commit", files=files)


@pytest.fixture(scope="module")
def made(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    home = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        repo = copied(settled, home / "fleet")
        people = {name: Person(name, signers.ssh_key(home / name)) for name in ("ann", "bob", "cyd")}
        lines = [person.key.public(person.email.encode()).decode() for person in people.values() if person.key]
        files = builders.repo_files_for(
            builders.namespace("shop"),
            builders.deployment("shop", "web"),
            builders.placement("shop", strategy={"type": "External"}, policy=builders.pick_fixed("us-east-1")),
            builders.staged_strategy("gated", builders.stage("all", beforeStageTasks=[{"type": "Approval"}])),
        )
        config = {"gitfleet.yaml": POLICY, "keys/signers": "".join(lines), ".gitfleetignore": "keys/\n"}
        as_person(repo, people["ann"], timedelta(), "commit", files={**files, **config})
        assert run(["run", "--once", str(repo)]) == 0
        go = builders.repo_files_for(builders.staged_run("go", placement="shop", strategy="gated"))
        as_person(repo, people["ann"], timedelta(), "commit", files=go)
        as_person(repo, people["bob"], timedelta(), "commit", files={"NOTES": "of others, when the gate is reached"})
        assert run(["run", "--until-settled", str(repo)]) == 0
    yield Gate(repo, people)


@pytest.fixture
def gate(made: Gate, tmp_path: Path) -> Gate:
    return replace(made, repo=copied(made.repo, tmp_path / "fleet"))


ONE = ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="bob@example.com")
TWICE = ApprovalsText.BY_SAME_PERSON(person="bob@example.com")
BY_ANN = ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.com")


@pytest.mark.parametrize(("second", "why"), [((), ONE), (("ann",), BY_ANN)])
def test_an_approval_of_a_stage_that_counts_for_nothing_says_why(
    gitfleet: Shell, gate: Gate, second: tuple[str, ...], why: str
) -> None:
    """Bob approves, and somebody does in a second file."""
    gate.approve("bob")
    for name in second:
        gate.approve(name, ".2")
    ran = gitfleet("run", "--until-settled", gate.repo)
    assert ran.code == 0
    (waits,) = [line for line in ran.err.splitlines() if line.startswith("waiting: ")]
    assert why in waits and "`gitfleet approve " in waits
    assert_status_says(gitfleet, gate.repo, "approvals", why)
    assert stage_of(gitfleet, gate) == ("all gated", "0/1")


def stage_of(gitfleet: Shell, gate: Gate) -> tuple[str, str]:
    """Stage and Updated, of the run."""
    titles, row = gitfleet("get", "csur", "-C", gate.repo, "-o", "wide").out.splitlines()[:2]
    cells = [row[titles.index(t) :].partition("  ")[0].strip() for t in ("STAGE", "UPDATED")]
    return cells[0], cells[1]


def test_a_merge_and_the_command_open_the_gate(gitfleet: Shell, gate: Gate) -> None:
    as_person(gate.repo, gate.people["bob"], timedelta(), "merge", "--no-ff", BRANCH)
    sign_as(gate.repo, gate.people["cyd"])
    assert gitfleet("approve", "go", "all", "-C", gate.repo).code == 0
    ran = gitfleet("run", "--until-settled", gate.repo)
    assert "warning" not in ran.err and "waiting" not in ran.err
    assert stage_of(gitfleet, gate) == ("<none>", "1/1")
    (request,) = json.loads(gitfleet("get", "approvals", "-C", gate.repo, "-o", "json").out)["items"]
    said = [(c["type"], c["status"]) for c in request["status"]["conditions"]]
    assert said == [("Approved", "True"), ("ApprovalAccepted", "True")]


def test_the_command_fails_where_its_commit_cannot_count(gitfleet: Shell, gate: Gate) -> None:
    """And pushes nothing: unsigned, by who made the change, and by who approved already."""
    for who, why in (("", GitText.NOT_SIGNED()), ("ann", BY_ANN), ("bob", ""), ("bob", TWICE)):
        if who:
            sign_as(gate.repo, gate.people[who])
        before = git(gate.repo, "for-each-ref")
        told = gitfleet("approve", "go", "all", "-C", gate.repo)
        assert (told.code, why in told.err) == (1 if why else 0, True), told.err
        assert (git(gate.repo, "for-each-ref") == before) is bool(why)
