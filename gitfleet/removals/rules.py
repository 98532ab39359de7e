"""The removal rules (docs/removal.md): those judged once, when an orphan appears, and those of each decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gitfleet.api.faults import Fault, is_error
from gitfleet.api.fleet import RemovalApproval, RemovalSettings
from gitfleet.api.holds import ALLOW_EMPTY, HoldRule, Removal, RemovalKind
from gitfleet.api.kinds import PAYLOAD_FOLDER, watched_kinds
from gitfleet.api.objects import Identity
from gitfleet.api.placements import REMOVALS, PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals.orphans import Orphan, OrphanKind
from gitfleet.removals.texts import RemovalsText

_DECISIVE: Final = ("FleetConfig", "MemberCluster")
_SIDE_KINDS: Final = tuple(
    kind for kind in watched_kinds() if kind.name not in _DECISIVE and kind.folder not in ("placements", "overrides")
)
"""Kinds whose errors, as of a run or an approval, say nothing of what is to go."""
_SIDE_NAMES: Final = frozenset(kind.name for kind in _SIDE_KINDS)
_SIDE_FOLDERS: Final = frozenset(kind.folder for kind in _SIDE_KINDS)


@dataclass(frozen=True)
class Settings:
    """When a removal needs an approval: the stricter of what holds before a commit and in it."""

    before: FleetState
    desired: Desired

    @cached_property
    def fleet(self) -> RemovalSettings:
        """The fleet's settings."""
        return self.before.removal_settings.stricter(self.desired.config.removals)

    def approval(self, placement: PlacementKey | None) -> RemovalApproval:
        """Of the removals of a placement; None: of a cluster that leaves."""
        if placement is None:
            return self.fleet.approval
        old, new = self._annotations(placement)
        return _of(old, self.before.removal_settings).stricter(_of(new, self.desired.config.removals))

    def _annotations(self, placement: PlacementKey) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Those before a commit and in it; of a placement that it has no more, as they were."""
        record, written = self.before.placements.get(placement), self.desired.placements.get(placement)
        old = record.placement.annotations if record is not None else {}
        return old, written.annotations if written is not None else old

    def guards(self, placement: PlacementKey | None) -> bool:
        """Whether the rules hold removals of a placement."""
        return self.approval(placement) is not RemovalApproval.NEVER

    def may_be_empty(self, removal: Removal) -> bool:
        """Whether the placement of a removal, or its cluster, may be emptied without asking."""
        if removal.placement is None:
            cluster = self.before.clusters.get(removal.cluster)
            return cluster is not None and _allows_empty(cluster.annotations)
        return all(map(_allows_empty, self._annotations(removal.placement)))


def _allows_empty(annotations: Mapping[str, str]) -> bool:
    return annotations.get(ALLOW_EMPTY) == "true"


def _of(annotations: Mapping[str, str], settings: RemovalSettings) -> RemovalApproval:
    own = annotations.get(REMOVALS)
    approval = RemovalApproval(own) if own in ("Always", "Never") else settings.approval
    return RemovalApproval.ALWAYS if settings.approval is RemovalApproval.ALWAYS else approval


@dataclass(frozen=True)
class Counts:
    """What placements own, and what of it goes that nobody approved. An object counts once per placement, however many
    clusters have it."""

    state: FleetState
    settings: RemovalSettings
    going: Collection[Orphan]

    @cached_property
    def _owned(self) -> tuple[Counter[PlacementKey], Counter[PlacementKey]]:
        inventory = self.state.inventory.items()
        objects = {(entry.placement, key.identity) for _, owned in inventory for key, entry in owned.items()}
        clusters = {(entry.placement, name) for name, owned in inventory for entry in owned.values()}
        return _per_placement(objects), _per_placement(clusters)

    @cached_property
    def _going(self) -> tuple[Counter[PlacementKey], Counter[PlacementKey]]:
        objects = {(o.placement, o.key.identity) for o in self.going if o.kind is OrphanKind.DROPPED}
        bindings = (OrphanKind.WITHDRAWN, OrphanKind.LEAVING)
        clusters = {(o.placement, o.cluster) for o in self.going if o.kind in bindings}
        return _per_placement(objects), _per_placement(clusters)

    def too_much(self, removal: Removal) -> str:
        """Why a removal is one of too many of its placement or the fleet; "" where it is not."""
        index = 0 if removal.kind is RemovalKind.OBJECT else 1
        least = (self.settings.min_objects, self.settings.min_clusters)[index]
        owned, going, percent = self._owned[index], self._going[index], self.settings.max_percent

        def exceeded(part: int, whole: int) -> bool:
            return whole >= least and part * 100 > whole * percent

        entries = self.state.inventory.get(removal.cluster, {}).values()
        keys = [removal.placement] if removal.placement is not None else sorted({e.placement for e in entries})
        for key in keys:
            if exceeded(going[key], owned[key]):
                text = (RemovalsText.MOST_OF_PLACEMENT_OBJECTS, RemovalsText.MOST_OF_PLACEMENT_BINDINGS)[index]
                return text(placement=key, part=going[key], whole=owned[key], percent=percent)
        part, whole = going.total(), owned.total()
        if exceeded(part, whole):
            text = (RemovalsText.MOST_OF_FLEET_OBJECTS, RemovalsText.MOST_OF_FLEET_BINDINGS)[index]
            return text(part=part, whole=whole, percent=percent)
        return ""


def _per_placement(pairs: Iterable[tuple[PlacementKey, object]]) -> Counter[PlacementKey]:
    return Counter(placement for placement, _ in pairs)


def judged_once(removal: Removal, settings: Settings, counts: Counts, state: FleetState) -> Iterator[HoldRule]:
    """The rules that hold a new removal for good."""
    approval, key = settings.approval(removal.placement), removal.placement
    if approval is RemovalApproval.NEVER:
        return
    empties = key is None or not state.wanted.wants_anything(key)
    if empties and not settings.may_be_empty(removal):
        yield HoldRule.EMPTIED
    if counts.too_much(removal):
        yield HoldRule.MASS_REMOVAL
    if removal.object is not None and settings.fleet.protects(removal.object.group_kind):
        yield HoldRule.PROTECTED_KIND
    if approval is RemovalApproval.ALWAYS:
        yield HoldRule.APPROVAL_REQUIRED


@dataclass(frozen=True, slots=True)
class CommitErrors:
    """The errors of a commit that may hide that something is still wanted: one that concerns the whole fleet, and by
    namespace those of namespaced objects."""

    everywhere: Fault | None
    namespaces: Mapping[str, Fault]

    @classmethod
    def of(cls, faults: Iterable[Fault], state: FleetState) -> CommitErrors:
        """Those among some faults. The namespaces of a file are also those of what it had by the snapshots."""
        everywhere, namespaces, files = list[Fault](), dict[str, Fault](), dict[str, Fault]()
        for fault in faults:
            if not is_error(fault) or _is_beside(fault):
                continue
            parts = fault.object.split("/")
            if len(parts) == 3:
                namespaces.setdefault(parts[1], fault)
                files.setdefault(fault.path, fault)
            else:
                everywhere.append(fault)
        records = state.placements.values() if files else ()
        for record in records:
            for snapshot in record.resource_snapshots:
                for document in snapshot.documents:
                    if document.path in files:
                        namespaces.setdefault(document.key.namespace, files[document.path])
        return cls(next(iter(everywhere), None), namespaces)

    def about(self, orphan: Orphan) -> Fault | None:
        """The error for which an object waits."""
        if self.everywhere is not None:
            return self.everywhere
        group, kind, namespace, name = orphan.key.identity
        own = name if (group, kind) == ("", "Namespace") else namespace
        return self.namespaces.get(own) or self.namespaces.get(orphan.placement.namespace or own)


def _is_beside(fault: Fault) -> bool:
    """Whether an error says nothing of what is to go: by its object, or where that cannot be read, by its folder."""
    folder, slash, _ = fault.path.partition("/")
    if not slash or folder == PAYLOAD_FOLDER:
        return False
    return fault.object.partition("/")[0] in _SIDE_NAMES if fault.object else folder in _SIDE_FOLDERS


@dataclass(frozen=True, slots=True)
class Repo:
    """What is in the tree of a commit: objects, and the blobs of its files."""

    objects: Collection[Identity]
    blobs: Collection[str]

    def has(self, removal: Removal) -> bool:
        """Whether an object, or the file that it was read from, is still there."""
        is_written = removal.object is not None and removal.object.identity in self.objects
        return is_written or (removal.blob != "" and removal.blob in self.blobs)
