"""References to objects that are not in the repo. They are allowed, since the objects may come later; only a cluster
that a placement names must be there. A name that resembles another one is a hint, nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final

from gitfleet.api import Break, Location
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import FOLDER, Folder
from gitfleet.api.freeze_files import Freeze, FreezeOverride
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.labels import LabelSelector
from gitfleet.api.overrides import Override
from gitfleet.api.pins import Pin
from gitfleet.api.placements import RENAMED_FROM, Placement, PlacementKey, SelectionScope
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy
from gitfleet.api.workload_rollouts import AppRollout
from gitfleet.desired.checks.commit import Commit, Refusal, any_matches, noted
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.kinds import is_selectable
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.folder_order import cycle_of

_VARIABLE: Final = re.compile(r"\$\{?\s*MEMBER[-_ ]?CLUSTER[^}\"]*\}?", re.IGNORECASE)
_SOUND: Final = re.compile(
    r"\$\{MEMBER-CLUSTER-(NAME|(LABEL-KEY|ANNOTATION-KEY|PROPERTY)-[A-Za-z0-9][-A-Za-z0-9_./]*)\}"
)
_CORRECT: Final = DesiredText.CORRECT_ADD()
_REMOVE: Final = DesiredText.CORRECT_REMOVE()
_WORDS: Final = {
    Folder: "Folder", MemberCluster: "cluster", Placement: "placement", StagedRun: "run", StagedStrategy: "strategy",
}  # fmt: skip
_NO_VARIABLE: Final = DesiredText.HOLDS_VARIABLE_NOT_EXIST_GOES()
_AFFINITY: Final = ("spec", "policy", "affinity", "clusterAffinity")
_REQUIRED: Final = (*_AFFINITY, "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms")
_PREFERRED: Final = (*_AFFINITY, "preferredDuringSchedulingIgnoredDuringExecution")


def missing_clusters(commit: Commit) -> Iterator[Refusal]:
    """Refuse placements that name a cluster that the fleet does not have."""
    for item, placement in commit.of(Placement):
        for index, name in enumerate(placement.effective_policy.cluster_names):
            location = ("spec", "policy", "clusterNames", index)
            yield from noted(item, _missing(location, MemberCluster, name, commit))


def reference_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of references and selectors without a match."""
    for kind, rule in _RULES.items():
        value: Any
        for item, value in commit.of(kind):
            yield from noted(item, rule(value, commit))


def _of_placement(placement: Placement, commit: Commit) -> Iterator[Break]:
    yield from _resources(placement, commit)
    affinity = placement.effective_policy.affinity
    yield from _terms(affinity.required, _REQUIRED, (), commit)
    yield from _terms([term.preference for term in affinity.preferred], _PREFERRED, ("preference",), commit)


def _resources(placement: Placement, commit: Commit) -> Iterator[Break]:
    within = SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
    homes = (selector.name or "" for selector in placement.selectors if selector.selection_scope is within)
    home = placement.key.namespace or next(homes, "")
    for index, selector in enumerate(placement.selectors):
        location, place = ("spec", "resourceSelectors", index), (selector.group, selector.kind, home)
        if not is_selectable(selector.group, selector.kind):
            continue
        if (selector.group, selector.kind) == FOLDER:
            if selector.name and (hint := commit.missing(Folder, selector.name, _CORRECT)):
                yield (*location, "name"), DesiredText.SELECTS_NO_NAME(kind=selector.kind, hint=hint)
            continue
        if selector.name and not any(commit.has_payload(*place[:2], space, selector.name) for space in {home, ""}):
            hint = commit.payload_hint(*place, selector.name, _CORRECT)
            yield (*location, "name"), DesiredText.SELECTS_NO_NAME(kind=selector.kind, hint=hint)
        by_labels = selector.label_selector
        if not selector.name and by_labels is None and commit.lacks_kind(*place, version=selector.version):
            yield (*location, "kind"), DesiredText.SELECTS_NO_KIND(kind=selector.kind)
        if by_labels is not None and not commit.payload_labels(*place).any_matches(by_labels):
            yield (*location, "labelSelector"), DesiredText.SELECTS_NO_LABELS(kind=selector.kind)


