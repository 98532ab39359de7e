"""Everything that people want, read from one commit (and, where that commit has errors, from the last good version)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import Folder
from gitfleet.api.freeze_files import FREEZES, Freeze, FreezeOverride, FreezeRules
from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.pins import PINS, Pin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import ROLLOUTS, WorkloadRollout
from gitfleet.model.approvals import ByRequest, by_request

K = TypeVar("K")
V = TypeVar("V")
_DEFAULTS: Final = FleetConfig()


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
    `objects` are the values of every kind that people write, by what `get` lists them under (`Kind.listed_as`) and by
    their key. The properties are for the kinds that packages decide on. `refused`: the commit is refused as a whole and
    no earlier one can be read, so that all goes on as it is.
    """

    commit: str
    objects: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    payload: tuple[Manifest, ...] = ()
    namespaced: Mapping[GroupKind, bool] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    refused: bool = False
    retained: Mapping[PlacementKey, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The placements that go on as they were accepted last, with the files whose errors are to be corrected."""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The files and folders that kustomize's outputs were made of, by the folder whose objects they are."""
    blobs: Collection[str] = field(default=frozenset(), compare=False)
    """The blobs of all files of the commit, those included that are not read."""

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
    folders = _Listed[str, Folder]("folders")
    """Folders of the payload by name."""
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
        )

    def faults_hiding(self, kind: str, key: NamespacedName, folder: str) -> Iterator[str]:
        """Where (path:line) the errors are that an object of this name may have, or a whole file of its folder."""
        for fault in self.faults:
            whole = not fault.object and fault.path.startswith(f"{folder}/")
            if fault.severity is Severity.ERROR and (whole or fault.object == f"{kind}/{key}"):
                yield f"{fault.path}:{fault.line}"
