"""Every sentence of a package has a code (texts.py), and is asserted once, in tests/<package>/sentences.txt."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.formats.text_table import TextTable
from tests.texts import PACKAGES, ROOT, fields, golden, rendered, table

TABLES = {table(package).__name__: table(package) for package in PACKAGES}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_sentence(package: str) -> None:
    """`python -m tests.texts` writes the file again; read the diff."""
    assert rendered(package).splitlines() == golden(package).read_text(encoding="utf-8").splitlines()


def test_each_code_is_used_with_the_values_of_its_sentence() -> None:
    wrong = [
        f"{place}: {code.name} takes {fields(code)}, not {sorted(given)}"
        for place, code, given in _calls()
        if given != set(fields(code))
    ]
    assert wrong == []


def test_each_code_is_used() -> None:
    used = {
        (node.value.id, node.attr)
        for _, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert [
        f"{name}.{code.name}" for name, each in TABLES.items() for code in each if (name, code.name) not in used
    ] == []


def _calls() -> Iterator[tuple[str, TextTable, set[str]]]:
    """Where code says a sentence, which, and with which values."""
    for path, tree in _modules():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=code)) if name in TABLES:
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield place, TABLES[name][code], {str(word.arg) for word in node.keywords}


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    """The modules that say sentences."""
    for path in sorted((ROOT / "gitfleet").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "texts import" in text:
            yield path, ast.parse(text)
