"""The files of a commit, each read or refused: links, submodules, sizes, ignored paths, built folders.

The result still has every object of every file; what is there twice or does not fit together is for `tree` to find.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from gitfleet.api.definitions import scopes_in
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.desired.reading.files import FileReading, is_gitfleets
from gitfleet.desired.reading.folders import NOBODY, FolderLayout, Owner, layout_of
from gitfleet.desired.reading.governing import Governing, made_namespaces
from gitfleet.desired.reading.ignore_rules import IgnoreRules, read_ignore
from gitfleet.desired.reading.paths import (
    IGNORE_FILE,
    file_of_build,
    folders_of,
    is_folder_file,
    is_manifest_path,
    is_ours,
    is_payload_path,
    read_one_by_one,
    wanted_paths,
)
from gitfleet.desired.reading.request import ABSENT, SUBMODULE, SYMLINK, DesiredRequest, SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.limits import MAX_FILE_BYTES, MAX_FILES
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import ParsedFile

_MOST_NAMED: Final = 3


@dataclass(slots=True)
class Gathered:
    """Readings with their paths, in path order; faults of whole entries; and the entries that hide what was below them.

    `closed` are paths that became unreadable as a whole: the path itself, or, for a link, all that was below. `failed`
    are the Folders, by name, and the variants of which something could not be read.
    """

    layout: FolderLayout = field(default_factory=FolderLayout)
    readings: list[tuple[str, FileReading]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    failed: set[tuple[str, str]] = field(default_factory=set)

    def fault(self, path: str, message: str, severity: Severity = Severity.ERROR) -> None:
        """Note what is wrong with a whole entry."""
        self.faults.append(Fault(path, 1, "", "", message, severity))

    def close(self, path: str, message: str) -> None:
        """Note an entry that is unreadable as a whole."""
        self.fault(path, message)
        self.closed.append(path)


_Unit: TypeAlias = tuple[str, SourceFile, Owner]
"""The path of a file or an output, and the Folder as which it is read."""


def gather(request: DesiredRequest) -> Gathered:
    """Read every wanted entry of the request's files."""
    gathered = Gathered()
    rules = _ignore_rules(request, gathered)
    paths = sorted(wanted_paths(request.files, rules))
    layout = gathered.layout = layout_of(paths, request.files, request.contents)
    one_by_one = frozenset(read_one_by_one(paths, layout.variants)).union(filter(is_folder_file, paths))
    units: list[_Unit] = []
    read_by_variants = {path for directory in layout.variants for path in request.built.get(directory, ABSENT).sources}
    read = 0
    for path in paths:
        source = request.files[path]
        if source.mode in (SYMLINK, SUBMODULE):
            _note_unfollowed(path, source, gathered)
            continue
        if not is_manifest_path(path) or path not in one_by_one:
            continue
        owners = (NOBODY,) if is_folder_file(path) else layout.owners(path)
        if path in read_by_variants and owners == (NOBODY,) and not _is_gitfleets(path, source, request):
            continue
        read += 1
        if read > MAX_FILES:
            message = DesiredText.COMMIT_MORE_FILES_READ(max_files=MAX_FILES, ignore_file=IGNORE_FILE)
            gathered.fault(path, message)
            gathered.closed += [later for later in paths if later >= path and is_manifest_path(later)]
            break
        for owner in owners:
            reading = _reading(path, source, request, gathered)
            if reading is None:
                gathered.failed.add(owner.place)
            elif owner == NOBODY:
                gathered.readings.append((path, reading))
            else:
                units.append((path, source, owner))
    units += _built(request, gathered)
    _read_governed(units, request, gathered)
    unusable = (directory for directory, folder in layout.folders.items() if folder is None)
    gathered.closed += [f"{directory}/{FOLDER_FILE}" for directory in unusable]
    gathered.readings.sort(key=lambda reading: reading[0])
    _warn_of_unread(paths, request, gathered)
    return gathered


def _is_gitfleets(path: str, source: SourceFile, request: DesiredRequest) -> bool:
    """Whether a file is gitfleet's own even where a build reads it."""
    if is_payload_path(path):
        return is_folder_file(path)
    return is_gitfleets(path, source.read(path, request.contents) or FileReading())


def _ignore_rules(request: DesiredRequest, gathered: Gathered) -> IgnoreRules:
    source = request.files.get(IGNORE_FILE)
    if source is None:
        return IgnoreRules()
    if source.mode in (SYMLINK, SUBMODULE) or (source.size or 0) > MAX_FILE_BYTES:
        message = DesiredText.NO_FILE_MOST_BYTES(max_file_bytes=MAX_FILE_BYTES)
        gathered.fault(IGNORE_FILE, message)
        return IgnoreRules()
    rules = read_ignore(request.contents(source.blob))
    gathered.faults += [Fault(IGNORE_FILE, line, "", "", message) for line, message in rules.faults]
    return rules


