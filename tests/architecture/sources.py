"""Modules as the tests of this folder read them, each parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = sorted((ROOT / "gitfleet").rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    """The text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The definitions, calls and imports in a module, at any depth: what tests look for, found in one walk."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Call, ast.Import, ast.ImportFrom)
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, kinds)]


def place(path: Path, node: ast.stmt | ast.expr) -> str:
    """Where a node stands, as people write it."""
    return f"{path.relative_to(ROOT)}:{node.lineno}"
