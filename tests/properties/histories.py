"""Random histories of a fleet, the same for the same seed: what people commit, what clusters do, when processes die."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import ClassVar, Final

from gitfleet.api.objects import ObjectKey
from gitfleet.api.scenarios import ClusterRule, MetricRule, ObjectPattern
from gitfleet.branches.steps import Step, SteppedCache
from gitfleet.errors import BadInput, GitfleetError
from gitfleet.loop.driver import Driver
from gitfleet.loop.results import ReconcileResult
from gitfleet.model.state import FleetState
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.simulation.memory_cache import MemoryCache
from tests.properties.damaging import EDITS, STEPS, LossyRepo, damage
from tests.properties.damaging import Step as Damage
from tests.properties.edits import ZONES, Edits
from tests.properties.invariants import Invariants
from tests.properties.writing import Written
from tests.scenarios.pull_world import PullWorld
from tests.scenarios.world import STATE

DELAYS: Final = (0, 5, 5, 20, 90)
BAD: Final = ClusterRule(object=ObjectPattern(kind="Deployment", image="*:bad"), available="never")
PERFORMING: Final = frozenset({Step.INTENT_PUBLISHED, Step.CLUSTER_WRITE, Step.CLUSTER_WRITTEN})
REFUSED: Final = (
    ClusterRule(object=ObjectPattern(kind="ConfigMap"), apply="fail"),
    ClusterRule(object=ObjectPattern(kind="Deployment"), apply="fail"),
    ClusterRule(object=ObjectPattern(kind="ConfigMap"), delete_fails=True),
    ClusterRule(delete_fails=True),
)


@dataclass(slots=True)
class HistoryWorld(PullWorld):
    """A world in which the agents report before each reconcile, and people start again with a new state branch where
    gitfleet can read nothing of the old one."""

    before_report: Callable[[str], None] = lambda name: None

    def reconcile(self) -> ReconcileResult | None:
        """One tick of all processes; None where one died, or may have more to do."""
        is_new = False
        for name in sorted(self.agents):
            self.before_report(name)
            is_new = self.report(name) or is_new
        try:
            result = PullWorld.reconcile(self)
        except BadInput:
            self.repo.move_branch(STATE, None)
            return None
        return None if is_new else result


class History(Edits):
    """One history, drawn from a seed. `log` says what happened, for whoever has to find out why an invariant broke."""

    laws: ClassVar[type[Invariants]] = Invariants
    writes: ClassVar[type[Written]] = Written

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.dice = Random(seed)
        self.log: list[str] = []
        self.written = self.writes()
        self.stored: set[str] = set()
        self.removals = self.dice.choice((1, 4))
        """How much the history is about removals."""
        self.namespaces = ("web", "db") if self.dice.random() < 0.3 else ("web",)
        self.slow = ClusterRule(
            names=("c0", "c1"), object=ObjectPattern(kind="Deployment"),
            available=timedelta(seconds=self.dice.choice(DELAYS)),
        )  # fmt: skip
        self.world = HistoryWorld(
            rules=(BAD, self.slow), metrics=self._measures(), start_with=self._observed, repo=LossyRepo()
        )
        self.world.agent_step = self._agent_step
        self.world.before_report = self._agent_begins
        # The invariants read what was pushed as somebody does who knows nothing else.
        self.state_trees = self.world.state_trees()
        self.invariants = self.laws(self.world.fleet, self._read_branch, self.world.clock)
        self.world.watch = self.invariants.happened
        self.other: Driver | None = None
        self.version = 1
        self.kinds: dict[str, str] = {}
        self._killed_at: int | None = None
        self._agent_killed_at: int | None = None
        self._other_at: int | None = None
        self._silent_at: tuple[str, str] | None = None

    def _measures(self) -> tuple[MetricRule, ...]:
        """What metric providers answer."""
        return ()

    def _read_branch(self) -> tuple[str | None, FleetState]:
        head = self.world.repo.fetch().get(STATE)
        return head, self.state_trees.at(head)

    def state(self) -> FleetState:
        """The state branch, an empty one where it cannot be read."""
        try:
            return self._read_branch()[1]
        except GitfleetError:
            return FleetState()

    # The process under the invariants

    def _observed(self, driver: Driver) -> None:
        driver.checkpoint = lambda step: self._step(driver, step)
        driver.name_effects(SteppedCache(MemoryCache()))

    def _step(self, driver: Driver, step: str) -> None:
        if step in (Step.STATE_PUSHED, Step.INTENT_PUBLISHED, Step.REPORTED):
            self.invariants.pushed()
        if step == Step.DELIVERY_PUSHED:
            for name in self.world.agents:
                self.invariants.deliver(self._orders(name))
        if self._silent_at is not None and self._silent_at[0] == step:
            name = self._silent_at[1]
            if self.world.fleet.cluster(name).reachable:
                self.invariants.just_silent.add(name)
                self.world.fleet.cluster(name).reachable = False
            self._silent_at = None
        self.invariants.by_gitfleet(step in PERFORMING)
        if self._killed_at is not None:
            self._killed_at -= 1
            if self._killed_at < 0:
                self._killed_at = None
                raise SimulatedCrash(step)
        if self._other_at is not None and self.other is not None and driver is not self.other:
            self._other_at -= 1
            if self._other_at < 0:
                self._other_at = None
                self.other.reconcile()
                self.invariants.by_gitfleet(step in PERFORMING)

    def _orders(self, name: str) -> str | None:
        return self.world.repo.fetch().get(f"gitfleet/deliver/{name}")

    def _agent_begins(self, name: str) -> None:
        self.invariants.by_agent(self._orders(name))

    def _agent_step(self, name: str, step: str) -> None:
        if self._agent_killed_at is not None:
            self._agent_killed_at -= 1
            if self._agent_killed_at < 0:
                self._agent_killed_at = None
                raise SimulatedCrash(step)

    def reconcile(self) -> bool:
        """One reconcile; whether anything may still change at this moment."""
        result = self.world.reconcile()
        self.invariants.by_gitfleet(False)
        self.invariants.just_silent.clear()
        assert not self.invariants.broken, self.invariants.broken[0]
        return result is None or result.changed or result.lost_race

    def rest(self) -> None:
        """Reconcile until nothing changes at this moment."""
        for _ in range(60):
            if not self.reconcile():
                return
        raise AssertionError("still changing after 60 reconciles")

    # The history

    def play(self) -> None:
        """All of it, to its quiet end."""
        self._begin()
        for _ in range(self.dice.randint(3, 9)):
            self._happen()
            self._let_time_pass()
        self._mend()
        self._settle()

    def approve_holds(self) -> None:
        """A person says yes to every removal that is held, until none is; then everything comes to rest again."""
        for _ in range(10):
            holds = self.world.state().held
            if not holds:
                return
            self.written.holds |= dict.fromkeys(holds, True)
            self._commit(f"approvals of {', '.join(holds)}")
            self._settle()
        raise AssertionError(f"still held after 10 approvals: {list(self.world.state().held)}")

    def _settle(self) -> None:
        self.world.settle(timedelta(hours=2))
        assert not self.invariants.broken, self.invariants.broken[0]

    def _begin(self) -> None:
        dice = self.dice
        if dice.random() < 0.3:
            self.written.pulled = frozenset(dice.choice((["c0"], ["c0", "c1"], ["c1", "c3"])))
            self.invariants.exact = False
            for name in sorted(self.written.pulled):
                self.world.start_agent(name)
        for number in range(dice.randint(2, 7)):
            self.written.clusters[f"c{number}"] = (dice.choice(ZONES), False)
        for space in self.namespaces:
            self.written.deployments[(space, "app")] = ("1", 1)
            if dice.random() < 0.5:
                self.written.configs[(space, "settings")] = 1
            if dice.random() < 0.4:
                self.written.overrides[space] = (dice.choice(ZONES), dice.randint(2, 4))
            self.written.placements[space] = self._new_placement(space)
        self._commit("begin")
        for _ in range(dice.choice((1, 3, 6))):
            self._let_time_pass()

    def _happen(self) -> None:
        self.dice.choice(self._moves())()

    def _moves(self) -> list[Callable[[], None]]:
        return [
            self._roll, self._roll, self._roll, self._bad, self._good, self._add_config, self._add_deployment,
            self._remove_object, self._change_policy, self._scale, self._scale, self._budget, self._drop_placement,
            self._join, self._leave, self._relabel, self._relabel, self._taint, self._override, self._break_file,
            self._unreachable, self._unreachable, self._reachable, self._refuse, self._crash, self._crash, self._crash,
            self._second_process, self._silent_between, self._silent_between, self._fail_override, self._fail_override,
            self._untrackable, self._abandon, self._refuse, self._drift, self._delete_by_hand, self._several,
            self._rename, self._rename, self._pin, self._pin, self._unpin,
            *self.removals * [
                self._answer_hold, self._answer_hold, self._answer_hold, self._rules, self._rules, self._empty,
                self._reselect, self._pick_nothing, self._remove_object, self._drop_placement, self._damage,
                self._agent_crash, self._cut_off,
            ],
        ]  # fmt: skip

    def _let_time_pass(self) -> None:
        dice, world = self.dice, self.world
        for _ in range(dice.randint(0, 4)):
            self.reconcile()
            coming = world.fleet.next_change()
            if coming is not None and dice.random() < 0.7:
                world.move_to(max(coming, world.clock.now()))
            else:
                world.advance(seconds=dice.choice((0, 1, 5, 5, 60, 400, 4000)))

    def _commit(self, what: str) -> None:
        files = self.written.files(self.namespaces)
        gone = self.stored - files.keys()
        self.stored = set(files)
        self.log.append(f"{self.world.clock.now():%H:%M:%S} commit {what}")
        self.invariants.commits[self.world.write({**files, **dict.fromkeys(gone)})] = files

    def _break_file(self) -> None:
        files = sorted(self.written.files(self.namespaces))
        self.written.broken = self.dice.choice([*files, "resources/web/new.yaml"])
        self._commit(f"{self.written.broken} is broken")
        if self.dice.random() < 0.5:
            self.reconcile()
            self.written.broken = None
            self._commit("the file is corrected")

    def _several(self) -> None:
        for _ in range(self.dice.randint(2, 3)):
            self._happen()

    # What clusters and processes do

    def _some_cluster(self) -> str:
        return self.dice.choice(sorted(self.written.clusters))

    def _unreachable(self) -> None:
        name = self._some_cluster()
        self.log.append(f"{self.world.clock.now():%H:%M:%S} {name} is silent")
        self.world.fleet.cluster(name).reachable = False

    def _silent_between(self) -> None:
        name, step = self._some_cluster(), self.dice.choice(("gathered", "decided", "intent published"))
        self.log.append(f"{name} falls silent in the next reconcile, when it has {step}")
        self._silent_at = (step, name)

    def _reachable(self) -> None:
        for name in sorted(self.world.fleet.clusters):
            self.world.fleet.cluster(name).reachable = True
        self.world.cut_off.clear()
        self.log.append("all clusters answer")

    def _refuse(self) -> None:
        name = self._some_cluster()
        rule = self.dice.choice((*REFUSED, None))
        self.log.append(f"{name} refuses: {rule}")
        self.world.fleet.cluster(name).behave((rule, BAD, self.slow) if rule else (BAD, self.slow))

    def _crash(self) -> None:
        self.log.append("a crash is coming")
        if self.dice.random() < 0.5:
            self._killed_at = self.dice.choice((self.dice.randint(0, 9), self.dice.randint(0, 30)))
        else:
            self.world.fleet.crash.arm(self.dice.randint(0, 6))

    def _second_process(self) -> None:
        self.log.append("a second process")
        self.other = self.world.start()
        self._other_at = self.dice.randint(0, 9)

    def _agent_crash(self) -> None:
        self.log.append("an agent is to crash")
        self._agent_killed_at = self.dice.randint(0, 9)

    def _cut_off(self) -> None:
        for name in self.dice.sample(sorted(self.world.agents), min(1, len(self.world.agents))):
            self.log.append(f"the agent of {name} is cut off")
            self.world.cut_off.add(name)

    def _damage(self) -> None:
        """Somebody damages the state branch. Where gitfleet can read nothing of it, people start again."""
        if STATE not in self.world.repo.fetch():
            return
        dice = self.dice
        step = Damage(
            dice.choice(STEPS), dice.randrange(999), dice.choice(EDITS), dice.randrange(999), dice.randrange(256)
        )
        self.log.append(f"{self.world.clock.now():%H:%M:%S} damage of the state branch: {step}")
        damage(self.world, step)
        self.invariants.damaged()
        if step.what == "lose a blob":
            self.world.restart()  # a process that lives on has read that blob, and needs it no more
        self.other = None
        self._read_again()

    def _read_again(self) -> None:
        for _ in range(9):
            try:
                self.world.state()
                return
            except GitfleetError:
                self.reconcile()

    def _drift(self) -> None:
        name = self._some_cluster()
        cluster = self.world.fleet.cluster(name)
        key = ObjectKey("apps", "v1", "Deployment", "web", "app")
        if cluster.get(key) is not None:
            self.log.append(f"drift on {name}")
            cluster.mutate(key, [{"op": "replace", "path": "/spec/replicas", "value": self.dice.randint(1, 9)}])

    def _delete_by_hand(self) -> None:
        name = self._some_cluster()
        kind = self.dice.choice((("apps", "Deployment", "web", "app"), ("", "ConfigMap", "web", "settings")))
        self.log.append(f"{kind} is deleted by hand on {name}")
        self.world.fleet.cluster(name).delete_by_hand(ObjectKey(kind[0], "v1", *kind[1:]))

    def _finish_deletions(self, cluster: str) -> None:
        """Empty namespaces that are being deleted, as their controller tries again and again."""
        memory = self.world.fleet.cluster(cluster).memory
        for stored in [*memory.objects.values()]:
            if stored.live.key.kind == "Namespace" and "deletionTimestamp" in stored.live.body["metadata"]:
                memory.delete(stored.live.key, now=self.world.clock.now())

    def _mend(self) -> None:
        self._reachable()
        for name in sorted(self.world.fleet.clusters):
            self.world.fleet.cluster(name).behave((BAD, self.slow))
            self._finish_deletions(name)
        self.world.fleet.crash.arm(None)
        self._killed_at = self._other_at = self._silent_at = self._agent_killed_at = None
        self.written.overrides = {space: (zone, n or 1) for space, (zone, n) in self.written.overrides.items()}
        self.written.broken = None
        self.written.pins.clear()
        self.written.empty.clear()
        free = sorted({*self.namespaces} - {placed.space for placed in self.written.placements.values()})
        for key, placed in self.written.placements.items():
            there = tuple(name for name in placed.names if name in self.written.clusters)
            space = free.pop() if placed.space == "nowhere" else placed.space
            self.written.placements[key] = replace(placed, names=there, space=space)
        self._good()
