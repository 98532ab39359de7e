"""Whole fleets that show themselves on a forge: the real driver, publisher, client libraries and HTTP, against the
local server."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from gitfleet.adapters.forge import BUILT_IN
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.branches.request_branches import BranchRequests, RequestBranches
from gitfleet.errors import BadInput
from gitfleet.loop.driver import Driver
from gitfleet.ports.forges import Forge, ForgeAccess
from gitfleet.ports.publishers import Publisher, Report
from gitfleet.serving.forge import MOST_CALLS, PAUSE, ForgePublisher
from gitfleet.serving.texts import ServingText
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.views.forge import forge_view
from tests import builders
from tests.forges.server import DIALECTS, REPOSITORY, TOKEN, ForgeServer, Reply, serving
from tests.scenarios.staged_world import members, staged
from tests.scenarios.world import World
from tests.texts import part

BRANCH = "gitfleet/approve/go-canary"
WEB, CANARY, PROD = "gitfleet/web", "gitfleet/go/canary", "gitfleet/go/prod"


@dataclass
class OnePass(Publisher):
    """Shows what `run` shows, one pass after each reconcile."""

    requests: RequestBranches
    publisher: ForgePublisher
    server: ForgeServer
    repo: MemoryRepo
    name: ClassVar[str] = "forge"

    def publish(self, report: Report) -> tuple[()]:
        if self.requests.branch_requests is not None:
            self.server.has_branches(self.repo.fetch())
            target, prefix = report.branches.watch, report.branches.approvals
            self.publisher.show(forge_view(report.state, self.requests.branch_requests, target=target, prefix=prefix))
        return ()


@dataclass
class Shown:
    """A world whose drivers show themselves on a forge, as `run` does, but one pass after each reconcile."""

    world: World
    server: ForgeServer
    token: str = TOKEN

    def __post_init__(self) -> None:
        self.world.start_with = self.equip
        self.world.restart()

    def equip(self, driver: Driver) -> None:
        repo, clock = self.world.repo, self.world.clock

        def connect(token: str) -> Forge:
            return BUILT_IN[self.server.dialect](ForgeAccess(url=self.server.url, repository=REPOSITORY, token=token))

        publisher = ForgePublisher(token=self.given, connect=connect, clock=clock)
        requests = RequestBranches(reader=repo, history=repo, writer=repo, clock=clock)

        driver.publishers.members += [requests, OnePass(requests, publisher, self.server, repo)]

    def given(self) -> str:
        if not self.token:
            raise BadInput("the file has no token")
        return self.token

    def go_on(self, passes: int = 3, seconds: float = PAUSE) -> None:
        """Settle, and let the forge's pauses pass."""
        self.world.settle()
        for _ in range(passes):
            self.world.advance(seconds=seconds)
            self.world.settle()

    def head(self) -> str:
        return self.world.repo.fetch()["main"]

    def states(self) -> dict[str, str]:
        return {context: state for context, (state, _) in self.server.shown(self.head()).items()}

    def merge(self, branch: str) -> None:
        self.world.repo.move_branch("main", self.world.repo.fetch()[branch])


