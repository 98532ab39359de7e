"""Pods, and the ReplicaSets of Deployments, as an API server shows them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.kinds import REVISION
from gitfleet.simulation.pods.model import (
    CLONE_SET,
    DAEMON_SET,
    DEPLOYMENT,
    NEVER_AVAILABLE,
    STATEFUL_SET,
    Pod,
    Revision,
    section,
)
from gitfleet.simulation.statuses import time_text

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes the ends of names of: no vowels, so no words."""
_SUFFIX: Final = 5
_STRIDE: Final = 9_368_231
"""Prime to the number of suffixes, so that each number has a suffix of its own, and neighbours do not look alike."""


def revision_hash(template: Any) -> str:
    """What a template's revision is called by: a part of its digest."""
    return digest_of(template)[:10]


def revision_name(owner: JsonObject, template: Any) -> str:
    """The name of a revision, as statuses have it."""
    return f"{section(owner, 'metadata').get('name')}-{revision_hash(template)}"


def pod_name(owner: JsonObject, revision: Revision, pod: Pod) -> str:
    """The name of a pod."""
    name, kind = str(section(owner, "metadata").get("name")), key_of(owner).group_kind
    if kind == STATEFUL_SET:
        return f"{name}-{pod.place}"
    end = _end(pod.place if kind == CLONE_SET else pod.serial)
    if kind == DEPLOYMENT:
        return f"{name}-{revision_hash(revision.template)}-{end}"
    return f"{name}-{end}"


def pod_view(owner: JsonObject, revision: Revision, pod: Pod, now: datetime) -> JsonObject:
    """The pod as the API server shows it now; its resourceVersion is that of its workload."""
    template, kind = revision.template, key_of(owner).group_kind
    metadata, name = section(owner, "metadata"), pod_name(owner, revision, pod)
    in_template = section(template, "metadata")
    shown: dict[str, Any] = {
        "name": name,
        "namespace": metadata.get("namespace"),
        "uid": str(uuid5(NAMESPACE_URL, f"{metadata.get('uid')}/{pod.serial}")),
        "resourceVersion": metadata.get("resourceVersion"),
        "creationTimestamp": time_text(pod.created),
        "labels": {**section(in_template, "labels"), **_labels(owner, template, name, pod)},
        "ownerReferences": [_owner(owner, template)],
    }
    if section(in_template, "annotations"):
        shown["annotations"] = dict(section(in_template, "annotations"))
    spec = dict(section(template, "spec"))
    if kind == DAEMON_SET:
        spec["nodeName"] = f"node-{pod.place}"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": shown, "spec": spec, "status": _status(spec, pod, now)}


def replica_set_view(owner: JsonObject, revision: Revision, now: datetime) -> JsonObject:
    """The ReplicaSet that a revision of a Deployment is, as the API server shows it now."""
    metadata, template = section(owner, "metadata"), revision.template
    name, seconds = revision_name(owner, template), min(revision.min_ready, NEVER_AVAILABLE)
    ready = [pod.ready for pod in revision.pods if pod.ready is not None and pod.ready <= now]
    since = now - timedelta(seconds=seconds) if seconds < NEVER_AVAILABLE else None
    counts = {
        "replicas": len(revision.pods),
        "fullyLabeledReplicas": len(revision.pods),
        "readyReplicas": len(ready),
        "availableReplicas": sum(since is not None and at <= since for at in ready),
    }
    hashed = {"pod-template-hash": revision_hash(template)}
    selector = section(owner, "spec", "selector")
    shown: dict[str, Any] = {
        "name": name,
        "namespace": metadata.get("namespace"),
        "uid": _replica_set_uid(owner, name),
        "resourceVersion": metadata.get("resourceVersion"),
        "creationTimestamp": metadata.get("creationTimestamp"),
        "generation": 1,
        "labels": {**section(template, "metadata", "labels"), **hashed},
        "annotations": {
            "deployment.kubernetes.io/desired-replicas": str(revision.desired),
            "deployment.kubernetes.io/max-replicas": str(revision.most),
            REVISION: str(revision.number),
        },
        "ownerReferences": [_reference(owner, "Deployment", metadata.get("name"), metadata.get("uid"))],
    }
    spec = {
        "replicas": len(revision.pods),
        "selector": {**selector, "matchLabels": {**section(selector, "matchLabels"), **hashed}},
        "template": template,
        **({"minReadySeconds": revision.min_ready} if revision.min_ready else {}),
    }
    status = {name: count for name, count in counts.items() if count or name == "replicas"}
    status["observedGeneration"] = 1
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": shown, "spec": spec, "status": status}


def _labels(owner: JsonObject, template: Any, name: str, pod: Pod) -> Mapping[str, str]:
    kind = key_of(owner).group_kind
    if kind == DEPLOYMENT:
        return {"pod-template-hash": revision_hash(template)}
    if kind == DAEMON_SET:
        return {"controller-revision-hash": revision_hash(template), "pod-template-generation": str(pod.revision)}
    own = {"controller-revision-hash": revision_name(owner, template)}
    if kind == STATEFUL_SET:
        return own | {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(pod.place)}
    return own | {"pod-template-hash": revision_hash(template), "apps.kruise.io/cloneset-instance-id": _end(pod.place)}


def _owner(owner: JsonObject, template: Any) -> JsonObject:
    """A Deployment's pods belong to its ReplicaSet."""
    if key_of(owner).group_kind == DEPLOYMENT:
        name = revision_name(owner, template)
        return _reference(owner, "ReplicaSet", name, _replica_set_uid(owner, name))
    metadata = section(owner, "metadata")
    return _reference(owner, owner.get("kind"), metadata.get("name"), metadata.get("uid"))


def _replica_set_uid(owner: JsonObject, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{section(owner, 'metadata').get('uid')}/{name}"))


def _reference(owner: JsonObject, kind: Any, name: Any, uid: Any) -> JsonObject:
    return {
        "apiVersion": owner.get("apiVersion"),
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _status(spec: Mapping[str, Any], pod: Pod, now: datetime) -> JsonObject:
    is_ready = pod.ready is not None and pod.ready <= now
    at = time_text(pod.ready if is_ready and pod.ready is not None else pod.created)
    condition = {"type": "Ready", "status": "True" if is_ready else "False", "lastTransitionTime": at}
    if not is_ready:
        condition["reason"] = "ContainersNotReady"
    listed = spec.get("containers")
    containers = [
        {"name": container.get("name"), "image": container.get("image"), "ready": is_ready, "restartCount": 0}
        for container in (listed if isinstance(listed, list) else ())
        if isinstance(container, Mapping)
    ]
    status: dict[str, Any] = {"phase": "Running" if is_ready else "Pending", "conditions": [condition]}
    return {**status, "startTime": time_text(pod.created), **({"containerStatuses": containers} if containers else {})}


def _end(serial: int) -> str:
    remainder, letters = serial * _STRIDE % len(_LETTERS) ** _SUFFIX, []
    for _ in range(_SUFFIX):
        remainder, place = divmod(remainder, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)
