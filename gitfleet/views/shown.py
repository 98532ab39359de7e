"""Objects as people see them: in the order and with the whole seconds (metav1.Time) of Kubernetes, and without the
values of Secrets, those in an override's patches included.

`get -o yaml`, `get -o json` and `describe` show this; the files that they come from hold the values, as the repo does,
and microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementType, TopologySpreadConstraint
from gitfleet.formats.masking import MASK
from gitfleet.formats.secret_objects import masked_object

_SELECTORS: Final = ("resourceSelectors", "clusterResourceSelectors")
_CARRIERS: Final = frozenset(("Secret", "ResourceEnvelope", "ClusterResourceEnvelope"))
_SECRET_PATHS: Final = ("/data", "/stringData")
_OURS: Final = frozenset((PLACEMENT_GROUP, CLUSTER_GROUP))
_SPREAD: Final = {
    "maxSkew": TopologySpreadConstraint().max_skew,
    "whenUnsatisfiable": TopologySpreadConstraint().when_unsatisfiable,
}
_SCORE: Final = {"affinityScore": 0, "priorityScore": 0}
_LABELS: Final = "/metadata/labels"
_FIRST: Final = ("apiVersion", "kind", "metadata", "spec")
_EXACT_TIME: Final = re.compile(r"([0-9-]{10}T[0-9:]{8})\.[0-9]+Z")


def shown_object(body: JsonObject) -> JsonObject:
    """The object with `status` last, with every value of a Secret masked, with the defaults that KubeFleet prints, and
    with whole seconds in `status` and `metadata`; labels, annotations and the values of drifts and differences are what
    others wrote, and stay."""
    masked = _with_defaults(_masked(body))
    shown: dict[str, Any] = {name: masked[name] for name in (*_FIRST, *masked) if name in masked and name != "status"}
    if isinstance(metadata := shown.get("metadata"), Mapping):
        shown["metadata"] = {n: _whole_seconds(v) if isinstance(v, str) else v for n, v in metadata.items()}
    return {**shown, "status": _whole_seconds(masked["status"])} if "status" in masked else shown


def _with_defaults(body: JsonObject) -> JsonObject:
    """What files leave out and a hub prints: a policy's type and the fields of its spread constraints, scores, and the
    messages of conditions that have none."""
    if str(body.get("apiVersion")).partition("/")[0] not in _OURS:
        return body
    shown: dict[str, Any] = dict(body)
    if isinstance(status := body.get("status"), Mapping):
        shown["status"] = _filled(status)
    if isinstance(spec := body.get("spec"), Mapping):
        if str(body.get("kind")).endswith(("Placement", "SchedulingPolicySnapshot")):
            spec = {name: _policy(part) if name == "policy" else part for name, part in spec.items()}
        shown["spec"] = {name: _filled(part) if name == "clusterDecision" else part for name, part in spec.items()}
    return shown


def _policy(policy: JsonValue) -> Any:
    if not isinstance(policy, Mapping):
        return policy
    shown: dict[str, Any] = {"placementType": PlacementType.PICK_ALL.value, **policy}
    if isinstance(spread := policy.get("topologySpreadConstraints"), list):
        shown["topologySpreadConstraints"] = [{**_SPREAD, **c} if isinstance(c, Mapping) else c for c in spread]
    return shown


def _filled(status: JsonValue) -> Any:
    """A status, or a part of it, with the scores that are 0 and the messages that are empty."""
    return _everywhere(status, _with_zeros)


def _with_zeros(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if "clusterScore" in part:
        return {**part, "clusterScore": {**_SCORE, **part["clusterScore"]}}
    if "message" in part or not {"type", "status", "lastTransitionTime"} <= part.keys():
        return part
    return {**{name: part[name] for name in ("type", "status", "reason") if name in part}, "message": "", **part}


def _everywhere(value: JsonValue, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    """A value with each mapping in it changed, the inner ones first."""
    match value:
        case Mapping():
            return change({name: _everywhere(part, change) for name, part in value.items()})
        case list():
            return [_everywhere(item, change) for item in value]
        case _:
            return value


def _whole_seconds(value: JsonValue) -> Any:
    match value:
        case str():
            match = _EXACT_TIME.fullmatch(value)
            return f"{match[1]}Z" if match else value
        case Mapping():
            return {n: v if n.startswith("valueIn") else _whole_seconds(v) for n, v in value.items()}
        case list():
            return [_whole_seconds(item) for item in value]
        case _:
            return value


def _masked(body: JsonObject) -> JsonObject:
    """A patch's value counts as a Secret's where its override selects a Secret or an envelope, and where it goes into
    `data` or `stringData` of whatever lies in a namespace; not where it goes into labels."""
    masked = masked_object(body)
    spec = masked.get("spec")
    if "Override" not in str(body.get("kind")) or not isinstance(spec, Mapping):
        return masked
    kinds = _selected_kinds(spec)
    if not kinds & (_CARRIERS | {"Namespace"}):
        return masked
    return {**masked, "spec": _masked_patches(spec, everywhere=bool(kinds & _CARRIERS))}


def _selected_kinds(value: JsonValue) -> set[str]:
    """The kinds of an override's selectors, at whatever depth: a snapshot holds the override in its own spec."""
    kinds: set[str] = set()
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in _SELECTORS and isinstance(part, list):
                kinds |= {str(selector.get("kind")) for selector in part if isinstance(selector, Mapping)}
            else:
                kinds |= _selected_kinds(part)
    return kinds


def _masked_patches(spec: JsonValue, *, everywhere: bool) -> Any:
    def masked(part: Mapping[str, Any]) -> Mapping[str, Any]:
        if not {"op", "path", "value"} <= part.keys():
            return part
        path = str(part["path"])
        secret = not path.startswith(_LABELS) if everywhere else path.startswith(_SECRET_PATHS)
        return {**part, "value": MASK} if secret else part

    return _everywhere(spec, masked)
