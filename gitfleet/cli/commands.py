"""The list of commands, written by hand: one line a command, in the order in which people meet them.

A command's module is imported when it runs or shows its own help, so that `gitfleet --help` stays quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, NamedTuple

import click

from gitfleet.cli.texts import CliText
from gitfleet.formats.near_names import did_you_mean


class Listed(NamedTuple):
    """Where a command is, and what it does in a few words."""

    module: str
    short_help: str


COMMANDS: Final[Mapping[str, Listed]] = {
    "demo": Listed("demo", "Run the main job on simulated clusters and show the result."),
    "init": Listed("init", "Lay out a config repo that already works."),
    "validate": Listed("validate", "Show every error of a commit with path:line."),
    "plan": Listed("plan", "Show what a reconcile would do, and why."),
    "comment": Listed("comment", "Put a plan on a pull request of a forge."),
    "simulate": Listed("simulate", "Run a whole rollout in virtual time."),
    "run": Listed("run", "Reconcile: once, until settled, or continuously."),
    "agent": Listed("agent", "Reconcile one cluster from within, by git alone."),
    "get": Listed("get", "List placements, clusters, bindings, snapshots, ..."),
    "describe": Listed("get", "Show one object with its conditions."),
    "explain": Listed("explain", "Say why each cluster was picked, refused or waits."),
    "diff": Listed("diff", "Show what clusters have against what they are to have."),
    "approve": Listed("approve", "Let a held removal happen, or a stage of a run go on."),
    "reject": Listed("approve", "Keep a held removal held, or end a run at a stage."),
    "evict": Listed("evict", "Take a placement off a cluster, once."),
    "rollback": Listed("rollback", "Take a placement back to an older snapshot."),
    "pause": Listed("pause", "Let nothing of a workload rollout move."),
    "resume": Listed("pause", "Let a paused workload rollout go on."),
    "bundle": Listed("bundle", "Carry an agent's branches in files, where no link is."),
    "render": Listed("render", "Write each cluster's final manifests as files."),
    "schema": Listed("schema", "Print JSON Schemas for editors."),
}


class Commands(click.Group):
    """The group of all commands, each loaded when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None when there is none."""
        listed = COMMANDS.get(cmd_name)
        if listed is None:
            return None
        command: click.Command = getattr(import_module(f"gitfleet.cli.{listed.module}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; UsageError names the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = did_you_mean(args[0], COMMANDS, "`gitfleet --help` lists the commands")
            raise click.UsageError(CliText.NO_COMMAND(args=args[0], meant=meant), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list as `gitfleet --help` shows it, without loading a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.short_help) for name, listed in COMMANDS.items()])
