"""The checks of pull requests that `gitfleet init --ci` writes: their steps run as the forge would run them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from gitfleet import __version__
from gitfleet.cli.init import ci_files
from gitfleet.cli.texts import CliText
from tests.cli.conftest import Shell, commit, git
from tests.forges.server import REPOSITORY, TOKEN, ForgeServer, Pull, serving

FORGES = ("github", "gitea", "gitlab")
WEB = "resources/web/web.yaml"


@pytest.fixture
def server(forge: str) -> Iterator[ForgeServer]:
    with serving(forge) as server:
        server.pulls.append(Pull(1, "change", "main", "A change", None))
        yield server


@pytest.fixture
def checkout(moving: Path, tmp_path: Path) -> Path:
    """What a job has: the merge commit of a pull request, detached, and the remote's branches."""
    git(moving, "checkout", "-q", "-b", "change")
    commit(moving, {WEB: re.sub("replicas: .*", "replicas: 5", (moving / WEB).read_text())})
    git(moving, "checkout", "-q", "main")
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "-q", str(moving), str(folder))
    git(folder, "checkout", "-q", "--detach", "origin/change")
    git(folder, "branch", "-q", "-D", "main")
    return folder


def play(script: str, folder: Path, variables: Mapping[str, str], shell: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [*shlex.split(shell), "-c", script],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def play_action(forge: str, folder: Path, server: ForgeServer, token: str) -> tuple[list[int], str]:
    """The exit codes of a composite action's steps but the installation, and the job's summary."""
    files = ci_files(forge)
    (use,) = [
        step
        for step in yaml.safe_load(files[f".{forge}/workflows/gitfleet.yml"])["jobs"]["plan"]["steps"]
        if "with" in step
    ][1:]
    action = yaml.safe_load(files[f"{use['uses'].removeprefix('./')}/action.yml"])
    assert use["with"].keys() <= action["inputs"].keys()
    inputs = {name: entry["default"] for name, entry in action["inputs"].items()} | use["with"] | {"token": token}
    values = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.event.number": "1"}
    temporary = folder.parent / "temporary"
    temporary.mkdir()
    runner = {
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "GITHUB_SERVER_URL": server.url,
        "GITHUB_REPOSITORY": REPOSITORY,
    }
    install, *steps = action["runs"]["steps"]
    assert "pip install" in install["run"]
    codes = list[int]()
    for step in steps:
        variables = {name: values[text.strip("${} ")] for name, text in step.get("env", {}).items()}
        if 0 in codes[-1:] or not codes or step.get("if") == "${{ always() }}":
            codes.append(
                play(step["run"], folder, runner | variables, "bash --noprofile --norc -eo pipefail").returncode
            )
    summary = temporary / "summary.md"
    return codes, summary.read_text() if summary.exists() else ""


def play_pipeline(folder: Path, server: ForgeServer, token: str) -> tuple[list[int], str]:
    """The exit codes of a GitLab job's scripts but for the installation, and its artifact."""
    _, jobs = yaml.safe_load_all(ci_files("gitlab")[".gitlab/gitfleet.yml"])
    job: dict[str, Any] = jobs["gitfleet"]
    variables = {
        **job["variables"],
        "VERSION": "",
        "BASE": "main",
        "FAIL_ON": "errors",
        "CI_MERGE_REQUEST_IID": "1",
        "CI_SERVER_URL": server.url,
        "CI_PROJECT_PATH": REPOSITORY,
        "GITFLEET_FORGE_TOKEN": token,
    }
    install, *script = job["script"]
    assert "pip install" in install
    codes = [play("\n".join(lines), folder, variables, "sh -e").returncode for lines in (script, job["after_script"])]
    return codes, (folder / "plan.md").read_text()


@pytest.mark.parametrize(("forge", "token"), (*((forge, TOKEN) for forge in FORGES), ("github", ""), ("gitlab", "")))
def test_a_pull_request_gets_its_plan(checkout: Path, server: ForgeServer, token: str) -> None:
    played = (
        play_pipeline(checkout, server, token)
        if server.dialect == "gitlab"
        else play_action(server.dialect, checkout, server, token)
    )
    codes, shown = played
    assert set(codes) == {0}
    assert "Deployment/web/web" in shown
    assert [text for _, text in server.comments.get(1, [])] == ([f"<!-- gitfleet plan -->\n{shown}"] if token else [])
    assert server.refused == []


def test_an_error_fails_the_check_at_once(checkout: Path) -> None:
    commit(checkout, {"placements/web.yaml": "kind: ["})
    with serving("github") as server:
        codes, shown = play_action("github", checkout, server, TOKEN)
    assert (codes, shown, server.comments) == ([1, 0], "", {}), "validate fails, nothing is planned, the last step ends"


@pytest.mark.parametrize("forge", FORGES)
def test_the_files_of_a_forge_name_this_version(forge: str) -> None:
    texts = [content.decode() for content in ci_files(forge).values()]
    assert not any("@VERSION@" in text for text in texts)
    assert any(__version__ in text for text in texts)


@pytest.mark.parametrize("forge", FORGES)
def test_a_fleet_gets_only_the_checks(gitfleet: Shell, tmp_path: Path, forge: str) -> None:
    assert gitfleet("init", tmp_path / "alone").code == gitfleet("init", tmp_path / "whole", "--ci", forge).code == 0
    assert gitfleet("init", tmp_path / "alone", "--ci", forge).code == 0
    whole, added = (
        {path.relative_to(folder) for path in folder.rglob("*")} for folder in (tmp_path / "whole", tmp_path / "alone")
    )
    assert whole == added and Path(f".{forge}/CODEOWNERS") in added
    (tmp_path / "alone" / f".{forge}" / "CODEOWNERS").write_text("* @me\n")
    assert gitfleet("init", tmp_path / "alone", "--ci", forge).code == 0
    assert (tmp_path / "alone" / f".{forge}" / "CODEOWNERS").read_text() == "* @me\n"


def test_the_hook_refuses_what_is_not_committed_yet(moving: Path) -> None:
    (hook,) = yaml.safe_load(ci_files("github")[".pre-commit-config.yaml"])["repos"][0]["hooks"]
    assert play(hook["entry"], moving, {}, "sh").returncode == 0
    (moving / "placements" / "web.yaml").write_text("kind: [")
    assert play(hook["entry"], moving, {}, "sh").returncode == 1


def test_editors_check_gitfleets_kinds_and_let_others_pass(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    assert (
        gitfleet("schema", "--out", schemas).err
        == CliText.SCHEMAS_WRITTEN(count=len(list(schemas.iterdir())), folder=schemas) + "\n"
    )
    texts = {path.name: json.loads(path.read_text()) for path in schemas.iterdir()}
    assert all(text["$id"].endswith(f"/{name}") for name, text in texts.items())
    settings = json.loads(ci_files("github")[".vscode/settings.json"])
    assert [Path(path).name for path in settings["yaml.schemas"]] == ["fleet.schema.json"]
    validator = Draft202012Validator(texts["fleet.schema.json"])
    for path in fleet.rglob("*.yaml"):
        for document in yaml.safe_load_all(path.read_text()):
            validator.validate(document)
    placement = yaml.safe_load((fleet / "placements" / "web.yaml").read_text())
    assert not validator.is_valid({**placement, "spec": {"policy": 1}})
    assert gitfleet("schema", "Pin", "--out", schemas).code == 64
