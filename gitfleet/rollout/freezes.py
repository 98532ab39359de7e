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
from gitfleet.model.rolling import FROZEN, Frozen
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

    found: tuple[_InForce, ...] = ()
    notices: tuple[Fault, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why something waits, in each one's words."""
        return tuple(one.frozen.reason for one in self.found)

    def of(
        self, key: PlacementKey, names: Iterable[str], clusters: Mapping[str, MemberCluster], stage: str = ""
    ) -> dict[str, Frozen]:
        """Those of the clusters on which nothing of a placement (of a stage of its runs) starts to move, each with the
        freeze that ends last."""
        frozen: dict[str, Frozen] = {}
        for name in names if self.found else ():
            cluster = clusters.get(name)
            target = _Target(str(key), stage, cluster.scheduling_labels if cluster is not None else {})
            every = [
                one.frozen
                for one in self.found
                if target.is_in(one.scope) and not any(map(target.is_in, one.lifted_by))
            ]
            if every:
                frozen[name] = max(every, key=lambda one: one.end)
        return frozen


@dataclass(frozen=True, slots=True)
class _Target:
    placement: str
    stage: str
    labels: Mapping[str, str]

    def is_in(self, scope: FreezeScope) -> bool:
        """Whether all fields of a scope match."""
        return (
            _any_name(scope.placements, self.placement)
            and (not scope.stages or (bool(self.stage) and _any_name(scope.stages, self.stage)))
            and (scope.clusters is None or scope.clusters.matches(self.labels))
        )


def freezes_at(rules: FreezeRules, now: datetime) -> Freezes:
    """The freezes in force at a moment, less what overrides lift that have not expired."""
    overrides = [override for override in rules.overrides if now < override.expires]
    found = []
    for window in rules.windows:
        end = schedules.end_at(window.schedule, window.time_zone, timedelta(seconds=window.duration), now)
        if end is not None:
            why = Frozen(f"{FROZEN}window {window.name} until {schedules.time_in(end, window.time_zone)}", end)
            lifted = (o.scope for o in overrides if window.name in o.windows or not (o.windows or o.freezes))
            found.append(_InForce(window.scope, why, tuple(lifted)))
    for freeze in rules.freezes:
        if (freeze.start is None or freeze.start <= now) and now < freeze.until:
            until = f"until {moment_text(freeze.until)} ({freeze.owner}: {freeze.reason})"
            lifted = (o.scope for o in overrides if freeze.name in o.freezes or not (o.windows or o.freezes))
            found.append(_InForce(freeze.scope, Frozen(f"{FROZEN}{freeze.name} {until}", freeze.until), tuple(lifted)))
    for place in rules.unreadable:
        why = Frozen(RolloutText.FREEZE_CANNOT_READ(frozen=FROZEN, place=place), None)
        found.append(_InForce(FreezeScope(), why, tuple(o.scope for o in overrides if not (o.windows or o.freezes))))
    return Freezes(tuple(found), tuple(_notices(rules, now)))


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
            sentence = RolloutText.EXPIRED_COUNTS_NOTHING(end=moment_text(end))
            path, line = value.origin.path, value.origin.line
            yield Fault(path, line, f"{kind}/{value.name}", f"spec.{field}", sentence, Severity.WARNING)


def freezes_naming(rules: FreezeRules, now: datetime, was: PlacementKey, key: PlacementKey) -> str:
    """One that is not over, names a placement and not another one, as the beginning of a sentence; "" for none."""
    windows = ((f"freeze window {window.name}", window.scope) for window in rules.windows)
    dated = (one for one in rules.freezes if now < one.until)
    freezes = ((str(one.origin or f"Freeze {one.name}"), one.scope) for one in dated)
    for where, scope in (*windows, *freezes):
        if _any_name(scope.placements, str(was)) and not _any_name(scope.placements, str(key)):
            return where
    return ""


def _any_name(patterns: tuple[str, ...], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
