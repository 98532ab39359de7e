"""The stages of one scheduling cycle: ask the profile's plug-ins, for the whole fleet at once where they can.

A plug-in that judges single clusters is asked about each cluster that survived so far. What plug-ins that do not depend
on bindings said is kept for the following cycles of the same placement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from gitfleet.schedule.bits import positions, set_of
from gitfleet.schedule.partitions import Partition, add_scores
from gitfleet.schedule.plugins import (
    Cycle,
    FilterPlugin,
    FleetFilterPlugin,
    FleetRefusal,
    FleetScorePlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    Score,
    ScorePlugin,
    Unschedulable,
    depends_on_bindings,
)
from gitfleet.schedule.profile import Entry, Profile

T = TypeVar("T")
Deadline = Callable[[], bool]
"""True once the caller's time budget is used up."""
ScoreGroup = tuple[Score, int]
_ALL_ACCEPTED = FleetRefusal(0)


@dataclass(frozen=True, slots=True)
class Filtered:
    """The clusters that may be picked, and the others by the plug-in that refused them, in the profile's order."""

    candidates: int
    refusals: tuple[tuple[Entry, FleetRefusal], ...]

    @property
    def told(self) -> int:
        """The clusters whose refusal is a decision."""
        members = 0
        for _, refusal in self.refusals:
            members |= refusal.refused & ~refusal.silent
        return members


