"""What a CustomResourceDefinition says of the kind that it defines, as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject, JsonValue
from gitfleet.formats.json_values import conditions_of, mappings, section

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The kind, whether it is namespaced, and its versions, the stored one first; `served` are those that may be asked
    for."""

    kind: GroupKind
    namespaced: bool
    versions: tuple[str, ...]
    served: tuple[str, ...]


def definition_of(body: JsonObject) -> Definition | None:
    """What a definition says; None for any other object, and for one that names no group and kind."""
    if body.get("kind") != CRD.kind or not str(body.get("apiVersion", "")).startswith(f"{CRD.group}/"):
        return None
    spec, kind = section(body, "spec"), section(body, "spec", "names").get("kind")
    if not isinstance(kind, str) or not isinstance(spec.get("group"), str):
        return None
    named = (row for row in mappings(spec.get("versions")) if isinstance(row.get("name"), str))
    rows = sorted(named, key=lambda row: row.get("storage") is not True)
    return Definition(
        kind=GroupKind(spec["group"], kind),
        namespaced=spec.get("scope") != "Cluster",
        versions=tuple(row["name"] for row in rows),
        served=tuple(row["name"] for row in rows if row.get("served", True)),
    )


def scopes_in(bodies: Iterable[JsonValue]) -> dict[GroupKind, bool]:
    """Whether the kinds that definitions among some objects declare are namespaced, whatever else is among them."""
    definitions = filter(None, map(definition_of, map(section, bodies)))
    return {definition.kind: definition.namespaced for definition in definitions}


def is_established(definition: JsonObject) -> bool:
    """Whether the API server serves the kind of a live definition."""
    return any((c.get("type"), c.get("status")) == ("Established", "True") for c in conditions_of(definition))
