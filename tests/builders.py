"""Short builders of objects as people write them, and of whole config repos, for tests and benchmarks.

Every builder gives a fresh plain mapping, ready for YAML and for a cluster. An argument left out leaves its field out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from gitfleet.api.clusters import ClusterStatus, Connection, MemberCluster, PropertyValue
from gitfleet.api.objects import JsonObject, Manifest, Origin, key_of
from gitfleet.formats.canonical_json import digest_of

PLACEMENT_API: Final = "placement.kubernetes-fleet.io/v1beta1"
CLUSTER_API: Final = "cluster.kubernetes-fleet.io/v1beta1"

_FOLDERS: Final[Mapping[str, str]] = {
    "FleetConfig": "",
    "MemberCluster": "clusters",
    "Freeze": "freezes",
    "FreezeOverride": "freezes",
    "ClusterResourcePlacement": "placements",
    "ResourcePlacement": "placements",
    "ClusterStagedUpdateStrategy": "strategies",
    "StagedUpdateStrategy": "strategies",
    "ClusterStagedUpdateRun": "runs",
    "StagedUpdateRun": "runs",
    "ClusterResourceOverride": "overrides",
    "ResourceOverride": "overrides",
    "ClusterApprovalRequest": "approvals",
    "ApprovalRequest": "approvals",
    "ClusterResourcePlacementEviction": "evictions",
    "Quarantine": "quarantines",
    "Pin": "pins",
    "ClusterResourcePlacementDisruptionBudget": "budgets",
    "RolloutTrait": "rollouts",
    "AppRollout": "rollouts",
    "MetricTemplate": "rollouts",
}


_RISKY: Final = frozenset("0123456789+-.")
"""What a number may begin with."""


class _Dumper(yaml.SafeDumper):
    """Quotes every text that kubectl would read as something else (`y`, `1e3`), which PyYAML's own dumper does not."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal parts are written out, as people write them."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    risky = text[:1] in _RISKY or text in ("y", "Y", "n", "N")
    style = "|" if "\n" in text else "'" if risky else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)


def an_object(api_version: str, kind: str, name: str, *, namespace: str = "", **parts: Any) -> dict[str, Any]:
    """Any object; `labels` and `annotations` go to metadata, None is left out, the rest are fields of the object."""
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for part in ("labels", "annotations"):
        value = parts.pop(part, None)
        if value:
            metadata[part] = dict(value)
    given = {field: value for field, value in parts.items() if value is not None}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **given}


