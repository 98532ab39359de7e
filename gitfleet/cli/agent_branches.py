"""How the branches between a hub and the agents of its clusters begin, as options of `agent` and `bundle`."""

from __future__ import annotations

from typing import Final

import click

from gitfleet.api.fleet import Branches

_USUAL: Final = Branches()

deliveries = click.option(
    "--deliveries",
    metavar="PREFIX",
    default=_USUAL.deliveries,
    help=f"How the branches to agents begin, spec.branches.deliveries (default: {_USUAL.deliveries}).",
)
members = click.option(
    "--members",
    metavar="PREFIX",
    default=_USUAL.members,
    help=f"How the branches of agents begin, spec.branches.members (default: {_USUAL.members}).",
)
