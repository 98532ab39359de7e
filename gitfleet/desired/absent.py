"""Names of what is not in the repo, and variables that do not exist: allowed, as it may come later, and warned of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
from gitfleet.api.workload_rollouts import AppRollout
from gitfleet.desired.present import Present
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.desired import NAMES_NO_PLACEMENT

_VARIABLE: Final = re.compile(r"\$\{?\s*MEMBER[-_ ]?CLUSTER[^}\"]*\}?", re.IGNORECASE)
_CORRECT: Final = DesiredText.CORRECT_ADD()
_REMOVE: Final = DesiredText.CORRECT_REMOVE()
_SOUND: Final = re.compile(
    r"\$\{MEMBER-CLUSTER-(NAME|(LABEL-KEY|ANNOTATION-KEY|PROPERTY)-[A-Za-z0-9][-A-Za-z0-9_./]*)\}"
)

_RUN: Final = "ClusterStagedUpdateRun"
_NO_VARIABLE: Final = DesiredText.HOLDS_VARIABLE_NOT_EXIST_GOES()


def absent_notes(value: object, present: Present) -> Iterator[Break]:
    """What an object names that is not in the repo, and misspelt variables of overrides. Runs and evictions that are
    over by the accepted state are none, as what they name may be gone since."""
    match value:
        case Placement():
            yield from _of_placement(value, present)
        case Override():
            yield from _of_override(value, present)
        case StagedRun():
            yield from _of_run(value, present)
        case Eviction():
            yield from _of_eviction(value, present)
        case DisruptionBudget():
            yield from _placement(
                ("metadata", "name"), PlacementKey("", value.name), DesiredText.LIMITS_NOTHING(), present
            )
        case AppRollout():
            yield from _placement(
                ("spec", "placementRef", "name"), value.placement, DesiredText.NOTHING_ROLLED_OUT(), present
            )
        case Quarantine() | Pin():
            yield from _placement(("spec", "placement"), value.placement, DesiredText.ABOUT_NOTHING(), present)
        case Approval():
            yield from _of_approval(value, present)
        case FreezeOverride():
            yield from _of_freeze_override(value, present)
        case _:
            return


def _placement(here: Location, key: PlacementKey, so: str, present: Present) -> Iterator[Break]:
    known = present.named(Placement, key.namespace)
    if key.name not in known and not present.hidden.has_object(key.kind, key.name):
        hint = present.meant(key.name, known, _CORRECT)
        yield here, f"{NAMES_NO_PLACEMENT}, so {so}; {hint}"


def _cluster(here: Location, name: str, so: str, present: Present) -> Iterator[Break]:
    known = present.named(MemberCluster)
    if name not in known and not present.hidden.has_object("MemberCluster", name):
        hint = present.meant(name, known, _CORRECT)
        yield here, DesiredText.NAMES_CLUSTER_NOT_REPO(so=so, hint=hint)


def _of_placement(placement: Placement, present: Present) -> Iterator[Break]:
    for index, name in enumerate(placement.effective_policy.cluster_names):
        here = ("spec", "policy", "clusterNames", index)
        yield from _cluster(here, name, DesiredText.NOTHING_PLACED(), present)


def _of_override(override: Override, present: Present) -> Iterator[Break]:
    if (named := override.placement) is not None:
        key = PlacementKey(override.key.namespace if named.scope == "Namespaced" else "", named.name)
        yield from _placement(("spec", "placement", "name"), key, DesiredText.NOTHING_OVERRIDDEN(), present)
    yield from _misspelt_variables(override)


def _of_freeze_override(override: FreezeOverride, present: Present) -> Iterator[Break]:
    if not present.hidden.has_some_of("FleetConfig"):
        windows = {w.name for config in present.named(FleetConfig).values() for w in config.freeze_windows}
        yield from _unknown("windows", override.windows, windows, present)
    freezes = [name for name in override.freezes if present.hidden.has_object("Freeze", name)]
    yield from _unknown("freezes", override.freezes, {*present.named(Freeze), *freezes}, present)


def _of_run(run: StagedRun, present: Present) -> Iterator[Break]:
    known = present.accepted.runs.get(run.key)
    begun = known is not None and bool(known.status.stages)
    if known is None or not begun or not known.finished:
        so = DesiredText.RUN_FAILS() if begun else DesiredText.RUN_CANNOT_BEGIN()
        yield from _placement(("spec", "placementName"), placement_of(run), so, present)
    name, strategies = run.strategy_name, present.named(StagedStrategy, run.key.namespace)
    if not begun and name not in strategies and not present.hidden.has_object(strategy_kind(run.key.namespace), name):
        hint = present.meant(name, strategies, _CORRECT)
        sentence = DesiredText.NAMES_STRATEGY_NOT_REPO(hint=hint)
        yield ("spec", "stagedRolloutStrategyName"), sentence


def _of_eviction(eviction: Eviction, present: Present) -> Iterator[Break]:
    known = present.accepted.evictions.get(eviction.name)
    if known is None or known.executed is None:
        key = PlacementKey("", eviction.placement_name)
        yield from _placement(("spec", "placementName"), key, DesiredText.NOTHING_EVICTED(), present)
        yield from _cluster(("spec", "clusterName"), eviction.cluster_name, DesiredText.NOTHING_EVICTED(), present)


def _of_approval(approval: Approval, present: Present) -> Iterator[Break]:
    key, stage = NamespacedName(approval.key.namespace, approval.parent_run or ""), approval.target_stage
    if stage is None or present.hidden.has_object("StagedUpdateRun" if key.namespace else _RUN, key.name):
        return
    runs = present.named(StagedRun, key.namespace)
    if (run := runs.get(key.name)) is None:
        hint = present.meant(key.name, runs, _REMOVE)
        sentence = DesiredText.NAMES_RUN_NOT_REPO(hint=hint)
        yield ("spec", "parentStageRollout"), sentence
    elif (stages := _stages(run, present)) and stage not in stages:
        hint = present.meant(stage, stages, _REMOVE)
        yield ("spec", "targetStage"), DesiredText.NAMES_STAGE_RUN_NOT(hint=hint)


def _stages(run: StagedRun, present: Present) -> set[str]:
    """Those that a run has, or will have; none where nobody knows."""
    known = present.accepted.runs.get(run.key)
    strategy = present.named(StagedStrategy, run.key.namespace).get(run.strategy_name)
    begun = known.status.stages if known is not None else ()
    return {stage.name for stage in begun or (strategy.stages if strategy is not None else ())}


def _unknown(field: str, names: Iterable[str], known: set[str], present: Present) -> Iterator[Break]:
    for index, name in enumerate(names):
        if name not in known:
            yield ("spec", field, index), DesiredText.NAMES_NOTHING(meant=present.meant(name, known, _REMOVE))


def _misspelt_variables(override: Override) -> Iterator[Break]:
    for index, rule in enumerate(override.rules):
        for number, patch in enumerate(rule.patches):
            text = canonical_json(patch.operand).decode() if patch.op != "remove" else ""
            if any(_SOUND.fullmatch(found[0]) is None for found in _VARIABLE.finditer(text)):
                here = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number, "value")
                yield here, _NO_VARIABLE
