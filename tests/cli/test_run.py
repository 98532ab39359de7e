"""`gitfleet run`: events as data, what waits and fails as talk, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.texts import BranchesText
from gitfleet.cli.texts import CliText
from gitfleet.observe.texts import ObserveText
from gitfleet.ports.repos import TreeEntry
from gitfleet.rollout.texts import RolloutText
from gitfleet.status.texts import StatusText
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_validate import BAD
from tests.texts import part


def settled_at(commit: str) -> str:
    """The last line of a run that ended with the fleet at rest."""
    return CliText.SETTLED_COMMIT_PLACEMENTS(commit=commit, placements="2 placements", bindings="6 bindings")


def test_once_then_until_settled(gitfleet: Shell, fleet: Path) -> None:
    once = gitfleet("run", "--once", fleet)
    settled = gitfleet("run", "--until-settled", fleet)

    assert once.code == settled.code == 0
    assert once.out.splitlines()[-1] == ("web: " + StatusText.UPDATED_SNAPSHOT(cluster="us-east-1", snapshot="0"))
    failed = ObserveText.IS_NOT(first="Deployment/web/web", verb="available", why="", more_than_first="")
    stuck = "us-east-1 " + RolloutText.IS_NOT(step="Available", condition=failed)
    assert f"waiting: web: {stuck}" in once.err
    assert settled.out.splitlines()[-1].startswith("web: Available is True: ")
    head = git(fleet, "rev-parse", "HEAD").strip()
    assert settled.err == settled_at(head[:12]) + "\n"


@pytest.mark.parametrize("accepted", [False, True])
def test_a_commit_that_is_refused_as_a_whole_is_not_settled(
    gitfleet: Shell, fleet: Path, monkeypatch: pytest.MonkeyPatch, accepted: bool
) -> None:
    if accepted:
        gitfleet("run", "--until-settled", fleet)
        commit(fleet, {"docs/more.md": "more"})
    reads, head = DesiredTrees._checked_listing, git(fleet, "rev-parse", "HEAD").strip()

    def refuse(trees: DesiredTrees, asked: str) -> tuple[Mapping[str, TreeEntry], str | None]:
        return ({}, "has too much") if asked == head else reads(trees, asked)

    monkeypatch.setattr(DesiredTrees, "_checked_listing", refuse)
    ended = gitfleet("run", "--until-settled", fleet)
    assert ended.code == 1
    refused = BranchesText.COMMIT_REFUSED_WHOLE(commit=head[:12], refusal="has too much", accepted="|")
    assert refused.partition("|")[0] in ended.err
    assert part(CliText.SETTLED_COMMIT_PLACEMENTS) not in ended.err + gitfleet("run", "--once", fleet).err


@pytest.mark.parametrize("words", [["--once"], ["--until-settled", "--timeout", "0"]])
def test_a_run_that_ends_lists_each_error_once(gitfleet: Shell, fleet: Path, words: list[str]) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    for _ in range(2):
        ended = gitfleet("run", *words, fleet)
        found = [line for line in (ended.out + ended.err).splitlines() if "placements/bad.yaml:7:" in line]
        assert [line.partition(" ")[0] for line in found] == ["error:"]


def test_the_work_tree_is_never_touched(gitfleet: Shell, fleet: Path) -> None:
    (fleet / "README.md").write_text("edited and not committed\n")
    before = git(fleet, "status", "--porcelain")
    assert gitfleet("run", "--once", fleet).code == 0

    assert git(fleet, "status", "--porcelain") == before != ""
    assert git(fleet, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_jsonl_and_json(gitfleet: Shell, fleet: Path) -> None:
    lines = [json.loads(line) for line in gitfleet("run", "--once", fleet, "-o", "jsonl").out.splitlines()]
    document = json.loads(gitfleet("run", "--until-settled", fleet, "-o", "json").out)

    applied = [line for line in lines if line["type"] == "applied"]
    assert len(applied) == 24
    assert applied[0]["object"] == {
        "group": "",
        "version": "v1",
        "kind": "Namespace",
        "namespace": None,
        "name": "monitoring",
    }
    assert (document["kind"], document["apiVersion"]) == ("Timeline", "gitfleet.dev/v1alpha1")
    assert {"type": "available", "placement": "web", "cluster": "eu-west-1", "value": True} in document["events"]


def test_a_state_directory_instead_of_commits(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    refs = git(fleet, "for-each-ref")
    state = tmp_path / "state"
    ended = gitfleet("run", "--until-settled", fleet, "--state-dir", state)

    assert ended.code == 0
    assert git(fleet, "for-each-ref") == refs
    assert (state / "README.md").read_text().startswith("# Fleet\n")
    assert {path.name for path in (state / "clusters").iterdir()} == {
        "eu-north-1.yaml", "eu-west-1.yaml", "us-east-1.yaml", "us-lab-1.yaml",
    }  # fmt: skip


def test_what_does_not_settle_in_time_is_1(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    ended = gitfleet("run", "--until-settled", "--timeout", "0", fleet)

    lines = ended.err.splitlines()
    assert ended.code == 1
    assert [line for line in lines if line.startswith("error: placements/bad.yaml:7: ClusterResourcePlacement/bad: ")]
    waiting = "monitoring: eu-north-1 " + RolloutText.IS_NOT(step="Available", condition="")
    assert lines[-2].startswith("error: " + CliText.NOTHING_SETTLED_WITHIN(timeout=0, waiting=waiting))
    assert lines[-1] == f"hint: {CliText.SEE_GITFLEET_GET_CRP_GITFLEET()}"


FORGED = settled_at("000000000000")


def test_a_path_makes_no_line_of_its_own(gitfleet: Shell, fleet: Path) -> None:
    """A line break in a file's name, in what people read at the end of a run."""
    commit(fleet, {f"resources/x\n{FORGED}\n.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: 3\n"})
    run = gitfleet("run", "--once", fleet)

    assert FORGED in run.err
    assert not [line for line in run.err.splitlines() if line.startswith(FORGED)]
