"""Clusters grouped by score: disjoint sets by their points, so that a thousand clusters with one score cost as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

from gitfleet.schedule.plugins import Score

K = TypeVar("K")
_NOTHING = Score()
Partition: TypeAlias = dict[K, int]
"""Disjoint sets of clusters by key."""


def add_points(totals: Mapping[int, int], points: Mapping[int, int]) -> Partition[int]:
    """The totals after some clusters got points; a cluster in no set of `points` got none."""
    summed: Partition[int] = {}
    for total, members in totals.items():
        left = members
        for more, given in points.items():
            both = left & given
            if both:
                summed[total + more] = summed.get(total + more, 0) | both
                left ^= both
        if left:
            summed[total] = summed.get(total, 0) | left
    return summed


def add_scores(totals: Mapping[Score, int], more: Mapping[Score, int], weight: int) -> Partition[Score]:
    """The totals after a plug-in's scores, times its weight; both hold the same clusters."""
    if weight == 0 or (len(more) == 1 and _NOTHING in more):
        return dict(totals)
    if weight == 1 and len(totals) == 1 and _NOTHING in totals:
        return dict(more)
    summed: Partition[Score] = {}
    for score, given in more.items():
        added = (score[0] * weight, score[1] * weight, score[2] * weight)
        for total, members in totals.items():
            both = members & given
            if both:
                key = Score(total[0] + added[0], total[1] + added[1], total[2] + added[2])
                summed[key] = summed.get(key, 0) | both
    return summed
