"""What a cluster was to give up and still has: objects whose deletion was refused, waits, or may not be asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitfleet.api.bindings import DELETED, Binding, FailedObject
from gitfleet.api.objects import ObjectKey
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, Outcome

_WAITING: Final = (
    KeepCode.TERMINATING,
    KeepCode.NAMESPACE_IN_USE,
    KeepCode.UNREADABLE,
    KeepCode.KEPT_FOR_SUCCESSOR,
    KeepCode.ROLLOUT,
)


def not_deleted(
    binding: Binding, operations: Iterable[Operation], outcomes: Iterable[Outcome]
) -> tuple[FailedObject, ...]:
    """The objects of a binding's cluster that are still there although they are to go, and why, by their keys.

    A deletion that is planned and not performed yet keeps what is known of the one before.
    """
    going = [operation for operation in operations if _is_going(operation)]
    if not going:
        return ()
    known = {failed.key: failed for failed in binding.failed if failed.condition == DELETED}
    done = {o.operation.key: o for o in outcomes if isinstance(o.operation, Delete)}
    found: dict[ObjectKey, FailedObject] = {}
    for operation in going:
        key = operation.key
        if isinstance(operation, Delete):
            outcome = done.get(key)
            if outcome is None and key in known:
                found[key] = known[key]
            elif outcome is not None and not outcome.ok:
                found[key] = _failed(key, outcome.code.value, outcome.message.removeprefix(f"{key}: "))
        elif isinstance(operation, Keep):
            found[key] = _failed(key, operation.code.value, operation.reason.replace(str(key), "it", 1))
    return tuple(found[key] for key in sorted(found, key=lambda key: key.order))


def _is_going(operation: Operation) -> bool:
    """Whether an object is to go, or would if it did not have to wait."""
    if isinstance(operation, Keep):
        return operation.manifest is None and operation.code in _WAITING
    return isinstance(operation, Delete)


def _failed(key: ObjectKey, reason: str, message: str) -> FailedObject:
    return FailedObject(key=key, condition=DELETED, reason=reason, message=message)
