"""Everything that people want, read from one commit (and, where that commit has errors, from the last good version)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.freeze_files import FREEZES, Freeze, FreezeOverride, FreezeRules
from gitfleet.api.kinds import KINDS
from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.objects import GroupKind, Identity, Manifest
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.pins import PINS, Pin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import ROLLOUTS, WorkloadRollout
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.near_names import nearest
from gitfleet.model.approvals import ByRequest, by_request
from gitfleet.model.held_fields import HeldFields, HeldPlacement
from gitfleet.model.texts import ModelText

K = TypeVar("K")
V = TypeVar("V")
_DEFAULTS: Final = FleetConfig()
NAMES_NO_PLACEMENT: Final = ModelText.NAMES_PLACEMENT_NOT_REPO()
"""How the warnings begin of what is about no placement of a commit."""
_KIND_NAMES: Final = frozenset(name for _, name in (*KINDS, *BUILT_IN_KINDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanished:
    """An object that was in force at the observed commit and is not in this one.

    `path` is where it stood; `removed` says that no such file is there now, `ignored` is the line of the ignore rule
    that hides it (0: none). `moved` is where its bytes stand since this commit, unread, or where the object itself is
    written now `as_payload`, though it was one that gitfleet acts on ("": nowhere). `successor` is an object that came
    in its place, at `line` of that file or of the `other` one, under a name that differs as a typing error does, or any
    other cluster in the place of a cluster (None: none); `elsewhere` says that it has whatever other namespace instead,
    `replaced` that a generator of kustomize made it from new content. `unbuilt` says in half a sentence why kustomize
    yields it no more, where what it came from is still there.
    """

    path: str
    line: int = 1
    removed: bool = False
    ignored: int = 0
    moved: str = ""
    as_payload: bool = False
    successor: Identity | None = None
    other: str = ""
    elsewhere: bool = False
    replaced: bool = False
    unbuilt: str = ""


@dataclass(frozen=True, slots=True)
class Misread:
    """A placement that has an error in the file at `path`, with the selectors alone that can still be read of it; None
    where nobody can say what it selects. `objects` may be selected besides, and have an error themselves."""

    path: str
    placement: Placement | None
    objects: frozenset[Identity] = frozenset()


@dataclass(frozen=True, slots=True)
class MisnamedFile:
    """What a file has that is not read for its name, or what it had where it says nothing any more (`why`): the
    `placements` of new names, and the `objects` that are gone."""

    why: str
    placements: tuple[Placement, ...]
    objects: frozenset[Identity]


class _Listed(Generic[K, V]):
    """The values of one kind that people write, by their key: `listed_as` is its name in `Desired.objects`."""

    def __init__(self, listed_as: str) -> None:
        self._listed_as = listed_as

    def __get__(self, desired: Desired, _: type[Desired]) -> Mapping[K, V]:
        return desired.objects.get(self._listed_as, {})


@dataclass(frozen=True, kw_only=True)
class Desired:
    """The fleet as written at `commit`.

    `namespaced` says for every kind of the payload whether it is namespaced. `last_good` says, by path, which
    documents of which older versions of a file are used instead of faulty ones: the state branch keeps it, so that
    the next commits can hold them too.
    `holds_removals` is set when a file could not be read and had no last good version: then nothing that is missing
    from this commit counts as removed. `vanished` are the objects that were in force at the observed commit and are not
    here, by group, kind, namespace and name: they explain the commit and are no part of what it wants; `ignored` are
    the files of placed objects that an ignore rule hides, with the rule's line. `objects` are the
    values of every kind that people write, by what `get` lists
    them under (`Kind.listed_as`) and by their key. The properties are for the kinds that packages decide on.
    """

    commit: str
    objects: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    payload: tuple[Manifest, ...] = ()
    namespaced: Mapping[GroupKind, bool] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    holds_removals: bool = False
    vanished: Mapping[Identity, Vanished] = field(default_factory=dict, compare=False)
    ignored: Mapping[str, int] = field(default_factory=dict)
    misread: Mapping[PlacementKey, Misread] = field(default_factory=dict, compare=False)
    """The placements with an error: what they may select is deleted nowhere."""
    kept: Mapping[PlacementKey, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The placements that go on as they were accepted last, with the files whose errors are to be corrected."""
    kept_payload: Mapping[Identity, str] = field(default_factory=dict, compare=False)
    """The payload that goes on as it was accepted last, with the file whose error is to be corrected."""
    held_targets: Mapping[Identity, HeldFields] = field(default_factory=dict, compare=False)
    """The workloads of rollouts that have an error and never had a sound version: nothing is written to them."""
    held_placements: Mapping[PlacementKey, HeldPlacement] = field(default_factory=dict, compare=False)
    """Likewise the placements whose workloads such rollouts move from one snapshot to another."""
    unclear: tuple[Fault, ...] = field(default=(), compare=False)
    """The places of the commit that may say that something stays which it takes away: errors, and warnings of files
    that are out of sight."""
    misnamed: Mapping[str, MisnamedFile] = field(default_factory=dict, compare=False)
    """The files of ours that are not read for their name, or say nothing any more, by path."""
    read_again: frozenset[str] = field(default=frozenset(), compare=False)
    """The files that were out of sight when something was held for that, and are read again."""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The files and folders that kustomize's outputs were made of, by the folder whose objects they are."""

    taken_back: frozenset[str] = field(default=frozenset(), compare=False)
    """The commits that this one takes back: all that they changed is as it was, and it changes nothing else."""

    clusters = _Listed[str, MemberCluster]("clusters")
    """Member clusters by name."""
    placements = _Listed[PlacementKey, Placement]("placements")
    """Placements of both scopes."""
    overrides = _Listed[OverrideKey, Override]("overrides")
    """Overrides of both scopes."""
    strategies = _Listed[NamespacedName, StagedStrategy]("strategies")
    """Staged update strategies of both scopes."""
    runs = _Listed[NamespacedName, StagedRun]("runs")
    """Staged update runs of both scopes."""
    approvals = _Listed[NamespacedName, Approval]("approvals")
    """Approvals of both scopes."""
    evictions = _Listed[str, Eviction]("evictions")
    """Evictions by name."""
    quarantines = _Listed[str, Quarantine]("quarantines")
    """Quarantines by name."""
    pins = _Listed[str, Pin](PINS)
    """Pins by name; a placement has one at most."""
    budgets = _Listed[str, DisruptionBudget]("budgets")
    """Disruption budgets by name."""
    rollouts = _Listed[NamespacedName, WorkloadRollout](ROLLOUTS)
    """Workload rollouts by namespace and name."""
    metric_templates = _Listed[NamespacedName, MetricTemplate]("metrictemplates")
    """Metric templates by namespace and name."""

    @cached_property
    def approvals_by_request(self) -> ByRequest:
        """The approvals by the requests' names: each of many requests asks, in each pass."""
        return by_request(self.approvals.values())

    @property
    def config(self) -> FleetConfig:
        """The settings of the fleet, all defaults where none are written."""
        return next(iter(self.objects.get("fleetconfigs", {}).values()), _DEFAULTS)

    @property
    def freezes(self) -> FreezeRules:
        """The times in which nothing starts to move."""
        written = self.objects.get(FREEZES, {}).values()
        return FreezeRules(
            windows=self.config.freeze_windows,
            freezes=tuple(value for value in written if isinstance(value, Freeze)),
            overrides=tuple(value for value in written if isinstance(value, FreezeOverride)),
            unreadable=self._unreadable_freezes(),
        )

    def _unreadable_freezes(self) -> tuple[str, ...]:
        """The place of the first error of each."""
        places: dict[tuple[str, str], str] = {}
        for fault in self.faults:
            if self._hides_freeze(fault):
                places.setdefault((fault.path, fault.object), f"{fault.path}:{fault.line}")
        return tuple(dict.fromkeys(places.values()))

    def _hides_freeze(self, fault: Fault) -> bool:
        """Whether a fault may be all that is left of a Freeze, of which no last good version goes on: it is one's, of a
        kind that is nearly `Freeze`, or in their folder of what is no object of another known kind."""
        (kind, _, name), in_folder = fault.object.partition("/"), fault.path.startswith(f"{FREEZES}/")
        is_error = fault.severity is Severity.ERROR or (in_folder and fault.field == "kind")
        if not is_error or self._goes_on(fault):
            return False
        if kind in _KIND_NAMES:
            return kind == "Freeze" and (kind, name) not in self.objects.get(FREEZES, {})
        near = nearest(kind, _KIND_NAMES)
        return (near in (None, "Freeze") and in_folder) or (near == "Freeze" and fault.field == "kind")

    def _goes_on(self, fault: Fault) -> bool:
        """Whether what a fault is about has a last good version: one of its name, or any of its file where the fault
        gives no name."""
        name = fault.object.rpartition("/")[2]
        kept = {(good.blob, number) for good in self.last_good.get(fault.path, ()) for number in good.documents}
        if name == fault.object and (not name or nearest(name, _KIND_NAMES) is not None):
            return bool(kept)
        origins = (value.origin for (_, known), value in self.objects.get(FREEZES, {}).items() if known == name)
        return any(origin is not None and (origin.blob, origin.document) in kept for origin in origins)

    def faults_hiding(self, kind: str, key: NamespacedName, folder: str) -> Iterator[str]:
        """Where (path:line) the errors are that an object of this name may have, or a whole file of its folder."""
        for fault in self.faults:
            whole = not fault.object and fault.path.startswith(f"{folder}/")
            if fault.severity is Severity.ERROR and (whole or fault.object == f"{kind}/{key}"):
                yield f"{fault.path}:{fault.line}"
