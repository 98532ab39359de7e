"""An exhaustive walk of a small fleet with a staged run (`walking`): every interleaving of passes with as many
disturbances as `--walk-depth` says (none in `make test`, one in `make soak`), each pass held against `walk_laws`. From
every moment the run comes to its end once everything is mended, whatever crashes there were on the way.

Steps of time and approvals are free; anything else is a disturbance. `--walk-depth 2` takes hours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from gitfleet.rollout.staged import cluster_phase, run_phase
from tests.properties import walk_laws
from tests.properties.options import number_of
from tests.properties.walking import FREEZE, STEP, Fleet, Form, Moment, Variant, Wish, form_of, performed, written

MOST_PASSES: Final = 25
"""So many passes after everything is mended, and a run is over."""
COMPARED: Final = 8
"""One in so many moments that have a known form is held against the first one of it."""
AGAIN: Final = 3
"""One in so many moments is decided again once it is written."""
UNPLACED: Final = ("evict c1", "evict c2", "evict c3", "c4 joins", "edit", "a second run", "edit the strategy")
TWINS: Final = ("c2 fails", "c2 falls silent", "c2 leaves", "evict c2", "most fall silent")
"""What happens to c2 is much the same as for c1 where both are updated at once."""
VARIANTS: Final = (
    Variant(max_concurrency=1, membership="Abort", on_failure="Wait"),
    Variant(max_concurrency=2, membership="Freeze", on_failure="Stop"),
    Variant(max_concurrency=1, membership="Freeze", on_failure="Rollback", placed=True),
    Variant(max_concurrency=2, membership="Abort", on_failure="Rollback", placed=True, start_rate=1, min_soak="200s"),
)
"""Every pair of maxConcurrency and membership is in one of them, and each onFailure."""


class Walk:
    """The walk of one variant. `faults` says what broke a law, and after which moves it did first."""

    def __init__(self, variant: Variant, depth: int) -> None:
        self.fleet, self.variant, self.depth = Fleet(variant), variant, depth
        self.known: dict[Form, int] = {}
        self.ends: dict[Form, Form] = {}
        self.faults: dict[str, str] = {}
        self._passes: dict[Form, tuple[Moment, Moment | None]] = {}
        self._met = 0

    def first(self) -> Moment:
        """The first moment: nothing is there, or every cluster has the version before."""
        if not self.variant.placed:
            return Moment()
        here = Moment(wish=Wish(version=0, runs=(("first", "Run"),)))
        while not (here.runs and all(run.finished for run in here.runs.values())):
            here = mended(self._fresh_pass(here, ("the first version",))[0])
        for _ in range(3):  # the run is forgotten, and nothing changes by age any more
            here = self._fresh_pass(replace(here, wish=Wish(version=0, runs=())), ("the first version",))[0]
        return replace(here, wish=Wish())

    def go(self) -> None:
        """Every moment that can be reached."""
        fresh: list[tuple[Moment, int, tuple[str, ...]]] = [(self.first(), self.depth, ())]
        while fresh:
            moment, left, trail = fresh.pop()
            form = form_of(moment)
            if self.known.get(form, -1) >= left:
                self._compare(form, moment, trail)
                continue
            self.known[form] = left
            for what, after, cost in self._moves(moment, left, trail):
                if cost <= left:
                    fresh.append((after, left - cost, (*trail, what)))

    def _moves(self, moment: Moment, left: int, trail: tuple[str, ...]) -> Iterator[tuple[str, Moment, int]]:
        later, crashed = self._pass(moment, trail)
        end = self.end_of(later, (*trail, "pass"))
        yield "pass", later, 0
        yield from (move for move in disturbances(moment) if not self._is_elsewhere(move[0]))
        if not left:
            return
        missed = replace(moment, now=moment.now + STEP)
        for what, after, wanted in (
            ("a crash before it is performed", crashed, end),
            ("a crash before it is written", missed, self.end_of(moment, trail)),
        ):
            if after is not None:
                if (other := self.end_of(after, (*trail, what))) != wanted:
                    self._note(f"{what} changes the end to {other} from {wanted}", trail)
                yield what, after, 1

    def _is_elsewhere(self, what: str) -> bool:
        """Whether a walk of depth 1 leaves a disturbance to another variant."""
        if self.depth > 1:
            return False
        return what in (UNPLACED if self.variant.placed else ()) or (what in TWINS and self.variant.max_concurrency > 1)

    def _compare(self, form: Form, moment: Moment, trail: tuple[str, ...]) -> None:
        """A moment goes on in the same way as the first one of its form: else the form leaves out what matters."""
        self._met += 1
        if self._met % COMPARED == 0:
            later, known = self._fresh_pass(moment, trail)[0], self._passes[form][0]
            for one, other in zip(form_of(later), form_of(known), strict=True):
                if one != other:
                    self._note(f"moments of one form go on otherwise: {one}, and {other}", trail)

    def _pass(self, moment: Moment, trail: tuple[str, ...]) -> tuple[Moment, Moment | None]:
        """One step of time and a pass; and the same with a crash before anything of it was done."""
        form = form_of(moment)
        if form not in self._passes:
            self._passes[form] = self._fresh_pass(moment, trail)
        return self._passes[form]

    def _fresh_pass(self, moment: Moment, trail: tuple[str, ...]) -> tuple[Moment, Moment | None]:
        now = replace(moment, now=moment.now + STEP)
        decision = self.fleet.decide(now)
        after = written(now, decision)
        for sentence in walk_laws.broken(now, decision, after):
            self._note(sentence, trail)
        done = performed(after, decision)
        if done == after:
            return done, None
        if len(self._passes) % AGAIN:
            return done, after
        again = self.fleet.decide(after)
        # Of two runs the later one may take a cluster over that the one before was just given.
        if len(after.runs) == 1 and _decided(written(after, again)) != _decided(after):
            self._note("the same moment is decided otherwise once it is written", trail)
        return done, after

    def _note(self, sentence: str, trail: tuple[str, ...]) -> None:
        self.faults.setdefault(sentence, " -> ".join(trail))

    def end_of(self, moment: Moment, trail: tuple[str, ...]) -> Form:
        """What becomes of it when everything is mended from here on: the phases of runs, stages and clusters, and what
        each cluster has."""
        passed: list[Form] = []
        here = mended(moment)
        for _ in range(MOST_PASSES):
            form = form_of(here)
            if form in self.ends:
                break
            passed.append(form)
            if all(run.finished for run in here.runs.values()) and here.runs and passed[-1] in passed[:-1]:
                self.ends[form] = _end(here)
                break
            here = mended(self._pass(here, (*trail, "mended", *["pass"] * len(passed)))[0])
        else:
            self._note(f"mended, it is not over after {MOST_PASSES} passes: {_end(here)}", trail)
            self.ends[form_of(here)] = _end(here)
        for form in passed:
            self.ends[form] = self.ends[form_of(here)]
        return self.ends[form_of(here)]


def _decided(moment: Moment) -> tuple[object, ...]:
    asked = tuple((b.cluster, b.state, b.resource_snapshot, b.generation, b.deleting) for b in moment.bindings)
    return asked, moment.state.runs, moment.state.approvals, moment.state.evictions


def _end(moment: Moment) -> Form:
    runs = tuple(
        (
            name,
            run_phase(run.status),
            tuple((c.cluster, cluster_phase(c)) for stage in run.status.stages for c in stage.clusters),
        )
        for name, run in moment.runs.items()
        if len(moment.runs) == 1
    )
    had = tuple((b.cluster, b.resource_snapshot, moment.has.get(b.cluster) == b.generation) for b in moment.bindings)
    return runs, had


def mended(moment: Moment) -> Moment:
    """Everything works and answers, every run runs, whatever is asked is approved, and people forbid nothing."""
    wish = replace(moment.wish, runs=tuple((name, "Run") for name, _ in moment.wish.runs))
    wish = replace(wish, freeze=None, quarantined=())
    found = replace(moment, wish=wish, failing=frozenset(), silent=frozenset())
    return replace(found, wish=_answered(found, True)) if unanswered(found) else found


def unanswered(moment: Moment) -> list[str]:
    """The requests that nobody has answered."""
    given = dict(moment.wish.answers)
    return [key.name for key in moment.state.approvals if key.name not in given]


def _answered(moment: Moment, approved: bool) -> Wish:
    fresh = dict.fromkeys(unanswered(moment), approved)
    return replace(moment.wish, answers=tuple(sorted({**dict(moment.wish.answers), **fresh}.items())))


def disturbances(moment: Moment) -> Iterator[tuple[str, Moment, int]]:
    """What people and clusters may do at a moment, and what it costs."""
    wish = moment.wish

    def wished(**fields: Any) -> Moment:
        return replace(moment, wish=replace(wish, **fields))

    if unanswered(moment):
        yield "approve", replace(moment, wish=_answered(moment, True)), 0
        yield "reject", replace(moment, wish=_answered(moment, False)), 1
    if any(approved for _, approved in wish.answers):
        yield "take approvals back", wished(answers=tuple((name, False) for name, _ in wish.answers)), 1
    yield from _of_clusters(moment)
    if wish.version == 1:
        yield "edit", wished(version=2), 1
    if len(wish.runs) == 1:
        yield "a second run", wished(version=2, runs=(*wish.runs, ("next", "Run"))), 1
    yield from _held(moment)
    state = dict(wish.runs)["go"]
    other = "Stop" if state == "Run" else "Run"
    yield other, wished(runs=tuple((name, other if name == "go" else s) for name, s in wish.runs)), 1


def _of_clusters(moment: Moment) -> Iterator[tuple[str, Moment, int]]:
    """What clusters do, and which ones join, leave or are evicted."""
    wish = moment.wish

    def wished(**fields: Any) -> Moment:
        return replace(moment, wish=replace(wish, **fields))

    for name in sorted(wish.clusters):
        if name not in moment.failing:
            yield f"{name} fails", replace(moment, failing=moment.failing | {name}), 1
        if name not in moment.silent:
            yield f"{name} falls silent", replace(moment, silent=moment.silent | {name}), 1
        if name != "c4" and name not in wish.evictions:
            yield f"evict {name}", wished(evictions=tuple(sorted({*wish.evictions, name}))), 1
        yield f"{name} leaves", wished(clusters=wish.clusters - {name}), 1
    if not moment.silent:
        yield "most fall silent", replace(moment, silent=frozenset({"c2", "c3"}) & wish.clusters), 1
    if moment.failing:
        yield "heal", replace(moment, failing=frozenset()), 1
    if moment.silent:
        yield "all answer", replace(moment, silent=frozenset()), 1
    for name in sorted({"c1", "c2", "c3", "c4"} - wish.clusters):
        yield f"{name} joins", wished(clusters=wish.clusters | {name}), 1


def _held(moment: Moment) -> Iterator[tuple[str, Moment, int]]:
    """What people forbid for a time, and bring back."""
    wish, record = moment.wish, moment.record
    latest = record.latest_resources if record is not None else None
    if wish.freeze is None:
        yield "a freeze", replace(moment, wish=replace(wish, freeze=moment.now + FREEZE)), 1
    if not wish.strategy:
        yield "edit the strategy", replace(moment, wish=replace(wish, strategy=1)), 1
    if latest is not None and not wish.quarantined and latest.name != "web-0-snapshot":
        yield "a quarantine", replace(moment, wish=replace(wish, quarantined=(latest.hash,))), 1
    runs = dict(wish.runs)
    if latest is not None and latest.name != "web-0-snapshot" and "back" not in runs:
        yield "roll back", replace(moment, wish=replace(wish, runs=(*wish.runs, ("back", "Run")))), 1
    found = tuple(one.digest for one in moment.state.quarantines.values() if one.run)
    if found and moment.runs["go"].finished and "again" not in runs:
        again = replace(wish, runs=(*wish.runs, ("again", "Run")))
        yield "again", replace(moment, wish=again), 1
        yield "lift and again", replace(moment, wish=replace(again, lifted=found)), 1


@pytest.mark.deeper("walks")
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_interleaving_keeps_the_laws(variant: Variant, pytestconfig: pytest.Config) -> None:
    walk = Walk(variant, number_of("walk-depth", pytestconfig))
    walk.go()
    assert not walk.faults, "\n".join(f"{sentence}\n    after {trail}" for sentence, trail in walk.faults.items())
    assert len(walk.known) > 20
