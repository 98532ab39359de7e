"""The pipeline: read the files, resolve duplicates, check, use last good versions, and check once more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitfleet.api.faults import Fault, LastGood, Severity, listed
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import Folder
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.api.staged import Approval
from gitfleet.desired.checks import ERRORS, NOT_PLACED, REFUSALS, WARNINGS
from gitfleet.desired.checks.commit import Commit, Refusal, Rule
from gitfleet.desired.history import History
from gitfleet.desired.reading.files import ReadObject, by_kind, faults_at, payload_identity
from gitfleet.desired.reading.folders import merged
from gitfleet.desired.reading.gathering import Gathered, gather
from gitfleet.desired.reading.paths import area_of, is_build_file
from gitfleet.desired.reading.request import DesiredRequest
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.sentences import counted
from gitfleet.model.desired import Desired

_CHECKS: Final = 2
"""An object may not fit beside the last good version of another one, so everything is checked once more."""


def read_desired(request: DesiredRequest) -> Desired:
    """Return everything that people want at the request's commit.

    Never raises on any content. An object with an error goes on as its last good version; every fault is reported once.
    """
    gathered = gather(request)
    pool = _Pool(request, History(request, gathered.layout), faults=list(gathered.faults), failed=set(gathered.failed))
    pool.resolve(gathered)
    pool.retain_unread(gathered)
    for _ in range(_CHECKS):
        commit = pool.commit()
        pool.refuse(_results(REFUSALS, commit), pool.history.last_good)
        pool.refuse(_results(NOT_PLACED, commit), lambda item: pool.history.placed.get(item.identity))
    commit = pool.commit()
    pool.report(_results(ERRORS, commit), Severity.ERROR)
    pool.report(_results(WARNINGS, commit), Severity.WARNING)
    return pool.desired(commit)


def _results(rules: Iterable[Rule], commit: Commit) -> list[Refusal]:
    return [refusal for rule in rules for refusal in rule(commit)]


@dataclass(slots=True)
class _Pool:
    """The objects in force while a commit is read. `retained` are those that go on as their last good version, with the
    paths of the files whose errors are the reason; `versions` say which documents of which blobs these are."""

    request: DesiredRequest
    history: History
    faults: list[Fault]
    objects: dict[Identity, ReadObject] = field(default_factory=dict)
    refused: set[Identity] = field(default_factory=set)
    retained: dict[Identity, set[str]] = field(default_factory=dict)
    versions: dict[str, dict[tuple[str, str], set[int]]] = field(default_factory=dict)
    failed: set[tuple[str, str]] = field(default_factory=set)
    """The Folders, by name, and the variants with an error."""
    unreadable: set[str] = field(default_factory=set)
    """The files that may hold objects which nobody can name."""

    def commit(self) -> Commit:
        """Return what the checks look at."""
        return Commit(
            self.request,
            self.history,
            dict(self.objects),
            frozenset(self.retained),
            frozenset(self.refused),
            frozenset(self.unreadable),
            frozenset(self.failed),
        )

    def resolve(self, gathered: Gathered) -> None:
        """Take every object once: of several with one identity an approval that answers, or the one that stands."""
        commit, several = self.commit(), dict[Identity, list[ReadObject]]()
        for _, reading in gathered.readings:
            for item in reading.objects:
                several.setdefault(_object_of(item), []).append(item)
        doubles: list[Refusal] = []

        def rank(item: ReadObject) -> tuple[bool, Any]:
            is_undecided = isinstance(item.value, Approval) and not item.value.conditions
            return is_undecided, commit.standing(item)

        for items in several.values():
            first, *rivals = sorted(items, key=rank) if len(items) > 1 else items
            self.objects[first.identity] = first
            for item in rivals:
                if _are_variants(first, item) and item.identity not in self.objects:
                    self.objects[item.identity] = item
                else:
                    doubles.append((item, ((), DesiredText.DEFINED_SECOND_TIME(origin=first.origin))))
        self.report(doubles, Severity.ERROR)
        self._refuse_folders(item.origin.path for item, _ in doubles)

    def retain_unread(self, gathered: Gathered) -> None:
        """Retain the objects with errors of their own, and those of files that cannot be read."""
        self.refuse(gathered.layout.refused, self.history.last_good)  # before its files retain it, which says nothing
        for path, reading in gathered.readings:
            self.faults += reading.faults
            for item in reading.faulty:
                self.refused.add(item.identity)
                self._retain(self.history.version(item.identity, path) or self._former(item), path)
            if reading.unreadable:
                self.unreadable.add(path)
                self._retain_file(path, path)
        with_errors = (path for path, reading in gathered.readings if reading.faulty or reading.unreadable)
        self._refuse_folders(with_errors)
        for path in gathered.closed:
            self.unreadable.add(path)
            self._retain_file(path, area_of(path))
        for folder, _ in gathered.layout.refused:
            for item in list(self.history.of_folder(folder.identity[3])):
                self._retain(item, folder.origin.path)

    def refuse(self, refusals: Iterable[Refusal], version: Callable[[ReadObject], ReadObject | None]) -> None:
        """Report what is wrong with objects, and put a last good version in the place of each. An object that is
        retained already goes on, whatever changed around it."""
        refusals = [(item, note) for item, note in refusals if item.identity not in self.retained]
        self.report(refusals, Severity.ERROR)
        items = {item.identity: item for item, _ in refusals}
        for identity, item in items.items():
            self.objects.pop(identity, None)
            self.refused.add(identity)
            self.failed |= set(_places(item))
        for item in items.values():
            if not (isinstance(item.value, FleetConfig) and self._has_config()):  # a fleet has one
                self._retain(version(item) or self._former(item), item.origin.path)
        self._refuse_folders(item.origin.path for item in items.values())

    def report(self, refusals: Iterable[Refusal], severity: Severity) -> None:
        """Add the faults about objects that are not retained."""
        notes = [(item, note) for item, note in refusals if item.identity not in self.retained]
        self.faults += faults_at(notes, self.request.contents, severity)

    def _refuse_folders(self, paths: Iterable[str]) -> None:
        """Refuse built folders with an error as a whole: a part of a release may be worse than nothing (a
        ServiceAccount without its role)."""
        for path in sorted(set(filter(is_build_file, paths))):
            sound = [
                identity
                for identity, item in self.objects.items()
                if item.origin.path == path and identity not in self.retained
            ]
            for identity in sound:
                self.refused.add(identity)
                self.failed |= set(_places(self.objects.pop(identity)))
            for identity in sound:
                self._retain(self.history.version(identity, path), path)
            if sound:
                message = DesiredText.FOLDER_PLACED_WHOLE(count=counted(len(sound), "object"))
                self.faults.append(Fault(path, 1, "", "", message, Severity.WARNING))
            self._retain_file(path, path)

    def _retain_file(self, path: str, area: str) -> None:
        for item in list(self.history.of_path(path, area)):
            self._retain(item, path)
            if isinstance(item.value, Folder) and item.origin.path == path:
                for governed in list(self.history.of_folder(item.value.name)):
                    self._retain(governed, path)

    def _former(self, item: ReadObject) -> ReadObject | None:
        """The placement that a refused one was to take over, unless another new one takes it over."""
        former, accepted = self.history.former(item), self.request.accepted.placements
        if former is None:
            return None
        placements = [item.value for item in self.objects.values() if isinstance(item.value, Placement)]
        taken = {placement.renamed_from for placement in placements if placement.key not in accepted}
        return None if PlacementKey(*former.identity[2:]) in taken else former

    def _retain(self, item: ReadObject | None, path: str) -> None:
        """Let a last good version go on because of the file at a path, unless the commit has the object. Note which
        version it is for the next commits."""
        if item is None:
            return
        if self.objects.setdefault(item.identity, item) is not item and item.identity not in self.retained:
            return
        if _places(item) and _object_of(item) not in self.retained:
            self.objects.pop(_object_of(item), None)  # a file that seems to be nobody's, while its Folder has an error
        self.retained.setdefault(item.identity, set()).add(path)
        # What was accepted does not name its file: the version that the files had is noted for it.
        origin = (item if item.origin.blob else self.history.previous(item.identity) or item).origin
        if origin.blob:
            source = (origin.blob, "" if origin.path == path else origin.path)
            self.versions.setdefault(path, {}).setdefault(source, set()).add(origin.document)

    def _has_config(self) -> bool:
        return any(isinstance(item.value, FleetConfig) for item in self.objects.values())

    def desired(self, commit: Commit) -> Desired:
        """Return the result."""
        objects, manifests = by_kind(commit.objects[identity] for identity in sorted(commit.objects))
        absent = self.failed - commit.variants  # never without an error: their clusters go on as before
        for name, folder in objects.get("folders", {}).items():
            variants = (variant for variant in folder.variants if (name, variant.name) not in absent)
            objects["folders"][name] = replace(folder, variants=tuple(variants))
        retained = sorted((identity, tuple(sorted(paths))) for identity, paths in self.retained.items())
        return Desired(
            commit=self.request.commit,
            objects=objects,
            payload=tuple(sorted(merged(manifests), key=lambda manifest: manifest.origin)),
            namespaced=dict(sorted(commit.scopes.items())),
            faults=listed(self.faults),
            last_good={
                path: tuple(
                    LastGood(blob, tuple(sorted(documents)), origin)
                    for (blob, origin), documents in sorted(versions.items())
                )
                for path, versions in sorted(self.versions.items())
            },
            retained={
                PlacementKey(namespace, name): paths
                for (group, kind, namespace, name), paths in retained
                if group == PLACEMENT_GROUP and kind in ("ClusterResourcePlacement", "ResourcePlacement")
            },
            sources={folder: built.sources for folder, built in self.request.built.items() if built.sources},
            blobs=frozenset(source.blob for source in self.request.files.values()),
        )


def _object_of(item: ReadObject) -> Identity:
    """What must not be defined twice: variants of a Folder have an object in common."""
    if isinstance(item.value, Manifest) and item.value.variants:
        return payload_identity(item.value.key.identity)
    return item.identity


def _are_variants(first: ReadObject, second: ReadObject) -> bool:
    folders = {folder for item in (first, second) for folder, _ in _places(item)}
    return all(map(_places, (first, second))) and len(folders) == 1


def _places(item: ReadObject) -> list[tuple[str, str]]:
    """The variants, each with its Folder, to which an object belongs."""
    manifest = item.value
    return [(manifest.folder, v) for v in manifest.variants] if isinstance(manifest, Manifest) else []
