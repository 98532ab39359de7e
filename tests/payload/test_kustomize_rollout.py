"""A kustomize folder on real drivers: what was built is placed, what cannot be built keeps what was there."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from posixpath import normpath

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.state_trees import StateTrees
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import MissingPart, RetryLater
from gitfleet.loop.driver import Driver
from gitfleet.model.desired import Desired
from gitfleet.payload.builds import TRY_SECONDS, WHOLE_SECONDS, SlowBuilds, SlowKustomize
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import HelmRenderer
from gitfleet.ports.kustomize import KustomizeBuilder
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.views.rollbacks import rollback_of
from tests.builders import config_map, member_cluster, namespace, pick_fixed, placement, rolling_update, to_yaml
from tests.payload.kustomizations import RecordingBuilder, builds_with
from tests.scenarios.world import Checkpoint, World, nothing
from tests.texts import part

pytestmark = pytest.mark.slow

FOLDER = "resources/app"


@dataclass(slots=True)
class BuiltWorld(World):
    """A world whose kustomize folders are built by a program, else by a recording builder, with a cache for each
    process."""

    builder: RecordingBuilder = field(default_factory=RecordingBuilder)
    program: KustomizeBuilder | None = None
    renderer: HelmRenderer | None = None

    def start(self, checkpoint: Checkpoint = nothing) -> Driver:
        """A process that knows nothing but the remote."""
        driver = World.start(self, checkpoint)
        builds = builds_with(self.program or self.builder, self.renderer)
        driver.repository.desired_trees = DesiredTrees(self.repo, MemoryCache(), Limits(), builds=builds)
        driver.repository.states.trees = StateTrees(self.repo, driver.repository.desired_trees, Limits())
        return driver

    def value(self, name: str, cluster: str = "eu-1") -> str | None:
        """What a ConfigMap says on a cluster, None when it is not there."""
        body = self.live(cluster, "ConfigMap", name)
        return body["data"]["k"] if body else None


def setting(name: str, value: str) -> str:
    return to_yaml(config_map("shop", name, {"k": value}))


@pytest.fixture
def world() -> BuiltWorld:
    """A namespace with one object from a plain file and two from a kustomize folder, placed on two clusters."""
    world = BuiltWorld()
    world.commit(
        member_cluster("eu-1"),
        member_cluster("us-1"),
        namespace("shop"),
        config_map("shop", "plain", {"k": "1"}),
        placement("shop", policy=pick_fixed("eu-1", "us-1")),
    )
    world.roll_out(
        files={
            f"{FOLDER}/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
            f"{FOLDER}/a.yaml": setting("apple", "1"),
            f"{FOLDER}/b.yaml": setting("plum", "1"),
        }
    )
    assert [world.value(name) for name in ("plain", "apple", "plum")] == ["1", "1", "1"]
    return world


def test_a_pin_brings_back_what_was_built_then(world: BuiltWorld) -> None:
    world.write(
        {f"{FOLDER}/a.yaml": setting("apple", "2"), f"{FOLDER}/b.yaml": None, FOLDER + "/c.yaml": setting("fig", "2")}
    )
    world.roll_out(files={f"{FOLDER}/kustomization.yaml": "resources: [a.yaml, c.yaml]\n"})
    assert [world.value(name) for name in ("plain", "apple", "plum", "fig")] == ["1", "2", None, "2"]
    made = rollback_of(world.state(), Desired(commit=""), "shop", 0, None, lambda path: False)
    world.restart()
    world.roll_out(files={made.path: made.text})
    world.restart()
    world.settle()
    assert [world.value(name) for name in ("plain", "apple", "plum", "fig")] == ["1", "1", "1", None]
    state = world.state()
    first, *_, last = state.placements[PlacementKey("", "shop")].resource_snapshots
    assert first.hash == last.hash
    assert state.faults[0].message.startswith(ReconcileText.KEEPS_CONTENT_SNAPSHOT(what="shop", snapshot="0"))


def break_reference(world: BuiltWorld) -> None:
    world.write({f"{FOLDER}/kustomization.yaml": "resources: [a.yaml, b.yaml, gone.yaml]\n"})


def break_text(world: BuiltWorld) -> None:
    world.write({f"{FOLDER}/kustomization.yaml": "resources: [a.yaml, b.yaml\n"})


def lose_program(world: BuiltWorld) -> None:
    world.builder.fails[FOLDER] = MissingPart("cannot be built, because there is no kustomize; install it")
    world.write({f"{FOLDER}/b.yaml": setting("plum", "2")})


@pytest.mark.parametrize("fault", [break_reference, break_text, lose_program])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_cannot_be_built_takes_nothing_away_and_goes_on_when_it_is_healed(
    world: BuiltWorld, fault: object, restarts: bool
) -> None:
    assert callable(fault)
    with world.nothing_deleted():
        fault(world)
        if restarts:
            world.restart()
        world.settle()
        assert [world.value(name) for name in ("apple", "plum")] == ["1", "1"]
        assert [f.path for f in world.state().faults] == [f"{FOLDER}/kustomization.yaml"]

        # Sound files go on, commit after commit, also in a process that never saw the folder sound.
        world.restart()
        world.roll_out(config_map("shop", "plain", {"k": "2"}), config_map("shop", "new", {"k": "1"}))
        assert [world.value(name) for name in ("plain", "new", "apple", "plum")] == ["2", "1", "1", "1"]
        world.restart()
        world.settle()

    world.builder.fails.clear()
    list_ = {f"{FOLDER}/kustomization.yaml": "resources: [a.yaml]\n", f"{FOLDER}/b.yaml": None}
    world.roll_out(files={**list_, f"{FOLDER}/a.yaml": setting("apple", "3")})
    assert [world.value(name) for name in ("plain", "new", "apple", "plum")] == ["2", "1", "3", None]
    assert (world.state().faults, world.state().last_good) == ((), {})


ERRORS: dict[str, dict[str, str]] = {
    "a field of another type": {"b.yaml": setting("plum", "2").replace("data:", "immutable: 5\ndata:")},
    "a namespace that nothing makes": {"b.yaml": setting("plum", "2").replace("shop", "nowhere")},
    "an object that a plain file has": {"b.yaml": setting("plain", "2")},
}


@pytest.mark.parametrize("error", ERRORS)
def test_one_object_with_an_error_keeps_the_whole_folder_at_its_last_good_version(
    world: BuiltWorld, error: str
) -> None:
    own = f"{FOLDER}/kustomization.yaml"
    world.roll_out(files={own: "resources: [a.yaml, b.yaml, c.yaml]\n", f"{FOLDER}/c.yaml": setting("fig", "1")})
    with world.nothing_deleted():
        world.write(
            {
                own: "resources: [a.yaml, b.yaml, d.yaml]\n",
                f"{FOLDER}/a.yaml": setting("apple", "2"),
                f"{FOLDER}/c.yaml": None,
                f"{FOLDER}/d.yaml": setting("new", "2"),
                **{normpath(f"{FOLDER}/{path}"): text for path, text in ERRORS[error].items()},
            }
        )
        for _ in range(2):
            world.settle()
            world.restart()
            assert [world.value(name) for name in ("plain", "apple", "plum", "fig", "new")] == [
                "1",
                "1",
                "1",
                "1",
                None,
            ]
            faults = [fault for fault in world.state().faults if fault.path == own]
            assert [fault.severity.value for fault in faults].count("error") == 1
            assert part(DesiredText.FOLDER_PLACED_WHOLE) in str(faults) or error == "an object that a plain file has"
    world.roll_out(files={f"{FOLDER}/b.yaml": setting("plum", "2")})
    holds = world.state().holds
    assert [world.value(name) for name in ("apple", "plum", "new")] == ["2", "2", "2"]
    assert world.value("fig") == ("1" if holds else None)


def test_an_object_that_moves_into_a_folder_with_an_error_stays_as_it_was(world: BuiltWorld) -> None:
    (plain,) = (path for path in world.repo.files("main") if "plain" in path)
    broken = setting("plum", "2").replace("data:", "immutable: 5\ndata:")
    with world.nothing_deleted():
        world.write({plain: None, f"{FOLDER}/c.yaml": setting("plain", "2"), f"{FOLDER}/b.yaml": broken})
        world.write({f"{FOLDER}/kustomization.yaml": "resources: [a.yaml, b.yaml, c.yaml]\n"})
        for _ in range(2):
            world.settle()
            world.restart()
            assert [world.value(name) for name in ("plain", "apple", "plum")] == ["1", "1", "1"]
        world.roll_out(files={f"{FOLDER}/b.yaml": setting("plum", "2")})
    assert [world.value(name) for name in ("plain", "apple", "plum")] == ["2", "1", "2"]
    assert (world.state().faults, world.state().last_good) == ((), {})


@dataclass(slots=True)
class Bombs:
    """A builder that is ended at its limit, and says how often, for what holds the word `bomb`."""

    inner: RecordingBuilder
    seconds: float
    world: World
    until: threading.Event = field(default_factory=threading.Event)
    ended: int = 0
    defused: bool = False

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build."""
        if not any(b"bomb" in content for content in files.values()):
            return self.inner.build(folder, files)
        if self.seconds == WHOLE_SECONDS:
            assert self.until.wait(20)
        else:
            self.world.clock.advance(self.seconds)
        if self.defused:
            return self.inner.build(folder, files)
        self.ended += 1
        raise RetryLater("kustomize was ended before it was done")


