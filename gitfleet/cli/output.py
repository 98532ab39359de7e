"""How commands print: data on stdout (tables as kubectl prints them, JSON, YAML), talk on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import orjson
import yaml

from gitfleet.errors import BadInput


def print_json(document: Any) -> None:
    """One JSON document, stable and complete."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def print_json_line(document: Any) -> None:
    """One JSON object on a line of its own, at once."""
    click.echo(orjson.dumps(document).decode())
    sys.stdout.flush()


def print_yaml(document: Any) -> None:
    """One YAML document."""
    click.echo(yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True).rstrip())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as they need, three spaces apart, no lines: what `kubectl get` prints."""
    shown = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(len(c), *(len(row[i]) for row in shown)) if shown else len(c) for i, c in enumerate(columns)]
    for line in [list(columns), *shown]:
        click.echo("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def chosen_format(output: str | None, allowed: Sequence[str]) -> str:
    """The format asked for, the first allowed one when none was; BadInput names what there is."""
    if output is None:
        return allowed[0]
    if output not in allowed:
        raise BadInput(f'there is no output format "{output}" here', hint=f"use -o {'|'.join(allowed)}")
    return output


def _plain(text: str) -> str:
    """Control characters of untrusted texts must not reach the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)
