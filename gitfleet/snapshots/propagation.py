"""What never leaves the hub: disabled kinds, reserved namespaces, and objects that controllers generate."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.placements import PLACEMENT_GROUP

_GROUPS: Final = frozenset({"events.k8s.io", "coordination.k8s.io", "metrics.k8s.io", CLUSTER_GROUP})
_GROUP_KINDS: Final = frozenset(
    ("networking.fleet.azure.com", kind) for kind in ("ServiceImport", "TrafficManagerProfile", "TrafficManagerBackend")
)
_ENVELOPES: Final = frozenset({"ClusterResourceEnvelope", "ResourceEnvelope"})
_CORE_KINDS: Final = frozenset({("v1", "Pod"), ("v1", "Node")})
_GENERATED_WHEN_OWNED: Final = frozenset({("apps", "ReplicaSet"), ("apps", "ControllerRevision"), ("batch", "Job")})
_MANAGED_SLICE: Final = "endpointslice.kubernetes.io/managed-by"


def kind_disabled(group: str, version: str, kind: str) -> bool:
    """Whether objects of a kind are never selected: gitfleet's own kinds but the envelopes, leases, events of the newer
    group, metrics, Pods and Nodes (KubeFleet pkg/utils/apiresources.go)."""
    if group in _GROUPS or (group, kind) in _GROUP_KINDS:
        return True
    if group == PLACEMENT_GROUP:
        return kind not in _ENVELOPES
    return group == "" and (version, kind) in _CORE_KINDS


def is_reserved_namespace(name: str) -> bool:
    """Whether a namespace belongs to Kubernetes or to the fleet itself; selecting it is a user error."""
    return name == "default" or name.startswith(("kube-", "fleet-"))


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