def test_a_folder_that_takes_long_to_build_delays_nobody(world: BuiltWorld) -> None:
    """A bomb in one folder: its last good output stays, the others go on in the same pass, also after a restart."""
    quick, whole = (Bombs(world.builder, seconds, world) for seconds in (TRY_SECONDS, WHOLE_SECONDS))
    done = threading.Semaphore(0)

    def start() -> SlowBuilds:
        slow = SlowBuilds(clock=world.clock, on_done=done.release)
        builds = builds_with(SlowKustomize(slow, quick, whole))
        world.driver.repository.desired_trees = DesiredTrees(
            world.repo, MemoryCache(), Limits(), builds=replace(builds, slow=slow)
        )
        return slow

    start()
    bomb = {f"{FOLDER}/a.yaml": setting("apple", "bomb"), "resources/other/kustomization.yaml": "resources: [d.yaml]\n"}
    with world.nothing_deleted():
        world.write({**bomb, "resources/other/d.yaml": setting("fig", "1")})
        world.commit(config_map("shop", "plain", {"k": "2"}))
        began, slow = world.clock.monotonic(), start()
        result = world.driver.reconcile()
        assert not result.settled and world.clock.monotonic() - began <= TRY_SECONDS
        assert PayloadText.FOLDERS_STILL_BUILT(names=FOLDER) in result.waiting
        for _ in range(4):
            world.rest()
        assert [world.value(name) for name in ("plain", "fig", "apple", "plum")] == ["2", "1", "1", "1"]
        (fault,) = world.state().faults
        assert (fault.path, fault.message) == (f"{FOLDER}/kustomization.yaml", PayloadText.STILL_BUILT())
        assert (quick.ended, whole.ended) == (1, 0)

        whole.until.set()
        assert done.acquire(timeout=20)
        world.settle()
        assert [fault.message for fault in world.state().faults] == ["kustomize was ended before it was done"]
        assert [world.value(name) for name in ("apple", "plum")] == ["1", "1"]
        assert whole.ended == 1 and slow.waiting() == ()

        whole.defused = True
        world.advance(minutes=2)
        world.rest()
        assert done.acquire(timeout=20)
        world.settle()
    assert [world.value(name) for name in ("plain", "fig", "apple", "plum")] == ["2", "1", "bomb", "1"]
    assert (world.state().faults, quick.ended) == ((), 1)


