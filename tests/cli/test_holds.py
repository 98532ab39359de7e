"""What every command says while a removal is held: who waits for which file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.cli.main import run
from tests.cli.conftest import Shell, commit, git

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
    home = tmp_path_factory.mktemp("held")
    repo = shutil.copytree(settled, home / "fleet")
    pick_nothing(repo)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        assert run(["run", "--until-settled", str(repo)]) == 0
    return repo


@pytest.fixture
def held(held_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(held_once, tmp_path / "fleet")


def test_a_hold_is_rejected_and_approved_by_commands(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    path = f"approvals/{name}.yaml"

    said = gitfleet("reject", name, "-C", held)
    assert (said.code, said.out) == (0, ""), said.err
    assert f"{path} rejects: placement monitoring on cluster eu-north-1, " in said.err
    assert git(held, "status", "--porcelain", "--untracked-files=all") == f"?? {path}\n", "nothing is committed"
    commit(held, {})
    ran = gitfleet("run", "--until-settled", held)
    assert f"held: {path} rejects: placement monitoring on" in ran.err
    assert "Rejected" in gitfleet("get", "holds", "-C", held).out
    told = f'  {path} rejects it. To remove it after all, set the status there to "True":'
    assert told in gitfleet("plan", held).out.splitlines()
    assert gitfleet("reject", name, "-C", held).err == f"a file of the watched branch rejects {name} already\n"

    assert gitfleet("approve", f"hold/{name}", "-C", held / ".git", "--dir", held).code == 0
    commit(held, {})
    assert gitfleet("run", "--until-settled", held).code == 0
    assert not gitfleet("get", "holds", "-C", held).out
    assert "monitoring" not in gitfleet("get", "bindings", "-C", held).out


def test_an_approval_goes_to_stdout_where_there_is_no_work_tree(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    printed = gitfleet("approve", name, "-C", f"file://{held}")
    assert printed.code == 0 and f"approvals/{name}.yaml with this content approves: " in printed.err
    gitfleet("approve", name, "-C", held)
    assert (held / "approvals" / f"{name}.yaml").read_text() == printed.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hold-web-0123456789", "-C", "REPO"), 'error: there is no hold "hold-web-0123456789"'),
        (("../../x", "-C", "REPO"), 'error: there is no hold "../../x"'),
        (("NAME", "-C", "REPO", "--dir", "REPO/clusters"), "clusters is not the top of a git work tree"),
        (("NAME", "-C", "LINKED"), "is a link, and gitfleet follows none"),
        (("NAME", "-C", "SEALED"), "yaml cannot be written: File exists"),
    ],
)
def test_an_approval_that_cannot_be_written_says_why(
    gitfleet: Shell, held: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    known = {"NAME": held_name(gitfleet, held), "LINKED": str(held), "SEALED": str(held)}
    if "LINKED" in words:
        (held / "approvals").symlink_to(tmp_path)
    if "SEALED" in words:
        (held / "approvals").write_text("no folder\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    ended = gitfleet("approve", *(known.get(word, word.replace("REPO", str(held))) for word in words))
    assert (ended.code, said in ended.err) == (1, True), ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_rejection_in_another_file_is_not_written_a_second_time(gitfleet: Shell, held: Path) -> None:
    name = held_name(gitfleet, held)
    gitfleet("reject", name, "-C", held)
    (held / "approvals" / f"{name}.yaml").rename(held / "approvals" / "a.yaml")
    commit(held, {})
    gitfleet("run", "--until-settled", held)
    ended = gitfleet("approve", name, "-C", held)
    assert (ended.code, "set the status in the ClusterApprovalRequest/" in ended.err) == (1, True), ended.err


def test_markdown_names_the_hold_before_all_else(gitfleet: Shell, held: Path) -> None:
    first, _, second, *_ = gitfleet("plan", held, "-o", "markdown").out.splitlines()
    assert (first, second.partition(" ")[0]) == ("### gitfleet plan", "**Held:**")
