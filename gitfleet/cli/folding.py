"""Lines that are folded to the width of a terminal, and only there: in a pipe each stays one line."""

from __future__ import annotations

import shutil
import textwrap
from typing import Final, TextIO

NARROWEST: Final = 20
"""Less room than this is not used: what is folded into it cannot be read."""


def folded(line: str, indent: str, stream: TextIO) -> str:
    """A line without control characters as `stream` is to show it: its further lines begin with `indent`."""
    width = terminal_width(stream)
    if width is None or len(line) <= width:
        return line
    text = line.lstrip(" ")
    return textwrap.fill(
        text,
        max(width, len(indent) + NARROWEST),
        initial_indent=line[: len(line) - len(text)],
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def terminal_width(stream: TextIO) -> int | None:
    """The columns of the terminal that shows a stream; None when a file or another program reads it."""
    return shutil.get_terminal_size().columns if stream.isatty() else None
