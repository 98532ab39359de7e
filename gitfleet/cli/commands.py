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
    "demo": Listed("demo", CliText.RUN_MAIN_JOB_SIMULATED_CLUSTERS()),
    "init": Listed("init", CliText.LAY_OUT_CONFIG_REPO_ALREADY()),
    "validate": Listed("validate", CliText.SHOW_EVERY_ERROR_COMMIT_PATH()),
    "plan": Listed("plan", CliText.SHOW_RECONCILE_WOULD()),
    "comment": Listed("comment", CliText.PUT_PLAN_PULL_REQUEST_FORGE()),
    "simulate": Listed("simulate", CliText.RUN_WHOLE_ROLLOUT_VIRTUAL_TIME()),
    "run": Listed("run", CliText.RECONCILE_ONCE_UNTIL_SETTLED()),
    "agent": Listed("agent", CliText.RECONCILE_ONE_CLUSTER_FROM_WITHIN()),
    "get": Listed("get", CliText.LIST_PLACEMENTS_CLUSTERS()),
    "describe": Listed("get", CliText.SHOW_ONE_OBJECT_CONDITIONS()),
    "explain": Listed("explain", CliText.SAY_WHY_EACH_CLUSTER_PICKED()),
    "diff": Listed("diff", CliText.SHOW_CLUSTERS_AGAINST()),
    "approve": Listed("approve", CliText.LET_HELD_REMOVAL_HAPPEN()),
    "reject": Listed("approve", CliText.KEEP_HELD_REMOVAL_HELD()),
    "evict": Listed("evict", CliText.TAKE_PLACEMENT_OFF_CLUSTER()),
    "rollback": Listed("rollback", CliText.TAKE_PLACEMENT_BACK_OLDER_SNAPSHOT()),
    "pause": Listed("pause", CliText.LET_NOTHING_WORKLOAD_ROLLOUT_MOVE()),
    "resume": Listed("pause", CliText.LET_PAUSED_WORKLOAD_ROLLOUT_GO()),
    "bundle": Listed("bundle", CliText.CARRY_AGENT_BRANCHES_FILES()),
    "render": Listed("render", CliText.WRITE_EACH_CLUSTER_FINAL_MANIFESTS()),
    "schema": Listed("schema", CliText.PRINT_JSON_SCHEMAS_EDITORS()),
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
            meant = did_you_mean(args[0], COMMANDS, CliText.GITFLEET_HELP_LISTS_COMMANDS())
            raise click.UsageError(CliText.NO_COMMAND(args=args[0], meant=meant), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list as `gitfleet --help` shows it, without loading a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.short_help) for name, listed in COMMANDS.items()])
