"""The built-in kinds of a simulated API server: their versions, their scope, and which of their fields never change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitfleet.api.objects import GroupKind, JsonObject


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind as the server serves it. `custom` ones come from a CRD; their lists are atomic to server-side apply.

    `generations`: whether metadata.generation is kept. `reports`: whether a controller of it writes a status.
    """

    namespaced: bool
    versions: frozenset[str]
    generations: bool = True
    custom: bool = False
    reports: bool = True


_V1 = "v1"
_BUILT_IN: Final[Mapping[str, tuple[str, str]]] = {  # group -> namespaced kinds, cluster-scoped kinds
    "": (
        """ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController
        ResourceQuota Secret Service ServiceAccount""",
        "Namespace Node PersistentVolume",
    ),
    "apps": ("ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    "autoscaling": ("HorizontalPodAutoscaler", ""),
    "batch": ("CronJob Job", ""),
    "policy": ("PodDisruptionBudget", ""),
    "networking.k8s.io": ("Ingress NetworkPolicy", "IngressClass IPAddress ServiceCIDR"),
    "rbac.authorization.k8s.io": ("Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    "storage.k8s.io": ("CSIStorageCapacity", "CSIDriver CSINode StorageClass VolumeAttachment"),
    "scheduling.k8s.io": ("", "PriorityClass"),
    "coordination.k8s.io": ("Lease", ""),
    "discovery.k8s.io": ("EndpointSlice", ""),
    "events.k8s.io": ("Event", ""),
    "node.k8s.io": ("", "RuntimeClass"),
    "certificates.k8s.io": ("", "CertificateSigningRequest"),
    "apiregistration.k8s.io": ("", "APIService"),
    "apiextensions.k8s.io": ("", "CustomResourceDefinition"),
    "flowcontrol.apiserver.k8s.io": ("", "FlowSchema PriorityLevelConfiguration"),
    "admissionregistration.k8s.io": (
        "",
        """MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
        ValidatingWebhookConfiguration""",
    ),
}
_VERSIONS: Final = {GroupKind("autoscaling", "HorizontalPodAutoscaler"): frozenset({"v1", "v2"})}
_NO_GENERATIONS: Final = frozenset(
    {"", "autoscaling", "rbac.authorization.k8s.io", "storage.k8s.io", "coordination.k8s.io", "events.k8s.io"}
)

BUILT_IN: Final[Mapping[GroupKind, Kind]] = {
    GroupKind(group, kind): Kind(
        namespaced=scope == 0,
        versions=_VERSIONS.get(GroupKind(group, kind), frozenset({_V1})),
        generations=group not in _NO_GENERATIONS,
    )
    for group, scopes in _BUILT_IN.items()
    for scope, names in enumerate(scopes)
    for kind in names.split()
}
"""Every kind that needs no CRD."""

BUILT_IN_GROUPS: Final = frozenset(_BUILT_IN)

NAMESPACE: Final = GroupKind("", "Namespace")
SERVICE: Final = GroupKind("", "Service")
SECRET: Final = GroupKind("", "Secret")
CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")

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
        namespaced=spec.get("scope") == "Namespaced",
        versions=frozenset(str(version.get("name")) for version in versions),
        custom=True,
        reports=reports,
    )


def is_established(definition: JsonObject) -> bool:
    """Whether a CustomResourceDefinition's kind is served."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def immutable_field(group_kind: GroupKind, old: JsonObject, new: JsonObject) -> str | None:
    """The dotted path of a field that may not change and does; None when the change is allowed."""
    for path in _IMMUTABLE.get(group_kind, ()):
        if _at(old, path) != _at(new, path):
            return ".".join(path)
    if old.get("immutable") is True and group_kind.group == "":
        for name in ("data", "binaryData", "immutable"):
            if old.get(name) != new.get(name):
                return name
    return None


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
