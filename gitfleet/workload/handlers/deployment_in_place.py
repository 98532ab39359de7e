"""A Deployment whose template changes, in batches that its own controller carries out.

The controller replaces as many pods as maxSurge and maxUnavailable let it, and goes on when new ones are available.
With the longest `minReadySeconds` new pods are ready but never available, so that it stops: with `maxUnavailable: n` it
keeps `size - n` pods of the older content and n of the newer (kubernetes pkg/controller/deployment/rolling.go). Where
nothing is to move, it is paused; a paused controller still gives `spec.replicas + maxSurge` pods, so that those fields
stay as they are while it is.
"""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.formats.kinds import REVISION
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, NEVER_AVAILABLE, Fields, FieldValue, value_at
from gitfleet.workload.handlers.reading import (
    PAUSED,
    REPLICAS,
    annotation,
    asked,
    given_back,
    is_paused,
    is_seen,
    is_within,
    kept_fields,
    number,
    of_manifest,
    pods_there,
    ready_there,
    stored_template,
    updated_there,
)
from gitfleet.workload.handlers.replicas import until_seen
from gitfleet.workload.handlers.values import Counts, Goal, Step, Workloads

TYPE: Final = "/spec/strategy/type"
SURGE: Final = "/spec/strategy/rollingUpdate/maxSurge"
UNAVAILABLE: Final = "/spec/strategy/rollingUpdate/maxUnavailable"
TEMPLATE: Final = "/spec/template"
_ROLLING: Final = "/spec/strategy/rollingUpdate"
MIN_READY: Final = "/spec/minReadySeconds"
DEADLINE: Final = "/spec/progressDeadlineSeconds"
_LONGEST: Final = 20
"""Digits of a 64-bit number."""
_HELD: Final = (REPLICAS, PAUSED, TYPE, SURGE, UNAVAILABLE, MIN_READY, DEADLINE)


def in_place_fields(seen: Workloads, goal: Goal, step: Step) -> Fields:
    """What the fields of a Deployment are to be; none where it is still to be made: all its pods are new then."""
    if seen.target is None:
        return {}
    if step is Step.RELEASE:
        return _released(seen, goal)
    if step is Step.REVERT and seen.before is not None:
        return _reverted(seen, seen.target, goal, seen.before)
    moves = step in (Step.FIRST, Step.SECOND)
    if moves and not is_seen(seen.target):
        # How many are upgraded is not known; what was asked for last goes on.
        is_moving = number(seen.target.body, MIN_READY) == NEVER_AVAILABLE
        return {**kept_fields(seen.target.body, _HELD), **({} if is_moving else {PAUSED: True})}
    if moves and is_paused(seen.target) and any(map(_counts_too_few, seen.pods)):
        return _paused(seen.target, asked(seen.target))
    if moves:
        surge, unavailable = _allowed(seen, goal, step)
        if surge or unavailable:
            return {
                REPLICAS: goal.size,
                PAUSED: False,
                TYPE: "RollingUpdate",
                SURGE: surge,
                UNAVAILABLE: unavailable,
                MIN_READY: NEVER_AVAILABLE,
                DEADLINE: NEVER_AVAILABLE + 1,
            }
    return _paused(seen.target, goal.size if step is Step.CLAIM else asked(seen.target))


def _paused(live: LiveObject, size: int) -> Fields:
    """No content moves. There is room for all pods of a rollout under way: of those in excess a paused controller takes
    ready ones too, in proportion."""
    fields = {**kept_fields(live.body, _HELD), REPLICAS: size, PAUSED: True}
    if number(live.body, MIN_READY) == NEVER_AVAILABLE:
        fields[SURGE] = max(number(live.body, SURGE), pods_there(live) - size)
    return fields


def _reverted(seen: Workloads, live: LiveObject, goal: Goal, before: JsonObject) -> Fields:
    """The template of before, to which its controller goes by itself, within the bounds of the batch."""
    decreases = goal.strategy is RolloutStrategy.DECREASE_FIRST
    template = value_at(live.body, TEMPLATE) if _is_back(seen, live) else before
    return {
        REPLICAS: asked(live),
        PAUSED: False,
        TYPE: "RollingUpdate",
        SURGE: 0 if decreases else max(1, goal.upgraded - goal.before),
        UNAVAILABLE: max(1, goal.unavailable) if decreases else goal.unavailable,
        TEMPLATE: template,
        **_seconds(seen),
    }


def _is_back(seen: Workloads, live: LiveObject) -> bool:
    """Whether the template of before is there again: that of the manifest is not."""
    template = stored_template(live.body)
    is_wanted = seen.wanted is not None and is_within(stored_template(seen.wanted), template)
    return seen.before is not None and is_within(seen.before, template) and not is_wanted


