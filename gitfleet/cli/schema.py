"""`gitfleet schema`: JSON Schemas for editors."""

from __future__ import annotations

from typing import Annotated

import click
import typer

from gitfleet.cli.output import print_json
from gitfleet.errors import BadInput


def schema(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="A kind such as ClusterResourcePlacement.")
    ] = None,
) -> None:
    """Print the JSON Schema of a kind, or the list of kinds.

    Example: gitfleet schema ClusterResourcePlacement > crp.schema.json
    """
    from gitfleet import desired

    known = desired.kinds()
    if kind is None:
        for name in known:
            click.echo(name)
        return
    by_name = {name.lower(): name for name in known}
    if kind.lower() not in by_name:
        raise BadInput(f'there is no schema for "{kind}"', hint="`gitfleet schema` lists the kinds")
    print_json(desired.schema_for(by_name[kind.lower()]))
