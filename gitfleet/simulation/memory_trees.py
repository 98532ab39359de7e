"""Git trees as persistent values: a changed tree shares every folder that did not change. Used by MemoryRepo."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitfleet.ports.repos import TreeEntry

_FOLDER_MODE = b"40000"


class Folder:
    """One folder of a tree at one place; never changed once made, its id and listing are kept when asked for."""

    __slots__ = ("_listing", "_oid", "children", "prefix")

    def __init__(self, prefix: str, children: Mapping[str, TreeEntry | Folder]) -> None:
        self.prefix = prefix
        self.children = children
        self._oid: str | None = None
        self._listing: dict[str, TreeEntry] | None = None

    @property
    def oid(self) -> str:
        """Git's id of this tree."""
        if self._oid is None:
            body = b"".join(
                b"%s %s\0%s"
                % (
                    _FOLDER_MODE if isinstance(child, Folder) else child.mode.encode(),
                    name.encode(errors="surrogateescape"),
                    bytes.fromhex(child.oid),
                )
                for name, child in self._ordered()
            )
            self._oid = hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
        return self._oid

    def listing(self) -> dict[str, TreeEntry]:
        """Every file below by full path, in path order; not to be changed."""
        if self._listing is None:
            entries: dict[str, TreeEntry] = {}
            for name, child in self._ordered():
                if isinstance(child, Folder):
                    entries.update(child.listing())
                else:
                    entries[self.prefix + name] = child
            self._listing = entries
        return self._listing

    def below(self, path: str) -> Folder | None:
        """The folder at a path ("" is this one), None when there is none."""
        folder: TreeEntry | Folder | None = self
        for name in path.split("/") if path else ():
            folder = folder.children.get(name) if isinstance(folder, Folder) else None
        return folder if isinstance(folder, Folder) else None

    def with_entries(self, entries: Mapping[str, TreeEntry]) -> Folder:
        """This folder with entries put in by path; what stands in their way is replaced, as git does."""
        children = dict(self.children)
        deeper: dict[str, dict[str, TreeEntry]] = {}
        for path, entry in entries.items():
            name, slash, below = path.partition("/")
            if slash:
                deeper.setdefault(name, {})[below] = entry
            else:
                children[name] = entry
        for name, inside in deeper.items():
            child = children.get(name)
            start = child if isinstance(child, Folder) else Folder(f"{self.prefix}{name}/", {})
            children[name] = start.with_entries(inside)
        return Folder(self.prefix, children)

    def without(self, paths: Iterable[str]) -> Folder:
        """This folder without the files and folders at some paths; a folder that becomes empty goes too."""
        children = dict(self.children)
        deeper: dict[str, list[str]] = {}
        for path in paths:
            name, slash, below = path.partition("/")
            if slash:
                deeper.setdefault(name, []).append(below)
            else:
                children.pop(name, None)
        for name, inside in deeper.items():
            child = children.get(name)
            if isinstance(child, Folder):
                smaller = child.without(inside)
                if smaller.children:
                    children[name] = smaller
                else:
                    del children[name]
        return Folder(self.prefix, children)

    def _ordered(self) -> list[tuple[str, TreeEntry | Folder]]:
        # Git sorts a folder as if its name ended in a slash; walking in that order gives full paths in order.
        return sorted(
            self.children.items(),
            key=lambda item: item[0].encode(errors="surrogateescape") + (b"/" if isinstance(item[1], Folder) else b""),
        )


EMPTY = Folder("", {})
"""The tree without files."""


def differences(old: Folder, new: Folder) -> dict[str, TreeEntry | None]:
    """Paths that differ, in path order: the new entry without its size, or None where the path is gone."""
    changes: dict[str, TreeEntry | None] = {}
    _compare(old, new, changes)
    return dict(sorted(changes.items(), key=lambda item: item[0].encode(errors="surrogateescape")))


def _compare(old: Folder, new: Folder, changes: dict[str, TreeEntry | None]) -> None:
    if old is new or old.oid == new.oid:
        return
    for name in old.children.keys() | new.children.keys():
        before, after = old.children.get(name), new.children.get(name)
        if before is after:
            continue
        path = f"{new.prefix}{name}"
        if isinstance(before, Folder) or isinstance(after, Folder):
            empty = Folder(f"{path}/", {})
            _compare(
                before if isinstance(before, Folder) else empty, after if isinstance(after, Folder) else empty, changes
            )
        if isinstance(before, TreeEntry) and not isinstance(after, TreeEntry):
            changes[path] = None
        elif isinstance(after, TreeEntry) and (
            not isinstance(before, TreeEntry) or (before.mode, before.oid) != (after.mode, after.oid)
        ):
            changes[path] = replace(after, size=None)
