"""The events of a staged update run, of its approval requests and of evictions, from two states: whole answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Conditions, Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.objects import Origin
from gitfleet.api.runs import ApprovalRequest, ClusterUpdate, RunRecord, RunStatus, StageStatus
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.model.events import Event, EventType
from gitfleet.model.state import FleetState
from gitfleet.status import emit_events, sentence
from gitfleet.status.failures import waiting_eviction
from gitfleet.status.run_events import request_events, run_events
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, condition

RUN = RunRecord(key=NamespacedName("", "go"), placement_name="web", strategy_name="all", created=T0)


def said(type_: str, reason: str, status: str = "True", message: str = "") -> Condition:
    """A condition of a run, a stage or a cluster."""
    return condition(type_, status, reason, message)


def status(
    *conditions: Condition, stage: Conditions = (), cluster: Conditions = (), deletes: bool = False
) -> RunRecord:
    """The run with a stage of one cluster, which may be the one that deletes."""
    update = ClusterUpdate(cluster="a", conditions=cluster)
    one = StageStatus(name="all", clusters=(update,), conditions=stage)
    stages: dict[str, Any] = {"deletion": one} if deletes else {"stages": (one,)}
    return replace(RUN, status=RunStatus(conditions=conditions, **stages))


def told(old: RunRecord | None, new: RunRecord | None) -> list[dict[str, Any]]:
    """The events as JSON."""
    return [event.to_json() for event in run_events(old, new)]


STARTED = (said("Progressing", "StageUpdatingStarted"),)
UPDATING = (said("Started", "ClusterUpdatingStarted"),)
UPDATED = (*UPDATING, said("Succeeded", "ClusterUpdatingSucceeded"))
STAGE = {"run": "go", "stage": "all"}


@pytest.mark.parametrize(
    ("old", "new", "events"),
    [
        (None, None, []),
        (status(stage=STARTED), None, []),
        (
            status(stage=STARTED, cluster=UPDATING),
            status(stage=STARTED, cluster=UPDATED),
            [{"type": "clusterUpdate", "cluster": "a", **STAGE, "phase": "succeeded"}],
        ),
        (
            status(stage=STARTED, cluster=UPDATING),
            status(stage=(said("Progressing", "StageUpdatingWaiting", "False"),), cluster=UPDATING),
            [{"type": "stage", **STAGE, "phase": "waiting"}],
        ),
        (
            status(stage=STARTED),
            status(
                stage=(
                    said("Progressing", "StageUpdatingSucceeded", "False"),
                    said("Succeeded", "StageUpdatingSucceeded"),
                )
            ),
            [{"type": "stage", **STAGE, "phase": "succeeded"}],
        ),
        (
            None,
            status(stage=STARTED, deletes=True),
            [{"type": "stage", **STAGE, "phase": "started"}],
        ),
        (
            status(said("Progressing", "UpdateRunStarted", message="it goes")),
            status(said("Progressing", "UpdateRunStarted", message="it goes on")),
            [],
        ),
        (
            status(said("Progressing", "UpdateRunStarted")),
            status(
                said("Progressing", "UpdateRunStarted", "False"),
                said("Succeeded", "UpdateRunSucceeded", message="all"),
            ),
            [
                {"type": "run", "placement": "web", "run": "go", "condition": "Progressing", "status": "False",
                 "reason": "UpdateRunStarted"},
                {"type": "run", "placement": "web", "run": "go", "condition": "Succeeded", "status": "True",
                 "reason": "UpdateRunSucceeded", "message": "all"},
            ],
        ),
    ],
)  # fmt: skip
def test_what_happened_to_a_run(old: RunRecord | None, new: RunRecord | None, events: list[dict[str, Any]]) -> None:
    assert told(old, new) == events
    key = RUN.key
    before, after = (FleetState(runs={key: one} if one is not None else {}) for one in (old, new))
    assert [event.to_json() for event in emit_events(before, after)] == events


REQUEST = ApprovalRequest(
    key=NamespacedName("shop", "go-all"), parent_run="go", target_stage="all", created=T0, task="afterStage"
)
FIELDS = {"run": "shop/go", "stage": "all", "approval": "shop/go-all"}


@pytest.mark.parametrize(
    ("old", "conditions", "events"),
    [
        (None, (), [{"type": "approvalRequested", **FIELDS}]),
        (
            (),
            (condition("Approved", "True", "Merged", "by ann"),),
            [{"type": "approved", **FIELDS, "message": "by ann"}],
        ),
        ((), (condition("Approved", "True", "Merged"),), [{"type": "approved", **FIELDS, "message": "Merged"}]),
        ((), (condition("Approved", "False", "No"),), [{"type": "rejected", **FIELDS, "message": "No"}]),
        ((), (condition("Approved", "Unknown", "NotCounted"),), []),
        ((), (condition("ApprovalAccepted", "True", "x"),), []),
        ((condition("Approved", "True", "Merged"),), (condition("Approved", "True", "Merged"),), []),
    ],
)
def test_what_happened_to_a_request(
    old: Conditions | None, conditions: Conditions, events: list[dict[str, Any]]
) -> None:
    before = replace(REQUEST, conditions=old) if old is not None else None
    after = replace(REQUEST, conditions=conditions)
    assert [event.to_json() for event in request_events(before, after)] == events
    old_state, new_state = (FleetState(approvals={one.key: one} if one is not None else {}) for one in (before, after))
    assert [event.to_json() for event in emit_events(old_state, new_state)] == events
    assert list(request_events(after, None)) == [] == list(request_events(after, after))
    cluster_wide = replace(after, key=NamespacedName("", "go-all"))
    assert [event.fields["run"] for event in request_events(None, cluster_wide)][:1] == ["go"]


@pytest.mark.parametrize(
    ("status", "type_"), [(Status.TRUE, "evicted"), (Status.FALSE, "evictionRefused"), (None, None)]
)
def test_what_became_of_an_eviction(status: Status | None, type_: str | None) -> None:
    conditions = (condition("Executed", status.value, "Why", "so it is"),) if status is not None else ()
    one = Eviction(name="e", placement_name="web", cluster_name="a", conditions=conditions)
    before, after = FleetState(), FleetState(evictions={"e": one})
    fields = {"placement": "web", "cluster": "a", "eviction": "e", "reason": "Why", "message": "so it is"}
    assert [event.to_json() for event in emit_events(before, after)] == ([{"type": type_, **fields}] if type_ else [])
    again = FleetState(evictions={"e": replace(one, body={"kind": "Eviction"})})
    assert [list(emit_events(after, now)) for now in (after, before, again)] == [[], [], []]


def test_an_eviction_that_waits_is_a_warning_where_it_is_written() -> None:
    one = Eviction(name="e", placement_name="web", cluster_name="a")
    fields = (
        "ClusterResourcePlacementEviction/e",
        "",
        StatusText.WAITS_TAKE_OFF(placement_name="web", eviction="a", why="it is frozen"),
        Severity.WARNING,
    )
    assert waiting_eviction(one, "it is frozen") == Fault("evictions", 1, *fields)
    written = replace(one, origin=Origin("evictions/e.yaml", 3))
    assert waiting_eviction(written, "it is frozen") == Fault("evictions/e.yaml", 3, *fields)


@pytest.mark.parametrize(
    ("type_", "fields", "words"),
    [
        ("run", {"reason": "UpdateRunStarted"}, "run go: UpdateRunStarted"),
        ("run", {"reason": "UpdateRunFailed", "message": "no"}, "run go: UpdateRunFailed: no"),
        ("stage", {"stage": "all", "phase": "started"}, "run go: stage all started"),
        ("clusterUpdate", {"stage": "all", "phase": "failed"}, "run go: stage all: a failed"),
        (
            "approvalRequested",
            {"stage": "all", "approval": "go-all"},
            ("run go: " + StatusText.STAGE_WAITS_APPROVAL(fields="all", fields_2="go-all")),
        ),
        ("approved", {"stage": "all", "message": "by ann"}, "run go: stage all approved: by ann"),
    ],
)
def test_each_event_of_a_run_in_words(type_: str, fields: dict[str, Any], words: str) -> None:
    assert sentence(Event(type=EventType(type_), cluster="a", fields={"run": "go", **fields})) == words
