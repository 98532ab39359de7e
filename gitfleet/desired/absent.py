"""Names of what is not in the repo, and variables that do not exist: allowed, as it may come later, and warned of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gitfleet.api import Break, Location
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.freeze_files import Freeze, FreezeOverride
from gitfleet.api.overrides import Override
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy, strategy_kind
from gitfleet.api.values import NamespacedName
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.hidden import Hidden
from gitfleet.desired.readings import ReadObject
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.near_names import did_you_mean
from gitfleet.model.state import FleetState

_VARIABLE: Final = re.compile(r"\$\{?\s*MEMBER[-_ ]?CLUSTER[^}\"]*\}?", re.IGNORECASE)
_CORRECT: Final = "correct it, or add it"
_REMOVE: Final = "correct it, or remove it"
_SOUND: Final = re.compile(r"\$\{MEMBER-CLUSTER-(NAME|LABEL-KEY-[A-Za-z0-9][-A-Za-z0-9_./]*)\}")

_RUN: Final = "ClusterStagedUpdateRun"
_NO_VARIABLE: Final = (
    "holds a variable that does not exist and goes out as it is written; write ${MEMBER-CLUSTER-NAME} or "
    "${MEMBER-CLUSTER-LABEL-KEY-<label key>}"
)


def absent_warnings(objects: Iterable[ReadObject], hidden: Hidden, accepted: FleetState) -> Refusals:
    """Objects that name what is not in the repo, and misspelt variables of overrides. Runs and evictions that are over
    by the `accepted` state are none, as what they name may be gone since."""
    items = list(objects)
    values = [item.value for item in items]
    there = _There(
        clusters={value.name for value in values if isinstance(value, MemberCluster)},
        placements={value.key for value in values if isinstance(value, Placement)},
        strategies={value.key: value for value in values if isinstance(value, StagedStrategy)},
        runs={value.key: value for value in values if isinstance(value, StagedRun)},
        windows={w.name for value in values if isinstance(value, FleetConfig) for w in value.freeze_windows},
        freezes={value.name for value in values if isinstance(value, Freeze)},
        hidden=hidden,
        accepted=accepted,
    )
    return [(item, note) for item in items for note in there.breaks_of(item.value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _There:
    """What the repo has, and what may be `hidden` in it by errors."""

    clusters: set[str]
    placements: set[PlacementKey]
    strategies: dict[NamespacedName, StagedStrategy]
    runs: dict[NamespacedName, StagedRun]
    windows: set[str]
    freezes: set[str]
    hidden: Hidden
    accepted: FleetState

    def breaks_of(self, value: object) -> Iterator[Break]:
        """What one object names that is not there."""
        match value:
            case Placement():
                for index, name in enumerate(value.effective_policy.cluster_names):
                    here = ("spec", "policy", "clusterNames", index)
                    yield from self._cluster(here, name, "nothing is placed there")
            case Override(placement=named):
                if named is not None:
                    key = PlacementKey(value.key.namespace if named.scope == "Namespaced" else "", named.name)
                    yield from self._placement(("spec", "placement", "name"), key, "nothing is overridden")
                yield from _misspelt_variables(value)
            case StagedRun():
                yield from self._of_run(value)
            case Eviction():
                yield from self._of_eviction(value)
            case DisruptionBudget():
                yield from self._placement(("metadata", "name"), PlacementKey("", value.name), "it limits nothing")
            case Quarantine() | Pin():
                yield from self._placement(("spec", "placement"), value.placement, "it is about nothing")
            case Approval():
                yield from self._of_approval(value)
            case FreezeOverride():
                if not self.hidden.has_some_of("FleetConfig"):
                    yield from _unknown("windows", value.windows, self.windows)
                freezes = [name for name in value.freezes if self.hidden.has_object("Freeze", name)]
                yield from _unknown("freezes", value.freezes, self.freezes.union(freezes))
            case _:
                return

    def _placement(self, here: Location, key: PlacementKey, so: str) -> Iterator[Break]:
        if key not in self.placements and not self.hidden.has_object(key.kind, key.name):
            names = (known.name for known in self.placements if known.namespace == key.namespace)
            hint = did_you_mean(key.name, names, _CORRECT)
            yield here, f"names a placement that is not in the repo, so {so}; {hint}"

    def _cluster(self, here: Location, name: str, so: str) -> Iterator[Break]:
        if name not in self.clusters and not self.hidden.has_object("MemberCluster", name):
            hint = did_you_mean(name, self.clusters, _CORRECT)
            yield here, f"names a cluster that is not in the repo, so {so}; {hint}"

    def _of_run(self, run: StagedRun) -> Iterator[Break]:
        known = self.accepted.runs.get(run.key)
        begun = known is not None and bool(known.status.stages)
        if known is None or not begun or not known.finished:
            so = "the run fails" if begun else "the run cannot begin"
            yield from self._placement(("spec", "placementName"), placement_of(run), so)
        strategy, kind = NamespacedName(run.key.namespace, run.strategy_name), strategy_kind(run.key.namespace)
        if not begun and strategy not in self.strategies and not self.hidden.has_object(kind, strategy.name):
            names = (other.name for other in self.strategies if other.namespace == strategy.namespace)
            hint = did_you_mean(strategy.name, names, _CORRECT)
            sentence = f"names a strategy that is not in the repo, so the run cannot begin; {hint}"
            yield ("spec", "stagedRolloutStrategyName"), sentence

    def _of_eviction(self, eviction: Eviction) -> Iterator[Break]:
        known = self.accepted.evictions.get(eviction.name)
        if known is None or known.executed is None:
            key = PlacementKey("", eviction.placement_name)
            yield from self._placement(("spec", "placementName"), key, "nothing is evicted")
            yield from self._cluster(("spec", "clusterName"), eviction.cluster_name, "nothing is evicted")

    def _of_approval(self, approval: Approval) -> Iterator[Break]:
        key, stage = NamespacedName(approval.key.namespace, approval.parent_run or ""), approval.target_stage
        if stage is None or self.hidden.has_object("StagedUpdateRun" if key.namespace else _RUN, key.name):
            return
        run = self.runs.get(key)
        if run is None:
            hint = did_you_mean(key.name, (one.name for one in self.runs if one.namespace == key.namespace), _REMOVE)
            sentence = f"names a run that is not in the repo, so it answers nothing; {hint}"
            yield ("spec", "parentStageRollout"), sentence
        elif (stages := self._stages(run)) and stage not in stages:
            hint = did_you_mean(stage, stages, _REMOVE)
            yield ("spec", "targetStage"), f"names a stage that the run does not have, so it answers nothing; {hint}"

    def _stages(self, run: StagedRun) -> set[str]:
        """Those that a run has, or will have; none where nobody knows."""
        known = self.accepted.runs.get(run.key)
        strategy = self.strategies.get(NamespacedName(run.key.namespace, run.strategy_name))
        begun = known.status.stages if known is not None else ()
        return {stage.name for stage in begun or (strategy.stages if strategy is not None else ())}


def _unknown(field: str, names: Iterable[str], known: set[str]) -> Iterator[Break]:
    for index, name in enumerate(names):
        if name not in known:
            yield ("spec", field, index), f"names nothing that there is; {did_you_mean(name, known, _REMOVE)}"


def _misspelt_variables(override: Override) -> Iterator[Break]:
    for index, rule in enumerate(override.rules):
        for number, patch in enumerate(rule.patches):
            text = canonical_json(patch.operand).decode() if patch.op != "remove" else ""
            if any(_SOUND.fullmatch(found[0]) is None for found in _VARIABLE.finditer(text)):
                here = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number, "value")
                yield here, _NO_VARIABLE
