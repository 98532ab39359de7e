"""Vectors of the area selection: propagate, kind_disabled, sort, strip, split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.formats.kinds import is_selectable
from gitfleet.formats.limits import in_batches
from gitfleet.snapshots import strip
from gitfleet.snapshots.index import index_payload, is_propagated, snapshot_order
from tests.conformance.documents import difference, manifest_of, named


def body_of_text(text: str) -> JsonObject:
    """`apiVersion|Kind|namespace|name`"""
    api_version, kind, namespace, name = text.split("|")
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}


def propagates(given: Mapping[str, Any]) -> bool:
    """Whether an object of a commit can be placed; the Services of the case are in the same commit."""
    subject = manifest_of(named(given["object"]))
    if given.get("enableWorkload"):  # a git hub runs no workloads, so no commit says this
        return is_propagated(subject.key, subject.body, hub_runs_workloads=True)
    # A Service is "namespace/name", or a name in the object's own namespace.
    places = [text.rpartition("/") for text in given.get("services", ())]
    services = [
        manifest_of(body_of_text(f"v1|Service|{namespace or subject.key.namespace}|{name}"))
        for namespace, _, name in places
    ]
    return subject.key.identity in index_payload([subject, *services], {}).objects


def run_selection(case: dict[str, Any]) -> str | None:
    """All ops of the area."""
    given, expected = case["in"], case["out"]
    match case["op"]:
        case "propagate":
            return difference(expected, {"propagated": propagates(given)})
        case "kind_disabled":
            parts = {kind: kind.split("/") for kind in given["kinds"]}
            disabled = {kind: not is_selectable(group, name) for kind, (group, _version, name) in parts.items()}
            return difference(expected, {"disabled": disabled})
        case "sort":
            objects, order = (
                next(value for value in side.values() if isinstance(value, list)) for side in (given, expected)
            )
            return difference(order, sorted(objects, key=lambda text: snapshot_order(key_of(body_of_text(text)))))
        case "strip":
            wanted = named(expected["object"])
            return difference(wanted, strip(manifest_of(named(given["object"]))).body)
        case "split":
            return difference(expected, {"groups": list(in_batches(given["sizes"], int, given["limit"]))})
        case op:
            return f"nothing here knows the op {op!r}"


AREAS: dict[str, Callable[[dict[str, Any]], str | None]] = {"selection": run_selection}
