"""What the conditions of a rollout say as it goes from phase to phase."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.api.conditions import Status, find_condition, message_of
from gitfleet.api.workload_records import WorkloadConditionType, WorkloadReason
from gitfleet.workload.phases import TYPES, Phase, entered, waiting
from gitfleet.workload.texts import WorkloadText
from tests.workload_records import T0, on

_R = WorkloadReason
LATER = T0 + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("left", "lets_go", "end"),
    [
        (Phase.BATCH_VERIFYING, Phase.BATCH_VERIFY_FAILED, Phase.FAILED),
        (Phase.INITIALIZING, Phase.FAILING, Phase.FAILED),
        (Phase.BATCH_READY, Phase.ABANDONING, Phase.ABANDONED),
    ],
)
def test_what_lets_go_says_why_to_the_end(left: Phase, lets_go: Phase, end: Phase) -> None:
    failing = entered(on("a", lets_go), left, lets_go, _R.REJECTED, "errors is 0.05, above 0.01", T0)
    failing = waiting(failing, lets_go, _R.WAITING, ("Deployment/shop/web " + WorkloadText.IS_BE_CHANGED()), T0)
    assert message_of(failing.conditions, TYPES[lets_go]) == "errors is 0.05, above 0.01"
    over = entered(failing, lets_go, end, _R.DONE, "", LATER)
    assert message_of(over.conditions, TYPES[end]) == "errors is 0.05, above 0.01"
    found = find_condition(over.conditions, TYPES[end])
    assert found is not None
    assert (found.status, found.last_transition_time) == (Status.TRUE, LATER)


def test_what_goes_on_says_what_it_waits_for_now() -> None:
    status = waiting(on("a", Phase.BATCH_VERIFYING), Phase.BATCH_VERIFYING, _R.WAITING, "2 of 5 pods are ready", T0)
    status = waiting(status, Phase.BATCH_VERIFYING, _R.WAITING, "4 of 5 pods are ready", LATER)
    assert message_of(status.conditions, TYPES[Phase.BATCH_VERIFYING]) == "4 of 5 pods are ready"


def test_a_pause_is_true_only_while_it_lasts() -> None:
    paused = waiting(on("a", Phase.BATCH_READY), Phase.BATCH_READY, _R.PAUSED, "it is paused", T0)
    goes_on = waiting(paused, Phase.BATCH_READY, _R.WAITING, "", LATER)
    found = [find_condition(one.conditions, WorkloadConditionType.BATCH_PAUSED) for one in (paused, goes_on)]
    assert [(one.status, one.message) for one in found if one is not None] == [
        (Status.TRUE, "it is paused"), (Status.FALSE, ""),
    ]  # fmt: skip
