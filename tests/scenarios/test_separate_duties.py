"""separateDuties: nobody approves a stage who wrote any commit of the change that its run rolls out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import ApprovalRequest
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.branches.approval_history import ApprovalHistory, OwnPolicy
from gitfleet.formats.sentences import named_briefly
from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import BranchChange, Person
from gitfleet.reconcile.run_changes import changes_of
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, members
from tests.scenarios.world import World

PEOPLE = ("ann", "bob", "cyd", "zoe")
WEB = builders.deployment("web", "web")
STRATEGY = builders.staged_strategy(
    "steps",
    builders.stage("canary", match_labels={"step": "canary"}),
    builders.stage("prod", match_labels={"step": "prod"}, beforeStageTasks=[{"type": "Approval"}]),
)


def by(world: World, name: str, *bodies: JsonObject, remove: tuple[JsonObject, ...] = ()) -> None:
    """Somebody commits objects to their conventional files, and removes those of others."""
    world.repo.commit(
        BranchChange(
            branch="main",
            expected=world.repo.fetch().get("main"),
            subject="Change",
            when=world.clock.now(),
            write={path: text.encode() for path, text in builders.repo_files_for(*bodies).items()},
            remove=tuple(map(builders.path_of, remove)),
            person=Person(name=name, email=f"{name}@example.org"),
        )
    )


def run(name: str, index: int | None = None) -> JsonObject:
    return builders.staged_run(name, placement="web", strategy="steps", index=index)


def approval(of: str, by_whom: str, digest: str) -> JsonObject:
    """A person's file that approves the stage `prod` of a run."""
    metadata = {"name": f"{of}-before-prod.{by_whom}", "annotations": {"gitfleet.dev/digest": digest}}
    return {**builders.approval(of, "prod"), "metadata": metadata}


def request_of(world: World, of: str) -> ApprovalRequest:
    return world.state().approvals[NamespacedName("", f"{of}-before-prod")]


def web(image: str) -> JsonObject:
    return builders.deployment("web", "web", image=image)


def approved(world: World, name: str) -> None:
    """A run to the newest snapshot, by Zoe, that takes its whole way."""
    by(world, "zoe", run(name))
    world.settle()
    driver = world.driver
    looks, driver.repository.approvals = driver.repository.approvals, None
    by(world, "zoe", approval(name, "zoe", request_of(world, name).digest or ""))
    world.settle()
    driver.repository.approvals = looks


def fleet(first: bool) -> World:
    """Zoe's placement with snapshot 0; unless this is to be the `first` rollout, both clusters have it."""
    world = World()
    policy = OwnPolicy(policy=ApprovalPolicy(required=len(PEOPLE) + 1, separate_duties=True))

    def look(driver: Driver) -> None:
        driver.repository.approvals = ApprovalHistory(history=world.repo, reader=world.repo, own=policy)

    clusters = [*members("c1", step="canary"), *members("c2", step="prod")]
    by(world, "zoe", *clusters, builders.namespace("web"), WEB, STRATEGY, builders.placement("web", strategy=EXTERNAL))
    world.settle()
    if not first:
        approved(world, "zero")
        assert [one.resource_snapshot for one in world.bindings("web").values()] == ["web-0-snapshot"] * 2
    world.start_with = look
    world.restart()
    return world


def commits(world: World, *made: tuple[Any, ...]) -> None:
    """One commit after the other, all reconciled together."""
    for name, *bodies in made:
        by(world, name, *bodies)


def first_rollout(world: World) -> None:
    commits(world, ("bob", run("next")))


def first_rollout_of_a_run_that_two_people_wrote(world: World) -> None:
    commits(world, ("ann", run("next", 7)), ("bob", run("next")))


def first_rollout_after_one_that_was_given_up(world: World) -> None:
    by(world, "bob", run("one"))
    world.settle()
    by(world, "cyd", run("next"), remove=(run("one"),))


def several_commits(world: World) -> None:
    commits(world, ("ann", web("web:2")), ("bob", web("web:3")), ("cyd", run("next")))


def snapshots_that_no_cluster_had(world: World) -> None:
    by(world, "ann", web("web:2"))
    world.settle()
    commits(world, ("bob", web("web:3")), ("bob", run("next")))


def what_is_no_part_of_it(world: World) -> None:
    other = builders.deployment("web", "unselected")
    commits(world, ("ann", builders.config_map("other", "x"), builders.namespace("other")), ("bob", web("web:2")))
    commits(world, ("bob", run("next")), ("cyd", {**other, "metadata": {"name": "x", "namespace": "other"}}))


def a_file_that_went(world: World) -> None:
    by(world, "zoe", builders.config_map("web", "settings"))
    approved(world, "one")
    by(world, "ann", remove=(builders.config_map("web", "settings"),))
    commits(world, ("bob", run("next")))


def a_strategy_that_changed(world: World) -> None:
    commits(world, ("ann", STRATEGY | {"metadata": {"name": "steps", "labels": {"by": "ann"}}}), ("bob", STRATEGY))
    commits(world, ("bob", web("web:2")), ("bob", run("next")))


