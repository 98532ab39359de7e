"""An example package, laid out as an installer does it (nothing is fetched or built) and found by its entry points."""

from __future__ import annotations

import shutil
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def install_example(name: str, group: str, into: Path, monkeypatch: pytest.MonkeyPatch) -> EntryPoint:
    """The example's own entry point of a group, out of a folder that holds what a wheel of it would."""
    project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(EXAMPLES / name / "src", into, dirs_exist_ok=True)
    info = into / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    ((plugin, value),) = project["entry-points"][group].items()
    (info / "entry_points.txt").write_text(f"[{group}]\n{plugin} = {value}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(into))
    (found,) = entry_points(group=group, name=plugin)
    return found
