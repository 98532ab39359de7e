"""References without an object, and selectors without a match: a warning, with the nearest name as a hint."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.faults import Severity
from gitfleet.api.runs import RunRecord, RunStatus, StageStatus
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.desired import read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from gitfleet.model.state import FleetState
from tests import builders
from tests.desired.commits import faults_of, request_of

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


def quarantine(placement: str, **spec: Any) -> dict[str, Any]:
    spec = {"placement": placement, "digest": HASH, **spec}
    return builders.an_object("gitfleet.dev/v1alpha1", "Quarantine", "q", spec=spec)


def warnings(*bodies: dict[str, Any], fleet: str = FLEET, accepted: FleetState | None = None) -> list[str]:
    """The faults of objects beside a fleet, less the path."""
    found = faults_of({"fleet/all.yaml": fleet, "x/a.yaml": builders.to_yaml(*bodies)}, accepted=accepted)
    return [text.removeprefix("x/a.yaml:").removesuffix(" (warning)") for text in found if text.startswith("x/")]


CORRECT = DesiredText.CORRECT_ADD()


def near(name: str) -> str:
    return FormatsText.YOU_MEAN(near=name)


def no(kind: str, hint: str = CORRECT) -> str:
    return DesiredText.NAMES_NOT_REPO(kind=kind, hint=hint)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            builders.staged_run("new", placement="wbe", strategy="slwo"),
            [
                "6: ClusterStagedUpdateRun/new: spec.placementName: " + no("placement", near("web")),
                "7: ClusterStagedUpdateRun/new: spec.stagedRolloutStrategyName: " + no("strategy", near("slow")),
            ],
        ),
        (
            builders.eviction("e", "wbe", "us-east"),
            [
                "6: ClusterResourcePlacementEviction/e: spec.placementName: " + no("placement", near("web")),
                "7: ClusterResourcePlacementEviction/e: spec.clusterName: " + no("cluster"),
            ],
        ),
        (
            builders.placement_budget("wbe", minAvailable=1),
            ["4: ClusterResourcePlacementDisruptionBudget/wbe: metadata.name: " + no("placement", near("web"))],
        ),
        (
            quarantine("wbe"),
            [f"6: Quarantine/q: spec.placement: {no('placement', near('web'))}"],
        ),
        (
            builders.approval("og", "canary"),
            ["6: ClusterApprovalRequest/og-canary: spec.parentStageRollout: " + no("run")],
        ),
        (
            builders.approval("go", "canery"),
            [
                "7: ClusterApprovalRequest/go-canery: spec.targetStage: "
                + DesiredText.NAMES_STAGE_RUN_NOT(hint=near("canary"))
            ],
        ),
        (
            builders.freeze_override("o", END, windows=["nihgts"], freezes=["xmas"]),
            [
                ("10: FreezeOverride/o: spec.windows[0]: " + DesiredText.NAMES_NOTHING(meant=near("nights"))),
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


SCOPE = {
    "placements": ["web", "wbe", "db*"],
    "stages": ["canary", "canery"],
    "clusters": {"matchLabels": {"env": "prd"}},
}


def no_match(word: str, hint: str = DesiredText.CORRECT_REMOVE()) -> str:
    return DesiredText.MATCHES_NONE(word=word, hint=hint)


def test_each_part_of_a_scope_that_matches_nothing() -> None:
    assert warnings(builders.freeze("f", END, scope=SCOPE)) == [
        f"12: Freeze/f: spec.scope.placements[1]: {no_match('placement', near('web'))}",
        f"13: Freeze/f: spec.scope.placements[2]: {no_match('placement')}",
        f"16: Freeze/f: spec.scope.stages[1]: {no_match('stage', near('canary'))}",
        f"17: Freeze/f: spec.scope.clusters: {no_match('cluster')}",
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


def test_scopes_of_windows_and_of_overrides() -> None:
    night = {"name": "night", "schedule": "0 22 * * *", "duration": "8h"}
    windows = [{**night, "scope": {"placements": ["web"]}}, {**night, "name": "day", "scope": {"stages": ["x"]}}]
    override = builders.freeze_override("o", END, scope={"placements": ["x/web"]})
    fleet = FLEET.split("---\napiVersion: gitfleet.dev")[0]
    assert warnings(builders.fleet_config(freezeWindows=windows), override, fleet=fleet) == [
        f"18: FleetConfig/fleet: spec.freezeWindows[1].scope.stages[0]: {no_match('stage')}",
        f"30: FreezeOverride/o: spec.scope.placements[0]: {no_match('placement')}",
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


PAYLOAD = builders.to_yaml(
    builders.namespace("web", labels={"team": "money"}),
    builders.config_map("web", "settings", {"a": "b"}),
    builders.an_object(
        "placement.kubernetes-fleet.io/v1beta1",
        "ResourceEnvelope",
        "wrapped",
        namespace="web",
        data={"a": builders.config_map("web", "inside", {"a": "b"})},
    ),
    builders.member_cluster("eu", labels={"env": "prod"}),
)


def unmatched(*bodies: dict[str, Any]) -> list[tuple[str, str]]:
    """The warnings about selectors of objects beside a payload."""
    request = request_of({"fleet/all.yaml": PAYLOAD, "x/a.yaml": builders.to_yaml(*bodies)})
    found = [fault for fault in read_desired(request).faults if fault.path == "x/a.yaml"]
    assert {fault.severity for fault in found} <= {Severity.WARNING}
    return [(fault.field, fault.message) for fault in found]


def selecting(**selector: Any) -> dict[str, Any]:
    """A placement with one selector of ConfigMaps in `web`, or as it says."""
    namespaced = {"group": "", "version": "v1", "kind": "ConfigMap", **selector}
    kind = "ResourcePlacement" if namespaced["kind"] == "ConfigMap" else "ClusterResourcePlacement"
    namespace = "web" if kind == "ResourcePlacement" else ""
    return builders.an_object(
        "placement.kubernetes-fleet.io/v1beta1",
        kind,
        "p",
        namespace=namespace,
        spec={"resourceSelectors": [namespaced]},
    )


def by(**labels: str) -> dict[str, Any]:
    return {"matchLabels": labels}


def on(**term: Any) -> dict[str, Any]:
    required = {"clusterSelectorTerms": [term]}
    return {"affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


NO_NAME, NO_LABELS = "spec.resourceSelectors[0].name", "spec.resourceSelectors[0].labelSelector"
ROLES = {"group": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
NO_KIND = "spec.resourceSelectors[0].kind"
IN_TERMS = "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0]"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (selecting(kind="Namespace", name="web"), []),
        (selecting(kind="Namespace", labelSelector=by(team="money")), []),
        (selecting(name="settings"), []),
        (selecting(**ROLES), [(NO_KIND, DesiredText.SELECTS_NO_KIND(kind="ClusterRole"))]),
        (
            selecting(kind="Namespace", name="shop"),
            [(NO_NAME, DesiredText.SELECTS_NO_NAME(kind="Namespace", hint=CORRECT))],
        ),
        (
            selecting(name="setings"),
            [(NO_NAME, DesiredText.SELECTS_NO_NAME(kind="ConfigMap", hint=near("settings")))],
        ),
        (
            selecting(kind="Namespace", labelSelector=by(team="shop")),
            [(NO_LABELS, DesiredText.SELECTS_NO_LABELS(kind="Namespace"))],
        ),
        (
            builders.placement("p", "web", policy=on(labelSelector=by(env="lab"))),
            [(f"{IN_TERMS}.labelSelector", DesiredText.SELECTS_NO_LABELS(kind="cluster"))],
        ),
    ],
)
def test_a_selector_without_a_match_is_a_warning(body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert unmatched(body) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("settings", None), ("inside", None), ("setings", near("settings")), ("wrapped", CORRECT)],
)
def test_an_override_of_no_object_is_a_warning(name: str, expected: str | None) -> None:
    rules = {"overrideRules": [{"clusterSelector": {}, "overrideType": "Delete"}]}
    resource = {"group": "", "version": "v1", "kind": "ConfigMap", "name": name}
    body = builders.an_object(
        "placement.kubernetes-fleet.io/v1beta1",
        "ResourceOverride",
        "o",
        namespace="web",
        spec={"resourceSelectors": [resource], "policy": rules},
    )
    sentence = DesiredText.OVERRIDES_NO_OBJECT(kind="ConfigMap", hint=expected)
    assert unmatched(body) == ([(NO_NAME, sentence)] if expected else [])


def test_hints_end_where_too_many_names_would_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name is compared with all that there are: without a bound, many mistakes cost every commit minutes."""
    monkeypatch.setattr("gitfleet.desired.checks.commit._MOST_COMPARED", 2)
    override = builders.freeze_override("o", END, windows=["nigths", "nigths", "nigths"])
    config = builders.fleet_config(freezeWindows=[{"name": "nights", "schedule": "0 22 * * *", "duration": "8h"}])
    hinted = DesiredText.NAMES_NOTHING(meant=near("nights"))
    plain = DesiredText.NAMES_NOTHING(meant=DesiredText.CORRECT_REMOVE())
    assert [message for _, message in unmatched(override, config)] == [hinted, hinted, plain]
