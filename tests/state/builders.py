"""Values for the tests of `state` and `status`: a small fleet by hand, and the writing of a change onto a tree in
memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any

from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, ClusterScore
from gitfleet.api.clusters import AgentStatus, ClusterStatus, Connection, MemberCluster, PropertyValue, ResourceUsage
from gitfleet.api.conditions import Condition, Conditions, Status
from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.holds import ClusterCount, Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, PlacementType, ResourceSelector
from gitfleet.api.snapshots import DocumentRef, PolicySnapshot, ResourceSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.ports.repos import TreeEntry
from gitfleet.schedule.texts import ScheduleText
from gitfleet.state import StateChange, StateReader, compose_state
from gitfleet.status import placement_conditions

T0 = datetime(2026, 1, 1, tzinfo=UTC)
COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NAMESPACE = ObjectKey("", "v1", "Namespace", "", "web")
CONFIG = ObjectKey("", "v1", "ConfigMap", "web", "settings")
APPLY_TYPES = ("RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")


def condition(
    type_: str, status: str = "True", reason: str = "", message: str = "", *, seconds: int = 0, generation: int = 1
) -> Condition:
    """A condition that changed some seconds after T0."""
    return Condition(
        type=type_,
        status=Status(status),
        reason=reason or type_,
        message=message,
        last_transition_time=T0 + timedelta(seconds=seconds),
        observed_generation=generation,
    )


def cluster(name: str, *, healthy: str = "True", message: str = "", **labels: str) -> MemberCluster:
    """A joined cluster."""
    agent = AgentStatus(
        conditions=(condition("Joined"), condition("Healthy", healthy, message=message)), last_received_heartbeat=T0
    )
    return MemberCluster(
        name=name,
        labels=labels,
        connection=Connection(context=name),
        status=ClusterStatus(
            conditions=(condition("ReadyToJoin"), condition("Joined")),
            properties={"kubernetes-fleet.io/node-count": PropertyValue("2", T0)},
            resource_usage=ResourceUsage(
                capacity={"cpu": "40"}, available={"cpu": "2", "memory": "800Mi"}, observed=T0
            ),
            agent=agent,
        ),
    )


def through(message: str = "", *, upto: str = "Available", last: str = "True", generation: int = 1) -> Conditions:
    """A binding's conditions up to a type, all True but the last."""
    found = []
    for type_ in APPLY_TYPES:
        status = last if type_ == upto else "True"
        found.append(condition(type_, status, message=message if type_ == upto else "", generation=generation))
        if type_ == upto:
            break
    return tuple(found)


def binding(key: PlacementKey, name: str, *, index: int | None = 0, **changes: Any) -> Binding:
    """A bound cluster that has what it should have."""
    snapshot = None if index is None else f"{key.name}-{index}-snapshot"
    base = Binding(
        placement=key,
        cluster=name,
        state=BindingState.BOUND,
        policy_snapshot=f"{key.name}-0",
        resource_snapshot=snapshot,
        applied_snapshot=snapshot,
        decision=ClusterDecision(
            cluster=name, selected=True, score=ClusterScore(0, 0), reason=f'picked "{name}" by scheduling policy'
        ),
        conditions=through(),
    )
    return replace(base, **changes)


def snapshot(key: PlacementKey, index: int, *refs: DocumentRef, created: datetime = T0) -> ResourceSnapshot:
    """A release of two objects of one file."""
    documents = refs or (
        DocumentRef("resources/web.yaml", "b" * 40, 0, NAMESPACE),
        DocumentRef("resources/web.yaml", "b" * 40, 1, CONFIG),
    )
    return ResourceSnapshot(
        placement=key,
        index=index,
        hash=digest_of([str(key), index]),
        commit=COMMIT,
        created=created,
        documents=documents,
    )


def manifest(key: ObjectKey, **data: str) -> Manifest:
    """A payload object."""
    body = {"apiVersion": key.api_version, "kind": key.kind, "metadata": {"name": key.name}, "data": data}
    return Manifest(key=key, body=body, digest=digest_of(body), origin=Origin("resources/app", 1))


def record(name: str = "web", *bindings: Binding, namespace: str = "", latest: int = 0, **spec: Any) -> PlacementRecord:
    """A placement with its snapshots and bindings, its conditions set; `spec` goes to the policy."""
    key = PlacementKey(namespace, name)
    policy = PlacementPolicy(**spec) if spec else None
    base = PlacementRecord(
        placement=Placement(
            key=key,
            selectors=(ResourceSelector(group="", version="v1", kind="Namespace", name="web"),),
            policy=policy,
            labels={"team": "a"},
        ),
        resource_snapshots=tuple(snapshot(key, index) for index in range(latest + 1)),
        policy_snapshots=(
            PolicySnapshot(
                placement=key,
                index=0,
                hash=digest_of(name),
                policy=policy or PlacementPolicy(),
                number_of_clusters=policy.number_of_clusters if policy else None,
            ),
        ),
        bindings=tuple(replace(b, placement=key) for b in bindings),
        decisions=tuple(b.decision for b in bindings if b.decision),
        schedule_key="k1",
    )
    return reported(base)


