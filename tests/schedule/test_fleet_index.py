"""The index: sets, columns, carrying on, and the key that says when a placement must be scheduled again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitfleet.api.clusters import AgentStatus
from gitfleet.api.conditions import Status
from gitfleet.api.placements import PlacementPolicy
from gitfleet.model.failures import Failures, Subject
from gitfleet.schedule import index_fleet, schedule
from gitfleet.schedule.cluster_set import ascending, descending, first_down, positions, positions_down, set_of
from gitfleet.schedule.columns import Column
from gitfleet.schedule.eligibility import Eligibility, TimedEligibility
from gitfleet.schedule.fleet import ELIGIBILITY, Fact
from tests.schedule.fleets import NOW, agent, cluster, request


@given(st.sets(st.integers(0, 199)), st.integers(0, 300))
@example(set(), 0)
@example(set(range(0, 130, 2)), 64)
@example(set(range(200)), 65)
def test_sets(members: set[int], count: int) -> None:
    packed = set_of(members, 200)
    up = sorted(members)
    assert list(positions(packed)) == up == list(ascending(packed, range(200)))
    assert list(positions_down(packed)) == up[::-1] == list(descending(packed, range(199, -1, -1)))
    assert first_down(packed, count) == up[::-1][:count]


_texts = st.sampled_from([None, "a", "b", "c"])


@given(st.lists(_texts, min_size=1, max_size=100), st.data())
def test_a_changed_column_equals_a_new_one(values: list[str | None], data: st.DataObject) -> None:
    column = Column(tuple(values))
    before = {text: column.members(text) for text in "ab"}  # so that there are sets to carry on
    places = st.integers(0, len(values) - 1)
    updates = data.draw(st.dictionaries(places, _texts, max_size=90))
    changed = column.changed(updates.items())
    fresh = Column(tuple(updates.get(i, text) for i, text in enumerate(values)))
    assert changed == fresh
    assert [changed.members(text) for text in "abc"] == [fresh.members(text) for text in "abc"]
    assert (changed.present, changed.digest) == (fresh.present, fresh.digest)
    assert {text: column.members(text) for text in "ab"} == before
    assert (changed is column) == (changed == column)


@pytest.mark.parametrize("count", [1, 64, 65, 90])
def test_a_column_in_which_many_clusters_changed(count: int) -> None:
    column = Column(("a",) * 90)
    assert column.members("a") == (1 << 90) - 1
    changed = column.changed((i, "b") for i in range(count))
    assert changed.values == ("b",) * count + ("a",) * (90 - count)
    assert (changed.members("a"), changed.members("b")) == ((1 << 90) - (1 << count), (1 << count) - 1)


FLEET = [cluster(f"c{i}", {"env": "prod", "zone": "ab"[i % 2]}, properties={"p": str(i)}) for i in range(6)]


def test_only_columns_that_changed_are_other_objects() -> None:
    first = index_fleet(FLEET, NOW)
    for fact in (Fact("label", "env"), Fact("label", "zone"), Fact("property", "p")):
        first.column(fact)
    moved = [replace(FLEET[0], labels={"env": "prod", "zone": "c"}), *FLEET[1:]]
    second = index_fleet(moved, NOW, first)
    assert second.column(Fact("label", "env")) is first.column(Fact("label", "env"))
    assert second.column(ELIGIBILITY) is first.column(ELIGIBILITY)
    assert second.column(Fact("label", "zone")).values[0] == "c"


SOON = timedelta(minutes=2)
SICK = agent(healthy=Status.FALSE, healthy_ago=timedelta(minutes=4))


@pytest.mark.parametrize("status", [agent(), SICK, None], ids=["well", "sick", "offline"])
@pytest.mark.parametrize("other", [agent(), SICK, None], ids=["well", "sick", "offline"])
@pytest.mark.parametrize("later", [-SOON, timedelta(0), SOON, 5 * SOON])
def test_what_the_clock_changes_in_an_index_that_is_carried_on(
    status: AgentStatus | None, other: AgentStatus | None, later: timedelta
) -> None:
    members = [cluster("a", status=status), cluster("b", status=status)]
    first = index_fleet(members, NOW)
    for now in ([replace(members[0], status=replace(members[0].status, agent=other)), members[1]], members):
        carried, fresh = index_fleet(now, NOW + later, first), index_fleet(now, NOW + later)
        assert (carried.eligibilities, carried.wake_at) == (fresh.eligibilities, fresh.wake_at)
        assert carried.column(ELIGIBILITY) == fresh.column(ELIGIBILITY)
        assert carried.memo is first.memo
    assert index_fleet(members, NOW, first).eligibilities is first.eligibilities


def test_a_cluster_that_cannot_be_judged_gets_nothing_new() -> None:
    """The other one does, and the failure names the cluster."""
    broken = replace(agent(), last_received_heartbeat=NOW.replace(tzinfo=None))
    failures = Failures()
    fleet = index_fleet([cluster("a", status=broken), cluster("b")], NOW, failures=failures)
    assert fleet.eligibilities[0] == TimedEligibility(Eligibility.HEALTH_UNKNOWN)
    assert [each.cluster for each in schedule(request(PlacementPolicy()), fleet).bindings] == ["b"]
    assert [one.subject for one in failures.found] == [Subject("MemberCluster", "a")]
