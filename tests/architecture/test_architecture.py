"""The project measures itself: sizes of modules and functions, documented functions, short ports."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import PRODUCT, ROOT, nodes_of, place, text_of, tree_of

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40
"""Without decorators and the docstring."""
MAX_PARAMETERS = 6
"""`self` and `cls` do not count."""
MAX_RECONCILE_LINES = 199
MAX_PORT_METHODS = 8


def test_module_and_function_sizes() -> None:
    assert [sentence for path in PRODUCT for sentence in oversizes(path)] == []


def oversizes(path: Path) -> Iterator[str]:
    """What is too large in a module, or says not what it is for."""
    limit = MAX_RECONCILE_LINES if path == ROOT / "gitfleet" / "reconcile" / "__init__.py" else MAX_MODULE_LINES
    if text_of(path).count("\n") > limit:
        yield f"{path}: split it by idea"
    if not ast.get_docstring(tree_of(path)):
        yield f"{path}: a module says what it is for"
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if (length := length_of(node)) > MAX_FUNCTION_LINES:
                yield f"{place(path, node)}: {node.name} has {length} lines"
            if len(parameters_of(node)) > MAX_PARAMETERS:
                yield f"{place(path, node)}: {node.name}: group parameters"


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without decorators and docstring."""
    first = function.body[0]
    described = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if described else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names that a caller may give; `*args` and `**named` count as one each."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [one.arg for one in named if one is not None and one.arg not in ("self", "cls")]


def test_median_module_is_short() -> None:
    lengths = sorted(text_of(path).count("\n") for path in PRODUCT if path.name != "__init__.py")
    assert lengths[len(lengths) // 2] <= 170


def test_public_functions_are_documented() -> None:
    missing: list[str] = []
    for path in PRODUCT:
        for node in tree_of(path).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                missing.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not missing


def _written_files() -> list[Path]:
    """Every text that people of this project wrote; test data of others is as it came."""
    skipped = {".git", ".venv", ".mutants", "__pycache__", "build", "dist", ".demo", ".hypothesis"}
    found = []
    for top, folders, names in os.walk(ROOT):
        within = Path(top).relative_to(ROOT).parts
        folders[:] = [
            name
            for name in folders
            if name not in skipped
            and not name.endswith(("_cache", ".egg-info"))
            and (*within, name) not in (("tests", "vectors"), ("tests", "data"))
        ]
        found += [Path(top) / name for name in names if name not in skipped]
    return sorted(found)


_MACHINES = re.compile(r"/(?:work|root|Users)/[\w.-]|/home/(?!gitfleet\b)[a-z]|[A-Z]:\\\\Users")
_REGISTRIES = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|proxy\.golang\.org|(?:index\.)?docker\.io|ghcr\.io|quay\.io|gcr\.io)\b"
)


def test_no_file_names_a_machine_or_a_registry() -> None:
    named: list[str] = []
    for path in _written_files():
        if path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if _MACHINES.search(line) or _REGISTRIES.search(line):
                named.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not named


CACHING: dict[str, str] = {
    "adapters/git/runner.py": "one git is installed, and its version is asked for once",
    "adapters/programs.py": "what setpriv and unshare can do here is tried once",
    "rollout/renumbering.py": "digests of the variants of one record, for one judgement",
    "api/conditions.py": "one value for equal content, at most 4,096 of them: thousands of clusters say the same",
    "api/layout.py": "by declaration: the kinds are as many as their classes",
    "api/placements.py": "a text names one placement for ever",
    "api/reading.py": "by declaration; and keys of objects and placements, at most 4,096 each, that thousands share",
    "api/replacing.py": "by class",
    "api/writing.py": "by declaration; and bodies of conditions, at most 4,096 of them, that thousands share",
    "formats/cel.py": "the variables and functions of an expression are always the same; the library is loaded late",
    "formats/kind_fields.py": "the table is taken apart once",
    "formats/quantities.py": "a text means one quantity for ever",
    "formats/times.py": "a text means one moment for ever",
    "formats/yaml_scalars.py": "a text means one scalar for ever",
    "formats/yaml_writer.py": "a text is written in one way for ever",
    "apply/fleet.py": "manifests of one cluster while its change is planned",
    "branches/approval_history.py": "commits as they are read for one judgement, which ends with it",
}
"""Who may use functools' caches, and why that is no memory of the fleet's."""


def test_memory_is_explicit() -> None:
    """No package that decides keeps what it worked out: that is in the memo, which belongs to the loop."""
    found = {
        str(path.relative_to(ROOT / "gitfleet"))
        for path in PRODUCT
        for node in nodes_of(path)
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "functools"
            and any(name.name in ("cache", "lru_cache") for name in node.names)
        )
        or (isinstance(node, ast.Import) and any(name.name == "functools" for name in node.names))
    }
    assert found == set(CACHING)


def test_ports_are_short() -> None:
    long: list[str] = []
    for path in PRODUCT:
        for node in nodes_of(path):
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            if not any("Protocol" in ast.unparse(base) for base in node.bases):
                continue
            methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            if len(methods) > MAX_PORT_METHODS:
                long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {len(methods)} methods")
    assert not long


def test_ports_are_protocols_base_classes_and_plain_values_only() -> None:
    """Nothing in gitfleet/ports does anything: classes there are Protocols, plug-ins' base classes or frozen values."""
    strange: list[str] = []
    for path in sorted((ROOT / "gitfleet" / "ports").glob("*.py")):
        for node in tree_of(path).body:
            if not isinstance(node, ast.ClassDef):
                continue
            made_of = " ".join(map(ast.unparse, [*node.bases, *node.decorator_list]))
            if not re.search(r"Protocol|ABC|dataclass|NamedTuple|Enum|Exception|Error", made_of):
                strange.append(f"{path.name}:{node.lineno} {node.name}")
    assert not strange


def test_the_vectors_are_here() -> None:
    folder = ROOT / "tests" / "vectors"
    names = {path.name for path in folder.iterdir()}
    assert "README.md" in names
    assert len([name for name in names if name.endswith(".yaml")]) >= 18
    assert {"fuzz_rollout_plan.jsonl", "fuzz_scheduler_cycles.jsonl", "fuzz_topology_spread.jsonl"} <= names
    assert all(path.stat().st_size for path in folder.iterdir())
