"""What a cluster or a client added to an object is taken off before it is placed elsewhere (KubeFleet
generateRawContent). Nothing else is touched: decision D19."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.formats.canonical_json import digest_of

_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_ANNOTATIONS: Final = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"}
)
_CONTROLLER_UIDS: Final = frozenset({"controller-uid", "batch.kubernetes.io/controller-uid"})


def strip(manifest: Manifest) -> Manifest:
    """The manifest as it goes into a snapshot: itself when there is nothing to take off, otherwise with a new digest.

    Never changes the given object; untouched parts are shared.
    """
    body = stripped_body(manifest.body)
    return manifest if body is manifest.body else replace(manifest, body=body, digest=digest_of(body))


def stripped_body(body: JsonObject) -> JsonObject:
    """The object without what only its own server knows; the same object when nothing had to go."""
    out = _without(body, frozenset({"status"}))
    out = _below(out, "metadata", _metadata)
    match body.get("apiVersion"), body.get("kind"):
        case "v1", "Service":
            return _below(out, "spec", _service)
        case "batch/v1", "Job":
            return _below(out, "spec", _job)
        case _:
            return out


def _metadata(metadata: JsonObject) -> JsonObject:
    out = _without(metadata, _METADATA)
    annotations = out.get("annotations")
    if not isinstance(annotations, dict):
        return out
    remaining = _without(annotations, _ANNOTATIONS)
    if remaining is annotations:
        return out
    return {**out, "annotations": remaining} if remaining else _without(out, frozenset({"annotations"}))


def _service(spec: JsonObject) -> JsonObject:
    # A headless Service says "None" on purpose; any other address was assigned by a server. Ports of nodes stay: with
    # git as the hub, a person wrote them (D42).
    return spec if spec.get("clusterIP", "None") == "None" else _without(spec, frozenset({"clusterIP", "clusterIPs"}))


def _job(spec: JsonObject) -> JsonObject:
    if spec.get("manualSelector"):
        return spec
    out = _below(spec, "selector", lambda selector: _below(selector, "matchLabels", _without_uids))
    return _below(out, "template", lambda template: _below(template, "metadata", _job_metadata))


def _job_metadata(metadata: JsonObject) -> JsonObject:
    return _below(_without(metadata, frozenset({"creationTimestamp"})), "labels", _without_uids)


def _without_uids(labels: JsonObject) -> JsonObject:
    return _without(labels, _CONTROLLER_UIDS)


def _without(value: JsonObject, keys: frozenset[str]) -> JsonObject:
    if keys.isdisjoint(value):
        return value
    return {key: item for key, item in value.items() if key not in keys}


def _below(value: JsonObject, key: str, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """`value` with `change` applied to the map under `key`; itself where there is none or nothing changed."""
    inner = value.get(key)
    if not isinstance(inner, dict):
        return value
    changed = change(inner)
    return value if changed is inner else {**value, key: changed}
