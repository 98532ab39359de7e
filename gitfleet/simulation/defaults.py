"""What a server fills in where a manifest is silent, for the kinds that scenarios are mostly about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey

_POD: Final = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30}
_CONTAINER: Final = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_ROLLING: Final = "RollingUpdate"
_SPECS: Final[Mapping[GroupKind, JsonObject]] = {
    GroupKind("apps", "Deployment"): {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    GroupKind("apps", "StatefulSet"): {"replicas": 1, "revisionHistoryLimit": 10},
    GroupKind("apps", "ReplicaSet"): {"replicas": 1},
    GroupKind("apps", "DaemonSet"): {"revisionHistoryLimit": 10},
    GroupKind("", "Service"): {"sessionAffinity": "None", "type": "ClusterIP"},
    GroupKind("", "Namespace"): {"finalizers": ["kubernetes"]},
}


_STRATEGIES: Final[Mapping[GroupKind, tuple[str, JsonObject]]] = {
    GroupKind("apps", "Deployment"): ("strategy", {"maxSurge": "25%", "maxUnavailable": "25%"}),
    GroupKind("apps", "StatefulSet"): ("updateStrategy", {"partition": 0}),
    GroupKind("apps", "DaemonSet"): ("updateStrategy", {"maxSurge": 0, "maxUnavailable": 1}),
}
"""Where an update strategy stands, and what its `rollingUpdate` is by default."""
_ZEROES: Final = {"paused": False, "minReadySeconds": 0}
"""What Go leaves out of these kinds: whoever writes the value finds no field afterwards."""


def with_defaults(key: ObjectKey, content: JsonObject) -> JsonObject:
    """The content as the server keeps it."""
    filled = _SPECS.get(key.group_kind)
    if filled is None:
        return content
    spec: dict[str, Any] = {**filled, **(content.get("spec") or {})}
    if key.group_kind in _STRATEGIES:
        spec = _with_strategy(spec, *_STRATEGIES[key.group_kind])
    template = spec.get("template")
    if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
        pod = template["spec"]
        containers = [{**_CONTAINER, **one} if isinstance(one, Mapping) else one for one in pod.get("containers") or ()]
        spec["template"] = {**template, "spec": {**_POD, **pod, **({"containers": containers} if containers else {})}}
    return {**content, "spec": spec}


def _with_strategy(spec: JsonObject, name: str, limits: JsonObject) -> dict[str, Any]:
    filled = {field: value for field, value in spec.items() if field not in _ZEROES or value != _ZEROES[field]}
    strategy = spec.get(name) or {}
    if isinstance(strategy, Mapping) and strategy.get("type", _ROLLING) == _ROLLING:
        rolling = strategy.get("rollingUpdate") or {}
        if isinstance(rolling, Mapping):
            filled[name] = {"type": _ROLLING, **strategy, "rollingUpdate": {**limits, **rolling}}
    return filled
