"""What never leaves the hub: disabled kinds, reserved namespaces, and objects that controllers generate."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from gitfleet.api.objects import JsonObject, ObjectKey

_GENERATED_WHEN_OWNED: Final = frozenset({("apps", "ReplicaSet"), ("apps", "ControllerRevision"), ("batch", "Job")})
_MANAGED_SLICE: Final = "endpointslice.kubernetes.io/managed-by"


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
