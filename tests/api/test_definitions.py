"""What is read of CustomResourceDefinitions, of odd ones too."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.definitions import Definition, definition_of
from gitfleet.api.objects import GroupKind

ROWS: list[Any] = [
    {"name": "v1beta1", "served": False},
    {"name": "v1", "served": True, "storage": True},
    {"name": "v2"},
    {"name": 3},
    "v4",
]
SPEC: dict[str, Any] = {"group": "example.com", "names": {"kind": "Foo"}, "scope": "Namespaced", "versions": ROWS}
CRD: dict[str, Any] = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": SPEC}
FOO = Definition(
    kind=GroupKind("example.com", "Foo"), namespaced=True, versions=("v1", "v1beta1", "v2"), served=("v1", "v2")
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (CRD, FOO),
        (
            {**CRD, "spec": {**SPEC, "scope": "Cluster", "versions": None}},
            Definition(kind=FOO.kind, namespaced=False, versions=(), served=()),
        ),
        ({**CRD, "spec": None}, None),
        ({**CRD, "spec": {"names": None}}, None),
        ({**CRD, "kind": "Foo"}, None),
        ({**CRD, "apiVersion": "example.com/v1"}, None),
        ({}, None),
    ],
)
def test_what_a_definition_says(body: dict[str, Any], found: Definition | None) -> None:
    assert definition_of(body) == found
