"""Which workloads a rollout is about, on one cluster: by its references, or by the snapshots that it names."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.envelopes import carried_identities
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.scalers import scalers_of
from gitfleet.api.snapshots import snapshot_name
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord
from gitfleet.api.workload_rollouts import RolloutTrait, WorkloadRollout
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.near_names import nearest
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work
from gitfleet.workload.handlers import Handlers, WorkloadHandler
from gitfleet.workload.texts import WorkloadText

TARGET_REVISION: Final = "targetRevision"
SOURCE_REVISION: Final = "sourceRevision"


class NotFoundHere(Exception):
    """A workload that the rollout names cannot be told; one sentence says why and what to do."""


class Slip(NotFoundHere):
    """What an AppRollout names is no workload, and probably a mistake. `placement` is whose workloads are meant,
    `components` which of them (none: all). With `was_right` it may have been right when it was carried out."""

    def __init__(
        self, sentence: str, placement: PlacementKey, components: tuple[str, ...] = (), *, was_right: bool = False
    ) -> None:
        super().__init__(sentence)
        self.placement, self.components, self.was_right = placement, components, was_right

    def concerns(self, record: RolloutRecord, status: ClusterRolloutStatus | None) -> bool:
        """Whether the rollout has not carried out what it names on a cluster (None: one that it is not about yet)."""
        carried_out = status is not None and status.target is not None and record.is_taken_up(status)
        return not (self.was_right and carried_out)


class NotOneWorkload(Slip):
    """A snapshot has none of the workloads that may be meant, or several."""


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
    scalers: Mapping[Identity, Manifest] = field(default_factory=dict)
    """What sets the replicas of workloads, by the workload."""

    @classmethod
    def of(cls, works: Sequence[Work]) -> Wanted:
        """What the works of one cluster have. Where two have an object, the first counts."""
        found: dict[Identity, Manifest] = {}
        for work in works:
            for manifest in work.manifests:
                found.setdefault(manifest.key.identity, manifest)
        snapshots = {work.placement: work.snapshot for work in works}
        return cls(manifests=found, snapshots=snapshots, scalers=scalers_of(found.values()))


def find(
    record: RolloutRecord,
    placements: Mapping[PlacementKey, PlacementRecord],
    handlers: Handlers,
    policy: PlacingPolicy,
) -> Found:
    """The workloads of a rollout; NotFoundHere where they cannot be told."""
    if named := named_by(record):
        target, *sources = named
        return Found(target=target, sources=tuple(sources), handler=_handler(target, sources, handlers))
    return _of_snapshots(record, placements, handlers, policy)


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
        raise NotFoundHere(WorkloadText.KIND_NO_WORKLOAD_HANDLER_KNOWS(target=target, known=known))
    other = next((one for one in sources if one.group_kind != target.group_kind), None)
    if other is not None:
        raise NotFoundHere(WorkloadText.ANOTHER_KIND_NAME_WORKLOADS_ONE(other=other, target=target))
    return handler


def _of_snapshots(
    record: RolloutRecord,
    placements: Mapping[PlacementKey, PlacementRecord],
    handlers: Handlers,
    policy: PlacingPolicy,
) -> Found:
    key = placement_of(record)
    placement = placements.get(key) if key is not None else None
    if key is None or placement is None:
        raise _no_placement(key, placements)
    movable = movable_from(record.key.namespace, handlers, policy)
    manifest = _workload_in(record, placement, TARGET_REVISION, movable)
    target = manifest.key
    sources: tuple[ObjectKey, ...] = ()
    if record.source_revision is not None:
        source = _workload_in(record, placement, SOURCE_REVISION, movable).key
        sources = () if source.identity == target.identity else (source,)
    handler = _handler(target, sources, handlers)
    template = template_id(handler, manifest.body)
    return Found(target=target, sources=sources, handler=handler, revision=record.revision, template=template)


def _no_placement(key: PlacementKey | None, placements: Mapping[PlacementKey, PlacementRecord]) -> NotFoundHere:
    among = {one.name: one for one in placements if key and (one.kind, one.namespace) == (key.kind, key.namespace)}
    meant = among.get(nearest(key.name, among) or "") if key is not None else None
    if meant is None:
        return NotFoundHere(WorkloadText.NO_PLACEMENT_NAME_ONE_PLACEMENTREF(key=key))
    return Slip(WorkloadText.NO_PLACEMENT_YOU_MEAN_CORRECT(key=key, meant=meant), meant, was_right=True)


def named_snapshots(
    rollouts: Iterable[WorkloadRollout], records: Iterable[RolloutRecord]
) -> dict[PlacementKey, frozenset[str]]:
    """The names of the resource snapshots that rollouts name, or are about, by placement: those in use (decision
    D17)."""
    found: dict[PlacementKey, set[str]] = {}
    for one in (*rollouts, *records):
        if isinstance(one, RolloutTrait) or one.placement_ref is None:
            continue
        key = one.placement_ref.key(one.key.namespace)
        indexes = (index for index in (one.target_revision, one.source_revision) if index is not None)
        about = (status.revision for status in one.clusters) if isinstance(one, RolloutRecord) else ()
        found.setdefault(key, set()).update(snapshot_name(key.name, index) for index in indexes)
        found[key].update(filter(None, about))
    return {key: frozenset(names) for key, names in found.items()}


def template_id(handler: WorkloadHandler, body: JsonObject) -> str:
    """What identifies the content of a workload's pods."""
    return digest_of(handler.template(body))[:16]


