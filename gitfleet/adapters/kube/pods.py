"""The pods of workloads, and the ReplicaSets of Deployments, as one API server shows them, with no more of each than a
rollout needs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitfleet.adapters.kube.discovery import Resource
from gitfleet.adapters.kube.observing import run_parallel
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.steps import PODS
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import PAGE, Wire, next_page_of
from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.errors import GitfleetError
from gitfleet.formats.kinds import REVISION
from gitfleet.model.observations import LiveObject

log = logging.getLogger(__name__)
MOST: Final = 5000
"""Pods, or ReplicaSets, that the selector of one workload may take."""
_METADATA: Final = ("name", "namespace", "uid", "labels", "ownerReferences", "creationTimestamp", "deletionTimestamp")


@dataclass(frozen=True, slots=True)
class _Listed:
    """What is listed of a workload, and which fields of each are kept."""

    resource: Resource
    key: ObjectKey
    fields: Mapping[str, tuple[str, ...]]


_PODS: Final = _Listed(
    PODS,
    ObjectKey("", "v1", "Pod", "", ""),
    {"metadata": _METADATA, "spec": ("nodeName",), "status": ("phase", "conditions")},
)
_REPLICA_SETS: Final = _Listed(
    Resource("/apis/apps/v1", "replicasets", True),
    ObjectKey("apps", "v1", "ReplicaSet", "", ""),
    {
        "metadata": (*_METADATA, "resourceVersion", "generation"),
        "spec": ("replicas", "minReadySeconds"),
        "status": ("replicas", "readyReplicas", "availableReplicas"),
    },
)
_DEPLOYMENT: Final = GroupKind("apps", "Deployment")
_OPERATORS: Final = {"In": "{key} in ({values})", "NotIn": "{key} notin ({values})", "Exists": "{key}"}


class PodReader:
    """Lists pods on one cluster."""

    def __init__(self, wire: Wire, *, parallel: int) -> None:
        self._wire = wire
        self._parallel = parallel

    def of(self, workloads: Sequence[LiveObject]) -> dict[ObjectKey, tuple[LiveObject, ...]]:
        """The pods of each workload that it is the controller of, by name; of a Deployment, which controls none itself,
        its ReplicaSets. A workload of which they could not be read is left out, and the log says why."""
        pods_by_workload = run_parallel(self._read, workloads, self._parallel)
        return {
            workload.key: pods for workload, pods in zip(workloads, pods_by_workload, strict=True) if pods is not None
        }

    def _read(self, workload: LiveObject) -> tuple[LiveObject, ...] | None:
        try:
            pods = self._listed(workload)
        except GitfleetError as error:
            pods = str(error)
        except (AttributeError, KeyError, TypeError, ValueError):
            # JSON of any shape may come from whatever answers at that address.
            pods = KubeText.API_SERVER_GAVE_JSON_ANOTHER(cluster=self._wire.name)
        if isinstance(pods, str):
            plural = _listed_of(workload).resource.plural
            log.warning(KubeText.CANNOT_READ_2(), plural, workload.key, self._wire.name, pods)
            return None
        return tuple(sorted(pods, key=lambda pod: pod.key))

    def _listed(self, workload: LiveObject) -> list[LiveObject] | str:
        selector = selector_text(workload.body)
        if not selector:
            return KubeText.NO_SELECTOR()
        pods, complete, listed = list[LiveObject](), False, _listed_of(workload)
        query = {"labelSelector": selector}
        for response in self._wire.pages(listed.resource.path(workload.key.namespace), query, most=MOST // PAGE):
            if not response.ok:
                return refusal_of(response).message
            page = response.json()
            pods += (_trimmed(item, listed) for item in page["items"] or () if _controller_of(item) == workload.uid)
            complete = next_page_of(page) is None
        return pods if complete else KubeText.SELECTOR_TAKES_MORE(most=MOST, plural=listed.resource.plural)


def selector_text(workload: JsonObject) -> str:
    """`spec.selector` of a workload as a query has it; "" where it selects nothing."""
    selector = (workload.get("spec") or {}).get("selector") or {}
    return ",".join((*_labels(selector.get("matchLabels") or {}), *_terms(selector.get("matchExpressions") or ())))


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    return (f"{key}={value}" for key, value in sorted(labels.items()))


def _terms(expressions: Sequence[JsonObject]) -> Iterator[str]:
    for term in expressions:
        written = _OPERATORS.get(term["operator"], "!{key}")
        yield written.format(key=term["key"], values=",".join(term.get("values") or ()))


def _controller_of(pod: JsonObject) -> str:
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _listed_of(workload: LiveObject) -> _Listed:
    return _REPLICA_SETS if workload.key.group_kind == _DEPLOYMENT else _PODS


def _trimmed(body: JsonObject, listed: _Listed) -> LiveObject:
    parts = {
        part: {name: body[part][name] for name in names if name in body[part]}
        for part, names in listed.fields.items()
        if body.get(part)
    }
    metadata = body["metadata"]
    if revision := (metadata.get("annotations") or {}).get(REVISION):
        parts["metadata"]["annotations"] = {REVISION: revision}
    key = replace(listed.key, namespace=str(metadata["namespace"]), name=str(metadata["name"]))
    return LiveObject(key, {"apiVersion": key.api_version, "kind": key.kind, **parts})
