"""Steps of workload rollouts as a delivery carries them to an agent, and back to what is performed there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitfleet.api.deliveries import DeliveredStep, StepAction
from gitfleet.api.member_reports import ReportedOutcome
from gitfleet.api.objects import ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import DeletePod, OutcomeCode, Patch, RefusedStep, RolloutWrite, is_refused
from gitfleet.pull.texts import PullText


def steps_by_cluster(steps: Iterable[RolloutWrite]) -> dict[str, list[RolloutWrite]]:
    """The steps by their cluster, in their order."""
    found: dict[str, list[RolloutWrite]] = {}
    for one in steps:
        found.setdefault(one.cluster, []).append(one)
    return found


def delivered_step(step: RolloutWrite, live: Mapping[ObjectKey, LiveObject | None]) -> DeliveredStep:
    """The step as a delivery carries it, for an object as the hub saw it. It stays the same step while that object's
    spec does: every new status has another version, and its generation proves as much."""
    there = live.get(step.key)
    generation = there.generation if isinstance(step, Patch) and there is not None else 0
    patch = step.patch if isinstance(step, Patch) else {}
    version = step.resource_version if isinstance(step, Patch) and not generation else ""
    action = StepAction(type(step).__name__)
    content = [action.value, str(step.rollout), *step.key.identity, step.uid, str(generation), version, patch]
    return DeliveredStep(
        id=digest_of(content)[:32],
        action=action,
        rollout=str(step.rollout),
        object=step.key,
        reason=step.reason,
        uid=step.uid,
        generation=generation,
        resource_version=version,
        patch=patch,
    )


def refused_steps(
    cluster: str, steps: Iterable[DeliveredStep], outcomes: Iterable[ReportedOutcome]
) -> list[RefusedStep]:
    """The steps that an agent tried and could not carry out, by codes that this version knows."""
    failed = {one.id: one for one in outcomes if is_refused(one.ok, one.code) and one.code in _CODES}
    return [
        RefusedStep(
            cluster=cluster,
            rollout=_rollout_of(step),
            key=step.object,
            code=OutcomeCode(failed[step.id].code),
            message=failed[step.id].message,
        )
        for step in steps
        if step.id in failed
    ]


_CODES = frozenset(code.value for code in OutcomeCode)


def _rollout_of(step: DeliveredStep) -> NamespacedName:
    namespace, _, name = step.rollout.rpartition("/")
    return NamespacedName(namespace, name)


def performable_step(
    cluster: str, order: DeliveredStep, live: Mapping[ObjectKey, LiveObject | None]
) -> RolloutWrite | str:
    """What an agent performs for a step of a delivery over what it observes now, or why it cannot, in a sentence: its
    hub decides again over the next report."""
    rollout = _rollout_of(order)
    if order.action is StepAction.DELETE_POD:
        return DeletePod(cluster=cluster, rollout=rollout, reason=order.reason, key=order.object, uid=order.uid)
    there = live.get(order.object)
    if there is None or there.uid != order.uid:
        return PullText.DELETED_REPLACED_SINCE_HUB_SAW(object=order.object)
    seen, now = order.resource_version, there.resource_version
    if order.generation:
        seen, now = str(order.generation), str(there.generation)
    if seen != now:
        return PullText.CHANGED_SINCE_HUB_SAW(object=order.object)
    return Patch(
        cluster=cluster,
        rollout=rollout,
        reason=order.reason,
        key=order.object,
        uid=order.uid,
        resource_version=there.resource_version,
        patch=order.patch,
    )
