"""Files that hold a placement's bindings, an object a line (seed 003, "Placement Decisions")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PARENT_LABEL, PLACEMENT_GROUP, PlacementKey
from gitfleet.formats.yaml_reader import Profile, read_documents
from gitfleet.state.shapes.lines import check_count, counted, entry_line, lines_bytes, read_lines
from gitfleet.state.texts import StateText

_OWN: Final = ("cluster", "decision", "conditions")
_SHARED: Final = attrgetter(*(one.name for one in fields(Binding) if one.name not in _OWN))


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


def bindings_bytes(key: PlacementKey, lines: Iterable[bytes]) -> bytes:
    """One file of a placement's bindings: a typed list."""
    kind = "ResourceBindingList" if key.namespace else "ClusterResourceBindingList"
    head: JsonObject = {"apiVersion": f"{PLACEMENT_GROUP}/v1beta1", "kind": kind, "placement": str(key)}
    head, every = counted(head, lines)
    return lines_bytes(head, "items", every)


def read_bindings(content: bytes) -> tuple[tuple[Binding, ...], bool]:
    """The bindings of one file, and whether it was written as this version writes it. UnreadableText or InvalidContent.

    A stream of whole objects, as earlier versions wrote it, is read too.
    """
    found = read_lines(content, "items")
    if found is not None:
        head, items = found
        return _listed(head, items), True
    bindings: list[Binding] = []
    for document in read_documents(content, Profile.STATE):
        if not isinstance(document, dict):
            raise InvalidContent(StateText.MUST_HOLD_BINDINGS())
        listed = "items" in document
        bindings += _listed(document, document["items"]) if listed else [read_state(Binding, document)]
    return tuple(bindings), False


def _listed(head: Mapping[str, Any], items: Any) -> tuple[Binding, ...]:
    placement = head.get("placement")
    if not isinstance(placement, str) or not isinstance(items, list):
        raise InvalidContent(StateText.PLACEMENT_MUST_TEXT())
    namespace, _, name = placement.rpartition("/")
    owner: dict[str, Any] = {"labels": {PARENT_LABEL: name}, **({"namespace": namespace} if namespace else {})}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
            raise InvalidContent(StateText.ITEMS_MUST_LIST_MAPPINGS_METADATA())
        item["metadata"].update(owner)
    check_count(head, items)
    return read_state(tuple[Binding, ...], items)
