"""The options of `run` that say where webhooks and metric queries of workload rollouts may go."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Final, cast

import click

from gitfleet.cli.options import F, collected, pairs, path, repeatable
from gitfleet.cli.texts import CliText
from gitfleet.formats.hosts import HostPattern, Origin
from gitfleet.settings import OutboundSettings, Settings

_OF_HOSTS: Final = "HOST=FILE or HOST:PORT=FILE, with http:// before HOST where the token may be sent in the clear"


def outbound_from(
    allow_webhooks: tuple[str, ...],
    allow_metrics: tuple[str, ...],
    outbound_secret: Path | None,
    outbound_ca: Path | None,
    metric_token: tuple[str, ...],
) -> OutboundSettings:
    """The options as settings; UsageError for what is no host, or as `pairs` has it."""
    return OutboundSettings(
        allowed_webhooks=tuple(_host_of("--allow-webhooks", text) for text in allow_webhooks),
        allowed_metrics=tuple(_host_of("--allow-metrics", text) for text in allow_metrics),
        secret_file=outbound_secret,
        metric_tokens=pairs("--metric-token", _OF_HOSTS, metric_token, Origin.parse, Path),
        ca_file=outbound_ca,
    )


def _host_of(option: str, text: str) -> HostPattern:
    try:
        return HostPattern.parse(text)
    except ValueError:
        raise click.UsageError(CliText.ALLOWED_HOST_NO_HOST(option=option, given=text)) from None


_collected = collected(
    "outbound",
    outbound_from,
    repeatable(
        "--allow-webhooks", metavar="HOST[:PORT]", text="A host that webhooks of rollouts may go to", otherwise="none"
    ),
    repeatable(
        "--allow-metrics",
        metavar="HOST[:PORT]",
        text="A host that metric queries of rollouts may go to",
        otherwise="none",
    ),
    path("--outbound-secret", metavar="FILE", text="The secret that webhooks of rollouts are signed with."),
    path("--outbound-ca", metavar="FILE", text="Authorities that count for them beside the machine's own."),
    repeatable(
        "--metric-token", metavar="HOST[:PORT]=FILE", text="The bearer token that metric queries to a host have"
    ),
)


def outbound_options(command: F) -> F:
    """The options, as part of the command's `settings`; to stand below what makes these."""

    @wraps(command)
    def call(settings: Settings, outbound: OutboundSettings, **arguments: Any) -> Any:
        return command(settings=replace(settings, outbound=outbound), **arguments)

    return _collected(cast(F, call))
