"""What prose cites, and whether it exists: docstrings, comments and Markdown pages of the project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

from gitfleet.api.fleet import Branches
from tests.architecture.sources import ROOT, text_of

REFERENCE = ROOT / "docs" / "reference"
_SKIPPED = {".mutants", ".git", ".venv", "__pycache__", "build", "dist", "data", "vectors", "golden", "node_modules"}
_SECTIONS = re.compile(r'\b(contracts|kubefleet)\.md((?:,? (?:and )?§\d+)+)((?:,? (?:and )?"[^"]+")*)')
_DECISIONS = re.compile(r"\b[Dd]ecisions? (D\d+(?:(?:, | and |, and | to )D\d+)*)")
_SEEDS = re.compile(r"\b(?:seeds?/| ?[Ss]eeds? )(\d{3}(?:(?:, | and )\d{3})*)")
_INVARIANTS = re.compile(r"\binvariants? (\d+(?:(?:, | and )\d+)*)")
_RECORDS = re.compile(r"\bdecisions/(\d{4})")
_PAGES = re.compile(r"(?<![\w/.$-])((?:[\w-]+/)*[\w-]+\.md)\b")
_STRING_OR_COMMENT = re.compile(
    r"""(?P<quotes>"{3}|'{3})(?:\\.|.)*?(?P=quotes)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<comment>\#[^\n]*)""",
    re.DOTALL,
)
"""A tokenizer in Python costs twenty times as much, and a syntax tree six times."""
_BACKTICKED = re.compile(r"`([^`\n]+)`")
_ENTRY_POINTS = re.compile(
    r"gitfleet\.(dev\b.*|yaml|\w+_plugins|\w+_providers|health_checks|notifiers|forges|executors|workload_handlers)"
)
_MUTANT = re.compile(r"\.x(?:_|ǁ\w+ǁ)(\w+?)__mutmut_\d+$")
"""mutmut's name of a changed function or method; what it cites is the function."""
_BRANCHES = set(asdict(Branches()).values())
_FOREIGN_PAGES = {"crp.md", "comment.md"}
"""A page of a source document, and a file that a documented command writes."""


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of prose with what people wrote into it: Markdown whole, Python's docstrings and comments."""
    for top, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and "egg-info" not in name)
        for path in (Path(top) / name for name in sorted(names)):
            if path.suffix == ".md":
                yield path, path.read_text(encoding="utf-8")
            elif path.suffix == ".py":
                yield path, prose_of(text_of(path))


def prose_of(source: str) -> str:
    """The docstrings and comments of a module, as they are written (an escape stays one)."""
    said, comments, depth, last = list[str](), list[str](), 0, 0
    for match in _STRING_OR_COMMENT.finditer(source):
        between, last = source[last : match.start()], match.end()
        depth += sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        if match["comment"] is not None:
            comments.append(match["comment"].lstrip("#").strip())
        elif not depth and between.rpartition("\n")[2].strip() in ("", "r") and source[last : last + 1] in "\n":
            said.append(match[0].strip(match[0][0]))  # a statement of its own
    return "\n".join([*said, *comments])


def broken_citations(text: str, folder: Path) -> list[str]:
    """What a text cites and is not there; `folder` is where the text stands, for paths."""
    joined = re.sub(r"\s+", " ", text)
    return [citation for find in _FINDERS for citation in find(joined, folder)]


def _missing_sections(text: str, _folder: Path) -> Iterator[str]:
    for page, numbers, names in _SECTIONS.findall(text):
        sections = _sections(page)
        for number in re.findall(r"\d+", numbers):
            if number not in sections:
                yield f"{page}.md §{number}"
        named = "".join(sections.get(number, "") for number in re.findall(r"\d+", numbers))
        for name in re.findall(r'"([^"]+)"', names):
            if not re.search(rf"\*\*[^*]*{re.escape(name)}", named):
                yield f'{page}.md{numbers} "{name}"'


@cache
def _numbered(path: Path, row: str) -> set[str]:
    """What the rows of a page begin with."""
    return set(re.findall(row, path.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def _sections(page: str) -> dict[str, str]:
    """The numbered sections of a reference page."""
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+)\. ", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _missing_decisions(text: str, _folder: Path) -> Iterator[str]:
    known = _numbered(REFERENCE / "decisions.md", r"^\| (D\d+) \|")
    for cited in _DECISIONS.findall(text):
        yield from (f"decision {one}" for one in re.findall(r"D\d+", cited) if one not in known)


def _missing_seeds(text: str, _folder: Path) -> Iterator[str]:
    known = _numbered(REFERENCE / "decisions.md", r"^\| (\d{3}) \|")
    for cited in _SEEDS.findall(text):
        yield from (f"seed {one}" for one in re.findall(r"\d{3}", cited) if one not in known)


def _missing_invariants(text: str, _folder: Path) -> Iterator[str]:
    known = _numbered(ROOT / "ARCHITECTURE.md", r"^(\d+)\. \*\*")
    for cited in _INVARIANTS.findall(text):
        yield from (f"invariant {one}" for one in re.findall(r"\d+", cited) if one not in known)


def _missing_records(text: str, _folder: Path) -> Iterator[str]:
    for number in _RECORDS.findall(text):
        if not list((ROOT / "docs" / "decisions").glob(f"{number}-*.md")):
            yield f"decisions/{number}"


def _missing_pages(text: str, folder: Path) -> Iterator[str]:
    for page in _PAGES.findall(text):
        places = (folder, ROOT, ROOT / "docs", REFERENCE, ROOT / "docs" / "decisions")
        if page not in _FOREIGN_PAGES and not any((place / page).exists() for place in places):
            yield page


def _missing_code(text: str, folder: Path) -> Iterator[str]:
    for quoted in _BACKTICKED.findall(text):
        if re.fullmatch(r"(gitfleet|tests)(\.\w+)+", quoted) and not _ENTRY_POINTS.fullmatch(quoted):
            if not _importable(_MUTANT.sub(r".\1", quoted)):
                yield quoted
        elif re.fullmatch(r"(?:[\w-]+/)*\w+\.py", quoted):
            if not _file(quoted, folder):
                yield quoted
        elif re.fullmatch(r"(gitfleet|tests|docs|examples|repo-layout|benchmarks|ci)/[\w./-]+", quoted):
            yield from [quoted] if quoted not in _BRANCHES and not (ROOT / quoted).exists() else []


@cache
def _importable(dotted: str) -> bool:
    path = ROOT.joinpath(*dotted.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    for module in (path.parent.with_suffix(".py"), path.parent / "__init__.py"):
        if module.exists() and re.search(rf"\b{path.name}\b", module.read_text(encoding="utf-8")):
            return True
    return False


@cache
def _file(name: str, folder: Path) -> bool:
    return (folder / name).exists() or any(str(path).endswith(f"/{name}") for path in _python_files())


@cache
def _python_files() -> tuple[Path, ...]:
    return tuple(path for top in ("gitfleet", "tests", "examples", "benchmarks") for path in (ROOT / top).rglob("*.py"))


_FINDERS: tuple[Callable[[str, Path], Iterator[str]], ...] = (
    _missing_sections,
    _missing_decisions,
    _missing_seeds,
    _missing_invariants,
    _missing_records,
    _missing_pages,
    _missing_code,
)