def _of_override(override: Override, commit: Commit) -> Iterator[Break]:
    namespace = override.key.namespace
    if (key := override.placement_key) is not None:
        yield from _placement(("spec", "placement", "name"), key, commit)
    for index, resource in enumerate(override.resources):
        identity = (resource.group, resource.kind, namespace, resource.name)
        if not commit.has_payload(*identity):
            hint = commit.payload_hint(*identity, _CORRECT)
            location = ("spec", override.selectors_field, index, "name")
            yield location, DesiredText.OVERRIDES_NO_OBJECT(kind=resource.kind, hint=hint)
    for index, rule in enumerate(override.rules):
        terms = ("spec", "policy", "overrideRules", index, "clusterSelector", "clusterSelectorTerms")
        yield from _terms(rule.cluster_terms or (), terms, (), commit)
    yield from _misspelt_variables(override)


def _of_folder(folder: Folder, commit: Commit) -> Iterator[Break]:
    for index, variant in enumerate(folder.variants):
        place = (folder.name, variant.name)
        if place not in commit.variants and place not in commit.failed:
            yield ("spec", "variants", index, "path"), DesiredText.VARIANT_WITHOUT_OBJECTS()
        yield from _by_labels(variant.cluster_selector, ("spec", "variants", index, "clusterSelector"), commit)
    for index, dependency in enumerate(folder.depends_on):
        at = ("spec", "dependsOn", index)
        if dependency.folder is None:
            key = PlacementKey("", dependency.placement or "")
            yield from _placement((*at, "placement"), key, commit)
        else:
            yield from _missing((*at, "folder"), Folder, dependency.folder, commit)


def dependency_errors(commit: Commit) -> Iterator[Refusal]:
    """Report Folders that depend on themselves, over other Folders or over placements that select them."""
    folders = {folder.name: (item, folder) for item, folder in commit.of(Folder)}
    selected = {
        placement.key.name: [s.name for s in placement.selectors if (s.group, s.kind) == FOLDER and s.name in folders]
        for _, placement in commit.of(Placement)
        if not placement.key.namespace
    }

    def needs(name: str) -> Iterator[str]:
        for dependency in folders[name][1].depends_on:
            direct = [dependency.folder] if dependency.folder in folders else []
            yield from filter(None, direct or selected.get(dependency.placement or "", []))

    reported: set[str] = set()
    for name in sorted(folders):
        if name not in reported and (cycle := cycle_of(name, needs)):
            reported.update(cycle)
            yield folders[name][0], (("spec", "dependsOn"), DesiredText.DEPENDENCY_CYCLE(cycle=" -> ".join(cycle)))


def _of_run(run: StagedRun, commit: Commit) -> Iterator[Break]:
    """A run needs its strategy until it begins, and its placement until it ends."""
    record = commit.accepted.runs.get(run.key)
    has_begun = record is not None and bool(record.status.stages)
    if record is None or not has_begun or not record.finished:
        yield from _placement(("spec", "placementName"), placement_of(run), commit)
    if not has_begun:
        strategy = ("spec", "stagedRolloutStrategyName")
        yield from _missing(strategy, StagedStrategy, run.strategy_name, commit, run.key.namespace)


def _of_eviction(eviction: Eviction, commit: Commit) -> Iterator[Break]:
    record = commit.accepted.evictions.get(eviction.name)
    if record is None or record.executed is None:
        yield from _placement(("spec", "placementName"), PlacementKey("", eviction.placement_name), commit)
        yield from _missing(("spec", "clusterName"), MemberCluster, eviction.cluster_name, commit)


