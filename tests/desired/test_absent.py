"""Names of what is not in the repo: each kind that names something says what it names, and what was probably meant."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.runs import RunRecord, RunStatus, StageStatus
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.desired.texts import DesiredText
from gitfleet.model.state import FleetState
from gitfleet.model.texts import ModelText
from tests import builders
from tests.desired.commits import faults_of

HASH = "0" * 64
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FLEET = builders.to_yaml(
    builders.member_cluster("eu-west", labels={"env": "prod"}),
    builders.namespace("web"),
    builders.placement("web", strategy={"type": "External"}),
    builders.staged_strategy("slow", builders.stage("canary")),
    builders.staged_run("go", placement="web", strategy="slow"),
    builders.fleet_config(freezeWindows=[{"name": "nights", "schedule": "0 22 * * *", "duration": "8h"}]),
)
END = "2099-01-01T00:00:00Z"


def in_namespace(body: dict[str, Any]) -> dict[str, Any]:
    kind, metadata = body["kind"].removeprefix("Cluster"), {**body["metadata"], "namespace": "web"}
    return {**body, "kind": kind, "metadata": metadata}


def quarantine(placement: str, **spec: Any) -> dict[str, Any]:
    spec = {"placement": placement, "digest": HASH, **spec}
    return builders.an_object("gitfleet.dev/v1alpha1", "Quarantine", "q", spec=spec)


def warnings(*bodies: dict[str, Any], fleet: str = FLEET, accepted: FleetState | None = None) -> list[str]:
    """The faults of objects beside a fleet, less the path."""
    found = faults_of({"fleet/all.yaml": fleet, "x/a.yaml": builders.to_yaml(*bodies)}, accepted=accepted)
    return [text.removeprefix("x/a.yaml:").removesuffix(" (warning)") for text in found if text.startswith("x/")]


GONE = "that is not in the repo, so"
RUN = f"{{}}: ClusterStagedUpdateRun/new: spec.{{}}: names a {{}} {GONE} " + DesiredText.RUN_CANNOT_BEGIN() + "; {}"
EVICTION = (
    f"{{}}: ClusterResourcePlacementEviction/e: spec.{{}}: names a {{}} {GONE} "
    + DesiredText.NOTHING_EVICTED()
    + "; {}"
)
CORRECT = DesiredText.CORRECT_ADD()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            builders.staged_run("new", placement="wbe", strategy="slwo"),
            [
                RUN.format(6, "placementName", "placement", "did you mean web?"),
                RUN.format(7, "stagedRolloutStrategyName", "strategy", "did you mean slow?"),
            ],
        ),
        (
            in_namespace(builders.staged_run("new", placement="web", strategy="slow")),
            [
                (
                    f"7: StagedUpdateRun/web/new: spec.placementName: names a placement {GONE} "
                    + DesiredText.RUN_CANNOT_BEGIN()
                    + ("; " + DesiredText.CORRECT_ADD())
                ),
                (
                    "8: StagedUpdateRun/web/new: spec.stagedRolloutStrategyName: "
                    + DesiredText.NAMES_STRATEGY_NOT_REPO(hint=DesiredText.CORRECT_ADD())
                ),
            ],
        ),
        (
            builders.eviction("e", "wbe", "us-east"),
            [
                EVICTION.format(6, "placementName", "placement", "did you mean web?"),
                EVICTION.format(7, "clusterName", "cluster", CORRECT),
            ],
        ),
        (
            builders.placement_budget("wbe", minAvailable=1),
            [
                (
                    "4: ClusterResourcePlacementDisruptionBudget/wbe: metadata.name: "
                    + ModelText.NAMES_PLACEMENT_NOT_REPO()
                    + (", so " + DesiredText.LIMITS_NOTHING() + "; did you mean web?")
                )
            ],
        ),
        (
            quarantine("wbe"),
            [
                (
                    f"6: Quarantine/q: spec.placement: names a placement {GONE} "
                    + DesiredText.ABOUT_NOTHING()
                    + "; did you mean web?"
                )
            ],
        ),
        (
            quarantine("ns/web", lifted=True),
            [
                (
                    f"6: Quarantine/q: spec.placement: names a placement {GONE} "
                    + DesiredText.ABOUT_NOTHING()
                    + f"; {CORRECT}"
                )
            ],
        ),
        (
            builders.approval("og", "canary"),
            [
                (
                    "6: ClusterApprovalRequest/og-canary: spec.parentStageRollout: "
                    f"names a run {GONE} it answers nothing; " + DesiredText.CORRECT_REMOVE()
                )
            ],
        ),
        (
            builders.approval("go", "canery"),
            [
                (
                    "7: ClusterApprovalRequest/go-canery: spec.targetStage: "
                    + DesiredText.NAMES_STAGE_RUN_NOT(hint="did you mean canary?")
                )
            ],
        ),
        (
            builders.freeze_override("o", END, windows=["nihgts"], freezes=["xmas"]),
            [
                ("10: FreezeOverride/o: spec.windows[0]: " + DesiredText.NAMES_NOTHING(meant="did you mean nights?")),
                (
                    "12: FreezeOverride/o: spec.freezes[0]: "
                    + DesiredText.NAMES_NOTHING(meant=DesiredText.CORRECT_REMOVE())
                ),
            ],
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_what_is_named_and_not_there(body: dict[str, Any], expected: list[str]) -> None:
    assert warnings(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        builders.staged_run("new", placement="web", strategy="slow"),
        builders.eviction("e", "web", "eu-west"),
        builders.placement_budget("web", minAvailable=1),
        quarantine("web"),
        builders.approval("go", "canary"),
        builders.freeze_override("o", END, windows=["nights"]),
    ],
    ids=lambda body: body["kind"],
)
def test_what_is_there_is_no_warning(body: dict[str, Any]) -> None:
    assert warnings(body) == []


@pytest.mark.parametrize(
    "body",
    [
        builders.staged_run("new", placement="wbe", strategy="slwo"),
        builders.eviction("e", "wbe", "us-east"),
        builders.placement_budget("wbe", minAvailable=1),
        quarantine("wbe"),
        builders.approval("gone", "canary"),
        builders.freeze("f", END, scope={"placements": ["wbe"]}),
        builders.freeze_override("o", END, windows=["weekends"], freezes=["wbe"]),
    ],
    ids=lambda body: body["kind"],
)
def test_what_an_error_in_another_file_may_hide_is_no_warning(body: dict[str, Any]) -> None:
    hidden = "a: [ # wbe slwo us-east gone weekends ClusterResourcePlacement FleetConfig"
    files = {"fleet/all.yaml": FLEET, "fleet/new.yaml": hidden, "x/a.yaml": builders.to_yaml(body)}
    assert [text for text in faults_of(files) if text.startswith("x/")] == []


SCOPE = {
    "placements": ["web", "wbe", "db*"],
    "stages": ["canary", "canery"],
    "clusters": {"matchLabels": {"env": "prd"}},
}


def test_each_part_of_a_scope_that_matches_nothing() -> None:
    assert warnings(builders.freeze("f", END, scope=SCOPE)) == [
        "12: Freeze/f: spec.scope.placements[1]: matches no placement in the repo; did you mean web?",
        ("13: Freeze/f: spec.scope.placements[2]: matches no placement in the repo; " + DesiredText.CORRECT_REMOVE()),
        "16: Freeze/f: spec.scope.stages[1]: matches no stage in the repo; did you mean canary?",
        (
            "19: Freeze/f: spec.scope.clusters.matchLabels.env: selects nothing, since no cluster has this label and "
            "value; did you mean prod? Or are the labels of the clusters wrong?"
        ),
    ]


@pytest.mark.parametrize(
    "scope",
    [
        {},
        {"placements": ["w*"], "stages": ["canary"], "clusters": {"matchLabels": {"env": "prod"}}},
        {"stages": ["kubernetes-fleet.io/*"]},
    ],
    ids=str,
)
def test_a_scope_that_matches_is_no_warning(scope: dict[str, Any]) -> None:
    assert warnings(builders.freeze("f", END, scope=scope)) == []


def test_labels_that_resemble_none_of_a_cluster() -> None:
    assert warnings(builders.freeze("f", END, scope={"clusters": {"matchLabels": {"zone": "a"}}})) == [
        ("10: Freeze/f: spec.scope.clusters: matches no cluster in the repo; " + DesiredText.CORRECT_REMOVE())
    ]


def test_scopes_of_windows_and_of_overrides() -> None:
    night = {"name": "night", "schedule": "0 22 * * *", "duration": "8h"}
    windows = [{**night, "scope": {"placements": ["web"]}}, {**night, "name": "day", "scope": {"stages": ["x"]}}]
    override = builders.freeze_override("o", END, scope={"placements": ["x/web"]})
    fleet = FLEET.split("---\napiVersion: gitfleet.dev")[0]
    assert warnings(builders.fleet_config(freezeWindows=windows), override, fleet=fleet) == [
        (
            "18: FleetConfig/fleet: spec.freezeWindows[1].scope.stages[0]: matches no stage in the repo; "
            + DesiredText.CORRECT_REMOVE()
        ),
        (
            "30: FreezeOverride/o: spec.scope.placements[0]: matches no placement in the repo; "
            + DesiredText.CORRECT_REMOVE()
        ),
    ]


def run_record(status: str, stages: tuple[str, ...]) -> RunRecord:
    conditions = tuple(
        Condition(type=t, status=Status.TRUE, reason="x", last_transition_time=NOW) for t in (status,) if t
    )
    begun = tuple(StageStatus(name=name, clusters=()) for name in stages)
    return RunRecord(
        key=NamespacedName("", "new"),
        placement_name="gone",
        strategy_name="gone",
        created=NOW,
        status=RunStatus(conditions=conditions, stages=begun),
    )


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (run_record("", ()), ["placementName", "stagedRolloutStrategyName"]),
        (run_record("Succeeded", ()), ["placementName", "stagedRolloutStrategyName"]),
        (run_record("", ("canary",)), ["placementName"]),
        (run_record("Succeeded", ("canary",)), []),
    ],
    ids=["known", "refused", "under way", "over"],
)
def test_a_run_needs_its_strategy_until_it_begins_and_its_placement_until_it_ends(
    record: RunRecord, fields: list[str]
) -> None:
    found = warnings(
        builders.staged_run("new", placement="gone", strategy="gone"),
        builders.approval("new", "canary"),
        accepted=FleetState(runs={record.key: record}),
    )
    assert [text.split(": ")[2].removeprefix("spec.") for text in found] == fields


def test_an_eviction_that_was_decided_may_name_what_is_gone_since() -> None:
    asked = Eviction(name="e", placement_name="gone", cluster_name="gone")
    decided, refused = (
        (Condition(type=name, status=status, reason="x", last_transition_time=NOW),)
        for name, status in (("Executed", Status.FALSE), ("Valid", Status.FALSE))
    )
    counts = [
        len(
            warnings(
                builders.eviction("e", "gone", "gone"),
                accepted=FleetState(evictions={"e": replace(asked, conditions=conditions)}),
            )
        )
        for conditions in ((), refused, decided)
    ]
    assert counts == [2, 2, 0]
