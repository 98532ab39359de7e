"""Random histories in which placements are rolled out by staged update runs, and clusters are evicted: the moves of
`histories` and what people do with strategies, runs, approvals, evictions, budgets, freezes and quarantines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import MetricRule
from gitfleet.rollout.staged import run_phase
from tests import builders
from tests.properties.edits import ZONES
from tests.properties.histories import History
from tests.properties.staged_invariants import StagedInvariants
from tests.properties.staged_writing import Frost, StagedWritten
from tests.properties.writing import Placed


class StagedHistory(History):
    """One history with runs and evictions, drawn from a seed."""

    laws = StagedInvariants
    writes = StagedWritten
    written: StagedWritten
    invariants: StagedInvariants

    def _measures(self) -> tuple[MetricRule, ...]:
        """Too many errors, no data and errors of the provider for a while each, and at last that all is well."""
        dice, found = Random(f"metrics {self.seed}"), list[MetricRule]()
        self.measure_dice = dice
        for minute in range(0, 600, 3):
            start, end = timedelta(minutes=minute), timedelta(minutes=minute + 3)
            answer = dice.choice(({"value": 0.01}, {"value": 0.01}, {"value": 0.12}, {"no_data": True}, {"fail": True}))
            found.append(MetricRule(query="*", start=start, end=end, **answer))
        return (*found, MetricRule(query="*", value=0.01))

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
            stage = {**builders.stage(f"s{at}", **fields), "labelSelector": selected}
            every.append(self._measured(stage, is_last=at + 1 == len(zones)))
        body = builders.staged_strategy("all", *every)
        body["spec"]["membership"] = dice.choice(("Abort", "Freeze"))
        return builders.to_yaml(body)

    def _measured(self, stage: dict[str, Any], *, is_last: bool) -> dict[str, Any]:
        """The stage, with an Analysis after some; by dice of its own: the other moves of a seed stay as they were."""
        dice = self.measure_dice
        if dice.random() < 0.6:
            return stage
        fields: dict[str, Any] = {"count": dice.choice((1, 2)), "failureLimit": dice.choice((0, 1))}
        if dice.random() < 0.5:
            fields["onFailure"] = dice.choice(("Wait", "Stop", "Rollback"))
        fields["scope"] = dice.choice(("Stage", "Cluster") if is_last else ("Stage", "Cluster", "Canary"))
        return {**stage, "afterStageTasks": [*stage.get("afterStageTasks", []), builders.analysis(**fields)]}

    def _moves(self) -> list[Callable[[], None]]:
        return [
            *super()._moves(), self._run, self._run, self._run, self._answer, self._answer, self._answer, self._answer,
            self._reject, self._take_back, self._stop, self._go_on, self._go_on, self._drop_run, self._restage,
            self._evict, self._evict, self._evict, self._forget_evictions, self._disruption_budget, self._freeze,
            self._freeze, self._thaw, self._quarantine, self._lift, self._go_back, self._go_back,
        ]  # fmt: skip

    def _commit(self, what: str) -> None:
        self.invariants.answers |= {name: True for name, answer in self.written.answers.items() if answer}
        self.invariants.wanted = {name: run[2] for name, run in self.written.runs.items()}
        self.invariants.budgets = dict(self.written.budgets)
        self.invariants.written = self.written
        super()._commit(what)

    def _named_elsewhere(self) -> set[str]:
        return {*self.written.budgets, *(run[0] for run in self.written.runs.values())}

    # What people do with runs

    def _run(self) -> None:
        found = [name for name, placed in sorted(self.written.placements.items()) if placed.external]
        name = f"r{self.dice.randint(1, 7)}"
        known = {*self.written.runs, *(key.name for key in self.state().runs)}
        if found and name not in known:  # what a run rolls out cannot be changed
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
        state = self.state()
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
                record = self.state().placements.get(PlacementKey("", placement))
                bound = [*(b.cluster for b in record.bindings), self._some_cluster()] if record is not None else ["c0"]
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

    # What people hold back, and bring back

    def _freeze(self) -> None:
        dice = self.dice
        until = self.world.clock.now().replace(microsecond=0) + timedelta(seconds=dice.choice((30, 300, 5000)))
        scope = dice.choice(({}, {}, {"placement": dice.choice(self.namespaces)}, {"stage": "s0"}, {"stage": "s1"}))
        self.written.freezes[f"f{dice.randint(1, 3)}"] = Frost(until, **scope)
        self._commit(f"freeze: {self.written.freezes}")

    def _thaw(self) -> None:
        self.written.freezes.clear()
        self._commit("no freezes")

    def _quarantine(self) -> None:
        records = self.state().placements
        found = [(str(key), s) for key, record in sorted(records.items()) for s in record.resource_snapshots]
        if found:
            owner, snapshot = self.dice.choice(found)
            self.written.quarantines[f"q{self.dice.randint(1, 3)}"] = (owner, snapshot.hash, False)
            self._commit(f"{snapshot.name} is quarantined")

    def _lift(self) -> None:
        of_runs = [one for one in self.state().quarantines.values() if one.run]
        self.written.quarantines = {one.name: (str(one.placement), one.digest, True) for one in of_runs}
        self._commit(f"every quarantine is lifted: {sorted(self.written.quarantines)}")

    def _go_back(self) -> None:
        """What `gitfleet rollback` commits: the runs of the placement end, and one of an older snapshot begins."""
        found = [name for name, placed in sorted(self.written.placements.items()) if placed.external]
        record = self.state().placements.get(PlacementKey("", found[0])) if found else None
        older = record.resource_snapshots[:-1] if record is not None else ()
        if older:
            index = self.dice.choice(older).index
            self.written.runs = {n: run for n, run in self.written.runs.items() if run[0] != found[0]}
            self.written.runs[f"back{self.dice.randint(1, 999)}"] = (found[0], index, "Run")
            self._commit(f"{found[0]} goes back to {index}")

    # The end

    def _mend(self) -> None:
        self.written.freezes.clear()
        self.written.quarantines = {name: one for name, one in self.written.quarantines.items() if one[2]}
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
        result = self.world.driver.reconcile()
        said = (*result.waiting, *result.asks)
        held = any(self.state().held)
        for key, run in self.state().runs.items():
            if run.finished or held:
                continue
            phase = run_phase(run.status)
            is_told = any(name in sentence for sentence in said for name in (f"run {key} ", f"run {key}: "))
            assert is_told, f"run {key} is {phase} and says nothing: {said}"


_SETTINGS: Final[dict[str, tuple[Any, ...]]] = {
    "stuckAfter": ("1m", "10m"),
    "maxFailures": (1, "50%"),
    "onFailure": ("Wait", "Stop", "Rollback"),
    "unreachable": ("Wait", "Skip", "Fail"),
    "minSoak": ("10s", "2m"),
    "startRate": (1, 2),
}
