"""Removals and movements each pass one gate: nobody else makes what lets an object go or a cluster move."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.sources import PRODUCT, ROOT, nodes_of

MAKERS = {
    "Passage": {"model/rolling.py", "reconcile/gates.py"},
    "PlacementGate": {
        "reconcile/gates.py",
        "rollout/staged/progress.py",
        "rollout/staged/steps.py",
        "views/explanation.py",
    },
    "Permit": {"model/removals.py", "pull/operations.py"},
    "Delete": {"apply/deletions.py", "pull/operations.py"},
}
"""The modules that let clusters move, and those that make deletions: as decided, and as an agent reads them."""


@pytest.mark.parametrize("name", MAKERS)
def test_leave_is_made_by_the_gate_alone(name: str) -> None:
    makers = {
        str(path.relative_to(ROOT / "gitfleet"))
        for path in PRODUCT
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name
    }
    assert makers == MAKERS[name]
