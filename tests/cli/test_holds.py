"""What every command says while a removal is held: who waits for which file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, commit, git, settle

AFFINITY = """\
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - labelSelector:
                matchLabels: {region: nowhere}
"""


def held_name(gitfleet: Shell, repo: Path) -> str:
    """The one hold that there is."""
    return gitfleet("get", "holds", "-C", repo, "-o", "name").out.strip().removeprefix("hold/")


def pick_nothing(repo: Path) -> None:
    """A commit after which the placement `monitoring` picks no cluster."""
    placement = (repo / "placements" / "monitoring.yaml").read_text()
    broken = placement.replace("placementType: PickAll\n", f"placementType: PickAll\n{AFFINITY}")
    commit(repo, {"placements/monitoring.yaml": broken})


def test_every_command_points_to_the_hold(gitfleet: Shell, moving: Path) -> None:
    pick_nothing(moving)
    planned = gitfleet("plan", moving)
    ran = gitfleet("run", "--until-settled", moving)
    name = held_name(gitfleet, moving)
    sentence = f"removals wait for an approval of {name}; all other changes go out"

    first, second = planned.out.splitlines()[:2]
    assert first == f"held: approvals/{name}.yaml approves:"
    assert second.startswith("  placement monitoring on cluster eu-north-1, placement monitoring on cluster eu-west-1,")
    assert second.endswith(" and 1 more: 16 placed objects on eu-north-1, eu-west-1, us-east-1 and 1 more")
    assert "\nmonitoring (PickAll): 0 clusters picked, 4 kept by a hold, 4 objects, snapshot 0\n" in planned.out
    assert f"held: approvals/{name}.yaml approves: placement monitoring on cluster eu-north-1, " in ran.err
    assert "found 0 cluster(s); 4 more kept by a hold" in ran.out
    (row,) = {tuple(row.values()) for row in kept_rows(gitfleet, moving)}
    assert row == (False, "Bound", True)

    told = gitfleet("explain", "monitoring", "-C", moving)
    assert told.out.splitlines()[0] == f"monitoring: {sentence} (`gitfleet get holds`)"
    one = gitfleet("explain", "monitoring", "eu-north-1", "-C", moving, "--rev", "main")
    assert one.out.splitlines()[0] == told.out.splitlines()[0]
    document = json.loads(gitfleet("explain", "monitoring", "-C", moving, "-o", "json").out)
    assert document["removalsHeld"] == told.out.splitlines()[0]
    assert not json.loads(gitfleet("explain", "web", "-C", moving, "-o", "json").out)["removalsHeld"]

    said = "removals of monitoring are held: `gitfleet get holds`\n"
    assert gitfleet("get", "crp", "-C", moving).err == gitfleet("get", "crp", "monitoring", "-C", moving).err == said
    assert gitfleet("get", "crp", "web", "-C", moving).err == gitfleet("get", "mc", "-C", moving).err == ""
    conditions = gitfleet("describe", "crp", "monitoring", "-C", moving).out.partition("Conditions:\n")[2]
    assert sentence in "\n".join(conditions.splitlines()[:6])
    page = git(moving, "show", "gitfleet/state:README.md")
    (line,) = [line for line in page.splitlines() if line.startswith("| [`monitoring`]")]
    assert line.endswith(f"| `{sentence}` |")
    assert "## Placements: 1 complete, 1 not" in page


def kept_rows(gitfleet: Shell, repo: Path) -> list[dict[str, object]]:
    """What the plan says of the clusters of the placement."""
    placements = json.loads(gitfleet("plan", repo, "-o", "json").out)["placements"]
    (found,) = [placement for placement in placements if placement["name"] == "monitoring"]
    return [{name: row[name] for name in ("selected", "state", "keptByHold")} for row in found["clusters"]]


def drop_the_placement(repo: Path) -> None:
    (repo / "placements" / "monitoring.yaml").unlink()
    commit(repo, {})


def drop_its_payload(repo: Path) -> None:
    shutil.rmtree(repo / "resources" / "monitoring")
    commit(repo, {})


@pytest.mark.parametrize(
    ("remove", "line", "markdown", "part"),
    [
        (
            drop_the_placement,
            "monitoring (PickAll): its removal is held, on 4 clusters, 4 objects, snapshot 0",
            "Nothing changes: its removal is held.",
            "Placement",
        ),
        (
            drop_its_payload,
            "monitoring (PickAll): up to date but for held removals on 4 clusters, 4 objects, snapshot 0",
            "Nothing changes but for removals that are held.",
            "Part",
        ),
    ],
)
@pytest.mark.soak("real")
def test_a_plan_does_not_call_up_to_date_what_is_held(
    gitfleet: Shell, moving: Path, remove: Callable[[Path], None], line: str, markdown: str, part: str
) -> None:
    remove(moving)
    recorded = ("plan", moving, "--clusters", "none")
    assert line in gitfleet(*recorded).out.splitlines()
    page = gitfleet(*recorded, "-o", "markdown").out
    assert markdown in page.partition("`monitoring`")[2].partition("####")[0]
    placements = json.loads(gitfleet(*recorded, "-o", "json").out)["placements"]
    assert {p["name"]: p["removalsHeld"] for p in placements} == {"monitoring": part, "web": None}


@pytest.fixture(scope="module")
def held_once(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The settled repo with a hold."""
    repo = shutil.copytree(settled, tmp_path_factory.mktemp("held") / "fleet")
    pick_nothing(repo)
    return settle(repo)