def a_placement_that_changed(world: World) -> None:
    limited = builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed("c1", "c2"))
    commits(world, ("ann", limited), ("bob", builders.placement("web", strategy=EXTERNAL)), ("bob", run("next")))


def an_override(world: World) -> None:
    label = builders.override_rule({"op": "add", "path": "/metadata/labels", "value": {"tier": "x"}})
    commits(world, ("ann", builders.override("of-web", "Namespace/web", label)))
    commits(world, ("bob", run("next")))


def a_cluster_that_joined(world: World) -> None:
    commits(world, ("zoe", *members("c3", step="prod")), ("bob", run("next")))


def back_to_what_went_all_the_way(world: World) -> None:
    by(world, "ann", web("web:2"))
    approved(world, "one")
    commits(world, ("bob", run("next", 0)))


def back_to_what_was_before(world: World) -> None:
    by(world, "cyd", web("web:2"))
    world.settle()
    by(world, "ann", web("web:3"), run("one"))
    world.settle()
    commits(world, ("bob", run("next", 1)))


def a_newer_commit_than_the_snapshot(world: World) -> None:
    by(world, "ann", web("web:2"))
    world.settle()
    commits(world, ("cyd", web("web:3")), ("bob", run("next", 1)))


@pytest.mark.parametrize(
    ("change", "wrote_it"),
    [
        (first_rollout, {"bob", "zoe"}),
        (first_rollout_of_a_run_that_two_people_wrote, {"ann", "bob", "zoe"}),
        (first_rollout_after_one_that_was_given_up, {"cyd", "zoe"}),
        (several_commits, {"ann", "bob", "cyd"}),
        (snapshots_that_no_cluster_had, {"ann", "bob"}),
        (what_is_no_part_of_it, {"bob"}),
        (a_file_that_went, {"ann", "bob"}),
        (a_strategy_that_changed, {"ann", "bob"}),
        (a_placement_that_changed, {"ann", "bob"}),
        (an_override, {"ann", "bob"}),
        (a_cluster_that_joined, {"bob"}),
        (back_to_what_went_all_the_way, {"bob"}),
        (back_to_what_was_before, {"bob", "cyd"}),
        (a_newer_commit_than_the_snapshot, {"ann", "bob"}),
    ],
)
def test_who_wrote_a_commit_of_the_change_may_not_approve_it(change: Any, wrote_it: set[str]) -> None:
    world = fleet(first=change.__name__.startswith("first"))
    change(world)
    world.settle()
    for name in PEOPLE:
        by(world, name, approval("next", name, request_of(world, "next").digest or ""))
    world.settle()
    (condition,) = request_of(world, "next").conditions
    text = ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES
    refused = {name for name in PEOPLE if text(person=f"{name}@example.org") in condition.message}
    counted = sorted(f"{name}@example.org" for name in {*PEOPLE} - wrote_it)
    assert refused == wrote_it, condition.message
    assert condition.message.startswith(
        f"{len(counted)}"
        + ApprovalsText.APPROVALS_ARE_THERE_BY(count="", required="5", people=named_briefly(counted, 5))
    )


@pytest.mark.parametrize(
    ("documents", "paths"),
    [
        (
            (("resources/web/a.yaml", "1"), ("resources/web/b.yaml", "2")),
            ("resources/web/a.yaml", "resources/web/b.yaml"),
        ),
        ((("resources/app/kustomization.yaml", ""),), ("resources/app", "resources/base")),
        ((("resources/gone/kustomization.yaml", ""),), ()),
        (tuple((f"resources/a/{number}/x.yaml", "1") for number in range(201)), ("resources/a",)),
        ((("resources/caf\\xe9/x/y.yaml", "1"), ("resources/web/a\\b.yaml", "1")), ("resources", "resources/web")),
        ((("\\xff.yaml", "1"),), ()),
    ],
    ids=["files", "kustomize", "kustomize of another commit", "many files", "bytes that are no text", "at the top"],
)
def test_files_are_asked_for_as_git_has_them_and_never_fewer(
    documents: tuple[tuple[str, str], ...], paths: tuple[str, ...]
) -> None:
    world = fleet(first=False)
    by(world, "bob", run("next"))
    world.settle()
    before, wanted = world.state(), world.driver.repository.desired_trees.at(world.repo.fetch()["main"], world.state())
    (record,) = before.placements.values()
    (snapshot,) = record.resource_snapshots
    made = tuple(replace(snapshot.documents[0], path=path, blob=blob) for path, blob in documents)
    record = replace(record, resource_snapshots=(replace(snapshot, documents=made),))
    wanted = replace(wanted, sources={"resources/app": ("resources/app", "resources/base")})
    before = replace(before, placements={record.placement.key: record})
    content, own = changes_of(before.runs[NamespacedName("", "next")], before, wanted)
    assert (content.commit, content.paths) == (snapshot.commit, paths)
    assert own.paths == ("placements/web.yaml", "runs/next.yaml", "strategies/steps.yaml")
