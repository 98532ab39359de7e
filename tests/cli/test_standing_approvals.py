"""Approvals that existed before the request, in a real git; the cases are in tests/scenarios."""

from __future__ import annotations

from pathlib import Path

from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_staged_runs import staged
from tests.scenarios.test_standing_approvals import OLDER, PATH, PAYLOAD, WHOLE

OTHER = "approvals/old/any.yaml"


def test_an_old_approval_that_is_moved_approves_nothing_and_a_person_approves_again(
    gitfleet: Shell, moving: Path
) -> None:
    staged(moving)
    strategy = builders.staged_strategy("slow", builders.stage("all", beforeStageTasks=[{"type": "Approval"}]))
    commit(moving, {**builders.repo_files_for(strategy), PATH: PAYLOAD})
    for edit in ({}, {PATH: None, OTHER: WHOLE}):
        if edit:
            commit(moving, edit)
        ran = gitfleet("run", "--until-settled", moving)
        assert OLDER in ran.err and "go waits before stage all for approval" in ran.err
    git(moving, "config", "user.name", "Ann")
    git(moving, "config", "user.email", "ann@example.org")
    assert gitfleet("approve", "go", "all", "-C", moving).code == 0
    ran = gitfleet("run", "--until-settled", moving)
    assert "waiting" not in ran.err and "a second time" not in ran.err