@pytest.fixture(params=DIALECTS)
def server(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    with serving(request.param) as forge:
        yield forge


def two_stages(server: ForgeServer) -> Shown:
    """A run that waits for an approval behind its first stage."""
    rule = ClusterRule(object=ObjectPattern(image="web:2"), available="never")
    world = staged(World(rules=(rule,)), *members("c1", stage="canary"), *members("c2", stage="prod"))
    shown = Shown(world, server)
    world.commit(
        builders.staged_strategy(
            "two",
            builders.stage("canary", match_labels={"stage": "canary"}, approval=True),
            builders.stage("prod", match_labels={"stage": "prod"}),
        ),
        builders.staged_run("go", placement="web", strategy="two"),
    )
    shown.go_on()
    return shown


def words(server: ForgeServer) -> tuple[str, str, str]:
    return "pending", "success", "failed" if server.dialect == "gitlab" else "failure"


def test_a_gate_opens_a_pull_request_and_its_merge_closes_it(server: ForgeServer) -> None:
    pending, success, _ = words(server)
    shown = two_stages(server)
    pull = server.open_pulls()[BRANCH]
    assert (pull.target, pull.title) == ("main", "Approve go-canary: run go waits after stage canary")
    assert pull.body is not None and pull.body.startswith("```text\nMerge this (merge, squash or rebase) to approve")
    assert "- c2" in pull.body.splitlines()
    assert shown.states() == {WEB: pending, CANARY: pending, PROD: pending}
    said = ForgeText.PROGRESS_WAITING_STATE_BRANCH_SAYS() if server.dialect == "gitlab" else "web: waiting"
    assert server.shown(shown.head())[CANARY] == (pending, said)

    shown.merge(BRANCH)
    shown.go_on()
    assert server.open_pulls() == {} and [one.state for one in server.pulls] == ["closed"]
    assert shown.states() == {WEB: success, CANARY: success, PROD: success}
    assert server.refused == []


def test_nothing_is_written_where_nothing_changes_and_a_new_process_finds_all_again(server: ForgeServer) -> None:
    shown = two_stages(server)
    statuses, written = list(server.statuses), len(server.written())
    shown.go_on()
    assert len(server.written()) == written
    shown.world.restart()
    shown.go_on()
    assert (server.statuses, len(server.pulls)) == (statuses, 1)


def test_a_request_that_says_something_else_is_edited_in_its_place(server: ForgeServer) -> None:
    shown = two_stages(server)
    server.pulls[0].title, server.pulls[0].body = "An old title", "An old text"
    shown.world.restart()
    shown.go_on()
    assert [pull.title for pull in server.pulls] == ["Approve go-canary: run go waits after stage canary"]


@pytest.mark.parametrize("then", ["the same process", "a new process", "a failure"])
def test_a_pull_request_that_a_person_closed_stays_closed(server: ForgeServer, then: str) -> None:
    shown = two_stages(server)
    server.pulls[0].state = "closed"
    server.pulls.append(replace(server.pulls[0], number=2, branch="another", body="x"))
    if then == "a new process":
        shown.world.restart()
    server.always = Reply(500) if then == "a failure" else None
    for name in ("other", "more"):
        shown.world.commit(builders.namespace(name))
        shown.go_on()
        server.always = None
        shown.go_on(seconds=1000)
    assert [pull.state for pull in server.pulls] == ["closed", "closed"]
    assert shown.states().keys() == {WEB, CANARY, PROD}

    go = builders.staged_run("go", placement="web", strategy="two")
    shown.world.commit(remove=[go])
    shown.go_on()
    shown.world.commit(go)
    shown.go_on()
    assert [(pull.branch, pull.state) for pull in server.pulls[2:]] == [(BRANCH, "open")], "another run asks"


def test_what_was_merged_and_did_not_approve_is_asked_again(server: ForgeServer) -> None:
    shown = two_stages(server)
    server.pulls[0].state = "merged"
    shown.world.restart()
    shown.go_on()
    assert [pull.state for pull in server.pulls] == ["merged", "open"]


def test_a_defect_while_branches_are_published_closes_no_pull_request(
    server: ForgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = two_stages(server)

    def defect(*_: object) -> BranchRequests:
        raise ZeroDivisionError

    monkeypatch.setattr(RequestBranches, "publish", defect)
    shown.world.commit(builders.namespace("other"))
    shown.go_on()
    assert [pull.state for pull in server.pulls] == ["open"]


def test_pull_requests_of_people_are_left_alone(server: ForgeServer) -> None:
    shown = two_stages(server)
    world = shown.world
    mine = {"mine": shown.head(), "gitfleet/approve/of-a-person": shown.head()}
    for branch, head in mine.items():
        world.repo.move_branch(branch, head)
        world.repo.commit_files(branch, {"README.md": "mine"}, world.clock.now(), "Mine")
    server.has_branches(world.repo.fetch())
    for branch in mine:
        server.pulls.append(replace(server.pulls[0], number=len(server.pulls) + 1, branch=branch, title=branch))
    world.restart()
    shown.go_on()
    assert {pull.branch: (pull.title, pull.state) for pull in server.pulls[1:]} == {b: (b, "open") for b in mine}


def test_a_failure_is_shown_first_and_as_one(server: ForgeServer) -> None:
    _, success, failure = words(server)
    world = World()
    shown = Shown(world, server)
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "good"}}
    world.commit(
        *members("c1"),
        builders.namespace("good"),
        config_map,
        builders.placement("good"),
        builders.namespace("bad"),
        builders.placement("bad", policy=builders.pick_n(3)),
    )
    shown.go_on()
    assert shown.states() == {"gitfleet/bad": failure, "gitfleet/good": success}
    assert server.shown(shown.head())["gitfleet/bad"][1] == "Scheduled is False: SchedulingPolicyUnfulfilled"
    assert next(context for _, context, _, _ in server.statuses) == "gitfleet/bad"


