"""`gitfleet run`: reconciles once, until nothing moves any more, or for as long as the pod lives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitfleet.cli import options
from gitfleet.cli.progress import Progress
from gitfleet.cli.talk import say
from gitfleet.errors import BadInput


def run(
    repo: options.Repo = ".",
    once: Annotated[bool, typer.Option("--once", help="One tick, then stop.")] = False,
    until_settled: Annotated[bool, typer.Option("--until-settled", help="Stop when nothing moves any more.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that --until-settled waits at most.")] = 600.0,
    state_dir: Annotated[
        Path | None, typer.Option("--state-dir", help="Write the state tree as plain files here instead of commits.")
    ] = None,
    branch: options.Branch = None,
    kubeconfig: options.Kubeconfig = None,
    kubeconfig_dir: options.KubeconfigDir = None,
    allow_exec: options.AllowExec = None,
    simulated_dir: options.SimulatedDir = None,
    cache_dir: options.CacheDir = None,
    output: options.Format = None,
) -> int:
    """Reconcile: read the repo, schedule, roll out, apply, and write status back to the state branch.

    Without --once or --until-settled it runs until it is told to stop (SIGTERM, Ctrl-C). Formats: -o text|jsonl.
    Example: gitfleet run https://git.example.com/fleet.git --kubeconfig members.kubeconfig
    """
    from gitfleet import wiring

    if once and until_settled:
        raise BadInput("--once and --until-settled exclude each other", hint="leave one of them out")
    settings = options.settings_for(
        repo,
        cache_dir=cache_dir,
        state_dir=state_dir,
        kubeconfig=kubeconfig,
        kubeconfig_dir=kubeconfig_dir,
        allow_exec=allow_exec,
        simulated_dir=simulated_dir,
        branch=branch,
    )
    progress = Progress(output)
    with wiring.open_workspace(settings) as workspace:
        runner = workspace.runner(progress.hear)
        if once:
            result = runner.once()
        elif until_settled:
            result = runner.until_settled(timeout)
        else:
            return runner.forever()
    for sentence in result.waiting:
        say(f"waiting: {sentence}")
    for fault in result.state.faults:
        say(f"fault: {fault}")
    if until_settled and not result.settled:
        raise BadInput(
            f"nothing was settled within {timeout:g} s: {(result.waiting or ('clusters are still moving',))[0]}",
            hint="look at `gitfleet get crp` and `gitfleet explain PLACEMENT`, or wait longer with --timeout",
        )
    return 0
