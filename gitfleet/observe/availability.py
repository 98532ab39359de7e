"""Whether one live object is available.

Built-in kinds by KubeFleet's rules (pkg/controllers/workapplier/availability_tracker.go) with Job as the seeds have it
(decision D2); custom kinds by what they say of themselves (decision D3; kstatus, cli-utils pkg/kstatus/status); kinds
with a health check in the FleetConfig by its CEL expressions (decision record 0022). The group decides which: a
`Deployment` of another group is a custom kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from gitfleet.api.fleet import HealthCheck
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.formats.cel import CannotEvaluate
from gitfleet.formats.json_values import cause_of, conditions_of, mappings, section
from gitfleet.formats.kinds import BUILT_IN_KINDS, KUBERNETES_GROUPS
from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe.texts import ObserveText

AVAILABLE: Final = Verdict(Availability.AVAILABLE)


def not_yet(reason: str) -> Verdict:
    """Not available yet, and why."""
    return Verdict(Availability.NOT_YET, reason)


def untracked(reason: str) -> Verdict:
    """It is not known, and why."""
    return Verdict(Availability.NOT_TRACKABLE, reason)


def integer(part: JsonObject, name: str, default: int = 0) -> int:
    """A whole number, the default when it is missing or none."""
    value = part.get(name)
    return value if isinstance(value, int) else default


def generation_of(body: JsonObject) -> int:
    """metadata.generation, 0 where the kind has none."""
    return integer(section(body, "metadata"), "generation")


def _by_type(body: JsonObject) -> dict[str, JsonObject]:
    return {str(condition.get("type")): condition for condition in conditions_of(body)}


def is_true(condition: JsonObject) -> bool:
    """Whether a condition is True; an empty one is not there."""
    return condition.get("status") == "True"


def cause_text(part: JsonObject) -> str:
    """What a condition, or another part with a `reason` and a `message`, says for people."""
    return cause_of(part, ObserveText.NO_REASON_GIVEN())


Checks: TypeAlias = Mapping[GroupKind, HealthCheck]
NO_CHECKS: Final[Checks] = MappingProxyType({})
_FAILING: Final = (("ReplicaFailure", "True"), ("Failed", "True"), ("Progressing", "False"))
"""Conditions of the controllers of Deployments, ReplicaSets, ReplicationControllers and Jobs, the nearest cause
first."""
_STUCK: Final = frozenset({
    "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName",
    "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
})  # fmt: skip
"""Why the kubelet does not start a container; ContainerCreating and PodInitializing pass by themselves."""


def _failed_state(kind: GroupKind, body: JsonObject) -> str | None:
    """The cause, as its controller reports it for the present spec, so that a rollout that waits for the object names
    it; None when it reports no failure."""
    status = section(body, "status")
    if _is_older(status, generation_of(body)):
        return None
    conditions = _by_type(body)
    for type_, failing in _FAILING:
        condition = conditions.get(type_, {})
        if condition.get("status") == failing:
            return cause_text(condition)
    if kind == GroupKind("", "PersistentVolumeClaim") and status.get("phase") == "Lost":
        return ObserveText.VOLUME_LOST()
    if kind == GroupKind("", "Pod"):
        return cause_text(status) if status.get("phase") == "Failed" else next(_stuck_containers(status), None)
    return None


def _stuck_containers(status: JsonObject) -> Iterator[str]:
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in mappings(status.get(kind)):
            waiting = section(container, "state", "waiting")
            if str(waiting.get("reason")) in _STUCK:
                yield f"container {container.get('name')}: {cause_text(waiting)}"


def _custom(body: JsonObject) -> Verdict:
    """By Ready at the current generation, Reconciling and Stalled; not trackable when it has none of the three."""
    status, generation = section(body, "status"), generation_of(body)
    conditions = _by_type(body)
    if conditions.keys().isdisjoint(("Ready", "Reconciling", "Stalled")):
        return untracked(ObserveText.NO_READY_CONDITION())
    if generation and _is_older(status, generation):
        return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
    for type_ in ("Stalled", "Reconciling"):
        condition = conditions.get(type_, {})
        if is_true(condition):
            return not_yet(f"it is {type_}: {cause_text(condition)}")
    ready = conditions.get("Ready", {"status": "True"})
    if generation and _is_older(ready, generation):
        return not_yet(ObserveText.READY_CONDITION_OLDER_GENERATION())
    return AVAILABLE if is_true(ready) else not_yet(ObserveText.NOT_READY(cause_text=cause_text(ready)))


def _is_older(part: JsonObject, generation: int) -> bool:
    """Whether a status or a condition says that it is about another generation."""
    return "observedGeneration" in part and integer(part, "observedGeneration") != generation


def reports_generation(body: JsonObject) -> bool:
    """Whether an object says for which generation its conditions count; if not, they may be older than its spec."""
    ready = _by_type(body).get("Ready", {})
    return "observedGeneration" in section(body, "status") or "observedGeneration" in ready


def _checked(body: JsonObject, check: HealthCheck, own: Callable[[JsonObject], Verdict]) -> Verdict:
    """By the generation that its controller has observed, then `failed`, then `available` (Flux RFC 0009); what neither
    of them decides is decided by gitfleet's `own` rule for the kind."""
    observed = section(body, "status").get("observedGeneration")
    if isinstance(observed, int) and generation_of(body) not in (0, observed):
        return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
    for name, expression in (("failed", check.failed), ("available", check.available)):
        if expression is None:
            continue
        try:
            answer = expression.is_true(body)
        except CannotEvaluate as error:
            return not_yet(ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name=name, error=error))
        if answer and name == "failed":
            return not_yet(ObserveText.HEALTH_CHECK_SAYS_FAILED(beside=_beside(own(body))))
        if name == "available":
            return (
                AVAILABLE if answer else not_yet(ObserveText.HEALTH_CHECK_SAYS_NOT_AVAILABLE(beside=_beside(own(body))))
            )
    return own(body)


