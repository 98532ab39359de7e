"""Where a removal comes from: the file that is gone, hidden or changed, in half a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.envelopes import carried
from gitfleet.api.holds import HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity, Origin
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.desired import Desired, Vanished
from gitfleet.model.state import FleetState

IGNORE_FILE: Final = ".gitfleetignore"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """A place in the repo ("" where none is known) and what happened there; `hidden_by` says what hides a file that is
    still there ("" where nothing does)."""

    path: str = ""
    line: int = 1
    text: str = ""
    hidden_by: str = ""


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of what a commit removes; `written` are all objects of the payload, `places` the files of those that
    the placements have, by placement and object."""

    desired: Desired
    written: frozenset[Identity]
    places: Mapping[tuple[PlacementKey, Identity], str]

    @classmethod
    def between(cls, before: FleetState, desired: Desired) -> Causes:
        """Of a commit that is read against a state."""
        latest = ((key, record.latest_resources) for key, record in before.placements.items())
        places = {
            (key, identity): path
            for key, snapshot in latest
            if snapshot is not None
            for identity, path in _paths(snapshot).items()
        }
        return cls(desired, frozenset(manifest.key.identity for manifest in desired.payload), places)

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
        origin = self._placement_origin(removal.placement)
        if origin is None or removal.kind in (RemovalKind.PLACEMENT, RemovalKind.CLUSTER):
            return Cause()
        does = "picks other clusters" if removal.kind is RemovalKind.BINDING else "selects other objects"
        if path and removal.object is not None and not self.is_written(removal):
            return Cause(path, 1, f"{path} has it no more")
        return Cause(origin.path, origin.line, f"{origin.path} {does}")

    def _of_override(self, removal: Removal) -> Cause:
        every = self.desired.overrides.values()
        origin = next((one.origin for one in every if str(one.key) == removal.override), None)
        return Cause(origin.path, origin.line, f"{origin.path} deletes objects there") if origin else Cause()

    def is_written(self, removal: Removal) -> bool:
        """Whether the object that is removed still stands in the repo."""
        return removal.object is not None and removal.object.identity in self.written

    def explained(self, rule: HoldRule, message: str, removals: Iterable[Removal]) -> HoldReason:
        """A reason with the causes of its removals: the first one's place, and what happened to all of them."""
        causes = [cause for cause in map(self.of, removals) if cause.path]
        texts = list(dict.fromkeys(cause.text for cause in causes))
        because = f": {named_briefly(texts, _MOST_NAMED)}" if texts else ""
        first = causes[0] if causes else Cause()
        line = first.line if first.path else 0
        return HoldReason(rule=rule, message=f"{message}{because}", path=first.path, line=line)

    def _placed_at(self, removal: Removal) -> str:
        if removal.placement is None or removal.object is None:
            return ""
        return self.places.get((removal.placement, removal.object.identity), "")

    def _placement_origin(self, key: PlacementKey | None) -> Origin | None:
        placement = self.desired.placements.get(key) if key is not None else None
        return placement.origin if placement is not None else None


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
        text = f"{found.path} is now {found.moved}, which gitfleet does not read"
        return Cause(found.path, 1, text, hidden_by="a rename")
    if found.successor is not None:
        name = "/".join(part for part in found.successor[1:] if part)
        return Cause(found.path, found.line, f"{found.path} has {name} in its place")
    what = "was removed" if found.removed else "has it no more"
    return Cause(found.path, found.line, f"{found.path} {what}")


def _hidden(path: str, line: int) -> Cause:
    return Cause(IGNORE_FILE, line, f"line {line} hides {path}", hidden_by="an ignore rule")
