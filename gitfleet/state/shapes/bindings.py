"""Files that hold a placement's bindings, an object a line (seed 003, "Placement Decisions")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PARENT_LABEL, PLACEMENT_GROUP, PlacementKey
from gitfleet.state.shapes.lines import entry_line, items_bytes, read_items
from gitfleet.state.texts import StateText

_OWN: Final = ("cluster", "decision", "conditions")
_SHARED: Final = attrgetter(*(column.name for column in fields(Binding) if column.name not in _OWN))


@dataclass(frozen=True, slots=True)
class BindingsFile:
    """bindings/..."""

    placement: PlacementKey
    bindings: tuple[Binding, ...]


def binding_lines(bindings: Sequence[Binding]) -> Iterator[bytes]:
    """The lines of a bindings file: each object without what the file's head says for all.

    Most bindings of a placement have the very same values but for their cluster: those are copies of the first.
    """
    written: dict[tuple[object, ...], JsonObject] = {}
    for binding in bindings:
        decision = binding.decision
        values = (decision is None, *map(id, _SHARED(binding)), *map(id, binding.conditions))
        like = written.get(values)
        if like is None:
            body = written[values] = _body(binding)
        else:
            spec = {**like["spec"], "targetCluster": binding.cluster}
            if decision is not None:
                spec["clusterDecision"] = write(decision)
            body = {**like, "metadata": {**like["metadata"], "name": binding.name}, "spec": spec}
        yield entry_line(body)


def _body(binding: Binding) -> JsonObject:
    body = write(binding)
    metadata = body["metadata"]
    del body["apiVersion"], body["kind"], metadata["labels"]
    metadata.pop("namespace", None)
    return body


def bindings_bytes(key: PlacementKey, bindings: Sequence[Binding]) -> bytes:
    """One file of a placement's bindings: a typed list."""
    kind = "ResourceBindingList" if key.namespace else "ClusterResourceBindingList"
    head: JsonObject = {"apiVersion": f"{PLACEMENT_GROUP}/v1beta1", "kind": kind, "placement": str(key)}
    return items_bytes(head, binding_lines(bindings))


def read_bindings(content: bytes) -> BindingsFile:
    """The bindings of one file. UnreadableText or InvalidContent."""
    placement, items = read_items(content, "placement", StateText.MUST_HOLD_BINDINGS)
    namespace, _, name = placement.rpartition("/")
    owner: dict[str, Any] = {"labels": {PARENT_LABEL: name}, **({"namespace": namespace} if namespace else {})}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
            raise InvalidContent(StateText.ITEMS_MUST_LIST_MAPPINGS_METADATA())
        item["metadata"].update(owner)
    bindings = read_state(tuple[Binding, ...], items)
    if not bindings:
        raise InvalidContent(StateText.MUST_HOLD_BINDINGS())
    return BindingsFile(bindings[0].placement, bindings)