def with_record(state: FleetState, changed: PlacementRecord) -> FleetState:
    """The state with one record in the place of another."""
    return replace(state, placements={**state.placements, changed.placement.key: changed})


def reported(base: PlacementRecord, *, now: datetime = T0) -> PlacementRecord:
    """The record with the conditions of its placement."""
    found = len(base.bindings)
    message = ScheduleText.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED(found=found)
    scheduled = condition("Scheduled", reason="SchedulingPolicyFulfilled", message=message)
    return placement_conditions(base, scheduled=scheduled, now=now)


def entry(key: ObjectKey, placement: str = "web") -> InventoryEntry:
    """An applied object."""
    return InventoryEntry(
        key=key, placement=PlacementKey("", placement), uid="u-1", applied_digest="a" * 8, shape_digest="c" * 8
    )


def small_fleet() -> FleetState:
    """Three clusters, one placement rolled out to two of them, one object on each, one fault, one hold."""
    key = PlacementKey("", "web")
    web = record(
        "web",
        binding(key, "eu-1"),
        binding(key, "eu-2", conditions=through("deployment web is not available", upto="Available", last="False")),
        placement_type=PlacementType.PICK_N,
        number_of_clusters=2,
    )
    return FleetState(
        observed_commit=COMMIT,
        clusters={
            "eu-1": cluster("eu-1", region="eu"),
            "eu-2": cluster("eu-2", region="eu"),
            "us-1": cluster("us-1", healthy="False", message="no answer for 5 minutes", region="us"),
        },
        placements={key: web},
        inventory={name: {NAMESPACE: entry(NAMESPACE), CONFIG: entry(CONFIG)} for name in ("eu-1", "eu-2")},
        faults=(Fault("placements/shop.yaml", 7, "ClusterResourcePlacement/shop", "spec.policy", "is odd"),),
        last_good={"placements/shop.yaml": (LastGood("d" * 40, (0,)),)},
        holds={HOLD.name: HOLD},
    )


HOLD = Hold(
    name="hold-web-0123456789",
    commit=COMMIT,
    since=T0,
    digest="0123456789" + "a" * 54,
    reasons=(HoldReason(rule=HoldRule.EMPTIED, message="web selects nothing"),),
    removals=(
        Removal(
            kind=RemovalKind.OBJECT,
            placement=PlacementKey("", "web"),
            object=CONFIG,
            judged=(HoldRule.EMPTIED,),
            rules=(HoldRule.EMPTIED,),
        ),
    ),
    objects=2,
    clusters=(ClusterCount(cluster="eu-1", objects=1), ClusterCount(cluster="eu-2", objects=1)),
)


def fault(message: str, severity: Severity = Severity.ERROR) -> Fault:
    """A fault with a message."""
    return Fault("resources/a.yaml", 3, "ConfigMap/a", "data", message, severity)


@dataclass(frozen=True, slots=True)
class StateFile:
    """One file of the branch; a linked one without its content."""

    blob: str
    content: bytes | None = None


def blob_of(content: bytes) -> str:
    """git's id of a blob."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def put(tree: Mapping[str, StateFile], change: StateChange) -> dict[str, StateFile]:
    """The tree after a change, as a repo writer makes it: removals first, then writes and links."""
    kept = {
        path: file
        for path, file in tree.items()
        if not any(path == gone or path.startswith(f"{gone}/") for gone in change.remove)
    }
    written = {path: StateFile(blob_of(content), content) for path, content in change.write.items()}
    return {**kept, **written, **{path: StateFile(blob) for path, blob in change.link.items()}}


@dataclass(frozen=True)
class TreeSource:
    """A source that a StateReader reads one tree from; it notes which files were read."""

    files: Mapping[str, StateFile]
    read: list[str] = field(default_factory=list)

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """The files below a folder."""
        inside = (path for path in self.files if not under or path.startswith(f"{under}/"))
        return {path: TreeEntry("100644", self.files[path].blob) for path in inside}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """Their contents."""
        wanted = set(oids)
        found = {path: file for path, file in self.files.items() if file.blob in wanted and file.content is not None}
        self.read.extend(found)
        return {file.blob: file.content or b"" for file in found.values() if len(file.content or b"") <= limit}


def read_state(files: Mapping[str, StateFile]) -> FleetState:
    """All that a tree says."""
    return StateReader(TreeSource(files), COMMIT).whole()


def composed(
    before: FleetState,
    after: FleetState,
    *,
    now: datetime | None = None,
    version: str = "0",
) -> StateChange:
    """The change between two states."""
    return compose_state(before, after, now=now, version=version)


def reader_of(state: FleetState) -> StateReader:
    """A reader of the branch that holds a state."""
    return StateReader(TreeSource(put({}, composed(FleetState(), state))), COMMIT)
