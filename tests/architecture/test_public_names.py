"""The names that docs/extending.md calls stable are exactly those that the public modules export."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import gitfleet

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
LISTED = {
    module: set(re.findall(r"`(\w+)`", names))
    for module, names in re.findall(r"^`(gitfleet\.[\w.]+)`: (.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
}


def test_the_page_lists_what_the_public_modules_export() -> None:
    assert {module: set(importlib.import_module(module).__all__) for module in LISTED} == LISTED
    assert set(LISTED) == {
        "gitfleet.ports.scheduling",
        "gitfleet.ports.properties",
        "gitfleet.ports.forges",
        "gitfleet.ports.metric_providers",
        "gitfleet.ports.notifiers",
        "gitfleet.ports.workloads",
    }


def test_every_exported_name_exists() -> None:
    for module in LISTED:
        found = importlib.import_module(module)
        assert [name for name in found.__all__ if not hasattr(found, name)] == []


def test_the_entry_point_groups_of_the_page_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"^\| `(gitfleet\.\w+)` \|", PAGE, re.MULTILINE)) == set(project["entry-points"])


def test_type_annotations_are_shipped() -> None:
    assert (Path(gitfleet.__file__).parent / "py.typed").exists()