def _of_approval(approval: Approval, commit: Commit) -> Iterator[Break]:
    namespace, name, stage = approval.key.namespace, approval.parent_run or "", approval.target_stage
    if stage is None:
        return
    run = commit.named(StagedRun, namespace).get(name)
    yield from _missing(("spec", "parentStageRollout"), StagedRun, name, commit, namespace)
    if run is not None and (stages := _stages(run, commit)) and stage not in stages:
        hint = commit.hint(stage, stages, _REMOVE)
        yield ("spec", "targetStage"), DesiredText.NAMES_STAGE_RUN_NOT(hint=hint)


def _stages(run: StagedRun, commit: Commit) -> set[str]:
    """The stages that a run has, or will have; none where nobody knows."""
    record = commit.accepted.runs.get(run.key)
    strategy = commit.named(StagedStrategy, run.key.namespace).get(run.strategy_name)
    begun = record.status.stages if record is not None else ()
    return {stage.name for stage in begun or (strategy.stages if strategy is not None else ())}


def _of_freeze_override(override: FreezeOverride, commit: Commit) -> Iterator[Break]:
    windows = {window.name for window in commit.config.freeze_windows}
    for index, name in enumerate(override.windows):
        if name not in windows:
            yield ("spec", "windows", index), DesiredText.NAMES_NOTHING(meant=commit.hint(name, windows, _REMOVE))
    for index, name in enumerate(override.freezes):
        if hint := commit.missing(Freeze, name, _REMOVE):
            yield ("spec", "freezes", index), DesiredText.NAMES_NOTHING(meant=hint)
    yield from _of_scope(override.scope, ("spec", "scope"), commit)


def _of_config(config: FleetConfig, commit: Commit) -> Iterator[Break]:
    for index, window in enumerate(config.freeze_windows):
        yield from _of_scope(window.scope, ("spec", "freezeWindows", index, "scope"), commit)


def _of_scope(scope: FreezeScope, location: Location, commit: Commit) -> Iterator[Break]:
    """The parts of a scope that match nothing: objects that were to be frozen would move."""
    for word, patterns, names in (
        ("placement", scope.placements, commit.placement_names),
        ("stage", scope.stages, commit.stage_names),
    ):
        for index, pattern in enumerate(patterns):
            if not any_matches(pattern, names):
                hint = commit.hint(pattern, names, _REMOVE)
                yield (*location, f"{word}s", index), DesiredText.MATCHES_NONE(word=word, hint=hint)
    if scope.clusters is not None and not commit.cluster_labels.any_matches(scope.clusters):
        yield (*location, "clusters"), DesiredText.MATCHES_NONE(word="cluster", hint=_REMOVE)


def _placement(location: Location, key: PlacementKey, commit: Commit) -> Iterator[Break]:
    return _missing(location, Placement, key.name, commit, key.namespace)


def _missing(location: Location, kind: type, name: str, commit: Commit, namespace: str = "") -> Iterator[Break]:
    if hint := commit.missing(kind, name, _CORRECT, namespace):
        yield location, DesiredText.NAMES_NOT_REPO(kind=_WORDS[kind], hint=hint)


def _terms(
    terms: Iterable[ClusterSelectorTerm], location: Location, below: Location, commit: Commit
) -> Iterator[Break]:
    """The labels alone: which properties a cluster has shows only when it answers."""
    for index, term in enumerate(terms):
        yield from _by_labels(term.label_selector, (*location, index, *below, "labelSelector"), commit)


def _by_labels(selector: LabelSelector | None, location: Location, commit: Commit) -> Iterator[Break]:
    if selector is not None and not commit.cluster_labels.any_matches(selector):
        yield location, DesiredText.SELECTS_NO_LABELS(kind="cluster")


def _misspelt_variables(override: Override) -> Iterator[Break]:
    for index, rule in enumerate(override.rules):
        for number, patch in enumerate(rule.patches):
            text = canonical_json(patch.operand).decode() if patch.op != "remove" else ""
            if any(_SOUND.fullmatch(match[0]) is None for match in _VARIABLE.finditer(text)):
                location = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number, "value")
                yield location, _NO_VARIABLE


def _names_placement(*location: str) -> Callable[[Any, Commit], Iterator[Break]]:
    return lambda value, commit: _placement(location, value.placement, commit)


