"""`gitfleet evict`: the file that takes a placement off a cluster, once, committed to the config repo."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

import click

from gitfleet.cli import commits, options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.model.state import FleetState


@options.command(
    "gitfleet evict web eu-1 -C ssh://git.example.com/fleet", "gitfleet evict web eu-1 --branch drain-eu-1"
)
@click.argument("placement", metavar="PLACEMENT")
@click.argument("cluster", metavar="CLUSTER")
@commits.target
@commits.settings
def evict(placement: str, cluster: str, target: str | None, settings: Settings) -> None:
    """Evict a ClusterResourcePlacement from a cluster: commit a file below evictions/, as who git says you are.

    It is decided once, within the placement's ClusterResourcePlacementDisruptionBudget; `gitfleet get evictions` says
    what became of it. A protected branch takes it by a pull request: commit it to a branch with --branch.
    """
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.state import paths
    from gitfleet.views.evictions import eviction_text, free_name
    from gitfleet.wiring.hub import open_workspace

    with open_workspace(settings, clusters="none") as workspace:
        state = workspace.repository.load_state(workspace.state_head())
        _check(state, placement, cluster)
        taken = {*state.evictions, *workspace.desired_at(workspace.commit_of(None)).evictions}

        path_of = partial(paths.own_path, "evictions", "")

        def change(tree: Collection[str]) -> FilesChange:
            # An eviction is decided once, and its name is not used again.
            name = free_name(f"{placement}-{cluster}", lambda name: name in taken or path_of(name) in tree)
            path, text = path_of(name), eviction_text(name, placement, cluster)
            say(f"{path} evicts {placement} from {cluster}")
            return FilesChange(subject=f"Evict {placement} from {cluster}", write={path: text.encode()})

        commits.commit_files(workspace, settings, change, target)
    say(CliText.PICKED_AGAIN_ONCE(cluster=cluster, placement=placement))


def _check(state: FleetState, placement: str, cluster: str) -> None:
    """BadInput for an eviction that would be invalid as the state branch is now."""
    from gitfleet.api.placements import PlacementKey, PlacementType
    from gitfleet.views.explanation import no_placement

    if "/" in placement:
        raise BadInput(
            CliText.RESOURCEPLACEMENT_ONLY_PLACEMENT_EVICTED(placement=placement),
            hint=CliText.CHANGE_POLICY_ADD_TAINT_CLUSTER(),
        )
    record = state.placements.get(PlacementKey("", placement))
    if record is None:
        raise no_placement(placement, [str(key) for key in state.placements if not key.namespace])
    if record.placement.effective_policy.placement_type is PlacementType.PICK_FIXED:
        raise BadInput(
            CliText.PLACEMENTTYPE_PICKFIXED_CANNOT_EVICTED(placement=placement),
            hint=CliText.TAKE_OUT_SPEC_POLICY_CLUSTERNAMES(cluster=cluster),
        )
    if cluster not in {binding.cluster for binding in record.bindings}:
        raise BadInput(
            CliText.NOT_PLACED_CLUSTER(placement=placement, cluster=cluster),
            hint=CliText.GITFLEET_EXPLAIN_SAYS_WHERE(placement=placement),
        )
