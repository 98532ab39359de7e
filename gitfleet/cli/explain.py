"""`gitfleet explain`: why each cluster was picked, refused, updated or is waiting."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import click

from gitfleet.cli import options
from gitfleet.cli.output import print_json, print_table, show_wrapped
from gitfleet.errors import BadInput
from gitfleet.settings import Settings


@click.command(
    epilog=options.example(
        "gitfleet explain web", "gitfleet explain web eu-1", "gitfleet explain team-a/cart -C my-fleet"
    )
)
@click.argument("placement", metavar="PLACEMENT")
@click.argument("cluster", metavar="[CLUSTER]", required=False)
@options.rev
@options.settings(options.in_repo, options.branch, options.cache_dir)
@options.output("table", "wide", "json")
def explain(placement: str, cluster: str | None, rev: str | None, settings: Settings, output: str) -> None:
    """Explain a PLACEMENT (NAME, or NAMESPACE/NAME): a table of all clusters, or one CLUSTER in sentences.

    It reads the commit and the state branch and nothing else: no cluster is observed.
    """
    from gitfleet import wiring

    with wiring.open_workspace(settings, clusters="recorded") as workspace:
        rows = workspace.explain(placement, rev)
    if cluster is not None:
        names = [row["clusterName"] for row in rows]
        rows = [row for row in rows if row["clusterName"] == cluster]
        if not rows:
            near = get_close_matches(cluster, names, n=1)
            hint = f"did you mean {near[0]}?" if near else "`gitfleet get clusters` lists what there is"
            raise BadInput(f'there is no cluster "{cluster}"', hint=hint)
    if output == "json":
        print_json(
            {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "Explanation", "placement": placement, "clusters": rows}
        )
    elif cluster is not None:
        for line in sentences(placement, rows[0]):
            show_wrapped(line, "  ")
    else:
        wide = output == "wide"
        columns = ("CLUSTER", "PICKED", "STATE", "SNAPSHOT", *(("SPREAD", "AFFINITY") if wide else ()), "WHY")
        print_table(columns, [_cells(placement, row, wide) for row in rows])


def _cells(placement: str, row: Mapping[str, Any], wide: bool) -> tuple[str, ...]:
    score = row["clusterScore"]
    scores = (str(score["topologySpreadScore"]), str(score["affinityScore"])) if score else ("-", "-")
    return (
        row["clusterName"],
        "yes" if row["selected"] else "no",
        row["state"] or "-",
        _index(row["appliedSnapshot"]),
        *(scores if wide else ()),
        why(placement, row),
    )


def why(placement: str, row: Mapping[str, Any]) -> str:
    """The one sentence that matters most about a cluster: what it waits for, else what happens next, else why it was
    picked or not."""
    name = row["clusterName"]
    if row["selected"] and row["waiting"]:
        return str(row["waiting"][0]).removeprefix(f"{placement}: {name} ")
    if row["selected"] and row["next"]:
        return f"next: {row['next']}"
    if row["selected"] and row["appliedSnapshot"]:
        return "up to date"
    reason = str(row["reason"]).removeprefix(f'Cluster "{name}" ')
    return f"{reason} ({row['clusterMessage']})" if row["clusterMessage"] else reason


def sentences(placement: str, row: Mapping[str, Any]) -> list[str]:
    """What there is to say about one cluster."""
    name = row["clusterName"]
    reason = str(row["reason"]).removeprefix(f'Cluster "{name}" ')
    lines = [f"{name} is {'picked' if row['selected'] else 'not picked'} for {placement}: {reason}"]
    if row["refusedBy"]:
        lines.append(f"It was refused by the plug-in {row['refusedBy']}.")
    if row["clusterMessage"]:
        lines.append(f"The cluster is {row['clusterState']}: {row['clusterMessage']}")
    if row["scoresByPlugin"]:
        scores = ", ".join(f"{plugin} {score}" for plugin, score in row["scoresByPlugin"].items())
        lines.append(f"Scores: {scores}.")
    if row["remedy"]:
        lines.append(f"What would change that: {row['remedy']}")
    if row["state"]:
        has = row["appliedSnapshot"] or "nothing yet"
        lines.append(
            f"Its binding is {row['state']} with {row['resourceSnapshot'] or 'no snapshot yet'}; it has {has}."
        )
    if row["next"]:
        lines.append(f"Next: {row['next']}")
    lines += [f"Waiting: {str(sentence).removeprefix(f'{placement}: ')}" for sentence in row["waiting"]]
    return lines


def _index(snapshot: str | None) -> str:
    """`web-3-snapshot` is index 3."""
    return snapshot.removesuffix("-snapshot").rpartition("-")[2] if snapshot else "-"
