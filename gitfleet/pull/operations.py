"""Operations as a delivery carries them to an agent, and back to what is performed there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from gitfleet.api import InvalidContent, read_state
from gitfleet.api.deliveries import ClusterDelivery, DeliveredOperation, DeliveredStep, DeliveryAction, StepAction
from gitfleet.api.member_reports import ReportedOutcome
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.yaml_reader import UnreadableText, read_documents
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import (
    Create,
    Delete,
    DeletePod,
    Operation,
    Outcome,
    OutcomeCode,
    Patch,
    PropagationPolicy,
    RefusedStep,
    RolloutWrite,
    Update,
    Write,
    is_refused,
)
from gitfleet.model.removals import Permit
from gitfleet.pull.texts import PullText

_Write = TypeVar("_Write", Write, RolloutWrite)


def read_delivery(content: bytes) -> ClusterDelivery:
    """The delivery in a file; InvalidContent where it is none."""
    try:
        documents = read_documents(content)
    except UnreadableText as error:
        raise InvalidContent(str(error)) from None
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise InvalidContent(PullText.HOLDS_NO_SINGLE_DOCUMENT())
    return read_state(ClusterDelivery, documents[0])


def writes_by_cluster(operations: Iterable[Operation]) -> dict[str, list[Write]]:
    """What is to be written, by cluster."""
    return by_cluster(operation for operation in operations if isinstance(operation, Write))


def by_cluster(writes: Iterable[_Write]) -> dict[str, list[_Write]]:
    """Writes, or steps of rollouts, by their cluster, in their order."""
    writes_by_name: dict[str, list[_Write]] = {}
    for write in writes:
        writes_by_name.setdefault(write.cluster, []).append(write)
    return writes_by_name


def operation_id(operation: Write) -> str:
    """What names an operation between two reconciles: the same manifest for the same object is one operation, whether
    the object is there by now or not; a deletion is of one very object."""
    place = (str(operation.placement), *operation.key.identity)
    last = operation.uid if isinstance(operation, Delete) else operation.manifest.digest
    verb = "delete" if isinstance(operation, Delete) else "apply"
    return digest_of([verb, *place, last])[:32]


def delivered(operation: Write, file: str) -> DeliveredOperation:
    """The operation as a delivery carries it; `file` is where its manifest stands there."""
    order = DeliveredOperation(
        id=operation_id(operation),
        action=DeliveryAction(type(operation).__name__),
        placement=operation.placement,
        object=operation.key,
        reason=operation.reason,
        file=file,
        wave=operation.wave,
    )
    match operation:
        case Create():
            return replace(order, needs=operation.needs, force=operation.force)
        case Update():
            return replace(
                order,
                needs=operation.needs,
                force=operation.force,
                uid=operation.live.uid,
                generation=operation.live.generation if operation.resource_version else 0,
                resource_version=operation.resource_version,
                removes=operation.removes,
            )
        case Delete():
            # Whoever came here past the removal gate has no permit: the agent refuses.
            permit = operation.permit.granted_by if operation.permit.covers(operation.cluster, operation.key) else ""
            return replace(order, uid=operation.uid, propagation=operation.propagation.value, permit=permit)
        case other:
            assert_never(other)


def performable(
    cluster: str, order: DeliveredOperation, manifest: Manifest | None, live: Mapping[ObjectKey, LiveObject | None]
) -> Write | str:
    """What an agent performs for an operation of a delivery over what it observes now, or why it cannot, in a sentence:
    its hub decided over an earlier observation, and decides again over the next."""
    if order.action is DeliveryAction.DELETE:
        if not order.permit:
            return PullText.DELIVERY_WITHOUT_PERMIT(object=order.object)
        if order.propagation not in tuple(PropagationPolicy):
            return PullText.DELIVERY_NOT_SAY_BECOMES_DEPENDENTS(object=order.object)
        return Delete(
            cluster=cluster,
            placement=order.placement,
            reason=order.reason,
            key=order.object,
            uid=order.uid,
            wave=order.wave,
            permit=Permit(cluster, order.object.identity, order.permit),
            propagation=PropagationPolicy(order.propagation),
        )
    if manifest is None:
        return PullText.MANIFEST_NOT_DELIVERY(object=order.object)
    create = Create(
        cluster=cluster,
        placement=order.placement,
        reason=order.reason,
        manifest=manifest,
        wave=order.wave,
        needs=order.needs,
        force=order.force,
    )
    match order.action:
        case DeliveryAction.CREATE:
            return create
        case DeliveryAction.UPDATE:
            return _update(create, order, live.get(order.object))
        case _:
            assert_never(order.action)


def _update(create: Create, order: DeliveredOperation, live: LiveObject | None) -> Update | str:
    """The same over the object that is there, where it still is the one that the hub saw."""
    if live is None or live.uid != order.uid:
        return PullText.DELETED_REPLACED_SINCE_HUB_SAW(object=order.object)
    version = order.resource_version
    if version is not None and version != live.resource_version:
        if not order.generation or order.generation != live.generation:
            return PullText.CHANGED_SINCE_HUB_SAW(object=order.object)
        version = live.resource_version
    return Update(
        cluster=create.cluster,
        placement=create.placement,
        reason=create.reason,
        manifest=create.manifest,
        wave=create.wave,
        needs=create.needs,
        force=create.force,
        live=live,
        resource_version=version,
        removes=order.removes,
    )


def outcome_of(operation: Write, answer: ReportedOutcome, live: LiveObject | None) -> Outcome | None:
    """A reported outcome for an operation of the hub; None for a code that this version does not know."""
    if answer.code not in _CODES:
        return None
    code, message = OutcomeCode(answer.code), answer.message
    return Outcome(operation=operation, ok=answer.ok, code=code, message=message, retry=answer.retry, live=live)


def delivered_step(step: RolloutWrite, live: Mapping[ObjectKey, LiveObject | None]) -> DeliveredStep:
    """The step as a delivery carries it, for an object as the hub saw it. It stays the same step while that object's
    spec does: every new status has another version, and its generation proves as much."""
    observed = live.get(step.key)
    generation = observed.generation if isinstance(step, Patch) and observed is not None else 0
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
    failed = {
        outcome.id: outcome for outcome in outcomes if is_refused(outcome.ok, outcome.code) and outcome.code in _CODES
    }
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
    observed = live.get(order.object)
    if observed is None or observed.uid != order.uid:
        return PullText.DELETED_REPLACED_SINCE_HUB_SAW(object=order.object)
    seen, now = order.resource_version, observed.resource_version
    if order.generation:
        seen, now = str(order.generation), str(observed.generation)
    if seen != now:
        return PullText.CHANGED_SINCE_HUB_SAW(object=order.object)
    return Patch(
        cluster=cluster,
        rollout=rollout,
        reason=order.reason,
        key=order.object,
        uid=order.uid,
        resource_version=observed.resource_version,
        patch=order.patch,
    )
