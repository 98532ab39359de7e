"""The commit that takes a placement back to an older snapshot: a pin, or for an External placement a run in place of
those under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gitfleet.api import write
from gitfleet.api.bindings import is_active
from gitfleet.api.pins import PINS, Pin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.staged import StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.quarantines import in_force
from gitfleet.rollout import staged
from gitfleet.state import paths
from gitfleet.views.evictions import free_name
from gitfleet.views.explanation import no_placement
from gitfleet.views.runs import RunView
from gitfleet.views.texts import ViewsText

_LONGEST_STEM = 40
"""A run's name has 63 characters at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What goes back, the file where it stands, the files of the unfinished runs that end with it, and what speaks
    against the snapshot."""

    written: StagedRun | Pin
    path: str
    remove: tuple[str, ...] = ()
    warning: str = ""

    @property
    def text(self) -> str:
        """The file."""
        return yaml_text(write(self.written))

    @property
    def how(self) -> str:
        """By what it goes back, as the end of a sentence."""
        if isinstance(self.written, Pin):
            return ViewsText.UNTIL_FILE_REMOVED()
        return f"with strategy {self.written.strategy_name}"


def rollback_of(
    state: FleetState,
    desired: Desired,
    name: str,
    index: int,
    strategy: str | None,
    is_taken: Callable[[str], bool],
) -> Rollback:
    """The commit that takes the placement `name` (or `namespace/name`) back to the snapshot `index`, an External one
    with the strategy of its last run where none is given; `is_taken` says which files are there. BadInput where that
    cannot be."""
    namespace, _, own = name.rpartition("/")
    key = PlacementKey(namespace, own)
    record = state.placements.get(key)
    if record is None:
        raise no_placement(name, [str(key) for key in state.placements])
    snapshot = _snapshot_of(state, desired, record, index)
    if not record.placement.strategy.external:
        if strategy is not None:
            raise BadInput(ViewsText.ROLLS_OUT_ROLLINGUPDATE(name=name), hint="leave --strategy away")
        return _pin(record, snapshot, desired, is_taken)
    under_way = [run for run in desired.runs.values() if _is_under_way(state, run, key)]
    active = [binding for binding in record.bindings if is_active(binding)]
    if active and not under_way and all(b.resource_snapshot == snapshot.name for b in active):
        sentence = ViewsText.EVERY_CLUSTER_SNAPSHOT_ALREADY(name=name, index=index)
        raise BadInput(sentence, hint=ViewsText.NOTHING_GO_BACK_FROM())
    runs = sorted((r for r in state.runs.values() if r.placement == key), key=lambda run: (run.created, run.key))
    chosen = strategy or (runs[-1].strategy_name if runs else None)
    if chosen is None:
        raise BadInput(ViewsText.NO_RUN_WHOSE_STRATEGY_COULD(name=name), hint=ViewsText.NAME_ONE_STRATEGY())
    if NamespacedName(namespace, chosen) not in desired.strategies:
        names = ", ".join(str(strategy_key) for strategy_key in desired.strategies) or "none"
        raise BadInput(ViewsText.NO_STRATEGY(chosen=chosen), hint=ViewsText.NAME_ONE_STRATEGY_STRATEGIES(known=names))
    run_name = free_name(
        f"{own[:_LONGEST_STEM]}-back-to-{index}", lambda n: is_taken(paths.own_path("runs", namespace, n))
    )
    run = StagedRun(
        key=NamespacedName(namespace, run_name), placement_name=own, strategy_name=chosen,
        resource_snapshot_index=str(index),
    )  # fmt: skip
    ended = tuple(_file_of(run, ViewsText.RUN_UNDER_WAY(run=run.key), desired) for run in under_way)
    warning = _failed_with(snapshot, record, runs)
    return Rollback(written=run, path=paths.own_path("runs", namespace, run_name), remove=ended, warning=warning)


def _failed_with(snapshot: ResourceSnapshot, record: PlacementRecord, runs: Iterable[RunRecord]) -> str:
    """That the last run of this content failed, and why; "" where it did not, or none was."""
    named = {version.name for version in record.resource_snapshots if version.hash == snapshot.hash}
    last = next((run for run in reversed([*runs]) if run.snapshot in named and run.finished), None)
    if last is None or staged.run_phase(last.status) is not staged.RunPhase.FAILED:
        return ""
    return ViewsText.RUN_ROLLED_OUT_CONTENT_FAILED(last=last.key, runview=RunView(run=last).message)


def _pin(
    record: PlacementRecord, snapshot: ResourceSnapshot, desired: Desired, is_taken: Callable[[str], bool]
) -> Rollback:
    """The pin to a snapshot, in the file of the one that the placement has."""
    key, latest = record.placement.key, record.latest_resources
    pinned = next((pin for pin in desired.pins.values() if pin.placement == key), None)
    if latest is not None and latest.hash == snapshot.hash and (pinned is None or pinned.digest == snapshot.hash):
        hint = ViewsText.NOTHING_GO_BACK_FROM()
        raise BadInput(ViewsText.ROLLS_OUT_CONTENT_SNAPSHOT_ALREADY(key=key, snapshot=snapshot.index), hint=hint)
    if pinned is not None:
        name, path = pinned.name, _file_of(pinned, ViewsText.PINNED_ALREADY(key=key), desired)
    else:
        name = free_name(key.name, lambda n: n in desired.pins or is_taken(paths.own_path(PINS, key.namespace, n)))
        path = paths.own_path(PINS, key.namespace, name)
    return Rollback(written=Pin(name=name, placement=key, snapshot=snapshot.index, digest=snapshot.hash), path=path)


def _is_under_way(state: FleetState, run: StagedRun, key: PlacementKey) -> bool:
    record = state.runs.get(run.key)
    return PlacementKey(run.key.namespace, run.placement_name) == key and (record is None or not record.finished)


def _file_of(written: StagedRun | Pin, sentence: str, desired: Desired) -> str:
    """The file of an object that is to change; BadInput where it has other objects too."""
    path = written.origin.path if written.origin is not None else ""
    contained = [
        value
        for by_name in desired.objects.values()
        for value in by_name.values()
        if getattr(value, "origin", None) is not None and value.origin.path == path
    ]
    if not path or len(contained) != 1 or any(manifest.origin.path == path for manifest in desired.payload):
        raise BadInput(
            ViewsText.HOLDS_OTHER_OBJECTS_TOO(what=sentence, path=path or "its file"),
            hint=ViewsText.TAKE_OUT_FILE(),
        )
    return path


def _snapshot_of(state: FleetState, desired: Desired, record: PlacementRecord, index: int) -> ResourceSnapshot:
    """The snapshot to go back to; BadInput where it is not there or is quarantined, also by a file that no reconcile
    has seen yet."""
    name = str(record.placement.key)
    snapshot = next((s for s in record.resource_snapshots if s.index == index), None)
    if snapshot is None:
        indexes = ", ".join(str(s.index) for s in record.resource_snapshots) or "none"
        raise BadInput(ViewsText.NO_SNAPSHOT(name=name, index=index), hint=f"snapshots: {indexes}")
    quarantine = in_force(desired, state.quarantines).get(record.placement.key, {}).get(snapshot.hash)
    if quarantine is not None:
        raise BadInput(f"snapshot {index} of {name} {quarantine.sentence}", hint=ViewsText.CHOOSE_ANOTHER_SNAPSHOT())
    return snapshot
