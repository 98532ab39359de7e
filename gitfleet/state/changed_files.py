"""The files of one change of the state branch: what is written, linked and removed, and folders of many entries, of
which only the files that differ are rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from gitfleet.api.objects import JsonObject
from gitfleet.errors import GiveUp
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.state.shards import shards
from gitfleet.state.texts import StateText

Entry = TypeVar("Entry")
LARGEST_WRITTEN_BYTES: Final = 32 * 1024 * 1024
"""No larger file is written: half of what is read, and a third of what the forges take."""


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """Paths to write (path: bytes), to link (path: id of a blob) and to remove."""

    write: dict[str, bytes] = field(default_factory=dict)
    link: dict[str, str] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)

    def put(self, path: str, old: JsonObject | None, new: JsonObject) -> None:
        """Write an object's file unless it says this already."""
        if old != new:
            self.put_bytes(path, write_documents([new]))

    def put_bytes(self, path: str, content: bytes) -> None:
        """Write a file. GiveUp for one that is too large: it could not be read back, or not be pushed."""
        if len(content) > LARGEST_WRITTEN_BYTES:
            size = StateText.BYTES_MOST_WRITTEN(count=len(content), largest_written_bytes=LARGEST_WRITTEN_BYTES)
            raise GiveUp(StateText.STATE_BRANCH_FILE_WOULD(path=path, size=size))
        self.write[path] = content

    def put_changed(
        self, before: Mapping[str, JsonObject], after: Mapping[str, JsonObject], render: Callable[[JsonObject], bytes]
    ) -> None:
        """Write the objects that differ, by path, and remove the files of those that are gone."""
        self.remove.extend(path for path in before if path not in after)
        for path, body in after.items():
            if before.get(path) != body:
                self.put_bytes(path, render(body))

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.write or self.link or self.remove)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFolder(Generic[Entry]):
    """A folder of many entries: how they are spread over its files, their order inside one, and the file's bytes."""

    folder: str
    address: Callable[[Entry], int]
    order: Callable[[Entry], Any]
    render: Callable[[Sequence[Entry]], bytes]

    def files(self, entries: Iterable[Entry]) -> dict[str, list[Entry]]:
        """The entries by file."""
        return shards(self.folder, entries, self.address)


def rewrite_entries(
    files: ChangedFiles, kind: EntryFolder[Entry], before: Iterable[Entry], after: Iterable[Entry]
) -> None:
    """Rewrite the files whose entries differ. Sorting is for those alone: entries that did not change stand as they
    did."""
    old_files, new_files = kind.files(before), kind.files(after)
    files.remove.extend(path for path in old_files if path not in new_files)
    for path, entries in new_files.items():
        old = old_files.get(path)
        if entries != old:
            ordered = sorted(entries, key=kind.order)
            if old is None or sorted(old, key=kind.order) != ordered:
                files.put_bytes(path, kind.render(ordered))