Movable = Callable[[ObjectKey], bool]
"""Whether an object is a workload that a rollout may move."""


def movable_from(home: str, handlers: Handlers, policy: PlacingPolicy) -> Movable:
    """Workloads of a kind that a handler knows and of a namespace that a rollout in `home` may act on."""
    return lambda key: key.group_kind in handlers and policy.reaches(home, key.namespace)


def _workload_in(record: RolloutRecord, placement: PlacementRecord, said: str, movable: Movable) -> Manifest:
    """The one workload of the snapshot that a field of the rollout names."""
    index = record.target_revision if said == TARGET_REVISION else record.source_revision
    snapshot = next((one for one in placement.resource_snapshots if str(one.index) == index), None)
    key, components = placement.placement.key, record.component_list
    name, newest = WorkloadText.SNAPSHOT_PLACEMENT(index=index, key=key), placement.latest_resources
    if newest is not None and index is not None and int(index) > newest.index:
        later = WorkloadText.PLACEMENT_NO_SNAPSHOT_YET(key=key, index=index, newest=newest.index, why=said)
        raise Slip(later, key, components)
    if snapshot is None or snapshot.manifests is None:
        gone = WorkloadText.NOT_KEPT_NAME_ONE_GITFLEET(name=name)
        raise Slip(gone, key, components, was_right=True)
    found = list(_candidates(components, snapshot.manifests, movable))
    if len(found) == 1:
        return found[0]
    if not found:
        named = f" {components[0]}" if components else ""
        home = record.key.namespace
        raise NotOneWorkload(WorkloadText.NO_WORKLOAD_KIND_ROLLOUT_MOVE(name=name, named=named, home=home), key)
    raise NotOneWorkload(WorkloadText.WORKLOADS_NAME_ONE_COMPONENTLIST(name=name, count=len(found)), key)


def workloads_in(placement: PlacementRecord, components: Sequence[str], movable: Movable) -> Iterator[Identity]:
    """The workloads of all snapshots of a placement that are kept, those of the component where one is given."""
    for snapshot in placement.resource_snapshots:
        for manifest in _candidates(components, snapshot.manifests or (), movable):
            yield manifest.key.identity


def _candidates(components: Sequence[str], manifests: Sequence[Manifest], movable: Movable) -> Iterator[Manifest]:
    """The workloads of a snapshot that may be meant; where names differ between revisions, a component is the label
    `app.kubernetes.io/name` or `app`, or the name itself."""
    for manifest in manifests:
        if movable(manifest.key) and _is_component(manifest.body, components):
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
    raise NotFoundHere(
        WorkloadText.NOT_OBSERVED_YET(key=key) + (f": {why}" if (why := observation.unreadable.get(key)) else "")
    )
