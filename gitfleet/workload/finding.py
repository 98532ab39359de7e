"""Which workloads a rollout is about, on one cluster: by its references, or by the snapshots that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.scalers import scalers_of
from gitfleet.api.snapshots import snapshot_name
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import RolloutTrait, WorkloadRollout
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.workload.handlers import Handlers, WorkloadHandler
from gitfleet.workload.texts import WorkloadText


class NotFoundHere(Exception):
    """A workload that the rollout names cannot be told; one sentence says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedWorkloads:
    """The workloads by their keys, and who knows their kind; `sources` are none where the target has both revisions.
    `revision` is the snapshot that the cluster must have before the rollout begins ("" where any will do), `template`
    what identifies the target's content in it."""

    target: ObjectKey
    sources: tuple[ObjectKey, ...]
    handler: WorkloadHandler
    revision: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedObjects:
    """What placements want on one cluster, by identity."""

    manifests: Mapping[Identity, Manifest] = field(default_factory=dict)
    snapshots: Mapping[PlacementKey, str] = field(default_factory=dict)
    scalers: Mapping[Identity, Manifest] = field(default_factory=dict)
    """What sets the replicas of workloads, by the workload."""

    @classmethod
    def of(cls, works: Sequence[Work]) -> PlacedObjects:
        """What the works of one cluster have. Where two have an object, the first counts."""
        manifests: dict[Identity, Manifest] = {}
        for work in works:
            for manifest in work.manifests:
                manifests.setdefault(manifest.key.identity, manifest)
        snapshots = {work.placement: work.snapshot for work in works}
        return cls(manifests=manifests, snapshots=snapshots, scalers=scalers_of(manifests.values()))


def find(
    record: RolloutRecord, placements: Mapping[PlacementKey, PlacementRecord], handlers: Handlers, policy: PlacingPolicy
) -> NamedWorkloads:
    """The workloads of a rollout; NotFoundHere where they cannot be told."""
    if named := named_by(record):
        target, *sources = named
        return NamedWorkloads(target=target, sources=tuple(sources), handler=_handler(target, sources, handlers))
    return _of_snapshots(record, placements, handlers, policy)


def named_by(record: RolloutRecord) -> tuple[ObjectKey, ...]:
    """The workloads that a rollout names itself, the target first; none where it names a placement."""
    if record.target_ref is None:
        return ()
    return tuple(reference.key(record.key.namespace) for reference in (record.target_ref, *record.source_ref))


def placement_of(record: RolloutRecord) -> PlacementKey | None:
    """The placement whose snapshots a rollout names."""
    return record.placement_ref.key(record.key.namespace) if record.placement_ref is not None else None


def denial(policy: PlacingPolicy, record: RolloutRecord, keys: Iterable[ObjectKey]) -> str:
    """Why a rollout may not move workloads, "" where it may."""
    placement = placement_of(record)
    for key in keys:
        note = policy.denial(key, str(placement) if placement is not None else None)
        if note is not None:
            return f"{key}: its {note[0][-1]} {note[1]}"
        if not policy.reaches(record.key.namespace, key.namespace):
            return WorkloadText.ANOTHER_NAMESPACE(key=key, namespace=key.namespace)
    return ""


def _handler(target: ObjectKey, sources: Sequence[ObjectKey], handlers: Handlers) -> WorkloadHandler:
    handler = handlers.get(target.group_kind)
    if handler is None:
        kinds = ", ".join(sorted(str(kind) for kind in handlers))
        raise NotFoundHere(WorkloadText.KIND_NO_WORKLOAD_HANDLER_KNOWS(target=target, known=kinds))
    mismatched = next((source for source in sources if source.group_kind != target.group_kind), None)
    if mismatched is not None:
        raise NotFoundHere(WorkloadText.ANOTHER_KIND_NAME_WORKLOADS_ONE(other=mismatched, target=target))
    return handler


