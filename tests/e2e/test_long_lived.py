"""`gitfleet run` as a pod or a terminal has it: for as long as nobody stops it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from tests.e2e.manifests import config_map, member, namespace_file, placement, text
from tests.e2e.programs import Program, Running, eventually
from tests.e2e.repos import STATE, git

pytestmark = pytest.mark.real

SIMULATED = {"simulated": True}
HOURLY = text(
    {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FleetConfig",
        "metadata": {"name": "f"},
        "spec": {"interval": "1h"},
    }
)


def simulated_files(value: str) -> dict[str, str | None]:
    return {
        "clusters/c1.yaml": member("c1", connection=SIMULATED),
        "placements/web.yaml": placement("web"),
        "resources/web.yaml": namespace_file("web") + "---\n" + config_map("web", k=value),
    }


def applied_value(simulated: Path) -> str | None:
    """The value in the ConfigMap on the simulated cluster c1."""
    try:
        saved = yaml.safe_load((simulated / "c1.json").read_text())
    except FileNotFoundError:
        return None
    bodies = [item["object"] for item in saved["objects"]]
    return next((b["data"]["k"] for b in bodies if b["metadata"]["name"] == "settings"), None)


def await_value(value: str, simulated: Path, running: Running) -> None:
    """Wait until the value is on the simulated cluster."""
    eventually(lambda: applied_value(simulated) == value, lambda: running.talk)


def test_a_commit_to_a_local_repo_wakes_it_and_the_work_tree_is_never_touched(tmp_path: Path) -> None:
    repo, simulated = tmp_path / "fleet", tmp_path / "simulated"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "config", "user.name", "A Person")
    git(repo, "config", "user.email", "person@example.com")

    def commit(value: str) -> None:
        for path, content in (simulated_files(value) | {"gitfleet.yaml": HOURLY}).items():
            (repo / path).parent.mkdir(exist_ok=True)
            (repo / path).write_text(content or "")
        git(repo, "add", "--all")
        git(repo, "commit", "--quiet", "-m", value)

    commit("one")
    program = Program(repo=str(repo), home=tmp_path / "home", simulated=simulated)
    with program.running() as running:
        eventually(lambda: applied_value(simulated) == "one", lambda: running.talk)
        eventually(lambda: '"type":"Available"' in git(repo, "show", f"{STATE}:bindings/web/all.yaml", check=False))
        time.sleep(1)  # by now it waits for the hour to pass
        for value in ("two", "three"):
            commit(value)
            head, index = git(repo, "rev-parse", "HEAD"), (repo / ".git/index").read_bytes()
            await_value(value, simulated, running)  # long before the hour is over: the commit woke it
            # What people have checked out is theirs: not a byte of it moves.
            assert (repo / ".git/index").read_bytes() == index
            assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
            assert git(repo, "rev-parse", "HEAD") == head
            assert git(repo, "status", "--porcelain") == ""
        assert running.terminate() == 0
    assert "Traceback" not in running.talk
