"""Vectors of availability: a live object, its verdict, and what a binding's Available condition then says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.api.conditions import find_condition
from gitfleet.api.objects import key_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Keep
from gitfleet.model.works import Work
from gitfleet.observe import ClusterSeen, availability_of, observe_binding
from tests.conformance.documents import GENERATION, NOW, PLACEMENT, binding_of, difference, manifest_of, named

CONDITIONS = {
    "available": ("True", "AllWorkAreAvailable"),
    "not-yet-available": ("False", "NotAllWorkAreAvailable"),
    "not-trackable": ("True", "WorkNotTrackable"),
}
"""Status and reason of Available by verdict (docs/reference/kubefleet.md, Work conditions and Binding conditions)."""


def run_availability(case: dict[str, Any]) -> str | None:
    """One live object, found as it was applied; its plural resource name is implied by its kind."""
    body, expected = case["in"]["object"], case["out"]["result"]
    verdict = availability_of(body)
    if verdict.availability.value != expected:
        return f"expected {expected}, got {verdict.availability.value}: {verdict.reason}"
    wanted = manifest_of(named(body))
    found = LiveObject(key_of(wanted.body), wanted.body)
    keep = Keep(cluster="c", placement=PLACEMENT, key=wanted.key, reason="", live=found, manifest=wanted)
    work = Work(placement=PLACEMENT, cluster="c", generation=GENERATION, snapshot="p-0-snapshot", manifests=(wanted,))
    binding = observe_binding(
        binding_of({"snapshot": "p-0-snapshot"}, policy="p-0"), ClusterSeen(work=work, operations=(keep,)), NOW
    )
    reported = find_condition(binding.conditions, "Available", generation=GENERATION)
    if reported is None:
        return "the binding has no Available condition"
    if expected != "available" and verdict.reason not in reported.message:
        return f"the message {reported.message!r} does not say that {verdict.reason}"
    return difference(CONDITIONS[expected], (reported.status.value, reported.reason))


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {"availability": run_availability}
