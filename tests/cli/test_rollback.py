"""`gitfleet rollback`: the run or the pin that it commits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from gitfleet.cli.texts import CliText
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_staged_runs import staged

pytestmark = pytest.mark.usefixtures("hurried")


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
        CliText.TAKES_BACK_SNAPSHOT(
            made="runs/shop-back-to-1.yaml", placement="shop", index="1", how="with strategy slow"
        ),
        CliText.GOES_ENDS_RUN(path="runs/go.yaml"),
        CliText.COMMITTED_AS_BY(branch="main", commit=made[:10], email="", merge="person@example.com"),
    ]
    assert git(moving, "show", "--no-renames", "--name-status", "--format=%s", "main").split("\n\n") == [
        CliText.ROLL_BACK_SNAPSHOT(placement="shop", index="1"),
        "D\truns/go.yaml\nA\truns/shop-back-to-1.yaml\n",
    ]
    refused = gitfleet("rollback", "shop", "--to", "9", "-C", moving)
    assert (refused.code, refused.err) == (1, "error: shop has no snapshot 9\nhint: snapshots: 0, 1\n")


def test_a_rollback_to_content_that_was_rejected_says_so_and_to_quarantined_content_is_refused(
    gitfleet: Shell, moving: Path
) -> None:
    staged(moving)
    gated = builders.staged_strategy("slow", builders.stage("canary", approval=True))
    commit(moving, builders.repo_files_for(gated, builders.approval("go", "canary", approved=False)))
    gitfleet("run", "--until-settled", moving)
    commit(moving, builders.repo_files_for(builders.deployment("shop", "web", image="web:2")))
    commit(moving, builders.repo_files_for(builders.staged_run("next", placement="shop", strategy="slow")))
    gitfleet("run", "--until-settled", moving)
    said = gitfleet("rollback", "shop", "--to", "0", "--dry-run", "-C", moving)
    why = ViewsText.RUN_ROLLED_OUT_CONTENT_FAILED(last="go", runview="stage canary was rejected by go-canary: Rejected")
    assert (said.code, f"warning: {why}" in said.err.splitlines()) == (0, True), said.err

    one = json.loads(gitfleet("get", "snapshots", "shop-0-snapshot", "-C", moving, "-o", "json").out)
    digest = one["metadata"]["annotations"]["kubernetes-fleet.io/resource-hash"]
    commit(moving, builders.repo_files_for(builders.quarantine("bad", "shop", digest, reason="it loses orders")))
    said = gitfleet("rollback", "shop", "--to", "0", "-C", moving)  # before any reconcile has seen the file
    why = "snapshot 0 of shop is quarantined by bad (it loses orders); other content goes out as always, and taking "
    assert (said.code, said.err.splitlines()[0]) == (1, f"error: {why}the file away lets this one out"), said.err


def snapshots_of_web(gitfleet: Shell, repo: Path) -> list[tuple[str, str]]:
    """Index and hash of each, the oldest first."""
    found = json.loads(gitfleet("get", "snapshots", "-C", repo, "-o", "json").out)["items"]
    mine = [one["metadata"] for one in found if one["metadata"]["name"].startswith("web-")]
    index, digest = "kubernetes-fleet.io/resource-index", "kubernetes-fleet.io/resource-hash"
    return [(one["labels"][index], one["annotations"][digest]) for one in mine]


def had(gitfleet: Shell, repo: Path) -> set[str]:
    """The indexes of the snapshots that the clusters of `web` have."""
    status = json.loads(gitfleet("get", "crp", "web", "-C", repo, "-o", "json").out)["status"]
    return {one["observedResourceIndex"] for one in status["placementStatuses"] if "clusterName" in one}


def test_a_rolling_placement_is_pinned_and_every_command_says_so_until_the_file_is_removed(
    gitfleet: Shell, moving: Path
) -> None:
    ((_, digest),) = snapshots_of_web(gitfleet, moving)
    web = (moving / "resources" / "web" / "web.yaml").read_text()
    commit(moving, {"resources/web/web.yaml": web.replace("image: ", "image: next/")})
    assert gitfleet("run", "--until-settled", moving).code == 0

    wanted = builders.pin("web", 0, digest)
    printed = gitfleet("rollback", "web", "--to", "0", "--dry-run", "-C", moving)
    assert (printed.code, yaml.safe_load(printed.out)) == (0, wanted), printed.err
    assert gitfleet("rollback", "web", "--to", "0", "--strategy", "slow", "-C", moving).code == 1

    said = gitfleet("rollback", "web", "--to", "0", "-C", moving)
    assert (said.code, said.out) == (0, ""), said.err
    made = git(moving, "rev-parse", "main").strip()
    assert said.err.splitlines() == [
        (
            CliText.TAKES_BACK_SNAPSHOT(made="pins/web.yaml", placement="web", index="0", how="")
            + ViewsText.UNTIL_FILE_REMOVED()
        ),
        CliText.COMMITTED_AS_BY(branch="main", commit=made[:10], email="", merge="person@example.com"),
    ]
    warned = "pins/web.yaml:1: Pin/web: " + ReconcileText.KEEPS_CONTENT_SNAPSHOT(
        what="web",
        snapshot=ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="0", waiting=ReconcileText.SNAPSHOT_NEWER(newer="1")),
    )
    unfolded = " ".join(gitfleet("validate", moving).out.split())
    assert f"{warned} (warning)" in unfolded
    assert f"warning: {warned}" in " ".join(gitfleet("plan", moving).out.split())
    assert gitfleet("run", "--until-settled", moving).code == 0
    taken = snapshots_of_web(gitfleet, moving)
    assert (taken[2], had(gitfleet, moving)) == (("2", digest), {"2"})

    keeps = "pins/web.yaml:1 " + ReconcileText.KEEPS_CONTENT_SNAPSHOT(
        what="it", snapshot=ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="0", waiting="snapshot 1")
    )
    assert f"web: {keeps}" in gitfleet("get", "placements", "-C", moving).err
    assert keeps in " ".join(gitfleet("describe", "crp", "web", "-C", moving).out.split())
    assert f"web: {keeps}" in " ".join(gitfleet("explain", "web", "-C", moving).out.split())
    assert json.loads(gitfleet("explain", "web", "-C", moving, "-o", "json").out)["pinned"] == f"web: {keeps}"
    assert gitfleet("get", "pins", "-C", moving).out.split() == ["NAME", "KIND", "web", "Pin"]
    assert warned.rpartition(": ")[2] in git(moving, "show", "gitfleet/state:README.md").replace("`", "")

    again = gitfleet("rollback", "web", "--to", "0", "-C", moving)
    assert (again.code, again.err.splitlines()[0]) == (
        1,
        ("error: " + ViewsText.ROLLS_OUT_CONTENT_SNAPSHOT_ALREADY(key="web", snapshot="0")),
    )
    git(moving, "rm", "-q", "pins/web.yaml")
    git(moving, "commit", "-qm", "Forward")
    assert gitfleet("run", "--until-settled", moving).code == 0
    assert had(gitfleet, moving) == {"3"}
    assert [digest for _, digest in snapshots_of_web(gitfleet, moving)][1::2] == [taken[1][1]] * 2
    assert "keeps" not in gitfleet("get", "placements", "-C", moving).err
