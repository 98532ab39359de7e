"""`gitfleet agent`: a member's own reconciler, which needs git and its own API server alone."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click

from gitfleet import __version__
from gitfleet.cli import options
from gitfleet.cli.agent_branches import deliveries, members
from gitfleet.cli.logs import log_format, logging_as
from gitfleet.cli.messages import say
from gitfleet.cli.signals import ending_gently
from gitfleet.cli.texts import CliText
from gitfleet.formats.git_names import is_branch
from gitfleet.formats.sentences import counted
from gitfleet.settings import AgentSettings, Settings

log = logging.getLogger(__name__)


def _agent_settings(signing_key: Path | None, **values: Any) -> AgentSettings:
    for option in ("deliveries", "members"):
        if not values[option].endswith("/") or not is_branch(f"{values[option]}{values['cluster']}"):
            raise click.UsageError(CliText.PREFIX_BEGINS_BRANCH_NAME_ENDS(option=option))
    return AgentSettings(signing_key_file=signing_key, **values)


chosen_agent = options.collected(
    "chosen",
    _agent_settings,
    click.option("--cluster", required=True, metavar="NAME", help="The MemberCluster that this is the agent of."),
    click.option("--context", metavar="NAME", help="The context of the kubeconfig (default: the pod's own cluster)."),
    click.option(
        "--interval",
        type=click.FloatRange(min=1),
        default=15.0,
        metavar="SECONDS",
        help="How often it looks at its branch (default: 15).",
    ),
    options.path("--signing-key", metavar="FILE", text="The SSH key that its reports are signed with."),
    deliveries,
    members,
)


@options.command(
    "gitfleet agent https://git.example.com/fleet.git --cluster shop-1",
    "gitfleet agent /srv/fleet.git --cluster shop-1 --context shop-1",
)
@chosen_agent
@click.option("--once", is_flag=True, help="One pass, then stop.")
@options.settings(
    options.repo,
    options.kubeconfig,
    options.allow_exec,
    options.exec_env,
    options.sops_age_key_file,
    options.cache_dir,
    options.listen_probes,
    of_state=False,
)
@log_format
def agent(once: bool, chosen: AgentSettings, settings: Settings, log_format: str) -> int:
    """Do on one cluster what its hub delivers by git, and report what the cluster has.

    It reads the branch gitfleet/deliver/NAME of REPO and replaces the commit of gitfleet/member/NAME: its
    credentials need no other right.
    """
    from gitfleet.wiring.agent import open_agent

    if settings.connections.kubeconfig is not None and chosen.context is None:
        raise click.UsageError(CliText.KUBECONFIG_KUBECONFIG_GOES_CONTEXT_NAME())

    secrets = filter(None, (settings.git_credentials.password,))
    with logging_as(log_format, secrets), open_agent(settings, chosen) as loop:
        if once:
            done = loop.once()
            outcome = "reported" if done.reported else CliText.NOTHING_NEW_REPORT()
            say(f"{outcome}; {counted(done.failed, 'operation')} failed" if done.failed else outcome)
            return 1 if done.failed else 0
        with ending_gently(loop.wake.stop) as ending:
            log.info(CliText.GITFLEET_AGENT_CTRL_C_SIGTERM(), __version__, chosen.cluster)
            loop.until_stopped()
        if ending.number:
            log.info("interrupted")
            return ending.exit_code(continuous=True)
    return 0
