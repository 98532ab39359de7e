"""`gitfleet explain`: why each cluster was picked, refused, updated or is waiting."""

from __future__ import annotations

from typing import Annotated

import click
import typer

from gitfleet.cli import options
from gitfleet.cli.output import chosen_format, print_json, print_table
from gitfleet.errors import BadInput


def explain(
    placement: Annotated[str, typer.Argument(metavar="PLACEMENT", help="NAME, or NAMESPACE/NAME.")],
    cluster: Annotated[str | None, typer.Argument(metavar="[CLUSTER]")] = None,
    repo: Annotated[str, typer.Option("--repo", "-C", help="Path or URL of the config repo.")] = ".",
    rev: options.Rev = None,
    branch: options.Branch = None,
    cache_dir: options.CacheDir = None,
    output: options.Format = None,
) -> None:
    """Explain a placement: a table of all clusters, or one cluster as a story.

    Formats: -o table|json. Example: gitfleet explain web cluster-2 --repo my-fleet
    """
    from gitfleet import wiring

    shape = chosen_format(output, ("table", "json"))
    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    with wiring.open_workspace(settings, clusters="recorded") as workspace:
        rows = workspace.explain(placement, rev)
    if cluster is not None:
        rows = [row for row in rows if row["clusterName"] == cluster]
        if not rows:
            raise BadInput(f'there is no cluster "{cluster}"', hint="`gitfleet get clusters` lists what there is")
    if shape == "json":
        print_json(
            {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "Explanation", "placement": placement, "clusters": rows}
        )
    elif cluster is not None:
        for line in story(placement, rows[0]):
            click.echo(line)
    else:
        print_table(
            ("CLUSTER", "PICKED", "STATE", "SPREAD", "AFFINITY", "WHY"),
            [
                (
                    row["clusterName"],
                    "yes" if row["selected"] else "no",
                    row["state"] or "-",
                    str(row["clusterScore"]["topologySpreadScore"]) if row["clusterScore"] else "-",
                    str(row["clusterScore"]["affinityScore"]) if row["clusterScore"] else "-",
                    row["why"],
                )
                for row in rows
            ],
        )


def story(placement: str, row: dict[str, object]) -> list[str]:
    """One cluster's story in a few sentences."""
    name = row["clusterName"]
    lines = [f"{name} is {'picked' if row['selected'] else 'not picked'} for {placement}: {row['reason']}"]
    if row["refusedBy"]:
        lines.append(f"It was refused by the plug-in {row['refusedBy']}.")
    scores = row["scoresByPlugin"]
    if isinstance(scores, dict) and scores:
        lines.append("Scores: " + ", ".join(f"{plugin} {score}" for plugin, score in scores.items()) + ".")
    if row["remedy"]:
        lines.append(f"What would change that: {row['remedy']}")
    if row["state"]:
        snapshot = row["resourceSnapshot"] or "no snapshot yet"
        lines.append(
            f"Its binding is {row['state']} with {snapshot}; it has {row['appliedSnapshot'] or 'nothing yet'}."
        )
    lines += [f"Waiting: {sentence}" for sentence in row["waiting"]] if isinstance(row["waiting"], list) else []
    return lines
