"""Snapshots of overrides: numbered from 0, a new one exactly when the spec changed, at most ten (KubeFleet)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gitfleet.api import write
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.runs import RunRecord
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord

HISTORY_LIMIT: Final = 10
"""KubeFleet's fixed limit for override snapshots."""

KnownOverrides = Mapping[OverrideKey, tuple[OverrideSnapshot, ...]]


def take_override_snapshots(
    overrides: Mapping[OverrideKey, Override],
    existing: KnownOverrides,
    *,
    commit: str = "",
    in_use: Collection[str] = (),
    failures: Failures | None = None,
) -> dict[OverrideKey, tuple[OverrideSnapshot, ...]]:
    """All override snapshots after a `commit`, oldest first, by key in order.

    `in_use` holds the references that bindings name: those are kept beyond the limit and after the override itself is
    gone, until no binding names them (the change goes out under the rollout budget). An override that cannot be read
    keeps the snapshots it has.
    """
    contained = failures or Failures()
    out: dict[OverrideKey, tuple[OverrideSnapshot, ...]] = {}
    for key in sorted({*overrides, *existing}):
        snapshots = existing.get(key, ())
        override = overrides.get(key)
        if override is not None:
            subject = Subject(key.kind, str(key))
            snapshots = contained.contain(subject, snapshots, _with, override, snapshots, commit)
        recent = snapshots[-HISTORY_LIMIT:] if override is not None else ()
        older = snapshots[: len(snapshots) - len(recent)]
        retained = (*(s for s in older if s.reference in in_use), *recent)
        if retained:
            out[key] = retained
    return out


def references_of(state: FleetState, failures: Failures) -> frozenset[str]:
    """The override snapshots that any binding or unfinished run names; all for a placement or run that cannot be
    read."""
    everything = [snapshot.reference for snapshots in state.overrides.values() for snapshot in snapshots]
    named = [
        *(failures.contain(Subject.of_placement(k), None, _of_record, r) for k, r in state.placements.items()),
        *(failures.contain(Subject.of_run(key), None, _of_run, run) for key, run in state.runs.items()),
    ]
    return frozenset().union(*(everything if references is None else references for references in named))


def _of_record(record: PlacementRecord) -> list[str]:
    return [r for b in record.bindings for r in (*b.cluster_resource_overrides, *b.resource_overrides)]


def _of_run(run: RunRecord) -> list[str]:
    if run.finished:
        return []
    references = [r for c in run.status.clusters for r in (*c.cluster_resource_overrides, *c.resource_overrides)]
    return references + [r for _, f in run.formers for r in (*f.cluster_resource_overrides, *f.resource_overrides)]


def current_overrides(
    overrides: Mapping[OverrideKey, Override], snapshots: KnownOverrides
) -> tuple[OverrideSnapshot, ...]:
    """The latest snapshot of each override that is still wanted, in the order of their keys."""
    return tuple(snapshots[key][-1] for key in sorted(overrides) if snapshots.get(key))


def _with(override: Override, snapshots: tuple[OverrideSnapshot, ...], commit: str) -> tuple[OverrideSnapshot, ...]:
    spec = write(override)["spec"]
    content = digest_of(spec)
    # A later version may reckon the hash in another way: that alone is no change.
    if snapshots and (snapshots[-1].hash == content or write(snapshots[-1].override)["spec"] == spec):
        return snapshots
    index = snapshots[-1].index + 1 if snapshots else 0
    return (*snapshots, OverrideSnapshot(override=override, index=index, hash=content, commit=commit))
