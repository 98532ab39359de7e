"""A change as a person sees it: in which function, which lines before and after; and a name that outlives renumbering.

mutmut numbers the changes of a function, so that a new line renumbers all that follow; the pages of this folder name
a change by its function and a digest of the changed lines instead.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Final

_AROUND: Final = 40


@dataclass(frozen=True)
class Change:
    """One change of one function."""

    function: str
    """By its whole name, module and class included."""
    before: tuple[str, ...]
    after: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """The function, without `gitfleet.`, and eight digits of the changed lines."""
        digest = hashlib.sha256("\n".join([*self.before, "->", *self.after]).encode()).hexdigest()
        return f"{self.function.removeprefix('gitfleet.')} {digest[:8]}"

    def row(self) -> str:
        """A row for the page of its package, with what differs and some letters around; the reason is a person's."""
        before, after = " ".join(self.before), " ".join(self.after)
        start = _common(before, after)
        end = min(_common(before[::-1], after[::-1]), len(before) - start, len(after) - start)
        before, after = (_excerpt(text, start, end) for text in (before, after))
        return f"| `{self.name}` | {before} → {after} | |"


def changes_of(folder: Path, mutants: Iterable[str]) -> dict[str, Change]:
    """The changes by mutmut's names of them, read from the files that mutmut wrote into `folder`."""
    texts: dict[str, dict[str, list[str]]] = {}
    found = {}
    for mutant in mutants:
        module, _, changed = mutant.rpartition(".")
        if module not in texts:
            texts[module] = _functions(folder / "mutants", module)
        function, _, _number = changed.rpartition("__mutmut_")
        lines = difflib.ndiff(texts[module][f"{function}__mutmut_orig"], texts[module][changed])
        parts = [(line[0], line[2:].strip()) for line in lines if line[0] in "-+"]
        before, after = (tuple(text for sign, text in parts if sign == wanted) for wanted in "-+")
        found[mutant] = Change(f"{module}.{_as_written(function)}", before, after)
    return found


def _functions(root: Path, module: str) -> dict[str, list[str]]:
    """The lines of each version of each function in a file that mutmut wrote, without their names."""
    path = root / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    nodes = ast.walk(ast.parse(path.read_text()))
    return {
        node.name: [line for part in [node.args, *node.body] for line in ast.unparse(part).splitlines()]
        for node in nodes
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name
    }


def _as_written(mangled: str) -> str:
    """`x_render_fleet` and `xǁCompiledPatchǁapply` as they stand in the code."""
    return mangled[2:].replace("ǁ", ".")


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _excerpt(text: str, start: int, end: int) -> str:
    """What stands between the first `start` and the last `end` letters, with some of them, as a cell of a table."""
    first, last = max(start - _AROUND, 0), min(len(text) - end + _AROUND, len(text))
    shown = f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"
    return f"`{shown.replace('|', chr(92) + '|')}`" if shown else "nothing"
