"""What docstrings, comments and pages cite exists: sections, decisions, records, pages, modules and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.citations import broken_citations, prose_of, texts
from tests.architecture.sources import ROOT


def test_what_is_cited_exists() -> None:
    broken = {str(path.relative_to(ROOT)): broken_citations(text, path.parent) for path, text in texts()}
    assert {path: citations for path, citations in broken.items() if citations} == {}


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('as in contracts.md §2 and kubefleet.md §1, §2 "Topology spread"', []),
        ("contracts.md\n    §99", ["contracts.md §99"]),
        ("kubefleet.md §1, §2 and §99", ["kubefleet.md §99"]),
        ('kubefleet.md §2 "Topology spread", "Nonsense"', ['kubefleet.md §2 "Nonsense"']),
        ("decisions D1, D2 and D999", ["decision D999"]),
        ("seeds/003, seed 000, seeds 001, 999", ["seed 999"]),
        ("invariants 1 and 99", ["invariant 99"]),
        ("docs/decisions/0001-dependencies.md, docs/decisions/9999", ["decisions/9999"]),
        ("docs/nothing.md and libs.md", ["docs/nothing.md", "libs.md"]),
        ("`gitfleet.reconcile.decide`, `gitfleet.nothing.at_all`", ["gitfleet.nothing.at_all"]),
        ("`gitfleet.rollout.plan.x__moves__mutmut_16`", []),
        ("`gitfleet.rollout.plan.xǁNoǁsuch_thing__mutmut_1`", ["gitfleet.rollout.plan.xǁNoǁsuch_thing__mutmut_1"]),
        ("`gitfleet/state`, `gitfleet/loop` and `gitfleet/nothing`", ["gitfleet/nothing"]),
        ("`loop/driver.py` and `loop/nothing.py`", ["loop/nothing.py"]),
    ],
)
def test_a_citation_of_what_is_not_there_is_found(text: str, broken: list[str]) -> None:
    assert broken_citations(text, Path("nowhere")) == broken


def test_docstrings_and_comments_are_prose_and_strings_are_not() -> None:
    source = '"""One."""\nX = "two"  # three\ndef f() -> None:\n    """Four."""\n    # five\n'
    assert prose_of(source).split("\n") == ["One.", "Four.", "three", "five"]
