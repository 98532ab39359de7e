"""`gitfleet get` and `gitfleet describe`: kubectl-like views of the state branch."""

from __future__ import annotations

from typing import Annotated

import click
import typer

from gitfleet.cli import options
from gitfleet.cli.output import chosen_format, print_json, print_table, print_yaml
from gitfleet.errors import BadInput

Kind = Annotated[str, typer.Argument(metavar="KIND", help="placements (crp), clusters (mc), bindings, snapshots, ...")]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One object by its name.")]
RepoOption = Annotated[str, typer.Option("--repo", "-C", help="Path or URL of the config repo.")]


def get(
    kind: Kind,
    name: Name = None,
    repo: RepoOption = ".",
    cache_dir: options.CacheDir = None,
    branch: options.Branch = None,
    output: options.Format = None,
) -> None:
    """List objects of a kind from the state branch, as kubectl would.

    Formats: -o table|wide|json|yaml|name. Example: gitfleet get crp --repo my-fleet
    """
    from gitfleet import wiring
    from gitfleet.report import views

    shape = chosen_format(output, ("table", "wide", "json", "yaml", "name"))
    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    with wiring.open_workspace(settings) as workspace:
        state, now = workspace.state(), workspace.clock.now()
    objects = views.objects_of(kind, state, name)
    if name is not None and not objects:
        raise BadInput(f'{kind} "{name}" is not in the state branch', hint=f"`gitfleet get {kind}` lists what there is")
    if shape in ("json", "yaml"):
        document = objects[0] if name is not None else {"apiVersion": "v1", "kind": "List", "items": objects}
        print_json(document) if shape == "json" else print_yaml(document)
        return
    if shape == "name":
        for found in objects:
            click.echo(f"{found['kind'].lower()}/{found['metadata']['name']}")
        return
    table = views.table_of(kind, state, name, now=now, wide=shape == "wide")
    print_table(table.columns, table.rows)


def describe(
    kind: Kind,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    repo: RepoOption = ".",
    cache_dir: options.CacheDir = None,
    branch: options.Branch = None,
) -> None:
    """Show one object of the state branch with its conditions and, for a placement, each cluster's story.

    Example: gitfleet describe crp web --repo my-fleet
    """
    from gitfleet import wiring
    from gitfleet.report import views

    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    with wiring.open_workspace(settings) as workspace:
        state = workspace.state()
    objects = views.objects_of(kind, state, name)
    if not objects:
        raise BadInput(f'{kind} "{name}" is not in the state branch', hint=f"`gitfleet get {kind}` lists what there is")
    for line in views.describe_lines(objects[0]):
        click.echo(line)
