"""The pages name a change by what it is: a number that mutmut gives it may be another tomorrow."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.__main__ import MISLED, ROOT, SLOW, TESTS, reasons
from tests.mutants.changes import changes_of

_HEAD = "def x_wait__mutmut_orig(now):\n    left = 2\n    return now + left\n\n"
_PLUS = "def x_wait__mutmut_{}(now):\n    left = 2\n    return now - left\n\n"
_TWO = "def x_wait__mutmut_{}(now):\n    left = 3\n    return now + left\n\n"


def _names(folder: Path, *functions: str) -> list[str]:
    module = folder / "mutants" / "gitfleet" / "waits.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text("".join([_HEAD, *(text.format(number) for number, text in enumerate(functions, 1))]))
    mutants = [f"gitfleet.waits.x_wait__mutmut_{number}" for number in range(1, len(functions) + 1)]
    found = changes_of(folder, mutants)
    return [found[mutant].name for mutant in mutants]


def test_a_change_keeps_its_name_when_others_come_before_it(tmp_path: Path) -> None:
    (alone,) = _names(tmp_path, _PLUS)
    two, plus = _names(tmp_path, _TWO, _PLUS)
    assert alone == plus != two
    assert alone.startswith("waits.wait ")


def test_methods_are_named_as_they_are_written_and_a_row_shows_the_lines(tmp_path: Path) -> None:
    module = tmp_path / "mutants" / "gitfleet" / "waits" / "__init__.py"
    module.parent.mkdir(parents=True)
    bodies = {"orig": "return a | 1", "1": "return a | 2"}
    methods = "".join(
        f"    def xǁPauseǁ_or__mutmut_{number}(self, a):\n        {text}\n" for number, text in bodies.items()
    )
    module.write_text(f"class Pause:\n{methods}")
    (change,) = changes_of(tmp_path, ["gitfleet.waits.xǁPauseǁ_or__mutmut_1"]).values()
    assert change.name.startswith("waits.Pause._or ")
    assert change.row() == f"| `{change.name}` | `return a \\| 1` → `return a \\| 2` | |"
    assert reasons(change.row()) == set(), "without a reason it is not explained"
    assert reasons(change.row() + " since 1 is 2 |") == {change.name}


def test_the_tests_that_are_asked_exist() -> None:
    asked = {
        path.partition("::")[0] for path in (*SLOW, *MISLED, *(path for paths in TESTS.values() for path in paths))
    }
    assert [path for path in sorted(asked) if not (ROOT / path).exists()] == []


def test_every_row_of_a_page_has_a_reason() -> None:
    folder = Path(__file__).parent
    pages = [path for path in folder.glob("*.md") if path.name != "README.md"]
    assert {path.stem for path in pages} <= {package.replace("/", ".") for package in TESTS}
    for path in pages:
        text = path.read_text()
        assert len(reasons(text)) == sum(line.startswith("| `") for line in text.splitlines()), path.name
