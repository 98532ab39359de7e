"""`gitfleet explain`: why each cluster was picked, refused, updated or is waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from gitfleet.api.objects import JsonObject
from gitfleet.api.snapshots import snapshot_index
from gitfleet.cli import options
from gitfleet.cli.messages import newer_commits, say
from gitfleet.cli.output import print_json, print_table, show_wrapped
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.near_names import did_you_mean
from gitfleet.settings import Settings


@options.command("gitfleet explain web", "gitfleet explain web eu-1", "gitfleet explain team-a/cart -C my-fleet")
@click.argument("placement", metavar="PLACEMENT")
@click.argument("cluster", metavar="[CLUSTER]", required=False)
@options.at
@options.rev
@options.settings(options.in_repo, options.branch, options.cache_dir)
@options.output("table", "wide", "json")
def explain(
    placement: str, cluster: str | None, at: str | None, rev: str | None, settings: Settings, output: str
) -> None:
    """Explain a PLACEMENT (NAME, or NAMESPACE/NAME): a table of all clusters, or one CLUSTER in sentences.

    It reads what the state branch has recorded and observes no cluster. With --rev, and for what was not reconciled
    yet, it works out what a reconcile would decide.
    """
    if at is not None and rev is not None:
        raise BadInput(CliText.REV_NOT_GO_TOGETHER(), hint=CliText.READS_STATE_REV_WORKS_OUT())
    explanation = None if rev is not None else _recorded(settings, placement, at)
    if explanation is None:
        from gitfleet.wiring import hub

        with hub.open_workspace(settings, clusters="recorded") as workspace:
            if rev is None and (rewrite := workspace.rewrite()) is not None:
                say(f"error: {rewrite.fault()}")
            explanation = workspace.explain(placement, rev)
    standing, rows = explanation
    if cluster is not None:
        names = [row["clusterName"] for row in rows]
        rows = [row for row in rows if row["clusterName"] == cluster]
        if not rows:
            hint = did_you_mean(cluster, names, CliText.GITFLEET_GET_CLUSTERS_LISTS())
            raise BadInput(CliText.NO_CLUSTER(cluster=cluster), hint=hint)
    if output == "json":
        print_json(
            {
                "apiVersion": "gitfleet.dev/v1alpha1",
                "kind": "Explanation",
                "placement": placement,
                **standing,
                "clusters": rows,
            }
        )
        return
    for line in filter(None, standing.values()):
        show_wrapped(line, "  ")
    if cluster is not None:
        for line in sentences(placement, rows[0]):
            show_wrapped(line, "  ")
    else:
        _print_rows(rows, output == "wide")


def _recorded(settings: Settings, placement: str, at: str | None) -> tuple[dict[str, str], list[JsonObject]] | None:
    """What stands of the placement and the rows, as the state branch has them; None for a placement that it does not
    know."""
    from gitfleet.api.runs import RunRecord
    from gitfleet.views import explanation
    from gitfleet.wiring.state import NoState, open_state

    try:
        opened = open_state(settings, at)
    except NoState:
        return None
    reader, head = opened.reader, opened.reader.head()
    record = next(
        (candidate for candidate in reader.records(placement) if str(candidate.placement.key) == placement), None
    )
    if record is None:
        if at is None:
            return None
        names = [str(file.placement.key) for file in reader.placements()]
        raise explanation.no_placement(placement, names, reader.each(RunRecord))
    now = opened.now if at is None else head.last_changed or opened.now
    advice = CliText.REV_WORKS_OUT_LEAD(watch_branch=settings.watch_branch or "main")
    if at is None and (newer := newer_commits(opened, advice)):
        say(newer)
    return explanation.explained(record, reader.beside_placements(), now, opened.profile())


def _print_rows(rows: Sequence[Mapping[str, Any]], wide: bool) -> None:
    further: list[tuple[str, Callable[[Mapping[str, Any]], str]]] = []
    if any(row.get("variants") for row in rows):
        further.append(("VARIANTS", _variants))
    if wide:
        further += [("SPREAD", _score("topologySpreadScore")), ("AFFINITY", _score("affinityScore"))]
    columns = ("CLUSTER", "PICKED", "STATE", "SNAPSHOT", *(title for title, _ in further), "WHY")
    print_table(columns, [_cells(row, [cell(row) for _, cell in further]) for row in rows])


def _variants(row: Mapping[str, Any]) -> str:
    return ",".join(f"{chosen['folder']}={chosen['variant'] or '-'}" for chosen in row.get("variants", ())) or "-"


def _score(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: str(row["clusterScore"][name]) if row["clusterScore"] else "-"


def _cells(row: Mapping[str, Any], further: Sequence[str]) -> tuple[str, ...]:
    return (
        row["clusterName"],
        "yes" if row["selected"] else "no",
        row["state"] or "-",
        snapshot_index(row["appliedSnapshot"]) or "-",
        *further,
        row["why"],
    )


def sentences(placement: str, row: Mapping[str, Any]) -> list[str]:
    """What there is to say about one cluster."""
    picked = "picked" if row["selected"] else "not picked"
    lines = [f"{row['clusterName']} is {picked} for {placement}: {row['reason']}"]
    if row["refusedBy"]:
        lines.append(CliText.REFUSED_PLUG(row=row["refusedBy"]))
    if row["clusterMessage"]:
        lines.append(CliText.CLUSTER_IS(row=row["clusterState"], row_2=row["clusterMessage"]))
    if row["scoresByPlugin"]:
        scores = ", ".join(f"{plugin} {score}" for plugin, score in row["scoresByPlugin"].items())
        lines.append(f"Scores: {scores}.")
    if row["remedy"]:
        lines.append(CliText.WOULD_CHANGE(row=row["remedy"]))
    if row["state"]:
        has = row["appliedSnapshot"] or "nothing yet"
        lines.append(
            CliText.ITS_BINDING_IS_WITH_IT(
                row=row["state"], row_2=row["resourceSnapshot"] or CliText.NO_SNAPSHOT_YET(), has=has
            )
        )
    for chosen in row.get("variants", ()):
        labels = ", ".join(f"{key}={value}" for key, value in chosen["labels"].items())
        because = f" ({labels})" if labels else ""
        lines.append(
            f"{chosen['folder']}: "
            + (f"variant {chosen['variant']}{because}" if chosen["variant"] else CliText.NO_VARIANT())
        )
    if row["next"]:
        lines.append(f"Next: {row['next']}")
    lines += [f"Eviction {sentence}" for sentence in row["evictions"]]
    lines += [f"Waiting: {sentence}" for sentence in row["waiting"]]
    return lines
