"""Bases of kustomize that nobody builds on any more: built by themselves, they may have errors that nobody made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gitfleet.api.faults import Fault, Severity
from gitfleet.desired.paths import IGNORE_FILE, area_of, is_kustomization
from gitfleet.desired.readings import FileReading
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.request import DesiredRequest
from gitfleet.formats.sentences import more_than_first


def unused_bases(
    request: DesiredRequest, recovery: Recovery, readings: Mapping[str, FileReading]
) -> Iterator[tuple[str, FileReading]]:
    """The kustomizations with errors of which no file changed, without an error until now and nothing of them in force:
    a commit took away what built on them. Each with a warning in the place of its errors, and no objects."""
    changed = request.changed
    faulty = [(path, one) for path, one in readings.items() if is_kustomization(path) and one.faulty]
    if not faulty or changed is None or IGNORE_FILE in changed or request.accepted.observed_commit is None:
        return
    refused = {fault.path for fault in request.accepted.faults if fault.severity is Severity.ERROR}
    in_force = {item.origin.path for item in recovery.placed().values()} | request.held.keys()
    kept = refused | in_force
    for path, reading in faulty:
        sources = request.built[area_of(path)].sources
        if reading.unreadable or path in kept or not set(sources).isdisjoint(changed):
            continue
        first = reading.faults[0]
        message = "yields what cannot be placed, and no other kustomization builds on it; remove it, or correct "
        message += f"{first.object}: {first.field} {first.message}{more_than_first(reading.faulty)}"
        warning = Fault(path, 1, "", "", message, Severity.WARNING)
        yield path, replace(reading, faults=(warning,), faulty=(), objects=())
