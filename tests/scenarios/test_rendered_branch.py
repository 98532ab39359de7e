"""The rendered branch through whole histories: what each cluster is to have now, and nothing that a cluster keeps ever
vanishes from it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import yaml

from gitfleet.branches.rendered_branch import RenderedBranch
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import Forbidden, GitfleetError, RemoteUnreachable, RetryLater
from gitfleet.formats.git_names import GITFLEET
from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import BranchChange
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.simulation.memory_repo import MemoryCommit
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.world import STATE, World
from tests.texts import part

BRANCH = "gitfleet/rendered"
CONFIG = builders.fleet_config(rendered={"enabled": True})
FILE = "{}/web/22-deployment.apps_web_web.yaml"
ONE_BY_ONE = builders.rolling_update(maxUnavailable=1, maxSurge=0)
REPORTING = {**ONE_BY_ONE, "applyStrategy": {"type": "ReportDiff"}}
FAILING = builders.override(
    "absent", "Namespace/web", builders.override_rule({"op": "remove", "path": "/metadata/labels/absent"})
)
Files = dict[str, bytes]


def rendering(world: World) -> World:
    """The world with reconcilers that write the branch."""

    def start(driver: Driver) -> None:
        driver.publishers.members.append(
            RenderedBranch(reader=world.repo, history=world.repo, writer=world.repo, clock=world.clock)
        )

    world.start_with = start
    world.restart()
    return world


def web(image: str = "web:1") -> list[dict[str, Any]]:
    return [builders.namespace("web"), builders.deployment("web", "web", image=image)]


def settled(*names: str, **strategy: Any) -> World:
    world = rendering(World(rules=(QUICK,)))
    placement = builders.placement("web", strategy=strategy or ONE_BY_ONE)
    world.roll_out(CONFIG, *members(*names or ("c1", "c2", "c3")), *web(), placement)
    return world


def files(world: World) -> Files:
    return dict(world.repo.files(BRANCH))


def commits(world: World) -> tuple[MemoryCommit, ...]:
    return world.repo.log(BRANCH)


def image(world: World, cluster: str) -> str | None:
    content = files(world).get(FILE.format(cluster))
    return yaml.safe_load(content)["spec"]["template"]["spec"]["containers"][0]["image"] if content else None


def images(world: World) -> dict[str, str | None]:
    return {name: image(world, name) for name in ("c1", "c2", "c3")}


def warnings(world: World) -> list[str]:
    return [str(fault) for fault in world.state().faults if fault.object.startswith("RenderedBranch/")]


def as_eve(world: World, **change: Any) -> None:
    """Somebody else commits on the branch."""
    head, eve = world.repo.fetch().get(BRANCH), ("Eve", "eve@example.org")
    world.repo.commit(
        BranchChange(branch=BRANCH, expected=head, subject="Mine", when=world.clock.now(), author=eve, **change)
    )


def twice_settled(world: World) -> World:
    """Settled, and once more: what was wrong with the branch is taken back in the pass after the one that wrote it."""
    world.advance(minutes=10)
    world.settle()
    world.settle()
    return world


def test_the_branch_has_what_each_cluster_is_to_have() -> None:
    world = settled()
    assert set(files(world)) == {
        "README.md",
        *(f"{name}/web/01-namespace_web.yaml" for name in ("c1", "c2", "c3")),
        *(FILE.format(name) for name in ("c1", "c2", "c3")),
    }
    (written,) = yaml.safe_load_all(files(world)[FILE.format("c1")])
    assert written == web()[1]
    head = commits(world)[0]
    assert (head.author, head.committer) == (GITFLEET, GITFLEET)
    main, states = world.repo.fetch()["main"], {commit.id for commit in world.repo.log(STATE)}
    *_, commit, state = head.message.strip().splitlines()
    assert (commit, state.partition(": ")[2] in states) == (f"Gitfleet-Commit: {main}", True)
    assert head.subject.startswith("Render web on ")


def test_nothing_is_written_where_it_is_not_enabled() -> None:
    world = rendering(World(rules=(QUICK,)))
    world.roll_out(*members("c1"), *web(), builders.placement("web"))
    assert files(world) == {}


def test_the_branch_follows_the_rollout_and_not_the_newest_snapshot() -> None:
    world = settled()
    assert images(world) == dict.fromkeys(("c1", "c2", "c3"), "web:1")
    world.commit(*web("web:2"))
    seen = []

    def note() -> None:
        seen.append(images(world))
        bound = {name: binding.resource_snapshot or "" for name, binding in world.bindings("web").items()}
        newest = {name for name, snapshot in bound.items() if snapshot.endswith("-1-snapshot")}
        assert images(world) == {name: "web:2" if name in newest else "web:1" for name in bound}

    before = len(commits(world))
    world.settle(each=note)
    assert images(world) == dict.fromkeys(("c1", "c2", "c3"), "web:2")
    assert max(list(one.values()).count("web:2") for one in seen[:1]) == 1, "one cluster at a time"
    made = commits(world)[: len(commits(world)) - before]
    assert len(made) == 3, "one commit for each cluster that was moved"
    assert {commit.subject for commit in made} == {f"Render web on {name}" for name in ("c1", "c2", "c3")}


def test_no_change_gives_no_commit_and_a_new_process_the_same_bytes() -> None:
    world = settled()
    before = commits(world)
    for _ in range(3):
        world.restart()
        world.settle()
    assert commits(world) == before
    again = settled()
    assert files(again) == files(world)


def test_what_is_removed_vanishes_with_the_delete() -> None:
    world = settled()
    settings = builders.config_map("web", "settings", {"a": "1"})
    world.roll_out(settings)
    (path,) = (name for name in files(world) if name.startswith("c1/") and "settings" in name)
    world.roll_out(remove=[settings])
    assert world.live("c1", "ConfigMap", "settings") is None
    assert path not in files(world)


def test_a_cluster_that_leaves_keeps_its_files_until_its_objects_go() -> None:
    world = settled()
    world.roll_out(*members("c1", "c3", keep="yes"))
    only_labelled = {
        "placementType": "PickAll",
        "affinity": builders.pick_n(1, match_labels={"keep": "yes"})["affinity"],
    }
    world.silence("c2")
    config = builders.fleet_config(rendered={"enabled": True}, removals={"approval": "Never"})
    world.roll_out(config, builders.placement("web", policy=only_labelled, strategy=ONE_BY_ONE))
    assert image(world, "c2") == "web:1", "nothing is known of what it still has"
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert world.live("c2", "Deployment", "web") is None
    assert image(world, "c2") is None


def test_an_override_that_fails_leaves_the_folder_as_it_was() -> None:
    world = settled()
    world.roll_out(FAILING, *web("web:2"))
    assert image(world, "c1") == "web:1"
    assert images(world) == dict.fromkeys(("c1", "c2", "c3"), "web:1")


def test_an_object_that_waits_for_who_takes_it_over_keeps_its_file() -> None:
    """Whoever applies the branch would delete it, and the other placement would make it again much later."""
    world = rendering(World(rules=(QUICK,)))
    data = builders.config_map("web", "data", {"k": "v"})
    one = builders.placement("one", selectors=[builders.select_namespace("web")], strategy=ONE_BY_ONE)
    other = builders.placement("other", selectors=[builders.select_namespace("shop")], strategy={"type": "External"})
    world.roll_out(CONFIG, *members("c1"), builders.namespace("web"), builders.namespace("shop"), data, one, other)
    before = {path for path in files(world) if path.startswith("c1/one/")}
    assert any("data" in path for path in before)
    both = [builders.select_namespace("shop"), builders.select_namespace("web")]
    config = builders.fleet_config(rendered={"enabled": True}, removals={"approval": "Never"})
    world.roll_out(config, builders.placement("other", selectors=both, strategy={"type": "External"}), remove=[one])
    assert world.live("c1", "ConfigMap", "data") is not None
    assert {path for path in files(world) if path.startswith("c1/one/")} == before


def test_report_diff_leaves_the_branch_alone() -> None:
    world = settled("c1", **REPORTING)
    assert set(files(world)) == {"README.md"}
    world = settled("c1")
    world.roll_out(*web("web:2"), builders.placement("web", strategy=REPORTING))
    assert image(world, "c1") == "web:1"


@pytest.mark.parametrize("step", ["intent published", "performed", "reported"])
def test_a_process_that_is_killed_leaves_the_rest_to_the_next(step: str) -> None:
    undisturbed = settled()
    undisturbed.commit(*web("web:2"))
    undisturbed.settle()
    world = settled()

    def die(at: str) -> None:
        if at == step:
            raise SimulatedCrash(step)

    world.commit(*web("web:2"))
    for _ in range(8):
        world.driver.checkpoint = die
        world.reconcile()
        world.advance(seconds=5)
    died = world.crashes
    world.restart()
    world.settle()
    assert died
    assert files(world) == files(undisturbed)


def test_commits_of_somebody_else_are_undone(caplog: pytest.LogCaptureFixture) -> None:
    world = settled()
    before = files(world)
    change = {FILE.format("c1"): b"kind: Evil\n", "evil/x.yaml": b"a: 1\n", "README.md": None, "c2": b"a file\n"}
    gone = {path: None for path in before if path.startswith("c2/")}
    for fresh in (False, True):
        if fresh:
            world.restart()
        removed = [path for path, content in {**change, **gone}.items() if content is None]
        as_eve(world, write={p: content for p, content in change.items() if content is not None}, remove=removed)
        with caplog.at_level(logging.WARNING):
            world.settle()
        assert files(world) == before
        assert part(BranchesText.BRANCH_COMMITS_SOMEBODY_ELSE) in caplog.text
    assert warnings(world) == []


def test_a_folder_that_stays_is_what_gitfleet_wrote_and_not_what_somebody_put_there() -> None:
    world = settled("c1", **ONE_BY_ONE)
    world.roll_out(builders.placement("web", strategy=REPORTING))
    before = files(world)
    as_eve(world, write={FILE.format("c1"): b"kind: Evil\n"})
    world.restart()
    world.settle()
    assert files(world) == before


@pytest.mark.parametrize("fresh", [False, True])
def test_a_branch_that_somebody_deleted_is_written_again(fresh: bool) -> None:
    world = settled()
    before = files(world)
    world.repo.move_branch(BRANCH, None)
    if fresh:
        world.restart()
    world.settle()
    assert files(world) == before


def test_a_deleted_branch_waits_while_a_folder_cannot_be_rendered() -> None:
    """Without the folder, whoever applies the branch would delete what the cluster has."""
    world = settled()
    world.roll_out(FAILING)
    world.repo.move_branch(BRANCH, None)
    world.restart()
    world.settle()
    world.settle()
    assert files(world) == {}
    (warning,) = warnings(world)
    assert part(BranchesText.CANNOT_RENDERED_NOW) in warning
    world.commit(remove=[FAILING])
    twice_settled(world)
    assert images(world) == dict.fromkeys(("c1", "c2", "c3"), "web:1")
    assert warnings(world) == []


def test_a_branch_of_somebody_else_is_left_alone() -> None:
    world = rendering(World(rules=(QUICK,)))
    as_eve(world, write={"docs.md": b"mine"})
    world.roll_out(CONFIG, *members("c1"), *web(), builders.placement("web"))
    assert files(world) == {"docs.md": b"mine"}
    assert part(BranchesText.BRANCH_HOLDS_SOMEBODY_ELSE_COMMITS) in warnings(world)[0]
    assert world.image("c1") == "web:1", "the fleet goes on"
    world.repo.move_branch(BRANCH, None)
    twice_settled(world)
    assert image(world, "c1") == "web:1"
    assert warnings(world) == []


@pytest.mark.parametrize("error", [Forbidden("the remote refused the push"), RemoteUnreachable("no answer")])
def test_what_is_refused_is_tried_again_after_growing_pauses(error: GitfleetError) -> None:
    """A run is not settled meanwhile where another try may do, and is where a person must act."""
    world = settled("c1")
    tried: list[float] = []
    begun = world.clock.monotonic()

    def refuse(change: BranchChange) -> None:
        if change.branch == BRANCH:
            tried.append(world.clock.monotonic() - begun)
            raise error

    world.repo.before_commit = refuse
    world.commit(*web("web:2"))
    results = []
    for _ in range(24):
        results.append(world.driver.reconcile())
        world.clock.advance(0.5)
    assert tried == [0.0, 1.0, 3.0, 7.0]
    world.clock.advance(60)
    results = [world.driver.reconcile() for _ in range(2)]
    assert {result.settled for result in results} == {not isinstance(error, RetryLater)}


def test_a_lost_race_is_no_error() -> None:
    world = settled()
    raced: list[str] = []

    def race(change: BranchChange) -> None:
        if change.branch == BRANCH and not raced:
            raced.append(change.subject)
            world.repo.commit_files(BRANCH, {"c1/other.yaml": b"a: 1\n"}, world.clock.now())

    world.repo.before_commit = race
    world.roll_out(*web("web:2"))
    assert raced
    assert images(world) == dict.fromkeys(("c1", "c2", "c3"), "web:2")
    assert "c1/other.yaml" not in files(world)


def test_a_name_given_to_the_process_does_not_make_it_another_branch(caplog: pytest.LogCaptureFixture) -> None:
    world = rendering(World(rules=(QUICK,)))
    world.driver.repository.state_branch = BRANCH
    world.commit(CONFIG, *members("c1"), *web(), builders.placement("web"))
    for _ in range(3):
        world.driver.reconcile()
    assert BranchesText.CANNOT_BRANCH_HOLDS_SOMETHING_ELSE(rendered=BRANCH) in caplog.text
    assert {commit.author for commit in commits(world)} == {GITFLEET}
    assert not any(path.startswith("c1/") for path in files(world))


def test_nothing_vanishes_while_a_lost_state_branch_is_rolled_out_again() -> None:
    """The rollout comes to each cluster in its turn; until then the branch keeps what it had of it."""
    world = settled()
    before = files(world)
    world.repo.move_branch(STATE, None)
    world.restart()
    seen: list[Files] = []
    for _ in range(8):
        world.reconcile()
        seen.append(files(world))
        world.advance(seconds=5)
    world.settle()
    assert all(one == before for one in [*seen, files(world)])


def test_an_object_of_two_placements_stands_once_with_the_one_that_has_it() -> None:
    world = settled()
    world.roll_out(builders.placement("also", "web", strategy=ONE_BY_ONE))
    there = [path for path in files(world) if path.endswith("_web_web.yaml")]
    assert sorted(there) == [FILE.format(name) for name in ("c1", "c2", "c3")]
