"""The stages of one scheduling cycle: call the profile's plug-ins, for the whole fleet at once where they can.

A plug-in that judges single clusters is called for each cluster that no earlier one refused. The results of plug-ins
that do not depend on bindings are kept for the following cycles of the same placement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from gitfleet.model.failures import Failure
from gitfleet.schedule.cluster_set import ClusterSet, Partition, positions, set_of
from gitfleet.schedule.fleet import Unschedulable
from gitfleet.schedule.plugins import Cycle, Score
from gitfleet.schedule.profile import Entry, Profile
from gitfleet.schedule.texts import ScheduleText

ScoreGroup: TypeAlias = tuple[Score, int]


class Refused(NamedTuple):
    """The clusters that a plug-in refused, and which of them silently, as bits."""

    all: int
    silent: int = 0


@dataclass(frozen=True, slots=True)
class Filtered:
    """The clusters that may be picked, and the others by the plug-in that refused them, in the profile's order."""

    candidates: int
    refusals: tuple[tuple[Entry, Refused], ...]

    @property
    def decided(self) -> int:
        """The clusters whose refusal is a decision."""
        members = 0
        for _, refused in self.refusals:
            members |= refused.all & ~refused.silent
        return members


@dataclass(slots=True)
class Stages:
    """Runs the plug-in stages for one placement, cycle after cycle.

    `calling` is the plug-in that is being called, so that whoever catches its exception can name it.
    """

    profile: Profile
    calling: Entry | None = None
    _first: Filtered | None = None
    _filtered_so_far: dict[int, tuple[int, Refused]] = field(default_factory=dict)
    _scored: int = 0
    _steady_scores: Partition[Score] = field(default_factory=dict)
    _ranked: list[ScoreGroup] = field(default_factory=list)

    def post_batch(self, cycle: Cycle, size: int) -> int:
        """The smallest limit of all plug-ins, at most `size`; a negative limit is none."""
        limit = size
        for entry in self.profile.post_batch:
            self.calling = entry
            proposed = entry.plugin.post_batch(cycle, size)
            limit = proposed if 0 <= proposed < limit else limit
        return limit

    def filter(self, cycle: Cycle) -> Filtered:
        """Pre-filter and filter: the first plug-in that refuses a cluster counts."""
        steady = self.profile.steady_filters
        if self._first is None:
            self._first = self._filter(cycle, steady, Filtered(cycle.fleet.all_clusters, ()))
        return self._filter(cycle, self.profile.filters[len(steady) :], self._first)

    def rank(self, cycle: Cycle, filtered: Filtered) -> Iterator[ScoreGroup]:
        """Pre-score, score and sort: the candidates by score, best first; a group may be empty."""
        unknown = filtered.candidates & ~self._scored
        if unknown or not self._ranked:
            for score, members in self._score(cycle, self.profile.steady_scores, unknown).items():
                self._steady_scores[score] = self._steady_scores.get(score, 0) | members
            self._scored |= unknown
            self._ranked = sorted(self._steady_scores.items(), reverse=True)
        moving = self._score(cycle, self.profile.moving_scores, filtered.candidates)
        return _merged(self._ranked, moving)

    def _filter(self, cycle: Cycle, filters: tuple[Entry, ...], before: Filtered) -> Filtered:
        candidates = before.candidates
        refusals: list[tuple[Entry, Refused]] = []
        for entry in filters:
            self.calling = entry
            if not entry.plugin.pre_filter(cycle):
                continue
            refused = self._refused_by(cycle, entry, candidates)
            if refused.all:
                refusals.append((entry, refused))
                candidates ^= refused.all
        self.calling = None
        return Filtered(candidates, (*before.refusals, *refusals))

    def _refused_by(self, cycle: Cycle, entry: Entry, candidates: int) -> Refused:
        """Which candidates a plug-in refuses; one that does not depend on bindings judges each of them once."""
        if entry.plugin.depends_on_bindings:
            return self._filter_all(cycle, entry, candidates)
        filtered, refused = self._filtered_so_far.get(id(entry.plugin), (0, Refused(0)))
        unknown = candidates & ~filtered
        if unknown:
            more = self._filter_all(cycle, entry, unknown)
            refused = Refused(refused.all | more.all, refused.silent | more.silent)
            self._filtered_so_far[id(entry.plugin)] = (filtered | unknown, refused)
        return Refused(refused.all & candidates, refused.silent & candidates)

    def _filter_all(self, cycle: Cycle, entry: Entry, candidates: int) -> Refused:
        at_once = entry.plugin.filter_fleet(cycle, ClusterSet(cycle.fleet.names, candidates))
        if at_once is not None:
            all_refused = at_once.refused.bits & candidates
            return Refused(all_refused, at_once.silent.bits & all_refused if at_once.silent is not None else 0)
        refused: list[int] = []
        silent: list[int] = []
        for i in positions(candidates):
            refusal = entry.plugin.filter(cycle, cycle.fleet.clusters[i])
            if refusal is not None:
                refused.append(i)
                if refusal.silent:
                    silent.append(i)
        size = len(cycle.fleet.names)
        return Refused(set_of(refused, size), set_of(silent, size))

    def _score(self, cycle: Cycle, scores: tuple[Entry, ...], candidates: int) -> Partition[Score]:
        totals: Partition[Score] = {Score(): candidates}
        for entry in scores:
            self.calling = entry
            if not entry.plugin.pre_score(cycle):
                continue
            at_once = entry.plugin.score_fleet(cycle, ClusterSet(cycle.fleet.names, candidates))
            if at_once is None:
                by_score = self._score_each(cycle, entry, candidates)
            else:
                by_score = {score: members.bits for score, members in at_once.items()}
            totals = add_scores(totals, by_score, entry.weight)
        self.calling = None
        return totals

    def _score_each(self, cycle: Cycle, entry: Entry, candidates: int) -> Mapping[Score, int]:
        by_score: dict[Score, list[int]] = {}
        for i in positions(candidates):
            by_score.setdefault(Score(*entry.plugin.score(cycle, cycle.fleet.clusters[i])), []).append(i)
        return {score: set_of(where, len(cycle.fleet.names)) for score, where in by_score.items()}