def _beside(own: Verdict) -> str:
    """What the kind's own rule knows of the cause."""
    return f"; {own.reason}" if own.availability is Availability.NOT_YET else ""


def _deployment(body: JsonObject) -> Verdict:
    """Exactly the desired replicas are there, all of them updated and available."""
    status, replicas = section(body, "status"), integer(section(body, "spec"), "replicas", 1)
    if stale := _stale(body, status):
        return stale
    updated, available = integer(status, "updatedReplicas"), integer(status, "availableReplicas")
    if updated != replicas:
        return not_yet(ObserveText.REPLICAS_UPDATED(updated=updated, wanted=replicas))
    if available != replicas or integer(status, "unavailableReplicas"):
        return not_yet(ObserveText.REPLICAS_AVAILABLE(available=available, wanted=replicas))
    return AVAILABLE


def _stateful_set(body: JsonObject) -> Verdict:
    """All desired replicas are available and on the update revision."""
    status, replicas = section(body, "status"), integer(section(body, "spec"), "replicas", 1)
    if stale := _stale(body, status):
        return stale
    available = integer(status, "availableReplicas")
    if available != replicas:
        return not_yet(ObserveText.REPLICAS_AVAILABLE(available=available, wanted=replicas))
    updated = integer(status, "currentReplicas") == integer(status, "updatedReplicas")
    if not updated or status.get("currentRevision") != status.get("updateRevision"):
        return not_yet(ObserveText.REPLICAS_UPDATED(updated=integer(status, "updatedReplicas"), wanted=replicas))
    return AVAILABLE


def _daemon_set(body: JsonObject) -> Verdict:
    """Every node that should have a pod has an available one of the latest template."""
    status = section(body, "status")
    if stale := _stale(body, status):
        return stale
    desired, available = integer(status, "desiredNumberScheduled"), integer(status, "numberAvailable")
    if available != desired:
        return not_yet(ObserveText.PODS_AVAILABLE(available=available, wanted=desired))
    current, updated = integer(status, "currentNumberScheduled"), integer(status, "updatedNumberScheduled")
    return AVAILABLE if current == updated else not_yet(ObserveText.PODS_UPDATED(updated=updated, current=current))


def _job(body: JsonObject) -> Verdict:
    """At least one pod succeeded or is ready (seeds; decision D2)."""
    status, conditions = section(body, "status"), _by_type(body)
    if integer(status, "succeeded") or integer(status, "ready") or is_true(conditions.get("Complete", {})):
        return AVAILABLE
    return not_yet(ObserveText.NO_POD_SUCCEEDED_READY())


