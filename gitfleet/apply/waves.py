"""In which order kinds are applied, and how they are deleted (KubeFleet pkg/controllers/workapplier/waves.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.api.objects import GroupKind

LAST_WAVE: Final = 999
"""Where everything goes that no wave names, custom kinds above all."""

_WAVES: Final = (
    ("Namespace", "PriorityClass"),
    (
        "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount",
        "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition",
        "IngressClass",
    ),
    ("ClusterRole", "Role"),
    ("ClusterRoleBinding", "RoleBinding"),
    (
        "Service", "DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler",
        "StatefulSet", "Job", "CronJob", "Ingress",
    ),
    ("APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
)  # fmt: skip
_WAVE_BY_KIND: Final[Mapping[str, int]] = {kind: number for number, kinds in enumerate(_WAVES) for kind in kinds}

BUILT_IN_GROUPS: Final = frozenset({
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling",
    "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
})  # fmt: skip
"""The groups whose kinds have a wave of their own; a kind of the same name in another group is a custom one."""

_HAVE_DEPENDENTS: Final = frozenset(
    {"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
)


def wave_of(kind: GroupKind) -> int:
    """The wave of a kind: 0 first, LAST_WAVE for what is not known."""
    return _WAVE_BY_KIND.get(kind.kind, LAST_WAVE) if kind.group in BUILT_IN_GROUPS else LAST_WAVE


def propagation_of(kind: GroupKind) -> str:
    """How to delete: Foreground, as KubeFleet does, so that what an object made goes before it; Background for plain
    data, which makes nothing and is then gone with the answer to the request."""
    plain = wave_of(kind) < 4 and kind.kind not in _HAVE_DEPENDENTS
    return "Background" if plain else "Foreground"
