"""The built-in kinds of Kubernetes 1.36 and KubeFleet's envelopes: one row a kind, one column for each thing that
depends on it. KubeFleet's other kinds are declared in `api`.

namespaced   whether its objects live in a namespace
versions     the versions that an API server serves by default; "-" for kinds that it serves only when asked to, or
             never stores
further      every other version that the kind has or had: of alpha and beta APIs, and of older releases
wave         when it is applied and deleted (KubeFleet pkg/controllers/workapplier/waves.go); "-" is the last wave
order        its rank in a resource snapshot (KubeFleet resourceSortOrder); "-" comes after all others. These are two
             columns because KubeFleet has two orders: a snapshot is sorted finer, and IngressClass comes late in it
select       whether placements may select it (KubeFleet pkg/utils/apiresources.go)
data         whether it is available as soon as it is applied (KubeFleet's availability tracker)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

REVISION: Final = "deployment.kubernetes.io/revision"
"""The annotation of a Deployment, and of each of its ReplicaSets, that counts its contents."""
LAST_WAVE: Final = 999
"""Where everything goes that no wave names, custom kinds above all."""

_TABLE: Final = """
  kind                             namespaced versions further                                    wave order select data
core:
  Binding                          yes        -        v1                                         -    -     yes    -
  ComponentStatus                  no         -        v1                                         -    -     yes    -
  ConfigMap                        yes        v1       -                                          1    8     yes    yes
  Endpoints                        yes        v1       -                                          -    -     yes    -
  Event                            yes        v1       -                                          -    -     yes    -
  LimitRange                       yes        v1       -                                          1    4     yes    yes
  Namespace                        no         v1       -                                          0    1     yes    yes
  Node                             no         v1       -                                          -    -     no     -
  PersistentVolume                 no         v1       -                                          1    10    yes    -
  PersistentVolumeClaim            yes        v1       -                                          1    11    yes    -
  Pod                              yes        v1       -                                          4    19    no     -
  PodTemplate                      yes        v1       -                                          -    -     yes    -
  ReplicationController            yes        v1       -                                          4    20    yes    -
  ResourceQuota                    yes        v1       -                                          1    3     yes    yes
  Secret                           yes        v1       -                                          1    7     yes    yes
  Service                          yes        v1       -                                          4    17    yes    -
  ServiceAccount                   yes        v1       -                                          1    6     yes    yes
admissionregistration.k8s.io:
  MutatingAdmissionPolicy          no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
  MutatingAdmissionPolicyBinding   no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
  MutatingWebhookConfiguration     no         v1       v1beta1                                    5    30    yes    -
  ValidatingAdmissionPolicy        no         v1       v1beta1,v1alpha1                           -    -     yes    -
  ValidatingAdmissionPolicyBinding no         v1       v1beta1,v1alpha1                           -    -     yes    -
  ValidatingWebhookConfiguration   no         v1       v1beta1                                    5    31    yes    -
apiextensions.k8s.io:
  CustomResourceDefinition         no         v1       v1beta1                                    1    12    yes    -
apiregistration.k8s.io:
  APIService                       no         v1       v1beta1                                    5    29    yes    -
apps:
  ControllerRevision               yes        v1       v1beta2,v1beta1                            -    -     yes    yes
  DaemonSet                        yes        v1       v1beta2                                    4    18    yes    -
  Deployment                       yes        v1       v1beta2,v1beta1                            4    22    yes    -
  ReplicaSet                       yes        v1       v1beta2                                    4    21    yes    -
  StatefulSet                      yes        v1       v1beta2,v1beta1                            4    24    yes    -
authentication.k8s.io:
  SelfSubjectReview                no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
  TokenReview                      no         -        v1,v1beta1                                 -    -     yes    -
authorization.k8s.io:
  LocalSubjectAccessReview         yes        -        v1,v1beta1                                 -    -     yes    -
  SelfSubjectAccessReview          no         -        v1,v1beta1                                 -    -     yes    -
  SelfSubjectRulesReview           no         -        v1,v1beta1                                 -    -     yes    -
  SubjectAccessReview              no         -        v1,v1beta1                                 -    -     yes    -
autoscaling:
  HorizontalPodAutoscaler          yes        v1,v2    v2beta2,v2beta1                            4    23    yes    -
  Scale                            yes        -        v1                                         -    -     yes    -
batch:
  CronJob                          yes        v1       v1beta1,v2alpha1                           4    26    yes    -
  Job                              yes        v1       -                                          4    25    yes    -
