"""Operations as a delivery carries them to an agent, and back to what is performed there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from gitfleet.api.deliveries import DeliveredOperation, DeliveryAction
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Operation, Outcome, OutcomeCode, PropagationPolicy, Update, Write
from gitfleet.pull.texts import PullText


def writes_by_cluster(operations: Iterable[Operation]) -> dict[str, list[Write]]:
    """What is to be written, by cluster."""
    found: dict[str, list[Write]] = {}
    for one in operations:
        if isinstance(one, Write):
            found.setdefault(one.cluster, []).append(one)
    return found


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
            return replace(order, uid=operation.uid, propagation=operation.propagation.value)
        case other:
            assert_never(other)


def performable(
    cluster: str, order: DeliveredOperation, manifest: Manifest | None, live: Mapping[ObjectKey, LiveObject | None]
) -> Write | str:
    """What an agent performs for an operation of a delivery over what it observes now, or why it cannot, in a sentence:
    its hub decided over an earlier observation, and decides again over the next."""
    if order.action is DeliveryAction.DELETE:
        if order.propagation not in tuple(PropagationPolicy):
            return PullText.DELIVERY_NOT_SAY_BECOMES_DEPENDENTS(object=order.object)
        return Delete(
            cluster=cluster,
            placement=order.placement,
            reason=order.reason,
            key=order.object,
            uid=order.uid,
            wave=order.wave,
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
    return create if order.action is DeliveryAction.CREATE else _update(create, order, live.get(order.object))


def _update(create: Create, order: DeliveredOperation, there: LiveObject | None) -> Update | str:
    """The same over the object that is there, where it still is the one that the hub saw."""
    if there is None or there.uid != order.uid:
        return PullText.DELETED_REPLACED_SINCE_HUB_SAW(object=order.object)
    version = order.resource_version
    if version is not None and version != there.resource_version:
        if not order.generation or order.generation != there.generation:
            return PullText.CHANGED_SINCE_HUB_SAW(object=order.object)
        version = there.resource_version
    return Update(
        cluster=create.cluster,
        placement=create.placement,
        reason=create.reason,
        manifest=create.manifest,
        wave=create.wave,
        needs=create.needs,
        force=create.force,
        live=there,
        resource_version=version,
        removes=order.removes,
    )


def outcome_of(
    operation: Write, ok: bool, code: str, message: str, retry: bool, live: LiveObject | None
) -> Outcome | None:
    """A reported outcome for an operation of the hub; None for a code that this version does not know."""
    known = {one.value: one for one in OutcomeCode}.get(code)
    if known is None:
        return None
    return Outcome(operation=operation, ok=ok, code=known, message=message, retry=retry, live=live)
