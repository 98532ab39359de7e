"""The numbered snapshots of an override, each in a file."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.overrides import OverrideKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.file_kinds import Parts
from gitfleet.state.shapes.overrides import override_object

_Snapshots = tuple[OverrideSnapshot, ...]


def gather_overrides(parts: Parts) -> Mapping[OverrideKey, _Snapshots]:
    """The snapshots of each override, oldest first."""
    found = parts.grouped(OverrideSnapshot, lambda snapshot: snapshot.override.key)
    return {key: tuple(sorted((s for _, s in found[key]), key=lambda s: s.index)) for key in sorted(found)}


def write_overrides(files: ChangedFiles, key: OverrideKey, olds: _Snapshots | None, news: _Snapshots | None) -> None:
    """Note the files that lead from some snapshots of an override to others."""
    before, after = (
        {
            paths.override_path(key, snapshot.index): override_object(snapshot, latest=snapshot is every[-1])
            for snapshot in every
        }
        for every in (olds or (), news or ())
    )
    files.remove.extend(path for path in before if path not in after)
    for path, wanted in after.items():
        if before.get(path) != wanted:
            files.put_bytes(path, write_documents([wanted]))
