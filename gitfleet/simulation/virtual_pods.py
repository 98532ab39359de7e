"""The pods of workloads among the objects of a simulated API server: they can be read, listed and deleted; and the
ReplicaSets of Deployments that have pods: they can be read and listed.

They are no stored objects. Deleting a workload deletes them; nothing can write them but `minReadySeconds` of a
ReplicaSet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.simulation.bodies import Stored
from gitfleet.simulation.pods.model import DEPLOYMENT, KINDS, Pod, Revision, Workload, number
from gitfleet.simulation.pods.views import pod_name, pod_view, replica_set_view
from gitfleet.simulation.refusals import bad_request, check_preconditions, conflict, not_found
from gitfleet.simulation.server import MemoryServer

POD: Final = GroupKind("", "Pod")
REPLICA_SET: Final = GroupKind("apps", "ReplicaSet")


def virtual_in(server: MemoryServer, group_kind: GroupKind, namespace: str, now: datetime) -> list[JsonObject]:
    """The pods of all workloads of a namespace (of every one, where it is ""), or the ReplicaSets, by namespace and
    name; none of another kind."""
    if group_kind == POD:
        bodies = _pods(server, namespace, now)
    elif group_kind == REPLICA_SET:
        bodies = [
            replica_set_view(stored.live.body, revision, now)
            for stored, workload in _workloads(server, namespace, {DEPLOYMENT})
            for revision in workload.revisions
        ]
    else:
        return []
    return sorted(bodies, key=lambda body: (body["metadata"]["namespace"], body["metadata"]["name"]))


def _pods(server: MemoryServer, namespace: str, now: datetime) -> list[JsonObject]:
    return [
        pod_view(stored.live.body, revision, pod, now)
        for stored, workload in _workloads(server, namespace)
        for revision in workload.revisions
        for pod in revision.pods
    ]


def virtual_at(server: MemoryServer, key: ObjectKey, now: datetime) -> JsonObject | None:
    """The pod of a workload, or the ReplicaSet, under a name; None where there is none."""
    if key.group_kind != POD:
        listed = virtual_in(server, key.group_kind, key.namespace, now)
        return next((body for body in listed if body["metadata"]["name"] == key.name), None)
    place = _pod_at(server, key)
    return None if place is None else pod_view(place[0].live.body, place[1], place[2], now)


def delete_pod(server: MemoryServer, key: ObjectKey, *, now: datetime, uid: str | None = None) -> None:
    """A pod of a workload goes at once, and its controller does what it then has to. Refused as a server refuses."""
    place = _pod_at(server, key)
    if place is None:
        raise not_found("", "pods", key.name)
    stored, revision, pod = place
    has = pod_view(stored.live.body, revision, pod, now)["metadata"]["uid"]
    if uid is not None and has != uid:
        why = f"the UID in the precondition ({uid}) does not match the UID in record ({has})"
        raise conflict("", "pods", key.name, f"{why}. The object might have been deleted and then recreated")
    if stored.workload is not None:
        smaller = replace(revision, pods=[candidate for candidate in revision.pods if candidate is not pod])
        revisions = (smaller if candidate is revision else candidate for candidate in stored.workload.revisions)
        stored.workload = stored.workload._replace(revisions=tuple(revisions))
    server.restart(stored, now)


def patch_replica_set(server: MemoryServer, key: ObjectKey, patch: JsonObject, *, now: datetime) -> JsonObject:
    """A ReplicaSet with another `minReadySeconds`, and its Deployment's controller goes on. Nothing else of it can be
    patched here. Refused as a server refuses."""
    for stored, workload in _workloads(server, key.namespace, {DEPLOYMENT}):
        for revision in workload.revisions:
            body = replica_set_view(stored.live.body, revision, now)
            if body["metadata"]["name"] != key.name:
                continue
            check_preconditions(key, "replicasets", body["metadata"], patch.get("metadata") or {})
            if {*patch} - {"metadata", "spec"} or {*(patch.get("spec") or {})} != {"minReadySeconds"}:
                raise bad_request("of a simulated ReplicaSet nothing but spec.minReadySeconds can be patched")
            changed = replace(revision, min_ready=number(patch["spec"]["minReadySeconds"], 0))
            revisions = tuple(changed if candidate is revision else candidate for candidate in workload.revisions)
            stored.workload = workload._replace(revisions=revisions)
            server.restart(stored, now)
            return replica_set_view(stored.live.body, changed, now)
    raise not_found("apps", "replicasets", key.name)


def _workloads(
    server: MemoryServer, namespace: str, group_kinds: Collection[GroupKind] = KINDS
) -> Iterator[tuple[Stored, Workload]]:
    for group_kind in sorted(group_kinds):
        for stored in server.stored(group_kind, namespace):
            if stored.workload is not None:
                yield stored, stored.workload


def _pod_at(server: MemoryServer, key: ObjectKey) -> tuple[Stored, Revision, Pod] | None:
    for stored, workload in _workloads(server, key.namespace):
        if key.name.startswith(f"{stored.live.key.name}-"):
            for revision in workload.revisions:
                for pod in revision.pods:
                    if pod_name(stored.live.body, revision, pod) == key.name:
                        return stored, revision, pod
    return None
