"""Availability by a fleet's own health checks: CEL expressions of the FleetConfig (decision record 0022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from gitfleet.api.fleet import HealthCheck
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.formats.cel import CannotEvaluate
from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe.fields import AVAILABLE, generation_of, not_yet, section
from gitfleet.observe.texts import ObserveText

Checks: TypeAlias = Mapping[GroupKind, HealthCheck]
NO_CHECKS: Final[Checks] = MappingProxyType({})


def checked_availability(body: JsonObject, check: HealthCheck, own: Callable[[JsonObject], Verdict]) -> Verdict:
    """By the generation that its controller has observed, then `failed`, then `available` (Flux RFC 0009); what neither
    of them decides is decided by gitfleet's `own` rule for the kind."""
    observed = section(body, "status").get("observedGeneration")
    if isinstance(observed, int) and generation_of(body) not in (0, observed):
        return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
    for name, expression in (("failed", check.failed), ("available", check.available)):
        if expression is None:
            continue
        try:
            holds = expression.holds(body)
        except CannotEvaluate as error:
            return not_yet(ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name=name, error=error))
        if holds and name == "failed":
            return not_yet(ObserveText.HEALTH_CHECK_SAYS_FAILED(beside=_beside(own(body))))
        if name == "available":
            return (
                AVAILABLE if holds else not_yet(ObserveText.HEALTH_CHECK_SAYS_NOT_AVAILABLE(beside=_beside(own(body))))
            )
    return own(body)


def _beside(own: Verdict) -> str:
    """What the kind's own rule knows of the cause."""
    return f"; {own.reason}" if own.availability is Availability.NOT_YET else ""
