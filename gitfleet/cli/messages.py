"""Messages to people, on stderr: one line at a time, without control characters. A line is folded to the width of a
terminal, and only there: in a pipe each stays one line."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Final, TextIO

import click

from gitfleet.cli.texts import CliText

if TYPE_CHECKING:
    from gitfleet.wiring.state import OpenedState

LONGEST_LINE = 2000
MOST_LINES = 20
NARROWEST: Final = 20
"""Less room than this is not used: what is folded into it cannot be read."""


def plain(text: str) -> str:
    """A text of unknown origin on one line, without anything that could steer a terminal."""
    from gitfleet.status import one_line

    return one_line(text, LONGEST_LINE)


def say(text: str) -> None:
    """A message to stderr, on one line whatever it holds: a path or a name of the repo may have line breaks, and what
    follows them would be taken for a line of ours. It may be indented; a terminal's further lines are."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    click.echo(folded(indent + plain(text), f"{indent}  ", sys.stderr), err=True)


def newer_commits(opened: OpenedState, otherwise: str) -> str:
    """That the watched branch has commits that the state does not know, and why or what to do; "" for none."""
    from gitfleet.api.staged import REWRITE_PREFIX

    watched = opened.watched
    if watched in (None, opened.reader.head().observed_commit):
        return ""
    refused = (fault.message for fault in opened.reader.faults() if f"/{REWRITE_PREFIX}{watched[:12]}" in fault.path)
    return next(refused, CliText.NEWER_COMMITS_NOT_RECONCILED_YET(otherwise=otherwise))


def warn_some(title: str, sentences: list[str], more: str) -> None:
    """The first sentences of a list, and how many there are besides (`more` says how to list them)."""
    for sentence in sentences[:MOST_LINES]:
        say(f"{title}: {sentence}")
    if len(sentences) > MOST_LINES:
        say(f"{title}: and {len(sentences) - MOST_LINES} more; {more}")


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
