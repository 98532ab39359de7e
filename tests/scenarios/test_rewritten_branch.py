"""A watched branch that was rewritten: what was accepted last is reconciled until a person accepts the new head."""

from __future__ import annotations

import pytest

from gitfleet.api.faults import is_error
from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.branches.approval_history import ApprovalHistory, OwnPolicy
from gitfleet.branches.request_branches import RequestBranches
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput
from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import BranchChange, Person
from tests import builders
from tests.scenarios.explaining import open_workspace
from tests.scenarios.test_approval_requests import commit_as_ann, requests
from tests.scenarios.world import World
from tests.texts import part

REWRITTEN = part(BranchesText.REWRITTEN_NOT_COME_AFTER)
BOB = Person(name="Bob", email="bob@example.org")


def fleet(policy: ApprovalPolicy | None = None) -> tuple[World, list[str]]:
    """A settled cluster with version 2 of a setting; the commits of main, newest first."""
    world = World()
    repo = world.repo
    own = OwnPolicy(policy=policy) if policy is not None else None

    def ask(driver: Driver) -> None:
        driver.publishers.members.append(RequestBranches(reader=repo, history=repo, writer=repo, clock=world.clock))
        driver.repository.approvals = ApprovalHistory(history=repo, reader=repo, own=own)

    world.start_with = ask
    world.restart()
    for version in ("1", "2"):
        world.roll_out(
            builders.member_cluster("c1"),
            builders.namespace("web", labels={"team": "web"}),
            builders.config_map("web", "settings", {"version": version}),
            builders.placement("web"),
        )
    return world, [one.id for one in repo.log("main")]


def version(world: World) -> str:
    body = world.body("c1", "ConfigMap", "settings")
    return str(body["data"]["version"])


def rewrite(world: World, commits: list[str]) -> str:
    """Version 3 in the place of version 2, by force."""
    world.repo.move_branch("main", commits[1])
    return world.commit(builders.config_map("web", "settings", {"version": "3"}))


def test_what_was_accepted_last_is_reconciled_until_a_person_accepts_the_new_head() -> None:
    world, commits = fleet()
    new = rewrite(world, commits)
    world.settle()
    (fault,) = world.state().faults
    said = BranchesText.REWRITTEN_NOT_COME_AFTER(branch="main", new=new[:12], old=commits[0][:12])
    hint = BranchesText.NOTHING_NEW_HEAD_HAPPENS_BEFORE(old=commits[0][:12], name=f"rewrite-{new[:12]}")
    assert said in fault.message and hint in fault.message and is_error(fault)
    assert (version(world), world.state().observed_commit) == ("2", commits[0])
    assert said in world.state_text("README.md")

    branch = f"gitfleet/approve/rewrite-{new[:12]}"
    assert requests(world).keys() == {branch}
    before = world.state_commits()
    world.restart()
    world.settle()
    assert world.state_commits() == before, "nothing changed, nothing is written"

    world.repo.move_branch("main", world.repo.fetch()[branch])
    world.settle()
    assert (version(world), world.state().faults, requests(world)) == ("3", (), {})
    world.roll_out(builders.config_map("web", "settings", {"version": "4"}))
    assert version(world) == "4"


def test_commits_on_top_of_an_accepted_head_are_accepted_with_it() -> None:
    world, commits = fleet()
    new = rewrite(world, commits)
    world.settle()
    request = world.repo.fetch()[f"gitfleet/approve/rewrite-{new[:12]}"]
    world.repo.move_branch("main", request)
    world.roll_out(builders.config_map("web", "settings", {"version": "4"}))
    assert (version(world), world.state().faults) == ("4", ())


def test_what_is_explained_and_rendered_is_what_is_in_force() -> None:
    world, commits = fleet()
    world.repo.move_branch("main", commits[1])
    new = world.commit(
        builders.config_map("web", "settings", {"version": "3"}), builders.namespace("shop"), builders.placement("shop")
    )
    workspace = open_workspace(world.repo, world.fleet, world.clock)
    workspace.repository.approvals = ApprovalHistory(history=world.repo, reader=world.repo)
    for revision, version in ((None, "2"), (new, "3"), (commits[1], "1")):
        files, errors = workspace.rendered_files(revision)
        (settings,) = (text.decode() for path, text in files.items() if path.endswith("_settings.yaml"))
        assert (f"version: '{version}'" in settings or f'version: "{version}"' in settings, errors) == (True, [])
    with pytest.raises(BadInput, match="shop"):
        workspace.explain("shop", None)
    assert [row["clusterName"] for row in workspace.explain("shop", new)[1]] == ["c1"]


