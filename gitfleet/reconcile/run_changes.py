"""The change that a run rolls out, as commits and files: whoever wrote them may not approve it (separateDuties).

Decision record 0014 says which commits these are, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.api.conditions import is_true
from gitfleet.api.runs import RunConditionType, RunRecord
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.api.staged import StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Change
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.rollout import staged

_MOST_PATHS: Final = 200
"""git compares each with each entry of a tree. Of more their folders count: more authors, never fewer."""


def changes_of(run: RunRecord, before: FleetState, desired: Desired) -> tuple[Change, ...]:
    """The commits to the files of the snapshot that the run rolls out, up to the one that it was taken from, and those
    to the files of the run, its placement, strategy and overrides, up to the head: each since `_base`. Without that,
    all that there ever were; then the strategy, by which others were rolled out, is no part of the change.
    """
    record = before.placements.get(run.placement)
    if record is None or (snapshot := staged.snapshot_for(run, record)) is None:
        return (Change(paths=_paths(_own_files(run, before, desired))),)
    base = _base(run, before, snapshot)
    first, after = (base.index, base.commit) if base is not None else (0, "")
    versions = [s for s in record.resource_snapshots if first <= s.index <= snapshot.index]
    files = (path for version in versions for document in version.documents for path in _made_of(document, desired))
    strategy = desired.strategies.get(NamespacedName(run.key.namespace, run.strategy_name)) if base else None
    own = _own_files(run, before, desired, strategy)
    return (
        Change(commit=snapshot.commit, after=after, paths=_paths(files)),
        Change(after=after, paths=_paths(own)),
    )


def _base(run: RunRecord, before: FleetState, snapshot: ResourceSnapshot) -> ResourceSnapshot | None:
    """The oldest snapshot before the run's that a cluster has, or had before the run; where there is none, the newest
    one up to it that another run brought to its end, through all gates. None where that is not known either."""
    record = before.placements[run.placement]
    had = {binding.resource_snapshot for binding in record.bindings} - {None}
    had |= {former.resource_snapshot for _, former in run.formers}
    if not had <= {version.name for version in record.resource_snapshots}:
        return None
    runs = (r for r in before.runs.values() if r.placement == run.placement)
    ended = {r.snapshot for r in runs if is_true(r.status.conditions, RunConditionType.SUCCEEDED)}
    earlier = [version for version in record.resource_snapshots if version.index <= snapshot.index]
    older = (version for version in earlier if version.name in had and version is not snapshot)
    return next(older, None) or next((version for version in reversed(earlier) if version.name in ended), None)


def _made_of(document: DocumentRef, desired: Desired) -> tuple[str, ...]:
    """The file of a document, with that of its Folder; of what was built what it is made of, and where that is not
    known any more, all."""
    if document.blob and not document.rendered:
        return (document.path,)
    origins = (folder.origin for folder in desired.folders.values())
    directories = {origin.path.rpartition("/")[0]: origin.path for origin in origins if origin is not None}
    folder_files = tuple(path for directory, path in directories.items() if document.path.startswith(f"{directory}/"))
    sources = desired.sources.get(document.path.rpartition("/")[0])
    return (*(sources or (document.path if folder_files else "",)), *folder_files)


def _own_files(
    run: RunRecord, before: FleetState, desired: Desired, strategy: StagedStrategy | None = None
) -> Iterator[str]:
    """Where what the run is made of is written, but for what it rolls out."""
    clusters = run.status.clusters
    used = {name for c in clusters for name in (*c.cluster_resource_overrides, *c.resource_overrides)}
    overrides = (key for key, history in before.overrides.items() if any(s.reference in used for s in history))
    written = [desired.runs.get(run.key), desired.placements.get(run.placement), *map(desired.overrides.get, overrides)]
    origins = (value.origin for value in (*written, strategy) if value is not None)
    return (origin.path for origin in origins if origin is not None)


def _paths(files: Iterable[str]) -> tuple[str, ...]:
    """The files as git is asked for them, or folders that hold them; none for the whole repository. In the place of a
    name that is shown otherwise than git has it (bytes that are no text, behind a backslash) stands its folder."""
    paths = {path.partition("\\")[0].rpartition("/")[0] if "\\" in path else path for path in files}
    while len(paths) > _MOST_PATHS:
        paths = {path.rpartition("/")[0] for path in paths}
    return () if "" in paths else tuple(sorted(paths))
