"""Availability of custom kinds by what they say of themselves (decision D3; kstatus, cli-utils pkg/kstatus/status)."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.model.observations import Verdict
from gitfleet.observe.fields import (
    AVAILABLE,
    cause_text,
    conditions_of,
    generation_of,
    integer,
    is_true,
    not_yet,
    section,
    untracked,
)
from gitfleet.observe.texts import ObserveText

_OWN_KINDS = ("Ready", "Reconciling", "Stalled")


def custom_availability(body: JsonObject) -> Verdict:
    """By Ready at the current generation, Reconciling and Stalled; not trackable when it has none of the three."""
    status, generation = section(body, "status"), generation_of(body)
    conditions = conditions_of(body)
    if not any(type_ in conditions for type_ in _OWN_KINDS):
        return untracked(ObserveText.NO_READY_CONDITION())
    if generation and "observedGeneration" in status and integer(status, "observedGeneration") != generation:
        return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
    for type_ in ("Stalled", "Reconciling"):
        condition = conditions.get(type_)
        if condition is not None and is_true(condition):
            return not_yet(f"it is {type_}: {cause_text(condition)}")
    ready = conditions.get("Ready")
    if ready is None:
        return AVAILABLE
    if generation and "observedGeneration" in ready and integer(ready, "observedGeneration") != generation:
        return not_yet(ObserveText.READY_CONDITION_OLDER_GENERATION())
    return AVAILABLE if is_true(ready) else not_yet(ObserveText.NOT_READY(cause_text=cause_text(ready)))


def reports_generation(body: JsonObject) -> bool:
    """Whether an object says for which generation its conditions hold; if not, they may be older than its spec."""
    ready = conditions_of(body).get("Ready") or {}
    return "observedGeneration" in section(body, "status") or "observedGeneration" in ready
