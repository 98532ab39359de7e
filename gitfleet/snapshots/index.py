"""The payload of one commit, ordered and filtered once for all placements: dependencies before what needs them
(KubeFleet resourceSortOrder), without what never leaves the hub."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.folders import Folder
from gitfleet.api.objects import GroupKind, Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.steps import never_run
from gitfleet.formats.kinds import LAST_RANK, is_selectable, snapshot_rank
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject

OrderKey = tuple[int, str, str]
"""The rank of the kind, its group and version, and the name."""
_GENERATED_WHEN_OWNED: Final = frozenset({("apps", "ReplicaSet"), ("apps", "ControllerRevision"), ("batch", "Job")})
_MANAGED_SLICE: Final = "endpointslice.kubernetes.io/managed-by"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadIndex:
    """What can be placed of one commit. `refused`: the commit is refused as a whole, and nothing counts as removed."""

    kinds: Mapping[GroupKind, tuple[Manifest, ...]]
    namespaces: Mapping[str, tuple[Manifest, ...]]
    objects: Mapping[Identity, tuple[Manifest, ...]]
    """By identity; several where variants of a Folder have an object."""
    namespaced: Mapping[GroupKind, bool]
    refused: bool = False
    identities: frozenset[Identity] = frozenset()
    """(group, kind, namespace, name) of the whole payload; filled in only when the commit is refused."""
    failed: frozenset[Identity] = frozenset()
    """The same of objects that cannot be read: whoever has one keeps the version it has, nobody else gets it."""
    policy: PlacingPolicy = USUAL_POLICY
    folders: Mapping[str, Folder] = field(default_factory=dict)

    @property
    def retains_some(self) -> bool:
        """Whether anything that a snapshot has and this payload lacks must stay."""
        return self.refused or bool(self.failed)

    def retains(self, key: ObjectKey) -> bool:
        """Whether an object that is not here must not count as removed."""
        return key.identity in self.failed or (self.refused and key.identity not in self.identities)

    def of_kind(self, kind: GroupKind) -> tuple[Manifest, ...]:
        """All objects of a kind, whatever version they are written in, in snapshot order."""
        return self.kinds.get(kind, ())

    def in_namespace(self, namespace: str) -> tuple[Manifest, ...]:
        """All objects that lie in a namespace, the Namespace itself not among them, in snapshot order."""
        return self.namespaces.get(namespace, ())


PayloadMemo = tuple[Desired, PayloadIndex] | None
"""The index made last, with the desired tree that it was made of."""


def index_of(desired: Desired, memo: PayloadMemo, failures: Failures) -> tuple[PayloadIndex, PayloadMemo]:
    """The index of a commit's payload; one with objects that cannot be read is not kept."""
    if memo is not None and memo[0] is desired:
        return memo[1], memo
    index = index_payload(
        desired.payload,
        desired.namespaced,
        refused=desired.refused,
        policy=desired.config.policy,
        folders=desired.folders,
        failures=failures,
    )
    return index, None if index.failed else (desired, index)


def index_payload(
    payload: Iterable[Manifest],
    namespaced: Mapping[GroupKind, bool],
    *,
    refused: bool = False,
    policy: PlacingPolicy | None = None,
    folders: Mapping[str, Folder] | None = None,
    failures: Failures | None = None,
) -> PayloadIndex:
    """Order and group the payload; disabled kinds, objects that are never propagated and hooks that gitfleet does not
    run are left out.

    One pass and one sort: 20,000 manifests take a fraction of a second, so it is simply rebuilt for each commit.
    """
    everything = list(payload)
    contained = failures or Failures()
    services = {(m.key.namespace, m.key.name) for m in everything if m.key.kind == "Service" and not m.key.group}
    kinds: dict[GroupKind, list[Manifest]] = {}
    namespaces: dict[str, list[Manifest]] = {}
    objects: dict[Identity, tuple[Manifest, ...]] = {}
    failed: set[Identity] = set()
    for manifest in sorted(everything, key=order_of):
        key = manifest.key
        placeable = contained.contain(Subject.of_object(key), None, _is_placeable, manifest, services)
        if placeable is None:
            failed.add(key.identity)
        if not placeable:
            continue
        kinds.setdefault(key.group_kind, []).append(manifest)
        if key.namespace:
            namespaces.setdefault(key.namespace, []).append(manifest)
        objects[key.identity] = (*objects.get(key.identity, ()), manifest)
    return PayloadIndex(
        kinds={kind: tuple(manifests) for kind, manifests in kinds.items()},
        namespaces={namespace: tuple(manifests) for namespace, manifests in namespaces.items()},
        objects=objects,
        namespaced=namespaced,
        refused=refused,
        identities=frozenset(m.key.identity for m in everything) if refused else frozenset(),
        failed=frozenset(failed),
        policy=policy or USUAL_POLICY,
        folders=folders or {},
    )


def _is_placeable(manifest: Manifest, services: Container[tuple[str, str]]) -> bool:
    """Whether an object may be placed; all that selecting reads of it is read here, where it fails by itself."""
    key = manifest.key
    dict(manifest.labels)
    is_placed = is_propagated(key, manifest.body, services=services) and never_run(manifest) is None
    return is_placed and is_selectable(key.group, key.kind)


def is_propagated(
    key: ObjectKey,
    body: JsonObject,
    *,
    services: Container[tuple[str, str]] = (),
    hub_runs_workloads: bool = False,
) -> bool:
    """Whether an object of an enabled kind may be placed; `services` are (namespace, name) of the payload's Services.

    Left out are objects being deleted, core Events, and what controllers generate from other objects (decision D22, so
    owned Jobs too). PersistentVolumeClaims stay behind only where the hub itself runs workloads, which a git hub never
    does.
    """
    metadata = body.get("metadata") or {}
    if metadata.get("deletionTimestamp"):
        return False
    if metadata.get("ownerReferences") and (key.group, key.kind) in _GENERATED_WHEN_OWNED:
        return False
    match key.group, key.kind:
        case "", "Event":
            return False
        case "", "ConfigMap":
            return key.name != "kube-root-ca.crt"
        case "", "ServiceAccount":
            return key.name != "default"
        case "", "Secret":
            return body.get("type") != "kubernetes.io/service-account-token"
        case "", "PersistentVolumeClaim":
            return not hub_runs_workloads
        case "", "Endpoints":
            return (key.namespace, key.name) not in services
        case "discovery.k8s.io", "EndpointSlice":
            return _MANAGED_SLICE not in (metadata.get("labels") or {})
        case _:
            return True


def snapshot_order(key: ObjectKey) -> OrderKey:
    """The sorting key of an object: known kinds by rank (the group does not count) and then by group and version,
    unknown kinds last by group, version and kind; ties by `namespace/name`."""
    rank = snapshot_rank(key.kind)
    version = f"{key.group}/{key.version}" if key.group or rank == LAST_RANK else key.version
    text = f"{version}, Kind={key.kind}" if rank == LAST_RANK else version
    return rank, text, f"{key.namespace}/{key.name}"


def order_of(manifest: Manifest) -> tuple[OrderKey, tuple[str, ...]]:
    """`snapshot_order` of a manifest; the variants of an object stand side by side."""
    return snapshot_order(manifest.key), manifest.variants
