"""What import-linter and ruff cannot see of the contracts in ARCHITECTURE.md: the imports that the core is allowed,
built-ins, methods that do I/O, order by identity, fronts of packages, and reasons of exceptions. Each check is shown to
refuse what it is there to refuse."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import PRODUCT, ROOT, nodes_of, place, text_of

CONTRACTS = {
    one["name"]: one
    for one in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
}
LAYERS: list[list[str]] = [layer.split(" | ") for layer in CONTRACTS["Imports point downwards only"]["layers"]]
DOMAIN = next(layer for layer in LAYERS if "desired" in layer)
FRONTED = {*DOMAIN, "state"}
"""Packages that others enter by their front alone."""
PLUGIN_POINTS = {"gitfleet.workload.handlers"}
"""Packages within these that have a front of their own: the front around them does not load them."""
PAYLOAD_CORE = {"charts", "kustomizations", "texts"}
"""Modules of `payload` that are held to the rules of the core."""
CORE_NAMES = {f"gitfleet.{name}" for layer in LAYERS[LAYERS.index(["ports"]) + 1 :] for name in layer}
CORE_NAMES |= {f"gitfleet.payload.{name}" for name in PAYLOAD_CORE}
"""The core: every package below the ports, so that no new one can be left out."""
PURE_IMPORTS = {
    "__future__", "_typeshed", "base64", "binascii", "bisect", "collections", "contextlib", "dataclasses", "datetime",
    "decimal", "difflib", "enum", "fnmatch", "fractions", "functools", "hashlib", "hmac", "html", "inspect",
    "ipaddress", "itertools", "json", "math", "operator", "pathlib.PurePosixPath", "posixpath", "re", "string",
    "traceback", "types", "typing", "zlib",
    "annotated_types", "jsonpatch", "jsonpointer", "pathspec", "pydantic_core",
}  # fmt: skip
"""What the core may import beside itself. None of it does I/O, reads a clock, draws random numbers or logs."""
MORE_IMPORTS = {
    "formats": {"cel_expr_python", "cronsim", "orjson", "pkgutil.get_data", "ruamel.yaml", "yaml", "zoneinfo"},
    "payload": {"io", "tarfile"},  # archives of charts are taken apart in memory
}
"""What one package of the core may import besides."""
BUILT_INS = {"open", "print", "input", "breakpoint", "eval", "exec", "__import__"}
METHODS = {
    "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "iterdir", "rglob",
    "stat", "exists", "is_file", "is_dir", "expanduser", "now", "today", "utcnow",
}  # fmt: skip
ORDERING = {"sorted", "sort", "min", "max"}


def module_of(path: Path) -> str:
    """The dotted name of a module of the product."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def prefixes(name: str) -> Iterator[str]:
    """A dotted name and the packages that it is in."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(len(parts), 0, -1))


CORE = [path for path in PRODUCT if not CORE_NAMES.isdisjoint(prefixes(module_of(path)))]


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The dotted names that a module imports; a relative one begins with a dot."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def impure_imports(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
    """What a package of the core imports and may not."""
    allowed = CORE_NAMES | PURE_IMPORTS | MORE_IMPORTS.get(package, set())
    return (name for name in imported(nodes) if allowed.isdisjoint(prefixes(name)))


def impure_calls(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Calls that read or write the world, and `id` where it could make an order."""
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in BUILT_INS:
                yield node
            if isinstance(called, ast.Attribute) and called.attr in METHODS:
                yield node
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in ORDERING and any(isinstance(n, ast.Name) and n.id == "id" for n in ast.walk(node)):
                yield node


def past_fronts(nodes: Iterable[ast.AST], own: str) -> Iterator[str]:
    """Modules of other packages that are imported past their front."""
    for node in nodes:
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for module in named:
            parts = module.split(".")
            if (
                len(parts) > 2
                and parts[0] == "gitfleet"
                and parts[1] in FRONTED
                and parts[1] != own
                and module not in PLUGIN_POINTS
            ):
                yield module


def bare_exceptions(comment: str) -> bool:
    """Whether a comment switches a check off without a code or without a reason."""
    ignored = re.search(r"type: ignore(\[[\w, -]+\])?(.*)", comment)
    if ignored is not None:
        return not ignored[1] or len(ignored[2].strip(" #-")) < 3
    unchecked = re.search(r"noqa(: [A-Z]+\d+(, ?[A-Z]+\d+)*)?(.*)", comment)
    return unchecked is not None and (not unchecked[1] or len(unchecked[3].strip(" #-")) < 3)