def _note_unfollowed(path: str, source: SourceFile, gathered: Gathered) -> None:
    """Only a warning where nothing of ours is expected behind the entry."""
    entry = "symbolic link" if source.mode == SYMLINK else "submodule"
    message = DesiredText.NEVER_FOLLOWED_PUT_FILES_THEMSELVES(what=entry, ignore_file=IGNORE_FILE)
    if is_ours(path) or is_manifest_path(path):
        gathered.close(path, message)
    else:
        gathered.fault(path, message, Severity.WARNING)


def _reading(path: str, source: SourceFile, request: DesiredRequest, gathered: Gathered) -> FileReading | None:
    """The file typed; one that cannot be read is closed."""
    if source.size is not None and source.size > MAX_FILE_BYTES:
        gathered.close(path, FormatsText.BYTES_MORE_READ(count=source.size, limit=MAX_FILE_BYTES))
        return None
    reading = source.read(path, request.contents)
    if reading is None:
        gathered.close(path, source.why or DesiredText.COULD_NOT_READ(ignore_file=IGNORE_FILE))
    return reading


def _built(request: DesiredRequest, gathered: Gathered) -> Iterator[_Unit]:
    """What was built stands for all files below its folder; without it, nothing there is touched."""
    folders, layout = gathered.layout.built, gathered.layout
    for folder in sorted(folders):
        path, built = file_of_build(folder, folders[folder]), request.built.get(folder, ABSENT)
        owners = layout.owners(folder)
        if built.parsed is not None:
            yield from ((path, built, owner) for owner in owners)
        elif owners:
            gathered.close(path, built.why or DesiredText.FOLDER_NOT_BUILT(ignore_file=IGNORE_FILE))
            gathered.failed |= {owner.place for owner in owners}


def _read_governed(units: list[_Unit], request: DesiredRequest, gathered: Gathered) -> None:
    """Read files as their Folders have them, and what was built."""
    scopes = _declared_scopes(units, gathered) if units else {}
    governing = Governing(scopes, request.contents, before=dict(request.governed))
    for path, source, owner in units:
        reading = governing.reading(path, source, owner)
        gathered.readings.append((path, reading))
        if reading.unreadable or reading.faulty:
            gathered.failed.add(owner.place)
    request.governed.clear()
    request.governed.update(governing.read_now)
    values = [item.value for _, reading in gathered.readings for item in reading.objects]
    made = tuple(made_namespaces(gathered.layout, values))
    gathered.readings += [(item.origin.path, FileReading(objects=(item,))) for item in made]


def _declared_scopes(units: list[_Unit], gathered: Gathered) -> dict[GroupKind, bool]:
    """Whether the custom kinds of a commit are namespaced: by the FleetConfig, and by all definitions, those that
    releases skip included."""
    values = [item.value for _, reading in gathered.readings for item in reading.objects]
    bodies: list[Any] = [value.body for value in values if isinstance(value, Manifest)]
    for _, source, _ in units:
        bodies += [document.value for document in (*source.definitions, *(source.parsed or ParsedFile()).documents)]
    scopes: dict[GroupKind, bool] = {}
    for config in (value for value in values if isinstance(value, FleetConfig)):
        scopes |= config.scopes
    return scopes | scopes_in(bodies)


def _warn_of_unread(paths: Collection[str], request: DesiredRequest, gathered: Gathered) -> None:
    """The manifests in built folders that no build reads: they look as if they were placed."""
    folders = gathered.layout.built
    placed = {folder: built.sources for folder, built in request.built.items() if gathered.layout.owners(folder)}
    used = {source for sources in placed.values() for source in sources}
    complete = {folder for folder in request.built if placed.get(folder) or folder in used}
    unread: dict[str, list[str]] = {}
    for path in paths if complete else ():
        if is_manifest_path(path) and not is_folder_file(path) and path not in used:
            outermost = [folder for folder in folders_of(path) if folder in folders][-1:]
            for folder in complete.intersection(outermost):
                unread.setdefault(folder, []).append(path.removeprefix(f"{folder}/"))
    for folder, files in unread.items():
        path = file_of_build(folder, folders[folder])
        named = named_briefly(sorted(files), _MOST_NAMED)
        message = DesiredText.FILES_FOLDER_NOT_READ(files=named, ignore_file=IGNORE_FILE)
        gathered.fault(path, message, Severity.WARNING)
