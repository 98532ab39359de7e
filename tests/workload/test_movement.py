"""Which workloads are not deleted although no placement has them any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.workload_records import BatchState, RollingState, RolloutMode
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.state import FleetState
from gitfleet.workload.handlers import BUILT_IN
from gitfleet.workload.movement import movement
from tests.workload.handlers.models import Deployment, Model
from tests.workload.handlers.playing import Play
from tests.workload.test_reverting import KEY, NOW, record_of, rolling

OLD, NEW = Deployment.running("old", 2), Deployment.running("new", 4, "new")
VERIFY_FAILED = (RollingState.FAILING, BatchState.VERIFY_FAILED)


def placed(model: Model) -> LiveObject:
    """An object that a placement had, as it is after its manifest went."""
    live = model.live
    applied = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {}}
    return LiveObject(live.key, {**live.body, "metadata": {**live.body["metadata"], "managedFields": [applied]}})


@pytest.mark.parametrize(
    ("state", "revert", "stays"),
    [
        ((RollingState.ABANDONING, None), True, True),
        ((RollingState.FAILING, None), True, True),
        (VERIFY_FAILED, True, True),
        ((RollingState.ABANDONING, None), False, False),
        ((RollingState.ABANDONED, None), True, False),
    ],
)
def test_a_source_stays_while_its_pods_come_back(state: tuple[Any, Any], revert: bool, stays: bool) -> None:
    play = Play(BUILT_IN[NEW.live.key.group_kind], NEW, [OLD])
    status = replace(rolling(play, RolloutMode.SOURCE_TO_TARGET, 6, size=6), revert=revert)
    status = replace(status, rolling_state=state[0], batch_rolling_state=state[1])
    seen = ClusterObservation(cluster="c1", reachable=True, live={one.live.key: placed(one) for one in (OLD, NEW)})
    failures = Failures()
    inputs = Inputs(desired=Desired(commit=""), before=FleetState(), observations={"c1": seen}, now=NOW)
    held = movement({KEY: record_of(status)}, {}, inputs, BUILT_IN, failures).fields["c1"]
    assert failures.found == ()
    assert held[OLD.live.key.identity].stays is stays