def outdated_fields(seen: Workloads, step: Step) -> dict[ObjectKey, Fields]:
    """What ReplicaSets are to be before other content begins to roll: the pods of one that was the newest under a
    rollout are ready and never available, and a controller takes such pods away before those that are not ready. They
    become available as all older ones are. Only while the newest content has no pods is it plain which those are."""
    live = seen.target
    begins = step is Step.CLAIM and live is not None and is_seen(live) and is_paused(live)
    if live is None or not begins or updated_there(live.body):
        return {}
    never = (
        replica_set
        for replica_set in seen.pods
        if number(replica_set.body, MIN_READY) >= NEVER_AVAILABLE and pods_there(replica_set)
    )
    return {replica_set.key: {MIN_READY: ABSENT} for replica_set in never}


def _counts_too_few(replica_set: LiveObject) -> bool:
    """Whether a ReplicaSet's controller is still to count ready pods as available, which need no time for that."""
    available = number(replica_set.body, "/status/availableReplicas")
    return not number(replica_set.body, MIN_READY) and ready_there(replica_set) > available


def in_place_counts(seen: Workloads, goal: Goal) -> Counts:
    """How many pods are upgraded and ready. A Deployment's status does not say how many of the ready pods have the
    newest content, of which there may be three; that its ReplicaSets say. Where those could not be read, or are newer
    than the Deployment that was read, it is the fewest that it can be."""
    live = seen.target
    if live is None:
        return Counts(observed=False)
    pods, ready = pods_there(live), ready_there(live)
    updated = min(pods, updated_there(live.body))
    # Of a paused one whose content is new there is no ReplicaSet yet: the last one is of the content of before.
    newest = _newest(seen, live) if updated else None
    if newest is not None:
        upgraded_ready = min(updated, ready_there(newest))
        old_ready = sum(ready_there(replica_set) for replica_set in seen.pods if replica_set is not newest)
    else:
        upgraded_ready = max(0, ready - (pods - updated))
        old_ready = ready - upgraded_ready
    is_known = newest is not None or not updated or not seen.pods
    if _is_back(seen, live):  # the newest content is that of before
        is_back = is_seen(live) and is_known and pods == asked(live)
        return Counts(
            upgraded=pods - updated, upgraded_ready=old_ready, old=updated, old_ready=upgraded_ready, observed=is_back
        )
    is_given = is_paused(live) or pods == asked(live) + number(live.body, SURGE)
    counts = Counts(
        upgraded=updated,
        upgraded_ready=upgraded_ready,
        old=pods - updated,
        old_ready=old_ready,
        observed=is_seen(live) and is_known and is_given,
    )
    return until_seen(counts, seen, goal)


def _newest(seen: Workloads, live: LiveObject) -> LiveObject | None:
    """The ReplicaSet of the newest content: the one with the highest revision, which its Deployment has taken over."""
    last = max(seen.pods, key=_revision, default=None)
    return last if last is not None and 0 < _revision(last) == _revision(live) else None


def _revision(live: LiveObject) -> int:
    written = annotation(live, REVISION)
    return int(written) if written.isdecimal() and len(written) < _LONGEST else 0


def _allowed(seen: Workloads, goal: Goal, step: Step) -> tuple[int, int]:
    """maxSurge and maxUnavailable: the older content keeps all pods but maxUnavailable. More pods than the batch asks
    for are upgraded where content of which there are pods still comes back half way: what is there of it counts, and
    stays."""
    counts = in_place_counts(seen, goal)
    upgraded = max(goal.upgraded, min(counts.upgraded, goal.size))
    # No more than may be missing go before their successors are ready.
    followed = min(upgraded, counts.upgraded_ready + goal.unavailable)
    if goal.strategy is RolloutStrategy.DECREASE_FIRST:
        return 0, min(upgraded, counts.upgraded_ready + max(1, goal.unavailable))
    if step is Step.SECOND:
        return 0, max(goal.upgraded, followed)
    if counts.upgraded > goal.upgraded:
        return 0, max(goal.before, followed)
    # By the older pods, since those stay the same while the newer ones come.
    return max(0, goal.upgraded - max(goal.before, goal.size - counts.old)), goal.before


def _released(seen: Workloads, goal: Goal) -> Fields:
    size = of_manifest(seen, REPLICAS, goal.size)
    return {REPLICAS: size, PAUSED: False, **_seconds(seen), **_strategy(seen)}


def _seconds(seen: Workloads) -> Fields:
    seconds = given_back(seen, MIN_READY)  # a server leaves out what is zero here
    return {MIN_READY: seconds if seconds != 0 else ABSENT, DEADLINE: given_back(seen, DEADLINE, 600)}


def _strategy(seen: Workloads) -> Fields:
    """The manifest's strategy, else the one of before, with what a server fills in."""
    fields: dict[str, FieldValue] = {name: value_at(seen.wanted or {}, name) for name in (TYPE, SURGE, UNAVAILABLE)}
    if all(value is ABSENT for value in fields.values()):
        fields = {name: (seen.originals or {}).get(name, ABSENT) for name in fields}
    if fields[TYPE] == "Recreate":
        return {TYPE: "Recreate", _ROLLING: ABSENT}
    defaults = {TYPE: "RollingUpdate", SURGE: "25%", UNAVAILABLE: "25%"}
    return {name: defaults[name] if value is ABSENT else value for name, value in fields.items()}
