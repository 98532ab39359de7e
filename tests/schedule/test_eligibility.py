"""Which clusters may get new placements, and when the clock alone changes that."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.api.clusters import AgentStatus, MemberCluster
from gitfleet.api.conditions import Status
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import index_fleet, schedule
from gitfleet.schedule.eligibility import Eligibility, TimedEligibility, eligibility_of
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import NOW, agent, cluster, condition, pick_fixed, request, states

OFFLINE = ScheduleText.CLUSTER_NOT_CONNECTED_FLEET()
SIX = timedelta(minutes=6)
WRITTEN_ON_CHANGE = AgentStatus(
    conditions=(condition("Joined"), condition("Healthy")), last_received_heartbeat=NOW - timedelta(hours=1)
)
JUST_LOST = AgentStatus(
    conditions=(condition("Joined"), condition("Healthy", Status.UNKNOWN, timedelta(minutes=4))),
    last_received_heartbeat=NOW - timedelta(minutes=4),
)

TWO, FIVE, TEN = timedelta(minutes=2), timedelta(minutes=5), timedelta(minutes=10)


def after(quiet: timedelta) -> AgentStatus:
    """Its last heartbeat came ten minutes ago, so long after the last change of a condition."""
    changed = condition("Joined"), condition("Healthy", ago=TEN + quiet)
    return AgentStatus(conditions=changed, last_received_heartbeat=NOW - TEN)


def lost(since: timedelta, heard: timedelta) -> AgentStatus:
    """It does not answer since then."""
    return agent(healthy=Status.UNKNOWN, healthy_ago=since, heard_ago=heard)


TABLE: list[tuple[str, MemberCluster, str | None]] = [
    ("healthy", cluster("c"), None),
    ("leaving", cluster("c", deleting=NOW), ScheduleText.CLUSTER_LEFT_FLEET()),
    ("no agent", cluster("c", status=None), OFFLINE + ScheduleText.MEMBER_AGENT_NOT_ONLINE_YET()),
    ("never joined", cluster("c", status=agent(joined=None)), OFFLINE + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET()),
    ("left", cluster("c", status=agent(joined=Status.FALSE)), OFFLINE + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET()),
    (
        "silent",
        cluster("c", status=agent(heard_ago=SIX)),
        OFFLINE
        + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(
            disconnected="", when=ScheduleText.LAST_RECEIVED_MINUTES_AGO(minutes="6.00")
        ),
    ),
    (
        "never heard of",
        cluster("c", status=agent(heard_ago=None)),
        OFFLINE + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(disconnected="", when="never received"),
    ),
    ("heard five minutes ago", cluster("c", status=agent(heard_ago=timedelta(minutes=5))), None),
    (
        "unhealthy for long",
        cluster("c", status=agent(healthy=Status.FALSE, healthy_ago=SIX)),
        OFFLINE + ScheduleText.UNHEALTHY_PROLONGED_PERIOD_TIME_LAST(disconnected="", since="6.00"),
    ),
    ("unhealthy just now", cluster("c", status=agent(healthy=Status.FALSE, healthy_ago=timedelta(0))), None),
    (
        "no health",
        cluster("c", status=agent(healthy=None)),
        OFFLINE + ScheduleText.HEALTH_CONDITION_FROM_MEMBER_AGENT(),
    ),
    ("a heartbeat that was written with the last change", cluster("c", status=WRITTEN_ON_CHANGE), None),
    ("lost four minutes ago", cluster("c", status=JUST_LOST), None),
    ("unhealthy for five minutes", cluster("c", status=agent(healthy=Status.FALSE, healthy_ago=FIVE)), None),
    ("a heartbeat five minutes after the last change", cluster("c", status=after(FIVE)), None),
    (
        "one that is later",
        cluster("c", status=after(FIVE + timedelta.resolution)),
        OFFLINE
        + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(
            disconnected="", when=ScheduleText.LAST_RECEIVED_MINUTES_AGO(minutes="10.00")
        ),
    ),
]


@pytest.mark.parametrize(("member", "refusal"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_eligibility(member: MemberCluster, refusal: str | None) -> None:
    answer = schedule(request(PlacementPolicy()), index_fleet([member], NOW))
    if refusal is None:
        assert states(answer) == {"c": "Scheduled"}
    else:
        assert answer.bindings == ()
        (decision,) = answer.decisions
        assert (decision.refused_by, decision.reason) == (
            "ClusterEligibility",
            ScheduleText.CLUSTER_UNSCHEDULABLE(why=refusal),
        )
        (fixed,) = schedule(request(pick_fixed("c")), index_fleet([member], NOW)).decisions
        assert fixed.reason == ScheduleText.CLUSTER_IS(cluster="c", why=ScheduleText.NOT_ELIGIBLE_YET(why=refusal))


@pytest.mark.parametrize(
    ("status", "verdict", "left"),
    [
        (agent(), Eligibility.ELIGIBLE, FIVE),
        (agent(healthy=None), Eligibility.HEALTH_UNKNOWN, FIVE),
        (agent(healthy=Status.FALSE, healthy_ago=SIX), Eligibility.UNHEALTHY, FIVE),
        (agent(healthy=Status.FALSE, healthy_ago=FIVE), Eligibility.ELIGIBLE, timedelta(0)),
        (lost(timedelta(minutes=1), FIVE - TWO), Eligibility.ELIGIBLE, TWO),
        (lost(FIVE - TWO, timedelta(minutes=1)), Eligibility.ELIGIBLE, TWO),
    ],
)
def test_the_moment_at_which_the_clock_alone_changes_a_verdict(
    status: AgentStatus, verdict: Eligibility, left: timedelta
) -> None:
    until = NOW + left + timedelta.resolution
    assert eligibility_of(cluster("c", status=status), NOW) == TimedEligibility(verdict, until)
    assert eligibility_of(cluster("c", status=status), until).verdict is not verdict


def test_the_answer_tells_when_the_clock_changes_it() -> None:
    healthy = index_fleet([cluster("c", status=WRITTEN_ON_CHANGE)], NOW)
    assert healthy.wake_at is None
    lost = index_fleet([cluster("a"), cluster("c", status=JUST_LOST)], NOW)
    wake = schedule(request(pick_fixed("c")), lost).wake_at
    assert wake is not None
    assert timedelta(minutes=1) < wake - NOW < timedelta(minutes=1, seconds=1)
    before, after = (index_fleet(lost.clusters, moment, lost) for moment in (wake - timedelta.resolution, wake))
    assert schedule(request(pick_fixed("c")), before).fulfilled is True
    assert schedule(request(pick_fixed("c")), after).fulfilled is False
