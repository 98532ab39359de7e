"""The whole tree: all readings become one Desired, and every fault holds the last good version in its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from gitfleet.desired.crosschecks import (
    Refusals,
    budget_warnings,
    config_refusals,
    override_refusals,
    scope_refusals,
    scopes_of,
    update_refusals,
)
from gitfleet.desired.gathering import Gathered, gather
from gitfleet.desired.readings import FileReading, Identity, ReadObject, Rollout, faults_at
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.request import DesiredRequest
from gitfleet.model.clusters import MemberCluster
from gitfleet.model.desired import Desired
from gitfleet.model.faults import Fault, Severity
from gitfleet.model.fleet import FleetConfig
from gitfleet.model.objects import GroupKind, Manifest, Origin
from gitfleet.model.overrides import Override
from gitfleet.model.placements import Placement
from gitfleet.model.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy

_T = TypeVar("_T")


@dataclass(slots=True)
class _Pool:
    """The objects that go on, and what was found on the way."""

    request: DesiredRequest
    recovery: Recovery
    chosen: dict[Identity, ReadObject] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    last_good: dict[str, str] = field(default_factory=dict)
    holds_removals: bool = False


def read_desired(request: DesiredRequest) -> Desired:
    """Everything that people want at the request's commit.

    Never raises on any content. A faulty object, file or edit is replaced by its last good version, sound objects go
    on, and every fault is told once, sorted by place.
    """
    gathered = gather(request)
    pool = _Pool(request, Recovery(request), faults=list(gathered.faults))
    for reading in gathered.readings.values():
        pool.faults += reading.faults
    _choose(pool, gathered)
    _recover(pool, gathered)
    _refuse(pool, update_refusals(pool.chosen.values(), request.accepted, pool.recovery))
    scopes = scopes_of(pool.chosen.values())
    # The versions that take the place of refused ones are checked as well; what still does not fit goes on without.
    for _ in range(2):
        refused = scope_refusals(pool.chosen.values(), scopes)
        refused += override_refusals(pool.chosen.values(), request.accepted.overrides.keys())
        if not refused:
            break
        _refuse(pool, refused)
    _refuse(pool, config_refusals(pool.chosen.values()))
    # Without its budget a placement could be evicted at will: one that means nothing stays and blocks evictions.
    useless = budget_warnings(pool.chosen.values())
    pool.faults += faults_at(useless, request.contents, Severity.WARNING)
    return _desired(pool, scopes)


def _choose(pool: _Pool, gathered: Gathered) -> None:
    """Every object once; of several with one identity, the one that was there before, or the first by path."""
    several: dict[Identity, list[ReadObject]] = {}
    for reading in gathered.readings.values():
        for item in reading.objects:
            first = pool.chosen.setdefault(item.identity, item)
            if first is not item:
                several.setdefault(item.identity, [first]).append(item)
    doubled: Refusals = []
    for identity, items in several.items():
        first, *others = _by_precedence(items, pool.recovery.known_path(identity))
        pool.chosen[identity] = first
        sentence = f"is defined a second time; {first.origin} already has it, remove one of the two"
        doubled += [(item, ((), sentence)) for item in others]
    pool.faults += faults_at(doubled, pool.request.contents)


def _by_precedence(items: list[ReadObject], known: str | None) -> list[ReadObject]:
    """An approval that says something before one that does not, then the path that is known, then the first path."""

    def rank(item: ReadObject) -> tuple[bool, bool, Origin]:
        undecided = isinstance(item.value, Approval) and not item.value.conditions
        return undecided, item.origin.path != known, item.origin

    return sorted(items, key=rank)


def _recover(pool: _Pool, gathered: Gathered) -> None:
    """Bring back what is missing because of faults within files, and what unreadable entries hide."""
    for path, reading in gathered.readings.items():
        for identity, _ in reading.faulty:
            _bring_back(pool, identity, path)
        if reading.unreadable:
            _bring_back_file(pool, path, reading)
    for path in gathered.closed:
        below = pool.recovery.below(path)
        if not below:
            _bring_back_vanished(pool)
        for known in below:
            _bring_back_file(pool, known, None)


def _bring_back_file(pool: _Pool, path: str, reading: FileReading | None) -> None:
    """All of a file's last good objects that stand nowhere in this commit: any may be what could not be read."""
    old = pool.recovery.file(path)
    blob = pool.recovery.blob(path)
    if old is None or blob is None:
        _bring_back_vanished(pool)
        return
    # What the last good version itself could not tell is not known either.
    pool.holds_removals = pool.holds_removals or old.unreadable
    pool.last_good[path] = blob
    refused = {identity for identity, _ in reading.faulty} if reading else set()
    for item in old.objects:
        if item.identity not in refused:
            pool.chosen.setdefault(item.identity, item)


