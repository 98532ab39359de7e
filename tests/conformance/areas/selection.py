"""Vectors of the area selection: propagate, kind_disabled, sort, strip, split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.api.objects import Manifest, ObjectKey, Origin, key_of
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.kinds import is_selectable
from gitfleet.snapshots import is_propagated, snapshot_order, split_by_size, strip


def manifest_of(body: Mapping[str, Any]) -> Manifest:
    """A manifest around a vector's object."""
    return Manifest(key_of(body), body, digest_of(body), Origin("vector.yaml", 1))


def key_of_text(text: str) -> ObjectKey:
    """`apiVersion|Kind|namespace|name`"""
    api_version, kind, namespace, name = text.split("|")
    group, _, version = api_version.rpartition("/")
    return ObjectKey(group, version, kind, namespace, name)


def run_selection(case: dict[str, Any]) -> str | None:
    """All ops of the area."""
    given: Mapping[str, Any] = case["in"]
    got: dict[str, Any] = {}
    match case["op"]:
        case "propagate":
            manifest = manifest_of(given["object"])
            # A Service is "namespace/name", or a name in the object's own namespace.
            services = {
                (name.rpartition("/")[0] or manifest.key.namespace, name.rpartition("/")[2])
                for name in given.get("services", ())
            }
            got["propagated"] = is_propagated(
                manifest.key,
                manifest.body,
                services=services,
                hub_runs_workloads=given.get("enableWorkload", False),
            )
        case "kind_disabled":
            got["disabled"] = {kind: not _selectable(*kind.split("/")) for kind in given["kinds"]}
        case "sort":
            objects = next(value for value in given.values() if isinstance(value, list))
            got["sorted"] = sorted(objects, key=lambda text: snapshot_order(key_of_text(text)))
        case "strip":
            got["object"] = strip(manifest_of(given["object"])).body
        case "split":
            got["groups"] = list(split_by_size(given["sizes"], given["limit"]))
        case op:
            return f"nothing here knows the op {op!r}"
    expected = case["out"]
    if case["op"] == "sort":
        order = next(value for value in case["out"].values() if isinstance(value, list))
        expected = {"sorted": order}
    return None if got == expected else f"expected {expected!r}, got {got!r}"


AREAS: dict[str, Callable[[dict[str, Any]], str | None]] = {"selection": run_selection}


def _selectable(group: str, _version: str, kind: str) -> bool:
    return is_selectable(group, kind)
