"""Where a removal comes from: the file that is gone, hidden or changed, in half a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitfleet.api.annotations import Location
from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.envelopes import carried_identities
from gitfleet.api.holds import Cause, FieldPlace, Removal, RemovalKind
from gitfleet.api.objects import Identity, Manifest, Origin
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey, ResourceSelector
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.renames import Renames
from gitfleet.model.desired import Desired, Vanished
from gitfleet.model.state import FleetState
from gitfleet.model.successors import Successors
from gitfleet.removals.selected import label_edit, matches

NAMESPACE_KIND: Final = ("", "Namespace")
IGNORE_FILE: Final = ".gitfleetignore"
_NONE: Final = Renames(())


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of what a commit removes; `written` are all objects of the payload, `had` those that the placements
    have, by placement and object, and `places` the files of these. `envelopes` are the envelopes of those that an
    envelope carried, `carried` what these carry now, and `fresh` what of it no envelope carried before. `pins` are
    those in force, by placement, and `waiting` what these select beside the content that the pins keep, `selectors`
    those that each placement had."""

    desired: Desired
    written: Mapping[Identity, Manifest]
    had: Mapping[tuple[PlacementKey, Identity], Manifest]
    places: Mapping[tuple[PlacementKey, Identity], str]
    envelopes: Mapping[tuple[PlacementKey, Identity], Identity]
    carried: Mapping[Identity, frozenset[Identity]]
    fresh: Mapping[Identity, Renames]
    pins: Mapping[PlacementKey, Pin]
    waiting: Mapping[PlacementKey, frozenset[Identity]]
    selectors: Mapping[PlacementKey, tuple[ResourceSelector, ...]]

    @classmethod
    def between(cls, before: FleetState, after: FleetState, desired: Desired) -> Causes:
        """Of a commit that is read against a state and leads to another."""
        records = before.placements.items()
        latest = [(key, record.latest_resources) for key, record in records if record.latest_resources is not None]
        written = {manifest.key.identity: manifest for manifest in desired.payload}
        envelopes = {
            (key, inner): envelope
            for key, snapshot in latest
            for envelope, inside in carried_identities(snapshot.manifests or ()).items()
            for inner in inside
        }
        carried_now = carried_identities(written[one] for one in set(envelopes.values()) & written.keys())
        known = {identity for _, identity in envelopes}
        places = {(key, one.key.identity): one.path for key, snapshot in latest for one in snapshot.documents}
        pins = {
            pin.placement: pin
            for pin in desired.pins.values()
            if (record := after.placements.get(pin.placement)) is not None and record.is_pinned
        }
        content = Successors(after.placements).content
        newest = {key: content(key, after.placements[key].latest_resources) for key in pins}
        return cls(
            desired,
            written,
            had={(key, one.key.identity): one for key, snapshot in latest for one in snapshot.manifests or ()},
            places={at: places.get((at[0], envelope), "") for at, envelope in envelopes.items()} | places,
            envelopes=envelopes,
            carried=carried_now,
            fresh={envelope: Renames(now - known) for envelope, now in carried_now.items()},
            pins=pins,
            waiting={key: after.unsaid.get(key, frozenset()) - has for key, has in newest.items()},
            selectors={key: record.placement.selectors for key, record in records},
        )

    def vanished(self, removal: Removal) -> Vanished | None:
        """What became of the object, placement or cluster that is removed, where it stood in a file that changed."""
        identity = itself(removal) if self._pin_of(removal) is None else None
        if identity is None:
            return None
        found = self.desired.vanished.get(identity)
        envelope = self._envelope(removal)
        return found if found is not None or envelope is None else self._unwrapped(identity, envelope)

    def _unwrapped(self, identity: Identity, envelope: Identity) -> Vanished | None:
        """What became of an object that an envelope carried: what became of the envelope, unless that is still there
        and has lost the object."""
        manifest, now = self.written.get(envelope), self.carried.get(envelope, frozenset())
        if manifest is None:
            gone = self.desired.vanished.get(envelope)
            return replace(gone, successor=None) if gone is not None and not gone.elsewhere else gone
        if identity in now:
            return None
        successor = self.fresh.get(envelope, _NONE).misspelt(identity)
        return Vanished(path=manifest.origin.path, line=manifest.origin.line, successor=successor)

    def _envelope(self, removal: Removal) -> Identity | None:
        if removal.placement is None or removal.object is None:
            return None
        return self.envelopes.get((removal.placement, removal.object.identity))

    def is_pinned(self, removal: Removal) -> bool:
        """Whether it is a pin alone that takes an object away."""
        return self._pin_of(removal) is not None

    def _pin_of(self, removal: Removal) -> Pin | None:
        """The pin that takes an object away, as it keeps older content: its placement still selects the object. What it
        does not select any more goes without the pin, too, and is judged as if there were none."""
        key, gone = removal.placement, removal.object
        if key is None or gone is None or removal.kind is not RemovalKind.OBJECT:
            return None
        return self.pins[key] if gone.identity in self.waiting.get(key, ()) else None

    def of(self, removal: Removal) -> Cause:
        """The cause of one removal, as far as it is known."""
        if removal.kind is RemovalKind.OVERRIDDEN:
            return self._of_override(removal)
        if (pin := self._pin_of(removal)) is not None and pin.origin is not None:
            text = f"{pin.origin.path} takes {pin.placement} back to snapshot {pin.snapshot}"
            return Cause(pin.origin.path, pin.origin.line, text)
        found = self.vanished(removal)
        if found is not None:
            return _of_vanished(found)
        path = self._placed_at(removal)
        if path in self.desired.ignored:
            return _hidden(path, self.desired.ignored[path])
        if (edited := self._of_labels(removal)) is not None:
            return edited
        placement = self.desired.placements.get(removal.placement) if removal.placement is not None else None
        origin = placement.origin if placement is not None else None
        if placement is None or origin is None or removal.kind in (RemovalKind.PLACEMENT, RemovalKind.CLUSTER):
            return Cause()
        if removal.kind is RemovalKind.STRATEGY:
            return _at(origin, ("spec", "strategy"), f"{origin.path} has strategy {placement.strategy.type}")
        of_binding = removal.kind is RemovalKind.BINDING
        does = "picks other clusters" if of_binding else "selects other objects"
        if path and removal.object is not None and not self.is_written(removal):
            return Cause(path, 1, f"{path} has it no more")
        field = ("spec", "policy" if of_binding else "resourceSelectors")
        return _at(origin, field, f"{origin.path} {does}")

    def _of_labels(self, removal: Removal) -> Cause | None:
        """Where an edit of its labels, or of those of its Namespace, takes an object out of a placement's selection."""
        for then in self._selected_for(removal):
            now, selectors = self.written.get(then.key.identity), self.selectors_of(removal) or ()
            if now is not None and (found := label_edit(selectors, then, now)) is not None:
                key, edit = found
                return _at(now.origin, ("metadata", "labels", key), f"{now.key} in {now.origin.path} {edit}")
        return None

    def selected(self, removal: Removal) -> Iterator[tuple[Manifest, Manifest]]:
        """What a placement may have selected an object for and is still written, as it was and as it is now."""
        found = ((then, self.written.get(then.key.identity)) for then in self._selected_for(removal))
        return ((then, now) for then, now in found if now is not None)

    def _selected_for(self, removal: Removal) -> Iterator[Manifest]:
        """What a placement may have selected an object for, as it was: itself (its envelope), and its Namespace."""
        if removal.placement is not None and removal.object is not None:
            every = self.placed_for(removal.placement, removal.object.identity)
            yield from (then for one in every if (then := self.had.get((removal.placement, one))) is not None)

    def placed_for(self, key: PlacementKey | None, identity: Identity) -> tuple[Identity, Identity]:
        """What a placement may have selected an object for: itself (its envelope), and its Namespace."""
        itself = self.envelopes.get((key, identity), identity) if key is not None else identity
        return (itself, (*NAMESPACE_KIND, "", itself[2]))

    def selectors_of(self, removal: Removal) -> tuple[ResourceSelector, ...] | None:
        """The selectors by which a placement had the object that is removed; none where an earlier commit took them,
        and it was only kept. None where it is not known what it was."""
        known = self.selectors.get(removal.placement, ()) if removal.placement is not None else ()
        manifests = tuple(self._selected_for(removal))
        if not manifests:
            return None
        return tuple(one for one in known if any(matches(one, manifest) for manifest in manifests))

    def _of_override(self, removal: Removal) -> Cause:
        every = self.desired.overrides.values()
        override = next((one for one in every if str(one.key) == removal.override), None)
        if override is None or override.origin is None:
            return Cause()
        number = next((n for n, rule in enumerate(override.rules) if rule.override_type == "Delete"), 0)
        here = ("spec", "policy", "overrideRules", number)
        return _at(override.origin, here, f"{override.origin.path} deletes objects there")

    def is_written(self, removal: Removal) -> bool:
        """Whether the object that is removed still stands in the repo, in its envelope if it had one."""
        identity, envelope = removal.object.identity if removal.object else None, self._envelope(removal)
        return identity in self.written or (envelope is not None and identity in self.carried.get(envelope, ()))

    def of_held(self, removal: Removal) -> Cause:
        """The cause of a removal that is held already: the one that was seen when it began, which later commits do not
        show any more, unless the newest one has another."""
        held, found = removal.cause, self.of(removal)
        if held.hidden in self.desired.ignored:
            return _hidden(held.hidden, self.desired.ignored[held.hidden])
        was_ignored = held.path == IGNORE_FILE
        if was_ignored and not found.path:
            return Cause(held.hidden, 1, f"{held.hidden} has it no more")
        is_newer = was_ignored or not held.path or found.text == held.text or self.vanished(removal) is not None
        return found if is_newer else held

    def _placed_at(self, removal: Removal) -> str:
        if removal.placement is None or removal.object is None:
            return ""
        return self.places.get((removal.placement, removal.object.identity), "")


