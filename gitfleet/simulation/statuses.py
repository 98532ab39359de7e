"""What the controllers of a cluster write into an object: one pure function of the object and how far its rollout is.

Every kind has two faces: still rolling out, where KubeFleet's availability rule (kubefleet.md §6) must say no, and
done, where it must say yes. Workloads are not here: they have pods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from gitfleet.api.definitions import CRD
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.formats import times
from gitfleet.simulation.kinds import NAMESPACE, SERVICE


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an object is: `done`, or on its way; `first` when it never was done before.

    `at` is the moment of this state.
    """

    done: bool
    first: bool
    at: datetime


def reconciled(group_kind: GroupKind, body: JsonObject, progress: Progress, *, reports: bool) -> JsonObject:
    """The object with what its controllers write (status; a Service's clusterIP); the same object for plain data.

    `reports` says for a kind without rules of its own (a custom one) whether its controller writes a Ready condition.
    """
    controller = _CONTROLLERS.get(group_kind) or (_custom if reports else None)
    return body if controller is None else controller(body, progress)


def has_status(group_kind: GroupKind) -> bool:
    """Whether a built-in kind has a controller here."""
    return group_kind in _CONTROLLERS


def time_text(moment: datetime) -> str:
    """A time as Kubernetes writes it: whole seconds, UTC."""
    return times.time_text(moment.replace(microsecond=0))


def _job(body: JsonObject, progress: Progress) -> JsonObject:
    spec = body.get("spec") or {}
    status: dict[str, Any] = {"startTime": time_text(progress.at)}
    if progress.done:
        started = (body.get("status") or {}).get("startTime") or time_text(progress.at)
        status = {"startTime": started, "completionTime": time_text(progress.at)}
        status |= {"succeeded": _number(spec.get("completions"), 1), "ready": 0, "terminating": 0}
        status["conditions"] = [_condition("Complete", "True", "CompletionsReached", progress)]
    else:
        status |= {"active": _number(spec.get("parallelism"), 1), "ready": 0, "terminating": 0}
    return _with_status(body, status)


def _service(body: JsonObject, progress: Progress) -> JsonObject:
    spec = dict(body.get("spec") or {})
    kind = spec.get("type") or "ClusterIP"
    if kind == "ExternalName":
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
    elif "clusterIP" in spec:
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
    elif progress.done or kind == "LoadBalancer":
        address = _address(body, "10.96")
        spec |= {"clusterIP": address, "clusterIPs": [address]}
    balanced = kind == "LoadBalancer" and progress.done
    balancer = {"ingress": [{"ip": _address(body, "203.0"), "ipMode": "VIP"}]} if balanced else {}
    return _with_status({**body, "spec": spec}, {"loadBalancer": balancer})


def _definition(body: JsonObject, progress: Progress) -> JsonObject:
    spec = body.get("spec") or {}
    stored = [version.get("name") for version in spec.get("versions") or () if version.get("storage")]
    conditions = [_condition("NamesAccepted", "True", "NoConflicts", progress)]
    established = ("True", "InitialNamesAccepted") if progress.done or not progress.first else ("False", "Installing")
    conditions.append(_condition("Established", *established, progress))
    names = spec.get("names") or {}
    return _with_status(body, {"acceptedNames": names, "conditions": conditions, "storedVersions": stored})


def _budget(body: JsonObject, progress: Progress) -> JsonObject:
    generation = _generation(body)
    if not progress.done:
        return _with_status(body, {**(body.get("status") or {}), "observedGeneration": generation - 1})
    condition = _condition("DisruptionAllowed", "True", "SufficientPods", progress) | {"observedGeneration": generation}
    status = {"currentHealthy": 2, "desiredHealthy": 1, "disruptionsAllowed": 1, "expectedPods": 2}
    return _with_status(body, status | {"observedGeneration": generation, "conditions": [condition]})


def _pod(body: JsonObject, progress: Progress) -> JsonObject:
    ready = "True" if progress.done else "False"
    condition = _condition("Ready", ready, "PodReady" if progress.done else "ContainersNotReady", progress)
    return _with_status(body, {"phase": "Running" if progress.done else "Pending", "conditions": [condition]})


def _namespace(body: JsonObject, _: Progress) -> JsonObject:
    return _with_status({**body, "spec": {"finalizers": ["kubernetes"]}}, {"phase": "Active"})


def _custom(body: JsonObject, progress: Progress) -> JsonObject:
    outcome = ("True", "Ready") if progress.done else ("False", "Progressing")
    generation = _generation(body)
    condition = _condition("Ready", *outcome, progress) | {"observedGeneration": generation}
    return _with_status(body, {"observedGeneration": generation, "conditions": [condition]})


_CONTROLLERS: Final[Mapping[GroupKind, Callable[[JsonObject, Progress], JsonObject]]] = {
    GroupKind("batch", "Job"): _job,
    GroupKind("policy", "PodDisruptionBudget"): _budget,
    GroupKind("", "Pod"): _pod,
    GroupKind("", "PersistentVolumeClaim"): lambda body, progress: _with_status(
        body, {"phase": "Bound" if progress.done else "Pending"}
    ),
    SERVICE: _service,
    NAMESPACE: _namespace,
    CRD: _definition,
}


def _with_status(body: JsonObject, status: JsonObject) -> JsonObject:
    return {**body, "status": status}


def _condition(type_: str, status: str, reason: str, progress: Progress) -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "lastTransitionTime": time_text(progress.at)}


def _generation(body: JsonObject) -> int:
    return int((body.get("metadata") or {}).get("generation") or 0)


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) else default


def _address(body: JsonObject, prefix: str) -> str:
    """An address that depends on the object's name alone, so that the same simulation gives the same bytes."""
    metadata = body.get("metadata") or {}
    digest = sha256(f"{metadata.get('namespace')}/{metadata.get('name')}".encode()).digest()
    return f"{prefix}.{digest[0]}.{digest[1] % 254 + 1}"
