"""`gitfleet schema`: JSON Schemas for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.output import print_json, show, write_files
from gitfleet.cli.texts import CliText

_BASE: Final = "https://gitfleet.dev/schemas/v1alpha1"
"""What the schemas are called; nothing is fetched from there."""
EVERY_KIND: Final = "fleet.schema.json"


@options.command(
    "gitfleet schema", "gitfleet schema ClusterResourcePlacement > crp.schema.json", "gitfleet schema --out schemas"
)
@click.argument("kind", metavar="[KIND]", required=False)
@options.path("--out", metavar="DIR", text=f"Write a file for each kind, and {EVERY_KIND} for all of them.")
@options.output("text", "json")
def schema(kind: str | None, out: Path | None, output: str) -> None:
    """Print the JSON Schema of a KIND such as ClusterResourcePlacement, or the list of kinds."""
    from gitfleet.api.kinds import KINDS, kind_named

    if kind is not None and out is not None:
        raise click.UsageError(CliText.SCHEMA_KIND_OR_OUT())
    names = sorted(item.name for item in KINDS.values())
    if out is not None:
        files = schema_files()
        write_files(out, files)
        say(CliText.SCHEMAS_WRITTEN(count=len(files), folder=out))
    elif kind is not None:
        print_json(kind_named(kind).schema())
    elif output == "json":
        print_json({"apiVersion": "gitfleet.dev/v1alpha1", "kind": "SchemaList", "items": names})
    else:
        for name in names:
            show(name)


def schema_files() -> dict[str, bytes]:
    """A schema for each kind, with its `$id`, and one for files of all kinds that people write, which lets foreign
    kinds pass; by the names of their files."""
    from gitfleet.api.kinds import KINDS, Place

    files: dict[str, dict[str, Any]] = {f"{kind.name}.schema.json": kind.schema() for kind in KINDS.values()}
    written = {kind.name: kind.schema() for kind in KINDS.values() if kind.place is not Place.STATE_BRANCH}
    files[EVERY_KIND] = {
        "title": "A document of a fleet's repository",
        "allOf": [
            {
                "if": {
                    "properties": {key: body["properties"][key] for key in ("apiVersion", "kind")},
                    "required": ["apiVersion", "kind"],
                },
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name, body in sorted(written.items())
        ],
        "$defs": {name: _nested(name, body) for name, body in written.items()},
    }
    return {
        name: f"{json.dumps({'$id': f'{_BASE}/{name}', **body}, indent=2)}\n".encode() for name, body in files.items()
    }


def _nested(name: str, body: dict[str, Any]) -> Any:
    """A schema whose references lead to its own definitions from within another one: not every editor minds `$id`."""
    return json.loads(json.dumps(body).replace('"#/$defs/', f'"#/$defs/{name}/$defs/'))
