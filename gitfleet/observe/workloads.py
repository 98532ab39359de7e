"""Availability of the kinds that run pods."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.model.observations import Verdict
from gitfleet.observe.fields import (
    AVAILABLE,
    conditions_of,
    generation_of,
    integer,
    is_true,
    not_yet,
    section,
)
from gitfleet.observe.texts import ObserveText


def deployment_availability(body: JsonObject) -> Verdict:
    """All wanted replicas are updated and available, and no other is left. More than wanted is not available either."""
    status, wanted = section(body, "status"), integer(section(body, "spec"), "replicas", 1)
    if stale := _stale(body, status):
        return stale
    updated, available = integer(status, "updatedReplicas"), integer(status, "availableReplicas")
    if updated != wanted:
        return not_yet(ObserveText.REPLICAS_UPDATED(updated=updated, wanted=wanted))
    if available != wanted or integer(status, "unavailableReplicas"):
        return not_yet(ObserveText.REPLICAS_AVAILABLE(available=available, wanted=wanted))
    return AVAILABLE


def stateful_set_availability(body: JsonObject) -> Verdict:
    """All wanted replicas are available and on the update revision."""
    status, wanted = section(body, "status"), integer(section(body, "spec"), "replicas", 1)
    if stale := _stale(body, status):
        return stale
    available = integer(status, "availableReplicas")
    if available != wanted:
        return not_yet(ObserveText.REPLICAS_AVAILABLE(available=available, wanted=wanted))
    same = integer(status, "currentReplicas") == integer(status, "updatedReplicas")
    if not same or status.get("currentRevision") != status.get("updateRevision"):
        return not_yet(ObserveText.REPLICAS_UPDATED(updated=integer(status, "updatedReplicas"), wanted=wanted))
    return AVAILABLE


def daemon_set_availability(body: JsonObject) -> Verdict:
    """Every node that should have a pod has an available one of the latest template."""
    status = section(body, "status")
    if stale := _stale(body, status):
        return stale
    wanted, available = integer(status, "desiredNumberScheduled"), integer(status, "numberAvailable")
    if available != wanted:
        return not_yet(ObserveText.PODS_AVAILABLE(available=available, wanted=wanted))
    current, updated = integer(status, "currentNumberScheduled"), integer(status, "updatedNumberScheduled")
    return AVAILABLE if current == updated else not_yet(ObserveText.PODS_UPDATED(updated=updated, current=current))


def job_availability(body: JsonObject) -> Verdict:
    """At least one pod succeeded or is ready (seeds; decision D2)."""
    status, conditions = section(body, "status"), conditions_of(body)
    if integer(status, "succeeded") or integer(status, "ready") or is_true(conditions.get("Complete")):
        return AVAILABLE
    return not_yet(ObserveText.NO_POD_SUCCEEDED_READY())


def _stale(body: JsonObject, status: JsonObject) -> Verdict | None:
    if integer(status, "observedGeneration") == generation_of(body):
        return None
    return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
