"""`gitfleet run`: reconciles once, until nothing moves any more, or for as long as the pod lives."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from gitfleet import __version__
from gitfleet.cli import options
from gitfleet.cli.logs import LoggedEvents, logging_as
from gitfleet.cli.messages import say, warn_some
from gitfleet.cli.outbound import outbound_options
from gitfleet.cli.progress import progress_for
from gitfleet.cli.signals import Ending, ending_gently
from gitfleet.cli.streams import outlive_stdout
from gitfleet.cli.texts import CliText
from gitfleet.cli.watched import Watched, listened
from gitfleet.cli.watched import watched as watched_options
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import counted
from gitfleet.model.events import Event, EventType
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.api.holds import Hold
    from gitfleet.loop.driver import Listener
    from gitfleet.loop.results import ReconcileResult
    from gitfleet.loop.workspace import Workspace

log = logging.getLogger(__name__)
_CALLS_SECONDS: Final = 60.0
"""So long --once waits for the answers to the calls of rollouts."""
_BUILDS_SECONDS: Final = 60.0
"""So long --once waits for folders that take long to build."""


@options.command(
    "gitfleet run --until-settled",
    "gitfleet run https://git.example.com/fleet.git --kubeconfig members",
    "gitfleet run --listen :8080 --log-format json",
)
@click.option("--once", is_flag=True, help="One reconcile, then stop.")
@click.option("--until-settled", is_flag=True, help="Stop when nothing moves any more.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="SECONDS",
    help="How long --until-settled waits at most (default: 600).",
)
@options.settings(
    options.repo,
    options.path("--state-dir", metavar="DIR", text="Write the state tree as plain files here instead of commits."),
    options.branch,
    options.approval_policy,
    options.forge,
    options.sops_age_key_file,
    options.connections,
    options.cache_dir,
    options.listen,
)
@outbound_options
@watched_options
@options.output("text", "jsonl", "json")
def run(once: bool, until_settled: bool, timeout: float, settings: Settings, watched: Watched, output: str) -> int:
    """Reconcile: read the repo, schedule, roll out, apply, and write status back to the state branch.

    Without --once or --until-settled it runs until SIGTERM or Ctrl-C. A local REPO's own git
    directory is the remote: its work tree is never touched.
    """
    if once and until_settled:
        raise click.UsageError(CliText.ONCE_UNTIL_SETTLED_EXCLUDE_EACH())
    continuous = not (once or until_settled)
    _refuse_contradictions(settings, watched, output, continuous=continuous)
    outlive_stdout()
    return _continuous(settings, watched, output) if continuous else _ending(settings, output, timeout, once=once)


def _refuse_contradictions(settings: Settings, watched: Watched, output: str, *, continuous: bool) -> None:
    if output == "json" and continuous:
        raise click.UsageError(CliText.O_JSON_ONE_DOCUMENT_NEEDS())
    if settings.forge is not None and settings.state_dir is not None:
        raise click.UsageError(CliText.FORGE_SHOWS_COMMITS())
    if not continuous and (settings.http is not None or not watched.is_default):
        raise click.UsageError(
            CliText.CONTINUOUS_RUN_NOT_ONCE_UNTIL(
                which="--listen, --notify, --leader-election, --executor and --log-format go"
            )
        )


def _ending(settings: Settings, output: str, timeout: float, *, once: bool) -> int:
    """Reconcile once, or until all is settled; the exit code."""
    from gitfleet.wiring.outbound import calling_out

    result: ReconcileResult | None = None
    with (
        _opened(settings) as (workspace, ending),
        calling_out(workspace, settings.outbound) as calls,
        progress_for(output, without=(EventType.FAULT,)) as progress,
    ):
        runner = workspace.runner(progress.on_event)
        result = runner.once() if once else runner.until_settled(timeout)
        slow = workspace.repository.desired_trees.slow_builds
        until = slow.clock.monotonic() + _BUILDS_SECONDS if once and slow is not None else 0.0
        while once and slow is not None and slow.wait(until - slow.clock.monotonic(), lambda: workspace.wake.stopped):
            result = runner.once()  # with the folders that took long to build
            if workspace.wake.stopped or slow.clock.monotonic() > until:
                break
        if once and calls.wait(_CALLS_SECONDS, lambda: workspace.wake.stopped) and not workspace.wake.stopped:
            result = runner.once()  # what rollouts asked for was answered: without this pass nobody would ever know
    if result is not None:
        show_result(result)
    if ending.number:
        say("interrupted")
        return ending.exit_code(continuous=False)
    if not once and result is not None:
        _report_unsettled(result, timeout)
    return 0


def _report_unsettled(result: ReconcileResult, timeout: float) -> None:
    """GitfleetError where something still waits when the time is over, or a rollout failed."""
    if result.frozen:
        say(CliText.ALL_WAITS_FROZEN_LONGER(timeout=timeout))
    elif not (result.settled or result.asks_only):
        raise _not_settled(result, timeout)
    if refusal := _refusal(result):
        raise BadInput(refusal, hint=CliText.GITFLEET_VALIDATE_LISTS_ALL())
    fail_with_rollouts(result)


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[Workspace, Ending]]:
    """The workspace of a run, which ends gently by a signal."""
    from gitfleet.wiring import hub
    from gitfleet.wiring.publishers import shown_on_forge

    with (
        hub.open_workspace(settings, decrypts=True) as workspace,
        shown_on_forge(workspace, settings),
        ending_gently(workspace.wake.stop) as ending,
    ):
        yield workspace, ending


def _show(shown: Sequence[Listener], event: Event) -> None:
    for show in shown:
        show(event)


def _continuous(settings: Settings, watched: Watched, output: str) -> int:
    """Reconcile until a signal ends it; the exit code. In a format with times, the log has the events, too."""
    from gitfleet.wiring.serving import watching_clusters

    tokens = (settings.git_credentials.password, settings.forge.token if settings.forge else None)
    secrets, log_format = tuple(filter(None, tokens)), watched.log_format
    with logging_as(log_format, secrets) as lines:
        with ExitStack() as stack:
            shown: list[Listener] = [] if log_format == "plain" else [LoggedEvents(lines).on_event]
            workspace, ending = stack.enter_context(_opened(settings))
            stack.enter_context(watching_clusters(workspace))
            workspace.pulse.listeners.append(lines.note_commit)
            if log_format == "plain" or output != "text":
                shown.append(stack.enter_context(progress_for(output)).on_event)
            listen = stack.enter_context(listened(workspace, settings, watched, secrets, partial(_show, shown)))
            does = "is reconciling" if workspace.wake.leads() else CliText.STARTS_RECONCILES_ONCE_LEADS()
            log.info(CliText.GITFLEET_CTRL_C_SIGTERM_ENDS(), __version__, does)
            workspace.runner(listen).until_stopped()
        if ending.number:
            log.info("interrupted")
    return ending.exit_code(continuous=True) if ending.number else 0


def fail_with_rollouts(result: ReconcileResult) -> None:
    """BadInput where the last run of a placement, or a workload rollout, failed."""
    from gitfleet.formats.sentences import more_than_first
    from gitfleet.views.runs import last_run_failures
    from gitfleet.views.workload_rollouts import rollout_failures

    failed = last_run_failures(result.state.runs.values(), result.state.placements)
    if failed:
        raise BadInput(f"{min(failed.values())}{more_than_first(failed)}", hint=CliText.GITFLEET_GET_RUNS_O_WIDE())
    if rollouts := rollout_failures(result.state.rollouts.values()):
        raise BadInput(f"{rollouts[0]}{more_than_first(rollouts)}", hint=CliText.GITFLEET_DESCRIBE_ROLLOUT_NAME_SAYS())


def _refusal(result: ReconcileResult) -> str:
    """Why the commit is refused as a whole, "" where it is not."""
    from gitfleet.api.faults import WHOLE_COMMIT

    return next((fault.message for fault in result.state.faults if fault.path == WHOLE_COMMIT), "")


def _not_settled(result: ReconcileResult, timeout: float) -> BadInput:
    waiting = (*result.waiting, *result.asks, CliText.CLUSTERS_STILL_MOVING())[0]
    return BadInput(
        CliText.NOTHING_SETTLED_WITHIN(timeout=timeout, waiting=waiting), hint=CliText.SEE_GITFLEET_GET_CRP_GITFLEET()
    )


def _answerable(hold: Hold) -> str:
    """What a hold waits for."""
    from gitfleet.views.holds import held_line

    if hold.answer is not None:
        return CliText.HOLD_REJECTED(line=held_line(hold))
    return CliText.HOLD_TO_APPROVE(line=held_line(hold), hold=hold.name)


def show_result(result: ReconcileResult) -> None:
    """What a person should know when a run ends: clusters that do not answer, what is waiting, what has errors."""
    from gitfleet.api.faults import Severity, by_cause
    from gitfleet.status import ClusterState, cluster_state, health_condition

    unreachable = []
    for name, cluster in sorted(result.state.clusters.items()):
        word, condition = cluster_state(cluster), health_condition(cluster)
        if word is not ClusterState.HEALTHY:
            unreachable.append(f"{name} is {word}" + (f": {condition.message}" if condition else ""))
    warn_some("cluster", unreachable, CliText.GITFLEET_GET_CLUSTERS_LISTS_ALL())
    waiting = [*result.asks, *result.waiting]
    warn_some("waiting", waiting, CliText.GITFLEET_EXPLAIN_PLACEMENT_SAYS_EACH())
    held = [_answerable(hold) for hold in result.state.held.values()]
    warn_some("held", held, CliText.GITFLEET_GET_HOLDS_LISTS_ALL())
    for severity in Severity:
        faults = by_cause(fault for fault in result.state.faults if fault.severity is severity)
        warn_some(severity.value, [*map(str, faults)], CliText.GITFLEET_VALIDATE_LISTS_ALL())
    if result.settled and not _refusal(result):
        bound = sum(len(record.bindings) for record in result.state.placements.values())
        say(
            CliText.SETTLED_COMMIT_PLACEMENTS(
                commit=result.commit[:12],
                placements=counted(len(result.state.placements), "placement"),
                bindings=counted(bound, "binding"),
            )
        )
