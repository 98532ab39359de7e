"""`plan` of a work tree with uncommitted changes says that they are not planned; `--work-tree` plans them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitfleet.cli.texts import CliText
from tests.cli.conftest import Shell, commit, git, make_repo

WEB = "resources/web/web.yaml"


def plan(gitfleet: Shell, repo: Path, *words: str) -> dict[str, Any]:
    """The Plan document without asking a cluster."""
    ended = gitfleet("plan", repo, "--clusters", "none", "-o", "json", *words)
    assert ended.code == 0, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def counts(document: dict[str, Any]) -> dict[str, int]:
    return {action: document["risk"][action]["objects"] for action in ("create", "update", "delete")}


def edit(repo: Path) -> None:
    """One file changed, one new, one removed, one ignored; nothing committed."""
    web = repo / WEB
    web.write_text(web.read_text().replace("replicas: 2", "replicas: 5"))
    (repo / "resources/web/more.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: web}\n"
    )
    (repo / "README.md").unlink(missing_ok=True)
    (repo / ".git/info/exclude").write_text("ignored.yaml\n")
    (repo / "resources/web/ignored.yaml").write_text("not YAML: [")


def test_uncommitted_changes_are_named_and_not_planned(gitfleet: Shell, moving: Path) -> None:
    assert plan(gitfleet, moving)["workTree"] == {"planned": False, "changed": []}
    before = plan(gitfleet, moving)
    commit(moving, {"README.md": "A fleet"})
    edit(moving)
    document = plan(gitfleet, moving)
    changed = ["README.md", "resources/web/more.yaml", WEB]
    assert document["workTree"] == {"planned": False, "changed": changed}
    assert counts(document) == counts(before) == {"create": 0, "update": 0, "delete": 0}
    said = CliText.NOT_PLANNED_WORK_TREE_UNCOMMITTED(
        changes="3 files (README.md, resources/web/more.yaml and resources/web/web.yaml)"
    )
    assert said in gitfleet("plan", moving, "--clusters", "none").out
    assert plan(gitfleet, moving, "--rev", "main")["workTree"] is None


def test_the_work_tree_is_planned_as_if_it_were_committed(gitfleet: Shell, moving: Path) -> None:
    commit(moving, {"README.md": "A fleet"})
    head = git(moving, "rev-parse", "HEAD").strip()
    edit(moving)
    status, refs = git(moving, "status", "--porcelain"), git(moving, "for-each-ref")
    document = plan(gitfleet, moving, "--work-tree")
    assert (document["commit"], document["workTree"]["planned"]) == (head, True)
    assert counts(document) == {"create": 2, "update": 2, "delete": 0}
    assert (git(moving, "status", "--porcelain"), git(moving, "for-each-ref")) == (status, refs)
    out = gitfleet("plan", moving, "--clusters", "none", "--work-tree").out
    assert out.startswith("Planned with the uncommitted changes of 3 files (")
    git(moving, "add", "--all")
    git(moving, "commit", "--quiet", "--message", "The same")
    committed = plan(gitfleet, moving)
    assert {**committed, "commit": "", "workTree": None} == {**document, "commit": "", "workTree": None}


def test_uncommitted_errors_make_the_plan_fail(gitfleet: Shell, moving: Path) -> None:
    (moving / WEB).write_text("kind: [")
    ended = gitfleet("plan", moving, "--clusters", "none", "--work-tree")
    assert ended.code == 1
    assert f"error: {WEB}:1" in ended.out
    assert gitfleet("plan", moving, "--clusters", "none").code == 0


def test_line_endings_of_a_check_out_are_no_change(gitfleet: Shell, moving: Path) -> None:
    web = moving / WEB
    web.write_bytes(web.read_bytes().replace(b"\n", b"\r\n"))
    assert plan(gitfleet, moving)["workTree"] == {"planned": False, "changed": []}


def test_what_lies_behind_a_link_is_not_read(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (moving / "resources/web").rename(outside)
    (moving / "resources/web").symlink_to(outside)
    changed = plan(gitfleet, moving, "--fail-on", "none")["workTree"]["changed"]
    assert "resources/web" in changed and WEB in changed


@pytest.mark.parametrize("words", [("--rev", "main")])
def test_it_excludes_a_revision(gitfleet: Shell, moving: Path, words: tuple[str, ...]) -> None:
    ended = gitfleet("plan", moving, "--work-tree", *words)
    assert (ended.code, ended.err.splitlines()[0]) == (64, ("error: " + CliText.REV_WORK_TREE_EXCLUDE_EACH()))


def test_a_bare_repository_has_none(gitfleet: Shell, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "fleet")
    bare = tmp_path / "bare.git"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(bare))
    assert plan(gitfleet, bare)["workTree"] is None
    ended = gitfleet("plan", bare, "--work-tree")
    assert (ended.code, ended.err.splitlines()[0]) == (1, (f"error: {bare}" + CliText.NO_WORK_TREE_READ_HERE(repo="")))


def test_a_work_tree_on_another_branch_is_planned_against_the_watched_one(gitfleet: Shell, moving: Path) -> None:
    git(moving, "switch", "--quiet", "--create", "change")
    web = moving / WEB
    commit(moving, {WEB: web.read_text().replace("replicas: 2", "replicas: 5")})
    committed = counts(plan(gitfleet, moving, "--rev", "change", "--base", "main"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(moving.parent / "nothing-fetched-yet"))
        planned = counts(plan(gitfleet, moving, "--work-tree", "--base", "main"))
    assert planned == committed