def _stale(body: JsonObject, status: JsonObject) -> Verdict | None:
    if integer(status, "observedGeneration") == generation_of(body):
        return None
    return not_yet(ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())


def availability_of(body: JsonObject, checks: Checks = NO_CHECKS) -> Verdict:
    """The verdict on an object as its API server shows it, by the fleet's own health check of its kind where it has
    one; `reason` is half a sentence about it. Never raises."""
    check = checks.get(GroupKind(_group(body), str(body.get("kind") or ""))) if checks else None
    return _own_availability(body) if check is None else _checked(body, check, _own_availability)


def _own_availability(body: JsonObject) -> Verdict:
    """By gitfleet's own rules. What says that it has failed is not available, in kinds that are not trackable too."""
    group = _group(body)
    if group not in KUBERNETES_GROUPS:
        return _custom(body)
    kind = str(body.get("kind") or "")
    rule = _RULES.get((group, kind))
    verdict = rule(body) if rule is not None else untracked(ObserveText.AVAILABILITY_NOT_TRACKABLE(kind=kind))
    if verdict is AVAILABLE or verdict == AVAILABLE or (cause := _failed_state(GroupKind(group, kind), body)) is None:
        return verdict
    return not_yet(cause if rule is None else f"{verdict.reason}; {cause}")


def is_custom(body: JsonObject) -> bool:
    """Whether an object is of a kind that Kubernetes itself does not have."""
    return _group(body) not in KUBERNETES_GROUPS


def _group(body: JsonObject) -> str:
    return str(body.get("apiVersion") or "").rpartition("/")[0]


def _service(body: JsonObject) -> Verdict:
    spec = section(body, "spec")
    match spec.get("type") or "ClusterIP":
        case "ClusterIP" | "NodePort":
            addresses = spec.get("clusterIPs") or [""]
            return AVAILABLE if addresses[0] else not_yet(ObserveText.NO_CLUSTER_IP_ASSIGNED())
        case "LoadBalancer":
            ingress = section(section(body, "status"), "loadBalancer").get("ingress") or [{}]
            reached = ingress[0].get("ip") or ingress[0].get("hostname")
            return AVAILABLE if reached else not_yet(ObserveText.LOAD_BALANCER_NO_ADDRESS_YET())
        case other:
            return untracked(ObserveText.AVAILABILITY_SERVICE_TYPE_NOT_TRACKABLE(other=other))


def _definition(body: JsonObject) -> Verdict:
    conditions = _by_type(body)
    for type_ in ("NamesAccepted", "Established"):
        if not is_true(conditions.get(type_, {})):
            return not_yet(ObserveText.DEFINITION_NOT_YET(kind=type_))
    return AVAILABLE


def _disruption_budget(body: JsonObject) -> Verdict:
    """The condition must be current; it need not allow disruptions (component-helpers ConditionsAreUpToDate)."""
    status, condition = section(body, "status"), _by_type(body).get("DisruptionAllowed", {})
    if not condition or integer(status, "observedGeneration") != generation_of(body):
        return not_yet(ObserveText.DISRUPTION_CONTROLLER_NOT_OBSERVED_YET())
    expected = (
        ("True", "SufficientPods") if integer(status, "disruptionsAllowed") > 0 else ("False", "InsufficientPods")
    )
    if (condition.get("status"), condition.get("reason")) != expected:
        return not_yet(ObserveText.DISRUPTIONALLOWED_CONDITION_NOT_CURRENT_YET())
    return AVAILABLE


_RULES: Final[Mapping[tuple[str, str], Callable[[JsonObject], Verdict]]] = {
    **{kind: lambda _: AVAILABLE for kind, row in BUILT_IN_KINDS.items() if row.data},
    GroupKind("apps", "Deployment"): _deployment,
    GroupKind("apps", "StatefulSet"): _stateful_set,
    GroupKind("apps", "DaemonSet"): _daemon_set,
    GroupKind("batch", "Job"): _job,
    GroupKind("", "Service"): _service,
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    GroupKind("policy", "PodDisruptionBudget"): _disruption_budget,
}
