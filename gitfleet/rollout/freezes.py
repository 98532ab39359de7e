"""Freezes in force at one moment: on which clusters nothing starts to move, why, and until when (decision record
0018)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.placements import PlacementKey
from gitfleet.formats import schedules
from gitfleet.formats.times import moment_text
from gitfleet.model.rolling import FreezeWait, Frozen
from gitfleet.rollout.texts import RolloutText


@dataclass(frozen=True, slots=True)
class _InForce:
    """`lifted_by` are the scopes for which it is lifted."""

    scope: FreezeScope
    frozen: Frozen
    lifted_by: tuple[FreezeScope, ...]


@dataclass(frozen=True, slots=True)
class Freezes:
    """The freezes in force at one moment. `notices` are warnings of those that have expired."""

    in_force: tuple[_InForce, ...] = ()
    notices: tuple[Fault, ...] = ()

    def of(
        self, key: PlacementKey, names: Iterable[str], clusters: Mapping[str, MemberCluster], stage: str = ""
    ) -> dict[str, Frozen]:
        """Those of the clusters on which nothing of a placement (of a stage of its runs) starts to move, each with the
        freeze that ends last."""
        frozen: dict[str, Frozen] = {}
        for name in names if self.in_force else ():
            cluster = clusters.get(name)
            target = _Target(str(key), stage, cluster.scheduling_labels if cluster is not None else {})
            applicable = [
                freeze.frozen
                for freeze in self.in_force
                if target.is_in(freeze.scope) and not any(map(target.is_in, freeze.lifted_by))
            ]
            if applicable:
                frozen[name] = max(applicable, key=lambda freeze: freeze.end)
        return frozen


@dataclass(frozen=True, slots=True)
class _Target:
    placement: str
    stage: str
    labels: Mapping[str, str]

    def is_in(self, scope: FreezeScope) -> bool:
        """Whether all fields of a scope match."""
        return (
            scope.has(self.placement)
            and (not scope.stages or any(self.stage and fnmatchcase(self.stage, pattern) for pattern in scope.stages))
            and (scope.clusters is None or scope.clusters.matches(self.labels))
        )


def freezes_at(rules: FreezeRules, now: datetime) -> Freezes:
    """The freezes in force at a moment, less what overrides lift that have not expired."""
    overrides = [override for override in rules.overrides if now < override.expires]
    in_force = []
    for window in rules.windows:
        end = schedules.end_at(window.schedule, window.time_zone, timedelta(seconds=window.duration), now)
        if end is not None:
            until = schedules.time_in(end, window.time_zone)
            why = Frozen(FreezeWait(f"frozen by window {window.name} until {until}"), end)
            lifted = (o.scope for o in overrides if window.name in o.windows or not (o.windows or o.freezes))
            in_force.append(_InForce(window.scope, why, tuple(lifted)))
    for freeze in rules.freezes:
        if (freeze.start is None or freeze.start <= now) and now < freeze.until:
            until = f"until {moment_text(freeze.until)} ({freeze.owner}: {freeze.reason})"
            lifted = (o.scope for o in overrides if freeze.name in o.freezes or not (o.windows or o.freezes))
            why = Frozen(FreezeWait(f"frozen by {freeze.name} {until}"), freeze.until)
            in_force.append(_InForce(freeze.scope, why, tuple(lifted)))
    return Freezes(tuple(in_force), tuple(_notices(rules, now)))


def next_expiry(rules: FreezeRules, now: datetime) -> datetime | None:
    """When the next Freeze or FreezeOverride expires, None where none does: there is a notice of it from then on."""
    ends = (*(freeze.until for freeze in rules.freezes), *(override.expires for override in rules.overrides))
    return min((end for end in ends if end > now), default=None)


def _notices(rules: FreezeRules, now: datetime) -> Iterator[Fault]:
    over: list[tuple[str, Freeze | FreezeOverride, str, datetime]] = [
        *(("Freeze", freeze, "until", freeze.until) for freeze in rules.freezes),
        *(("FreezeOverride", override, "expires", override.expires) for override in rules.overrides),
    ]
    for kind, value, field, end in over:
        if end <= now and value.origin is not None:
            sentence = RolloutText.EXPIRED_COUNTS_NOTHING.coded(end=moment_text(end))
            path, line = value.origin.path, value.origin.line
            yield Fault(path, line, f"{kind}/{value.name}", f"spec.{field}", sentence, Severity.WARNING)
