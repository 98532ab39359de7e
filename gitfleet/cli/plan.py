"""`gitfleet plan`: what a reconcile would do, with reasons; nothing is written."""

from __future__ import annotations

from pathlib import Path

import click

from gitfleet.cli import options
from gitfleet.cli.output import print_json, show, show_wrapped


@click.command(
    epilog=options.example(
        "gitfleet plan --clusters simulated",
        "gitfleet plan . --rev my-change --base main -o markdown",
        "gitfleet plan --without eu-1 --with new-clusters.yaml",
    )
)
@options.repo
@options.rev
@click.option("--base", metavar="REV", help="Plan on top of this commit, as if it were rolled out.")
@click.option(
    "--clusters",
    type=click.Choice(("live", "simulated", "none")),
    default="live",
    metavar="WHOSE",
    help="Whose answers count: live, simulated, or none: each cluster counts as healthy and empty (default: live).",
)
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when there are changes.")
@options.what_if("Plan")
@options.branch
@options.connections
@options.cache_dir
@options.output("text", "json", "markdown")
def plan(
    repo: str,
    rev: str | None,
    base: str | None,
    clusters: str,
    detailed_exitcode: bool,
    without: tuple[str, ...],
    with_file: tuple[Path, ...],
    cordon: tuple[str, ...],
    branch: str | None,
    kubeconfig: Path | None,
    kubeconfig_dir: Path | None,
    allow_exec: tuple[str, ...],
    simulated_dir: Path | None,
    cache_dir: Path | None,
    output: str,
) -> int:
    """Show what a reconcile would do from the present state, with reasons and manifest diffs.

    Nothing is written, neither to git nor to a cluster.
    """
    from gitfleet import wiring
    from gitfleet.cli import plan_markdown, plan_text
    from gitfleet.views.plan_document import has_changes

    settings = options.settings_for(
        repo,
        cache_dir=cache_dir,
        kubeconfig=kubeconfig,
        kubeconfig_dir=kubeconfig_dir,
        allow_exec=allow_exec,
        simulated_dir=simulated_dir,
        branch=branch,
    )
    what_if = wiring.what_if_from(without, with_file, cordon)
    with wiring.open_workspace(settings, clusters=clusters) as workspace:
        document = workspace.plan(rev, base, what_if)
    match output:
        case "json":
            print_json(document)
        case "markdown":
            for line in plan_markdown.lines_of(document):
                show(line)
        case _:
            for line in plan_text.lines_of(document):
                show_wrapped(line, "      ")
    return 2 if detailed_exitcode and has_changes(document) else 0
