"""What every command says while a removal is held: who waits for which file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.git.texts import GitText
from gitfleet.api.texts import ApiText
from gitfleet.cli.texts import CliText
from gitfleet.formats.texts import FormatsText
from gitfleet.status.texts import StatusText
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, commit, copied, git, settle
from tests.texts import part

pytestmark = pytest.mark.usefixtures("hurried")

OBJECT = ApiText.PLACEMENT(object="ConfigMap/monitoring/probe-targets", placement="monitoring")
RULES = "(StillInRepo, Emptied, ProtectedKind)"
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
    sentence = StatusText.REMOVALS_WAIT_APPROVAL(holds=f"{name} {RULES}")

    what = f"{OBJECT} and 3 more: "
    what += "16 placed objects on eu-north-1, eu-west-1, us-east-1 and 1 more"
    assert planned.out.splitlines()[0] == f"held: {what}"
    assert f"  {ViewsText.ADD_CONFIG_REPO(path=f'approvals/{name}.yaml')}\n" in planned.out
    assert "\nmonitoring (PickAll): removals held, on 0 clusters, 4 objects, snapshot 0\n" in planned.out
    assert ran.code == 0, "only a person can go on"
    assert CliText.HOLD_TO_APPROVE(line=f"held: {name}: {what} {RULES}", hold=name) + "\n" in ran.err
    assert "waiting: " not in ran.err

    told = gitfleet("explain", "monitoring", "-C", moving)
    assert told.out.splitlines()[0] == ViewsText.GITFLEET_GET_HOLDS(key="monitoring", held=sentence)
    one = gitfleet("explain", "monitoring", "eu-north-1", "-C", moving, "--rev", "main")
    assert one.out.splitlines()[0] == told.out.splitlines()[0]
    document = json.loads(gitfleet("explain", "monitoring", "-C", moving, "-o", "json").out)
    assert document["removalsHeld"] == told.out.splitlines()[0]
    assert not json.loads(gitfleet("explain", "web", "-C", moving, "-o", "json").out)["removalsHeld"]

    said = ViewsText.HELD_GITFLEET_GET_HOLDS(names="monitoring") + "\n"
    assert gitfleet("get", "crp", "-C", moving).err == gitfleet("get", "crp", "monitoring", "-C", moving).err == said
    assert gitfleet("get", "crp", "web", "-C", moving).err == gitfleet("get", "mc", "-C", moving).err == ""
    rows = [line.split() for line in gitfleet("get", "crp", "-C", moving).out.splitlines()]
    assert (rows[0][-1], rows[1][-2:], rows[2][-1]) == ("WAITING", ["1", "hold"], "<none>")
    assert all(len(line) <= 80 for line in gitfleet("get", "crp", "-C", moving).out.splitlines())
    assert name in gitfleet("get", "crp", "-o", "wide", "-C", moving).out
    conditions = gitfleet("describe", "crp", "monitoring", "-C", moving).out.partition("Conditions:\n")[2]
    assert sentence in conditions
    page = git(moving, "show", "gitfleet/state:README.md")
    (line,) = [line for line in page.splitlines() if line.startswith("| [`monitoring`]")]
    assert line.endswith(f"| `{sentence}` |")
    assert "## Placements: 1 complete, 1 not" in page


@pytest.fixture(scope="module")
def held_once(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The settled repo with a hold."""
    home = tmp_path_factory.mktemp("held")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        repo = copied(settled, home / "fleet")
    pick_nothing(repo)
    return settle(repo)


@pytest.fixture
def held(held_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(held_once, tmp_path / "fleet")


def test_a_hold_is_rejected_and_approved_by_commands(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    path = f"approvals/{name}.yaml"

    said = gitfleet("reject", name, "-C", held)
    assert (said.code, said.out) == (0, ""), said.err
    first, second = said.err.splitlines()
    assert first.startswith(f"rejects: {OBJECT} and 3 more: ")
    made = git(held, "rev-parse", "main").strip()
    assert second == CliText.COMMITTED_AS_BY(branch="main", commit=made[:10], email="person@example.com", merge="")
    assert git(held, "log", "-1", "--format=%an %ae %cn %s") == f"A person person@example.com A person Reject {name}\n"
    assert git(held, "status", "--porcelain", "--untracked-files=all") == "", "the work tree follows"
    assert (held / path).exists()
    ran = gitfleet("run", "--until-settled", held)
    assert (ran.code, f"{CliText.HOLD_REJECTED(line=RULES)}\n" in ran.err) == (0, True), ran.err
    assert "Rejected" in gitfleet("get", "holds", "-C", held).out
    told = f"  {ViewsText.REJECTS_AFTER_ALL(path=path)}"
    assert told in gitfleet("plan", held).out.splitlines()
    already = CliText.FILE_WATCHED_BRANCH_ALREADY(verb="reject", request=name)
    assert gitfleet("reject", name, "-C", held).err == f"{already}\n"

    assert gitfleet("approve", f"hold/{name}", "-C", f"file://{held}").code == 0
    assert gitfleet("run", "--until-settled", held).code == 0
    assert not gitfleet("get", "holds", "-C", held).out
    assert "monitoring" not in gitfleet("get", "bindings", "-C", held).out


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
        (("hold-web-0123456789",), None, f"error: {CliText.NO_HOLD(name='hold-web-0123456789')}"),
        (("NAME",), edit_a_file, part(GitText.WORK_TREE_HAS_CHANGES)),
        (("NAME",), have_no_name, f"error: {GitText.NOT_KNOW_WHO_COMMITS()}"),
        (("NAME",), have_a_key_that_is_not_there, f"error: {part(GitText.NOT_SIGN)}"),
        (("NAME", "--branch", "a..b"), None, FormatsText.NOT_BRANCH_NAME_GIT_ACCEPTS(branch="a..b")),
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
