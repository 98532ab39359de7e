"""A cluster in a few lines: objects with uids, field managers and a server that fills in defaults."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gitfleet.api.objects import Manifest, ObjectKey, Origin, key_of
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Operation, Outcome, OutcomeCode, Update


def manifest(body: dict[str, Any]) -> Manifest:
    """A manifest of a body, as read from a file."""
    return Manifest(key_of(body), body, digest_of(body), Origin("resources/all.yaml", 1))


def config_map(name: str, namespace: str = "ns", **data: str) -> Manifest:
    """A ConfigMap."""
    return manifest(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}
    )


def namespace(name: str = "ns") -> Manifest:
    """A Namespace."""
    return manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


@dataclass
class ModelCluster:
    """Applies by merging, deletes only the uid it is asked to, and counts both."""

    objects: dict[ObjectKey, dict[str, Any]] = field(default_factory=dict)
    deleted: list[tuple[ObjectKey, str]] = field(default_factory=list)
    uids: int = 0

    def put(self, body: dict[str, Any], *, manager: str) -> LiveObject:
        """What somebody (us included) applies; a new object gets a uid."""
        key = key_of(body)
        old = self.objects.get(key)
        merged = _merge(copy.deepcopy(old) if old else {}, copy.deepcopy(body))
        metadata = merged["metadata"]
        if old is None:
            self.uids += 1
            metadata["uid"] = f"uid-{self.uids}"
        metadata["resourceVersion"] = str(int(metadata.get("resourceVersion", "0")) + 1)
        managers = metadata.setdefault("managedFields", [])
        if not any(entry["manager"] == manager for entry in managers):
            managers.append({"manager": manager, "operation": "Apply"})
        merged.setdefault("defaulted", "by the server")
        self.objects[key] = merged
        return LiveObject(key, copy.deepcopy(merged))

    def live(self, keys: Iterable[ObjectKey]) -> dict[ObjectKey, LiveObject | None]:
        """One look."""
        return {k: LiveObject(k, copy.deepcopy(self.objects[k])) if k in self.objects else None for k in keys}

    def perform(self, operations: Iterable[Operation]) -> tuple[Outcome, ...]:
        """Carry operations out as the real adapter does."""
        outcomes: list[Outcome] = []
        for operation in operations:
            if isinstance(operation, Create | Update):
                live = self.put(dict(operation.manifest.body), manager="gitfleet")
                outcomes.append(Outcome(operation=operation, ok=True, code=OutcomeCode.APPLIED, live=live))
            elif isinstance(operation, Delete):
                there = self.objects.get(operation.key)
                assert there is None or there["metadata"]["uid"] == operation.uid, "another object was deleted"
                self.objects.pop(operation.key, None)
                self.deleted.append((operation.key, operation.uid))
                outcomes.append(Outcome(operation=operation, ok=True, code=OutcomeCode.NOT_FOUND))
        return tuple(outcomes)


def _merge(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merge(old.get(key), value) for key, value in new.items()}}
    return new
