"""Talk goes to stderr."""

from __future__ import annotations

import click


def say(sentence: str) -> None:
    """One line to the person at the terminal; never data."""
    click.echo(sentence, err=True)
