"""Which kinds are namespaced: the built-in kinds of Kubernetes 1.36 by table, custom ones by the CRDs of the repo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from gitfleet.api.objects import GroupKind, Manifest

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")

_NAMESPACED: Final = {
    "": (
        "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController "
        "ResourceQuota Secret Service ServiceAccount"
    ),
    "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "authorization.k8s.io": "LocalSubjectAccessReview",
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "coordination.k8s.io": "Lease LeaseCandidate",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "extensions": "Ingress",
    "networking.k8s.io": "Ingress NetworkPolicy",
    "policy": "PodDisruptionBudget",
    "rbac.authorization.k8s.io": "Role RoleBinding",
    "resource.k8s.io": "ResourceClaim ResourceClaimTemplate",
    "storage.k8s.io": "CSIStorageCapacity",
    "placement.kubernetes-fleet.io": (
        "ApprovalRequest ResourceBinding ResourceEnvelope ResourceOverride ResourceOverrideSnapshot ResourcePlacement "
        "ResourceSnapshot SchedulingPolicySnapshot StagedUpdateRun StagedUpdateStrategy Work"
    ),
}
_CLUSTER_SCOPED: Final = {
    "": "ComponentStatus Namespace Node PersistentVolume",
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    ),
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "authentication.k8s.io": "SelfSubjectReview TokenReview",
    "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
    "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
    "internal.apiserver.k8s.io": "StorageVersion",
    "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
    "node.k8s.io": "RuntimeClass",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
    "resource.k8s.io": "DeviceClass DeviceTaintRule ResourceSlice",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    "storagemigration.k8s.io": "StorageVersionMigration",
    "cluster.kubernetes-fleet.io": "InternalMemberCluster MemberCluster",
    "placement.kubernetes-fleet.io": (
        "ClusterApprovalRequest ClusterResourceBinding ClusterResourceEnvelope ClusterResourceOverride "
        "ClusterResourceOverrideSnapshot ClusterResourcePlacement ClusterResourcePlacementDisruptionBudget "
        "ClusterResourcePlacementEviction ClusterResourceSnapshot ClusterSchedulingPolicySnapshot "
        "ClusterStagedUpdateRun ClusterStagedUpdateStrategy"
    ),
}

BUILT_IN: Final[Mapping[GroupKind, bool]] = MappingProxyType(
    {
        GroupKind(group, kind): namespaced
        for namespaced, table in ((True, _NAMESPACED), (False, _CLUSTER_SCOPED))
        for group, kinds in table.items()
        for kind in kinds.split()
    }
)
"""Whether a kind of Kubernetes or KubeFleet is namespaced."""


def declared_scopes(manifests: Iterable[Manifest]) -> dict[GroupKind, bool]:
    """What the CustomResourceDefinitions among the manifests say about their kinds."""
    scopes: dict[GroupKind, bool] = {}
    for manifest in manifests:
        if manifest.key.group_kind != CRD:
            continue
        spec = manifest.body.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        kind = names.get("kind") if isinstance(names, Mapping) else None
        if isinstance(spec, Mapping) and isinstance(kind, str) and isinstance(spec.get("group"), str):
            scopes[GroupKind(spec["group"], kind)] = spec.get("scope") != "Cluster"
    return scopes
