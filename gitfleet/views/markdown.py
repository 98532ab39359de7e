"""Texts of unknown origin in Markdown: shown as they are, never as markup, on every forge.

They stand in code spans, where no forge makes links, mentions, images or HTML of them; the few signs that end a span
or a table cell, or that a careless renderer could take for HTML, are replaced by similar ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitfleet.api.faults import FaultGroup
from gitfleet.status import one_line
from gitfleet.views.texts import ViewsText

_SIMILAR: Final = str.maketrans({"`": "'", "|": "¦", "<": "‹", ">": "›", "\\": "⧵"})


def code_span(text: str, limit: int = 200) -> str:
    """A text as a code span of at most `limit` letters, "" for an empty one."""
    flat = one_line(text, limit).translate(_SIMILAR).replace("](", "] (")
    return f"`{flat}`" if flat else ""


def link(name: str, target: str) -> str:
    """A link to a file of the branch; both parts come from checked names, never from free text."""
    return f"[{code_span(name)}]({target})"


def fault_line(group: FaultGroup) -> str:
    """The faults of one cause as a line: the first of them, and how many there are besides."""
    fault = group.first
    place = code_span(f"{fault.path}:{fault.line}") + group.further
    parts = (fault.severity.value, place, code_span(fault.object), code_span(fault.field))
    return " ".join(filter(None, (*parts, code_span(fault.message, 300))))


def rest_lines(count: int, most: int, path: str) -> list[str]:
    """Below a list of at most so many: how many more there are, with a link to where they lie."""
    return ["", ViewsText.AND_MORE_IN(count=count - most, path=path)] if count > most else []


def fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """A code block whose fence is longer than any row of backticks inside."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from lines
    yield fence


def shortened(text: str, limit: int) -> str:
    """Markdown of at most `limit` characters: whole lines from its beginning, with a code block that is open closed."""
    if len(text) <= limit:
        return text
    lines, space, fence = list[str](), limit - 200, ""
    for line in text.splitlines():
        space -= len(line) + 1
        if space < 0:
            break
        lines.append(line)
        ticks = re.match("`{3,}", line)
        if ticks is not None and not fence:
            fence = ticks[0]
        elif fence and line == fence:
            fence = ""
    return "\n".join([*lines, fence, "", ViewsText.END_LEFT_OUT()])


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown already."""
    return [
        f"| {' | '.join(columns)} |",
        f"|{' --- |' * len(columns)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