def itself(removal: Removal) -> Identity | None:
    """What is removed: an object, a placement or a cluster; None for what is neither."""
    key = removal.placement
    if removal.kind is RemovalKind.CLUSTER:
        return (CLUSTER_GROUP, "MemberCluster", "", removal.cluster)
    if removal.kind is RemovalKind.PLACEMENT and key is not None:
        return (PLACEMENT_GROUP, key.kind, key.namespace, key.name)
    return removal.object.identity if removal.object is not None else None


def _at(origin: Origin, location: Location, text: str) -> Cause:
    """A cause at an object's line, with the field whose own line is to be found."""
    field = FieldPlace(origin, location) if origin.blob else None
    return Cause(origin.path, origin.line, text, field=field)


def _of_vanished(found: Vanished) -> Cause:
    if found.ignored:
        return _hidden(found.path, found.ignored)
    if found.unbuilt:
        return Cause(found.path, found.line, found.unbuilt, hidden=found.path)
    if found.moved:
        how = "reads as a resource to be placed" if found.as_payload else "does not read"
        text = f"{found.path} is now {found.moved}, which gitfleet {how}"
        return Cause(found.path, 1, text, hidden=found.path)
    if found.successor is not None:
        group, kind, *names = found.successor
        known = group in (CLUSTER_GROUP, PLACEMENT_GROUP) or (group, kind) in BUILT_IN_KINDS
        name = "/".join(part for part in (kind if known else f"{kind}.{group}", *names) if part)
        path = found.other or found.path
        return Cause(path, found.line, f"{path} has {name} in its place")
    what = "was removed" if found.removed else "has it no more"
    return Cause(found.path, found.line, f"{found.path} {what}")


def _hidden(path: str, line: int) -> Cause:
    return Cause(IGNORE_FILE, line, f"line {line} hides {path}", hidden=path)
