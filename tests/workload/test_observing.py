"""What must be read of clusters for workload rollouts."""

from __future__ import annotations

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutMode
from gitfleet.model.state import FleetState
from gitfleet.workload.handlers import BUILT_IN
from gitfleet.workload.rollouts import HandledRollouts
from tests.workload.test_reverting import record_of

WEB = ObjectKey("apps", "v1", "Deployment", "web", "web")
ROLLING, SUCCEEDED = RollingState.ROLLING_IN_BATCHES, RollingState.SUCCEEDED


@pytest.mark.parametrize(
    ("state", "mode", "expected"),
    [
        (ROLLING, RolloutMode.IN_PLACE, {"c1": {WEB}}),
        (ROLLING, None, {"c1": {WEB}}),
        (ROLLING, RolloutMode.SOURCE_TO_TARGET, {}),
        (ROLLING, RolloutMode.SCALE, {}),
        (SUCCEEDED, RolloutMode.IN_PLACE, {}),
    ],
)
def test_replica_sets_are_read_while_a_deployment_is_rolled_out_in_place(
    state: RollingState, mode: RolloutMode | None, expected: dict[str, set[ObjectKey]]
) -> None:
    status = ClusterRolloutStatus(cluster="c1", target=WEB, mode=mode, rolling_state=state)
    record = record_of(status)
    before = FleetState(rollouts={record.key: record})
    assert HandledRollouts(BUILT_IN).pods_to_observe(before) == expected
