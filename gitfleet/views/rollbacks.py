"""The commit that takes an External placement back to an older snapshot: a run, in place of those under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitfleet.api import write
from gitfleet.api.bindings import is_active
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.views.evictions import free_name
from gitfleet.views.explanation import no_placement

_LONGEST_STEM = 40
"""A run's name has 63 characters at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """The run that goes back, the file where it stands, and the files of the unfinished runs that end with it."""

    run: StagedRun
    path: str
    remove: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file."""
        return yaml_text(write(self.run))


def rollback_of(
    state: FleetState,
    wanted: Desired,
    name: str,
    index: int,
    strategy: str | None,
    is_taken: Callable[[str], bool],
) -> Rollback:
    """The commit that takes the placement `name` (or `namespace/name`) back to the snapshot `index`, with the strategy
    of its last run where none is given; `is_taken` says which files are there. BadInput where that cannot be."""
    namespace, _, own = name.rpartition("/")
    key = PlacementKey(namespace, own)
    record = state.placements.get(key)
    if record is None:
        raise no_placement(name, [str(known) for known in state.placements])
    under_way = [run for run in wanted.runs.values() if _is_under_way(state, run, key)]
    _check(state, record, index, unfinished=bool(under_way))
    runs = sorted((r for r in state.runs.values() if r.placement == key), key=lambda run: (run.created, run.key))
    chosen = strategy or (runs[-1].strategy_name if runs else None)
    if chosen is None:
        raise BadInput(f"{name} has no run whose strategy could be taken", hint="name one with --strategy")
    if NamespacedName(namespace, chosen) not in wanted.strategies:
        known = ", ".join(str(found) for found in wanted.strategies) or "none"
        raise BadInput(f'there is no strategy "{chosen}"', hint=f"name one with --strategy; strategies: {known}")
    run_name = free_name(own[:_LONGEST_STEM], f"back-to-{index}", lambda n: is_taken(_path(n, namespace)))
    run = StagedRun(
        key=NamespacedName(namespace, run_name),
        placement_name=own,
        strategy_name=chosen,
        resource_snapshot_index=str(index),
    )
    return Rollback(run=run, path=_path(run_name, namespace), remove=tuple(_file_of(run, wanted) for run in under_way))


def _path(name: str, namespace: str) -> str:
    return f"runs/{namespace}/{name}.yaml" if namespace else f"runs/{name}.yaml"


def _is_under_way(state: FleetState, run: StagedRun, key: PlacementKey) -> bool:
    known = state.runs.get(run.key)
    return PlacementKey(run.key.namespace, run.placement_name) == key and (known is None or not known.finished)


def _file_of(run: StagedRun, wanted: Desired) -> str:
    """The file of a run that is under way; BadInput where it has other objects too."""
    path = run.origin.path if run.origin is not None else ""
    others = [
        value
        for found in wanted.objects.values()
        for value in found.values()
        if getattr(value, "origin", None) is not None and value.origin.path == path
    ]
    if not path or len(others) != 1 or any(manifest.origin.path == path for manifest in wanted.payload):
        raise BadInput(
            f"run {run.key} is under way, and {path or 'its file'} holds other objects too",
            hint="take the run out of it, which ends the run, and roll back then",
        )
    return path


def _check(state: FleetState, record: PlacementRecord, index: int, *, unfinished: bool) -> None:
    name = str(record.placement.key)
    if not record.placement.strategy.external:
        raise BadInput(
            f"{name} rolls out by RollingUpdate, and only a placement with strategy External goes back by a run",
            hint="revert the commit that changed its resources (`git revert`)",
        )
    snapshot = next((s for s in record.resource_snapshots if s.index == index), None)
    if snapshot is None:
        known = ", ".join(str(s.index) for s in record.resource_snapshots) or "none"
        raise BadInput(f"{name} has no snapshot {index}", hint=f"snapshots: {known}")
    for one in state.quarantines.values():
        if one.content == (record.placement.key, snapshot.hash) and not one.lifted:
            raise BadInput(f"snapshot {index} of {name} {one.sentence}", hint="choose another snapshot")
    active = [binding for binding in record.bindings if is_active(binding)]
    if active and not unfinished and all(b.resource_snapshot == snapshot.name for b in active):
        raise BadInput(f"every cluster of {name} has snapshot {index} already", hint="there is nothing to go back from")