def _bring_back_vanished(pool: _Pool) -> None:
    """Nothing is known of an unreadable entry: what vanished with this commit may have moved there, so it stays."""
    pool.holds_removals = True
    for path in sorted(set(pool.request.last_good) - set(pool.request.files) - set(pool.last_good)):
        old, blob = pool.recovery.file(path), pool.recovery.blob(path)
        if old is not None and blob is not None:
            pool.last_good[path] = blob
            for item in old.objects:
                pool.chosen.setdefault(item.identity, item)


def _bring_back(pool: _Pool, identity: Identity, path: str) -> None:
    """One object's last good version, unless another file of this commit defines it."""
    if identity in pool.chosen:
        return
    item = pool.recovery.object(identity, path)
    if item is not None:
        pool.chosen[identity] = item
        _hold(pool, path, item)
    elif pool.recovery.was_placed(identity):
        pool.holds_removals = True


def _hold(pool: _Pool, path: str, item: ReadObject) -> None:
    """Note whose blob stands in for a path, so that the next commits can hold it too."""
    blob = pool.recovery.blob(path) or item.origin.blob
    if blob:
        pool.last_good[path] = blob


def _refuse(pool: _Pool, refusals: Refusals) -> None:
    """Tell each fault, and put the object's last good version in its place, or nothing where there is none."""
    pool.faults += faults_at(refusals, pool.request.contents)
    for identity in {item.identity: None for item, _ in refusals}:
        refused = pool.chosen.pop(identity, None)
        if refused is None:
            continue
        kept = pool.recovery.object(identity, refused.origin.path)
        if kept is not None and kept.value != refused.value:
            pool.chosen[identity] = kept
            _hold(pool, refused.origin.path, kept)
        elif pool.recovery.was_placed(identity):
            pool.holds_removals = True


def _desired(pool: _Pool, scopes: dict[GroupKind, bool]) -> Desired:
    values = [pool.chosen[identity].value for identity in sorted(pool.chosen)]
    manifests = [value for value in values if isinstance(value, Manifest)]
    rollouts = sorted(_only(values, Rollout), key=lambda rollout: rollout.origin)
    configs = _only(values, FleetConfig)
    return Desired(
        commit=pool.request.commit,
        config=configs[0] if configs else FleetConfig(),
        clusters={value.name: value for value in _only(values, MemberCluster)},
        placements={value.key: value for value in _only(values, Placement)},
        overrides={value.key: value for value in _only(values, Override)},
        strategies={value.key: value for value in _only(values, StagedStrategy)},
        runs={value.key: value for value in _only(values, StagedRun)},
        approvals={value.key: value for value in _only(values, Approval)},
        evictions={value.name: value for value in _only(values, Eviction)},
        budgets={value.name: value for value in _only(values, DisruptionBudget)},
        rollouts=tuple((rollout.body, rollout.origin) for rollout in rollouts),
        payload=tuple(sorted(manifests, key=lambda manifest: manifest.origin)),
        namespaced=dict(sorted(scopes.items())),
        faults=tuple(sorted(set(pool.faults))),
        last_good=dict(sorted(pool.last_good.items())),
        holds_removals=pool.holds_removals,
    )


def _only(values: Iterable[object], kind: type[_T]) -> list[_T]:
    return [value for value in values if isinstance(value, kind)]
