"""The events of a workload rollout from two states, and what people are told of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord, WorkloadConditionType
from gitfleet.cli.progress import line_of
from gitfleet.model.events import Event
from gitfleet.model.state import FleetState
from gitfleet.status import emit_events, occurrence_of, sentence
from gitfleet.status.rollout_events import rollout_events
from gitfleet.status.texts import StatusText
from gitfleet.workload.phases import Phase
from tests.workload_records import idle, on, rollout_record, says

PAUSED = says(WorkloadConditionType.BATCH_PAUSED, "batch 2 of 4 is the last to roll out", "True")
FAILING = says(WorkloadConditionType.FAILING, "webhook ask-ops says no: 403", "True")
FAILED = says(WorkloadConditionType.FAILED, "webhook ask-ops says no: 403", "True")
READY = on("eu-1", Phase.BATCH_READY, batch=1)
_BATCH = {"batchState": "batchReady", "currentBatch": 1, "batches": 4}


def told(old: RolloutRecord | None, new: RolloutRecord | None) -> list[dict[str, Any]]:
    """The events as JSON without their type, which is the same for all."""
    found = [event.to_json() for event in rollout_events(old, new)]
    assert {event.pop("type") for event in found} <= {"workloadRollout"}
    return found


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        (None, idle("eu-1"), {"state": "verifyingSpec"}),
        (idle("eu-1"), idle("eu-1"), None),
        (idle("eu-1"), on("eu-1", Phase.INITIALIZING), {"state": "initializing"}),
        (
            on("eu-1", Phase.INITIALIZING),
            on("eu-1", Phase.BATCH_INITIALIZING),
            {"state": "rollingInBatches", "batchState": "batchInitializing", "currentBatch": 0, "batches": 4},
        ),
        (READY, replace(READY, upgraded_ready_replicas=4, measurements=()), None),
        (READY, replace(READY, conditions=(PAUSED,)), {"state": "rollingInBatches", **_BATCH, "waits": PAUSED.message}),
        (replace(READY, conditions=(PAUSED,)), READY, None),
        (READY, replace(READY, attempt=1), {"state": "rollingInBatches", **_BATCH}),
        (
            READY,
            on("eu-1", Phase.BATCH_VERIFY_FAILED, FAILING, batch=1),
            {
                "state": "rolloutFailing", "batchState": "batchVerifyFailed", "currentBatch": 1, "batches": 4,
                "message": "webhook ask-ops says no: 403",
            },
        ),
        (READY, on("eu-1", Phase.FAILED, FAILED, PAUSED), {"state": "rolloutFailed", "message": FAILED.message}),
        (READY, on("eu-1", Phase.SUCCEEDED, PAUSED), {"state": "rolloutSucceed"}),
    ],
)  # fmt: skip
def test_events_of_a_cluster(
    old: ClusterRolloutStatus | None, new: ClusterRolloutStatus, fields: dict[str, Any] | None
) -> None:
    before = rollout_record(old) if old is not None else None
    wanted = [] if fields is None else [{"cluster": "eu-1", "rollout": "shop/web", **fields}]
    assert told(before, rollout_record(new)) == wanted


def test_the_events_of_two_states() -> None:
    before, after = rollout_record(idle("eu-1"), idle("eu-2")), rollout_record(READY, idle("eu-2"))
    found = emit_events(FleetState(rollouts={before.key: before}), FleetState(rollouts={after.key: after}))
    assert [(event.cluster, event.fields["state"]) for event in found] == [("eu-1", "rollingInBatches")]


def event_of(status: ClusterRolloutStatus) -> Event:
    (event,) = rollout_events(None, rollout_record(status))
    return event


@pytest.mark.parametrize(
    ("status", "said", "shown"),
    [
        (on("a", Phase.VERIFYING_SPEC), StatusText.IS_IN(place="", fields="verifyingSpec", why=""), False),
        (on("a", Phase.BATCH_INITIALIZING), ": batch 1 of 4 begins", True),
        (on("a", Phase.BATCH_IN_ROLLING, batch=1), ": batch 2 of 4 rolls", True),
        (on("a", Phase.BATCH_VERIFYING, batch=1), (": batch 2 of 4 " + StatusText.BEING_VERIFIED()), False),
        (on("a", Phase.BATCH_FINALIZING, batch=3), (": batch 4 of 4 " + StatusText.BEING_FINALIZED()), False),
        (on("a", Phase.BATCH_READY), ": batch 1 of 4 is ready", True),
        (on("a", Phase.BATCH_VERIFYING, PAUSED), " waits: batch 2 of 4 is the last to roll out", True),
        (
            on("a", Phase.BATCH_VERIFY_FAILED, FAILING, batch=1),
            ": batch 2 of 4 failed: webhook ask-ops says no: 403",
            True,
        ),
        (
            on("a", Phase.FAILED, FAILED),
            StatusText.IS_IN(place="", fields="rolloutFailed", why=": webhook ask-ops says no: 403"),
            True,
        ),
        (on("a", Phase.SUCCEEDED), StatusText.IS_IN(place="", fields="rolloutSucceed", why=""), True),
    ],
)
def test_sentences(status: ClusterRolloutStatus, said: str, shown: bool) -> None:
    event, whole = event_of(status), f"workload rollout shop/web: a{said}"
    assert sentence(event) == whole
    assert line_of(event) == (whole if shown else "")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (on("a", Phase.SUCCEEDED), "workloadRolloutSucceeded"),
        (on("a", Phase.FAILED, FAILED), "workloadRolloutFailed"),
        (on("a", Phase.BATCH_VERIFY_FAILED, FAILING), None),
        (on("a", Phase.BATCH_READY, PAUSED), "workloadRolloutWaiting"),
        (on("a", Phase.BATCH_READY), None),
        (on("a", Phase.ABANDONED), None),
    ],
)
def test_people_are_told_of_ends_and_of_what_waits_for_them(status: ClusterRolloutStatus, kind: str | None) -> None:
    event = event_of(status)
    found = occurrence_of(event)
    assert (found.event.value if found else None) == kind
    if found is not None:
        assert (found.sentence, found.cluster, found.rollout) == (sentence(event), "a", "shop/web")
        assert found.name == "shop/web"
