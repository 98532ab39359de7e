"""Whether one live object is available.

Built-in kinds by KubeFleet's rules (pkg/controllers/workapplier/availability_tracker.go) with Job as the seeds have it
(decision D2); custom kinds by kstatus (decision D3). The group decides which: a `Deployment` of another group is a
custom kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.formats.kinds import BUILT_IN_KINDS, KUBERNETES_GROUPS
from gitfleet.model.observations import Verdict
from gitfleet.observe.checks import NO_CHECKS, Checks, checked_availability
from gitfleet.observe.customs import custom_availability
from gitfleet.observe.failed_states import failed_state
from gitfleet.observe.fields import (
    AVAILABLE,
    conditions_of,
    generation_of,
    integer,
    is_true,
    not_yet,
    section,
    untracked,
)
from gitfleet.observe.texts import ObserveText
from gitfleet.observe.workloads import (
    daemon_set_availability,
    deployment_availability,
    job_availability,
    stateful_set_availability,
)


def availability_of(body: JsonObject, checks: Checks = NO_CHECKS) -> Verdict:
    """The verdict on an object as its API server shows it, by the fleet's own health check of its kind where it has
    one; `reason` is half a sentence about it. Never raises."""
    check = checks.get(GroupKind(_group(body), str(body.get("kind") or ""))) if checks else None
    return _own_availability(body) if check is None else checked_availability(body, check, _own_availability)


def _own_availability(body: JsonObject) -> Verdict:
    """By gitfleet's own rules. What says that it has failed is not available, in kinds that are not trackable too."""
    group = _group(body)
    if group not in KUBERNETES_GROUPS:
        return custom_availability(body)
    kind = str(body.get("kind") or "")
    rule = _RULES.get((group, kind))
    verdict = rule(body) if rule is not None else untracked(ObserveText.AVAILABILITY_NOT_TRACKABLE(kind=kind))
    if verdict is AVAILABLE or verdict == AVAILABLE or (cause := failed_state(GroupKind(group, kind), body)) is None:
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
    conditions = conditions_of(body)
    for type_ in ("NamesAccepted", "Established"):
        if not is_true(conditions.get(type_)):
            return not_yet(ObserveText.DEFINITION_NOT_YET(kind=type_))
    return AVAILABLE


def _disruption_budget(body: JsonObject) -> Verdict:
    """The condition must be current; it need not allow disruptions (component-helpers ConditionsAreUpToDate)."""
    status, condition = section(body, "status"), conditions_of(body).get("DisruptionAllowed")
    if condition is None or integer(status, "observedGeneration") != generation_of(body):
        return not_yet(ObserveText.DISRUPTION_CONTROLLER_NOT_OBSERVED_YET())
    wanted = ("True", "SufficientPods") if integer(status, "disruptionsAllowed") > 0 else ("False", "InsufficientPods")
    if (condition.get("status"), condition.get("reason")) != wanted:
        return not_yet(ObserveText.DISRUPTIONALLOWED_CONDITION_NOT_CURRENT_YET())
    return AVAILABLE


_RULES: Final[Mapping[tuple[str, str], Callable[[JsonObject], Verdict]]] = {
    **{kind: lambda _: AVAILABLE for kind, row in BUILT_IN_KINDS.items() if row.data},
    GroupKind("apps", "Deployment"): deployment_availability,
    GroupKind("apps", "StatefulSet"): stateful_set_availability,
    GroupKind("apps", "DaemonSet"): daemon_set_availability,
    GroupKind("batch", "Job"): job_availability,
    GroupKind("", "Service"): _service,
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    GroupKind("policy", "PodDisruptionBudget"): _disruption_budget,
}
