"""ClusterSet: a set of clusters by name, as plug-ins see it, agrees with Python's own sets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.ports.scheduling import ClusterSet
from gitfleet.schedule.texts import ScheduleText

NAMES = tuple(sorted(f"c{i}" for i in range(200)))
SUBSETS = st.frozensets(st.sampled_from(NAMES))


@given(SUBSETS, SUBSETS)
def test_it_is_a_set_of_names(left: frozenset[str], right: frozenset[str]) -> None:
    a, b = ClusterSet.of(NAMES, left), ClusterSet.of(NAMES, right)
    assert list(a) == sorted(left)
    assert (len(a), bool(a)) == (len(left), bool(left))
    assert [list(a | b), list(a & b), list(a - b)] == [sorted(left | right), sorted(left & right), sorted(left - right)]
    assert (a == b) is (left == right)
    assert [name in a for name in NAMES] == [name in left for name in NAMES]
    assert "c" not in a and None not in a and "zzz" not in a


def test_clusters_of_no_fleet_and_sets_of_another_fleet_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape(ScheduleText.FLEET_NO_CLUSTER(member="c200"))):
        ClusterSet.of(NAMES, ["c200"])
    with pytest.raises(ValueError, match=f"^{ScheduleText.TWO_SETS_DIFFERENT_FLEETS()}$"):
        ClusterSet(NAMES) | ClusterSet(("other",))
    assert ClusterSet.of(NAMES, ["c1"]) | ClusterSet((*NAMES,)) == ClusterSet.of(NAMES, ["c1"])
