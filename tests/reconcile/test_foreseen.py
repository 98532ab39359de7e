"""What `validate` foresees of runs and overrides: the very refusals that a reconcile gives, as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Origin
from gitfleet.api.overrides import JsonPatch
from gitfleet.api.runs import ClusterUpdate, RunStatus, StageStatus
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import StagedRun
from gitfleet.api.strategies import RolloutStrategy
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.foreseen import foreseen, unplaced_folders
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.rollout.texts import RolloutText
from gitfleet.works.texts import WorksText
from tests import builders
from tests.builders import to_yaml
from tests.desired.commits import read
from tests.folders import FOLDER, folder, select_folder, settings
from tests.reconcile.test_runs import WEB, Stages, asked, commit, known
from tests.removals.fleets import fleet, placed
from tests.rollout.builders import NOW, scheduled
from tests.rollout.run_trials import record, stage
from tests.works.builders import EAST, SETTINGS, WEST, override, rule

GOLD, ANY = stage("gold", tier="gold"), stage("any")
CLUSTERS = {cluster.name: cluster for cluster in (EAST, WEST)}
ROLLING = replace(record(), placement=replace(record().placement, strategy=RolloutStrategy()))
BEGUN = RunStatus(stages=(StageStatus(name="gold", clusters=(ClusterUpdate(cluster="east"),)),))
STAGES, PLACEMENT = "stagedRolloutStrategyName", "placementName"


def told(decision: Decision) -> list[tuple[str, str, str]]:
    """Each as object, last field and sentence."""
    return [(item.label, str(location[-1]), sentence) for item, (location, sentence) in foreseen(decision)]


def of_run(run: StagedRun, web: PlacementRecord | None, *stages: Any, before: FleetState | None = None) -> Decision:
    """The decision on a commit with a run of a placement that picks east and west."""
    desired = commit(replace(run, origin=Origin("runs/a.yaml", 1, "b")), **({"all": tuple(stages)} if stages else {}))
    picks = tuple(scheduled(name) for name in CLUSTERS)
    placements = {} if web is None else {WEB: replace(web, bindings=picks)}
    return Decision(
        inputs=Inputs(desired=desired, before=before or FleetState(), observations={}, now=NOW),
        after=FleetState(placements=placements, clusters=CLUSTERS),
    )


def refused(why: str, remedy: str) -> str:
    """What people read of a run."""
    return ReconcileText.RUN_CANNOT_BEGIN(why=why, remedy=remedy)


NOT_EXTERNAL = refused(
    RolloutText.PARENT_PLACEMENT_NOT_EXTERNAL_ROLLOUT(strategy=ROLLING.placement.strategy.type),
    RolloutText.GIVE_STRATEGY_TYPE_EXTERNAL(),
)
LEFT_OUT = refused(
    RolloutText.SOME_CLUSTERS_NOT_PLACED_ANY(count=1, most_named=10, missing="west"),
    RolloutText.LABEL_STAGE_SELECTS(),
)
TWICE = refused(
    RolloutText.CLUSTER_APPEARS_MORE_ONE_STAGES(name="east"), RolloutText.CHANGE_STAGES_LABEL_SELECTORS_EACH()
)


@pytest.mark.parametrize(
    ("web", "stages", "expected"),
    [
        (record(), (ANY,), []),
        (ROLLING, (ANY,), [(PLACEMENT, NOT_EXTERNAL)]),
        (record(), (GOLD,), [(STAGES, LEFT_OUT)]),
        (record(), (GOLD, ANY), [(STAGES, TWICE)]),
        (None, (ANY,), []),
        (record(), (), []),
    ],
)
def test_a_run_that_cannot_begin(web: PlacementRecord | None, stages: Stages, expected: list[Any]) -> None:
    run = ("ClusterStagedUpdateRun/a",)
    assert told(of_run(asked("a"), web, *stages)) == [run + rest for rest in expected]


@pytest.mark.parametrize(
    ("run", "before", "count"),
    [
        (asked("a"), known("a"), 1),
        (asked("a"), known("a", status=BEGUN), 0),
        (asked("a", began_elsewhere="it began elsewhere"), None, 0),
    ],
)
def test_only_runs_that_have_not_begun_are_judged(run: StagedRun, before: Any, count: int) -> None:
    state = FleetState(runs={run.key: before} if before else {})
    assert len(told(of_run(run, record(), GOLD, before=state))) == count


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([select_folder("apps")], []),
        ([builders.select_namespace("apps")], []),
        ([{**builders.select_namespace("apps"), "selectionScope": "NamespaceOnly"}], ["Folder/apps"]),
        ([select_folder("app")], ["Folder/apps"]),
        ([], ["Folder/apps"]),
    ],
)
def test_a_folder_of_which_nothing_is_placed_is_a_warning(selectors: list[Any], expected: list[str]) -> None:
    files = {
        f"resources/apps/{FOLDER}": to_yaml(folder("apps", namespace="apps", createNamespace=True)),
        "resources/apps/settings.yaml": settings(a="1"),
        f"resources/empty/{FOLDER}": to_yaml(folder("empty")),
    }
    placing = {"placements/a.yaml": to_yaml(builders.placement("a", selectors=selectors))} if selectors else {}
    assert [item.label for item, _ in unplaced_folders(read({**files, **placing}))] == expected


def of_overrides(*overrides: OverrideSnapshot) -> Decision:
    """The decision on a commit with overrides of what east and west get."""
    state = replace(fleet(placed(WEB, CLUSTERS, SETTINGS)), clusters=CLUSTERS)
    written = {o.override.key: replace(o.override, origin=Origin("overrides/o.yaml", 1, "b")) for o in overrides}
    desired = Desired(commit="c", objects={"overrides": written})
    inputs = Inputs(desired=desired, before=state, observations={}, now=NOW)
    return Decision(inputs=inputs, after=state, overrides=overrides)


def patch(op: str, path: str, value: Any = "x") -> JsonPatch:
    """One operation."""
    return JsonPatch(op=op, path=path, value=None if op == "remove" else value)


def fails(problem: str, clusters: str = "east and west") -> str:
    """What people read of a patch."""
    return ReconcileText.OVERRIDE_FAILS(object=SETTINGS.key, clusters=clusters, problem=problem)


MISSING = WorksText.NOTHING_IS_THERE(operation="replace", name="/data/b")
NO_TIER = WorksText.LABEL_KEY_NOT_FOUND_CLUSTER(plain="tier", cluster="west")


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([override("o", SETTINGS, rule(patch("replace", "/data/a")), ns="web")], []),
        ([override("o", SETTINGS, rule(patch("add", "/data/b"), patch("replace", "/data/b")), ns="web")], []),
        ([override("o", SETTINGS, rule(patch("replace", "/data/b")), ns="web")], [fails(MISSING)]),
        ([override("o", SETTINGS, rule(patch("replace", "/data/b"), region="us"), ns="web")], [fails(MISSING, "west")]),
        (
            [
                override("a", SETTINGS, rule(patch("replace", "/data/b"), region="us"), ns="web"),
                override("b", SETTINGS, rule(patch("add", "/data/b")), ns="web"),
            ],
            [fails(MISSING, "west")],
        ),
        (
            [override("o", SETTINGS, rule(patch("add", "/data/t", "${MEMBER-CLUSTER-LABEL-KEY-tier}")), ns="web")],
            [fails(NO_TIER, "west")],
        ),
        ([override("o", SETTINGS, rule(patch("replace", "/data/b"), region="asia"), ns="web")], []),
        ([override("o", SETTINGS, rule(delete=True), ns="web")], []),
    ],
)
def test_a_patch_is_tried_on_every_cluster_that_is_picked(
    overrides: list[OverrideSnapshot], expected: list[str]
) -> None:
    assert [sentence for _, _, sentence in told(of_overrides(*overrides))] == expected


def test_a_patch_is_named_by_its_place() -> None:
    rules = rule(patch("add", "/data/c"), region="asia"), rule(patch("add", "/data/c"), patch("remove", "/data/b"))
    ((item, (location, _)),) = foreseen(of_overrides(override("o", SETTINGS, *rules, ns="web")))
    assert (item.label, item.origin.path) == ("ResourceOverride/web/o", "overrides/o.yaml")
    assert location == ("spec", "policy", "overrideRules", 1, "jsonPatchOverrides", 1, "path")
