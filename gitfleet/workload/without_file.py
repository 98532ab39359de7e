"""What is left of a rollout whose file went before it was through: what keeps its pods, and what waits for what."""

from __future__ import annotations

from datetime import datetime

from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.workload_records import FOLLOWED, RELEASED, ClusterRolloutStatus, RollingState, RolloutMode
from gitfleet.model.held_fields import ABSENT, value_at
from gitfleet.workload.cases import Needed, file_is_gone
from gitfleet.workload.finding import Found
from gitfleet.workload.goals import left_to_change
from gitfleet.workload.handlers import Workloads
from gitfleet.workload.handlers.reading import REPLICAS, is_seen, pods_there, ready_there


def why_kept(status: ClusterRolloutStatus, found: Found, seen: Workloads) -> str:
    """Why a target keeps its pods although its manifest has changed: it asks for none, as it was written for the
    rollout to give it some. "" where nothing keeps them."""
    if status.mode is not RolloutMode.SOURCE_TO_TARGET or seen.wanted is None or seen.target is None:
        return ""
    has = found.handler.size(seen.target.body)
    if found.handler.size(seen.wanted) or not has:
        return ""
    return f"the manifest of {found.target} asks for no pods and {has} run; write their number into it, or remove it"


def is_left_amid(status: ClusterRolloutStatus, needed: Needed) -> bool:
    """Whether a rollout whose file is gone has left pods as they were half way, or given them back to sources that
    nobody wants."""
    if status.rolling_state is not RollingState.ABANDONED or status.mode is None:
        return False
    goes_on = status.let_go in ("", RELEASED, FOLLOWED)
    return not goes_on and not (status.revert and (needed.sources or not status.sources))


def why_left_amid(plan: RolloutPlan, status: ClusterRolloutStatus, found: Found, seen: Workloads, now: datetime) -> str:
    """What a person is to do about pods that were left half way; "" where somebody has gone on by hand with a workload
    that no placement has, or there is nothing to do."""
    if seen.wanted is not None:
        return file_is_gone(status)
    live = seen.target
    if status.mode is not RolloutMode.IN_PLACE or live is None:
        return ""
    goes_on = left_to_change(plan, status, found.handler, seen, now) or not found.handler.has_older_pods(live.body)
    if goes_on:
        return ""
    key = found.target
    by_hand = "change there how it updates"
    if key.kind == "Deployment":
        by_hand = f"`kubectl -n {key.namespace} rollout resume deployment/{key.name}` there"
    return f"its file is gone, and no placement has {key}: bring the file back, or go on by hand: {by_hand}"


def why_awaited(status: ClusterRolloutStatus, found: Found, seen: Workloads, needed: Needed) -> str:
    """Why sources that nobody wants any more stay: the target does not have its pods yet. "" where nothing stays."""
    left = [live.key for live in seen.sources if pods_there(live)]
    if not left or needed.sources or seen.wanted is None:
        return ""
    size, ready = found.handler.size(seen.wanted), ready_there(seen.target)
    if not size:
        return f"the manifest of {found.target} asks for no pods, and {left[0]} has all; write their number in"
    if status.mode is RolloutMode.SOURCE_TO_TARGET and value_at(seen.wanted, REPLICAS) is ABSENT:
        size = status.target_size  # the manifest leaves the number to somebody else
    if seen.target is not None and is_seen(seen.target) and ready >= size:
        return ""
    return f"{ready} of {size} pods of {found.target} are ready, and {left[0]} stays until they all are"
