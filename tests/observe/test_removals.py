"""What is to go and still there: which operations and outcomes of a cluster say so, and what a binding shows of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import DELETED, Binding, FailedObject
from gitfleet.api.objects import ObjectKey
from gitfleet.model.operations import Delete, KeepCode, Operation, Outcome, OutcomeCode
from gitfleet.observe import ClusterSeen, observe_binding
from gitfleet.observe.bindings import MOST_OBJECTS, observe_removal
from gitfleet.observe.results import not_deleted
from tests.gates import permit
from tests.observe.test_bindings import CM, DEPLOYMENT, T0, T1, WEB, binding, create, done_by_cluster, kept, work


def delete(key: ObjectKey = CM.key) -> Delete:
    """An object that is to go."""
    return Delete(
        cluster="c1", placement=WEB, key=key, uid="u", wave=1, reason="no longer wanted", permit=permit("c1", key)
    )


def came(operation: Delete, ok: bool, code: OutcomeCode, message: str = "") -> Outcome:
    """What the API server said of it."""
    return Outcome(operation=operation, ok=ok, code=code, message=message)


def there(reason: str, message: str, key: ObjectKey = CM.key) -> FailedObject:
    """An object that is not deleted."""
    return FailedObject(key=key, condition=DELETED, reason=reason, message=message)


def unwanted(code: KeepCode, reason: str, key: ObjectKey = CM.key) -> Operation:
    """An object that no manifest asks for and that is left alone."""
    return replace(kept(CM, code=code, reason=reason, manifest=None), key=key)


REFUSED = came(delete(), False, OutcomeCode.FORBIDDEN, f"no permission for {CM.key}")
NOT_PERMITTED = there("Forbidden", f"no permission for {CM.key}")
BEFORE = there("Conflict", "changed meanwhile")
NOT_APPLIED = FailedObject(key=CM.key, condition="Applied", reason="Invalid", message="no such field")


@pytest.mark.parametrize(
    ("known", "operations", "outcomes", "expected"),
    [
        ((), [delete()], [REFUSED], (NOT_PERMITTED,)),
        ((), [delete()], [came(delete(), True, OutcomeCode.DELETED)], ()),
        ((), [delete()], [], ()),
        ((BEFORE,), [delete()], [], (BEFORE,)),
        ((NOT_APPLIED,), [delete()], [], ()),
        ((BEFORE,), [delete()], [REFUSED], (NOT_PERMITTED,)),
        ((BEFORE,), [delete()], [came(delete(), True, OutcomeCode.DELETED)], ()),
        ((BEFORE,), [], [REFUSED], ()),
        ((BEFORE,), [kept(CM)], [], ()),
        ((), [delete()], [done_by_cluster(create(CM), ok=False, code=OutcomeCode.INVALID, message="no")], ()),
        (
            (),
            [unwanted(KeepCode.TERMINATING, f"waits, as {CM.key} has a finalizer")],
            [],
            (there("Terminating", f"waits, as {CM.key} has a finalizer"),),
        ),
        ((), [unwanted(KeepCode.NAMESPACE_IN_USE, "in use")], [], (there("NamespaceInUse", "in use"),)),
        ((), [unwanted(KeepCode.UNREADABLE, "forbidden")], [], (there("Unreadable", "forbidden"),)),
        *[((), [unwanted(code, "so")], [], ()) for code in (KeepCode.STAYS, KeepCode.NOT_OBSERVED)],
        ((), [kept(CM, code=KeepCode.TERMINATING, reason="wanted again")], [], ()),
        (
            (),
            [
                unwanted(KeepCode.UNREADABLE, "forbidden", replace(CM.key, name="b")),
                create(DEPLOYMENT),
                delete(replace(CM.key, name="a")),
                delete(),
            ],
            [came(delete(replace(CM.key, name="a")), False, OutcomeCode.SERVER_ERROR, "broken"), REFUSED],
            (
                there("ServerError", "broken", replace(CM.key, name="a")),
                there("Unreadable", "forbidden", replace(CM.key, name="b")),
                NOT_PERMITTED,
            ),
        ),
    ],
)
def test_what_is_still_there_and_why(
    known: tuple[FailedObject, ...],
    operations: list[Operation],
    outcomes: list[Outcome],
    expected: tuple[FailedObject, ...],
) -> None:
    before = binding(failed=known)
    assert not_deleted(before, operations, outcomes) == expected
    seen = ClusterSeen(work=None, operations=operations, outcomes=outcomes)
    given_up = observe_removal(before, seen)
    assert given_up == replace(before, failed=expected)
    assert (given_up is before) == (expected == known)
    silent = seen._replace(unreachable="timed out")
    assert observe_removal(before, silent) is before, "a cluster that does not answer says nothing"


def test_no_more_objects_are_told_than_a_binding_may_have() -> None:
    keys = [replace(CM.key, name=f"cm-{number:03d}") for number in range(MOST_OBJECTS + 20)]
    plan = [delete(key) for key in keys]
    done = [came(one, False, OutcomeCode.FORBIDDEN, "no") for one in plan]
    expected = tuple(there("Forbidden", "no", key) for key in keys[:MOST_OBJECTS])
    given_up: Binding = binding(deleting=T0)
    assert observe_removal(given_up, ClusterSeen(work=None, operations=plan, outcomes=done)).failed == expected
    wanted: Any = work(CM)
    seen = ClusterSeen(work=wanted, operations=[kept(CM), *plan], outcomes=done)
    assert observe_binding(binding(), seen, T1).failed == expected
