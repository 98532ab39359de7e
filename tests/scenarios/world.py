"""A whole small world for scenario tests: a git remote, member clusters and a clock in memory, and drivers on them.

Nothing of gitfleet is replaced: the driver, the packages and the state branch are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Status
from gitfleet.api.holds import Hold
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import ClusterRule, MetricRule, WebhookRule
from gitfleet.approvals import approval_path, approval_text
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.repository import Repository
from gitfleet.branches.state_branch import StateBranch
from gitfleet.branches.state_trees import PHASE_TRAILER, TREE_TRAILER, StateTrees
from gitfleet.fleet.clusters import Clusters
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.observation_cache import ObservationCache
from gitfleet.loop.driver import Driver
from gitfleet.loop.results import ReconcileResult
from gitfleet.model.events import Event
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.decryption import Decryptor
from gitfleet.ports.repos import BranchChange
from gitfleet.ports.rollout_calls import RolloutCalls
from gitfleet.settings import Limits
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import ClusterEvent, SimulatedCrash
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.wiring.hub import simulated_clusters
from tests.builders import path_of, repo_files_for
from tests.watching import MemoryWatching

STATE: Final = "gitfleet/state"
MOST_TICKS: Final = 60
"""At one moment; a world that still changes after so many ticks goes in circles."""
_CACHE: Final = MemoryCache()
"""Parsed files by blob: what a process keeps on disk, shared by all tests."""

Checkpoint = Callable[[str], None]


def nothing(_: str) -> None:
    """A checkpoint where nothing happens."""


def driver_on(
    repo: MemoryRepo, trees: DesiredTrees, directory: ClusterDirectory, clock: Clock, limits: Limits | None = None
) -> Driver:
    """A driver of a remote in memory, without publishers."""
    states = StateBranch(repo, repo, StateTrees(repo, trees, limits or Limits()))
    fanout, observations = Fanout(directory=directory, executor=None), ObservationCache(clock=clock)
    return Driver(
        repository=Repository(reader=repo, states=states, desired_trees=trees, clock=clock),
        clusters=Clusters(fanout=fanout, observations=observations, encrypted=trees.encrypted),
        clock=clock,
        version="test",
    )


@dataclass(slots=True)
class World:
    """One world. `driver` is the process that is alive; `happenings` is what happened on clusters, `events` what
    gitfleet told of. `watch` sees each happening at once, `mourn` the moment after each crash, `start_with`
    every process before its first tick. With `watches` clusters are watched."""

    rules: tuple[ClusterRule, ...] = ()
    metrics: tuple[MetricRule, ...] = ()
    webhooks: tuple[WebhookRule, ...] = ()
    clock: ManualClock = field(default_factory=ManualClock)
    repo: MemoryRepo = field(default_factory=MemoryRepo)
    happenings: list[ClusterEvent] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    fleet: SimulatedFleet = field(init=False)
    driver: Driver = field(init=False)
    began: datetime = field(init=False)
    crashes: int = 0
    watch: Callable[[ClusterEvent], None] = lambda happening: None
    mourn: Callable[[], None] = lambda: None
    start_with: Callable[[Driver], None] = lambda driver: None
    limits: Limits = Limits()
    decryptor: Decryptor | None = None
    watches: bool = False
    watching: MemoryWatching | None = field(init=False)

    def __post_init__(self) -> None:
        self.fleet = SimulatedFleet(self.clock, rules=self.rules, listener=self._happened)
        self.watching = MemoryWatching(self.fleet) if self.watches else None
        self.began = self.clock.now()
        self.driver = self.start()

    def _happened(self, happening: ClusterEvent) -> None:
        self.happenings.append(happening)
        self.watch(happening)

    # What people do

    def commit(self, *bodies: JsonObject, remove: Iterable[JsonObject | str] = (), subject: str = "Change") -> str:
        """A person writes objects into their conventional files and removes others (or paths) in one commit."""
        files: dict[str, str | None] = dict(repo_files_for(*bodies))
        files |= {one if isinstance(one, str) else path_of(one): None for one in remove}
        return self.repo.commit_files("main", files, self.clock.now(), subject)

    def write(self, files: Mapping[str, str | None]) -> str:
        """A person commits texts; None removes a file."""
        return self.repo.commit_files("main", files, self.clock.now(), "Change")

    def roll_out(
        self,
        *bodies: JsonObject,
        remove: Iterable[JsonObject | str] = (),
        files: Mapping[str, str | None] | None = None,
        limit: timedelta = timedelta(hours=2),
    ) -> None:
        """A person commits objects or texts, and time passes until nothing moves any more."""
        if files is None:
            self.commit(*bodies, remove=remove)
        else:
            self.write(files)
        self.settle(limit)

    def commit_state(self, files: Mapping[str, bytes | str | None], *, trailers: bool = False) -> str:
        """Somebody commits files to the state branch, with `trailers` as gitfleet does; None removes a file."""
        return commit_state(self.repo, files, self.clock.now(), trailers=trailers)

    # What processes do

    def start(self, checkpoint: Checkpoint = nothing) -> Driver:
        """A process that knows nothing but the remote."""
        calls = SimulatedAnswers(clock=self.clock, began=self.began, metrics=self.metrics, webhooks=self.webhooks)
        trees = DesiredTrees(self.repo, _CACHE, self.limits, decryptor=self.decryptor)
        driver = driver_on(self.repo, trees, self.directory(), self.clock, self.limits)
        driver.clusters.observations.watching = self.watching
        driver.clusters.workloads.calls = calls
        driver.listen, driver.checkpoint = self.events.append, checkpoint
        self.start_with(driver)
        return driver

    def directory(self) -> ClusterDirectory:
        """The simulated clusters as a new process reaches them."""
        rests = self.watching.rests if self.watching is not None else None
        return simulated_clusters(self.fleet, self.clock, rests=rests)

    @property
    def calls(self) -> RolloutCalls:
        """What makes the calls of the living process."""
        assert self.driver.clusters.workloads.calls is not None
        return self.driver.clusters.workloads.calls

    def restart(self) -> None:
        """The process dies, and another one begins."""
        self.driver = self.start()

    def reconcile(self) -> ReconcileResult | None:
        """One tick of the living process; None when it died in it (then another one lives)."""
        try:
            return self.driver.reconcile()
        except SimulatedCrash:
            self.crashes += 1
            self.mourn()
            self.restart()
            return None

    def rest(self) -> datetime | None:
        """Tick until nothing changes at this moment; when time alone may change something."""
        for _ in range(MOST_TICKS):
            result = self.reconcile()
            if result is not None and not (result.changed or result.lost_race or self.calls.answers()):
                return result.wake_at
        raise AssertionError(f"still changing after {MOST_TICKS} ticks at {self.clock.now()}")

    def settle(self, limit: timedelta = timedelta(hours=2), each: Callable[[], None] = lambda: None) -> None:
        """Let time pass until nothing moves any more, or the limit is over; `each` is called at every rest."""
        end = self.clock.now() + limit
        while True:
            wake_at = self.rest()
            each()
            moments = [m for m in (wake_at, self.fleet.next_change()) if m is not None and m > self.clock.now()]
            if not moments or min(moments) > end:
                return
            self.move_to(min(moments))

    def advance(self, **delta: float) -> None:
        """Let time pass without a tick."""
        self.clock.advance(timedelta(**delta).total_seconds())

    def move_to(self, moment: datetime) -> None:
        """Let time pass until a moment."""
        self.clock.advance((moment - self.clock.now()).total_seconds())

    def silence(self, cluster: str) -> None:
        """Let the API server of a cluster go away."""
        self.fleet.cluster(cluster).reachable = False

    # What is to be seen

    def state_trees(self) -> StateTrees:
        """A reader of the state branch that knows nothing else."""
        return StateTrees(self.repo, DesiredTrees(self.repo, _CACHE, Limits()), Limits())

    def state(self) -> FleetState:
        """The state branch, read by somebody who knows nothing."""
        return self.state_trees().at(self.repo.fetch().get(STATE))

    def state_text(self, path: str) -> str:
        """One file of the state branch, "" when it is not there."""
        return self.repo.files(STATE).get(path, b"").decode()

    def state_commits(self) -> int:
        """How many commits the state branch has."""
        return len(self.repo.log(STATE))

    def bindings(self, placement: str) -> dict[str, Binding]:
        """A placement's bindings by cluster."""
        namespace, _, name = placement.rpartition("/")
        record = self.state().placements.get(PlacementKey(namespace, name))
        return {binding.cluster: binding for binding in record.bindings} if record else {}

    def live(self, cluster: str, kind: str, name: str, namespace: str | None = None) -> JsonObject | None:
        """A live object (in whatever namespace, unless one is named), None when it is not there."""
        for found in self.fleet.cluster(cluster).objects():
            if (found.key.kind, found.key.name) == (kind, name) and namespace in (None, found.key.namespace):
                return found.body
        return None

    def body(self, cluster: str, kind: str, name: str, namespace: str | None = None) -> JsonObject:
        """A live object that has to be there."""
        found = self.live(cluster, kind, name, namespace)
        assert found is not None, f"no {kind}/{name} on {cluster}"
        return found

    def image(self, cluster: str, name: str = "web") -> str | None:
        """The image of a Deployment, None when it is not there."""
        body = self.live(cluster, "Deployment", name)
        return body["spec"]["template"]["spec"]["containers"][0]["image"] if body else None

    def image_in(self, cluster: str, namespace: str) -> str | None:
        """The image of the Deployment `web` of a namespace, None when it is not there."""
        body = self.live(cluster, "Deployment", "web", namespace)
        return body["spec"]["template"]["spec"]["containers"][0]["image"] if body else None

    @contextmanager
    def nothing_deleted(self) -> Iterator[None]:
        """Fails when gitfleet deletes anything meanwhile."""
        start = len(self.happenings)
        yield
        deleted = [f"{h.key} on {h.cluster}" for h in self.happenings[start:] if h.what == "delete"]
        assert not deleted, deleted


