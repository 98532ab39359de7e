"""The files of a hold: its own, which lists what a person reads, and for a large one a folder with all removals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitfleet.api import read_state, write
from gitfleet.api.holds import MOST_LISTED, Hold, HoldReason, HoldRule, Removal
from gitfleet.formats.json_values import mappings, section
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.file_kinds import Parts, unusable
from gitfleet.state.shapes.ledgers import API_VERSION
from gitfleet.state.shapes.lines import entry_line, items_bytes, read_items
from gitfleet.state.shards import named_address
from gitfleet.state.texts import StateText

_RELEASE_2: Final = HoldReason(rule=HoldRule.APPROVAL_REQUIRED, message=StateText.HELD_BY_RELEASE_2())


@dataclass(frozen=True, slots=True)
class RemovalsFile:
    """holds/<name>/...: some of the removals of a large hold."""

    hold: str
    removals: tuple[Removal, ...]


def read_hold(source: Mapping[str, Any]) -> Hold:
    """A hold. One of release 2 waits for an approval of all its entries: the rules that held them are gone."""
    spec = source.get("spec")
    reasons = mappings(section(spec).get("reasons"))
    if spec is None or all(reason.get("rule") in list(HoldRule) for reason in reasons):
        return read_state(Hold, source)
    hold = read_state(Hold, {**source, "spec": {**spec, "reasons": []}})
    return replace(hold, reasons=(_RELEASE_2,), removals=tuple(map(_of_release_2, hold.removals)))


def _of_release_2(removal: Removal) -> Removal:
    asks = (HoldRule.APPROVAL_REQUIRED,)
    return removal if removal.judged else replace(removal, judged=asks, rules=asks)


def read_removals(content: bytes) -> RemovalsFile:
    """One file of a large hold's removals. UnreadableText or InvalidContent."""
    hold, items = read_items(content, "hold", StateText.MUST_HOLD_REMOVALS_ONE_HOLD)
    return RemovalsFile(hold, read_state(tuple[Removal, ...], items))


def gather_holds(parts: Parts) -> Mapping[str, Hold]:
    """Every hold with all of its removals, by name."""
    removals = parts.grouped(RemovalsFile, lambda file: file.hold)
    heads = {hold.name: (path, hold) for path, hold in parts.of(Hold)}
    if without := sorted(removals.keys() - heads.keys()):
        raise unusable(paths.own_path("holds", "", without[0]), StateText.IT_IS_GONE())
    return {name: _whole(path, hold, removals.get(name, ())) for name, (path, hold) in heads.items()}


def _whole(path: str, hold: Hold, files: Collection[tuple[str, RemovalsFile]]) -> Hold:
    if not (hold.more or files):
        return hold
    removals = {removal.id: removal for _, file in files for removal in file.removals}
    if len(removals) != hold.total:
        raise unusable(path, StateText.COUNTS_REMOVALS_FOLDER(total=hold.total, count=len(removals)))
    ordered = (removals[id_] for id_ in sorted(removals))
    return replace(
        hold, removals=tuple(map(_of_release_2, ordered) if _RELEASE_2 in hold.reasons else ordered), more=()
    )


def write_hold(files: ChangedFiles, name: str, old: Hold | None, new: Hold | None) -> None:
    """Note the files that lead from one value of a hold to another."""
    path, folder = paths.own_path("holds", "", name), _folder(name)
    if new is None:
        files.remove.extend((path, folder.folder) if _filed(old) else (path,))
        return
    files.put(path, write(old.listed) if old is not None else None, write(new.listed))
    rewrite_entries(files, folder, _filed(old), _filed(new))


def _filed(hold: Hold | None) -> tuple[Removal, ...]:
    """The removals that stand in the folder."""
    return hold.removals if hold is not None and len(hold.removals) > MOST_LISTED else ()


def removals_folder(name: str) -> str:
    """holds/<name>"""
    return f"holds/{paths.safe_name(name)}"


def _folder(name: str) -> EntryFolder[Removal]:
    head = {"apiVersion": API_VERSION, "hold": name, "kind": "RemovalList"}
    return EntryFolder(
        folder=removals_folder(name),
        address=lambda removal: named_address(removal.id),
        order=lambda removal: removal.id,
        render=lambda removals: items_bytes(head, (entry_line(write(removal)) for removal in removals)),
    )
