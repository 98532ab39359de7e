"""Freezes in force at one moment: on which clusters nothing starts to move, why, and until when (decision record
0018)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.freezes import FreezeRules, FreezeScope
from gitfleet.api.placements import PlacementKey
from gitfleet.formats import schedules
from gitfleet.model.rolling import FROZEN, Frozen


@dataclass(frozen=True, slots=True)
class _InForce:
    scope: FreezeScope
    frozen: Frozen


@dataclass(frozen=True, slots=True)
class Freezes:
    """The freezes in force at one moment."""

    found: tuple[_InForce, ...] = ()

    def of(
        self, key: PlacementKey, names: Iterable[str], clusters: Mapping[str, MemberCluster], stage: str = ""
    ) -> dict[str, Frozen]:
        """Those of the clusters on which nothing of a placement (of a stage of its runs) starts to move, each with the
        freeze that ends last."""
        concerned = [one for one in self.found if _concerns(one.scope, str(key), stage)]
        frozen: dict[str, Frozen] = {}
        for name in names if concerned else ():
            cluster = clusters.get(name)
            labels = cluster.labels if cluster is not None else {}
            every = [
                one.frozen for one in concerned if one.scope.clusters is None or one.scope.clusters.matches(labels)
            ]
            if every:
                frozen[name] = max(every, key=lambda one: one.until)
        return frozen


def freezes_at(rules: FreezeRules, now: datetime) -> Freezes:
    """The freezes in force at a moment."""
    found = []
    for window in rules.windows:
        end = schedules.end_at(window.schedule, window.time_zone, timedelta(seconds=window.duration), now)
        if end is not None:
            shown = schedules.time_in(end, window.time_zone)
            found.append(_InForce(window.scope, Frozen(f"{FROZEN}window {window.name} until {shown}", end)))
    return Freezes(tuple(found))


def _concerns(scope: FreezeScope, placement: str, stage: str) -> bool:
    def names(patterns: tuple[str, ...], name: str) -> bool:
        return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)

    return names(scope.placements, placement) and names(scope.stages, stage)
