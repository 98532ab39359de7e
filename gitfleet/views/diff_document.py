"""`gitfleet diff -o json`: what a placement's clusters have against what they are to have, per object and field; and
one snapshot against another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.apply import NOTHING_IGNORED, Comparisons, Ignored, Pair, Question, find_differences, writer_of
from gitfleet.formats.secret_objects import masked_object
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import DifferenceDetails
from gitfleet.model.works import Work
from gitfleet.status import object_reference
from gitfleet.views.texts import ViewsText

_ABSENT: Final = "(not there)"
LeftAlone: TypeAlias = Callable[[str], Ignored]
"""What is left alone on a cluster, by its name."""


class ObjectState(StrEnum):
    """How an object stands. `EXTRA`: gitfleet placed it, and it is no longer to be there. `UNREADABLE`: not compared,
    and `message` says why."""

    SAME = "Same"
    DIFFERS = "Differs"
    MISSING = "Missing"
    EXTRA = "Extra"
    UNREADABLE = "Unreadable"


_SENTENCES: Final = {
    ObjectState.SAME: (ViewsText.IS_SAME(), ViewsText.IS_SAME()),
    ObjectState.DIFFERS: ("differs", "is changed"),
    ObjectState.MISSING: (ViewsText.NOT_CLUSTER(), "is added"),
    ObjectState.EXTRA: (ViewsText.CLUSTER_NO_LONGER_WANTED(), "is removed"),
    ObjectState.UNREADABLE: (ViewsText.NOT_COMPARED(), ViewsText.NOT_COMPARED()),
}
"""What a state says, of a cluster and between two snapshots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSides:
    """One cluster's two sides for one placement: the work that it is to have at the end of all rollouts (None for a
    cluster that gives the placement up), what was observed, and what the inventory names for the placement."""

    cluster: str
    work: Work | None
    observation: ClusterObservation | None
    owned: tuple[InventoryEntry, ...] = ()


def diff_document(
    placement: PlacementKey,
    commit: str,
    sides: tuple[ClusterSides, ...],
    left_alone: LeftAlone = lambda _: NOTHING_IGNORED,
) -> dict[str, Any]:
    """The Diff as JSON values. Objects that are the same are counted and not listed; values of Secrets are masked."""
    return {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "Diff",
        "placement": {"name": placement.name, "namespace": placement.namespace or None},
        "commit": commit,
        "clusters": [_cluster(side, left_alone(side.cluster)) for side in sides],
    }


def snapshots_document(placement: PlacementKey, old: ResourceSnapshot, new: ResourceSnapshot) -> dict[str, Any]:
    """What two snapshots that were loaded hold, `valueInMember` being the former's: no overrides, no cluster."""
    old_manifests, new_manifests = old.by_variant, new.by_variant
    rows: list[dict[str, Any]] = []
    unchanged = 0
    for place, manifest in new_manifests.items():
        before = old_manifests.get(place)
        if before is None:
            rows.append({**_object(manifest.key, ObjectState.MISSING), **_variant(place)})
        elif details := _between(manifest, before):
            rows.append({**_object(manifest.key, ObjectState.DIFFERS, details), **_variant(place)})
        else:
            unchanged += 1
    extra = ((place, manifest.key) for place, manifest in old_manifests.items() if place not in new_manifests)
    rows += [{**_object(key, ObjectState.EXTRA), **_variant(place)} for place, key in extra]
    return {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "SnapshotDiff",
        "placement": {"name": placement.name, "namespace": placement.namespace or None},
        "snapshots": [str(old.index), str(new.index)],
        "same": unchanged,
        "objects": rows,
    }


def _variant(place: tuple[Identity, str]) -> dict[str, str]:
    return {"variant": place[1]} if place[1] else {}


def _between(manifest: Manifest, before: Manifest) -> DifferenceDetails:
    """What differs; Secrets inside of envelopes and texts are masked, too, which no cluster ever has as they are."""
    new, old = masked_object(manifest.body, before.body), masked_object(before.body)
    return find_differences(new, old, full=True)