@dataclass(slots=True)
class Stages:
    """Runs the plug-in stages for one placement, cycle after cycle."""

    profile: Profile
    deadline: Deadline | None = None
    _refusals: dict[int, tuple[int, FleetRefusal]] = field(default_factory=dict)
    _needed: dict[tuple[str, int], bool] = field(default_factory=dict)
    _steady_scores: tuple[int, list[ScoreGroup]] | None = None

    def post_batch(self, cycle: Cycle, size: int) -> int:
        """The smallest limit of all plug-ins, at most `size`; a negative limit is none."""
        limit = size
        for entry, plugin in self.profile.post_batch:
            asked = self._ask(entry, lambda plugin=plugin: plugin.post_batch(cycle, size))  # type: ignore[misc]
            limit = asked if 0 <= asked < limit else limit
        return limit

    def filter(self, cycle: Cycle) -> Filtered:
        """Pre-filter and filter: the first plug-in that refuses a cluster counts."""
        candidates = cycle.fleet.everyone
        refusals: list[tuple[Entry, FleetRefusal]] = []
        for index, (entry, plugin) in enumerate(self.profile.filters):
            kept = self._refusals.get(index)
            if kept is not None and kept[0] == candidates:
                refusal = kept[1]
            else:
                refusal = self._refusal(index, entry, plugin, cycle, candidates)
                if not depends_on_bindings(plugin):
                    self._refusals[index] = (candidates, refusal)
            if refusal.refused:
                refusals.append((entry, refusal))
                candidates ^= refusal.refused
        return Filtered(candidates, tuple(refusals))

    def rank(self, cycle: Cycle, filtered: Filtered) -> Iterator[ScoreGroup]:
        """Pre-score, score and sort: the candidates by score, best first; a group may be empty."""
        steady = self._steady(cycle, filtered)
        moving: Partition[Score] = {Score(): filtered.candidates}
        for index, (entry, plugin) in enumerate(self.profile.scores):
            if depends_on_bindings(plugin) and self._needs_score(index, entry, plugin, cycle):
                given = self._scores(entry, plugin, cycle, filtered.candidates)
                moving = add_scores(moving, given, entry.weight)
        return _merged(steady, moving)

    def _refusal(self, index: int, entry: Entry, plugin: FilterPlugin, cycle: Cycle, candidates: int) -> FleetRefusal:
        if hasattr(plugin, "pre_filter"):
            needed = cast(PreFilterPlugin, plugin).pre_filter
            if not self._once(("filter", index), plugin, lambda: self._ask(entry, lambda: needed(cycle))):
                return _ALL_ACCEPTED
        if hasattr(plugin, "filter_fleet"):
            whole = cast(FleetFilterPlugin, plugin)
            refused, silent = self._ask(entry, lambda: whole.filter_fleet(cycle, candidates))
            return FleetRefusal(refused & candidates, silent & refused & candidates)
        refused_at: list[int] = []
        silent_at: list[int] = []
        for i in positions(candidates):
            cluster = cycle.fleet.clusters[i]
            refusal = self._ask(entry, lambda cluster=cluster: plugin.filter(cycle, cluster))  # type: ignore[misc]
            if refusal is not None:
                refused_at.append(i)
                if refusal.silent:
                    silent_at.append(i)
        size = len(cycle.fleet.names)
        return FleetRefusal(set_of(refused_at, size), set_of(silent_at, size))

    def _steady(self, cycle: Cycle, filtered: Filtered) -> list[ScoreGroup]:
        """Scores that no cycle changes, best first, of all clusters that the steady filters let through."""
        base = cycle.fleet.everyone
        for entry, refusal in filtered.refusals:
            if not depends_on_bindings(entry.plugin):
                base ^= refusal.refused
        if self._steady_scores is not None and self._steady_scores[0] == base:
            return self._steady_scores[1]
        totals: Partition[Score] = {Score(): base}
        for index, (entry, plugin) in enumerate(self.profile.scores):
            if not depends_on_bindings(plugin) and self._needs_score(index, entry, plugin, cycle):
                totals = add_scores(totals, self._scores(entry, plugin, cycle, base), entry.weight)
        ordered = sorted(totals.items(), reverse=True)
        self._steady_scores = (base, ordered)
        return ordered

    def _needs_score(self, index: int, entry: Entry, plugin: ScorePlugin, cycle: Cycle) -> bool:
        if not hasattr(plugin, "pre_score"):
            return True
        needed = cast(PreScorePlugin, plugin).pre_score
        return self._once(("score", index), plugin, lambda: self._ask(entry, lambda: needed(cycle)))

    def _scores(self, entry: Entry, plugin: ScorePlugin, cycle: Cycle, candidates: int) -> Mapping[Score, int]:
        if hasattr(plugin, "score_fleet"):
            whole = cast(FleetScorePlugin, plugin)
            return self._ask(entry, lambda: whole.score_fleet(cycle, candidates))
        by_score: dict[Score, list[int]] = {}
        for i in positions(candidates):
            cluster = cycle.fleet.clusters[i]
            score = self._ask(entry, lambda cluster=cluster: Score(*plugin.score(cycle, cluster)))  # type: ignore[misc]
            by_score.setdefault(score, []).append(i)
        return {score: set_of(where, len(cycle.fleet.names)) for score, where in by_score.items()}

    def _once(self, question: tuple[str, int], plugin: Plugin, ask: Callable[[], bool]) -> bool:
        """The answer of an earlier cycle, where the plug-in says that cycles do not matter."""
        if depends_on_bindings(plugin):
            return ask()
        if question not in self._needed:
            self._needed[question] = ask()
        return self._needed[question]

    def _ask(self, entry: Entry, question: Callable[[], T]) -> T:
        """Call a plug-in: whatever it raises becomes a sentence that names it."""
        if self.deadline is not None and self.deadline():
            raise Unschedulable(f"the time for scheduling was used up before the plug-in {entry.name} was asked")
        try:
            return question()
        except Unschedulable as error:
            raise Unschedulable(f"{entry.name}: {error}") from error
        except Exception as error:  # a plug-in may be anybody's code; its failure is this placement's answer
            raise Unschedulable(f"the plug-in {entry.name} failed with {type(error).__name__}: {error}") from error


def _merged(steady: list[ScoreGroup], moving: Partition[Score]) -> Iterator[ScoreGroup]:
    """All sums of a steady and a moving score with the clusters that have both, best first."""
    ordered = sorted(moving.items(), reverse=True)
    apart = all(s[0] == 0 and s[2] == 0 for s, _ in steady) and all(m[1] == 0 for m, _ in ordered)
    if not apart:
        sums = (
            (Score(s[0] + m[0], s[1] + m[1], s[2] + m[2]), here & there) for s, here in steady for m, there in ordered
        )
        yield from _joined(sums)
        return
    start = 0
    while start < len(ordered):
        spread = ordered[start][0][0]
        stop = start
        while stop < len(ordered) and ordered[stop][0][0] == spread:
            stop += 1
        for (_, affinity, _), here in steady:
            for (_, _, obsolete), there in ordered[start:stop]:
                yield Score(spread, affinity, obsolete), here & there
        start = stop


def _joined(sums: Iterator[ScoreGroup]) -> Iterator[ScoreGroup]:
    by_score: Partition[Score] = {}
    for score, members in sums:
        by_score[score] = by_score.get(score, 0) | members
    yield from sorted(by_score.items(), reverse=True)
