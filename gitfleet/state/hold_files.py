"""The files of a hold: its own, which lists what a person reads, and where that is not all, a folder with all removals.

What is held is known from these files alone, so none of them may be lost unnoticed: a hold that has not as many
removals as its own file counts, or another digest than the fleet's head says, is damaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.holds import MOST_LISTED, Hold, Removal
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.file_kinds import Parts
from gitfleet.state.shapes.ledgers import API_VERSION
from gitfleet.state.shapes.lines import check_count, counted, entry_line, lines_bytes, read_lines
from gitfleet.state.shards import named_address
from gitfleet.state.texts import StateText

_ITEMS: Final = "items"
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class RemovalsFile:
    """holds/<name>/...: some of the removals of a large hold."""

    hold: str
    removals: tuple[Removal, ...]


def read_removals(content: bytes) -> RemovalsFile:
    """One file of a large hold's removals. UnreadableText or InvalidContent."""
    found = read_lines(content, _ITEMS)
    if found is None or not isinstance(found[0].get("hold"), str):
        raise InvalidContent(StateText.MUST_HOLD_REMOVALS_ONE_HOLD())
    check_count(*found)
    return RemovalsFile(found[0]["hold"], read_state(tuple[Removal, ...], found[1]))


def gather_holds(parts: Parts) -> Mapping[str, Hold]:
    """Every hold with all of its removals, by name."""
    rest = parts.grouped(RemovalsFile, lambda file: file.hold)
    heads = {hold.name: (path, hold) for path, hold in parts.of(Hold)}
    for name in rest.keys() - heads.keys():
        parts.twice.update((path, StateText.NO_HOLD(name=name)) for path, _ in rest[name])
    return {name: _whole(path, hold, dict(rest.get(name, ())), parts) for name, (path, hold) in heads.items()}


def _whole(path: str, hold: Hold, files: Mapping[str, RemovalsFile], parts: Parts) -> Hold:
    folder = _folder(hold.name)
    if not (hold.more or files):  # an earlier version listed all of them
        parts.check_split(folder, _filed(hold), {})
        return hold
    found = parts.once((at, removal.id, removal) for at, file in files.items() for removal in file.removals)
    parts.check_split(folder, found.values(), {at: file.removals for at, file in files.items()})
    if len(found) != hold.total:
        parts.misplaced.add(folder.folder)
        parts.twice[path] = StateText.COUNTS_REMOVALS_FOLDER(total=hold.total, count=len(found))
    return replace(hold, removals=tuple(found[one] for one in sorted(found)), more=())


def hold_digests(holds: Mapping[str, Hold]) -> dict[str, str]:
    """By the name of a hold a digest of what it keeps, and of what ends it."""
    return {name: _digest(hold) for name, hold in sorted(holds.items())}


def _digest(hold: Hold) -> str:
    ends = (f"{one.rule} {one.error_in} {one.unread}" for one in hold.reasons)
    kept = sorted(f"{one.id} {one.reasons}" for one in hold.removals)
    return sha256("\n".join((hold.commit, hold.after, *ends, *kept)).encode()).hexdigest()[:_DIGITS]


def lost_holds(holds: Mapping[str, Hold], recorded: Mapping[str, str]) -> dict[str, str]:
    """The own files of holds that are gone, or not what was `recorded` as they were written, each with the reason."""
    found = hold_digests(holds)
    return {
        paths.own_path("holds", "", name): StateText.IT_WAS_EDITED() if name in found else StateText.IT_IS_GONE()
        for name, digest in recorded.items()
        if found.get(name) != digest
    }


def write_hold(files: ChangedFiles, name: str, old: Hold | None, new: Hold | None) -> None:
    """Note the files that lead from one value of a hold to another."""
    path, folder = paths.own_path("holds", "", name), _folder(name)
    if new is None:
        files.remove.extend((path, folder.folder) if _filed(old) or folder.folder in files.misplaced else (path,))
        return
    was = old if folder.folder not in files.misplaced else None
    files.put(path, write(was.listed) if was is not None else None, write(new.listed))
    rewrite_entries(files, folder, _filed(old), _filed(new))


def _filed(hold: Hold | None) -> tuple[Removal, ...]:
    """The removals that stand in the folder."""
    return hold.removals if hold is not None and len(hold.removals) > MOST_LISTED else ()


def removals_folder(name: str) -> str:
    """holds/<name>"""
    return f"holds/{paths.safe_name(name)}"


def _folder(name: str) -> EntryFolder[Removal]:
    def render(removals: Iterable[Removal]) -> bytes:
        kind = {"apiVersion": API_VERSION, "hold": name, "kind": "RemovalList"}
        head, lines = counted(kind, (entry_line(write(removal)) for removal in removals))
        return lines_bytes(head, _ITEMS, lines)

    return EntryFolder(
        folder=removals_folder(name),
        address=lambda removal: named_address(removal.id),
        order=lambda removal: removal.id,
        render=render,
    )