def _cluster(side: ClusterSides, ignored: Ignored) -> dict[str, Any]:
    message = ""
    if side.observation is None or not side.observation.reachable:
        message = side.observation.error if side.observation is not None else ViewsText.NOT_OBSERVED()
    elif side.work is not None and side.work.error is not None:
        message = side.work.error
    compared = Comparisons(ignored, side.observation.dry_runs if side.observation is not None else {})
    rows = [] if message or side.observation is None else list(_objects(side, side.observation, compared))
    return {
        "clusterName": side.cluster,
        "compared": not message,
        "message": message,
        "same": sum(row["state"] == ObjectState.SAME for row in rows),
        "objects": [row for row in rows if row["state"] != ObjectState.SAME],
    }


def questions_of(side: ClusterSides, ignored: Ignored) -> Mapping[Pair, Question]:
    """What only a dry run tells of the differences of one cluster."""
    compared = Comparisons(ignored, side.observation.dry_runs if side.observation is not None else {})
    if side.observation is not None:
        list(_objects(side, side.observation, compared))
    return compared.questions


def _objects(side: ClusterSides, observation: ClusterObservation, compared: Comparisons) -> Iterator[dict[str, Any]]:
    manifests = side.work.manifests if side.work is not None else ()
    full = side.work is not None and side.work.apply_strategy.comparison_option.counts_every_field
    digests = {entry.uid: entry.applied_digest for entry in side.owned}
    for manifest in manifests:
        why = observation.unreadable.get(manifest.key)
        if why is not None or manifest.key not in observation.live:
            yield _object(manifest.key, ObjectState.UNREADABLE, message=why or ViewsText.NOT_OBSERVED())
            continue
        live = observation.live[manifest.key]
        if live is None:
            yield _object(manifest.key, ObjectState.MISSING)
            continue
        details = compared.differences(manifest, live, full=full, applied=digests.get(live.uid) == manifest.digest)
        state = ObjectState.DIFFERS if details else ObjectState.SAME
        doubt = compared.doubt(manifest, live) if full and details else ""
        yield _object(manifest.key, state, details, _written(manifest, live, details), doubt)
    placed = {manifest.key.identity for manifest in manifests}
    for entry in side.owned:
        if entry.key.identity not in placed and observation.live.get(entry.key) is not None:
            yield _object(entry.key, ObjectState.EXTRA)


def _written(manifest: Manifest, live: LiveObject, details: DifferenceDetails) -> tuple[JsonObject | None, ...]:
    """Who else wrote each field."""
    writers = (writer_of(manifest.body, live.body, path) for path, _, _ in details)
    return tuple(None if w is None else {"manager": w.manager, "time": w.time or None} for w in writers)


def _object(
    key: ObjectKey,
    state: ObjectState,
    details: DifferenceDetails = (),
    written: tuple[JsonObject | None, ...] = (),
    message: str = "",
) -> dict[str, Any]:
    writers = written or (None,) * len(details)
    return {
        "object": object_reference(key),
        "state": str(state),
        "message": message,
        "fields": [
            {"path": path, "valueInMember": live, "valueInHub": desired, "writtenBy": writer}
            for (path, live, desired), writer in zip(details, writers, strict=True)
        ],
    }


def differing(document: Mapping[str, Any]) -> bool:
    """Whether anything differs where it could be compared."""
    parts = document["clusters"] if document["kind"] == "Diff" else [document]
    return any(row["state"] != ObjectState.UNREADABLE for part in parts for row in part["objects"])


def object_lines(row: Mapping[str, Any], *, between_snapshots: bool = False) -> Iterator[str]:
    """One object of a document in lines, the first without indentation."""
    key = row["object"]
    name = "/".join(part for part in (key["kind"], key["namespace"], key["name"]) if part)
    state = _SENTENCES[ObjectState(row["state"])][between_snapshots]
    yield f"{name} {state}" + (f": {row['message']}" if row["message"] else "")
    for field in row["fields"]:
        live, desired, writer = field["valueInMember"], field["valueInHub"], field["writtenBy"]
        yield f"  {field['path']}"
        time = f" at {writer['time']}" if writer is not None and writer["time"] else ""
        author = "" if writer is None else ViewsText.WROTE_IT(writer=writer["manager"], time=time)
        yield f"    - {_ABSENT if live is None else live}{author}"
        yield f"    + {_ABSENT if desired is None else desired}"