def failure_of(stages: Stages, failure: Failure) -> str | None:
    """One sentence about what stopped the stages; None when it was no plug-in and nothing foreseen, but a defect of
    gitfleet.
    """
    who, error = stages.calling, failure.cause
    if isinstance(error, Unschedulable):
        return str(error) if who is None else f"{who.name}: {error}"
    return None if who is None else ScheduleText.PLUG_FAILED(who=who.name, name=type(error).__name__, error=error)


def _merged(steady: list[ScoreGroup], moving: Partition[Score]) -> Iterator[ScoreGroup]:
    """All sums of a steady and a moving score with the clusters that have both, best first."""
    ordered = sorted(moving.items(), reverse=True)
    apart = all(s[0] == 0 and s[2] == 0 for s, _ in steady) and all(m[1] == 0 for m, _ in ordered)
    if not apart:
        sums = (
            (Score(s[0] + m[0], s[1] + m[1], s[2] + m[2]), s_members & m_members)
            for s, s_members in steady
            for m, m_members in ordered
        )
        yield from _joined(sums)
        return
    start = 0
    while start < len(ordered):
        spread = ordered[start][0][0]
        stop = start
        while stop < len(ordered) and ordered[stop][0][0] == spread:
            stop += 1
        for (_, affinity, _), s_members in steady:
            for (_, _, obsolete), m_members in ordered[start:stop]:
                yield Score(spread, affinity, obsolete), s_members & m_members
        start = stop


def _joined(sums: Iterator[ScoreGroup]) -> Iterator[ScoreGroup]:
    by_score: Partition[Score] = {}
    for score, members in sums:
        by_score[score] = by_score.get(score, 0) | members
    yield from sorted(by_score.items(), reverse=True)


def add_scores(totals: Mapping[Score, int], more: Mapping[Score, int], weight: int) -> Partition[Score]:
    """The totals after a plug-in's scores, times its weight; both hold the same clusters."""
    if weight == 0 or (len(more) == 1 and Score() in more):
        return dict(totals)
    if weight == 1 and len(totals) == 1 and Score() in totals:
        return dict(more)
    summed: Partition[Score] = {}
    for score, gaining in more.items():
        added = (score[0] * weight, score[1] * weight, score[2] * weight)
        for total, members in totals.items():
            both = members & gaining
            if both:
                key = Score(total[0] + added[0], total[1] + added[1], total[2] + added[2])
                summed[key] = summed.get(key, 0) | both
    return summed
