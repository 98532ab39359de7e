"""Random histories of a fleet, the same for the same seed: what people commit, what clusters do, when processes die."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import ClassVar, Final

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import ClusterRule, MetricRule, ObjectPattern
from gitfleet.loop.driver import Driver
from gitfleet.model.state import FleetState
from gitfleet.simulation.cluster import SimulatedCrash
from tests import builders
from tests.builders import to_yaml
from tests.properties.invariants import Invariants
from tests.properties.writing import Placed, Written, approval_text
from tests.scenarios.world import STATE, World

ZONES: Final = ("a", "b", "c")
DELAYS: Final = (0, 5, 5, 20, 90)
BAD: Final = ClusterRule(object=ObjectPattern(kind="Deployment", image="*:bad"), available="never")
REFUSED: Final = (
    ClusterRule(object=ObjectPattern(kind="ConfigMap"), apply="fail"),
    ClusterRule(object=ObjectPattern(kind="Deployment"), apply="fail"),
    ClusterRule(object=ObjectPattern(kind="ConfigMap"), delete_fails=True),
    ClusterRule(delete_fails=True),
)


class History:
    """One history, drawn from a seed. `log` says what happened, for whoever has to find out why an invariant broke."""

    laws: ClassVar[type[Invariants]] = Invariants
    writes: ClassVar[type[Written]] = Written

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.dice = Random(seed)
        self.log: list[str] = []
        self.written = self.writes()
        self.stored: set[str] = set()
        self.namespaces = ("web", "db") if self.dice.random() < 0.3 else ("web",)
        self.slow = ClusterRule(
            names=("c0", "c1"), object=ObjectPattern(kind="Deployment"),
            available=timedelta(seconds=self.dice.choice(DELAYS)),
        )  # fmt: skip
        self.world = World((BAD, self.slow), metrics=self._measures(), start_with=self._observed)
        # The invariants read what was pushed as somebody does who knows nothing else.
        self.state_trees = self.world.state_trees()
        self.invariants = self.laws(self.world.fleet, self._read_branch, self.world.clock)
        self.world.watch = self.invariants.happened
        self.other: Driver | None = None
        self.version = 1
        self.kinds: dict[str, str] = {}
        self._killed_at: int | None = None
        self._other_at: int | None = None
        self._silent_at: tuple[str, str] | None = None

    def _measures(self) -> tuple[MetricRule, ...]:
        """What metric providers answer."""
        return ()

    def _read_branch(self) -> tuple[str | None, FleetState]:
        head = self.world.repo.fetch().get(STATE)
        return head, self.state_trees.at(head)

    # The process under the invariants

    def _observed(self, driver: Driver) -> None:
        driver.checkpoint = lambda step: self._step(driver, step)

    def _step(self, driver: Driver, step: str) -> None:
        if step in ("intent published", "reported"):
            self.invariants.pushed()
        if self._silent_at is not None and self._silent_at[0] == step:
            name = self._silent_at[1]
            if self.world.fleet.cluster(name).reachable:
                self.invariants.just_silent.add(name)
                self.world.fleet.cluster(name).reachable = False
            self._silent_at = None
        self.invariants.by_gitfleet(step == "intent published")
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
                self.invariants.by_gitfleet(step == "intent published")

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
            holds = self.world.state().holds
            if not holds:
                return
            self.log.append(f"{self.world.clock.now():%H:%M:%S} commit approvals of {', '.join(holds)}")
            self.world.write({f"approvals/{name}.yaml": approval_text(name) for name in holds})
            self._settle()
        raise AssertionError(f"still held after 10 approvals: {list(self.world.state().holds)}")

    def _settle(self) -> None:
        self.world.settle(timedelta(hours=2))
        assert not self.invariants.broken, self.invariants.broken[0]

    def _begin(self) -> None:
        dice = self.dice
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

    def _new_placement(self, name: str) -> Placed:
        dice, count = self.dice, len(self.written.clusters)
        chosen = tuple(sorted(dice.sample(sorted(self.written.clusters), dice.randint(1, count))))
        return Placed(
            name=name,
            space=name,
            kind=self.kinds.setdefault(name, dice.choice(("PickAll", "PickN", "PickN", "PickFixed"))),
            number=dice.randint(1, count + 1),
            names=chosen,
            zone=dice.choice((None, None, None, "a")),
            max_unavailable=dice.choice((1, 1, 2, 3, "25%", "50%", "1%", "100%")),
            max_surge=dice.choice((1, 2, "25%", "50%", "100%")),
        )

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
        self.world.write({**files, **dict.fromkeys(gone)})

    # What people do

    def _roll(self) -> None:
        key = self.dice.choice(sorted(self.written.deployments))
        self.version += 1
        self.written.deployments[key] = (str(self.version % 4 + 1), self.written.deployments[key][1])
        self._commit(f"{key} gets image {self.written.deployments[key][0]}")

    def _bad(self) -> None:
        key = self.dice.choice(sorted(self.written.deployments))
        self.written.deployments[key] = ("bad", self.written.deployments[key][1])
        self._commit(f"{key} gets a bad image")

    def _good(self) -> None:
        for key, (image, replicas) in self.written.deployments.items():
            self.written.deployments[key] = ("1" if image == "bad" else image, replicas)
        self._commit("good images")

    def _add_config(self) -> None:
        key = (self.dice.choice(self.namespaces), self.dice.choice(("settings", "more")))
        self.written.configs[key] = self.dice.randint(1, 3)
        self._commit(f"ConfigMap {key}")

    def _add_deployment(self) -> None:
        key = (self.dice.choice(self.namespaces), "side")
        self.written.deployments[key] = ("1", self.dice.randint(1, 2))
        self._commit(f"Deployment {key}")

    def _remove_object(self) -> None:
        key = self.dice.choice(sorted({**self.written.configs, **self.written.deployments}))
        if key[1] != "app":
            self.written.configs.pop(key, None)
            self.written.deployments.pop(key, None)
            self._commit(f"remove {key}")

    def _placement(self) -> Placed | None:
        found = sorted(self.written.placements)
        return self.written.placements[self.dice.choice(found)] if found else None

    def _put(self, placed: Placed, what: str) -> None:
        self.written.placements[placed.name] = placed
        self._commit(f"{placed.name}: {what}: {placed}")

    def _change_policy(self) -> None:
        placed = self._placement()
        if placed is not None:
            new = replace(self._new_placement(placed.space), name=placed.name)
            self._put(new, "another policy")
        else:
            self.written.placements["web"] = self._new_placement("web")
            self._commit("web is placed again")

    def _scale(self) -> None:
        placed = self._placement()
        if placed is not None:
            number = self.dice.randint(1, len(self.written.clusters) + 1)
            names = tuple(
                sorted(self.dice.sample(sorted(self.written.clusters), min(number, len(self.written.clusters))))
            )
            self._put(replace(placed, number=number, names=names), "scale")

    def _budget(self) -> None:
        placed = self._placement()
        if placed is not None:
            new = self._new_placement(placed.space)
            self._put(replace(placed, max_unavailable=new.max_unavailable, max_surge=new.max_surge), "budget")

    def _drop_placement(self) -> None:
        placed = self._placement()
        if placed is not None and self.dice.random() < 0.5:
            del self.written.placements[placed.name]
            self._commit(f"{placed.name} is not placed any more")

    def _rename(self) -> None:
        placed = self._placement()
        if placed is None:
            return
        name = f"{placed.space}-b" if placed.name == placed.space else placed.space
        del self.written.placements[placed.name]
        pinned = self.written.pins.pop(placed.name, None)
        if pinned is not None and self.dice.random() < 0.5:
            self.written.pins[name] = pinned.replace(f"placement: {placed.name}\n", f"placement: {name}\n")
        self._put(replace(placed, name=name), f"was {placed.name}")

    def _pin(self) -> None:
        placed = self._placement()
        record = self.world.state().placements.get(PlacementKey("", placed.name)) if placed is not None else None
        if record is None or not record.resource_snapshots:
            return
        named = self.dice.choice(record.resource_snapshots)
        digest = named.hash if self.dice.random() < 0.8 else "0" * 64
        name = record.placement.key.name
        self.written.pins[name] = to_yaml(builders.pin(name, named.index, digest))
        self._commit(f"{name} is pinned to {named.index}{'' if digest == named.hash else ', with another digest'}")

    def _unpin(self) -> None:
        self.written.pins.clear()
        self._commit("no pins")

    def _join(self) -> None:
        name = f"c{self.dice.randint(0, 8)}"
        self.written.clusters.setdefault(name, (self.dice.choice(ZONES), False))
        self._commit(f"{name} joins")

    def _leave(self) -> None:
        if len(self.written.clusters) > 2:
            name = self.dice.choice(sorted(self.written.clusters))
            del self.written.clusters[name]
            self._commit(f"{name} leaves")

    def _relabel(self) -> None:
        for name in self.dice.sample(sorted(self.written.clusters), self.dice.randint(1, len(self.written.clusters))):
            self.written.clusters[name] = (self.dice.choice(ZONES), self.written.clusters[name][1])
        self._commit("other zones")

    def _taint(self) -> None:
        name = self.dice.choice(sorted(self.written.clusters))
        zone, tainted = self.written.clusters[name]
        self.written.clusters[name] = (zone, not tainted)
        self._commit(f"taint {name}: {not tainted}")

    def _override(self) -> None:
        space = self.dice.choice(self.namespaces)
        if space in self.written.overrides and self.dice.random() < 0.3:
            del self.written.overrides[space]
        else:
            self.written.overrides[space] = (self.dice.choice(ZONES), self.dice.randint(1, 4))
        self._commit(f"override of {space}: {self.written.overrides.get(space)}")

    def _fail_override(self) -> None:
        space = self.dice.choice(self.namespaces)
        self.written.overrides[space] = (self.dice.choice(ZONES), 0)
        self._commit(f"override of {space} that cannot be applied: {self.written.overrides[space]}")

    def _untrackable(self) -> None:
        space = self.dice.choice(self.namespaces)
        if space in self.written.untrackable and self.dice.random() < 0.3:
            del self.written.untrackable[space]
        else:
            self.written.untrackable[space] = self.dice.randint(1, 3)
        self._commit(f"Ingress of {space}: {self.written.untrackable.get(space)}")

    def _abandon(self) -> None:
        placed = self._placement()
        if placed is not None:
            self._put(replace(placed, abandon=not placed.abandon), "deleteStrategy")

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
        self.log.append("all clusters answer")

    def _refuse(self) -> None:
        name = self._some_cluster()
        rule = self.dice.choice((*REFUSED, None))
        self.log.append(f"{name} refuses: {rule}")
        self.world.fleet.cluster(name).behave((rule, BAD, self.slow) if rule else (BAD, self.slow))

    def _crash(self) -> None:
        self.log.append("a crash is coming")
        if self.dice.random() < 0.5:
            self._killed_at = self.dice.randint(0, 9)
        else:
            self.world.fleet.crash.arm(self.dice.randint(0, 6))

    def _second_process(self) -> None:
        self.log.append("a second process")
        self.other = self.world.start()
        self._other_at = self.dice.randint(0, 9)

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

    def _mend(self) -> None:
        self._reachable()
        for name in sorted(self.world.fleet.clusters):
            self.world.fleet.cluster(name).behave((BAD, self.slow))
        self.world.fleet.crash.arm(None)
        self._killed_at = self._other_at = self._silent_at = None
        self.written.overrides = {space: (zone, n or 1) for space, (zone, n) in self.written.overrides.items()}
        self.written.broken = None
        self.written.pins.clear()
        self._good()
