"""What an object of a built-in kind says of its own failure, so that a rollout that waits for it names the cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.observe.fields import cause_text, conditions_of, generation_of, integer, section
from gitfleet.observe.texts import ObserveText

_FAILING: Final = (("ReplicaFailure", "True"), ("Failed", "True"), ("Progressing", "False"))
"""Conditions of the controllers of Deployments, ReplicaSets, ReplicationControllers and Jobs, the nearest cause
first."""
_STUCK: Final = frozenset({
    "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName",
    "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
})  # fmt: skip
"""Why the kubelet does not start a container; ContainerCreating and PodInitializing pass by themselves."""


def failed_state(kind: GroupKind, body: JsonObject) -> str | None:
    """The cause, as its controller reports it for the present spec; None when it reports no failure."""
    status = section(body, "status")
    if "observedGeneration" in status and integer(status, "observedGeneration") != generation_of(body):
        return None
    conditions = conditions_of(body)
    for type_, failing in _FAILING:
        condition = conditions.get(type_)
        if condition is not None and condition.get("status") == failing:
            return cause_text(condition)
    if kind == GroupKind("", "PersistentVolumeClaim") and status.get("phase") == "Lost":
        return ObserveText.VOLUME_LOST()
    if kind == GroupKind("", "Pod"):
        return cause_text(status) if status.get("phase") == "Failed" else next(_stuck_containers(status), None)
    return None


def _stuck_containers(status: JsonObject) -> Iterator[str]:
    for kind in ("initContainerStatuses", "containerStatuses"):
        containers = status.get(kind)
        for container in containers if isinstance(containers, list) else ():
            waiting = section(section(container, "state"), "waiting") if isinstance(container, Mapping) else {}
            if str(waiting.get("reason")) in _STUCK:
                yield f"container {container.get('name')}: {cause_text(waiting)}"
