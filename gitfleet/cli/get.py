"""`gitfleet get` and `gitfleet describe`: kubectl-like views of the state branch."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.output import print_json, print_table, print_yaml, show
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.loop.workspace import Workspace


@click.command(
    epilog=options.example(
        "gitfleet get crp", "gitfleet get bindings -o wide", "gitfleet get mc eu-1 -o yaml -C my-fleet"
    )
)
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="[NAME]", required=False)
@options.settings(options.in_repo, options.branch, options.cache_dir)
@options.output("table", "wide", "json", "yaml", "name")
def get(kind: str, name: str | None, settings: Settings, output: str) -> None:
    """List the objects of a KIND, or the one of a NAME, from the state branch, as kubectl would.

    \b
    Kinds: placements (crp, rp), clusters (mc), bindings, snapshots, policies,
    overrides, and as people wrote them: runs, strategies, approvals,
    evictions, budgets, rollouts. Short and long names work as in kubectl.
    """
    from gitfleet import views, wiring
    from gitfleet.cli import desired_kinds

    plain = desired_kinds.plain_kind(kind)
    with wiring.open_workspace(settings, clusters="none") as workspace:
        if plain is not None:
            objects = desired_kinds.objects_of(plain, workspace.desired_at(workspace.commit_of(None)), name)
            table: Any = desired_kinds.table_of(plain, objects)
        else:
            state, now = _state(workspace, kind), workspace.clock.now()
            objects = views.objects_of(kind, state, name)
            table = views.table_of(kind, state, name, now=now, wide=output == "wide")
    if name is not None and not objects:
        raise BadInput(f'there is no {kind} "{name}"', hint=f"`gitfleet get {kind}` lists what there is")
    if output in ("json", "yaml"):
        document = objects[0] if name is not None else {"apiVersion": "v1", "kind": "List", "items": objects}
        print_json(document) if output == "json" else print_yaml(document)
        return
    if not objects:
        say("No resources found")
    elif output == "name":
        for found in objects:
            show(f"{found['kind'].lower()}/{found['metadata']['name']}")
    else:
        print_table(table.columns, table.rows)


@click.command(epilog=options.example("gitfleet describe crp web", "gitfleet describe mc eu-1 -C my-fleet"))
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="NAME")
@options.settings(options.in_repo, options.branch, options.cache_dir)
def describe(kind: str, name: str, settings: Settings) -> None:
    """Show one object of the state branch with its conditions; a placement with each cluster's status."""
    from gitfleet import views, wiring
    from gitfleet.cli import desired_kinds

    plain = desired_kinds.plain_kind(kind)
    with wiring.open_workspace(settings, clusters="none") as workspace:
        if plain is not None:
            objects = desired_kinds.objects_of(plain, workspace.desired_at(workspace.commit_of(None)), name)
        else:
            objects = views.objects_of(kind, _state(workspace, kind), name)
    if not objects:
        raise BadInput(f'there is no {kind} "{name}"', hint=f"`gitfleet get {kind}` lists what there is")
    for line in views.describe_lines(objects[0]):
        show(line)


def _state(workspace: Workspace, kind: str) -> Any:
    """What the state branch holds; a wrong kind is said before a missing branch is."""
    from gitfleet import views
    from gitfleet.cli import desired_kinds
    from gitfleet.model.state import FleetState

    try:
        views.objects_of(kind, FleetState())
    except BadInput as error:
        known = (*views.kinds(), *desired_kinds.kinds())
        near = get_close_matches(kind.lower(), known, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise BadInput(f'there is no kind "{kind}"', hint=f"{meant}kinds: {', '.join(known)}") from error
    return workspace.state()
