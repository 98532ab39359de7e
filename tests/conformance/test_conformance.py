"""KubeFleet's behaviour as data: every case of every area that exists so far passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.runner import read_cases, run, vector_files
from tests.conformance.texts import OWN, expected_text, text_difference

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"
OWN_CASES = Path(__file__).parent / "cases"
FILES = sorted(vector_files([VECTORS, OWN_CASES]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_case_passes(path: Path) -> None:
    failed = [f"{result.case_id}: {result.difference}" for result in run([path]) if result.difference is not None]
    assert not failed, "\n".join(failed[:10])


def test_the_runner_counts_and_tells(tmp_path: Path) -> None:
    nobody = tmp_path / "nobody.yaml"
    nobody.write_text("area: nobody\nvectors: [{id: x, in: {}, out: {}}]\n")
    command = [sys.executable, "-m", "tests.conformance", str(VECTORS / "taints.yaml"), str(nobody)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    *areas, last = done.stdout.strip().splitlines()
    assert areas[0].startswith("nobody: 0/")
    assert areas[1].startswith("taints: ")
    assert last.endswith(" failed")
    assert done.returncode == 1


COMPARED = ("validation", "overrides", "taints", "staged_run")


def texts() -> list[str]:
    """What KubeFleet says in the cases whose texts are compared with gitfleet's sentences."""
    cases = [case for path in FILES for area, case in read_cases(path) if area in COMPARED]
    found = [case["out"].get("error") or case["out"].get("reason") for case in cases]
    return [text for text in found if isinstance(text, str)]


def test_no_text_of_a_case_is_left_uncompared() -> None:
    assert [text for text in texts() if expected_text(text) is None] == []


def test_every_difference_from_kubefleets_texts_is_met_by_a_case() -> None:
    found = texts()
    assert [pattern for pattern in OWN if not any(re.search(pattern, text) for text in found)] == []


def test_another_sentence_is_a_difference() -> None:
    theirs = "cluster names must be unique for policy type PickFixed"
    assert text_difference(theirs, ["clusterNames[1]: names it twice"]) is None
    assert text_difference(theirs, ["numberOfClusters: names it twice"])
    assert text_difference("some text that no case here has", ["any sentence"]) is None
    assert text_difference("some text that no case here has", [])
