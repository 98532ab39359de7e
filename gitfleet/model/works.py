"""Works: the exact manifests that one cluster is to have of one placement, in apply order."""

from __future__ import annotations

from dataclasses import dataclass

from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import ApplyStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """`error` is set when overrides could not be applied: then `manifests` is empty and nothing of the work may be
    synced,
    and nothing of it removed either (Overridden=False OverriddenFailed). `overridden` says whether any override
    applied."""

    placement: PlacementKey
    cluster: str
    generation: int
    snapshot: str
    manifests: tuple[Manifest, ...]
    apply_strategy: ApplyStrategy = ApplyStrategy()
    overridden: bool = False
    error: str | None = None
