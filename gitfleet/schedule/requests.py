"""The question to the scheduler, from a placement's record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.model.state import PlacementRecord


def request_for(record: PlacementRecord, now: datetime) -> SchedulingRequest:
    """The request for a record whose policy snapshots are up to date; the policy is the latest snapshot's, with the
    number of clusters that scaling wrote on it."""
    latest = record.latest_policy
    policy = record.placement.effective_policy if latest is None else latest.policy
    if latest is not None:
        policy = replace(policy, number_of_clusters=latest.number_of_clusters)
    return SchedulingRequest(
        placement=record.placement.key,
        policy=policy,
        policy_snapshot=latest.name if latest else "",
        bindings=record.bindings,
        now=now,
    )