certificates.k8s.io:
  CertificateSigningRequest        no         v1       v1beta1                                    -    -     yes    -
  ClusterTrustBundle               no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
  PodCertificateRequest            yes        -        v1beta1,v1alpha1                           -    -     yes    -
coordination.k8s.io:
  Lease                            yes        v1       v1beta1                                    -    -     no     -
  LeaseCandidate                   yes        -        v1beta1,v1alpha2,v1alpha1                  -    -     no     -
discovery.k8s.io:
  EndpointSlice                    yes        v1       v1beta1,v1alpha1                           -    -     yes    -
events.k8s.io:
  Event                            yes        v1       v1beta1                                    -    -     no     -
extensions:
  DaemonSet                        yes        -        v1beta1                                    -    -     yes    -
  Deployment                       yes        -        v1beta1                                    -    -     yes    -
  Ingress                          yes        -        v1beta1                                    -    -     yes    -
  NetworkPolicy                    yes        -        v1beta1                                    -    -     yes    -
  PodSecurityPolicy                no         -        v1beta1                                    -    -     yes    -
  ReplicaSet                       yes        -        v1beta1                                    -    -     yes    -
flowcontrol.apiserver.k8s.io:
  FlowSchema                       no         v1       v1beta3,v1beta2,v1beta1,v1alpha1           -    -     yes    -
  PriorityLevelConfiguration       no         v1       v1beta3,v1beta2,v1beta1,v1alpha1           -    -     yes    -
internal.apiserver.k8s.io:
  StorageVersion                   no         -        v1alpha1                                   -    -     yes    -
networking.k8s.io:
  ClusterCIDR                      no         -        v1alpha1                                   -    -     yes    -
  IPAddress                        no         v1       v1beta1,v1alpha1                           -    -     yes    -
  Ingress                          yes        v1       v1beta1                                    4    28    yes    -
  IngressClass                     no         v1       v1beta1                                    1    27    yes    yes
  NetworkPolicy                    yes        v1       -                                          1    2     yes    yes
  ServiceCIDR                      no         v1       v1beta1,v1alpha1                           -    -     yes    -
node.k8s.io:
  RuntimeClass                     no         v1       v1beta1,v1alpha1                           -    -     yes    -
policy:
  Eviction                         yes        -        v1,v1beta1                                 -    -     yes    -
  PodDisruptionBudget              yes        v1       v1beta1                                    1    5     yes    -
  PodSecurityPolicy                no         -        v1beta1                                    1    -     yes    -
rbac.authorization.k8s.io:
  ClusterRole                      no         v1       v1beta1,v1alpha1                           2    13    yes    yes
  ClusterRoleBinding               no         v1       v1beta1,v1alpha1                           3    14    yes    yes
  Role                             yes        v1       v1beta1,v1alpha1                           2    15    yes    yes
  RoleBinding                      yes        v1       v1beta1,v1alpha1                           3    16    yes    yes
resource.k8s.io:
  DeviceClass                      no         -        v1,v1beta2,v1beta1,v1alpha3,v1alpha2,v1alpha1 -    -     yes    -
  DeviceTaintRule                  no         -        v1,v1beta2,v1beta1,v1alpha3                -    -     yes    -
  PodSchedulingContext             yes        -        v1alpha3,v1alpha2                          -    -     yes    -
  ResourceClaim                    yes        -        v1,v1beta2,v1beta1,v1alpha3,v1alpha2,v1alpha1 -    -     yes    -
  ResourceClaimParameters          yes        -        v1alpha2                                   -    -     yes    -
  ResourceClaimTemplate            yes        -        v1,v1beta2,v1beta1,v1alpha3,v1alpha2,v1alpha1 -    -     yes    -
  ResourceClass                    no         -        v1alpha2,v1alpha1                          -    -     yes    -
  ResourceClassParameters          yes        -        v1alpha2                                   -    -     yes    -
  ResourceSlice                    no         -        v1,v1beta2,v1beta1,v1alpha3,v1alpha2,v1alpha1 -    -     yes    -
scheduling.k8s.io:
  PodGroup                         yes        -        v1beta1,v1alpha2,v1alpha1                  -    -     yes    -
  PriorityClass                    no         v1       v1beta1,v1alpha1                           0    0     yes    yes
  Workload                         yes        -        v1beta1,v1alpha2,v1alpha1                  -    -     yes    -
