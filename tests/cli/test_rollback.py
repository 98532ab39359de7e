"""`gitfleet rollback`: the run that it commits."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_staged_runs import staged


def test_a_rollback_is_printed_and_committed_in_place_of_the_run_under_way(gitfleet: Shell, moving: Path) -> None:
    staged(moving)
    gitfleet("run", "--once", moving)
    commit(moving, builders.repo_files_for(builders.deployment("shop", "web", image="web:2")))
    gitfleet("run", "--once", moving)
    head = git(moving, "rev-parse", "main")
    wanted = builders.staged_run("shop-back-to-1", placement="shop", strategy="slow", index=1)

    printed = gitfleet("rollback", "shop", "--to", "1", "--dry-run", "-C", moving)
    assert (printed.code, yaml.safe_load(printed.out)) == (0, wanted), printed.err
    assert git(moving, "rev-parse", "main") == head

    said = gitfleet("rollback", "shop", "--to", "1", "-C", moving)
    assert (said.code, said.out) == (0, ""), said.err
    made = git(moving, "rev-parse", "main").strip()
    assert said.err.splitlines() == [
        "runs/shop-back-to-1.yaml takes shop back to snapshot 1 with strategy slow",
        "runs/go.yaml goes, which ends its run",
        f"committed to main as {made[:10]} by person@example.com",
    ]
    assert git(moving, "show", "--no-renames", "--name-status", "--format=%s", "main").split("\n\n") == [
        "Roll back shop to snapshot 1",
        "D\truns/go.yaml\nA\truns/shop-back-to-1.yaml\n",
    ]
    refused = gitfleet("rollback", "shop", "--to", "9", "-C", moving)
    assert (refused.code, refused.err) == (1, "error: shop has no snapshot 9\nhint: snapshots: 0, 1\n")
