"""The types of the fields of Kubernetes' built-in kinds, as an API server decodes them (OpenAPI of Kubernetes 1.36).

Made by tests/formats/kind_fields.py. It has the stable versions of what placements may select, since other versions
change from release to release, without the `apiVersion`, `kind`, `metadata` and `status` of the kinds themselves. A row
is a kind (`group/version/kind`) or a type that others consist of: each type of a field, and the fields that have it.

string  boolean  int32  int64  number  quantity  int-or-string  base64    scalars
[T  {T                                                                    lists of T, mappings from names to T
mapping  any                                                              a mapping of anything, anything
?T                                                                        T where it is a mapping, anything otherwise
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

_TABLE: Final = """
APIServiceSpec: apiregistration.v1.ServiceReference service; base64 caBundle; boolean insecureSkipTLSVerify; int32
groupPriorityMinimum versionPriority; string group version | AWSElasticBlockStoreVolumeSource: boolean readOnly; int32
partition; string fsType volumeID | Affinity: NodeAffinity nodeAffinity; PodAffinity podAffinity; PodAntiAffinity
podAntiAffinity | AggregationRule: [LabelSelector clusterRoleSelectors | AppArmorProfile: string localhostProfile type |
ApplyConfiguration: string expression | AuditAnnotation: string key valueExpression | AzureDiskVolumeSource: boolean
readOnly; string cachingMode diskName diskURI fsType kind | AzureFilePersistentVolumeSource: boolean readOnly; string
secretName secretNamespace shareName | AzureFileVolumeSource: boolean readOnly; string secretName shareName |
CELDeviceSelector: string expression | CSIDriverSpec: [TokenRequest tokenRequests; [string volumeLifecycleModes; boolean
attachRequired podInfoOnMount preventPodSchedulingIfMissing requiresRepublish seLinuxMount serviceAccountTokenInSecrets
storageCapacity; int64 nodeAllocatableUpdatePeriodSeconds; string fsGroupPolicy | CSINodeDriver: VolumeNodeResources
allocatable; [string topologyKeys; string name nodeID | CSINodeSpec: [CSINodeDriver drivers | CSIPersistentVolumeSource:
SecretReference controllerExpandSecretRef controllerPublishSecretRef nodeExpandSecretRef nodePublishSecretRef
nodeStageSecretRef; boolean readOnly; string driver fsType volumeHandle; {string volumeAttributes | CSIVolumeSource:
LocalObjectReference nodePublishSecretRef; boolean readOnly; string driver fsType; {string volumeAttributes |
Capabilities: [string add drop | CapacityRequestPolicy: CapacityRequestPolicyRange validRange; [quantity validValues;
quantity default | CapacityRequestPolicyRange: quantity max min step | CapacityRequirements: {quantity requests |
CephFSPersistentVolumeSource: SecretReference secretRef; [string monitors; boolean readOnly; string path secretFile user
| CephFSVolumeSource: LocalObjectReference secretRef; [string monitors; boolean readOnly; string path secretFile user |
CertificateSigningRequestSpec: [string groups usages; base64 request; int32 expirationSeconds; string signerName uid
username; {[string extra | CinderPersistentVolumeSource: SecretReference secretRef; boolean readOnly; string fsType
volumeID | CinderVolumeSource: LocalObjectReference secretRef; boolean readOnly; string fsType volumeID |
ClientIPConfig: int32 timeoutSeconds | ClusterTrustBundleProjection: LabelSelector labelSelector; boolean optional;
string name path signerName | ComponentCondition: string error message status type | ConfigMapEnvSource: boolean
optional; string name | ConfigMapKeySelector: boolean optional; string key name | ConfigMapProjection: [KeyToPath items;
boolean optional; string name | ConfigMapVolumeSource: [KeyToPath items; boolean optional; int32 defaultMode; string
name | Container: Lifecycle lifecycle; Probe livenessProbe readinessProbe startupProbe; ResourceRequirements resources;
SecurityContext securityContext; [ContainerPort ports; [ContainerResizePolicy resizePolicy; [ContainerRestartRule
restartPolicyRules; [EnvFromSource envFrom; [EnvVar env; [VolumeDevice volumeDevices; [VolumeMount volumeMounts; [string
args command; boolean stdin stdinOnce tty; string image imagePullPolicy name restartPolicy terminationMessagePath
terminationMessagePolicy workingDir | ContainerPort: int32 containerPort hostPort; string hostIP name protocol |
ContainerResizePolicy: string resourceName restartPolicy | ContainerResourceMetricSource: MetricTarget target; string
container name | ContainerRestartRule: ContainerRestartRuleOnExitCodes exitCodes; string action |
ContainerRestartRuleOnExitCodes: [int32 values; string operator | Counter: quantity value | CounterSet: string name;
{Counter counters | CronJobSpec: JobTemplateSpec jobTemplate; boolean suspend; int32 failedJobsHistoryLimit
successfulJobsHistoryLimit; int64 startingDeadlineSeconds; string concurrencyPolicy schedule timeZone |
CustomResourceColumnDefinition: int32 priority; string description format jsonPath name type | CustomResourceConversion:
WebhookConversion webhook; string strategy | CustomResourceDefinitionNames: [string categories shortNames; string kind
listKind plural singular | CustomResourceDefinitionSpec: CustomResourceConversion conversion;
CustomResourceDefinitionNames names; [CustomResourceDefinitionVersion versions; boolean preserveUnknownFields; string
group scope | CustomResourceDefinitionVersion: CustomResourceSubresources subresources; CustomResourceValidation schema;
[CustomResourceColumnDefinition additionalPrinterColumns; [SelectableField selectableFields; boolean deprecated served
storage; string deprecationWarning name | CustomResourceSubresourceScale: string labelSelectorPath specReplicasPath
statusReplicasPath | CustomResourceSubresources: CustomResourceSubresourceScale scale; mapping status |
CustomResourceValidation: JSONSchemaProps openAPIV3Schema | DaemonSetSpec: DaemonSetUpdateStrategy updateStrategy;
LabelSelector selector; PodTemplateSpec template; int32 minReadySeconds revisionHistoryLimit | DaemonSetUpdateStrategy:
RollingUpdateDaemonSet rollingUpdate; string type | DeleteOptions: Preconditions preconditions; [string dryRun; boolean
ignoreStoreReadErrorWithClusterBreakingPotential orphanDependents; int64 gracePeriodSeconds; string apiVersion kind
propagationPolicy | DeploymentSpec: DeploymentStrategy strategy; LabelSelector selector; PodTemplateSpec template;
boolean paused; int32 minReadySeconds progressDeadlineSeconds replicas revisionHistoryLimit | DeploymentStrategy:
RollingUpdateDeployment rollingUpdate; string type | Device: NodeSelector nodeSelector; [DeviceCounterConsumption
consumesCounters; [DeviceTaint taints; [string bindingConditions bindingFailureConditions; boolean allNodes
allowMultipleAllocations bindsToNode; string name nodeName; {DeviceAttribute attributes; {DeviceCapacity capacity;
{NodeAllocatableResourceMapping nodeAllocatableResourceMappings | DeviceAttribute: [boolean bools; [int64 ints; [string
strings versions; boolean bool; int64 int; string string version | DeviceCapacity: CapacityRequestPolicy requestPolicy;
quantity value | DeviceClaim: [DeviceClaimConfiguration config; [DeviceConstraint constraints; [DeviceRequest requests |
DeviceClaimConfiguration: OpaqueDeviceConfiguration opaque; [string requests | DeviceClassConfiguration:
OpaqueDeviceConfiguration opaque | DeviceClassSpec: [DeviceClassConfiguration config; [DeviceSelector selectors; string
extendedResourceName | DeviceConstraint: [string requests; string distinctAttribute matchAttribute |
DeviceCounterConsumption: string counterSet; {Counter counters | DeviceRequest: ExactDeviceRequest exactly;
[DeviceSubRequest firstAvailable; string name | DeviceSelector: CELDeviceSelector cel | DeviceSubRequest:
CapacityRequirements capacity; [DeviceSelector selectors; [DeviceToleration tolerations; int64 count; string
allocationMode deviceClassName name | DeviceTaint: string effect key timeAdded value | DeviceToleration: int64
tolerationSeconds; string effect key operator value | DownwardAPIProjection: [DownwardAPIVolumeFile items |
DownwardAPIVolumeFile: ObjectFieldSelector fieldRef; ResourceFieldSelector resourceFieldRef; int32 mode; string path |
DownwardAPIVolumeSource: [DownwardAPIVolumeFile items; int32 defaultMode | EmptyDirVolumeSource: quantity sizeLimit;
string medium | Endpoint: EndpointConditions conditions; EndpointHints hints; ObjectReference targetRef; [string
addresses; string hostname nodeName zone; {string deprecatedTopology | EndpointAddress: ObjectReference targetRef;
string hostname ip nodeName | EndpointConditions: boolean ready serving terminating | EndpointHints: [ForNode forNodes;
[ForZone forZones | EndpointSubset: [EndpointAddress addresses notReadyAddresses; [core.v1.EndpointPort ports |
EnvFromSource: ConfigMapEnvSource configMapRef; SecretEnvSource secretRef; string prefix | EnvVar: EnvVarSource
valueFrom; string name value | EnvVarSource: ConfigMapKeySelector configMapKeyRef; FileKeySelector fileKeyRef;
ObjectFieldSelector fieldRef; ResourceFieldSelector resourceFieldRef; SecretKeySelector secretKeyRef |
EphemeralContainer: Lifecycle lifecycle; Probe livenessProbe readinessProbe startupProbe; ResourceRequirements
resources; SecurityContext securityContext; [ContainerPort ports; [ContainerResizePolicy resizePolicy;
[ContainerRestartRule restartPolicyRules; [EnvFromSource envFrom; [EnvVar env; [VolumeDevice volumeDevices; [VolumeMount
volumeMounts; [string args command; boolean stdin stdinOnce tty; string image imagePullPolicy name restartPolicy
targetContainerName terminationMessagePath terminationMessagePolicy workingDir | EphemeralVolumeSource:
PersistentVolumeClaimTemplate volumeClaimTemplate | EventSeries: int32 count; string lastObservedTime | EventSource:
string component host | ExactDeviceRequest: CapacityRequirements capacity; [DeviceSelector selectors; [DeviceToleration
tolerations; boolean adminAccess; int64 count; string allocationMode deviceClassName | ExecAction: [string command |
ExemptPriorityLevelConfiguration: int32 lendablePercent nominalConcurrencyShares | ExternalDocumentation: string
description url | ExternalMetricSource: MetricIdentifier metric; MetricTarget target | FCVolumeSource: [string
targetWWNs wwids; boolean readOnly; int32 lun; string fsType | FieldSelectorAttributes: [FieldSelectorRequirement
requirements; string rawSelector | FieldSelectorRequirement: [string values; string key operator | FileKeySelector:
boolean optional; string key path volumeName | FlexPersistentVolumeSource: SecretReference secretRef; boolean readOnly;
string driver fsType; {string options | FlexVolumeSource: LocalObjectReference secretRef; boolean readOnly; string
driver fsType; {string options | FlockerVolumeSource: string datasetName datasetUUID | FlowDistinguisherMethod: string
type | FlowSchemaSpec: FlowDistinguisherMethod distinguisherMethod; PriorityLevelConfigurationReference
priorityLevelConfiguration; [PolicyRulesWithSubjects rules; int32 matchingPrecedence | ForNode: string name | ForZone:
string name | GCEPersistentDiskVolumeSource: boolean readOnly; int32 partition; string fsType pdName | GRPCAction: int32
port; string service | GitRepoVolumeSource: string directory repository revision | GlusterfsPersistentVolumeSource:
boolean readOnly; string endpoints endpointsNamespace path | GlusterfsVolumeSource: boolean readOnly; string endpoints
path | GroupSubject: string name | HPAScalingPolicy: int32 periodSeconds value; string type | HPAScalingRules:
[HPAScalingPolicy policies; int32 stabilizationWindowSeconds; quantity tolerance; string selectPolicy | HTTPGetAction:
[HTTPHeader httpHeaders; int-or-string port; string host path scheme | HTTPHeader: string name value | HTTPIngressPath:
IngressBackend backend; string path pathType | HTTPIngressRuleValue: [HTTPIngressPath paths |
HorizontalPodAutoscalerBehavior: HPAScalingRules scaleDown scaleUp | HostAlias: [string hostnames; string ip |
HostPathVolumeSource: string path type | IPAddressSpec: ParentReference parentRef | IPBlock: [string except; string cidr
| ISCSIPersistentVolumeSource: SecretReference secretRef; [string portals; boolean chapAuthDiscovery chapAuthSession
readOnly; int32 lun; string fsType initiatorName iqn iscsiInterface targetPortal | ISCSIVolumeSource:
LocalObjectReference secretRef; [string portals; boolean chapAuthDiscovery chapAuthSession readOnly; int32 lun; string
fsType initiatorName iqn iscsiInterface targetPortal | ImageVolumeSource: string pullPolicy reference | IngressBackend:
IngressServiceBackend service; TypedLocalObjectReference resource | IngressClassParametersReference: string apiGroup
kind name namespace scope | IngressClassSpec: IngressClassParametersReference parameters; string controller |
IngressRule: HTTPIngressRuleValue http; string host | IngressServiceBackend: ServiceBackendPort port; string name |
IngressSpec: IngressBackend defaultBackend; [IngressRule rules; [IngressTLS tls; string ingressClassName | IngressTLS:
[string hosts; string secretName | JSONPatch: string expression | JSONSchemaProps: ?JSONSchemaProps additionalItems
additionalProperties items; ExternalDocumentation externalDocs; JSONSchemaProps not; [JSONSchemaProps allOf anyOf oneOf;
[ValidationRule x-kubernetes-validations; [any enum; [string required x-kubernetes-list-map-keys; any default example;
boolean exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string
x-kubernetes-preserve-unknown-fields; int64 maxItems maxLength maxProperties minItems minLength minProperties; number
maximum minimum multipleOf; string $ref $schema description format id pattern title type x-kubernetes-list-type
x-kubernetes-map-type; {?JSONSchemaProps dependencies; {JSONSchemaProps definitions patternProperties properties |
JobSpec: LabelSelector selector; PodFailurePolicy podFailurePolicy; PodTemplateSpec template; SuccessPolicy
successPolicy; boolean manualSelector suspend; int32 backoffLimit backoffLimitPerIndex completions maxFailedIndexes
parallelism ttlSecondsAfterFinished; int64 activeDeadlineSeconds; string completionMode managedBy podReplacementPolicy |
JobTemplateSpec: JobSpec spec; ObjectMeta metadata | KeyToPath: int32 mode; string key path | LabelSelector:
[LabelSelectorRequirement matchExpressions; {string matchLabels | LabelSelectorAttributes: [LabelSelectorRequirement
requirements; string rawSelector | LabelSelectorRequirement: [string values; string key operator | Lifecycle:
LifecycleHandler postStart preStop; string stopSignal | LifecycleHandler: ExecAction exec; HTTPGetAction httpGet;
SleepAction sleep; TCPSocketAction tcpSocket | LimitRangeItem: string type; {quantity default defaultRequest max
maxLimitRequestRatio min | LimitRangeSpec: [LimitRangeItem limits | LimitResponse: QueuingConfiguration queuing; string
type | LimitedPriorityLevelConfiguration: LimitResponse limitResponse; int32 borrowingLimitPercent lendablePercent
nominalConcurrencyShares | LocalObjectReference: string name | LocalVolumeSource: string fsType path |
ManagedFieldsEntry: any fieldsV1; string apiVersion fieldsType manager operation subresource time | MatchCondition:
string expression name | MatchResources: LabelSelector namespaceSelector objectSelector; [NamedRuleWithOperations
excludeResourceRules resourceRules; string matchPolicy | MetricIdentifier: LabelSelector selector; string name |
MetricSpec: ContainerResourceMetricSource containerResource; ExternalMetricSource external; ObjectMetricSource object;
PodsMetricSource pods; ResourceMetricSource resource; string type | MetricTarget: int32 averageUtilization; quantity
averageValue value; string type | MutatingAdmissionPolicyBindingSpec: MatchResources matchResources; ParamRef paramRef;
string policyName | MutatingAdmissionPolicySpec: MatchResources matchConstraints; ParamKind paramKind; [MatchCondition
matchConditions; [Mutation mutations; [Variable variables; string failurePolicy reinvocationPolicy | MutatingWebhook:
LabelSelector namespaceSelector objectSelector; [MatchCondition matchConditions; [RuleWithOperations rules; [string
admissionReviewVersions; admissionregistration.v1.WebhookClientConfig clientConfig; int32 timeoutSeconds; string
failurePolicy matchPolicy name reinvocationPolicy sideEffects | Mutation: ApplyConfiguration applyConfiguration;
JSONPatch jsonPatch; string patchType | NFSVolumeSource: boolean readOnly; string path server | NamedRuleWithOperations:
[string apiGroups apiVersions operations resourceNames resources; string scope | NamespaceSpec: [string finalizers |
NetworkPolicyEgressRule: [NetworkPolicyPeer to; [NetworkPolicyPort ports | NetworkPolicyIngressRule: [NetworkPolicyPeer
from; [NetworkPolicyPort ports | NetworkPolicyPeer: IPBlock ipBlock; LabelSelector namespaceSelector podSelector |
NetworkPolicyPort: int-or-string port; int32 endPort; string protocol | NetworkPolicySpec: LabelSelector podSelector;
[NetworkPolicyEgressRule egress; [NetworkPolicyIngressRule ingress; [string policyTypes | NodeAffinity: NodeSelector
requiredDuringSchedulingIgnoredDuringExecution; [PreferredSchedulingTerm preferredDuringSchedulingIgnoredDuringExecution
| NodeAllocatableResourceMapping: quantity allocationMultiplier; string capacityKey | NodeSelector: [NodeSelectorTerm
nodeSelectorTerms | NodeSelectorRequirement: [string values; string key operator | NodeSelectorTerm:
[NodeSelectorRequirement matchExpressions matchFields | NonResourceAttributes: string path verb | NonResourcePolicyRule:
[string nonResourceURLs verbs | ObjectFieldSelector: string apiVersion fieldPath | ObjectMeta: [ManagedFieldsEntry
managedFields; [OwnerReference ownerReferences; [string finalizers; int64 deletionGracePeriodSeconds generation; string
creationTimestamp deletionTimestamp generateName name namespace resourceVersion selfLink uid; {string annotations labels
| ObjectMetricSource: MetricIdentifier metric; MetricTarget target; autoscaling.v2.CrossVersionObjectReference
describedObject | ObjectReference: string apiVersion fieldPath kind name namespace resourceVersion uid |
OpaqueDeviceConfiguration: any parameters; string driver | Overhead: {quantity podFixed | OwnerReference: boolean
blockOwnerDeletion controller; string apiVersion kind name uid | ParamKind: string apiVersion kind | ParamRef:
LabelSelector selector; string name namespace parameterNotFoundAction | ParentReference: string group name namespace
resource | PersistentVolumeClaim: ObjectMeta metadata; PersistentVolumeClaimSpec spec; mapping status; string apiVersion
kind | PersistentVolumeClaimSpec: LabelSelector selector; TypedLocalObjectReference dataSource; TypedObjectReference
dataSourceRef; VolumeResourceRequirements resources; [string accessModes; string storageClassName
volumeAttributesClassName volumeMode volumeName | PersistentVolumeClaimTemplate: ObjectMeta metadata;
PersistentVolumeClaimSpec spec | PersistentVolumeClaimVolumeSource: boolean readOnly; string claimName |
PersistentVolumeSpec: AWSElasticBlockStoreVolumeSource awsElasticBlockStore; AzureDiskVolumeSource azureDisk;
AzureFilePersistentVolumeSource azureFile; CSIPersistentVolumeSource csi; CephFSPersistentVolumeSource cephfs;
CinderPersistentVolumeSource cinder; FCVolumeSource fc; FlexPersistentVolumeSource flexVolume; FlockerVolumeSource
flocker; GCEPersistentDiskVolumeSource gcePersistentDisk; GlusterfsPersistentVolumeSource glusterfs;
HostPathVolumeSource hostPath; ISCSIPersistentVolumeSource iscsi; LocalVolumeSource local; NFSVolumeSource nfs;
ObjectReference claimRef; PhotonPersistentDiskVolumeSource photonPersistentDisk; PortworxVolumeSource portworxVolume;
QuobyteVolumeSource quobyte; RBDPersistentVolumeSource rbd; ScaleIOPersistentVolumeSource scaleIO;
StorageOSPersistentVolumeSource storageos; VolumeNodeAffinity nodeAffinity; VsphereVirtualDiskVolumeSource
vsphereVolume; [string accessModes mountOptions; string persistentVolumeReclaimPolicy storageClassName
volumeAttributesClassName volumeMode; {quantity capacity | PhotonPersistentDiskVolumeSource: string fsType pdID |
PodAffinity: [PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution; [WeightedPodAffinityTerm
preferredDuringSchedulingIgnoredDuringExecution | PodAffinityTerm: LabelSelector labelSelector namespaceSelector;
[string matchLabelKeys mismatchLabelKeys namespaces; string topologyKey | PodAntiAffinity: [PodAffinityTerm
requiredDuringSchedulingIgnoredDuringExecution; [WeightedPodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution
| PodCertificateProjection: int32 maxExpirationSeconds; string certificateChainPath credentialBundlePath keyPath keyType
signerName; {string userAnnotations | PodDNSConfig: [PodDNSConfigOption options; [string nameservers searches |
PodDNSConfigOption: string name value | PodDisruptionBudgetSpec: LabelSelector selector; int-or-string maxUnavailable
minAvailable; string unhealthyPodEvictionPolicy | PodFailurePolicy: [PodFailurePolicyRule rules |
PodFailurePolicyOnExitCodesRequirement: [int32 values; string containerName operator |
PodFailurePolicyOnPodConditionsPattern: string status type | PodFailurePolicyRule:
PodFailurePolicyOnExitCodesRequirement onExitCodes; [PodFailurePolicyOnPodConditionsPattern onPodConditions; string
action | PodOS: string name | PodReadinessGate: string conditionType | PodResourceClaim: string name resourceClaimName
resourceClaimTemplateName | PodSchedulingGate: string name | PodSchedulingGroup: string podGroupName |
PodSecurityContext: AppArmorProfile appArmorProfile; SELinuxOptions seLinuxOptions; SeccompProfile seccompProfile;
WindowsSecurityContextOptions windowsOptions; [Sysctl sysctls; [int64 supplementalGroups; boolean runAsNonRoot; int64
fsGroup runAsGroup runAsUser; string fsGroupChangePolicy seLinuxChangePolicy supplementalGroupsPolicy | PodSpec:
Affinity affinity; PodDNSConfig dnsConfig; PodOS os; PodSchedulingGroup schedulingGroup; PodSecurityContext
securityContext; ResourceRequirements resources; [Container containers initContainers; [EphemeralContainer
ephemeralContainers; [HostAlias hostAliases; [LocalObjectReference imagePullSecrets; [PodReadinessGate readinessGates;
[PodResourceClaim resourceClaims; [PodSchedulingGate schedulingGates; [Toleration tolerations; [TopologySpreadConstraint
topologySpreadConstraints; [Volume volumes; boolean automountServiceAccountToken enableServiceLinks hostIPC hostNetwork
hostPID hostUsers setHostnameAsFQDN shareProcessNamespace; int32 priority; int64 activeDeadlineSeconds
terminationGracePeriodSeconds; string dnsPolicy hostname hostnameOverride nodeName preemptionPolicy priorityClassName
restartPolicy runtimeClassName schedulerName serviceAccount serviceAccountName subdomain; {quantity overhead; {string
nodeSelector | PodTemplateSpec: ObjectMeta metadata; PodSpec spec | PodsMetricSource: MetricIdentifier metric;
MetricTarget target | PolicyRule: [string apiGroups nonResourceURLs resourceNames resources verbs |
PolicyRulesWithSubjects: [NonResourcePolicyRule nonResourceRules; [ResourcePolicyRule resourceRules;
[flowcontrol.v1.Subject subjects | PortworxVolumeSource: boolean readOnly; string fsType volumeID | Preconditions:
string resourceVersion uid | PreferredSchedulingTerm: NodeSelectorTerm preference; int32 weight |
PriorityLevelConfigurationReference: string name | PriorityLevelConfigurationSpec: ExemptPriorityLevelConfiguration
exempt; LimitedPriorityLevelConfiguration limited; string type | Probe: ExecAction exec; GRPCAction grpc; HTTPGetAction
httpGet; TCPSocketAction tcpSocket; int32 failureThreshold initialDelaySeconds periodSeconds successThreshold
timeoutSeconds; int64 terminationGracePeriodSeconds | ProjectedVolumeSource: [VolumeProjection sources; int32
defaultMode | QueuingConfiguration: int32 handSize queueLengthLimit queues | QuobyteVolumeSource: boolean readOnly;
string group registry tenant user volume | RBDPersistentVolumeSource: SecretReference secretRef; [string monitors;
boolean readOnly; string fsType image keyring pool user | RBDVolumeSource: LocalObjectReference secretRef; [string
monitors; boolean readOnly; string fsType image keyring pool user | ReplicaSetSpec: LabelSelector selector;
PodTemplateSpec template; int32 minReadySeconds replicas | ReplicationControllerSpec: PodTemplateSpec template; int32
minReadySeconds replicas; {string selector | ResourceAttributes: FieldSelectorAttributes fieldSelector;
LabelSelectorAttributes labelSelector; string group name namespace resource subresource verb version | ResourceClaim:
string name request | ResourceClaimSpec: DeviceClaim devices | ResourceClaimTemplateSpec: ObjectMeta metadata;
ResourceClaimSpec spec | ResourceFieldSelector: quantity divisor; string containerName resource | ResourceMetricSource:
MetricTarget target; string name | ResourcePolicyRule: [string apiGroups namespaces resources verbs; boolean
clusterScope | ResourcePool: int64 generation resourceSliceCount; string name | ResourceQuotaSpec: ScopeSelector
scopeSelector; [string scopes; {quantity hard | ResourceRequirements: [ResourceClaim claims; {quantity limits requests |
ResourceSliceSpec: NodeSelector nodeSelector; ResourcePool pool; [CounterSet sharedCounters; [Device devices; boolean
allNodes perDeviceNodeSelection; string driver nodeName | RoleRef: string apiGroup kind name | RollingUpdateDaemonSet:
int-or-string maxSurge maxUnavailable | RollingUpdateDeployment: int-or-string maxSurge maxUnavailable |
RollingUpdateStatefulSetStrategy: int-or-string maxUnavailable; int32 partition | RuleWithOperations: [string apiGroups
apiVersions operations resources; string scope | SELinuxOptions: string level role type user |
ScaleIOPersistentVolumeSource: SecretReference secretRef; boolean readOnly sslEnabled; string fsType gateway
protectionDomain storageMode storagePool system volumeName | ScaleIOVolumeSource: LocalObjectReference secretRef;
boolean readOnly sslEnabled; string fsType gateway protectionDomain storageMode storagePool system volumeName |
ScaleSpec: int32 replicas | Scheduling: [Toleration tolerations; {string nodeSelector | ScopeSelector:
[ScopedResourceSelectorRequirement matchExpressions | ScopedResourceSelectorRequirement: [string values; string operator
scopeName | SeccompProfile: string localhostProfile type | SecretEnvSource: boolean optional; string name |
SecretKeySelector: boolean optional; string key name | SecretProjection: [KeyToPath items; boolean optional; string name
| SecretReference: string name namespace | SecretVolumeSource: [KeyToPath items; boolean optional; int32 defaultMode;
string secretName | SecurityContext: AppArmorProfile appArmorProfile; Capabilities capabilities; SELinuxOptions
seLinuxOptions; SeccompProfile seccompProfile; WindowsSecurityContextOptions windowsOptions; boolean
allowPrivilegeEscalation privileged readOnlyRootFilesystem runAsNonRoot; int64 runAsGroup runAsUser; string procMount |
SelectableField: string jsonPath | SelfSubjectAccessReviewSpec: NonResourceAttributes nonResourceAttributes;
ResourceAttributes resourceAttributes | SelfSubjectRulesReviewSpec: string namespace | ServiceAccountSubject: string
name namespace | ServiceAccountTokenProjection: int64 expirationSeconds; string audience path | ServiceBackendPort:
int32 number; string name | ServiceCIDRSpec: [string cidrs | ServicePort: int-or-string targetPort; int32 nodePort port;
string appProtocol name protocol | ServiceSpec: SessionAffinityConfig sessionAffinityConfig; [ServicePort ports; [string
clusterIPs externalIPs ipFamilies loadBalancerSourceRanges; boolean allocateLoadBalancerNodePorts
publishNotReadyAddresses; int32 healthCheckNodePort; string clusterIP externalName externalTrafficPolicy
internalTrafficPolicy ipFamilyPolicy loadBalancerClass loadBalancerIP sessionAffinity trafficDistribution type; {string
selector | SessionAffinityConfig: ClientIPConfig clientIP | SleepAction: int64 seconds | StatefulSetOrdinals: int32
start | StatefulSetPersistentVolumeClaimRetentionPolicy: string whenDeleted whenScaled | StatefulSetSpec: LabelSelector
selector; PodTemplateSpec template; StatefulSetOrdinals ordinals; StatefulSetPersistentVolumeClaimRetentionPolicy
persistentVolumeClaimRetentionPolicy; StatefulSetUpdateStrategy updateStrategy; [PersistentVolumeClaim
volumeClaimTemplates; int32 minReadySeconds replicas revisionHistoryLimit; string podManagementPolicy serviceName |
StatefulSetUpdateStrategy: RollingUpdateStatefulSetStrategy rollingUpdate; string type |
StorageOSPersistentVolumeSource: ObjectReference secretRef; boolean readOnly; string fsType volumeName volumeNamespace |
StorageOSVolumeSource: LocalObjectReference secretRef; boolean readOnly; string fsType volumeName volumeNamespace |
SubjectAccessReviewSpec: NonResourceAttributes nonResourceAttributes; ResourceAttributes resourceAttributes; [string
groups; string uid user; {[string extra | SuccessPolicy: [SuccessPolicyRule rules | SuccessPolicyRule: int32
succeededCount; string succeededIndexes | Sysctl: string name value | TCPSocketAction: int-or-string port; string host |
TokenRequest: int64 expirationSeconds; string audience | TokenReviewSpec: [string audiences; string token | Toleration:
int64 tolerationSeconds; string effect key operator value | TopologySelectorLabelRequirement: [string values; string key
| TopologySelectorTerm: [TopologySelectorLabelRequirement matchLabelExpressions | TopologySpreadConstraint:
LabelSelector labelSelector; [string matchLabelKeys; int32 maxSkew minDomains; string nodeAffinityPolicy
nodeTaintsPolicy topologyKey whenUnsatisfiable | TypedLocalObjectReference: string apiGroup kind name |
TypedObjectReference: string apiGroup kind name namespace | UserSubject: string name |
ValidatingAdmissionPolicyBindingSpec: MatchResources matchResources; ParamRef paramRef; [string validationActions;
string policyName | ValidatingAdmissionPolicySpec: MatchResources matchConstraints; ParamKind paramKind;
[AuditAnnotation auditAnnotations; [MatchCondition matchConditions; [Validation validations; [Variable variables; string
failurePolicy | ValidatingWebhook: LabelSelector namespaceSelector objectSelector; [MatchCondition matchConditions;
[RuleWithOperations rules; [string admissionReviewVersions; admissionregistration.v1.WebhookClientConfig clientConfig;
int32 timeoutSeconds; string failurePolicy matchPolicy name sideEffects | Validation: string expression message
messageExpression reason | ValidationRule: boolean optionalOldSelf; string fieldPath message messageExpression reason
rule | Variable: string expression name | Volume: AWSElasticBlockStoreVolumeSource awsElasticBlockStore;
AzureDiskVolumeSource azureDisk; AzureFileVolumeSource azureFile; CSIVolumeSource csi; CephFSVolumeSource cephfs;
CinderVolumeSource cinder; ConfigMapVolumeSource configMap; DownwardAPIVolumeSource downwardAPI; EmptyDirVolumeSource
emptyDir; EphemeralVolumeSource ephemeral; FCVolumeSource fc; FlexVolumeSource flexVolume; FlockerVolumeSource flocker;
GCEPersistentDiskVolumeSource gcePersistentDisk; GitRepoVolumeSource gitRepo; GlusterfsVolumeSource glusterfs;
HostPathVolumeSource hostPath; ISCSIVolumeSource iscsi; ImageVolumeSource image; NFSVolumeSource nfs;
PersistentVolumeClaimVolumeSource persistentVolumeClaim; PhotonPersistentDiskVolumeSource photonPersistentDisk;
PortworxVolumeSource portworxVolume; ProjectedVolumeSource projected; QuobyteVolumeSource quobyte; RBDVolumeSource rbd;
ScaleIOVolumeSource scaleIO; SecretVolumeSource secret; StorageOSVolumeSource storageos; VsphereVirtualDiskVolumeSource
vsphereVolume; string name | VolumeAttachmentSource: PersistentVolumeSpec inlineVolumeSpec; string persistentVolumeName
| VolumeAttachmentSpec: VolumeAttachmentSource source; string attacher nodeName | VolumeDevice: string devicePath name |
VolumeMount: boolean readOnly; string mountPath mountPropagation name recursiveReadOnly subPath subPathExpr |
VolumeNodeAffinity: NodeSelector required | VolumeNodeResources: int32 count | VolumeProjection:
ClusterTrustBundleProjection clusterTrustBundle; ConfigMapProjection configMap; DownwardAPIProjection downwardAPI;
PodCertificateProjection podCertificate; SecretProjection secret; ServiceAccountTokenProjection serviceAccountToken |
VolumeResourceRequirements: {quantity limits requests | VsphereVirtualDiskVolumeSource: string fsType storagePolicyID
storagePolicyName volumePath | WebhookConversion: [string conversionReviewVersions; apiextensions.v1.WebhookClientConfig
clientConfig | WeightedPodAffinityTerm: PodAffinityTerm podAffinityTerm; int32 weight | WindowsSecurityContextOptions:
boolean hostProcess; string gmsaCredentialSpec gmsaCredentialSpecName runAsUserName |
admissionregistration.k8s.io/v1/MutatingAdmissionPolicy: MutatingAdmissionPolicySpec spec |
admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding: MutatingAdmissionPolicyBindingSpec spec |
admissionregistration.k8s.io/v1/MutatingWebhookConfiguration: [MutatingWebhook webhooks |
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy: ValidatingAdmissionPolicySpec spec |
admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding: ValidatingAdmissionPolicyBindingSpec spec |
admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration: [ValidatingWebhook webhooks |
admissionregistration.v1.ServiceReference: int32 port; string name namespace path |
admissionregistration.v1.WebhookClientConfig: admissionregistration.v1.ServiceReference service; base64 caBundle; string
url | apiextensions.k8s.io/v1/CustomResourceDefinition: CustomResourceDefinitionSpec spec |
apiextensions.v1.ServiceReference: int32 port; string name namespace path | apiextensions.v1.WebhookClientConfig:
apiextensions.v1.ServiceReference service; base64 caBundle; string url | apiregistration.k8s.io/v1/APIService:
APIServiceSpec spec | apiregistration.v1.ServiceReference: int32 port; string name namespace |
apps/v1/ControllerRevision: any data; int64 revision | apps/v1/DaemonSet: DaemonSetSpec spec | apps/v1/Deployment:
DeploymentSpec spec | apps/v1/ReplicaSet: ReplicaSetSpec spec | apps/v1/StatefulSet: StatefulSetSpec spec |
authentication.k8s.io/v1/SelfSubjectReview:  | authentication.k8s.io/v1/TokenReview: TokenReviewSpec spec |
authorization.k8s.io/v1/LocalSubjectAccessReview: SubjectAccessReviewSpec spec |
authorization.k8s.io/v1/SelfSubjectAccessReview: SelfSubjectAccessReviewSpec spec |
authorization.k8s.io/v1/SelfSubjectRulesReview: SelfSubjectRulesReviewSpec spec |
authorization.k8s.io/v1/SubjectAccessReview: SubjectAccessReviewSpec spec | autoscaling.v1.CrossVersionObjectReference:
string apiVersion kind name | autoscaling.v1.HorizontalPodAutoscalerSpec: autoscaling.v1.CrossVersionObjectReference
scaleTargetRef; int32 maxReplicas minReplicas targetCPUUtilizationPercentage |
autoscaling.v2.CrossVersionObjectReference: string apiVersion kind name | autoscaling.v2.HorizontalPodAutoscalerSpec:
HorizontalPodAutoscalerBehavior behavior; [MetricSpec metrics; autoscaling.v2.CrossVersionObjectReference
scaleTargetRef; int32 maxReplicas minReplicas | autoscaling/v1/HorizontalPodAutoscaler:
autoscaling.v1.HorizontalPodAutoscalerSpec spec | autoscaling/v1/Scale: ScaleSpec spec |
autoscaling/v2/HorizontalPodAutoscaler: autoscaling.v2.HorizontalPodAutoscalerSpec spec | batch/v1/CronJob: CronJobSpec
spec | batch/v1/Job: JobSpec spec | certificates.k8s.io/v1/CertificateSigningRequest: CertificateSigningRequestSpec spec
| core.v1.EndpointPort: int32 port; string appProtocol name protocol | discovery.k8s.io/v1/EndpointSlice: [Endpoint
endpoints; [discovery.v1.EndpointPort ports; string addressType | discovery.v1.EndpointPort: int32 port; string
appProtocol name protocol | flowcontrol.apiserver.k8s.io/v1/FlowSchema: FlowSchemaSpec spec |
flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration: PriorityLevelConfigurationSpec spec |
flowcontrol.v1.Subject: GroupSubject group; ServiceAccountSubject serviceAccount; UserSubject user; string kind |
networking.k8s.io/v1/IPAddress: IPAddressSpec spec | networking.k8s.io/v1/Ingress: IngressSpec spec |
networking.k8s.io/v1/IngressClass: IngressClassSpec spec | networking.k8s.io/v1/NetworkPolicy: NetworkPolicySpec spec |
networking.k8s.io/v1/ServiceCIDR: ServiceCIDRSpec spec | node.k8s.io/v1/RuntimeClass: Overhead overhead; Scheduling
scheduling; string handler | policy/v1/Eviction: DeleteOptions deleteOptions | policy/v1/PodDisruptionBudget:
PodDisruptionBudgetSpec spec | rbac.authorization.k8s.io/v1/ClusterRole: AggregationRule aggregationRule; [PolicyRule
rules | rbac.authorization.k8s.io/v1/ClusterRoleBinding: RoleRef roleRef; [rbac.v1.Subject subjects |
rbac.authorization.k8s.io/v1/Role: [PolicyRule rules | rbac.authorization.k8s.io/v1/RoleBinding: RoleRef roleRef;
[rbac.v1.Subject subjects | rbac.v1.Subject: string apiGroup kind name namespace | resource.k8s.io/v1/DeviceClass:
DeviceClassSpec spec | resource.k8s.io/v1/ResourceClaim: ResourceClaimSpec spec |
resource.k8s.io/v1/ResourceClaimTemplate: ResourceClaimTemplateSpec spec | resource.k8s.io/v1/ResourceSlice:
ResourceSliceSpec spec | scheduling.k8s.io/v1/PriorityClass: boolean globalDefault; int32 value; string description
preemptionPolicy | storage.k8s.io/v1/CSIDriver: CSIDriverSpec spec | storage.k8s.io/v1/CSINode: CSINodeSpec spec |
storage.k8s.io/v1/CSIStorageCapacity: LabelSelector nodeTopology; quantity capacity maximumVolumeSize; string
storageClassName | storage.k8s.io/v1/StorageClass: [TopologySelectorTerm allowedTopologies; [string mountOptions;
boolean allowVolumeExpansion; string provisioner reclaimPolicy volumeBindingMode; {string parameters |
storage.k8s.io/v1/VolumeAttachment: VolumeAttachmentSpec spec | storage.k8s.io/v1/VolumeAttributesClass: string
driverName; {string parameters | v1/Binding: ObjectReference target | v1/ComponentStatus: [ComponentCondition conditions
| v1/ConfigMap: boolean immutable; {base64 binaryData; {string data | v1/Endpoints: [EndpointSubset subsets | v1/Event:
EventSeries series; EventSource source; ObjectReference involvedObject related; int32 count; string action eventTime
firstTimestamp lastTimestamp message reason reportingComponent reportingInstance type | v1/LimitRange: LimitRangeSpec
spec | v1/Namespace: NamespaceSpec spec | v1/PersistentVolume: PersistentVolumeSpec spec | v1/PersistentVolumeClaim:
PersistentVolumeClaimSpec spec | v1/PodTemplate: PodTemplateSpec template | v1/ReplicationController:
ReplicationControllerSpec spec | v1/ResourceQuota: ResourceQuotaSpec spec | v1/Secret: boolean immutable; string type;
{base64 data; {string stringData | v1/Service: ServiceSpec spec | v1/ServiceAccount: [LocalObjectReference
imagePullSecrets; [ObjectReference secrets; boolean automountServiceAccountToken
"""
# The end of the table.


@cache
def field_types() -> Mapping[str, Mapping[str, str]]:
    """The types of the fields of each kind (`group/version/kind`, the core group without its slash) and type."""
    types: dict[str, dict[str, str]] = {}
    for row in _TABLE.split("|"):
        name, _, groups = row.partition(":")
        fields = types[name.strip()] = {}
        for group in groups.split(";"):
            code, *named = group.split() or ("",)
            fields.update(dict.fromkeys(named, code))
    return types
