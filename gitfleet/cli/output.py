"""How commands print data: tables as kubectl prints them, JSON, YAML, lines; always on stdout."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from gitfleet.cli.messages import NARROWEST, folded, terminal_width
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.yaml_writer import yaml_text

_USUAL_WIDTH = 80


def print_json(document: Any) -> None:
    """One JSON document, stable and complete."""
    click.echo(json_text(document, indent=True))


def print_yaml(document: Any) -> None:
    """One YAML document."""
    click.echo(yaml_text(document, sort_keys=False, blocks=True).rstrip("\n"))


def printable(text: str) -> str:
    """The text on one line: whatever could steer a terminal is a space, and spaces stay where they are."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def show(line: str) -> None:
    """One line of text, which may hold anything that people wrote into the repo."""
    click.echo(printable(line))


def show_wrapped(line: str, indent: str) -> None:
    """One line that is folded to the terminal's width, its further lines behind `indent`; never folded in a pipe."""
    click.echo(folded(printable(line), indent, sys.stdout))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as they need, three spaces apart, no lines: what `kubectl get` prints.

    Two spaces or one where only that keeps it within the usual 80 columns. On a terminal that is too narrow the last
    column is folded.
    """
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(c), *(len(row[i]) for row in shown)) if shown else len(c) for i, c in enumerate(columns)]
    gaps = len(columns) - 1
    gap = " " * next((space for space in (3, 2, 1) if space * gaps <= _USUAL_WIDTH - sum(widths)), 3)
    before_last = sum(widths[:-1]) + len(gap) * gaps
    terminal = terminal_width(sys.stdout)
    last_width = None if terminal is None else terminal - before_last
    lines: list[str] = []
    for line in [list(columns), *shown]:
        first = gap.join(cell.ljust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True))
        last = [line[-1]]
        if last_width is not None and last_width >= NARROWEST and len(line[-1]) > last_width:
            last = textwrap.wrap(line[-1], last_width, break_on_hyphens=False)
        head = f"{first}{gap}" if len(columns) > 1 else ""
        lines.append(f"{head}{last[0]}".rstrip())
        lines += [" " * before_last + part for part in last[1:]]
    click.echo("\n".join(lines))


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, which none of them leaves. BadInput for what cannot be written."""
    home = folder.resolve()
    try:
        for path, content in files.items():
            target = (home / path).resolve()
            if not target.is_relative_to(home):
                raise BadInput(CliText.LIES_OUTSIDE_NOT_WRITTEN(path=path, out=folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise BadInput(CliText.CANNOT_WRITTEN(file=error.filename, strerror=error.strerror)) from error