_RULES: Final[Mapping[type, Callable[[Any, Commit], Iterator[Break]]]] = {
    Placement: _of_placement,
    Override: _of_override,
    StagedRun: _of_run,
    Eviction: _of_eviction,
    Approval: _of_approval,
    FreezeOverride: _of_freeze_override,
    Freeze: lambda freeze, commit: _of_scope(freeze.scope, ("spec", "scope"), commit),
    FleetConfig: _of_config,
    Folder: _of_folder,
    DisruptionBudget: lambda budget, commit: _placement(("metadata", "name"), PlacementKey("", budget.name), commit),
    AppRollout: _names_placement("spec", "placementRef", "name"),
    Quarantine: _names_placement("spec", "placement"),
    Pin: _names_placement("spec", "placement"),
}


_LOCATION: Final = ("metadata", "annotations", RENAMED_FROM)
_MOST_NAMED: Final = 3


def rename_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse new placements that cannot take over the record that they name."""
    renames = list(_renames(commit))
    origins = {placement.key: item.origin for item, placement in commit.of(Placement)} if renames else {}
    for item, key, old, first in renames:
        if first is not item:
            sentence = DesiredText.RENAMED_BY_ANOTHER(old=old, other=first.label, origin=first.origin)
            yield item, (_LOCATION, sentence)
        elif old in origins:
            yield item, (_LOCATION, DesiredText.RENAMED_PLACEMENT_THERE(old=old, origin=origins[old]))
        elif old in commit.accepted.placements and (places := list(_places_naming(old, key, commit))):
            named_in = named_briefly(places, _MOST_NAMED)
            yield item, (_LOCATION, DesiredText.RENAMED_PLACEMENT_NAMED(old=old, places=named_in, key=key))


def rename_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of new placements that name one without a record."""
    for item, _, old, _ in _renames(commit):
        if old not in commit.accepted.placements:
            yield item, (_LOCATION, DesiredText.RENAMED_PLACEMENT_UNKNOWN(old=old))


def _renames(commit: Commit) -> Iterator[tuple[ReadObject, PlacementKey, PlacementKey, ReadObject]]:
    """The new placements that name another one, each with both keys and the first that takes that one over: one that
    has done so already, else the first by path."""
    accepted = commit.accepted
    named = [
        (placement.key in accepted.placements, item.origin, item, placement.key, old)
        for item, placement in commit.of(Placement)
        if (old := placement.renamed_from) is not None
    ]
    first: dict[PlacementKey, ReadObject] = {}
    for is_known, _, item, key, old in sorted(named, key=lambda row: (not row[0], row[1])):
        if is_known and old in accepted.placements:
            continue
        first.setdefault(old, item)
        if not is_known:
            yield item, key, old, first[old]


def _places_naming(old: PlacementKey, key: PlacementKey, commit: Commit) -> Iterator[str]:
    """Where a gate, an override or a rollout has the old name, which would count for nothing after the rename."""
    value: Any
    for kind, placement in _PLACEMENTS.items():
        for item, value in commit.of(kind):
            if placement(value) == old:
                yield str(item.origin)
    for item, run in commit.of(StagedRun):
        record = commit.accepted.runs.get(run.key)
        if placement_of(run) == old and record is not None and not record.finished:
            yield str(item.origin)
    scopes = [(item, freeze.scope) for item, freeze in commit.of(Freeze)]
    scopes += [(item, window.scope) for item, config in commit.of(FleetConfig) for window in config.freeze_windows]
    yield from (str(item.origin) for item, scope in scopes if scope.has(old) and not scope.has(key))


_PLACEMENTS: Final[Mapping[type, Callable[[Any], PlacementKey | None]]] = {
    Pin: attrgetter("placement"),
    Quarantine: attrgetter("placement"),
    AppRollout: attrgetter("placement"),
    Override: attrgetter("placement_key"),
    DisruptionBudget: lambda budget: PlacementKey("", budget.name),
}
"""The placement that an object of a kind is for."""
