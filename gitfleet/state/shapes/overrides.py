"""ClusterResourceOverrideSnapshot and ResourceOverrideSnapshot (kubefleet.md §1, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api import read_state, write
from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import override_type
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.state.shapes.fields import (
    LATEST_LABEL,
    OURS,
    index_at,
    mapping_at,
    need_text,
    present,
    read_bytes_text,
    text_at,
    text_map_at,
)
from gitfleet.state.shapes.fields import bytes_text as hash_text

OVERRIDE_LABEL = "kubernetes-fleet.io/parent-resource-override"
INDEX_LABEL = "kubernetes-fleet.io/override-index"


def override_object(snapshot: OverrideSnapshot, *, latest: bool) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; the override's own labels stand in `status.gitfleet`."""
    key, body = snapshot.override.key, write(snapshot.override)
    ours = present(labels=dict(snapshot.override.labels), **body.get("status", {}).get(OURS, {}))
    return {
        "apiVersion": body["apiVersion"],
        "kind": f"{key.kind}Snapshot",
        "metadata": {
            "name": snapshot.name,
            "labels": {
                LATEST_LABEL: str(latest).lower(),
                OVERRIDE_LABEL: key.name,
                INDEX_LABEL: str(snapshot.index),
            },
            **present(namespace=key.namespace),
        },
        "spec": {"overrideHash": hash_text(snapshot.hash), "overrideSpec": body["spec"]},
        **present(status=present(**{OURS: ours})),
    }


def read_override(source: Mapping[str, Any]) -> OverrideSnapshot:
    """The snapshot back. `origin` is not kept: the desired commit tells it."""
    metadata, spec = mapping_at(source, "metadata"), mapping_at(source, "spec")
    labels = mapping_at(metadata, "labels")
    ours = mapping_at(mapping_at(source, "status"), OURS)
    namespace = text_at(metadata, "namespace")
    body = {
        "metadata": {
            "namespace": namespace,
            "name": need_text(labels, OVERRIDE_LABEL),
            "labels": text_map_at(ours, "labels"),
        },
        "spec": mapping_at(spec, "overrideSpec"),
        "status": {OURS: ours},
    }
    return OverrideSnapshot(
        override=read_state(override_type(namespace), body),
        index=index_at(labels, INDEX_LABEL),
        hash=read_bytes_text(spec, "overrideHash"),
    )
