"""Which workloads a rollout is about, on one cluster: by its references, or by the snapshots that it names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitfleet.api.envelopes import carried_identities
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.workload.handlers import Handlers, WorkloadHandler


class NotFoundHere(Exception):
    """A workload that the rollout names cannot be told; one sentence says why and what to do."""


class NotOneWorkload(NotFoundHere):
    """A snapshot has none of the workloads that may be meant, or several."""


class NotMadeYet(NotFoundHere):
    """A revision that is named is beyond the newest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The workloads by their keys, and who knows their kind; `sources` are none where the target has both revisions.
    `revision` is the snapshot that the cluster must have before the rollout begins ("" where any will do), `template`
    what identifies the target's content in it."""

    target: ObjectKey
    sources: tuple[ObjectKey, ...]
    handler: WorkloadHandler
    revision: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What placements want on one cluster, by identity."""

    manifests: Mapping[Identity, Manifest] = field(default_factory=dict)
    snapshots: Mapping[PlacementKey, str] = field(default_factory=dict)

    @classmethod
    def of(cls, works: Sequence[Work]) -> Wanted:
        """What the works of one cluster have. Where two have an object, the first counts."""
        found: dict[Identity, Manifest] = {}
        for work in works:
            for manifest in work.manifests:
                found.setdefault(manifest.key.identity, manifest)
        return cls(manifests=found, snapshots={work.placement: work.snapshot for work in works})


def find(record: RolloutRecord, placements: Mapping[PlacementKey, PlacementRecord], handlers: Handlers) -> Found:
    """The workloads of a rollout; NotFoundHere where they cannot be told."""
    if named := named_by(record):
        target, *sources = named
        return Found(target=target, sources=tuple(sources), handler=_handler(target, sources, handlers))
    return _of_snapshots(record, placements, handlers)


def named_by(record: RolloutRecord) -> tuple[ObjectKey, ...]:
    """The workloads that a rollout names itself, the target first; none where it names a placement."""
    if record.target_ref is None:
        return ()
    return tuple(one.key(record.key.namespace) for one in (record.target_ref, *record.source_ref))


def placement_of(record: RolloutRecord) -> PlacementKey | None:
    """The placement whose snapshots a rollout names."""
    return record.placement_ref.key(record.key.namespace) if record.placement_ref is not None else None


def _handler(target: ObjectKey, sources: Sequence[ObjectKey], handlers: Handlers) -> WorkloadHandler:
    handler = handlers.get(target.group_kind)
    if handler is None:
        known = ", ".join(sorted(str(kind) for kind in handlers))
        raise NotFoundHere(f"{target} is of a kind that no workload handler knows; known are {known}")
    other = next((one for one in sources if one.group_kind != target.group_kind), None)
    if other is not None:
        raise NotFoundHere(f"{other} is of another kind than {target}; name workloads of one kind")
    return handler


def _of_snapshots(
    record: RolloutRecord, placements: Mapping[PlacementKey, PlacementRecord], handlers: Handlers
) -> Found:
    key = placement_of(record)
    placement = placements.get(key) if key is not None else None
    if key is None or placement is None:
        raise NotFoundHere(f"there is no placement {key}; name one in placementRef")
    _check_made(record, placement)
    manifest = _workload_in(record, placement, record.target_revision, handlers)
    target = manifest.key
    sources: tuple[ObjectKey, ...] = ()
    if record.source_revision is not None:
        source = _workload_in(record, placement, record.source_revision, handlers).key
        sources = () if source.identity == target.identity else (source,)
    revision = f"{key.name}-{record.target_revision}-snapshot"
    handler = _handler(target, sources, handlers)
    template = template_id(handler, manifest.body)
    return Found(target=target, sources=sources, handler=handler, revision=revision, template=template)


def _check_made(record: RolloutRecord, placement: PlacementRecord) -> None:
    newest = max((one.index for one in placement.resource_snapshots), default=None)
    for wrong, index in (("targetRevision", record.target_revision), ("sourceRevision", record.source_revision)):
        if newest is not None and index is not None and int(index) > newest:
            name = placement.placement.key
            raise NotMadeYet(f"placement {name} has no snapshot {index} yet; its newest is {newest}: correct {wrong}")


def template_id(handler: WorkloadHandler, body: JsonObject) -> str:
    """What identifies the content of a workload's pods."""
    return digest_of(handler.template(body))[:16]


def _workload_in(record: RolloutRecord, placement: PlacementRecord, index: str | None, handlers: Handlers) -> Manifest:
    snapshot = next((one for one in placement.resource_snapshots if str(one.index) == index), None)
    name = f"snapshot {index} of placement {placement.placement.key}"
    if snapshot is None or snapshot.manifests is None:
        raise NotFoundHere(f"{name} is not kept; name one that `gitfleet get snapshots` lists")
    found = list(_candidates(record.component_list, snapshot.manifests, handlers))
    if len(found) == 1:
        return found[0]
    if not found:
        named = f" {record.component_list[0]}" if record.component_list else ""
        raise NotOneWorkload(f"{name} has no workload{named} of a kind that a rollout can move")
    raise NotOneWorkload(f"{name} has {len(found)} workloads; name one of them in componentList")


def workloads_in(placement: PlacementRecord, components: Sequence[str], handlers: Handlers) -> Iterator[Identity]:
    """The workloads of all snapshots of a placement that are kept, those of the component where one is given."""
    for snapshot in placement.resource_snapshots:
        for manifest in _candidates(components, snapshot.manifests or (), handlers):
            yield manifest.key.identity


def _candidates(components: Sequence[str], manifests: Sequence[Manifest], handlers: Handlers) -> Iterator[Manifest]:
    """The workloads of a snapshot that may be meant; where names differ between revisions, a component is the label
    `app.kubernetes.io/name` or `app`, or the name itself."""
    for manifest in manifests:
        if manifest.key.group_kind in handlers and _is_component(manifest.body, components):
            yield manifest


def _is_component(body: JsonObject, components: Sequence[str]) -> bool:
    metadata = body.get("metadata") or {}
    labels = metadata.get("labels") or {}
    names = {metadata.get("name"), labels.get("app.kubernetes.io/name"), labels.get("app")}
    return not components or components[0] in names


def is_coming(target: Identity, clusters: Container[str], placements: Iterable[PlacementRecord]) -> bool:
    """Whether the newest snapshot of a placement has a workload and is still to come to one of the clusters."""
    return any(_moves(one, clusters) and _has(target, one) for one in placements)


def _moves(record: PlacementRecord, clusters: Container[str]) -> bool:
    newest = record.latest_resources
    return newest is not None and any(
        one.cluster in clusters and one.deleting is None and one.resource_snapshot != newest.name
        for one in record.bindings
    )


def _has(target: Identity, record: PlacementRecord) -> bool:
    newest = record.latest_resources
    manifests: tuple[Manifest, ...] = (newest.manifests or ()) if newest is not None else ()
    if any(one.key.identity == target for one in manifests):
        return True
    return any(target in inside for inside in carried_identities(manifests).values())


def live_of(observation: ClusterObservation, key: ObjectKey) -> LiveObject | None:
    """The live object of a key, whatever its version; NotFoundHere where it was not read."""
    if key in observation.live:
        return observation.live[key]
    for known, live in observation.live.items():
        if known.identity == key.identity:
            return live
    raise NotFoundHere(f"{key} was not observed yet" + (f": {why}" if (why := observation.unreadable.get(key)) else ""))
