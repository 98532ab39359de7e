"""What `plan` and `explain` say of workload rollouts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.snapshots import DocumentRef
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord, WorkloadConditionType
from gitfleet.api.workload_rollouts import PlacementReference, WorkloadReference
from gitfleet.cli import plan_text
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.operations import DeletePod, Patch
from gitfleet.model.rollout_fields import RolloutFields
from gitfleet.model.state import FleetState
from gitfleet.views.plan_document import PlannedReconcile, has_changes, plan_document
from gitfleet.views.rollout_documents import rollout_documents, rollout_sentences, with_rollouts
from gitfleet.views.texts import ViewsText
from gitfleet.workload.phases import Phase
from gitfleet.workload.texts import WorkloadText
from tests.state.builders import binding, record, snapshot
from tests.workload_records import T0, WEB, idle, measured, on, rollout_record, says

KEY = NamespacedName("shop", "web")
POD = ObjectKey("", "v1", "Pod", "shop", "web-3")
WAITS = says(
    WorkloadConditionType.BATCH_VERIFYING, WorkloadText.PODS_READY(ready="3", wanted="5", live="the new content")
)
ROLLING = on(
    "eu-1", Phase.BATCH_VERIFYING, WAITS, batch=1, upgraded_replicas=5, upgraded_ready_replicas=3,
    measurements=(measured("errors", 9), measured("p99"), measured("errors", 0.25, verdict="Passed")),
)  # fmt: skip
OF_WEB = ViewsText.WORKLOAD_ROLLOUT(name="shop/web", target=" of Deployment shop/web", document="eu-1")
SAID = (
    f"{OF_WEB}: rollingInBatches, batchVerifying, batch 2 of 4: 5 of 10 pods upgraded, 3 ready"
    f": {WorkloadText.PODS_READY(ready=3, wanted=5, live='the new content')}"
    f"; errors 0.25 (Passed); p99 {ViewsText.NO_ANSWER_YET()}"
)
PATCH = Patch(
    cluster="eu-1", rollout=KEY, reason="Deployment/shop/web: /spec/replicas becomes 5", key=WEB, uid="u",
    resource_version="7", patch={"spec": {"replicas": 5}},
)  # fmt: skip


def decided(before: FleetState, after: FleetState, **more: Any) -> Decision:
    return Decision(
        inputs=Inputs(desired=Desired(commit="c"), before=before, observations={}, now=T0), after=after, **more
    )


def fleet(*records: RolloutRecord) -> FleetState:
    return FleetState(rollouts={record.key: record for record in records})


def whole_documents() -> list[dict[str, Any]]:
    """One of a rollout under way, with steps, measurements and what applying leaves."""
    held: dict[Identity, RolloutFields] = {
        WEB.identity: RolloutFields(rollout=KEY, fields={"/spec/replicas": 5, "/spec/paused": True}),
        POD.identity: RolloutFields(rollout=NamespacedName("shop", "other"), stays=True),
    }
    state = fleet(rollout_record(ROLLING))
    elsewhere = replace(PATCH, cluster="eu-2")
    return rollout_documents(decided(state, state, steps=(elsewhere, PATCH), by_rollouts={"eu-1": held}))


def test_the_document_of_a_rollout_on_a_cluster() -> None:
    [document] = whole_documents()

    web = {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    measurements = document.pop("measurements")
    assert document == {
        "name": "web", "namespace": "shop", "kind": "RolloutTrait", "clusterName": "eu-1",
        "state": "rollingInBatches", "batchState": "batchVerifying", "currentBatch": 1, "batches": 4, "idle": False,
        "batchSizes": [2, 2, 3, 3], "paused": False, "target": web, "sources": [], "originalSize": 10, "targetSize": 10,
        "upgraded": 5, "ready": 3,
        "waits": WorkloadText.PODS_READY(ready="3", wanted="5", live="the new content"),
        "next": [
            {"object": web, "patch": {"spec": {"replicas": 5}}, "pod": False, "reason": PATCH.reason}
        ],
        "leaves": [{"object": web, "fields": ["/spec/paused", "/spec/replicas"], "stays": False}],
    }  # fmt: skip
    assert [(one["metric"], one["values"], one["verdict"]) for one in measurements] == [
        ("errors", [0.25], "Passed"),
        ("p99", [], None),
    ]


def test_a_document_in_lines() -> None:
    held = {
        WEB.identity: RolloutFields(rollout=KEY, fields={f"/spec/{n}": 1 for n in range(10)}, stays=True),
        POD.identity: RolloutFields(rollout=KEY, stays=True),
    }
    goes = DeletePod(cluster="eu-1", rollout=KEY, reason="it has the old content", key=POD, uid="p")
    state = fleet(rollout_record(ROLLING))
    [document] = rollout_documents(decided(state, state, steps=(PATCH, goes), by_rollouts={"eu-1": held}))

    assert [*rollout_sentences(document)] == [
        SAID,
        "  next: Deployment/shop/web: /spec/replicas becomes 5",
        ViewsText.NEXT_POD_GOES(name="shop/web-3", step="it has the old content"),
        ViewsText.STAYS_UNTIL_ROLLOUT_LETS_GO(what="Pod shop/web-3"),
        ViewsText.APPLYING_LEAVES_ROLLOUT(
            what="Deployment shop/web", why=f"{', '.join(f'/spec/{n}' for n in range(8))} and 2 more"
        ),
        ViewsText.STAYS_UNTIL_ROLLOUT_LETS_GO(what="Deployment shop/web"),
    ]


@pytest.mark.parametrize(
    ("status", "plan", "said"),
    [
        (idle("eu-1"), {}, f"{OF_WEB}: {ViewsText.NOTHING_ROLL_YET()}"),
        (on("eu-1", Phase.INITIALIZING), {}, f"{OF_WEB}: initializing: 0 of 10 pods upgraded, 0 ready"),
        (
            on("eu-1", Phase.VERIFYING_SPEC, target=None),
            {"paused": True},
            ViewsText.WORKLOAD_ROLLOUT(name="shop/web", target="", document="eu-1")
            + ": verifyingSpec (paused): 0 of 10 pods upgraded, 0 ready",
        ),
    ],
)
def test_what_is_said_of_a_state(status: ClusterRolloutStatus, plan: dict[str, Any], said: str) -> None:
    [document] = rollout_documents(decided(FleetState(), fleet(rollout_record(status, **plan))))
    assert next(rollout_sentences(document)) == said


def test_a_plan_shows_what_is_under_way_and_what_it_changes() -> None:
    done = on("eu-2", Phase.SUCCEEDED)
    before = fleet(rollout_record(on("eu-1", Phase.FINALISING), done, on("eu-3", Phase.FAILED), idle("eu-4")))
    after = fleet(
        rollout_record(on("eu-1", Phase.SUCCEEDED), done, on("eu-3", Phase.FAILED), idle("eu-4"), idle("eu-5"))
    )
    shown = rollout_documents(decided(before, after))
    assert [(one["clusterName"], one["state"]) for one in shown] == [
        ("eu-1", "rolloutSucceed"), ("eu-3", "rolloutFailed"), ("eu-5", "verifyingSpec"),
    ]  # fmt: skip


def test_steps_of_a_rollout_are_changes_of_a_plan() -> None:
    state = fleet(rollout_record(ROLLING))

    def planned(*steps: Patch) -> dict[str, Any]:
        decision = decided(state, state, steps=steps)
        return plan_document(
            PlannedReconcile(commit="c", state_commit=None, decision=decision, faults=(), operations=())
        )

    still, moves = planned(), planned(PATCH)
    assert (has_changes(still), has_changes(moves)) == (False, True)
    step = "  next: Deployment/shop/web: /spec/replicas becomes 5"
    assert step in [*plan_text.lines_of(moves)]


def rows(*clusters: str) -> list[dict[str, Any]]:
    return [{"clusterName": name, "waiting": []} for name in clusters]


def placed(namespace: str = "") -> Any:
    """The placement `app` with Deployment shop/web in its older snapshot alone."""
    key = PlacementKey(namespace, "app")
    base = record("app", binding(key, "eu-1"), namespace=namespace, latest=1)
    old = snapshot(key, 0, DocumentRef("resources/web.yaml", "b" * 40, 0, WEB))
    return replace(base, resource_snapshots=(old, base.resource_snapshots[1]))


def test_explain_says_which_rollout_holds_a_workload_of_the_placement() -> None:
    rolling, done = on("eu-2", Phase.SUCCEEDED), idle("us-1")
    rollout = rollout_record(ROLLING, rolling, done)
    eu1, eu2, us1, us2 = with_rollouts(rows("eu-1", "eu-2", "us-1", "us-2"), placed(), [rollout])

    assert eu1["waiting"] == [SAID]
    assert [row["waiting"] for row in (eu2, us1, us2)] == [[]] * 3
    assert [[one["state"] for one in row["rollouts"]] for row in (eu2, us1, us2)] == [
        ["rolloutSucceed"], ["verifyingSpec"], [],
    ]  # fmt: skip


def test_what_a_placement_waits_for_itself_comes_first() -> None:
    [row] = with_rollouts([{"clusterName": "eu-1", "waiting": ["a budget"]}], placed(), [rollout_record(ROLLING)])
    assert (row["waiting"][0], len(row["waiting"])) == ("a budget", 2)


@pytest.mark.parametrize(
    ("change", "namespace", "shown"),
    [
        ({"name": "other", "clusters": (replace(ROLLING, target=None),)}, "", False),
        ({"clusters": (replace(ROLLING, target=None),)}, "", True),
        ({"name": "other", "clusters": (ROLLING,)}, "", True),
        ({"name": "other", "source": "web", "clusters": (replace(ROLLING, target=None),)}, "", True),
        ({"placement": PlacementReference(name="app")}, "", True),
        ({"placement": PlacementReference(name="else")}, "", False),
        ({"placement": PlacementReference(name="app")}, "shop", False),
        ({"placement": PlacementReference(name="app", kind="ResourcePlacement")}, "shop", True),
    ],
)
def test_which_rollouts_are_about_a_placement(change: dict[str, Any], namespace: str, shown: bool) -> None:
    if "placement" in change:
        rollout = RolloutRecord(
            key=KEY, kind="AppRollout", created=T0, placement_ref=change["placement"], target_revision="1",
            rollout_plan=RolloutPlan(), clusters=(replace(ROLLING, target=None),),
        )  # fmt: skip
    else:
        rollout = rollout_record(*change["clusters"], name=change.get("name", "web"))
        if "source" in change:
            source = WorkloadReference(api_version="apps/v1", kind="Deployment", name=change["source"])
            rollout = replace(rollout, source_ref=(source,))
    [row] = with_rollouts(rows("eu-1"), placed(namespace), [rollout])
    assert bool(row["rollouts"]) is shown
