"""The pods of workloads, as one API server shows them, with no more of each than a rollout needs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gitfleet.adapters.kube.observing import run_parallel
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.steps import PODS
from gitfleet.adapters.kube.wire import PAGE, Wire, next_page_of
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.errors import GitfleetError
from gitfleet.model.observations import LiveObject

log = logging.getLogger(__name__)
MOST: Final = 5000
"""Pods that the selector of one workload may take."""
_METADATA: Final = ("name", "namespace", "uid", "labels", "ownerReferences", "creationTimestamp", "deletionTimestamp")
_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "metadata": _METADATA, "spec": ("nodeName",), "status": ("phase", "conditions"),
}  # fmt: skip
_OPERATORS: Final = {"In": "{key} in ({values})", "NotIn": "{key} notin ({values})", "Exists": "{key}"}


class PodReader:
    """Lists pods on one cluster."""

    def __init__(self, wire: Wire, *, parallel: int) -> None:
        self._wire = wire
        self._parallel = parallel

    def of(self, workloads: Sequence[LiveObject]) -> dict[ObjectKey, tuple[LiveObject, ...]]:
        """The pods of each workload that it is the controller of, by name; a workload of which they could not be read
        is left out, and the log says why."""
        found = run_parallel(self._read, workloads, self._parallel)
        return {one.key: pods for one, pods in zip(workloads, found, strict=True) if pods is not None}

    def _read(self, workload: LiveObject) -> tuple[LiveObject, ...] | None:
        try:
            pods = self._listed(workload)
        except GitfleetError as error:
            pods = str(error)
        except (AttributeError, KeyError, TypeError, ValueError):
            # JSON of any shape may come from whatever answers at that address.
            pods = "the API server gave JSON of another shape than Kubernetes has"
        if isinstance(pods, str):
            log.warning("the pods of %s on %s cannot be read: %s", workload.key, self._wire.name, pods)
            return None
        return tuple(sorted(pods, key=lambda pod: pod.key))

    def _listed(self, workload: LiveObject) -> list[LiveObject] | str:
        selector = selector_text(workload.body)
        if not selector:
            return "it has no selector"
        found, complete = list[LiveObject](), False
        query = {"labelSelector": selector}
        for response in self._wire.pages(PODS.path(workload.key.namespace), query, most=MOST // PAGE):
            if not response.ok:
                return refusal_of(response, "they").message
            page = response.json()
            found += (_pod(item) for item in page["items"] or () if _controller_of(item) == workload.uid)
            complete = next_page_of(page) is None
        return found if complete else f"its selector takes more than {MOST} pods"


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


def _pod(body: JsonObject) -> LiveObject:
    kept = {
        part: {name: body[part][name] for name in names if name in body[part]}
        for part, names in _KEPT.items()
        if body.get(part)
    }
    metadata = body["metadata"]
    key = ObjectKey("", "v1", "Pod", str(metadata["namespace"]), str(metadata["name"]))
    return LiveObject(key, {"apiVersion": "v1", "kind": "Pod", **kept})
