"""`gitfleet plan`: what a reconcile would do, with reasons; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from gitfleet.cli import options
from gitfleet.cli.output import chosen_format, print_json
from gitfleet.cli.talk import say

_SIGNS = {"create": "+", "update": "~", "delete": "-", "refuse": "!", "keep": " "}


def plan(
    repo: options.Repo = ".",
    rev: options.Rev = None,
    base: Annotated[str | None, typer.Option("--base", help="Plan on top of this commit as if it were done.")] = None,
    clusters: Annotated[
        options.Clusters, typer.Option("--clusters", help="Whose answers count.")
    ] = options.Clusters.LIVE,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 when there are changes.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Plan as if this cluster (or label=value) had left (repeatable)."),
    ] = None,
    with_file: Annotated[
        list[Path] | None, typer.Option("--with", help="Plan with the extra MemberClusters of a file (repeatable).")
    ] = None,
    cordon: Annotated[
        list[str] | None, typer.Option("--cordon", help="Plan as if this cluster took nothing new (repeatable).")
    ] = None,
    branch: options.Branch = None,
    kubeconfig: options.Kubeconfig = None,
    kubeconfig_dir: options.KubeconfigDir = None,
    allow_exec: options.AllowExec = None,
    simulated_dir: options.SimulatedDir = None,
    cache_dir: options.CacheDir = None,
    output: options.Format = None,
) -> int:
    """Show what a reconcile would do from the present state, with reasons and manifest diffs; nothing is written.

    Formats: -o text|json|markdown. Example: gitfleet plan . --rev my-change --clusters simulated
    """
    from gitfleet import wiring
    from gitfleet.report.plan_document import has_changes

    shape = chosen_format(output, ("text", "json", "markdown"))
    settings = options.settings_for(
        repo,
        cache_dir=cache_dir,
        kubeconfig=kubeconfig,
        kubeconfig_dir=kubeconfig_dir,
        allow_exec=allow_exec,
        simulated_dir=simulated_dir,
        branch=branch,
    )
    what_if = wiring.what_if_from(tuple(without or ()), tuple(with_file or ()), tuple(cordon or ()))
    with wiring.open_workspace(settings, clusters=str(clusters)) as workspace:
        document = workspace.plan(rev, base, what_if)
    match shape:
        case "json":
            print_json(document)
        case "markdown":
            for line in markdown_lines(document):
                click.echo(line)
        case _:
            for line in text_lines(document):
                click.echo(line)
            say(summary_line(document))
    if any(fault["severity"] == "error" for fault in document["faults"]) and shape == "text":
        say("Objects with faults keep their last good version.")
    return 2 if detailed_exitcode and has_changes(document) else 0


def text_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The plan for a terminal: faults, then each placement with its clusters, moves and operations."""
    for fault in document["faults"]:
        yield f"{fault['severity']}: " + ": ".join(
            str(part)
            for part in (f"{fault['path']}:{fault['line']}", fault["object"], fault["field"], fault["message"])
            if part
        )
    for placement in document["placements"]:
        yield from _placement_lines(placement)


def _placement_lines(placement: Mapping[str, Any]) -> Iterator[str]:
    name = f"{placement['namespace']}/{placement['name']}" if placement["namespace"] else placement["name"]
    snapshot = placement["resourceSnapshotIndex"]
    yield f"{name} ({placement['placementType']}): {len(placement['selectedResources'])} resources, snapshot {snapshot}"
    if placement["scheduled"]["message"]:
        yield f"  {placement['scheduled']['reason']}: {placement['scheduled']['message']}"
    for row in placement["rollout"]:
        if row["move"] != "none":
            yield f"  {row['move']:<6} {row['clusterName']}: {row['reason']}"
    for row in placement["clusters"]:
        if not row["selected"]:
            yield f"  -      {row['clusterName']}: {row['reason']}"
    for operation in placement["operations"]:
        if operation["action"] == "keep" and operation["reason"].startswith("up to date"):
            continue
        key = operation["object"]
        place = f"{key['namespace']}/" if key["namespace"] else ""
        sign = _SIGNS[operation["action"]]
        yield f"  {sign} {operation['clusterName']} {key['kind']} {place}{key['name']}: {operation['reason']}"
        if operation["action"] == "update":
            yield from (f"      {line}" for line in operation["diff"].splitlines()[2:])


def markdown_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The plan as a comment for a pull request; texts of the repo stand in code spans, so that they cannot format."""
    summary = document["summary"]
    yield "### gitfleet plan"
    yield ""
    yield ", ".join(f"**{summary[action]}** {action}" for action in summary)
    for fault in document["faults"]:
        yield f"- {fault['severity']} {_code(fault['path'])} line {fault['line']}: {_code(fault['message'])}"
    for placement in document["placements"]:
        yield ""
        yield f"#### {_code(placement['name'])} ({placement['placementType']})"
        yield ""
        yield "| cluster | move | reason |"
        yield "|---|---|---|"
        for row in placement["rollout"]:
            yield f"| {_code(row['clusterName'])} | {row['move']} | {_code(row['reason'])} |"
        diffs = [o["diff"] for o in placement["operations"] if o["action"] in ("create", "update") and o["diff"]]
        if diffs:
            yield ""
            yield "<details><summary>diffs</summary>"
            yield ""
            for diff in dict.fromkeys(diffs):
                yield from ("    " + line for line in diff.splitlines())
                yield ""
            yield "</details>"


def summary_line(document: Mapping[str, Any]) -> str:
    """One line of counts."""
    return "Plan: " + ", ".join(f"{count} to {action}" for action, count in document["summary"].items())


def _code(text: str) -> str:
    return "`" + str(text).replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"
