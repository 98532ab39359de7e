"""Reads vector files, finds each area's function and counts what passes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gitfleet.formats.canonical_json import parse_json
from gitfleet.formats.yaml_reader import read_documents
from tests.conformance import areas

Case = dict[str, Any]
Check = Callable[[Case], str | None]


@dataclass(frozen=True, slots=True)
class Result:
    """One case of one area: `difference` is None when it passed."""

    area: str
    case_id: str
    difference: str | None


def known_areas() -> Mapping[str, Check]:
    """Every area's check, gathered from the modules of `tests.conformance.areas`."""
    found: dict[str, Check] = {}
    for module in pkgutil.iter_modules(areas.__path__):
        loaded = importlib.import_module(f"{areas.__name__}.{module.name}")
        found.update(getattr(loaded, "AREAS", {}))
    return found


def vector_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The vector files below folders, and files as they are named; sorted within a folder."""
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.suffix in {".yaml", ".jsonl"})
        elif path.is_file():
            yield path
        else:
            raise FileNotFoundError(f"{path}: no such file or folder")


def read_cases(path: Path) -> Iterator[tuple[str, Case]]:
    """(area, case) pairs of one file; a `fuzz_` prefix of the file's name does not belong to the area's name."""
    content = path.read_bytes()
    area = path.stem.removeprefix("fuzz_")
    if path.suffix == ".jsonl":
        for line in content.splitlines():
            if line.strip():
                yield area, parse_json(line)
        return
    (document,) = cast("list[dict[str, Any]]", read_documents(content))
    for case in document["vectors"]:
        yield document.get("area", area), case


def run_case(checks: Mapping[str, Check], area: str, case: Case) -> Result:
    """Feed one case; an exception of the package counts as a difference, and so does an unknown area."""
    case_id = str(case.get("id", "?"))
    check = checks.get(area)
    if check is None:
        return Result(area, case_id, f"nothing here knows the area {area!r}")
    try:
        return Result(area, case_id, check(case))
    except Exception as error:  # noqa: BLE001 - a package that raises has failed the case; the others still count
        return Result(area, case_id, f"{type(error).__name__}: {error}")


def run(paths: Iterable[Path]) -> list[Result]:
    """All results, in file order."""
    checks = known_areas()
    return [run_case(checks, area, case) for path in vector_files(paths) for area, case in read_cases(path)]
