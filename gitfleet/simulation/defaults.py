"""What a server fills in where a manifest is silent, for the kinds that scenarios are mostly about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey

_POD: Final = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30}
_CONTAINER: Final = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_SPECS: Final[Mapping[GroupKind, JsonObject]] = {
    GroupKind("apps", "Deployment"): {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    GroupKind("apps", "StatefulSet"): {"replicas": 1, "revisionHistoryLimit": 10},
    GroupKind("apps", "ReplicaSet"): {"replicas": 1},
    GroupKind("apps", "DaemonSet"): {"revisionHistoryLimit": 10},
    GroupKind("", "Service"): {"sessionAffinity": "None", "type": "ClusterIP"},
    GroupKind("", "Namespace"): {"finalizers": ["kubernetes"]},
}


def with_defaults(key: ObjectKey, content: JsonObject) -> JsonObject:
    """The content as the server keeps it."""
    filled = _SPECS.get(key.group_kind)
    if filled is None:
        return content
    spec: dict[str, Any] = {**filled, **(content.get("spec") or {})}
    template = spec.get("template")
    if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
        pod = template["spec"]
        containers = [{**_CONTAINER, **one} if isinstance(one, Mapping) else one for one in pod.get("containers") or ()]
        spec["template"] = {**template, "spec": {**_POD, **pod, **({"containers": containers} if containers else {})}}
    return {**content, "spec": spec}
