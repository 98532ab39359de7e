"""What `validate` says of a commit before a reconcile does: runs that are refused, overrides that do not apply,
placements that wait for each other, and Folders that nothing places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet import works
from gitfleet.api import Break, Location
from gitfleet.api.bindings import is_active
from gitfleet.api.folders import FOLDER
from gitfleet.api.objects import Origin
from gitfleet.api.overrides import Override
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.desired import IGNORE_FILE, ReadObject
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.decisions import Decision
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.dependencies import Dependencies
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.rollout import staged
from gitfleet.snapshots import index_of, select

_MOST_NAMED: Final = 3


def foreseen(decision: Decision) -> Iterator[tuple[ReadObject, Break]]:
    """What is wrong with the runs, overrides and dependencies of a commit, by what it decides."""
    yield from _refused_runs(decision)
    yield from _failing_overrides(decision)
    yield from _cycles(decision.inputs.desired)


def unplaced_folders(desired: Desired) -> Iterator[tuple[ReadObject, Break]]:
    """The Folders with objects of which no placement selects any."""
    payload, _ = index_of(desired, None, Failures())
    selections = [select(placement, payload) for placement in desired.placements.values()]
    placed = {manifest.folder for selection in selections for manifest in selection.manifests}
    for name in sorted({manifest.folder for manifest in desired.payload}.intersection(desired.folders) - placed):
        why = ReconcileText.FOLDER_NOT_PLACED.coded(ignore_file=IGNORE_FILE)
        yield _of_folder(name, desired), (("metadata", "name"), why)


def _of_folder(name: str, desired: Desired) -> ReadObject:
    folder = desired.folders[name]
    return ReadObject((*FOLDER, "", name), f"Folder/{name}", folder.origin or Origin("", 1, "", 0), folder)


def _cycles(desired: Desired) -> Iterator[tuple[ReadObject, Break]]:
    """The placements that wait for each other: selectors by labels show only in what they select."""
    for name, cycle in Dependencies.of_commit(desired).cycles():
        why = ReconcileText.PLACEMENT_CYCLE.coded(cycle=" -> ".join(map(str, cycle)))
        yield _of_folder(name, desired), (("spec", "dependsOn"), why)


def _refused_runs(decision: Decision) -> Iterator[tuple[ReadObject, Break]]:
    """The runs that have not begun and cannot begin with the clusters that their placement picks."""
    after, before = decision.after, decision.inputs.before
    for key, run in decision.inputs.desired.runs.items():
        recorded, record = before.runs.get(key), after.placements.get(placement_of(run))
        has_begun = recorded is not None and (recorded.finished or bool(recorded.status.stages))
        if has_begun or run.began_elsewhere or record is None:
            continue  # a placement that is missing is a warning of its own
        if (problem := _refusal(run, record, decision)) is not None:
            location, error = problem
            why = ReconcileText.RUN_CANNOT_BEGIN.coded(why=error, remedy=error.hint)
            yield _noted(Subject.of_run(key).kind, run, (location, why))


def _refusal(run: StagedRun, record: PlacementRecord, decision: Decision) -> tuple[Location, BadInput] | None:
    strategy = decision.inputs.desired.strategies.get(NamespacedName(run.key.namespace, run.strategy_name))
    selected = {binding.cluster for binding in record.bindings if is_active(binding)}
    location: Location = ("spec", "placementName")
    try:
        staged.external(record)
        location = ("spec", "stagedRolloutStrategyName")
        if strategy is not None:
            staged.stages_of(run, strategy.stages, decision.after.clusters.values(), selected)
    except BadInput as error:
        return location, error
    return None


def _failing_overrides(decision: Decision) -> Iterator[tuple[ReadObject, Break]]:
    """The patches that do not apply on a cluster that a placement picks, each with the clusters."""
    desired, failures = decision.inputs.desired, Failures()
    overrides = works.CompiledOverrides(decision.overrides, desired.config.policy)
    done = works.state_when_done(decision.after, decision.overrides, decision.after.placements, failures)
    clusters: dict[works.FailedPatch, list[str]] = {}
    for record in done.placements.values():
        for binding in record.bindings:
            cluster, snapshot = done.clusters.get(binding.cluster), record.latest_resources
            if cluster is None or snapshot is None:
                continue
            subject, none = Subject("Work", str(binding.placement), binding.cluster), list[works.FailedPatch]()
            for patch in failures.contain(subject, none, works.failing_patches, binding, snapshot, overrides, cluster):
                clusters.setdefault(patch, []).append(binding.cluster)
    for patch, names in sorted(clusters.items()):
        where = named_briefly(sorted(names), _MOST_NAMED)
        why = ReconcileText.OVERRIDE_FAILS.coded(object=patch.object, clusters=where, problem=patch.problem)
        location = ("spec", "policy", "overrideRules", patch.rule - 1, "jsonPatchOverrides", patch.patch, "path")
        yield _noted(patch.override.kind, desired.overrides[patch.override], (location, why))


def _noted(kind: str, value: StagedRun | Override, note: Break) -> tuple[ReadObject, Break]:
    key, origin = value.key, value.origin or Origin("", 1, "", 0)
    return ReadObject(("", kind, key.namespace, key.name), f"{kind}/{key}", origin, value), note
