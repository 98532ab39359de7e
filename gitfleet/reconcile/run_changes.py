"""The change that a run rolls out, as commits and files: whoever wrote them may not approve it (separateDuties).

Decision record 0014 says which commits these are, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.runs import RunConditionType, RunRecord
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Change
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.rollout import staged

_MOST_PATHS: Final = 200
"""git compares each with each entry of a tree. Of more their folders count: more authors, never fewer."""


def changes_of(run: RunRecord, before: FleetState, wanted: Desired) -> tuple[Change, ...]:
    """The commits to the files of the snapshot that the run rolls out, up to the one that it was taken from, and those
    to the files of the run, its placement, strategy and overrides, up to the head: each since `_base`. Without that,
    all that there ever were; then the strategy, by which others were rolled out, is no part of the change.
    """
    record = before.placements.get(run.placement)
    snapshot = staged.snapshot_for(run, record) if record is not None else None
    if record is None or snapshot is None:
        return (Change(paths=_paths(_own_files(run, before, wanted))),)
    base = _base(run, before, snapshot)
    after = base.commit if base is not None else ""
    every = [s for s in record.resource_snapshots if (base.index if base else 0) <= s.index <= snapshot.index]
    files = (path for one in every for document in one.documents for path in _made_of(document, wanted))
    own = [*_own_files(run, before, wanted), *(_strategy_file(run, wanted) if base is not None else ())]
    return (
        Change(commit=snapshot.commit, after=after, paths=_paths(files)),
        Change(after=after, paths=_paths(own)),
    )


def _base(run: RunRecord, before: FleetState, snapshot: ResourceSnapshot) -> ResourceSnapshot | None:
    """The oldest snapshot before the run's that a cluster has, or had before the run; where there is none, the newest
    one up to it that another run brought to its end, through all gates. None where that is not known either."""
    record = before.placements[run.placement]
    had = {binding.resource_snapshot for binding in record.bindings if binding.resource_snapshot}
    had |= {former.resource_snapshot for _, former in run.formers}
    if not had <= {one.name for one in record.resource_snapshots}:
        return None
    ended = {one.snapshot for one in before.runs.values() if one.placement == run.placement and _succeeded(one)}
    known = [one for one in record.resource_snapshots if one.index <= snapshot.index]
    older = (one for one in known if one.name in had and one is not snapshot)
    return next(older, None) or next((one for one in reversed(known) if one.name in ended), None)


def _succeeded(run: RunRecord) -> bool:
    ended = find_condition(run.status.conditions, RunConditionType.SUCCEEDED)
    return ended is not None and ended.status is Status.TRUE


def _made_of(document: DocumentRef, wanted: Desired) -> tuple[str, ...]:
    """The file of a document; of kustomize's output what it is made of, and where that is not known any more, all."""
    if document.blob and not document.rendered:
        return (document.path,)
    return wanted.sources.get(document.path.rpartition("/")[0], ("",))


def _own_files(run: RunRecord, before: FleetState, wanted: Desired) -> Iterator[str]:
    """Where what the run is made of is written, but for its strategy and what it rolls out."""
    clusters = [cluster for stage in run.status.stages for cluster in stage.clusters]
    used = {name for one in clusters for name in (*one.cluster_resource_overrides, *one.resource_overrides)}
    overrides = (key for key, those in before.overrides.items() if any(one.reference in used for one in those))
    found = [wanted.runs.get(run.key), wanted.placements.get(run.placement), *map(wanted.overrides.get, overrides)]
    return (value.origin.path for value in found if value is not None and value.origin is not None)


def _strategy_file(run: RunRecord, wanted: Desired) -> Iterator[str]:
    strategy = wanted.strategies.get(NamespacedName(run.key.namespace, run.strategy_name))
    return iter((strategy.origin.path,) if strategy is not None and strategy.origin is not None else ())


def _paths(files: Iterable[str]) -> tuple[str, ...]:
    """The files as git is asked for them, or folders that hold them; none for the whole repository. In the place of a
    name that is shown otherwise than git has it (bytes that are no text, behind a backslash) stands its folder."""
    paths = {path.partition("\\")[0].rpartition("/")[0] if "\\" in path else path for path in files}
    while len(paths) > _MOST_PATHS:
        paths = {path.rpartition("/")[0] for path in paths}
    return () if "" in paths else tuple(sorted(paths))
