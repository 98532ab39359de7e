"""Random histories in which placements are rolled out by staged update runs, and clusters are evicted: the moves of
`histories` and what people do with strategies, runs, approvals, evictions and disruption budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Final

from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout.staged import run_phase
from tests import builders
from tests.properties.histories import ZONES, History
from tests.properties.invariants import Invariants, Up
from tests.properties.run_laws import Facts, broken_by, freshly, is_through
from tests.properties.writing import Placed, Written


@cache
def _run_text(name: str, placement: str, index: int | None, state: str) -> str:
    body = builders.staged_run(name, placement=placement, strategy="all", index=index)
    return builders.to_yaml({**body, "spec": {**body["spec"], "state": state}})


@cache
def _answer_text(name: str, approved: bool) -> str:
    body = builders.approval("x", "y", approved=approved)
    del body["spec"]
    return builders.to_yaml({**body, "metadata": {"name": name}})


@dataclass(slots=True)
class StagedWritten(Written):
    """What stands in the config repo, with what belongs to runs and evictions."""

    strategy: str = ""
    runs: dict[str, tuple[str, int | None, str]] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    evictions: dict[str, tuple[str, str]] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)

    def files(self, namespaces: tuple[str, ...]) -> dict[str, str]:
        """All files by path."""
        more = {f"runs/{name}.yaml": _run_text(name, *run) for name, run in self.runs.items()}
        more |= {f"approvals/{name}.yaml": _answer_text(name, answer) for name, answer in self.answers.items()}
        more |= {
            f"evictions/{name}.yaml": builders.to_yaml(builders.eviction(name, *what))
            for name, what in self.evictions.items()
        }
        more |= {
            f"budgets/{name}.yaml": builders.to_yaml(builders.placement_budget(name, minAvailable=most))
            for name, most in self.budgets.items()
        }
        if self.strategy:
            more["strategies/all.yaml"] = self.strategy
        return Written.files(self, namespaces) | more | ({self.broken: "kind: [\n"} if self.broken is not None else {})


@dataclass(slots=True)
class StagedInvariants(Invariants):
    """The invariants of every history, of which the budgets are for rolling updates; and those of runs (`run_laws`):
    a cluster counts as updated only when it is up. An executed eviction leaves as many clusters up as the disruption
    budget asks for, and what became of it does not change. `asked` are the answers, states and budgets that people have
    written so far."""

    answers: dict[str, bool] = field(default_factory=dict)
    wanted: dict[str, str] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)
    through: dict[tuple[str, str], datetime] = field(default_factory=dict)
    evicted: set[tuple[PlacementKey, str]] = field(default_factory=set)

    def pushed(self) -> None:
        """A new intent or report may be on the state branch."""
        before, head, up = self.intent, self.head, self._up_now()
        fresh = self.read()[1]
        known = before.evictions.keys()
        self.evicted = {
            (PlacementKey("", e.placement_name), e.cluster_name)
            for name, e in fresh.evictions.items()
            if name not in known and e.was_executed
        }
        Invariants.pushed(self)
        if self.head != head:
            self._check_runs(before, up)
            self._check_evictions(before, up)

    def _check_runs(self, before: FleetState, up: Up) -> None:
        now = self.clock.now()
        for name, run in self.intent.runs.items():
            was = before.runs.get(name)
            was = was if was is not None and was.created == run.created else None
            for stage in run.status.stages:
                if not is_through(stage):
                    self.through.pop((name.name, stage.name), None)
                else:
                    self.through.setdefault((name.name, stage.name), now)
            facts = Facts(
                now=now, answers=self.answers, through=self.through, wanted=self.wanted, cut_off=self._is_cut_off(run)
            )
            self.broken += broken_by(was, run, facts)
            self.checked += bool(freshly("Started", was, run))
            unfit = set(freshly("Succeeded", was, run)) - up.get(run.placement, frozenset())
            if unfit:
                self.broken.append(f"{sorted(unfit)} count as updated by {name} and are not up")

    def _is_cut_off(self, run: RunRecord) -> bool:
        record = self.intent.placements.get(run.placement)
        names = {b.cluster for b in record.bindings} if record is not None else set()
        return sum(self._silent_for(name) is not None for name in names) * 2 > len(names)

    def _check_evictions(self, before: FleetState, up: Up) -> None:
        for name, eviction in self.intent.evictions.items():
            known = before.evictions.get(name)
            if known is not None and known.placement_name == eviction.placement_name and known != eviction:
                self.broken.append(f"eviction {name} is decided again")
        for key in {key for key, _ in self.evicted}:
            record = self.intent.placements[key]
            taken = {cluster for owner, cluster in self.evicted if owner == key} & up.get(key, frozenset())
            staying = {b.cluster for b in record.bindings if b.deleting is None}
            left = up.get(key, frozenset()) - taken & staying
            self.checked += 1
            if taken and len(left) < self.budgets.get(key.name, 0):
                self.broken.append(f"{key}: the eviction from {sorted(taken)} leaves {sorted(left)} up")

    def _check_budget(self, record: PlacementRecord, before: frozenset[str], after: frozenset[str]) -> None:
        if not record.placement.strategy.external:
            evicted = {cluster for key, cluster in self.evicted if key == record.placement.key}
            Invariants._check_budget(self, record, before - evicted, after)

    def _check_surge(self, old: PlacementRecord, new: PlacementRecord, up: frozenset[str]) -> None:
        if not new.placement.strategy.external:
            Invariants._check_surge(self, old, new, up)

    def _moved(self, old: PlacementRecord, new: PlacementRecord) -> list[str]:
        evicted = {cluster for key, cluster in self.evicted if key == new.placement.key}
        moved = [name for name in Invariants._moved(self, old, new) if name not in evicted]
        if not new.placement.strategy.external:
            return moved
        # What the scheduler makes of a binding moves nothing until a run takes it up.
        was = {b.cluster: (b.resource_snapshot, b.deleting) for b in old.bindings}
        now = {b.cluster: (b.resource_snapshot, b.deleting) for b in new.bindings}
        return [name for name in moved if now[name] != was.get(name, (None, None))]


class StagedHistory(History):
    """One history with runs and evictions, drawn from a seed."""

    laws = StagedInvariants
    writes = StagedWritten
    written: StagedWritten
    invariants: StagedInvariants

    def _begin(self) -> None:
        self.external = {name: self.dice.random() < 0.8 for name in self.namespaces}
        self.written.strategy = self._new_strategy()
        super()._begin()
        self._run()

    def _new_placement(self, name: str) -> Placed:
        placed = super()._new_placement(name)
        # A run begins only where as many clusters as are asked for can be picked.
        number = min(placed.number, max(1, len(self.written.clusters) // 2))
        return replace(placed, external=self.external[name], number=number, zone=None)

    def _new_strategy(self) -> str:
        dice = self.dice
        zones = dice.choice(((ZONES,), (ZONES[:1], ZONES[1:]), (ZONES[1:], ZONES[:1]), tuple((z,) for z in ZONES)))
        every = []
        for at, chosen in enumerate(zones):
            fields: dict[str, Any] = {"maxConcurrency": dice.choice((1, 1, 2, "50%"))}
            if dice.random() < 0.3:
                fields["approval"] = True
            if dice.random() < 0.3:
                fields["wait"] = dice.choice(("30s", "3m"))
            if dice.random() < 0.3:
                fields["beforeStageTasks"] = [{"type": "Approval"}]
            for key, choices in _SETTINGS.items():
                if dice.random() < 0.3:
                    fields[key] = dice.choice(choices)
            selected = {"matchExpressions": [{"key": "zone", "operator": "In", "values": list(chosen)}]}
            every.append({**builders.stage(f"s{at}", **fields), "labelSelector": selected})
        body = builders.staged_strategy("all", *every)
        body["spec"]["membership"] = dice.choice(("Abort", "Freeze"))
        return builders.to_yaml(body)

    def _moves(self) -> list[Callable[[], None]]:
        return [
            *super()._moves(), self._run, self._run, self._run, self._answer, self._answer, self._answer, self._answer,
            self._reject, self._take_back, self._stop, self._go_on, self._go_on, self._drop_run, self._restage,
            self._evict, self._evict, self._evict, self._forget_evictions, self._disruption_budget,
        ]  # fmt: skip

    def _commit(self, what: str) -> None:
        self.invariants.answers |= {name: True for name, answer in self.written.answers.items() if answer}
        self.invariants.wanted = {name: run[2] for name, run in self.written.runs.items()}
        self.invariants.budgets = dict(self.written.budgets)
        super()._commit(what)

    # What people do with runs

    def _run(self) -> None:
        found = [name for name in sorted(self.written.placements) if self.external[name]]
        name = f"r{self.dice.randint(1, 7)}"
        if found and name not in self.written.runs:  # what a run rolls out cannot be changed
            placement = self.dice.choice(found)
            index = self.dice.choice((None, None, None, 0, 1))
            self.written.runs[name] = (placement, index, self.dice.choice(("Run", "Run", "Run", "Initialize")))
            self._commit(f"run {name}: {self.written.runs[name]}")

    def _some_run(self, state: str, what: str) -> None:
        if self.written.runs:
            name = self.dice.choice(sorted(self.written.runs))
            self.written.runs[name] = (*self.written.runs[name][:2], state)
            self._commit(f"run {name} is {what}")

    def _stop(self) -> None:
        self._some_run("Stop", "stopped")

    def _go_on(self) -> None:
        self._some_run("Run", "to go on")

    def _drop_run(self) -> None:
        if self.written.runs:
            name = self.dice.choice(sorted(self.written.runs))
            del self.written.runs[name]
            self._commit(f"run {name} is removed")

    def _restage(self) -> None:
        self.written.strategy = self._new_strategy()
        self._commit(f"another strategy: {self.written.strategy}")

    def _open(self) -> list[str]:
        state = self.world.state()
        going = {run.key.name for run in state.runs.values() if not run.finished}
        return [k.name for k, one in state.approvals.items() if one.accepted is None and one.parent_run in going]

    def _answer(self) -> None:
        if found := self._open():
            if self.written.answers.keys() & set(found):  # of an earlier run of that name
                self.written.answers = {
                    name: given for name, given in self.written.answers.items() if name not in found
                }
                self._commit(f"earlier answers are removed: {found}")
            self.written.answers |= dict.fromkeys(found, True)
            self._commit(f"approved: {found}")

    def _reject(self) -> None:
        if found := self._open():
            name = self.dice.choice(found)
            self.written.answers[name] = False
            self._commit(f"rejected: {name}")

    def _take_back(self) -> None:
        for name in self.written.answers:
            self.written.answers[name] = False
        self._commit("every approval is taken back")

    # Evictions

    def _evict(self) -> None:
        found = sorted(self.written.placements)
        if found:
            name = f"e{self.dice.randint(1, 9999)}"  # a decided one cannot be changed
            if name not in self.written.evictions:
                placement = self.dice.choice(found)
                bound = [*self.world.bindings(placement), self._some_cluster()]
                self.written.evictions[name] = (placement, self.dice.choice(bound))
                self._commit(f"evict {name}: {self.written.evictions[name]}")

    def _forget_evictions(self) -> None:
        self.written.evictions.clear()
        self._commit("no evictions")

    def _disruption_budget(self) -> None:
        name = self.dice.choice(self.namespaces)
        if self.written.budgets.pop(name, None) is None:
            self.written.budgets[name] = self.dice.randint(1, 3)
        self._commit(f"budget of {name}: {self.written.budgets.get(name)}")

    # The end

    def _mend(self) -> None:
        self.written.runs = {name: (*run[:2], "Run") for name, run in self.written.runs.items()}
        super()._mend()

    def check_runs(self) -> None:
        """With everything mended, each run is over, or waits for somebody and says so; and once everything is approved,
        what is left is stuck with a snapshot that gets ready nowhere, or waits for its placement."""
        for _ in range(40):
            self._say_what_they_wait_for()
            if not self._open():
                break
            self._answer()
            self._settle()
        else:
            raise AssertionError(f"asked again and again: {self._open()}")

    def _say_what_they_wait_for(self) -> None:
        result = self.world.reconcile()
        assert result is not None
        said = (*result.waiting, *result.asks)
        held = any(self.world.state().holds)
        for key, run in self.world.state().runs.items():
            if run.finished or held:
                continue
            phase = run_phase(run.status)
            assert any(f"run {key} " in sentence for sentence in said), f"run {key} is {phase} and says nothing: {said}"


_SETTINGS: Final[dict[str, tuple[Any, ...]]] = {
    "stuckAfter": ("1m", "10m"),
    "maxFailures": (1, "50%"),
    "onFailure": ("Wait", "Stop", "Rollback"),
    "unreachable": ("Wait", "Skip", "Fail"),
    "minSoak": ("10s", "2m"),
    "startRate": (1, 2),
}
