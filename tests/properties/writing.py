"""What stands in the config repo of a random history, as values that are quickly turned into files."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests import builders
from tests.builders import to_yaml

_OF_NAMESPACE = (("resources", "/"), ("overrides", ".yaml"))


@cache
def cluster_text(name: str, zone: str, tainted: bool, *, pulled: bool = False) -> str:
    """A MemberCluster file; every third one takes placed objects away when it leaves."""
    taints = [{"key": "busy", "value": "yes", "effect": "NoSchedule"}] if tainted else []
    connection = {"pull": True} if pulled else None
    body = builders.member_cluster(name, labels={"zone": zone}, taints=taints, connection=connection)
    if int(name[1:]) % 3 == 2:
        body["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    return to_yaml(body)


@cache
def deployment_text(namespace: str, name: str, image: str, replicas: int) -> str:
    """A Deployment file."""
    return to_yaml(builders.deployment(namespace, name, image=f"{name}:{image}", replicas=replicas))


@cache
def config_text(namespace: str, name: str, value: int) -> str:
    """A ConfigMap file."""
    return to_yaml(builders.config_map(namespace, name, {"value": str(value)}))


@cache
def untrackable_text(namespace: str, port: int) -> str:
    """An Ingress file: KubeFleet cannot tell whether one is available, so the unavailable period decides."""
    service = {"service": {"name": "app", "port": {"number": port}}}
    spec = {"defaultBackend": service}
    return to_yaml(builders.an_object("networking.k8s.io/v1", "Ingress", "app", namespace=namespace, spec=spec))


@cache
def namespace_text(name: str) -> str:
    """A Namespace file."""
    return to_yaml(builders.namespace(name))


@cache
def override_text(namespace: str, zone: str, replicas: int) -> str:
    """A ResourceOverride: the Deployment `app` has other replicas in one zone; with 0 replicas it cannot be applied."""
    patch: dict[str, Any] = {"op": "replace", "path": "/spec/replicas", "value": replicas}
    if not replicas:
        patch = {"op": "remove", "path": "/spec/not-there"}
    rule = builders.override_rule(patch, labels={"zone": zone})
    return to_yaml(builders.override("few", "Deployment/app", rule, namespace=namespace))


@cache
def approval_text(hold: str, approved: bool) -> str:
    """The file that approves or rejects a hold."""
    body = builders.an_object("placement.kubernetes-fleet.io/v1beta1", "ClusterApprovalRequest", hold)
    return to_yaml({**body, "status": {"conditions": [{"type": "Approved", "status": str(approved)}]}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A placement as people write it. `space` is the namespace that it selects, whatever its name became."""

    name: str
    space: str
    kind: str
    number: int = 1
    names: tuple[str, ...] = ()
    zone: str | None = None
    max_unavailable: int | str = 1
    max_surge: int | str = 1
    abandon: bool = False
    external: bool = False
    former: str | None = None

    def text(self) -> str:
        """The file."""
        return _placement_text(self)


@cache
def _placement_text(placed: Placed) -> str:
    policy: dict[str, Any] = {"placementType": placed.kind}
    if placed.kind == "PickFixed":
        policy["clusterNames"] = list(placed.names)
    if placed.kind == "PickN":
        policy["numberOfClusters"] = placed.number
    if placed.zone is not None and placed.kind != "PickFixed":
        term = {"labelSelector": {"matchLabels": {"zone": placed.zone}}}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}}
        policy["affinity"] = {"clusterAffinity": required}
    strategy: dict[str, Any] = {"type": "External"}
    if not placed.external:
        strategy = builders.rolling_update(maxUnavailable=placed.max_unavailable, maxSurge=placed.max_surge)
    if placed.abandon:
        strategy["deleteStrategy"] = {"propagationPolicy": "Abandon"}
    former = placed.former
    return to_yaml(builders.placement(placed.name, placed.space, policy=policy, strategy=strategy, renamed_from=former))


@dataclass(slots=True)
class Written:
    """What stands in the config repo."""

    clusters: dict[str, tuple[str, bool]] = field(default_factory=dict)
    placements: dict[str, Placed] = field(default_factory=dict)
    deployments: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    configs: dict[tuple[str, str], int] = field(default_factory=dict)
    overrides: dict[str, tuple[str, int]] = field(default_factory=dict)
    untrackable: dict[str, int] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)
    holds: dict[str, bool] = field(default_factory=dict)
    removals: dict[str, Any] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    pulled: frozenset[str] = frozenset()
    broken: str | None = None

    def files(self, namespaces: tuple[str, ...]) -> dict[str, str]:
        """All files by path."""
        files = {
            f"clusters/{name}.yaml": cluster_text(name, *more, pulled=name in self.pulled)
            for name, more in self.clusters.items()
        }
        files["gitfleet.yaml"] = to_yaml(builders.fleet_config(removals=self.removals))
        files |= {f"placements/{name}.yaml": placed.text() for name, placed in self.placements.items()}
        files |= {f"resources/{name}/namespace.yaml": namespace_text(name) for name in namespaces}
        files |= {
            f"resources/{space}/deployment-{name}.yaml": deployment_text(space, name, *more)
            for (space, name), more in self.deployments.items()
        }
        files |= {
            f"resources/{space}/config-{name}.yaml": config_text(space, name, value)
            for (space, name), value in self.configs.items()
        }
        files |= {f"overrides/{space}.yaml": override_text(space, *more) for space, more in self.overrides.items()}
        files |= {
            f"resources/{space}/ingress.yaml": untrackable_text(space, n) for space, n in self.untrackable.items()
        }
        files = {path: text for path, text in files.items() if not path.startswith(self._hidden)}
        files |= {f"pins/{name}.yaml": text for name, text in self.pins.items()}
        files |= {f"approvals/{name}.yaml": approval_text(name, answer) for name, answer in self.holds.items()}
        if self.broken is not None:
            files[self.broken] = "kind: [\n"
        return files

    @property
    def _hidden(self) -> tuple[str, ...]:
        """Where files are gone with their folder."""
        return tuple(f"{folder}/{name}{end}" for name in self.empty for folder, end in _OF_NAMESPACE)
