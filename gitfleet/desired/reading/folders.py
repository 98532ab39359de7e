"""Which Folder governs a path, and for which of its variants a path is payload."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, takewhile
from typing import Final, TypeAlias

from gitfleet.api import Break
from gitfleet.api.folders import FOLDER_FILE, Folder
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.desired.reading.files import Contents, FileReading, ReadObject, is_gitfleets
from gitfleet.desired.reading.paths import (
    IGNORE_FILE,
    built_folders,
    folders_of,
    is_folder_file,
    is_manifest_path,
    is_payload_path,
    read_one_by_one,
)
from gitfleet.desired.reading.request import ABSENT, SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.limits import MAX_VARIANTS


@dataclass(frozen=True, slots=True)
class Owner:
    """The Folder that governs a file, and the variant that the file belongs to; "" for a Folder without variants."""

    folder: Folder
    variant: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The names of the Folder and of the variant."""
        return self.folder.name, self.variant


NOBODY: Final = Owner(Folder(name=""))
"""The owner of files that no Folder governs: it gives them nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLayout:
    """The Folders of a commit by directory, None where the file cannot be used, and `variants` by the directory that is
    built for them: none where a Folder that cannot be used names it, which is no payload either. `built` are all
    folders that are built, with the file that says how. `refused` are the Folders that cannot be used, each with the
    reason; `names` are those of all Folders that can be read."""

    folders: Mapping[str, Folder | None] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, tuple[Owner, ...]] = field(default_factory=dict)
    built: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[tuple[ReadObject, Break], ...] = ()

    def owners(self, path: str) -> tuple[Owner, ...]:
        """For which Folders and variants a file or a built folder is payload: for nobody where none governs it."""
        outer = [*folders_of(path)]
        around = [*takewhile(lambda directory: directory not in self.built, outer)]
        named = [self.variants[directory] for directory in (path, *around) if directory in self.variants]
        if named or len(around) < len(outer):
            return tuple(chain(*named))
        folder = self.folders.get(self.at(path), NOBODY.folder)
        return () if folder is None or folder.variants else (Owner(folder),)

    @property
    def placed(self) -> frozenset[str]:
        """The directories that a Folder places itself, even if others build on them."""
        whole = (directory for directory, folder in self.folders.items() if folder is not None and not folder.variants)
        return frozenset((*self.variants, *whole))

    def at(self, path: str) -> str:
        """The directory of the Folder that governs a path, "" for none."""
        return next((directory for directory in _above(path) if directory in self.folders), "")


def _above(path: str) -> tuple[str, ...]:
    return (path, *folders_of(path))


def layout_of(paths: Collection[str], sources: Mapping[str, SourceFile], contents: Contents) -> FolderLayout:
    """The layout of the wanted paths of a commit."""
    files = [path for path in paths if is_folder_file(path)]
    if not files:
        return FolderLayout(built=built_folders(paths))
    within = [path.rpartition("/")[0] for path in files]
    sound = list(_sound(files, sources, contents))
    named = [
        (item, folder, index, variant.name, posixpath.normpath(posixpath.join(directory, variant.path)))
        for directory, item, folder in sound
        for index, variant in enumerate(folder.variants)
    ]
    built = built_folders(paths, {target for *_, target in named})
    directories = {directory for path in paths for directory in folders_of(path)}
    tree = _Tree(directories, built, within, sources, paths, contents)
    refused = [(item, note) for directory, item, folder in sound for note in tree.breaks(directory, folder)]
    refused += _beyond_limit(sound)
    unusable = {item.identity for item, _ in refused}
    usable = {directory: folder for directory, item, folder in sound if item.identity not in unusable}
    wrong = {(item.identity, location) for item, (location, _) in refused}
    variants: dict[str, tuple[Owner, ...]] = {}
    for item, folder, index, name, target in named:
        if (item.identity, ("spec", "variants", index, "path")) not in wrong:
            owner = () if item.identity in unusable else (Owner(folder, name),)
            variants[target] = (*variants.get(target, ()), *owner)
    return FolderLayout(
        folders={**dict.fromkeys(within), **usable},
        names={directory: folder.name for directory, _, folder in sound},
        variants=variants,
        built=built,
        refused=tuple(refused),
    )


_Sound: TypeAlias = tuple[str, ReadObject, Folder]
"""The directory of a file, and the one sound Folder in it."""


def _sound(files: Iterable[str], sources: Mapping[str, SourceFile], contents: Contents) -> Iterator[_Sound]:
    for path in files:
        source = sources[path]
        reading = source.read(path, contents) if source.mode.startswith("100") else None
        if reading is not None and not (reading.unreadable or reading.faulty):
            folders = ((item, item.value) for item in reading.objects if isinstance(item.value, Folder))
            yield from ((path.rpartition("/")[0], item, folder) for item, folder in folders)


def _beyond_limit(sound: Iterable[_Sound]) -> Iterator[tuple[ReadObject, Break]]:
    variants = 0
    for _, item, folder in sound:
        variants += len(folder.variants)
        if variants > MAX_VARIANTS:
            yield item, (("spec", "variants"), DesiredText.TOO_MANY_VARIANTS(most=MAX_VARIANTS))


def merged(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """The payload with equal content of several variants once."""
    first: dict[tuple[ObjectKey, str, str, bool], Manifest] = {}
    for manifest in manifests:
        place = (manifest.key, manifest.folder, manifest.digest, bool(manifest.variants))
        if place in first:
            manifest = replace(first[place], variants=tuple(sorted({*first[place].variants, *manifest.variants})))
        first[place] = manifest
    yield from first.values()


@dataclass(frozen=True)
class _Tree:
    """The directories of a commit: all, those that are built, and those with a Folder; all of its files, ignored
    ones included, and the paths of those that are not."""

    directories: Collection[str]
    built: Mapping[str, str]
    folders: Collection[str]
    files: Mapping[str, SourceFile]
    paths: Collection[str]
    contents: Contents

    def breaks(self, directory: str, folder: Folder) -> Iterator[Break]:
        """Why a Folder cannot be used where it lies."""
        if any(outer in self.built for outer in folders_of(directory)) or directory in self._charts():
            yield (), DesiredText.FOLDER_IN_BUILT_FOLDER()
        for index, variant in enumerate(folder.variants):
            if sentence := self._path_sentence(directory, variant.path):
                yield ("spec", "variants", index, "path"), sentence

    @cached_property
    def _inside(self) -> Mapping[str, list[str]]:
        """The directories with a Folder by each directory that they lie in."""
        inside: dict[str, list[str]] = {}
        for folder in self.folders:
            for directory in _above(folder):
                inside.setdefault(directory, []).append(folder)
        return inside

    @cached_property
    def _gitfleets(self) -> Mapping[str, str]:
        """The first file that gitfleet itself acts on by each directory that has one."""
        files: dict[str, str] = {}
        for path in read_one_by_one(self.paths):
            if is_payload_path(path) or not is_manifest_path(path):
                continue
            reading = self.files.get(path, ABSENT).read(path, self.contents) or FileReading()
            if is_gitfleets(path, reading):
                for directory in folders_of(path):
                    files.setdefault(directory, path)
        return files

    def _charts(self) -> Iterable[str]:
        return (directory for directory, file in self.built.items() if file.endswith("/Chart.yaml"))

    def _path_sentence(self, directory: str, path: str) -> str:
        target = posixpath.normpath(posixpath.join(directory, path))
        if path.startswith("/") or target not in self.directories:
            return DesiredText.VARIANT_PATH_NO_FOLDER(path=path, ignore_file=IGNORE_FILE)
        if target == directory and target not in self.built:
            return DesiredText.VARIANT_PATH_NOT_BUILT()
        own = {directory} & {target}  # the folder of the file itself may be built for a variant
        if inner := set(self._inside.get(target, ())) - own:
            return DesiredText.VARIANT_HOLDS_FOLDER(file=f"{min(inner)}/{FOLDER_FILE}")
        file = "" if is_payload_path(f"{target}/") else self._gitfleets.get(target, "")
        return DesiredText.VARIANT_HOLDS_GITFLEETS(file=file) if file else ""
