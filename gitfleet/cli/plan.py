"""`gitfleet plan`: what a reconcile would do, with reasons; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass

import click

from gitfleet.cli import options
from gitfleet.cli.fail_on import DEFAULT, Condition, read_conditions
from gitfleet.cli.messages import say
from gitfleet.cli.output import print_json, show, show_wrapped
from gitfleet.cli.texts import CliText
from gitfleet.settings import Settings, WhatIfOptions

EXIT_FAILED = 1
"""A condition of --fail-on is met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What is planned, against which clusters, and how the exit code says so."""

    rev: str | None
    base: str | None
    clusters: str | None
    detailed_exitcode: bool
    fail_on: tuple[Condition, ...]
    work_tree: bool


def _conditions(_: click.Context, __: click.Parameter, text: str) -> tuple[Condition, ...]:
    try:
        return read_conditions(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@options.command(
    "gitfleet plan --clusters simulated",
    "gitfleet plan . --rev my-change --base main -o markdown",
    'gitfleet plan --rev my-change --fail-on "errors,held,delete>30%"',
    "gitfleet plan --without eu-1 --with new-clusters.yaml",
)
@options.collected(
    "request",
    PlanOptions,
    options.rev,
    click.option(
        "--base", metavar="REV", help="Plan on top of this commit, rolled out and available on every cluster."
    ),
    click.option(
        "--clusters",
        type=click.Choice(("live", "simulated", "none")),
        metavar="WHICH",
        help="The clusters to observe: live, simulated, or none: each has what was recorded (default: live;"
        " none with --base).",
    ),
    click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when there are changes."),
    click.option(
        "--fail-on",
        default=DEFAULT,
        metavar="CONDITIONS",
        callback=_conditions,
        help="Exit with 1 on any of these: errors, unreachable, held, delete, delete>10, delete>30%, ... or none"
        f" (default: {DEFAULT}).",
    ),
    click.option("--work-tree", is_flag=True, help="Plan the files of the work tree as they are, not a commit."),
)
@options.what_if("Plan")
@options.reading(options.repo, options.branch, options.connections, options.cache_dir)
@options.output("text", "json", "markdown")
def plan(request: PlanOptions, what_if: WhatIfOptions, settings: Settings, output: str) -> int:
    """Show what a reconcile would do from the present state, with reasons and manifest diffs.

    Nothing is written, neither to git nor to a cluster. The present state is that of the state branch, or of a clone's
    remote-tracking branch. Without one the fleet is empty, unless --base says what is rolled out.
    """
    from gitfleet.cli import plan_text, work_trees
    from gitfleet.views.plan_document import has_changes
    from gitfleet.wiring import hub

    files = work_trees.files_of(settings, request.rev, request.work_tree)
    planned = files if request.work_tree else None
    if request.base is not None and request.clusters not in (None, "none"):
        raise click.UsageError(CliText.BASE_ASKS_NO_CLUSTER(clusters=request.clusters))
    clusters = request.clusters or ("live" if request.base is None else "none")
    with hub.open_workspace(settings, clusters=clusters, work_tree=planned) as workspace:
        rev = hub.commit_id_of(planned) if planned else request.rev
        document = workspace.plan(rev, request.base, hub.what_if_from(what_if))
    if files is not None:
        document["commit"] = files.head if request.work_tree else document["commit"]
        document["workTree"] = {"planned": request.work_tree, "changed": list(files.changed)}
    match output:
        case "json":
            print_json(document)
        case "markdown":
            for line in plan_text.markdown_lines(document):
                show(line)
        case _:
            for line in plan_text.lines_of(document):
                show_wrapped(line, "      ")
    met = [(condition, sentence) for condition in request.fail_on if (sentence := condition.met(document))]
    for condition, sentence in met:
        say(CliText.PLAN_FAILS(condition=condition, sentence=sentence))
    if met:
        return EXIT_FAILED
    return 2 if request.detailed_exitcode and has_changes(document) else 0
