"""`gitfleet schema`: JSON Schemas for editors."""

from __future__ import annotations

import click

from gitfleet.cli import options
from gitfleet.cli.output import print_json, show


@click.command(epilog=options.example("gitfleet schema", "gitfleet schema ClusterResourcePlacement > crp.schema.json"))
@click.argument("kind", metavar="[KIND]", required=False)
@options.output("text", "json")
def schema(kind: str | None, output: str) -> None:
    """Print the JSON Schema of a KIND such as ClusterResourcePlacement, or the list of kinds."""
    from gitfleet.api.kinds import KINDS, kind_named

    known = sorted(item.name for item in KINDS.values())
    if kind is not None:
        print_json(kind_named(kind).schema())
    elif output == "json":
        print_json({"apiVersion": "gitfleet.dev/v1alpha1", "kind": "SchemaList", "items": known})
    else:
        for name in known:
            show(name)
