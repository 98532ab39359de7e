"""The parts of writing an object that need no server: what is kept of it, and what the server adds."""

from __future__ import annotations

import copy
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

import jsonpatch
import jsonpointer

from gitfleet.api.definitions import CRD
from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey, key_of
from gitfleet.api.scenarios import DEFAULT_DELAY, Delay
from gitfleet.api.values import name_rule
from gitfleet.errors import BadInput
from gitfleet.formats.kind_fields import misfits
from gitfleet.model.observations import LiveObject
from gitfleet.simulation import kinds, statuses
from gitfleet.simulation.fields import as_typed, content_of
from gitfleet.simulation.pods.model import KINDS, MOST_PODS, Workload, number, section
from gitfleet.simulation.refusals import invalid, untyped


@dataclass(slots=True)
class Stored:
    """One object as shown now, and its controllers: `done`, `first` until they once were, `due` when something changes
    by itself next, and `halted` where they are done though a pause or a partition keeps the object in the middle.

    `content` is what owners can own of the object, kept until the next write; `workload` are the pods of a workload.
    """

    live: LiveObject
    done: bool = False
    first: bool = True
    due: datetime | None = None
    halted: bool = False
    content: JsonObject | None = None
    workload: Workload | None = None


_DAEMON_SET: Final = GroupKind("apps", "DaemonSet")
_MAPPINGS: Final[Mapping[GroupKind | None, tuple[str, ...]]] = {
    None: ("metadata", "metadata.labels", "metadata.annotations"),
    kinds.SECRET: ("data", "stringData"),
    kinds.CONFIG_MAP: ("data", "binaryData"),
    CRD: ("spec", "spec.names"),
}
_LISTS: Final[Mapping[GroupKind | None, tuple[str, ...]]] = {
    None: ("metadata.finalizers", "metadata.ownerReferences"),
    CRD: ("spec.versions",),
}
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


def wrongly_typed(body: JsonObject) -> str:
    """Which field has another type than the server decodes, of those that are checked here; "" when none has."""
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        return "metadata is not a mapping"
    kind = key_of(body).group_kind
    typed = ("spec",) if kind in kinds.BUILT_IN else ()
    for path in (*_MAPPINGS[None], *typed, *_MAPPINGS.get(kind, ())):
        if not isinstance(kinds.value_at(body, path.split(".")), Mapping | None):
            return f"{path} is not a mapping"
    for path in (*_LISTS[None], *_LISTS.get(kind, ())):
        items = kinds.value_at(body, path.split("."))
        if not isinstance(items, list | None):
            return f"{path} is not a list"
        if path != "metadata.finalizers" and not all(isinstance(item, Mapping) for item in items or ()):
            return f"an item of {path} is not a mapping"
    return ""


def check_schema(body: JsonObject) -> None:
    """Refused when server-side apply cannot merge the object."""
    if isinstance(body.get("metadata"), Mapping) and (faults := [misfit.said for misfit in misfits(body)]):
        raise untyped(key_of(body), faults)


def check_fields(key: ObjectKey, content: JsonObject) -> None:
    """Refused where the name of the object, or its number of pods, may not be so."""
    rule = name_rule(key.group, key.kind)
    if rule is not None and not rule.allows(key.name):
        raise invalid(key, "metadata.name", f'"{key.name}": it is no name of this kind')
    if key.group_kind in KINDS and number(section(content, "spec").get("replicas"), 0) > MOST_PODS:
        raise invalid(key, "spec.replicas", f"a simulated cluster has at most {MOST_PODS} pods of a workload")


def owned_content(stored: Stored) -> JsonObject:
    """What owners can own of the stored object."""
    if stored.content is None:
        stored.content = content_of(stored.live.body)
    return stored.content


def spec_of(content: JsonObject) -> dict[str, Any]:
    """All but metadata: what a change of raises the generation."""
    return {name: value for name, value in content.items() if name != "metadata"}


def stored_form(key: ObjectKey, content: JsonObject, *, granular: bool) -> JsonObject:
    """The content as the server keeps it: typed, with defaults, and a Secret's stringData as data."""
    content = with_defaults(key, as_typed(content, granular=granular))
    if key.group_kind != kinds.SECRET or "stringData" not in content:
        return content
    encoded = {name: b64encode(str(text).encode()).decode() for name, text in content["stringData"].items()}
    fields = {name: value for name, value in content.items() if name != "stringData"}
    return {**fields, "data": {**(content.get("data") or {}), **encoded}}


def next_metadata(
    key: ObjectKey, old: JsonObject, content: JsonObject, *, version: int, uid: str, now: datetime
) -> dict[str, Any]:
    """The metadata of a write, less generation and managedFields; `uid` and `now` count for a new object only."""
    out: dict[str, Any] = {"name": key.name}
    if key.namespace:
        out["namespace"] = key.namespace
    out["uid"] = old.get("uid") or uid
    out["resourceVersion"] = str(version)
    out["creationTimestamp"] = old.get("creationTimestamp") or statuses.time_text(now)
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if name in old:
            out[name] = old[name]
    out |= content.get("metadata") or {}
    if key.group_kind == kinds.NAMESPACE:
        out["labels"] = {**(out.get("labels") or {}), "kubernetes.io/metadata.name": key.name}
    return out


def with_template_generation(stored: Stored, body: JsonObject) -> JsonObject:
    """A DaemonSet says the number of its newest template, as its pods do; a real server counts every change of it."""
    if stored.live.key.group_kind != _DAEMON_SET or stored.workload is None or not stored.workload.revisions:
        return body
    metadata = body.get("metadata") or {}
    number = {"deprecated.daemonset.template.generation": str(stored.workload.revisions[-1].number)}
    annotations = {**(metadata.get("annotations") or {}), **number}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def default_delay(key: ObjectKey, body: JsonObject) -> Delay:
    """What the API server itself does takes no time; for the rest see contracts.md §5."""
    if key.group_kind in (kinds.NAMESPACE, CRD):
        return timedelta(0)
    if key.group_kind == kinds.SERVICE and (body.get("spec") or {}).get("type") != "LoadBalancer":
        return timedelta(0)
    return DEFAULT_DELAY


def patched(body: JsonObject, patch: Sequence[JsonObject], subject: str) -> dict[str, Any]:
    """The object after a JSON patch (RFC 6902), sharing nothing; BadInput, naming `what`, when it does not fit."""
    try:
        steps = jsonpatch.JsonPatch(cast(Any, [dict(step) for step in patch]))
        return cast(dict[str, Any], steps.apply(copy.deepcopy(dict(body))))
    except jsonpatch.JsonPatchTestFailed as error:
        # Its own message repeats the value, which may be a Secret's.
        raise BadInput(f"the patch does not fit {subject}: one of its tests fails") from error
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise BadInput(f"the patch does not fit {subject}: {error}") from error


def with_defaults(key: ObjectKey, content: JsonObject) -> JsonObject:
    """The content with what the server fills in where a manifest is silent, for the kinds that scenarios are mostly
    about."""
    filled = _SPECS.get(key.group_kind)
    if filled is None:
        return content
    spec: dict[str, Any] = {**filled, **(content.get("spec") or {})}
    if key.group_kind in _STRATEGIES:
        spec = _with_strategy(spec, *_STRATEGIES[key.group_kind])
    template = spec.get("template")
    if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
        pod = template["spec"]
        containers = [
            {**_CONTAINER, **container} if isinstance(container, Mapping) else container
            for container in pod.get("containers") or ()
        ]
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