def _of_snapshots(
    record: RolloutRecord, placements: Mapping[PlacementKey, PlacementRecord], handlers: Handlers, policy: PlacingPolicy
) -> NamedWorkloads:
    key = placement_of(record)
    placement = placements.get(key) if key is not None else None
    if key is None or placement is None:
        raise NotFoundHere(WorkloadText.NO_PLACEMENT_NAME_ONE_PLACEMENTREF(key=key))

    def is_movable(key: ObjectKey) -> bool:
        return key.group_kind in handlers and policy.reaches(record.key.namespace, key.namespace)

    manifest = _workload_in(record, placement, record.target_revision, is_movable)
    target = manifest.key
    sources: tuple[ObjectKey, ...] = ()
    if record.source_revision is not None:
        source = _workload_in(record, placement, record.source_revision, is_movable).key
        sources = () if source.identity == target.identity else (source,)
    handler = _handler(target, sources, handlers)
    template = template_id(handler, manifest.body)
    return NamedWorkloads(target=target, sources=sources, handler=handler, revision=record.revision, template=template)


def named_snapshots(
    rollouts: Iterable[WorkloadRollout], records: Iterable[RolloutRecord]
) -> dict[PlacementKey, frozenset[str]]:
    """The names of the resource snapshots that rollouts name, or are about, by placement: those in use (decision
    D17)."""
    names_by_placement: dict[PlacementKey, set[str]] = {}
    for rollout in (*rollouts, *records):
        if isinstance(rollout, RolloutTrait) or rollout.placement_ref is None:
            continue
        key = rollout.placement_ref.key(rollout.key.namespace)
        indexes = (index for index in (rollout.target_revision, rollout.source_revision) if index is not None)
        about = (status.revision for status in rollout.clusters) if isinstance(rollout, RolloutRecord) else ()
        names_by_placement.setdefault(key, set()).update(snapshot_name(key.name, index) for index in indexes)
        names_by_placement[key].update(filter(None, about))
    return {key: frozenset(names) for key, names in names_by_placement.items()}


def template_id(handler: WorkloadHandler, body: JsonObject) -> str:
    """What identifies the content of a workload's pods."""
    return digest_of(handler.template(body))[:16]


def _workload_in(
    record: RolloutRecord, placement: PlacementRecord, index: str | None, is_movable: Callable[[ObjectKey], bool]
) -> Manifest:
    """The one workload of a snapshot of the placement."""
    snapshot = next((candidate for candidate in placement.resource_snapshots if str(candidate.index) == index), None)
    key, components = placement.placement.key, record.component_list
    name = WorkloadText.SNAPSHOT_PLACEMENT(index=index, key=key)
    if snapshot is None or snapshot.manifests is None:
        raise NotFoundHere(WorkloadText.NOT_KEPT_NAME_ONE_GITFLEET(name=name))
    matches = [
        manifest
        for manifest in snapshot.manifests
        if is_movable(manifest.key) and _is_component(manifest.body, components)
    ]
    if len(matches) != 1:
        named, home = f" {components[0]}" if components else "", record.key.namespace
        raise NotFoundHere(
            WorkloadText.WORKLOADS_NAME_ONE_COMPONENTLIST(name=name, count=len(matches), named=named, home=home)
        )
    return matches[0]


def _is_component(body: JsonObject, components: Sequence[str]) -> bool:
    """Whether a workload may be meant: where names differ between revisions, a component is the label
    `app.kubernetes.io/name` or `app`, or the name itself."""
    metadata = body.get("metadata") or {}
    labels = metadata.get("labels") or {}
    names = {metadata.get("name"), labels.get("app.kubernetes.io/name"), labels.get("app")}
    return not components or components[0] in names


def live_of(observation: ClusterObservation, key: ObjectKey) -> LiveObject | None:
    """The live object of a key, whatever its version; NotFoundHere where it was not read."""
    if key in observation.live:
        return observation.live[key]
    for observed_key, live in observation.live.items():
        if observed_key.identity == key.identity:
            return live
    raise NotFoundHere(
        WorkloadText.NOT_OBSERVED_YET(key=key) + (f": {why}" if (why := observation.unreadable.get(key)) else "")
    )