def namespace(name: str, *, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A Namespace."""
    return an_object("v1", "Namespace", name, labels=labels)


def config_map(namespace: str, name: str, data: Mapping[str, str] | None = None, **parts: Any) -> dict[str, Any]:
    """A ConfigMap."""
    return an_object("v1", "ConfigMap", name, namespace=namespace, data=dict(data or {}), **parts)


def secret(namespace: str, name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """A Secret with stringData."""
    return an_object("v1", "Secret", name, namespace=namespace, stringData=dict(texts))


def deployment(
    namespace: str, name: str, image: str = "web:1", replicas: int | None = 1, **parts: Any
) -> dict[str, Any]:
    """A Deployment of one container that is called as the Deployment is."""
    return _workload("Deployment", namespace, name, image, {"replicas": replicas}, parts)


def stateful_set(
    namespace: str, name: str, image: str = "db:1", replicas: int | None = 1, **parts: Any
) -> dict[str, Any]:
    """A StatefulSet of one container."""
    return _workload("StatefulSet", namespace, name, image, {"replicas": replicas, "serviceName": name}, parts)


def daemon_set(namespace: str, name: str, image: str = "agent:1", **parts: Any) -> dict[str, Any]:
    """A DaemonSet of one container."""
    return _workload("DaemonSet", namespace, name, image, {}, parts)


def job(namespace: str, name: str, image: str = "task:1", **parts: Any) -> dict[str, Any]:
    """A Job of one container."""
    pod = {"containers": [{"name": name, "image": image}], "restartPolicy": "Never"}
    return an_object("batch/v1", "Job", name, namespace=namespace, spec={"template": {"spec": pod}}, **parts)


def service(namespace: str, name: str, *, type_: str | None = None, port: int = 80, **parts: Any) -> dict[str, Any]:
    """A Service for the pods labelled `app: <name>`; an ExternalName one points to an example host."""
    spec: dict[str, Any] = {"selector": {"app": name}, "ports": [{"name": "http", "port": port, "protocol": "TCP"}]}
    if type_ == "ExternalName":
        spec = {"externalName": f"{name}.example.com"}
    if type_ is not None:
        spec["type"] = type_
    return an_object("v1", "Service", name, namespace=namespace, spec=spec, **parts)


def disruption_budget(namespace: str, name: str, *, min_available: int | str = 1) -> dict[str, Any]:
    """A PodDisruptionBudget for the pods labelled `app: <name>`."""
    spec = {"minAvailable": min_available, "selector": {"matchLabels": {"app": name}}}
    return an_object("policy/v1", "PodDisruptionBudget", name, namespace=namespace, spec=spec)


def custom_definition(group: str, kind: str, *, namespaced: bool = True, status: bool = True) -> dict[str, Any]:
    """A CustomResourceDefinition, version v1, for any content; `status` False leaves the status subresource out."""
    plural = f"{kind.lower()}s"
    version: dict[str, Any] = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    if status:
        version["subresources"] = {"status": {}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    scope = "Namespaced" if namespaced else "Cluster"
    spec = {"group": group, "names": names, "scope": scope, "versions": [version]}
    return an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec=spec)


def member_cluster(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    properties: Mapping[str, str] | None = None,
    connection: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A MemberCluster file; `properties` are written as its status, `connection` None is the simulated one."""
    identity = {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
    spec: dict[str, Any] = {"identity": identity, "connection": dict(connection or {"simulated": True})}
    if taints:
        spec["taints"] = [dict(taint) for taint in taints]
    status = {"properties": {key: {"value": value} for key, value in properties.items()}} if properties else None
    return an_object(CLUSTER_API, "MemberCluster", name, labels=labels, spec=spec, status=status)


def select_namespace(name: str) -> dict[str, str]:
    """The resource selector of one namespace with everything in it."""
    return {"group": "", "version": "v1", "kind": "Namespace", "name": name}


def placement(
    name: str,
    *namespaces: str,
    selectors: Sequence[Mapping[str, Any]] | None = None,
    policy: Mapping[str, Any] | None = None,
    strategy: Mapping[str, Any] | None = None,
    renamed_from: str | None = None,
) -> dict[str, Any]:
    """A ClusterResourcePlacement that selects namespaces (its own name when none is given) or by `selectors`."""
    chosen = list(selectors) if selectors is not None else [select_namespace(one) for one in namespaces or (name,)]
    spec: dict[str, Any] = {"resourceSelectors": [dict(selector) for selector in chosen]}
    if policy is not None:
        spec["policy"] = dict(policy)
    if strategy is not None:
        spec["strategy"] = dict(strategy)
    body = an_object(PLACEMENT_API, "ClusterResourcePlacement", name, spec=spec)
    if renamed_from is not None:
        body["metadata"]["annotations"] = {"gitfleet.dev/renamed-from": renamed_from}
    return body


def pick_n(count: int, *, match_labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A PickN policy, if wanted for clusters with certain labels only."""
    policy: dict[str, Any] = {"placementType": "PickN", "numberOfClusters": count}
    if match_labels:
        term = {"labelSelector": {"matchLabels": dict(match_labels)}}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}}
        policy["affinity"] = {"clusterAffinity": required}
    return policy


def pick_fixed(*clusters: str) -> dict[str, Any]:
    """A PickFixed policy."""
    return {"placementType": "PickFixed", "clusterNames": list(clusters)}


def rolling_update(**settings: int | str) -> dict[str, Any]:
    """A RollingUpdate strategy: maxUnavailable, maxSurge, unavailablePeriodSeconds."""
    return {"type": "RollingUpdate", "rollingUpdate": dict(settings)}


def staged_strategy(name: str, *stages: Mapping[str, Any]) -> dict[str, Any]:
    """A ClusterStagedUpdateStrategy; see `stage`."""
    return an_object(PLACEMENT_API, "ClusterStagedUpdateStrategy", name, spec={"stages": [dict(one) for one in stages]})


def stage(
    name: str,
    *,
    match_labels: Mapping[str, str] | None = None,
    approval: bool = False,
    wait: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """One stage: its clusters by label, and what must happen after it: a person's approval, a wait such as `10m`."""
    tasks: list[dict[str, str]] = [{"type": "TimedWait", "waitTime": wait}] if wait else []
    if approval:
        tasks.append({"type": "Approval"})
    out: dict[str, Any] = {"name": name, "labelSelector": {"matchLabels": dict(match_labels or {})}, **fields}
    return {**out, "afterStageTasks": tasks} if tasks else out


def analysis(metric: str = "error-rate", *, limit: float = 0.05, **fields: Any) -> dict[str, Any]:
    """An Analysis of a metric of the template web/NAME; `fields` are those of the metric, and `onFailure` and `scope`
    of the task."""
    own: dict[str, Any] = {name: fields.pop(name) for name in ("onFailure", "scope") if name in fields}
    reference = {"namespace": "web", "name": metric}
    one = {"name": metric, "metricsRange": {"max": limit}, "templateRef": reference, **fields}
    return {"type": "Analysis", "metrics": [one], **own}


def metric_template(name: str = "error-rate", query: str = 'errors{cluster=~"{{ clusters }}"}') -> dict[str, Any]:
    """A MetricTemplate of namespace web."""
    spec = {"provider": {"address": "http://prometheus.example:9090"}, "query": query}
    return an_object("gitfleet.dev/v1alpha1", "MetricTemplate", name, namespace="web", spec=spec)


def staged_run(name: str, *, placement: str, strategy: str, index: int | str | None = None) -> dict[str, Any]:
    """A ClusterStagedUpdateRun that runs at once; `index` None is the latest snapshot."""
    spec = {"placementName": placement, "stagedRolloutStrategyName": strategy}
    if index is not None:
        spec["resourceSnapshotIndex"] = str(index)
    return an_object(PLACEMENT_API, "ClusterStagedUpdateRun", name, spec=spec)


def approval(run: str, stage: str, *, approved: bool = True, at: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    """The approval of a run's stage as a person merges it; `approved` False rejects."""
    answer = ("True", "Approved") if approved else ("False", "Rejected")
    condition = {"type": "Approved", "status": answer[0], "reason": answer[1], "message": "", "lastTransitionTime": at}
    spec = {"parentStageRollout": run, "targetStage": stage}
    status = {"conditions": [condition]}
    return an_object(PLACEMENT_API, "ClusterApprovalRequest", f"{run}-{stage}", spec=spec, status=status)


def eviction(name: str, placement: str, cluster: str) -> dict[str, Any]:
    """A ClusterResourcePlacementEviction."""
    spec = {"placementName": placement, "clusterName": cluster}
    return an_object(PLACEMENT_API, "ClusterResourcePlacementEviction", name, spec=spec)


def placement_budget(placement: str, **spec: int | str) -> dict[str, Any]:
    """The ClusterResourcePlacementDisruptionBudget of a placement: minAvailable or maxUnavailable."""
    return an_object(PLACEMENT_API, "ClusterResourcePlacementDisruptionBudget", placement, spec=dict(spec))


def override_rule(*patches: Mapping[str, Any], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A rule of an override: these patches, or that the object is deleted, on clusters with labels or on all."""
    terms = [{"labelSelector": {"matchLabels": dict(labels)}}] if labels else []
    how = {"jsonPatchOverrides": list(patches)} if patches else {"overrideType": "Delete"}
    return {"clusterSelector": {"clusterSelectorTerms": terms}, **how}


def override(name: str, of: str, *rules: JsonObject, namespace: str = "web", **spec: Any) -> dict[str, Any]:
    """A ResourceOverride of one object (`ConfigMap/settings`), or, for a Namespace and all that is in it
    (`Namespace/web`), a ClusterResourceOverride."""
    kind, _, target = of.partition("/")
    selector = {"group": "apps" if kind == "Deployment" else "", "version": "v1", "kind": kind, "name": target}
    policy = {"overrideRules": list(rules)}
    if kind == "Namespace":
        spec = {**spec, "clusterResourceSelectors": [selector], "policy": policy}
        return an_object(PLACEMENT_API, "ClusterResourceOverride", name, spec=spec)
    spec = {**spec, "resourceSelectors": [selector], "policy": policy}
    return an_object(PLACEMENT_API, "ResourceOverride", name, namespace=namespace, spec=spec)


def fleet_config(**spec: Any) -> dict[str, Any]:
    """A FleetConfig."""
    return an_object("gitfleet.dev/v1alpha1", "FleetConfig", "fleet", spec=spec)


def freeze(name: str, until: str, **spec: Any) -> dict[str, Any]:
    """A Freeze of everything, unless its `scope` says less."""
    spec = {"reason": "no changes", "owner": "ops", "until": until, **spec}
    return an_object("gitfleet.dev/v1alpha1", "Freeze", name, spec=spec)


def freeze_override(name: str, expires: str, **spec: Any) -> dict[str, Any]:
    """A FreezeOverride."""
    spec = {"reason": "urgent", "owner": "ops", "expires": expires, **spec}
    return an_object("gitfleet.dev/v1alpha1", "FreezeOverride", name, spec=spec)


def quarantine(name: str, placement: str, digest: str, **spec: Any) -> dict[str, Any]:
    """A Quarantine, or with `lifted=True` the file that lifts one."""
    spec = {"placement": placement, "digest": digest, **spec}
    return an_object("gitfleet.dev/v1alpha1", "Quarantine", name, spec=spec)


def pin(placement: str, snapshot: int, digest: str, *, name: str = "", **spec: Any) -> dict[str, Any]:
    """A Pin of a placement, `name` or `namespace/name`, to an older snapshot."""
    own = name or placement.rpartition("/")[2]
    content = {"placement": placement, "snapshot": snapshot, "digest": digest, **spec}
    return an_object("gitfleet.dev/v1alpha1", "Pin", own, spec=content)


def to_yaml(*bodies: JsonObject) -> str:
    """Objects as the text of one YAML file."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 120}
    return "---\n".join(yaml.dump(dict(body), Dumper=_Dumper, **options) for body in bodies)


def path_of(body: JsonObject) -> str:
    """Where a config repo keeps an object by convention (contracts.md §1)."""
    key = key_of(body)
    if key.kind == "FleetConfig":
        return "gitfleet.yaml"
    folder = _FOLDERS.get(key.kind)
    if folder is not None and not key.namespace:
        return f"{folder}/{key.name}.yaml"
    if folder is not None:
        return f"{folder}/{key.namespace}-{key.name}.yaml"
    home = key.name if key.kind == "Namespace" else key.namespace or "cluster"
    return f"resources/{home}/{key.kind.lower()}-{key.name}.yaml"


def repo_files_for(*bodies: JsonObject) -> dict[str, str]:
    """The files of a config repo that holds the objects, path to text, each object in its conventional place."""
    grouped: dict[str, list[JsonObject]] = {}
    for body in bodies:
        grouped.setdefault(path_of(body), []).append(body)
    return {path: to_yaml(*found) for path, found in sorted(grouped.items())}


def manifest_of(body: JsonObject, *, path: str | None = None) -> Manifest:
    """An object as gitfleet reads it from a repo."""
    return Manifest(key=key_of(body), body=body, digest=digest_of(body), origin=Origin(path or path_of(body), 1))


def member_of(body: JsonObject) -> MemberCluster:
    """A `member_cluster` as the model's value, for tests below the reading of files: labels, properties, simulated."""
    metadata = body["metadata"]
    written = (body.get("status") or {}).get("properties") or {}
    properties = {name: PropertyValue(value["value"]) for name, value in written.items()}
    return MemberCluster(
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        connection=Connection(simulated=True),
        status=ClusterStatus(properties=properties),
    )


def _workload(
    kind: str, namespace: str, name: str, image: str, fields: Mapping[str, Any], parts: dict[str, Any]
) -> dict[str, Any]:
    spec = {field: value for field, value in fields.items() if value is not None}
    spec["selector"] = {"matchLabels": {"app": name}}
    pod = {"containers": [{"name": name, "image": image}]}
    spec["template"] = {"metadata": {"labels": {"app": name}}, "spec": pod}
    return an_object("apps/v1", kind, name, namespace=namespace, spec=spec, **parts)
