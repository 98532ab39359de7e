"""The options of `run` that say which of several processes reconciles."""

from __future__ import annotations

import re
from typing import Final

import click

from gitfleet.cli.options import combined
from gitfleet.cli.texts import CliText
from gitfleet.settings import ElectionSettings, LeaseTerms

_NAME: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PLACE: Final = re.compile(rf"(?P<namespace>{_NAME})/(?P<name>{_NAME}(\.{_NAME})*)")


def election_settings(leader_election: str, lease_duration: int | None) -> ElectionSettings | None:
    """How to elect a leader, None for not at all; UsageError for what is no namespace and name,
    and for a duration of no lease."""
    terms = LeaseTerms() if lease_duration is None else LeaseTerms.of(lease_duration)
    if leader_election == "never":
        if lease_duration is not None:
            raise click.UsageError(CliText.LEASE_DURATION_GOES_LEASE())
        return None
    if leader_election == "auto":
        return ElectionSettings(terms=terms)
    found = _PLACE.fullmatch(leader_election)
    if found is None or len(found["name"]) > 253:
        raise click.UsageError(CliText.LEADER_ELECTION_NONE_AUTO(leader_election=leader_election))
    return ElectionSettings(place=(found["namespace"], found["name"]), terms=terms)


leader_election = combined(
    click.option(
        "--leader-election",
        default="auto",
        metavar="auto|never|NAMESPACE/NAME",
        help="The Lease by which one of several processes leads (default: auto, in a pod that may use Leases).",
    ),
    click.option(
        "--lease-duration",
        type=click.IntRange(3, 3600),
        metavar="SECONDS",
        help="After how long another one takes the place of a leader that is gone (default: 15).",
    ),
)
