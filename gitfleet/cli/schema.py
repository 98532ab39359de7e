"""`gitfleet schema`: JSON Schemas for editors."""

from __future__ import annotations

from difflib import get_close_matches

import click

from gitfleet.cli import options
from gitfleet.cli.output import print_json, show
from gitfleet.errors import BadInput


@click.command(epilog=options.example("gitfleet schema", "gitfleet schema ClusterResourcePlacement > crp.schema.json"))
@click.argument("kind", metavar="[KIND]", required=False)
@options.output("text", "json")
def schema(kind: str | None, output: str) -> None:
    """Print the JSON Schema of a KIND such as ClusterResourcePlacement, or the list of kinds."""
    from gitfleet.api.kinds import DESCRIBED

    known = sorted(item.name for item in DESCRIBED)
    if kind is None and output == "json":
        print_json({"apiVersion": "gitfleet.dev/v1alpha1", "kind": "SchemaList", "items": list(known)})
        return
    if kind is None:
        for name in known:
            show(name)
        return
    by_name = {word.lower(): item for item in DESCRIBED for word in (item.name, f"{item.name}s", *item.short_names)}
    if kind.lower() not in by_name:
        near = get_close_matches(kind.lower(), by_name, n=1)
        meant = f"did you mean {by_name[near[0]].name}? " if near else ""
        raise BadInput(f'there is no schema for "{kind}"', hint=f"{meant}`gitfleet schema` lists the kinds")
    print_json(by_name[kind.lower()].schema())