def test_what_a_sound_file_loses_is_held_while_a_folder_cannot_be_built(world: BuiltWorld) -> None:
    break_text(world)
    world.settle()
    world.roll_out(remove=[config_map("shop", "plain")])
    assert [world.value(name) for name in ("plain", "apple", "plum")] == ["1", "1", "1"]
    (hold,) = world.state().held.values()
    assert [reason.rule for reason in hold.reasons] == [HoldRule.COMMIT_HAS_ERRORS]


def test_an_overlay_that_breaks_does_not_bring_its_base_to_life(world: BuiltWorld) -> None:
    world.roll_out(
        files={
            f"{FOLDER}/kustomization.yaml": "resources: [../base, b.yaml]\n",
            f"{FOLDER}/a.yaml": None,
            "resources/base/kustomization.yaml": "resources: [a.yaml, other.yaml]\n",
            "resources/base/a.yaml": setting("apple", "2"),
            "resources/base/other.yaml": to_yaml(namespace("of-the-base")),
        }
    )
    with world.nothing_deleted():
        break_text(world)
        world.write(
            {f"{FOLDER}/kustomization.yaml": "resources: [../base, b.yaml\n", "resources/base/a.yaml": "kind: [\n"}
        )
        for _ in range(2):
            world.settle()
            world.restart()
    assert [world.value(name) for name in ("apple", "plum")] == ["2", "1"]
    assert "resources/base" not in world.builder.folders


def test_what_was_built_survives_a_restart_in_the_middle_of_a_rollout(world: BuiltWorld) -> None:
    world.roll_out(
        placement("shop", policy=pick_fixed("eu-1", "us-1"), strategy=rolling_update(maxUnavailable="100%")),
        config_map("shop", "plain", {"k": "2"}),
    )
    world.fleet.cluster("us-1").reachable = False
    for value in ("2", "3"):
        world.roll_out(files={f"{FOLDER}/a.yaml": setting("apple", value)})
        world.restart()
    assert [world.value("apple", cluster) for cluster in ("eu-1", "us-1")] == ["3", "1"]
    rendered = [path for path in world.repo.files("gitfleet/state") if "/rendered/" in path]
    assert rendered and all(path.startswith("snapshots/resources/shop/") for path in rendered)
    world.fleet.cluster("us-1").reachable = True
    world.settle()
    assert world.value("apple", "us-1") == "3"
    before = world.state_commits()
    world.restart()
    world.settle()
    assert world.state_commits() == before, "reading what was built back changes nothing"
