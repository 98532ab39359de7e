"""Pins: placements that roll out the content of an older snapshot of theirs (decision record 0020).

pins_of    the pins of a commit by their placement
followed   what a pin keeps of its placement's record
kept_by    the snapshot that it keeps from being dropped
with_pin   the record that says so
pin_warnings   one for each pin: what it keeps, or why it counts for nothing
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from gitfleet import status
from gitfleet.api.conditions import ConditionType, Reason, Status
from gitfleet.api.faults import Fault, warning_of
from gitfleet.api.pins import PINS, Pin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.desired import Desired
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.texts import ReconcileText


@dataclass(frozen=True, slots=True)
class Followed:
    """The snapshot whose content a placement keeps; None where the pin cannot be followed, as `why` says: then nothing
    of the placement is rolled out. `pin` is None while its file may be among those that cannot be read."""

    pin: Pin | None
    snapshot: ResourceSnapshot | None = None
    why: str = ""


def pins_of(desired: Desired) -> Mapping[PlacementKey, Pin]:
    """The pins by placement."""
    return {pin.placement: pin for pin in desired.pins.values()}


def followed(record: PlacementRecord, pin: Pin | None, desired: Desired) -> Followed | None:
    """What a pin keeps of its placement; None where there is no pin, or where runs name the snapshots."""
    if record.placement.strategy.external:
        return None
    if pin is None:
        return Followed(None, record.latest_resources) if record.is_pinned and desired.refused else None
    if why := _unusable(record, pin):
        return Followed(pin, why=ReconcileText.UNTIL_THEN_NOTHING_ROLLED_OUT(why=why))
    snapshot = record.latest_resources
    if snapshot is None or snapshot.hash != pin.digest:
        snapshot = _named(record, pin)
    if snapshot is None or snapshot.manifests is None:
        why = ReconcileText.OBJECTS_SNAPSHOT_NOT_ALL_STATE(snapshot=pin.snapshot)
        return Followed(pin, why=ReconcileText.REMOVE_FILE_UNTIL_THEN_NOTHING(why=why))
    return Followed(pin, snapshot)


def kept_by(record: PlacementRecord, pin: Pin | None) -> frozenset[str]:
    """The name of the snapshot that stays as long as its pin does."""
    named = _named(record, pin) if pin is not None else None
    return frozenset((named.name,)) if named is not None else frozenset()


def with_pin(record: PlacementRecord, pinned: Followed | None, waiting: str, now: datetime) -> PlacementRecord:
    """The record with its condition: what a pin keeps and what is `waiting` for its end, or why it keeps nothing."""
    content = None
    if pinned is not None:
        pin = pinned.pin
        if pin is None:
            return record
        where = pin.origin or f"Pin {pin.name}"
        if pinned.snapshot is None:
            content = Status.FALSE, Reason.PIN_UNUSABLE, ReconcileText.CANNOT_FOLLOWED(where=where, why=pinned.why)
        else:
            newer = (
                ReconcileText.WAITS_UNTIL_FILE_REMOVED(waiting=waiting)
                if waiting
                else ReconcileText.NOTHING_NEWER_WAITS()
            )
            content = Status.TRUE, Reason.PIN_IN_FORCE, f"{where} {_keeps(pin)}; {newer}"
    return status.with_condition(record, ConditionType.PINNED, content, now)


def pin_warnings(desired: Desired, records: Mapping[PlacementKey, PlacementRecord]) -> Iterator[Fault]:
    """A warning for each pin, by what is known of its placement."""
    for pin in desired.pins.values():
        placement = desired.placements.get(pin.placement)
        if placement is None:  # said where all names are
            continue
        if placement.strategy.external:
            message = ReconcileText.COUNTS_NOTHING_RUNS_NAME_SNAPSHOTS(placement=pin.placement, snapshot=pin.snapshot)
        else:
            record = records.get(pin.placement) or PlacementRecord(placement=placement)
            newer = [s.index for s in record.resource_snapshots if s.index > pin.snapshot and s.hash != pin.digest]
            waiting = ReconcileText.SNAPSHOT_NEWER(newer=newer[-1]) if newer else "newer content"
            pinned = ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps=_keeps(pin, str(pin.placement)), waiting=waiting)
            message = _unusable(record, pin) or pinned
        yield warning_of(pin.origin, f"Pin/{pin.name}", message, PINS)


def _keeps(pin: Pin, subject: str = "it") -> str:
    return ReconcileText.KEEPS_CONTENT_SNAPSHOT(what=subject, snapshot=pin.snapshot) + (
        f" ({pin.reason})" if pin.reason else ""
    )


def _unusable(record: PlacementRecord, pin: Pin) -> str:
    """Why the placement has nothing that the pin could keep, and what to do; "" where it has."""
    named = _named(record, pin)
    if named is None:
        indexes = ", ".join(str(snapshot.index) for snapshot in record.resource_snapshots) or "none"
        return ReconcileText.NO_SNAPSHOT_NAME_ONE_THESE.coded(
            placement=pin.placement, snapshot=pin.snapshot, known=indexes
        )
    if named.hash != pin.digest:
        content = ReconcileText.SNAPSHOT_DIGEST_OTHER_CONTENT(
            snapshot=pin.snapshot, placement=pin.placement, hash=named.hash
        )
        return ReconcileText.WRITE_ONLY_IF_MEANT.coded(content=content)
    return ""


def _named(record: PlacementRecord, pin: Pin) -> ResourceSnapshot | None:
    return next((s for s in record.resource_snapshots if s.index == pin.snapshot), None)
