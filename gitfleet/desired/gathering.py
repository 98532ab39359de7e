"""The files of a commit, each read or refused: links, submodules, sizes, ignored paths, built folders.

The result still has every object of every file; what is there twice or does not fit together is for `tree` to find.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.faults import Fault, Severity
from gitfleet.desired.ignore_rules import IgnoreRules, read_ignore
from gitfleet.desired.paths import (
    IGNORE_FILE,
    built_folders,
    file_of_build,
    folders_of,
    is_manifest_path,
    is_ours,
    read_one_by_one,
    wanted_paths,
)
from gitfleet.desired.readings import FileReading
from gitfleet.desired.release_namespaces import declared_scopes, in_namespace
from gitfleet.desired.request import SUBMODULE, SYMLINK, DesiredRequest, SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.limits import MAX_FILE_BYTES, MAX_FILES
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.texts import FormatsText

_MOST_NAMED: Final = 3


@dataclass(slots=True)
class Gathered:
    """Readings by path, in path order; faults of whole entries; and the entries that hide what was below them.

    `closed` are paths that became unreadable as a whole: the path itself, or, for a link, all that was below.
    """

    readings: dict[str, FileReading] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


def gather(request: DesiredRequest) -> Gathered:
    """Read every wanted entry of the request's files."""
    gathered = Gathered()
    rules = _ignore_rules(request, gathered)
    wanted = sorted(wanted_paths(request.files, rules))
    one_by_one = frozenset(read_one_by_one(wanted))
    read = 0
    for path in wanted:
        source = request.files[path]
        if (closed := _closed_entry(path, source)) is not None:
            gathered.faults.append(closed)
            if closed.severity is Severity.ERROR:
                gathered.closed.append(path)
            continue
        if not is_manifest_path(path) or path not in one_by_one:
            continue
        read += 1
        if read > MAX_FILES:
            message = DesiredText.COMMIT_MORE_FILES_READ(max_files=MAX_FILES, ignore_file=IGNORE_FILE)
            gathered.faults.append(Fault(path, 1, "", "", message))
            gathered.closed += [later for later in wanted if later >= path and is_manifest_path(later)]
            break
        _read_entry(path, source, request, gathered)
    folders = built_folders(wanted)
    _read_built(folders, request, gathered)
    _warn_of_unread(folders, wanted, request, gathered)
    return gathered


def _ignore_rules(request: DesiredRequest, gathered: Gathered) -> IgnoreRules:
    source = request.files.get(IGNORE_FILE)
    if source is None:
        return IgnoreRules()
    if source.mode in (SYMLINK, SUBMODULE) or (source.size or 0) > MAX_FILE_BYTES:
        message = DesiredText.NO_FILE_MOST_BYTES(max_file_bytes=MAX_FILE_BYTES)
        gathered.faults.append(Fault(IGNORE_FILE, 1, "", "", message))
        return IgnoreRules()
    rules = read_ignore(request.contents(source.blob))
    gathered.faults += [Fault(IGNORE_FILE, line, "", "", message) for line, message in rules.faults]
    return rules


def _closed_entry(path: str, source: SourceFile) -> Fault | None:
    """The fault of an entry that is never followed; only a warning where nothing of ours is expected behind it."""
    if source.mode not in (SYMLINK, SUBMODULE):
        return None
    what = "symbolic link" if source.mode == SYMLINK else "submodule"
    message = DesiredText.NEVER_FOLLOWED_PUT_FILES_THEMSELVES(what=what, ignore_file=IGNORE_FILE)
    expected = is_ours(path) or is_manifest_path(path)
    return Fault(path, 1, "", "", message, Severity.ERROR if expected else Severity.WARNING)


def _read_entry(path: str, source: SourceFile, request: DesiredRequest, gathered: Gathered) -> None:
    if source.size is not None and source.size > MAX_FILE_BYTES:
        message = FormatsText.BYTES_MORE_READ(count=source.size, limit=MAX_FILE_BYTES)
        gathered.faults.append(Fault(path, 1, "", "", message))
        gathered.closed.append(path)
        return
    reading = source.read(path, request.contents)
    if reading is None:
        why = DesiredText.TOO_LARGE_READ() if source.size else DesiredText.COULD_NOT_READ()
        message = source.why or DesiredText.SPLIT_FILE_IGNORE(why=why, ignore_file=IGNORE_FILE)
        gathered.faults.append(Fault(path, 1, "", "", message))
        gathered.closed.append(path)
        return
    gathered.readings[path] = reading


def _read_built(folders: Mapping[str, str], request: DesiredRequest, gathered: Gathered) -> None:
    """What was built stands for all files below its folder; without it, nothing there is touched."""
    outermost = {one for one in folders if not any(outer in folders for outer in folders_of(one))}
    sources = {folder: request.built[folder] for folder in outermost if folder in request.built}
    if any(source.namespace for source in sources.values()):
        declared = declared_scopes(gathered.readings.values(), sources.values())
        sources = {folder: in_namespace(source, declared) for folder, source in sources.items()}
    for folder in sorted(outermost):
        path = file_of_build(folder, folders[folder])
        built = sources.get(folder)
        reading = built.read(path, request.contents) if built is not None else None
        if reading is not None:
            gathered.readings[path] = reading
            continue
        why = built.why if built is not None else ""
        message = why or DesiredText.FOLDER_NOT_BUILT(ignore_file=IGNORE_FILE)
        gathered.faults.append(Fault(path, 1, "", "", message))
        gathered.closed.append(path)


def _warn_of_unread(
    folders: Mapping[str, str], wanted: Collection[str], request: DesiredRequest, gathered: Gathered
) -> None:
    """The manifests in built folders that no build reads: they look as if they were placed."""
    used = {source for built in request.built.values() for source in built.sources}
    known = {folder for folder, built in request.built.items() if built.sources or folder in used}
    unread: dict[str, list[str]] = {}
    for path in wanted if known else ():
        if is_manifest_path(path) and path not in used:
            outermost = [folder for folder in folders_of(path) if folder in folders][-1:]
            for folder in known.intersection(outermost):
                unread.setdefault(folder, []).append(path.removeprefix(f"{folder}/"))
    for folder, files in unread.items():
        path = file_of_build(folder, folders[folder])
        named = named_briefly(sorted(files), _MOST_NAMED)
        message = DesiredText.FILES_FOLDER_NOT_READ(files=named, ignore_file=IGNORE_FILE)
        gathered.faults.append(Fault(path, 1, "", "", message, Severity.WARNING))