@pytest.fixture
def held(held_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(held_once, tmp_path / "fleet")


def test_a_hold_is_rejected_and_approved_by_commands(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    path = f"approvals/{name}.yaml"

    said = gitfleet("reject", name, "-C", held)
    assert (said.code, said.out) == (0, ""), said.err
    first, second = said.err.splitlines()
    assert first.startswith("rejects: placement monitoring on cluster eu-north-1, ")
    made = git(held, "rev-parse", "main").strip()
    assert second == f"committed to main as {made[:10]} by person@example.com"
    assert git(held, "log", "-1", "--format=%an %ae %cn %s") == f"A person person@example.com A person Reject {name}\n"
    assert git(held, "status", "--porcelain", "--untracked-files=all") == "", "the work tree follows"
    assert (held / path).exists()
    ran = gitfleet("run", "--until-settled", held)
    assert f"held: {path} rejects: placement monitoring on" in ran.err
    assert "Rejected" in gitfleet("get", "holds", "-C", held).out
    told = f'  {path} rejects it. To remove it after all, set the status there to "True":'
    assert told in gitfleet("plan", held).out.splitlines()
    assert gitfleet("reject", name, "-C", held).err == f"a file of the watched branch rejects {name} already\n"

    assert gitfleet("approve", f"hold/{name}", "-C", f"file://{held}").code == 0
    assert gitfleet("run", "--until-settled", held).code == 0
    assert not gitfleet("get", "holds", "-C", held).out
    assert "monitoring" not in gitfleet("get", "bindings", "-C", held).out


@pytest.mark.soak("real")
def test_an_approval_on_a_branch_waits_for_its_merge(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    before = git(held, "rev-parse", "main")
    said = gitfleet("approve", name, "-C", held, "--branch", "remove-it")
    made = git(held, "rev-parse", "remove-it").strip()
    assert said.err.splitlines()[1:] == [
        f"committed to remove-it as {made[:10]} by person@example.com; merge it into main"
    ]
    again = gitfleet("approve", name, "-C", held, "--branch", "remove-it")
    assert again.err.splitlines()[1:] == ["remove-it has it already; nothing is committed"]
    assert (git(held, "rev-parse", "main"), git(held, "rev-parse", "remove-it").strip()) == (before, made)
    gitfleet("run", "--until-settled", held)
    assert name in gitfleet("get", "holds", "-C", held).out
    git(held, "merge", "--quiet", "--no-ff", "remove-it")
    gitfleet("run", "--until-settled", held)
    assert not gitfleet("get", "holds", "-C", held).out


def test_the_branch_of_a_request_approves_when_it_is_merged(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    branch = f"gitfleet/approve/{name}"
    assert git(held, "diff", "--name-only", f"main...{branch}") == f"approvals/{name}.yaml\n"
    assert git(held, "log", "--format=%an", f"main..{branch}") == "gitfleet\n"
    git(held, "merge", "--quiet", "--no-ff", branch)
    assert gitfleet("run", "--until-settled", held).code == 0
    assert not gitfleet("get", "holds", "-C", held).out
    assert git(held, "for-each-ref", "--format=%(refname:short)", "refs/heads") == "gitfleet/state\nmain\n"


def test_with_a_state_directory_nothing_is_pushed(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    state = ("--state-dir", tmp_path / "state")
    gitfleet("run", "--until-settled", moving, *state)
    pick_nothing(moving)
    before = git(moving, "for-each-ref")
    assert gitfleet("run", "--until-settled", moving, *state).code == 0
    assert list((tmp_path / "state" / "holds").iterdir())
    assert git(moving, "for-each-ref") == before


def edit_a_file(repo: Path) -> None:
    (repo / "clusters" / "eu-north-1.yaml").write_text("# being edited\n")


def have_no_name(repo: Path) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        os.environ.pop(name)


def have_a_key_that_is_not_there(repo: Path) -> None:
    for key, value in {"commit.gpgSign": "true", "gpg.format": "ssh", "user.signingKey": "/nowhere/key"}.items():
        git(repo, "config", key, value)


@pytest.mark.parametrize(
    ("words", "prepare", "said"),
    [
        (("hold-web-0123456789",), None, 'error: there is no hold "hold-web-0123456789"'),
        (("../../x",), None, 'error: there is no hold "../../x"'),
        (("NAME",), edit_a_file, "has changes of its own, so main stays as it is"),
        (("NAME",), have_no_name, "error: git does not know who commits here"),
        (("NAME",), have_a_key_that_is_not_there, "error: git could not sign the commit: "),
        (("NAME", "--branch", "a..b"), None, "'a..b' is not a branch name that git accepts"),
    ],
)
def test_an_approval_that_cannot_be_committed_says_why(
    gitfleet: Shell, held: Path, words: tuple[str, ...], prepare: Callable[[Path], None] | None, said: str
) -> None:
    name, before = held_name(gitfleet, held), git(held, "for-each-ref")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
            patch.setenv(variable, os.environ[variable])
        if prepare is not None:
            prepare(held)
        ended = gitfleet("approve", *(word.replace("NAME", name) for word in words), "-C", held)
    assert (ended.code, said in ended.err) == (1, True), ended.err
    assert git(held, "for-each-ref") == before


@pytest.mark.soak("real")
def test_an_answer_in_another_file_is_not_written_a_second_time(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    gitfleet("reject", name, "-C", held)
    (held / "approvals" / f"{name}.yaml").rename(held / "approvals" / "a.yaml")
    commit(held, {})
    gitfleet("run", "--until-settled", held)
    ended = gitfleet("approve", name, "-C", held)
    assert (ended.code, f"approvals/a.yaml:1 rejects {name}" in ended.err) == (1, True), ended.err


def test_markdown_names_the_hold_before_all_else(gitfleet: Shell, held: Path) -> None:
    first, _, second, *_ = gitfleet("plan", held, "-o", "markdown").out.splitlines()
    assert (first, second.partition(" ")[0]) == ("### gitfleet plan", "**Held:**")
