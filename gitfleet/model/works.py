"""Works: the exact manifests that one cluster is to have of one placement, in apply order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import ApplyStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """`error` is set when the manifests could not be made: then there are none, nothing of the work may be synced, and
    nothing of it removed either. The reason is an override (Overridden=False OverriddenFailed), or an envelope where
    the work is not `unwrapped` (WorkSynchronized=False SyncWorkFailed). `overridden` says whether any override applied;
    `deleted` are the objects that overrides leave out, by identity, each with the override.
    """

    placement: PlacementKey
    cluster: str
    generation: int
    snapshot: str
    manifests: tuple[Manifest, ...]
    apply_strategy: ApplyStrategy = ApplyStrategy()
    overridden: bool = False
    error: str | None = None
    unwrapped: bool = True
    deleted: Mapping[Identity, OverrideKey] = field(default_factory=dict)


def manifests_on(works: Mapping[str, tuple[Work, ...]], cluster: str) -> Iterator[Manifest]:
    """What a cluster is to have of all placements."""
    return (manifest for work in works.get(cluster, ()) for manifest in work.manifests)
