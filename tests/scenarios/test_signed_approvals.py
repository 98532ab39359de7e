"""Approvals in several passes: what is remembered of a signature ends with its key; no commit brings its own policy."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gitfleet.api.fleet import AllowedSigners, ApprovalPolicy
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.branches.approval_history import ApprovalHistory, OwnPolicy
from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import Signature, SignerKeys
from gitfleet.simulation.memory_repo import MemoryRepo
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, members
from tests.scenarios.test_separate_duties import STRATEGY, WEB, approval, by, request_of, run
from tests.scenarios.world import World


@pytest.mark.parametrize(("minutes", "count"), [(10, 2), (90, 1)])
def test_a_key_that_ends_while_its_approval_waits_counts_no_more(
    monkeypatch: pytest.MonkeyPatch, minutes: int, count: int
) -> None:
    world = World()
    end = world.clock.now() + timedelta(hours=1)

    def signer(repo: MemoryRepo, commit: str, keys: SignerKeys, now: datetime) -> Signature:
        name = repo.about(commit).author[1]
        return Signature(name, f"key of {name}") if name.startswith("ann") or now < end else Signature(why="ended")

    def look(driver: Driver) -> None:
        policy = ApprovalPolicy(required=3, allowed_signers=AllowedSigners(ssh="signers"))
        own = OwnPolicy(policy=policy)
        driver.repository.approvals = ApprovalHistory(history=world.repo, reader=world.repo, own=own)

    monkeypatch.setattr(MemoryRepo, "signer", signer)
    world.start_with = look
    world.restart()
    clusters = [*members("c1", step="canary"), *members("c2", step="prod")]
    by(world, "zoe", *clusters, builders.namespace("web"), WEB, STRATEGY, builders.placement("web", strategy=EXTERNAL))
    by(world, "zoe", run("next"))
    world.settle()
    digest = request_of(world, "next").digest or ""
    for name in ("zoe", "ann"):
        by(world, name, approval("next", name, digest))
    world.settle()
    world.clock.advance(minutes * 60)
    world.settle()
    (waits,) = request_of(world, "next").conditions
    people = "ann@example.org" if count == 1 else "ann@example.org and zoe@example.org"
    assert waits.message.partition(";")[0] == ApprovalsText.APPROVALS_ARE_THERE_BY(
        count=count, required=3, people=people
    )


def test_a_commit_that_weakens_the_policy_is_asked_about_by_the_policy_before_it() -> None:
    world = World()

    def look(driver: Driver) -> None:
        driver.repository.approvals = ApprovalHistory(history=world.repo, reader=world.repo)

    world.start_with = look
    world.restart()
    clusters = [*members("c1", step="canary"), *members("c2", step="prod")]
    by(world, "zoe", *clusters, builders.namespace("web"), WEB, STRATEGY, builders.placement("web", strategy=EXTERNAL))
    by(world, "zoe", builders.fleet_config(approvals={"required": 2}))
    world.settle()
    by(world, "mal", run("next"), builders.fleet_config())
    world.settle()
    by(world, "mal", approval("next", "mal", request_of(world, "next").digest or ""))
    world.settle()
    (waits,) = request_of(world, "next").conditions
    assert waits.message == ApprovalsText.APPROVALS_ARE_THERE_BY(count=1, required=2, people="mal@example.org")
