"""Which Folder governs a path, and for which of its variants a path is payload."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitfleet.api import Break
from gitfleet.api.folders import FOLDER_FILE, Folder
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.desired.reading.files import Contents, ReadObject, is_gitfleets
from gitfleet.desired.reading.paths import (
    IGNORE_FILE,
    built_folders,
    folders_of,
    is_folder_file,
    is_manifest_path,
    is_payload_path,
    read_one_by_one,
)
from gitfleet.desired.reading.request import SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.limits import MAX_VARIANTS


@dataclass(frozen=True, slots=True)
class Owner:
    """The Folder that governs a file, and the variant that the file belongs to; "" for a Folder without variants."""

    folder: Folder
    variant: str = ""


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

    def owners(self, path: str) -> tuple[Owner | None, ...]:
        """For which Folders and variants a file or a built folder is payload: None for no Folder at all."""
        owners: list[Owner] = []
        is_named = False
        for directory in (path, *folders_of(path)):
            if directory != path and directory in self.built:
                return tuple(owners)
            is_named = is_named or directory in self.variants
            owners += self.variants.get(directory, ())
        at = self.at(path)
        if is_named or at is None:
            return tuple(owners) if is_named else (None,)
        folder = self.folders[at]
        return (Owner(folder),) if folder is not None and not folder.variants else ()

    @property
    def placed(self) -> frozenset[str]:
        """The directories that a Folder places itself, even if others build on them."""
        whole = (directory for directory, folder in self.folders.items() if folder is not None and not folder.variants)
        return frozenset((*self.variants, *whole))

    def at(self, path: str) -> str | None:
        """The directory of the Folder that governs a path."""
        return next((directory for directory in _above(path) if directory in self.folders), None)


def _above(path: str) -> tuple[str, ...]:
    return (path, *folders_of(path))


def layout_of(paths: Collection[str], sources: Mapping[str, SourceFile], contents: Contents) -> FolderLayout:
    """The layout of the wanted paths of a commit."""
    files = [path for path in paths if is_folder_file(path)]
    if not files:
        return FolderLayout(built=built_folders(paths))
    items = {path.rpartition("/")[0]: _folder_in(path, sources[path], contents) for path in files}
    directories = {directory for path in paths for directory in folders_of(path)}
    usable = {directory: item for directory, item in items.items() if item is not None}
    named = [
        (item, index, variant.name, posixpath.normpath(posixpath.join(directory, variant.path)))
        for directory, item in usable.items()
        for index, variant in enumerate(_folder(item).variants)
    ]
    built = built_folders(paths, {target for *_, target in named})
    tree = _Tree(directories, built, items, sources, paths, contents)
    refused = [(item, note) for directory, item in usable.items() for note in tree.breaks(directory, _folder(item))]
    refused += _beyond_limit(usable.values())
    names = {item.identity for item, _ in refused}
    folders = {
        directory: _folder(item) if item is not None and item.identity not in names else None
        for directory, item in items.items()
    }
    wrong = {(item.identity, location) for item, (location, _) in refused}
    variants: dict[str, tuple[Owner, ...]] = {}
    for item, index, name, target in named:
        if (item.identity, ("spec", "variants", index, "path")) not in wrong:
            owner = (Owner(_folder(item), name),) if item.identity not in names else ()
            variants[target] = (*variants.get(target, ()), *owner)
    in_use = {directory: _folder(item).name for directory, item in usable.items()}
    return FolderLayout(folders=folders, names=in_use, variants=variants, built=built, refused=tuple(refused))


def _beyond_limit(items: Iterable[ReadObject]) -> Iterator[tuple[ReadObject, Break]]:
    variants = 0
    for item in items:
        variants += len(_folder(item).variants)
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


def _folder_in(path: str, source: SourceFile, contents: Contents) -> ReadObject | None:
    """The one sound Folder of a file."""
    reading = source.read(path, contents) if source.mode.startswith("100") else None
    if reading is None or reading.unreadable or reading.faulty or len(reading.objects) != 1:
        return None
    return reading.objects[0]


def _folder(item: ReadObject) -> Folder:
    if not isinstance(item.value, Folder):
        raise TypeError(item.label)
    return item.value


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
            source = self.files.get(path)
            if is_gitfleets(path, source.read(path, self.contents) if source is not None else None):
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
        own = (directory,) if target == directory else ()
        inner = next((folder for folder in self._inside.get(target, ()) if folder not in own), None)
        if inner is not None:
            return DesiredText.VARIANT_HOLDS_FOLDER(file=f"{inner}/{FOLDER_FILE}")
        file = "" if is_payload_path(f"{target}/") else self._gitfleets.get(target, "")
        return DesiredText.VARIANT_HOLDS_GITFLEETS(file=file) if file else ""