def test_what_decides_reads_and_writes_nothing() -> None:
    found = [f"{place(path, call)}: {ast.unparse(call)[:80]}" for path in CORE for call in impure_calls(nodes_of(path))]
    assert not found


def test_the_core_imports_only_what_is_allowed() -> None:
    """Also by way of other modules: what the core may import of gitfleet is the core itself."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in CORE
        for name in impure_imports(nodes_of(path), path.relative_to(ROOT / "gitfleet").parts[0].removesuffix(".py"))
    ]
    assert not found


def test_no_import_is_allowed_without_use() -> None:
    used = {prefix for path in CORE for name in imported(nodes_of(path)) for prefix in prefixes(name)}
    assert PURE_IMPORTS.union(*MORE_IMPORTS.values()) <= used
    assert {module_of(path) for path in CORE} >= CORE_NAMES


def test_the_architecture_page_names_every_layer() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `gitfleet/(\w+)(?:\.py)?` \|", page, re.MULTILINE))
    assert named == {name for layer in LAYERS for name in layer}


def test_packages_are_entered_by_their_front() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in PRODUCT
        for module in past_fronts(nodes_of(path), path.relative_to(ROOT / "gitfleet").parts[0])
    ]
    assert not found


def test_a_check_that_is_switched_off_says_why() -> None:
    found: list[str] = []
    for path in (*PRODUCT, *sorted((ROOT / "tests").rglob("*.py"))):
        if "noqa" not in text_of(path) and "type: ignore" not in text_of(path):
            continue  # taking every module apart would take seconds
        for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
            if token.type == tokenize.COMMENT and bare_exceptions(token.string):
                found.append(f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}")
    assert not found


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("Path('x').read_text()", lambda nodes: any(impure_calls(nodes))),
        ("open('x')", lambda nodes: any(impure_calls(nodes))),
        ("print(1)", lambda nodes: any(impure_calls(nodes))),
        ("sorted(xs, key=id)", lambda nodes: any(impure_calls(nodes))),
        ("xs.sort(key=lambda x: (x.name, id(x)))", lambda nodes: any(impure_calls(nodes))),
        ("datetime.now(UTC)", lambda nodes: any(impure_calls(nodes))),
        ("import urllib3", lambda nodes: any(impure_imports(nodes, "schedule"))),
        ("import os.path", lambda nodes: any(impure_imports(nodes, "schedule"))),
        ("def f():\n    from pathlib import Path", lambda nodes: any(impure_imports(nodes, "model"))),
        ("import yaml", lambda nodes: any(impure_imports(nodes, "analysis"))),
        ("import tarfile", lambda nodes: any(impure_imports(nodes, "approvals"))),
        ("from gitfleet.loop.driver import Driver", lambda nodes: any(impure_imports(nodes, "loop"))),
        ("from gitfleet import adapters", lambda nodes: any(impure_imports(nodes, "views"))),
        ("from . import anything", lambda nodes: any(impure_imports(nodes, "workload"))),
        ("from gitfleet.schedule.pick import pick_n", lambda nodes: any(past_fronts(nodes, "loop"))),
        ("import gitfleet.rollout.plan", lambda nodes: any(past_fronts(nodes, "apply"))),
    ],
)
def test_each_check_refuses_what_it_is_there_for(text: str, check: Callable[[list[ast.AST]], bool]) -> None:
    assert check(list(ast.walk(ast.parse(text))))


@pytest.mark.parametrize(
    "text", ["known[id(x)]", "x.name", "from gitfleet.schedule import schedule", "import collections.abc"]
)
def test_what_is_allowed_passes(text: str) -> None:
    nodes = list(ast.walk(ast.parse(text)))
    assert not any(impure_calls(nodes)) and not any(past_fronts(nodes, "loop"))
    assert not any(impure_imports(nodes, "loop"))


@pytest.mark.parametrize(
    ("comment", "bare"),
    [
        ("# noqa", True),
        ("# noqa: E501", True),
        ("# noqa: E501 - a table reads better", False),
        ("# type: ignore", True),
        ("# type: ignore[misc]", True),
        ("# type: ignore[misc]  # every key of the state has an order", False),
        ("# a comment", False),
    ],
)
def test_a_reason_is_more_than_a_code(comment: str, bare: bool) -> None:
    assert bare_exceptions(comment) == bare