def test_pushing_the_old_head_back_ends_it_and_an_approval_of_another_rewrite_accepts_nothing() -> None:
    world, commits = fleet()
    new = rewrite(world, commits)
    world.settle()
    accepted = world.repo.fetch()[f"gitfleet/approve/rewrite-{new[:12]}"]
    world.repo.move_branch("main", commits[0])
    world.settle()
    assert (version(world), world.state().faults, requests(world)) == ("2", (), {})

    later = world.commit(builders.config_map("web", "settings", {"version": "5"}))
    world.settle()
    world.repo.move_branch("main", accepted)
    world.settle()
    assert (version(world), world.state().observed_commit) == ("5", later)
    assert [fault for fault in world.state().faults if REWRITTEN in fault.message]


@pytest.mark.parametrize(
    ("policy", "said", "warnings"),
    [
        (
            ApprovalPolicy(separate_duties=True),
            ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.org"),
            1,
        ),
        (
            ApprovalPolicy(required=2),
            ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="ann@example.org"),
            0,
        ),
    ],
)
def test_an_approval_that_is_not_enough_is_told_and_the_same_head_is_asked_for(
    policy: ApprovalPolicy, said: str, warnings: int
) -> None:
    world, commits = fleet(policy)
    rewrite(world, commits)
    new = commit_as_ann(world, "main", {"README.md": b"new\n"})
    world.settle()
    branch, path = f"gitfleet/approve/rewrite-{new[:12]}", f"approvals/rewrite-{new[:12]}.yaml"
    commit_as_ann(world, "main", {path: world.repo.files(branch)[path]})
    world.settle()
    error, *others = world.state().faults
    assert REWRITTEN in error.message and said in error.message and said in world.state_text("README.md")
    assert [(one.path, said in one.message, is_error(one)) for one in others] == [(path, True, False)] * warnings
    assert (version(world), set(requests(world))) == ("2", {branch})

    world.roll_out(files={"other.md": "on top\n"})
    assert requests(world).keys() == {branch}
    second = path.replace(".yaml", ".2.yaml")
    head, write = world.repo.fetch()["main"], {second: world.repo.files(branch)[second]}
    change = BranchChange(branch="main", expected=head, subject="Yes", when=world.clock.now(), write=write, person=BOB)
    world.repo.commit(change)
    world.settle()
    assert (version(world), world.state().faults, requests(world)) == ("3", (), {})


def test_neither_a_stricter_nor_a_weaker_policy_of_the_new_head_says_who_accepts_it() -> None:
    """That of the commit that was reconciled last does (docs/approvals.md)."""
    strict: dict[str, object] = {"approvals": {"required": 2}}
    weak: dict[str, object] = {}
    for last, new_head, accepted in ((weak, strict, True), (strict, weak, False)):
        world, _ = fleet()
        world.roll_out(builders.fleet_config(**last))
        world.repo.move_branch("main", world.repo.log("main")[1].id)
        new = world.commit(builders.fleet_config(**new_head), builders.config_map("web", "settings", {"version": "3"}))
        world.settle()
        path, branch = f"approvals/rewrite-{new[:12]}.yaml", f"gitfleet/approve/rewrite-{new[:12]}"
        commit_as_ann(world, "main", {path: world.repo.files(branch)[path]})
        world.settle()
        assert (version(world) == "3") is accepted, new_head


def test_a_head_that_came_before_is_a_rewritten_branch_too() -> None:
    """`git push --force origin HEAD~1:main` takes the newest commit away."""
    world, commits = fleet()
    world.repo.move_branch("main", commits[1])
    world.settle()
    assert (version(world), world.state().observed_commit) == ("2", commits[0])
    assert [REWRITTEN in fault.message for fault in world.state().faults] == [True]
    assert requests(world).keys() == {f"gitfleet/approve/rewrite-{commits[1][:12]}"}
