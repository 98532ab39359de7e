"""Approvals that existed before the request: writing them another way approves nothing, answering again does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
import yaml

from gitfleet.api.conditions import Status
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import approval_path, approval_text, name_to_reject, next_name
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.branches.approval_history import ApprovalHistory
from gitfleet.branches.request_branches import RequestBranches
from gitfleet.desired.texts import DesiredText
from gitfleet.loop.driver import Driver
from tests.scenarios.explaining import open_workspace
from tests.scenarios.staged_world import FAILED, SUCCEEDED, members, one_stage, run, said, staged
from tests.scenarios.world import World
from tests.texts import part

NAME = "go-before-all"
PATH = f"approvals/{NAME}.yaml"
PAYLOAD = (
    '{"status":{"conditions":[{"type":"Approved","status":"True","reason":"lgtm",'
    '"message":"lgtm","lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":1}]}}\n'
)
WHOLE = yaml.safe_dump(
    {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterApprovalRequest",
        "metadata": {"name": NAME},
        **json.loads(PAYLOAD),
    }
)
BESIDE = f"{WHOLE.replace(NAME, 'another')}---\n{WHOLE}"
OLDER = ApprovalsText.BEFORE_ASKED_APPROVAL_ONE_REQUEST()
TWICE = part(DesiredText.DEFINED_SECOND_TIME)
OLD = ({PATH: PAYLOAD}, {f"approvals/{NAME}.json": PAYLOAD}, {"approvals/old/any.yaml": WHOLE})
Files = Mapping[str, str | None]


def gate(files: Files) -> World:
    """A run that waits before its only stage; its approvals existed before it asked."""
    world = World()

    def look(driver: Driver) -> None:
        driver.repository.approvals = ApprovalHistory(history=world.repo, reader=world.repo)
        driver.publishers.members.append(
            RequestBranches(reader=world.repo, history=world.repo, writer=world.repo, clock=world.clock)
        )

    world.start_with = look
    world.restart()
    staged(world, *members("c1"))
    world.commit(one_stage(beforeStageTasks=[{"type": "Approval"}]), run())
    world.roll_out(files=files)
    assert waits(world)
    return world


def waits(world: World) -> bool:
    return said(world, "go")[-1] == "Progressing=False UpdateRunWaiting"


def warned(world: World, sentence: str) -> bool:
    return any(sentence in fault.message for fault in world.state().faults)


@pytest.mark.parametrize(
    ("before", "edits"),
    [
        (PAYLOAD, [{PATH: PAYLOAD.replace("\n", "\r\n")}]),
        (WHOLE, [{PATH: None, "approvals/old/any.yaml": WHOLE}]),
        (PAYLOAD, [{PATH: "{"}, {PATH: PAYLOAD}]),
        (PAYLOAD, [{PATH: None}, {f"approvals/{NAME}.2.yaml": PAYLOAD}]),
        (BESIDE, [{PATH: WHOLE}]),
    ],
    ids=["line-ends", "moved", "broken-and-mended", "renamed-in-two-commits", "taken-out-of-a-file"],
)
def test_an_old_approval_that_is_written_another_way_approves_nothing(before: str, edits: list[Files]) -> None:
    world = gate({PATH: before})
    for edit in edits:
        world.write(edit)
    world.settle()
    assert warned(world, OLDER) and waits(world)


def answered(world: World, status: Status) -> None:
    """A person commits what `gitfleet approve` and `gitfleet reject` write."""
    there = open_workspace(world.repo, world.fleet, world.clock).desired_at(world.repo.fetch()["main"]).approvals
    approves = status is Status.TRUE
    name = next_name(NAME, there, world.repo.files("main")) if approves else name_to_reject(NAME, there)
    request = world.state().approvals[NamespacedName("", NAME)]
    world.write({approval_path(name): approval_text(name, status, request.digest or "")})


def merged(world: World) -> None:
    """A person merges the request's branch by a fast-forward."""
    world.repo.move_branch("main", world.repo.fetch()[f"gitfleet/approve/{NAME}"])


ANSWERS: dict[str, tuple[Callable[[World], None], list[str]]] = {
    "approved by the command": (lambda world: answered(world, Status.TRUE), SUCCEEDED),
    "merged": (merged, SUCCEEDED),
    "rejected": (lambda world: answered(world, Status.FALSE), FAILED),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("files", OLD, ids=["its-file", "json", "other-file"])
def test_a_person_answers_beside_an_old_approval(files: Files, answer: str) -> None:
    world, (give, end) = gate(files), ANSWERS[answer]
    assert warned(world, OLDER)
    give(world)
    world.settle()
    assert said(world, "go") == end and not warned(world, TWICE)


def later(_: World) -> Files:
    return {PATH: PAYLOAD.replace("2026-01-02", "2026-01-03")}


def beside(_: World) -> Files:
    return {f"approvals/{NAME}.2.yaml": PAYLOAD}


def bound(world: World) -> Files:
    body = yaml.safe_load(WHOLE)
    body["metadata"]["annotations"] = yaml.safe_load(world.state_text(PATH))["metadata"]["annotations"]
    return {PATH: yaml.safe_dump(body)}


def decided(_: World) -> Files:
    return {PATH: PAYLOAD}


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        (PAYLOAD, later),
        (PAYLOAD, beside),
        (PAYLOAD, bound),
        (PAYLOAD.replace('"True"', '"Unknown"'), decided),
        ("{", decided),
    ],
    ids=["with-a-later-time", "in-a-further-file", "with-the-digest", "decided", "mended-for-the-first-time"],
)
def test_an_old_approval_that_is_answered_again_approves(before: str, answer: Callable[[World], Files]) -> None:
    world = gate({PATH: before})
    world.roll_out(files=answer(world))
    assert said(world, "go") == SUCCEEDED
