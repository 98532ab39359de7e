"""`gitfleet diff`: what clusters have against what they are to have, per object and field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from gitfleet.cli import options
from gitfleet.cli.messages import say
from gitfleet.cli.output import print_json, show, show_wrapped
from gitfleet.cli.plan_groups import names
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import counted
from gitfleet.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What is compared with what, and how the exit code says so."""

    rev: str | None
    snapshots: tuple[int, int] | None
    clusters: str
    detailed_exitcode: bool


@options.command("gitfleet diff web", "gitfleet diff team-a/cart eu-1 -C my-fleet", "gitfleet diff web --snapshots 3 4")
@click.argument("placement", metavar="PLACEMENT")
@click.argument("cluster", metavar="[CLUSTER]", required=False)
@options.collected(
    "request",
    DiffOptions,
    options.rev,
    click.option("--snapshots", type=(int, int), metavar="OLD NEW", help="Compare two snapshots, and no cluster."),
    click.option(
        "--clusters",
        type=click.Choice(("live", "simulated")),
        default="live",
        metavar="WHICH",
        help="The clusters to observe: live or simulated (default: live).",
    ),
    click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when anything differs."),
)
@options.settings(options.in_repo, options.branch, options.connections, options.cache_dir)
@options.output("text", "json")
def diff(placement: str, cluster: str | None, request: DiffOptions, settings: Settings, output: str) -> int:
    """Show what each cluster of a PLACEMENT (NAME, or NAMESPACE/NAME) has against what it is to have when every rollout
    is through, per object and field; or what one snapshot has that another has not.

    Only the fields that the manifests name are compared, and with comparisonOption FullComparison all fields. Values of
    Secrets are never shown. The exit code is 1 when a cluster could not be compared. Nothing is written.
    """
    from gitfleet.views.diff_document import differing
    from gitfleet.wiring import hub

    if request.snapshots is not None and (cluster is not None or request.rev is not None):
        raise BadInput(CliText.SNAPSHOTS_COMPARES_TWO_SNAPSHOTS())
    with hub.open_workspace(settings, clusters=request.clusters) as workspace:
        if request.snapshots is not None:
            document = workspace.snapshots_diff(placement, *request.snapshots)
        else:
            document = workspace.diff(placement, cluster, request.rev)
    rows = document.get("clusters", ())
    failed = [row for row in rows if not row["compared"]]
    if output == "json":
        print_json(document)
    elif request.snapshots is not None:
        _show_rows(document["objects"], between_snapshots=True)
        show(_summary(len(document["objects"]), document["same"]))
    else:
        _show_clusters([row for row in rows if row["compared"]])
    for row in failed:
        say(CliText.ERROR_NOT_COMPARED(one=row["clusterName"], one_2=row["message"]))
    if failed or any(body["state"] == "Unreadable" for row in rows for body in row["objects"]):
        return 1
    return 2 if request.detailed_exitcode and differing(document) else 0


def _show_clusters(compared: list[Mapping[str, Any]]) -> None:
    """Clusters that differ in the same way stand together."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for cluster in compared:
        groups.setdefault("\n".join(_lines(cluster["objects"])), []).append(cluster)
    for group in groups.values():
        first = group[0]
        clusters = names(tuple(cluster["clusterName"] for cluster in group))
        show_wrapped(f"{clusters}: {_summary(len(first['objects']), first['same'])}", "  ")
        _show_rows(first["objects"])


def _summary(different: int, equal: int) -> str:
    return (
        f"{different} of {counted(different + equal, 'object')} differ"
        if different
        else CliText.NO_DIFFERENCE(count=counted(equal, "object"))
    )


def _lines(rows: list[Mapping[str, Any]], *, between_snapshots: bool = False) -> Iterator[str]:
    from gitfleet.views.diff_document import object_lines

    for row in rows:
        yield from (f"  {line}" for line in object_lines(row, between_snapshots=between_snapshots))


def _show_rows(rows: list[Mapping[str, Any]], *, between_snapshots: bool = False) -> None:
    for line in _lines(rows, between_snapshots=between_snapshots):
        show_wrapped(line, "        ")
