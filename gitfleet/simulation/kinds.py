"""The built-in kinds of a simulated API server: their versions, their scope, and which of their fields never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitfleet.api.definitions import CRD
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.formats.kinds import BUILT_IN_KINDS, KUBERNETES_GROUPS


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind as the server serves it. `custom` ones come from a CRD; their lists are atomic to server-side apply.

    `generations`: whether metadata.generation is kept. `reports`: whether a controller of it writes a status.
    """

    plural: str
    namespaced: bool
    versions: frozenset[str]
    generations: bool = True
    custom: bool = False
    reports: bool = True


_NO_GENERATIONS: Final = frozenset(
    {"", "autoscaling", "rbac.authorization.k8s.io", "storage.k8s.io", "coordination.k8s.io", "events.k8s.io"}
)

BUILT_IN: Final[Mapping[GroupKind, Kind]] = {
    GroupKind(row.group, row.kind): Kind(
        plural=row.plural,
        namespaced=row.namespaced,
        versions=frozenset(row.versions),
        generations=row.group not in _NO_GENERATIONS,
    )
    for row in BUILT_IN_KINDS.values()
    if row.versions and row.group in KUBERNETES_GROUPS
}
"""Every kind that needs no CRD."""

NAMESPACE: Final = GroupKind("", "Namespace")
SERVICE: Final = GroupKind("", "Service")
SECRET: Final = GroupKind("", "Secret")
CONFIG_MAP: Final = GroupKind("", "ConfigMap")

_IMMUTABLE: Final[Mapping[GroupKind, tuple[tuple[str, ...], ...]]] = {
    GroupKind("apps", "Deployment"): (("spec", "selector"),),
    GroupKind("apps", "DaemonSet"): (("spec", "selector"),),
    GroupKind("apps", "ReplicaSet"): (("spec", "selector"),),
    GroupKind("apps", "StatefulSet"): (
        ("spec", "selector"),
        ("spec", "serviceName"),
        ("spec", "podManagementPolicy"),
        ("spec", "volumeClaimTemplates"),
    ),
    GroupKind("batch", "Job"): (("spec", "selector"), ("spec", "template"), ("spec", "completionMode")),
    GroupKind("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    GroupKind("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    SECRET: (("type",),),
    GroupKind("", "PersistentVolumeClaim"): (("spec", "storageClassName"), ("spec", "accessModes")),
    CRD: (("spec", "group"), ("spec", "scope"), ("spec", "names", "kind")),
}


def custom_kind(definition: JsonObject) -> tuple[GroupKind, Kind]:
    """What a CustomResourceDefinition defines."""
    spec = definition.get("spec") or {}
    versions = [version for version in spec.get("versions") or () if version.get("served", True)]
    reports = any("status" in (version.get("subresources") or {}) for version in versions)
    group_kind = GroupKind(str(spec.get("group") or ""), str((spec.get("names") or {}).get("kind") or ""))
    return group_kind, Kind(
        plural=str((spec.get("names") or {}).get("plural") or ""),
        namespaced=spec.get("scope") == "Namespaced",
        versions=frozenset(str(version.get("name")) for version in versions),
        custom=True,
        reports=reports,
    )


def immutable_field(group_kind: GroupKind, old: JsonObject, new: JsonObject) -> str | None:
    """The dotted path of a field that may not change and does; None when the change is allowed."""
    for path in _IMMUTABLE.get(group_kind, ()):
        if value_at(old, path) != value_at(new, path):
            return ".".join(path)
    if old.get("immutable") is True and group_kind in (SECRET, CONFIG_MAP):
        for name in ("data", "binaryData", "immutable"):
            if old.get(name) != new.get(name):
                return name
    return None


def value_at(value: Any, path: Sequence[str]) -> Any:
    """The value at a path; None where a part of it is not there."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