def many(server: ForgeServer, placements: int) -> Shown:
    shown = Shown(World(), server)
    names = [f"p{n:02d}" for n in range(placements)]
    bodies = [body for name in names for body in (builders.namespace(name), builders.placement(name))]
    shown.world.commit(*members("c1"), *bodies)
    return shown


def test_a_pass_makes_so_many_calls_and_the_next_ones_the_rest(server: ForgeServer) -> None:
    shown = many(server, 30)
    calls = []
    for _ in range(8):
        before = len(server.seen)
        shown.world.settle()
        calls.append(len(server.seen) - before)
        shown.world.advance(seconds=PAUSE)
    assert max(calls) <= MOST_CALLS
    assert len(shown.states()) == 30
    assert calls[-1] == 0


DOWN = {
    "defect": Reply(500, {"message": "oops"}),
    "web page": Reply(200, b"<html>maintenance</html>", {"Content-Type": "text/html"}),
    "rate limit": Reply(403, {"message": "API rate limit exceeded"}, {"Retry-After": "60"}),
    "wrong shape": Reply(200, [{"id": "x"}]),
}


@pytest.mark.parametrize("reply", DOWN.values(), ids=DOWN)
def test_a_forge_that_is_down_delays_nothing_and_is_shown_all_once_it_is_back(
    server: ForgeServer, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    server.always = reply
    with caplog.at_level(logging.WARNING):
        shown = two_stages(server)
    assert shown.world.state().approvals and BRANCH in shown.world.repo.fetch()
    said = [record.message for record in caplog.records if "forge" in record.message]
    assert 1 <= len(said) <= 2, "one for pull requests, one for statuses"
    assert all(one.endswith(ServingText.TRYING_AGAIN_LATER(known="")) for one in said)
    server.always = None
    shown.go_on(seconds=1000)
    assert server.open_pulls().keys() == {BRANCH} and shown.states().keys() == {WEB, CANARY, PROD}
    assert server.refused == []


@pytest.mark.parametrize("broken", ["/pulls", "gitfleet/approve", f'"{WEB}"', f'"{PROD}"'])
def test_what_the_forge_cannot_carry_out_keeps_nothing_else_from_being_shown(server: ForgeServer, broken: str) -> None:
    server.broken = "/merge_requests" if (server.dialect, broken) == ("gitlab", "/pulls") else broken
    shown = two_stages(server)
    shown.go_on(seconds=1000)
    assert shown.states().keys() == {WEB, CANARY, PROD} - {broken.strip('"')}
    assert bool(server.pulls) is (broken not in ("/pulls", "gitfleet/approve"))


def test_the_same_failure_is_said_again_when_it_comes_again(
    server: ForgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    shown = two_stages(server)
    for name in ("one", "two"):
        server.always = Reply(503, {"message": "down"})
        shown.world.commit(builders.namespace(name))
        shown.go_on(seconds=1000)
        server.always = None
        shown.go_on(seconds=1000)
    said = [record.message.split(" (")[0] for record in caplog.records]
    paths = {record.message for record in caplog.records}
    assert set(said) == {f"the forge {server.url.removeprefix('http://')} answers 503, down"}
    assert len(paths) < len(said)


def test_what_a_lost_response_did_is_found_again(server: ForgeServer) -> None:
    shown = Shown(staged(World(), *members("c1")), server)
    shown.go_on()
    server.loses = True
    shown.world.commit(
        builders.staged_strategy("one", builders.stage("all", approval=True)),
        builders.staged_run("go", placement="web", strategy="one"),
    )
    shown.go_on(seconds=1000)
    assert [pull.branch for pull in server.pulls] == ["gitfleet/approve/go-all"]
    assert server.refused == []


def test_a_pull_request_whose_response_was_lost_is_opened_once(
    server: ForgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first POST that is lost there is one of a commit status, which is repeated without harm."""
    answer, opened = server.answer, list[str]()

    def losing(method: str, target: str, *rest: Any) -> Reply:
        if method == "POST" and ("/pulls" in target or "/merge_requests" in target):
            opened.append(target)
            server.loses = len(opened) == 1
        return answer(method, target, *rest)

    monkeypatch.setattr(server, "answer", losing)
    shown = two_stages(server)
    shown.go_on(seconds=1000)
    assert (len(opened), set(server.open_pulls())) == (1, {BRANCH})
    assert server.refused == []


def test_a_forge_that_stays_down_is_asked_less_and_less(server: ForgeServer) -> None:
    """Its first call fails each time: at 0, 15, 45, 105, 225, 465 and 945 seconds (docs/forges.md)."""
    shown = Shown(staged(World(), *members("c1")), server)
    server.always = Reply(503, {"message": "down"})
    shown.go_on(passes=65)
    assert 6 <= len(server.seen) <= 8


def test_a_token_that_is_refused_is_sent_no_more_until_another_one_is_there(
    server: ForgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.token = "another-token"
    with caplog.at_level(logging.WARNING):
        shown = two_stages(server)
        asked = len(server.seen)
        shown.go_on(seconds=10_000)
        shown.world.commit(builders.namespace("other"))
        shown.go_on(seconds=10_000)
    assert (asked, len(server.seen)) == (2, 2)
    said = [record.message for record in caplog.records if part(ForgeText.REFUSES_TOKEN) in record.message]
    assert len(said) == 2 and TOKEN not in caplog.text
    assert ServingText.NO_MORE_UNTIL_TOKEN_CHANGES(kind="pull requests") in said[0]
    shown.token = server.token
    shown.go_on()
    assert server.open_pulls().keys() == {BRANCH} and shown.states().keys() == {WEB, CANARY, PROD}


def test_a_token_file_that_cannot_be_read_is_waited_for(server: ForgeServer) -> None:
    shown = two_stages(server)
    shown.token = ""
    shown.world.commit(builders.namespace("other"))
    shown.go_on(seconds=1000)
    assert shown.states() == {}
    shown.token = TOKEN
    shown.go_on(seconds=1000)
    assert shown.states().keys() == {WEB, CANARY, PROD}


def test_a_call_that_is_refused_keeps_no_other_from_being_made(
    server: ForgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.most_statuses = 0
    with caplog.at_level(logging.WARNING):
        shown = two_stages(server)
    refused = len(server.refused)
    assert refused and server.open_pulls().keys() == {BRANCH}
    shown.go_on()
    assert len(server.refused) == refused
    assert "maximum number of statuses" in caplog.text


def test_a_finished_run_is_not_shown_again_on_each_new_commit(server: ForgeServer) -> None:
    shown = two_stages(server)
    shown.merge(BRANCH)
    shown.go_on()
    assert shown.states().keys() == {WEB, CANARY, PROD}
    shown.world.commit(builders.namespace("other"))
    shown.go_on()
    assert shown.states().keys() == {WEB}
