"""What `get rollouts` and `describe rollout` say of workload rollouts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.rollout_plans import RolloutBatch, RolloutPlan
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord, WorkloadConditionType
from gitfleet.api.workload_rollouts import PlacementReference
from gitfleet.model.forges import StatusState
from gitfleet.model.state import FleetState
from gitfleet.views.forge import forge_view
from gitfleet.views.kinds import objects_of, table_of
from gitfleet.views.readme import readme_text
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import NOWHERE, rollout_lines
from gitfleet.workload.phases import Phase
from gitfleet.workload.texts import WorkloadText
from tests.state.builders import reader_of
from tests.workload_records import T0, asked, idle, measured, on, rollout_record, says

NOW = T0 + timedelta(minutes=5)
_VERIFYING = says(
    WorkloadConditionType.BATCH_VERIFYING, WorkloadText.PODS_READY(ready="3", wanted="5", live="the new content")
)
_TABLE = ("NAMESPACE", "NAME", "CLUSTERS", "STATE", "BATCH", "READY", "AGE")


def fleet(*records: RolloutRecord) -> FleetState:
    return FleetState(rollouts={record.key: record for record in records})


VERIFYING = on("eu-1", Phase.BATCH_VERIFYING, _VERIFYING, batch=1, upgraded_replicas=5, upgraded_ready_replicas=3)
REJECTED, FAILED = (on("us-2", phase, batch=2) for phase in (Phase.BATCH_VERIFY_FAILED, Phase.FAILED))
DONE = on("eu-2", Phase.SUCCEEDED, batch=3, upgraded_replicas=10, upgraded_ready_replicas=10)


@pytest.mark.parametrize(
    ("record", "row"),
    [
        (rollout_record(), ("0/0", "<none>", "-", "0/0", "5m")),
        (rollout_record(idle("eu-1")), ("1/1", "idle", "-", "0/0", "5m")),
        (rollout_record(on("eu-1", Phase.VERIFYING_SPEC)), ("0/1", "verifyingSpec", "0/4", "0/10", "5m")),
        (rollout_record(on("eu-1", Phase.INITIALIZING)), ("0/1", "initializing", "0/4", "0/10", "5m")),
        (rollout_record(VERIFYING), ("0/1", "rollingInBatches", "2/4", "3/10", "5m")),
        (rollout_record(VERIFYING, paused=True), ("0/1", "paused", "2/4", "3/10", "5m")),
        (rollout_record(VERIFYING, DONE, idle("us-1")), ("2/3", "rollingInBatches", "2/4", "13/20", "5m")),
        (rollout_record(REJECTED, DONE), ("1/2", "rolloutFailing", "3/4", "10/20", "5m")),
        (rollout_record(FAILED, VERIFYING, DONE), ("1/3", "rolloutFailed", "2/4", "13/30", "5m")),
        (rollout_record(on("a", Phase.FINALISING), DONE), ("1/2", "finalising", "4/4", "10/20", "5m")),
        (rollout_record(DONE, paused=True), ("1/1", "rolloutSucceed", "4/4", "10/10", "5m")),
        (rollout_record(on("a", Phase.ABANDONED, batch=1), DONE), ("1/2", "rolloutAbandoned", "2/4", "10/20", "5m")),
        (rollout_record(VERIFYING, num_batches=None), ("0/1", "rollingInBatches", "1/1", "3/10", "5m")),
        (
            rollout_record(VERIFYING, num_batches=None, batches=(RolloutBatch(replicas=1), RolloutBatch(replicas=9))),
            ("0/1", "rollingInBatches", "2/2", "3/10", "5m"),
        ),
    ],
)  # fmt: skip
def test_a_row(record: RolloutRecord, row: tuple[str, ...]) -> None:
    table = table_of("rollouts", reader_of(fleet(record)), now=NOW)

    assert table.columns == _TABLE
    assert table.rows == (("shop", "web", *row),)


def test_the_wide_table_says_what_is_waited_for() -> None:
    table = table_of("rollouts", reader_of(fleet(rollout_record(DONE, VERIFYING))), now=NOW, wide=True)

    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "NAMESPACE": "shop", "NAME": "web", "TARGET": "Deployment/web", "STRATEGY": "IncreaseFirst", "CLUSTERS": "1/2",
        "STATE": "rollingInBatches", "SUB-STATE": "batchVerifying", "BATCH": "2/4", "READY": "13/20", "AGE": "5m",
        "MESSAGE": ("eu-1: " + WorkloadText.PODS_READY(ready="3", wanted="5", live="the new content")),
    }  # fmt: skip


@pytest.mark.parametrize(
    "word",
    ["rollouts", "rollout", "Rollout", "rollouttrait", "RolloutTraits", "approllout", "approllouts",
     "applicationdeployment"],
)  # fmt: skip
def test_words_for_rollouts(word: str) -> None:
    state = reader_of(fleet(rollout_record(VERIFYING)))

    assert [row[1] for row in table_of(word, state, now=NOW).rows] == ["web"]
    assert [body["kind"] for body in objects_of(word, state, "shop/web")] == ["RolloutTrait"]
    assert objects_of(word, state, "other/web") == []


def test_an_application_is_named_by_its_snapshot() -> None:
    record = RolloutRecord(
        key=NamespacedName("shop", "app"),
        kind="AppRollout",
        created=T0,
        placement_ref=PlacementReference(name="shop"),
        target_revision="5",
        rollout_plan=RolloutPlan(),
        clusters=(VERIFYING,),
    )
    table = table_of("approllouts", reader_of(fleet(record)), now=NOW, wide=True)
    assert table.rows[0][:3] == ("shop", "app", "shop snapshot 5")


def test_a_description_ends_with_how_far_each_cluster_is() -> None:
    eu = replace(
        VERIFYING,
        webhooks=(asked("load", "Passed", "200"), asked("ask-ops", attempt=2), asked("start", "Failed", batch=None)),
        measurements=(
            measured("errors", 0.2, verdict="Passed"),
            measured("errors", message="no data"),
            measured("p99"),
        ),
    )
    query = 'prometheus sum(rate(errors{cluster="eu-1"}[1m]))'
    state = reader_of(fleet(rollout_record(eu, idle("us-1"))))
    [body] = objects_of("rollouts", state, "web")

    assert rollout_lines("rollouts", state, body) == [
        "eu-1: rollingInBatches, batchVerifying, batch 2 of 4: 5 of 10 pods upgraded, 3 ready",
        ("  " + WorkloadText.PODS_READY(ready="3", wanted="5", live="the new content")),
        ViewsText.BATCHES_PODS(map="", and_more="2, 2, 3, 3"),
        "  webhook pre-batch-rollout load (batch 2): Passed at 2026-01-01T00:00:30Z: 200",
        ("  webhook pre-batch-rollout ask-ops (batch 2): " + ViewsText.NO_ANSWER_YET() + ", attempt 3"),
        "  webhook pre-batch-rollout start: Failed at 2026-01-01T00:00:30Z",
        f"  metric errors: 0.2 at 2026-01-01T00:01:00Z Passed: {query}",
        ("  metric errors: " + ViewsText.NO_ANSWER_YET() + f" at 2026-01-01T00:01:00Z (no data): {query}"),
        ("  metric p99: " + ViewsText.NO_ANSWER_YET() + f" at 2026-01-01T00:01:00Z: {query}"),
        f"us-1: {ViewsText.NOTHING_ROLL_YET()}",
    ]
    assert rollout_lines("placements", state, body) == []


def test_a_rollout_that_is_about_no_cluster_says_so() -> None:
    state = reader_of(fleet(rollout_record()))
    [body] = objects_of("rollouts", state, "web")
    assert rollout_lines("rollouts", state, body) == [NOWHERE]
    (row,) = table_of("rollouts", state, now=NOW, wide=True).rows
    assert row[-1] == NOWHERE


@pytest.mark.parametrize("phase", Phase, ids=lambda one: one.name)
def test_the_condition_of_the_state_says_what_is_waited_for(phase: Phase) -> None:
    every = [says(type_, f"about {type_}") for type_ in WorkloadConditionType]
    status = on("a", phase, *every)
    (row,) = table_of("rollouts", reader_of(fleet(rollout_record(status))), now=NOW, wide=True).rows
    assert row[-1] == f"a: about {status.telling}"


@pytest.mark.parametrize(
    ("clusters", "state", "text", "over"),
    [
        ((VERIFYING, DONE), StatusState.PENDING, "rollingInBatches", False),
        ((FAILED, VERIFYING), StatusState.FAILURE, "rolloutFailed", False),
        ((REJECTED, DONE), StatusState.FAILURE, "rolloutFailing", False),
        ((FAILED, DONE), StatusState.FAILURE, "rolloutFailed", True),
        ((DONE, idle("us-1")), StatusState.SUCCESS, "rolloutSucceed", True),
        ((), StatusState.PENDING, NOWHERE, False),
    ],
)
def test_a_commit_has_one_status_for_each_rollout(
    clusters: tuple[ClusterRolloutStatus, ...], state: StatusState, text: str, over: bool
) -> None:
    shown = forge_view(fleet(rollout_record(*clusters)), {}, target="main", prefix="p/")
    (status,) = shown.statuses
    assert (status.context, status.state, status.description, status.over) == (
        "gitfleet/rollout/shop_web", state, text, over,
    )  # fmt: skip


def section(*records: RolloutRecord) -> list[str]:
    """The section of the page of the state branch that is about rollouts, without empty lines."""
    heading, *_ = ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY.value.partition("{")
    _, found, text = readme_text(fleet(*records)).partition(heading)
    return (found + text).split("\n## ")[0].replace("\n\n", "\n").splitlines()


def test_the_page_of_the_state_branch_shows_what_is_under_way() -> None:
    done = replace(rollout_record(DONE, idle("us-1")), key=NamespacedName("shop", "cart"))
    under_way = rollout_record(VERIFYING, DONE, on("us-1", Phase.VERIFYING_SPEC, target_size=0))

    first = "| [`shop/web`](rollouts/shop/web.yaml) | `Deployment/web` |"
    assert section(done, under_way) == [
        ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY(count=1, over=1),
        "| Rollout | Target | Cluster | State | Batch | Ready | Waits for |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        (
            f"{first} `eu-1` | rollingInBatches | 2/4 | 3/10 | "
            + WorkloadText.PODS_READY(ready="`3", wanted="5", live="the new content")
            + "` |"
        ),
        f"{first} `us-1` | verifyingSpec | 0/4 | 0/0 |  |",
    ]
    assert section(done) == [ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY(count=0, over=1)]
    *_, row = section(done, replace(under_way, clusters=()))
    assert row == f"{first} - | - | - | - | `{NOWHERE}` |"
    assert section(replace(under_way, clusters=()))[0] == ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY(count=1, over=0)
    assert section() == []


def test_a_hostile_message_stays_one_cell_of_the_page() -> None:
    bad = says(WorkloadConditionType.BATCH_VERIFYING, "a | b\n\n# Heading <script> `x` [c](https://evil.example)")
    _, _, _, row = section(rollout_record(replace(VERIFYING, conditions=(bad,))))
    assert row.count("|") == 8
    assert "<" not in row
    assert "evil" not in re.sub("`[^`]*`", "", row)
