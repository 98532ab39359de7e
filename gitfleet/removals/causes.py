"""Where a removal comes from: the file that is gone, hidden or changed, in half a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.api.annotations import Location
from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.envelopes import carried
from gitfleet.api.holds import Cause, FieldPlace, Removal, RemovalKind
from gitfleet.api.objects import Identity, Manifest, ObjectKey, Origin
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.desired import Desired, Vanished
from gitfleet.model.state import FleetState
from gitfleet.removals.selected import label_edit

NAMESPACE_KIND: Final = ("", "Namespace")
IGNORE_FILE: Final = ".gitfleetignore"


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of what a commit removes; `written` are all objects of the payload, `had` those that the placements
    have, by placement and object, and `places` the files of these."""

    desired: Desired
    written: Mapping[Identity, Manifest]
    had: Mapping[tuple[PlacementKey, Identity], Manifest]
    places: Mapping[tuple[PlacementKey, Identity], str]

    @classmethod
    def between(cls, before: FleetState, desired: Desired) -> Causes:
        """Of a commit that is read against a state."""
        records = before.placements.items()
        latest = [(key, record.latest_resources) for key, record in records if record.latest_resources is not None]
        return cls(
            desired,
            written={manifest.key.identity: manifest for manifest in desired.payload},
            had={(key, one.key.identity): one for key, snapshot in latest for one in snapshot.manifests or ()},
            places={(key, i): path for key, snapshot in latest for i, path in _paths(snapshot).items()},
        )

    def vanished(self, removal: Removal) -> Vanished | None:
        """What became of the object, placement or cluster that is removed, where it stood in a file that changed."""
        key = removal.placement
        if removal.kind is RemovalKind.CLUSTER:
            identity = (CLUSTER_GROUP, "MemberCluster", "", removal.cluster)
        elif removal.kind is RemovalKind.PLACEMENT and key is not None:
            identity = (PLACEMENT_GROUP, key.kind, key.namespace, key.name)
        elif removal.object is not None:
            identity = removal.object.identity
        else:
            return None
        return self.desired.vanished.get(identity)

    def of(self, removal: Removal) -> Cause:
        """The cause of one removal, as far as it is known."""
        if removal.kind is RemovalKind.OVERRIDDEN:
            return self._of_override(removal)
        found = self.vanished(removal)
        if found is not None:
            return _of_vanished(found)
        path = self._placed_at(removal)
        if path in self.desired.ignored:
            return _hidden(path, self.desired.ignored[path])
        placement = self.desired.placements.get(removal.placement) if removal.placement is not None else None
        origin = placement.origin if placement is not None else None
        if placement is None or origin is None or removal.kind in (RemovalKind.PLACEMENT, RemovalKind.CLUSTER):
            return Cause()
        if removal.object is not None and (edited := self._of_labels(placement, removal.object)) is not None:
            return edited
        of_binding = removal.kind is RemovalKind.BINDING
        does = "picks other clusters" if of_binding else "selects other objects"
        if path and removal.object is not None and not self.is_written(removal):
            return Cause(path, 1, f"{path} has it no more")
        field = ("spec", "policy" if of_binding else "resourceSelectors")
        return _at(origin, field, f"{origin.path} {does}")

    def _of_labels(self, placement: Placement, key: ObjectKey) -> Cause | None:
        """Where an edit of its labels, or of those of its Namespace, takes an object out of a placement's selection."""
        for identity in (key.identity, (*NAMESPACE_KIND, "", key.namespace)):
            then, now = self.had.get((placement.key, identity)), self.written.get(identity)
            found = label_edit(placement.selectors, then, now) if then is not None and now is not None else None
            if now is not None and found is not None:
                key_, edit = found
                here = ("metadata", "labels", key_)
                return _at(now.origin, here, f"{now.key} in {now.origin.path} {edit}")
        return None

    def _of_override(self, removal: Removal) -> Cause:
        every = self.desired.overrides.values()
        override = next((one for one in every if str(one.key) == removal.override), None)
        if override is None or override.origin is None:
            return Cause()
        number = next((n for n, rule in enumerate(override.rules) if rule.override_type == "Delete"), 0)
        here = ("spec", "policy", "overrideRules", number)
        return _at(override.origin, here, f"{override.origin.path} deletes objects there")

    def is_written(self, removal: Removal) -> bool:
        """Whether the object that is removed still stands in the repo."""
        return removal.object is not None and removal.object.identity in self.written

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


def _at(origin: Origin, location: Location, text: str) -> Cause:
    """A cause at an object's line, with the field whose own line is to be found."""
    field = FieldPlace(origin, location) if origin.blob else None
    return Cause(origin.path, origin.line, text, field=field)


def _paths(snapshot: ResourceSnapshot) -> dict[Identity, str]:
    """The files of a snapshot's objects; what an envelope carries stands in the envelope's file."""
    paths = {document.key.identity: document.path for document in snapshot.documents}
    inside = carried(snapshot.manifests or ())
    within = {inner.identity: paths.get(envelope.identity, "") for envelope, f in inside.items() for inner in f or ()}
    return {**within, **paths}


def _of_vanished(found: Vanished) -> Cause:
    if found.ignored:
        return _hidden(found.path, found.ignored)
    if found.moved:
        how = "reads as a resource to be placed" if found.as_payload else "does not read"
        text = f"{found.path} is now {found.moved}, which gitfleet {how}"
        return Cause(found.path, 1, text, hidden=found.path)
    if found.successor is not None:
        name = "/".join(part for part in found.successor[1:] if part)
        return Cause(found.path, found.line, f"{found.path} has {name} in its place")
    what = "was removed" if found.removed else "has it no more"
    return Cause(found.path, found.line, f"{found.path} {what}")


def _hidden(path: str, line: int) -> Cause:
    return Cause(IGNORE_FILE, line, f"line {line} hides {path}", hidden=path)
