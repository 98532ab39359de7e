"""Requests for approval as branches: one commit on top of the watched branch, which approves when it is merged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import pytest

from gitfleet.api.holds import Hold
from gitfleet.branches.request_branches import RequestBranches
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import Forbidden, GitfleetError, RemoteUnreachable
from gitfleet.formats.git_names import GITFLEET
from gitfleet.loop.driver import Driver
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.ports.repos import BranchChange, Person
from gitfleet.simulation.memory_repo import MemoryCommit
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.fleet.reports import report_of
from tests.scenarios.world import World, answer, only_hold
from tests.texts import part

ANN = Person(name="Ann", email="ann@example.org")
PREFIX = "gitfleet/approve/"


def settled() -> World:
    """Two clusters and a placement with a Namespace and two objects."""
    world = World()
    world.roll_out(
        *map(builders.member_cluster, ("c1", "c2")),
        builders.namespace("web"),
        builders.config_map("web", "settings"),
        builders.deployment("web", "app"),
        builders.placement("web"),
    )
    return world


def objects(world: World) -> set[str]:
    """Every object on every cluster."""
    return {f"{name} {one.key}" for name, cluster in world.fleet.clusters.items() for one in cluster.objects()}


def resources(world: World) -> dict[str, None]:
    """The resources/ folder removed."""
    return {path: None for path in world.repo.files("main") if path.startswith("resources/")}


def asking(world: World) -> World:
    """The world with reconcilers that push requests."""

    def ask(driver: Driver) -> None:
        driver.publishers.members.append(
            RequestBranches(reader=world.repo, history=world.repo, writer=world.repo, clock=world.clock)
        )

    world.start_with = ask
    world.restart()
    return world


def held() -> tuple[World, Hold, str]:
    """A hold, and the branch that asks for its approval."""
    world = asking(settled())
    world.roll_out(files=resources(world))
    hold = only_hold(world)
    return world, hold, PREFIX + hold.name


def requests(world: World) -> dict[str, str]:
    """The branches that ask for something, with their heads."""
    return {name: head for name, head in world.repo.fetch().items() if name.startswith(PREFIX)}


def head_of(world: World, branch: str) -> MemoryCommit:
    return world.repo.log(branch)[0]


def commit_as_ann(world: World, branch: str, files: Mapping[str, bytes]) -> str:
    head = world.repo.fetch()[branch]
    change = BranchChange(branch=branch, expected=head, subject="Mine", when=world.clock.now(), write=files, person=ANN)
    return world.repo.commit(change)


def test_a_request_is_one_commit_that_a_person_can_read() -> None:
    world, hold, branch = held()
    assert requests(world).keys() == {branch}
    commit = head_of(world, branch)
    assert commit.parent == world.repo.fetch()["main"]
    assert (commit.author, commit.committer) == (GITFLEET, GITFLEET)
    added = {path for path in world.repo.files(branch) if path not in world.repo.files("main")}
    assert added == {f"approvals/{hold.name}.yaml"}
    assert f"    gitfleet.dev/digest: {hold.digest}\n" in world.repo.files(branch)[added.pop()].decode()
    lines = commit.message.splitlines()
    assert lines[0].startswith(f"Approve {hold.name}: ")
    body = "\n".join(lines)
    for text in (
        f'gitfleet reject {hold.name}, or approvals/{hold.name}.yaml with status "False", does.',
        ViewsText.COMMIT_LISTED_BELOW(commit=hold.commit),
        f"What goes: {hold.objects} placed objects\n\n- ",
        "From where\n\n" + "\n".join(f"- {one.cluster}: {one.objects} deleted" for one in hold.clusters),
        f"What comes next\n\n{ViewsText.ONCE_WATCHED_BRANCH()}",
        *(str(removal) for removal in hold.removals),
        *(reason.message for reason in hold.reasons),
    ):
        assert text in body, (text, body)


@pytest.mark.parametrize("how", ["merged as it is", "squashed", "merged after an edit"])
def test_merging_it_approves_and_the_branch_goes(how: str) -> None:
    world, _, branch = held()
    before = objects(world)
    files = {path: text for path, text in world.repo.files(branch).items() if path.startswith("approvals/")}
    if how == "merged as it is":
        world.repo.move_branch("main", world.repo.fetch()[branch])
    else:
        commit_as_ann(world, "main", {path: text + b"# by Ann\n" * ("edit" in how) for path, text in files.items()})
    world.settle()
    assert not world.state().holds and objects(world) < before
    assert not requests(world)


def rejected(world: World, hold: Hold) -> None:
    world.write(answer(hold, approved=False))


def taken_back(world: World, hold: Hold) -> None:
    files = {path: text.decode() for path, text in world.repo.files("main").items()}
    parent = world.repo.log("main")[1].tree.listing()
    lost = {path: world.repo.read_blobs([entry.oid], limit=1 << 20)[entry.oid] for path, entry in parent.items()}
    world.write({path: text.decode() for path, text in lost.items() if path not in files})


@pytest.mark.parametrize("end", [rejected, taken_back])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_request_that_is_answered_otherwise_goes(end: Callable[[World, Hold], None], restarts: bool) -> None:
    world, hold, _ = held()
    before = objects(world)
    end(world, hold)
    if restarts:
        world.restart()
    world.settle()
    assert not requests(world) and objects(world) == before


def test_it_is_renewed_when_the_watched_branch_moves_and_not_otherwise() -> None:
    world, _, branch = held()
    first = requests(world)[branch]
    pushes: list[BranchChange] = []
    world.repo.before_commit = pushes.append
    world.settle()
    world.restart()
    world.settle()
    assert (requests(world)[branch], pushes) == (first, []), "nothing changed, nothing is pushed"

    moved = world.commit(builders.config_map("other", "settings"), builders.namespace("other"))
    world.settle()
    assert head_of(world, branch).parent == moved
    assert [change.branch for change in pushes].count(branch) == 1


def test_two_reconcilers_agree_on_it() -> None:
    world, _, branch = held()
    world.restart()
    one, other = world.driver, world.start()
    for driver in (one, other, one, other):
        driver.reconcile()
    world.write({"README.md": "new\n"})
    for driver in (one, other, one, other):
        driver.reconcile()
    head = requests(world)[branch]
    pushes: list[BranchChange] = []
    world.repo.before_commit = pushes.append
    for driver in (one, other, one, other):
        driver.reconcile()
    assert (requests(world)[branch], pushes) == (head, [])
    assert head_of(world, branch).parent == world.repo.fetch()["main"]


def test_somebody_elses_commits_are_left_alone_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    world, hold, branch = held()
    theirs = commit_as_ann(world, branch, {"notes.md": b"Let us talk.\n"})
    other = world.repo.commit_files(f"{PREFIX}mine", {"a.md": b"1\n"}, world.clock.now())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            world.roll_out(files={"README.md": f"{world.clock.now()}\n"})
            world.advance(minutes=1)
        world.roll_out(files=answer(hold))
    assert requests(world) == {branch: theirs, f"{PREFIX}mine": other}
    said = [record.getMessage() for record in caplog.records]
    assert said == [BranchesText.BRANCH_COMMITS_SOMEBODY_ELSE_GITFLEET(branch=f"{PREFIX}{hold.name}")]


def test_a_request_that_somebody_amended_is_theirs() -> None:
    """`git commit --amend` keeps gitfleet as the author, and the trailer of the request."""
    world, _, branch = held()
    trailer = ("Gitfleet-Request", "0" * 64)
    change = BranchChange(
        branch=branch,
        expected=world.repo.fetch()[branch],
        base=head_of(world, branch).parent,
        subject="Approve",
        trailers=(trailer,),
        when=world.clock.now(),
        write={"notes.md": b"Let us talk.\n"},
        person=ANN,
        author=GITFLEET,
    )
    theirs = world.repo.commit(change)
    assert (head_of(world, branch).author, head_of(world, branch).committer[1]) == (GITFLEET, ANN.email)
    world.roll_out(files={"README.md": "new\n"})
    assert requests(world) == {branch: theirs}


def test_a_branch_that_a_person_removes_answers_nothing_and_comes_back_with_the_next_commit() -> None:
    world, hold, branch = held()
    world.repo.move_branch(branch, None)
    world.settle()
    assert not requests(world) and only_hold(world) == hold
    world.roll_out(files={"README.md": "new\n"})
    assert requests(world).keys() == {branch}


@pytest.mark.parametrize(
    ("error", "again"), [(Forbidden("the branch is protected"), False), (RemoteUnreachable("the line broke"), True)]
)
def test_a_push_that_is_refused_is_a_warning_and_stops_nothing(
    caplog: pytest.LogCaptureFixture, error: GitfleetError, again: bool
) -> None:
    world = asking(settled())

    def refuse(change: BranchChange) -> None:
        if change.branch.startswith(PREFIX):
            refused.append(change)
            raise error

    refused: list[BranchChange] = []
    world.repo.before_commit = refuse
    gone = resources(world)
    with caplog.at_level(logging.WARNING):
        world.roll_out(files=gone)
        for _ in range(3):
            world.driver.reconcile()
    hold = only_hold(world)
    assert [record.getMessage() for record in caplog.records] == [
        BranchesText.BRANCH_ASKS_APPROVAL(branch=f"{PREFIX}{hold.name}", error=error)
    ]
    assert (len(refused) > 3) is again
    path = f"approvals/{hold.name}.yaml"
    sentence = f"{path}:1: Branch/{PREFIX}{hold.name}: " + BranchesText.BRANCH_ASKS_APPROVAL(
        branch=f"{PREFIX}{hold.name}", error=(f"{error}; " + BranchesText.ADD_HAND_GITFLEET_APPROVE(path=path))
    )
    noted = [] if again else [sentence]
    assert branch_notes(world) == noted
    assert (part(BranchesText.BRANCH_ASKS_APPROVAL) in world.state_text("README.md")) is not again
    state = world.state_commits()
    world.restart()
    result = world.driver.reconcile()
    assert result.settled
    assert world.state_commits() == state, "a new process does not forget it and say it again"
    world.repo.before_commit = None
    world.roll_out(files={"README.md": "new\n"})
    result = world.driver.reconcile()
    assert result.settled
    assert len(requests(world)) == 1 and branch_notes(world) == []


def branch_notes(world: World) -> list[str]:
    """What the status says of branches that cannot be kept."""
    return [str(fault) for fault in world.state().faults if fault.object.startswith("Branch/")]


def test_the_note_of_a_refused_branch_goes_with_its_request() -> None:
    world = asking(settled())

    def refuse(change: BranchChange) -> None:
        if change.branch.startswith(PREFIX):
            raise Forbidden("the branch is protected")

    world.repo.before_commit = refuse
    gone = resources(world)
    kept = {path: world.repo.files("main")[path].decode() for path in gone}
    world.roll_out(files=gone)
    assert len(branch_notes(world)) == 1
    world.roll_out(files=kept)
    assert (world.state().holds, branch_notes(world)) == ({}, [])


def test_the_prefix_is_the_fleets_and_never_reaches_gitfleets_own_branches() -> None:
    world = asking(settled())
    state = world.repo.log("gitfleet/state")
    config = builders.an_object("gitfleet.dev/v1alpha1", "FleetConfig", "fleet")
    world.commit({**config, "spec": {"branches": {"approvals": "gitfleet/"}}})
    world.roll_out(files=resources(world))
    assert world.repo.fetch().keys() == {"main", "gitfleet/state", f"gitfleet/{only_hold(world).name}"}
    assert world.repo.log("gitfleet/state")[-len(state) :] == state


def ask(name: str) -> ApprovalRequest:
    """A request that asks for something."""
    return ApprovalRequest(
        name=name, digest="d", commit="c", subject="Hold", title=f"Approve {name}", body="All of it."
    )


def test_many_requests_are_renewed_in_turn_and_a_new_one_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a push: a reconcile makes a few, and goes on with the others in the next."""
    monkeypatch.setattr("gitfleet.branches.request_branches._MOST_AT_ONCE", 2)
    world = World()
    world.write({"a": "0"})
    branches = RequestBranches(reader=world.repo, history=world.repo, writer=world.repo, clock=world.clock)
    asked = [ask(name) for name in "abcde"]

    def renewed(*also: ApprovalRequest) -> str:
        before = requests(world)
        branches.publish(report_of(heads=world.repo.fetch(), rewrite=(*asked, *also)))
        after = requests(world)
        return "".join(name.removeprefix(PREFIX) for name in sorted(after) if before.get(name) != after[name])

    assert [renewed() for _ in range(4)] == ["ab", "cd", "e", ""]
    assert not branches.due
    world.write({"a": "new"})
    world.write({"a": "new"})
    assert [renewed(), renewed(ask("z")), not branches.due] == ["ab", "cz", False]
    assert [renewed(ask("z")), not branches.due] == ["de", True]
    moved = []
    for number in range(4):
        world.write({"a": f"{number}"})
        moved.append(renewed(ask("z")))
    assert moved == ["ab", "cz", "de", "ab"], "while the watched branch moves, what waited longest comes first"
