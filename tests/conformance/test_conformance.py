"""KubeFleet's behaviour as data: every case of every area that exists so far passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.runner import known_areas, read_cases, run, vector_files

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"
LATER = {"backoff", "disruption_budget", "eviction", "staged_run"}
"""Areas of packages that belong to later issues; the day one is known, it leaves this list."""
FILES = sorted(vector_files([VECTORS]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_case_passes(path: Path) -> None:
    areas = {area for area, _ in read_cases(path)}
    if areas <= LATER:
        assert not areas & set(known_areas()), f"{areas} is known by now: take it out of LATER"
        return
    failed = [f"{result.case_id}: {result.difference}" for result in run([path]) if result.difference is not None]
    assert not failed, "\n".join(failed[:10])


def test_the_runner_counts_and_tells() -> None:
    command = [sys.executable, "-m", "tests.conformance", str(VECTORS / "taints.yaml"), str(VECTORS / "backoff.yaml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    *areas, last = done.stdout.strip().splitlines()
    assert areas[0].startswith("backoff: 0/")
    assert areas[1].startswith("taints: ")
    assert last.endswith(" failed")
    assert done.returncode == 1


def test_an_unknown_area_fails(tmp_path: Path) -> None:
    (tmp_path / "nobody.yaml").write_text("area: nobody\nvectors: [{id: x, in: {}, out: {}}]\n")
    (result,) = run([tmp_path])
    assert result.difference is not None