def commit_state(
    repo: MemoryRepo,
    files: Mapping[str, bytes | str | None],
    when: datetime,
    branch: str = STATE,
    *,
    trailers: bool = True,
) -> str:
    """Commit files to a state branch, with the trailers of gitfleet's own commits unless told otherwise; None removes a
    file."""
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return repo.commit(
        BranchChange(
            branch=branch,
            expected=repo.fetch().get(branch),
            subject="Change files",
            trailers=((PHASE_TRAILER, "report"),) if trailers else (),
            tree_trailer=TREE_TRAILER if trailers else "",
            when=when,
            write={path: content for path, content in contents.items() if content is not None},
            remove=tuple(path for path, content in contents.items() if content is None),
        )
    )


def only_hold(world: World) -> Hold:
    """The one hold that there is, of those that wait."""
    (hold,) = world.state().held.values()
    return hold


def answer(hold: Hold, approved: bool = True) -> dict[str, str | None]:
    """The approval file that a person adds."""
    return {approval_path(hold.name): approval_text(hold.name, Status.TRUE if approved else Status.FALSE)}


def end_of(world: World) -> dict[str, Any]:
    """What has to be the same whatever happened on the way: cluster objects, inventory, bindings, what became of
    evictions, waiting faults."""
    state = world.state()
    return {
        "objects": {
            name: {str(live.key): _timeless(live.body) for live in cluster.objects()}
            for name, cluster in sorted(world.fleet.clusters.items())
        },
        "inventory": {
            name: {
                str(key): (str(entry.placement), replace(entry, uid=entry.uid and "UID"))
                for key, entry in sorted(entries.items())
            }
            for name, entries in sorted(state.inventory.items())
            if entries
        },
        "bindings": {
            str(key): [
                (b.cluster, b.state, b.resource_snapshot, b.applied_snapshot, b.cluster_resource_overrides, b.deleting)
                for b in record.bindings
            ]
            for key, record in state.placements.items()
        },
        "evictions": {name: [(c.type, c.status) for c in one.conditions] for name, one in state.evictions.items()},
        "clusters": sorted(state.clusters),
        "faults": [str(fault) for fault in state.faults],
    }


_TIMES: Final = ("Time", "Timestamp", "time")
_OWN: Final = ("uid", "resourceVersion")


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _timeless(v) for k, v in value.items() if k not in _OWN and not k.endswith(_TIMES)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_timeless(item) for item in value]
    return value
