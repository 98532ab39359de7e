"""`gitfleet get` and `gitfleet describe`: kubectl-like views of the state branch, of now or of any of its commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitfleet.cli import options
from gitfleet.cli.messages import newer_commits, say
from gitfleet.cli.output import print_json, print_table, print_yaml, show, show_wrapped
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.api.objects import JsonObject
    from gitfleet.model.desired import Desired
    from gitfleet.views.tables import Table
    from gitfleet.wiring.state import OpenedState


_KEY = re.compile(" *[^: ][^:]*: +")
"""What stands before a value in a line of `describe`."""


@options.command("gitfleet get crp", "gitfleet get bindings -o wide", "gitfleet get mc eu-1 -o yaml -C my-fleet")
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="[NAME]", required=False)
@options.at
@options.settings(options.in_repo, options.branch, options.cache_dir)
@options.output("table", "wide", "json", "yaml", "name")
def get(kind: str, name: str | None, at: str | None, settings: Settings, output: str) -> None:
    """List the objects of a KIND, or the one of a NAME, from the state branch, as kubectl would.

    KIND is a name that `gitfleet schema` lists, long, short or plural as in kubectl (crp, mc), or the folder
    of the kind (placements, runs). What no status is reported of yet is listed from the watched branch, as people
    wrote it.
    """
    if output in ("json", "yaml", "name"):
        _print_objects(_objects(settings, kind, name, at)[0], name, output)
        return
    table, notice = _table(settings, kind, name, at, wide=output == "wide")
    if table.rows:
        print_table(table.columns, table.rows)
    else:
        say(CliText.NO_RESOURCES_FOUND())
    if notice:
        say(notice)


@options.command("gitfleet describe crp web", "gitfleet describe mc eu-1 -C my-fleet")
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="NAME")
@options.at
@options.settings(options.in_repo, options.branch, options.cache_dir)
def describe(kind: str, name: str, at: str | None, settings: Settings) -> None:
    """Show one object of the state branch with its conditions; a placement with each cluster's status. A run, and a
    placement with runs, end with what they wait for, a workload rollout with how far it is on each cluster."""
    from gitfleet.api.kinds import list_named
    from gitfleet.views.description import describe_lines
    from gitfleet.views.runs import run_waits
    from gitfleet.views.workload_rollouts import rollout_lines

    objects, opened = _objects(settings, kind, name, at)
    for line in describe_lines(objects[0]):
        key = _KEY.match(line)
        show_wrapped(line, " " * key.end() if key is not None else "")
    if opened is None:
        return
    listed_as = list_named(kind)
    waits = run_waits(listed_as, opened.reader, name, opened.now)
    progress = rollout_lines(listed_as, opened.reader, objects[0])
    for title, lines in (("Waits For:", waits), ("Progress:", progress)):
        for line in (title, *(f"  {line}" for line in lines)) if lines else ():
            show_wrapped(line, "    ")


def _objects(
    settings: Settings, kind: str, name: str | None, at: str | None
) -> tuple[Sequence[Any], OpenedState | None]:
    """Whole objects, without the values of Secrets, and the state if they are of it; BadInput for a name that is not
    there."""
    from gitfleet.api.kinds import list_named
    from gitfleet.views import kinds, shown
    from gitfleet.wiring.state import open_state

    opened = open_state(settings, at) if list_named(kind) in kinds.kinds() else None
    objects = kinds.objects_of(kind, opened.reader, name) if opened else _written(settings, kind, name, at)
    return [shown.shown_object(body) for body in _named(kind, name, objects)], opened


def _table(settings: Settings, kind: str, name: str | None, at: str | None, *, wide: bool) -> tuple[Table, str]:
    """The table, and what is to be said besides: of which placements removals are held, what is pinned or kept,
    and that freezes may be newer."""
    from gitfleet.api.kinds import list_named
    from gitfleet.views import holds, kinds
    from gitfleet.wiring.state import open_state

    listed_as = list_named(kind)
    if listed_as not in kinds.kinds():
        return _table_of(_named(kind, name, _written(settings, kind, name, at))), ""
    opened = open_state(settings, at)
    table = kinds.table_of(kind, opened.reader, name, now=opened.now, wide=wide)
    _named(kind, name, table.rows)
    if listed_as == "freezes" and at is None:
        return table, newer_commits(opened, CliText.NEXT_RECONCILE_TAKES_UP_FREEZE())
    if listed_as != "placements":
        return table, ""
    beside = (holds.held_placements_line(opened.reader, name), *holds.kept_placements_lines(opened.reader, name))
    return table, "\n".join(filter(None, beside))


def _written(settings: Settings, kind: str, name: str | None, at: str | None) -> Sequence[Any]:
    """What people wrote, from the watched branch."""
    from gitfleet.api.kinds import list_named
    from gitfleet.views import kinds
    from gitfleet.wiring import hub

    listed_as = list_named(kind)
    if at is not None:
        raise BadInput(CliText.STAND_WATCHED_BRANCH(listed_as=listed_as), hint="leave --at away")
    with hub.open_workspace(settings, clusters="none") as workspace:
        desired = workspace.desired_at(workspace.commit_of(None))
        return kinds.in_scope(kind, _objects_named(listed_as, desired, name))


def _named(kind: str, name: str | None, objects: Sequence[Any]) -> Sequence[Any]:
    if name is not None and not objects:
        raise BadInput(CliText.THERE_IS_NO(kind=kind, name=name), hint=CliText.GITFLEET_GET_LISTS(kind=kind))
    return objects


def _print_objects(objects: Sequence[Any], name: str | None, output: str) -> None:
    document = objects[0] if name is not None else {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    if output == "json":
        print_json(document)
    elif output == "yaml":
        print_yaml(document)
    elif not objects:
        say(CliText.NO_RESOURCES_FOUND())
    else:
        for body in objects:
            show(f"{body['kind'].lower()}/{body['metadata']['name']}")


def _objects_named(listed_as: str, desired: Desired, name: str | None = None) -> list[JsonObject]:
    """The objects that are listed together, or those of a name (`name` or `namespace/name`), by their names."""
    bodies = sorted((value.body for value in desired.objects.get(listed_as, {}).values()), key=_identity)
    return [body for body in bodies if name is None or name in (_identity(body)[1], "/".join(_identity(body)))]


def _table_of(objects: Iterable[JsonObject]) -> Table:
    """Name and kind of each, the namespace where one has any."""
    from gitfleet.views.tables import namespaced

    rows = [(*_identity(body), str(body.get("kind", ""))) for body in objects]
    return namespaced(("NAMESPACE", "NAME", "KIND"), rows)


def _identity(body: JsonObject) -> tuple[str, str]:
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
