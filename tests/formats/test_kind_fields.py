"""The table of the types of fields agrees with what the `kubernetes` package says of the same kinds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kubernetes import client

from gitfleet.formats.kind_fields import field_types

_SCALARS = {
    "str": {"string", "quantity", "base64"},
    "bytes": {"base64"},
    "datetime": {"string"},
    "bool": {"boolean"},
    "int": {"int32", "int64"},
    "float": {"number"},
    "object": {"int-or-string", "any", "mapping", "?JSONSchemaProps"},
}
"""The types of the table by those of the package, which has one for strings and quantities."""


def differences(code: str, told: str, seen: set[str]) -> list[str]:
    """Where a type of the table and one of the package are not the same, in whatever depth."""
    if told.lower().startswith("list["):
        return differences(code[1:], told[5:-1], seen) if code[0] == "[" else [f"{code} and {told}"]
    if told.lower().startswith("dict["):
        return differences(code[1:], told[:-1].split(", ", 1)[1], seen) if code[0] == "{" else [f"{code} and {told}"]
    if told in _SCALARS:
        return [] if code in _SCALARS[told] else [f"{code} and {told}"]
    if code in ("mapping", "any"):  # a status, or a type without fields
        return []
    if code in seen:
        return []
    seen.add(code)
    return in_fields(code, getattr(client, told), seen) if code in field_types() else [f"{code} and {told}"]


def in_fields(name: str, model: Any, seen: set[str]) -> list[str]:
    """The same of all fields that both have; which these are depends on the release."""
    told = {written: model.openapi_types[field] for field, written in model.attribute_map.items()}
    both = field_types()[name].keys() & told
    compared.update(known=len(field_types()[name]), both=len(both))
    return [f"{name}.{f}: {d}" for f in sorted(both) for d in differences(field_types()[name][f], told[f], seen)]


compared: Counter[str] = Counter()


def model_of(kind: str) -> Any:
    """The package's model of a kind of the table; it puts the group's name before some."""
    *group, version, name = kind.split("/")
    prefix = "".join(group).partition(".")[0].capitalize() or "Core"
    own = f"{version.capitalize()}{name}"
    return getattr(client, own, None) or getattr(client, f"{prefix}{own}")


def test_the_types_are_those_that_the_kubernetes_package_has() -> None:
    compared.clear()
    kinds = [name for name in field_types() if "/" in name]
    assert len(kinds) > 50
    seen: set[str] = set()
    assert [line for kind in kinds for line in in_fields(kind, model_of(kind), seen)] == []
    assert compared["both"] > 1000 and compared["both"] > 0.97 * compared["known"], compared