storage.k8s.io:
  CSIDriver                        no         v1       v1beta1                                    -    -     yes    yes
  CSINode                          no         v1       v1beta1                                    -    -     yes    yes
  CSIStorageCapacity               yes        v1       v1beta1,v1alpha1                           -    -     yes    yes
  StorageClass                     no         v1       v1beta1                                    1    9     yes    yes
  VolumeAttachment                 no         v1       v1beta1,v1alpha1                           -    -     yes    -
  VolumeAttributesClass            no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
storagemigration.k8s.io:
  StorageVersionMigration          no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
placement.kubernetes-fleet.io:
  ClusterResourceEnvelope          no         -        v1,v1beta1,v1alpha1                        -    -     yes    -
  ResourceEnvelope                 yes        -        v1,v1beta1,v1alpha1                        -    -     yes    -
"""
_NEVER_SELECTED_GROUPS: Final = frozenset({"events.k8s.io", "coordination.k8s.io", "metrics.k8s.io"})
_NEVER_SELECTED: Final = frozenset(
    ("networking.fleet.azure.com", kind) for kind in ("ServiceImport", "TrafficManagerProfile", "TrafficManagerBackend")
)
_FLEET_GROUPS: Final = frozenset({"cluster.kubernetes-fleet.io", "placement.kubernetes-fleet.io"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInKind:
    """One row; see the module. `order` None is a kind that a snapshot does not rank."""

    group: str
    kind: str
    namespaced: bool
    versions: tuple[str, ...]
    further: tuple[str, ...]
    wave: int
    order: int | None
    selectable: bool
    data: bool

    @property
    def all_versions(self) -> tuple[str, ...]:
        """Every version that the kind has or had, the one to use first."""
        return self.versions[::-1] + self.further

    @property
    def plural(self) -> str:
        """Its name in paths of the API."""
        name = self.kind.lower()
        if name.endswith("y"):
            return f"{name[:-1]}ies"
        return name if name == "endpoints" else f"{name}es" if name.endswith("s") else f"{name}s"


def _rows() -> Iterator[BuiltInKind]:
    group = ""
    for line in _TABLE.strip().splitlines()[1:]:
        if line.endswith(":"):
            group = line.removesuffix(":").removeprefix("core")
            continue
        kind, namespaced, versions, further, wave, order, selectable, data = line.split()
        yield BuiltInKind(
            group=group,
            kind=kind,
            namespaced=namespaced == "yes",
            versions=_listed(versions),
            further=_listed(further),
            wave=LAST_WAVE if wave == "-" else int(wave),
            order=None if order == "-" else int(order),
            selectable=selectable == "yes",
            data=data == "yes",
        )


def _listed(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(","))


_ROWS: Final = tuple(_rows())

BUILT_IN_KINDS: Final[Mapping[tuple[str, str], BuiltInKind]] = MappingProxyType(
    {(row.group, row.kind): row for row in _ROWS}
)
"""By group ("" = core) and kind."""
KUBERNETES_GROUPS: Final = frozenset(row.group for row in _ROWS) - _FLEET_GROUPS
"""The groups that no CRD defines; a kind of the same name in another group is a custom one."""

_ORDER: Final = {row.kind: row.order for row in _ROWS if row.order is not None}
LAST_RANK: Final = len(_ORDER)


def wave_of(group: str, kind: str) -> int:
    """The wave of a kind: 0 first, LAST_WAVE for what no wave names."""
    row = BUILT_IN_KINDS.get((group, kind))
    return LAST_WAVE if row is None else row.wave


def snapshot_rank(kind: str) -> int:
    """The rank of a kind in a resource snapshot, whatever its group, as in KubeFleet; LAST_RANK for unranked kinds."""
    return _ORDER.get(kind, LAST_RANK)


def is_selectable(group: str, kind: str) -> bool:
    """Whether placements may select objects of a kind: custom kinds yes; leases, newer events, metrics, Pods,
    Nodes and KubeFleet's own kinds but the envelopes never."""
    if group in _NEVER_SELECTED_GROUPS or (group, kind) in _NEVER_SELECTED:
        return False
    row = BUILT_IN_KINDS.get((group, kind))
    return group not in _FLEET_GROUPS if row is None else row.selectable


def is_envelope_kind(group: str, kind: str) -> bool:
    """Whether objects of a kind are KubeFleet's envelopes: payload wherever they stand."""
    return group in _FLEET_GROUPS and (group, kind) in BUILT_IN_KINDS
