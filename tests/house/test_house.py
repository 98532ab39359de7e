"""The house measures itself: sizes of modules and functions, packages with promises, and prose that names only what exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = sorted((ROOT / "gitfleet").rglob("*.py"))
PROSE = sorted(p for p in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if p.name != "CHANGELOG.md")
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 80
MAX_CYCLE_LINES = 150
TOP_LEVEL = {path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("path", PRODUCT, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_and_function_sizes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    limit = MAX_CYCLE_LINES if path == ROOT / "gitfleet" / "cycle.py" else MAX_MODULE_LINES
    assert text.count("\n") <= limit, f"{path}: split it by idea"
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{path}: a module says what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"{path}:{node.lineno}: {node.name} has {length} lines"


def test_median_module_is_short() -> None:
    lengths = sorted(path.read_text(encoding="utf-8").count("\n") for path in PRODUCT if path.name != "__init__.py")
    assert lengths[len(lengths) // 2] <= 170


def test_public_functions_are_documented() -> None:
    missing: list[str] = []
    for path in PRODUCT:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                if not ast.get_docstring(node):
                    missing.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not missing


def test_prose_names_only_what_exists() -> None:
    missing: list[str] = []
    for page in PROSE:
        for word in re.findall(r"`([\w./-]+)`", page.read_text(encoding="utf-8")):
            first = word.split("/")[0]
            if "/" in word and first in TOP_LEVEL and not (ROOT / word).exists():
                missing.append(f"{page.relative_to(ROOT)}: {word}")
            if re.fullmatch(r"gitfleet(\.\w+)+", word) and not _importable(word):
                missing.append(f"{page.relative_to(ROOT)}: {word}")
    assert not missing


def _importable(dotted: str) -> bool:
    if dotted.startswith(("gitfleet.dev", "gitfleet.yaml")) or dotted in _ENTRY_POINTS:
        return True
    path = ROOT.joinpath(*dotted.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    module = path.parent
    source = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return source.exists() and path.name in source.read_text(encoding="utf-8")


_ENTRY_POINTS = {
    "gitfleet.scheduler_plugins",
    "gitfleet.property_providers",
    "gitfleet.health_checks",
    "gitfleet.metric_providers",
    "gitfleet.notifiers",
    "gitfleet.deliveries",
    "gitfleet.forges",
}
