"""The name on the package index: `gitfleet` is another project there, and nothing may have people install it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import Any

import pytest

from gitfleet import DISTRIBUTION, __version__, extra
from tests.architecture.sources import ROOT

_INSTALLED = re.compile(
    r"""gitfleet\[|pip install (?:-\S+ )*["']?gitfleet["'\s`]|pip install gitfleet$|cies = \[.*["']gitfleet["'<>=~!]"""
)
"""An extra of `gitfleet`, its installation, or a list of dependencies that ends with it."""


def declared(path: str = "pyproject.toml") -> dict[str, Any]:
    """The `[project]` table of a pyproject.toml."""
    project: dict[str, Any] = tomllib.loads((ROOT / path).read_text())["project"]
    return project


def test_one_name_and_one_version() -> None:
    project = declared()

    assert (project["name"], project["version"]) == (DISTRIBUTION, __version__)
    assert project["scripts"] == {"gitfleet": "gitfleet.cli.main:main"}, "the command stays"
    assert {group.partition(".")[0] for group in project["entry-points"]} == {"gitfleet"}, (
        "so do the groups of plug-ins"
    )


def test_a_hint_names_an_extra_that_is_declared() -> None:
    assert extra("forges") == 'pip install "gitfleet-hub[forges]"'
    assert {"forges", "sops"} <= set(declared()["optional-dependencies"])


def test_no_text_installs_the_other_project() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wrong = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in listed.split("\0")
        if name.endswith((".py", ".md", ".toml", ".yaml", "Dockerfile", "Makefile")) and (ROOT / name).exists()
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), start=1)
        if _INSTALLED.search(line) and "test_distribution" not in name
    ]
    assert not wrong


@pytest.mark.parametrize(
    "line",
    ['pip install "gitfleet[sops]"', "pip install gitfleet", 'dependencies = ["gitfleet"]', "`pip install gitfleet`"],
)
def test_what_would_be_wrong_is_found(line: str) -> None:
    assert _INSTALLED.search(line)


def test_the_examples_depend_on_this_distribution() -> None:
    for name in ("scheduler-plugin", "property-provider", "metric-provider", "workload-handler"):
        assert declared(f"examples/{name}/pyproject.toml")["dependencies"] == [DISTRIBUTION]
