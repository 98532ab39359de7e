"""Code, messages and pages use the field's plain terms: no figure of speech that once stood here comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTEAD = {
    r"weather": "disturbance",
    r"slips? of the pen": "typing error",
    r"obey(s|ed)?": "act on; the reconciled commit",
    r"deeds?": "action, operation",
    r"pledges?|pledged": "record before applying",
    r"corridors?": "reconcile",
    r"laws?": "invariant",
    r"steads?": "instead of",
    r"(people's|our own|a person's) words?": "sentence, approval",
    r"kin": "the like",
    r"nouns?": "value, object",
    r"strangers?": "somebody else, misplaced",
    r"dice": "randomness",
    r"heal(s|ed|ing)?": "correct, repair",
    r"voices?": "name what is meant",
    r"speak(s|ing)? (for|of|about|against)": "is about, names",
    r"mends?|mended": "correct, repair",
    r"untold": "not shown",
    r"anew": "again; recreate, restart",
}
"""Words that no sentence here needs. Common verbs (look, tell, remember) and nouns (room on a disk) are not among them:
banning those led to sentences that said something else."""
BANNED = re.compile(rf"(?<![A-Za-z])({'|'.join(INSTEAD)})(?![A-Za-z])", re.IGNORECASE)
PLACES = ("gitfleet", "docs", "examples", "repo-layout", "benchmarks", "ci")
_SKIPPED = {"data", "vectors", "golden", "__pycache__"}


def _texts() -> list[Path]:
    found = [path for place in PLACES for path in (ROOT / place).rglob("*") if path.suffix in (".py", ".md")]
    return sorted({*found, *ROOT.glob("*.md"), ROOT / "pyproject.toml"} - {Path(__file__).resolve()})


def figures_of_speech(text: str) -> list[str]:
    """The banned words of a text, each as `line: word (instead)`."""
    return [
        f"{number}: {match[0]} ({next(term for word, term in INSTEAD.items() if re.fullmatch(word, match[0], re.I))})"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in BANNED.finditer(line)
    ]


def test_no_figure_of_speech() -> None:
    found: list[str] = []
    for path in _texts():
        if not _SKIPPED.intersection(path.relative_to(ROOT).parts):
            text = path.read_text(encoding="utf-8")
            found += [f"{path.relative_to(ROOT)}:{one}" for one in figures_of_speech(text)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a law_test and ANEW", ["1: law (invariant)", "1: ANEW (again; recreate, restart)"]),
        ("fine\nit speaks\nfor nothing, speaks of it", ["3: speaks of (is about, names)"]),
        ("healthy, instead, mushroom, flaw", []),
    ],
)
def test_words_are_found_in_names_too_and_other_words_are_not(text: str, found: list[str]) -> None:
    assert figures_of_speech(text) == found
