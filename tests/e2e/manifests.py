"""Files of config repos."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FLEET = "cluster.kubernetes-fleet.io/v1"
PLACEMENT = "placement.kubernetes-fleet.io/v1"


def text(*documents: Mapping[str, Any]) -> str:
    """Documents as one YAML file (JSON is YAML)."""
    return "---\n".join(json.dumps(document, indent=1) + "\n" for document in documents)


def asks_nobody(**spec: Any) -> str:
    """A FleetConfig under which no removal waits for a person."""
    spec = {**spec, "removals": {"approval": "Never"}}
    return text(
        {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}, "spec": spec}
    )


def member(name: str, *, connection: Mapping[str, Any] | None = None, **labels: str) -> str:
    """A MemberCluster reached by the context of its name, unless another connection is given."""
    spec = {"connection": dict(connection or {"context": name})}
    return text(
        {"apiVersion": FLEET, "kind": "MemberCluster", "metadata": {"name": name, "labels": labels}, "spec": spec}
    )


def placement(
    namespace: str,
    *,
    name: str = "web",
    count: int | None = None,
    match: Mapping[str, str] | None = None,
    **rolling: int | str,
) -> str:
    """A ClusterResourcePlacement of one namespace: PickN with `count`, PickAll without."""
    policy: dict[str, Any] = {"placementType": "PickAll" if count is None else "PickN"}
    if count is not None:
        policy["numberOfClusters"] = count
    if match:
        terms = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": dict(match)}}]}
        policy["affinity"] = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"unavailablePeriodSeconds": 1, **rolling}}
    spec = {"resourceSelectors": [selector], "policy": policy, "strategy": strategy}
    return text({"apiVersion": PLACEMENT, "kind": "ClusterResourcePlacement", "metadata": {"name": name}, "spec": spec})


def override(namespace: str, config_map: str, path: str, value: str, match: Mapping[str, str]) -> str:
    """A ResourceOverride that replaces one field of a ConfigMap on the clusters with some labels."""
    terms = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": dict(match)}}]}
    rule = {"clusterSelector": terms, "jsonPatchOverrides": [{"op": "replace", "path": path, "value": value}]}
    spec = {
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": config_map}],
        "policy": {"overrideRules": [rule]},
    }
    metadata = {"name": f"{config_map}-override", "namespace": namespace}
    return text({"apiVersion": PLACEMENT, "kind": "ResourceOverride", "metadata": metadata, "spec": spec})


def namespace_file(name: str) -> str:
    """A Namespace."""
    return text({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def config_map(namespace: str, name: str = "settings", **data: str) -> str:
    """A ConfigMap."""
    metadata = {"name": name, "namespace": namespace}
    return text({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def service(namespace: str, name: str = "web") -> str:
    """A Service."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 80}]}
    return text(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}
    )


def deployment(namespace: str, image: str, name: str = "web") -> str:
    """A Deployment of one replica; an image that ends in `:bad` never becomes ready."""
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "web", "image": image}]},
        },
    }
    metadata = {"name": name, "namespace": namespace}
    return text({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
