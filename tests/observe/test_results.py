"""What came of each object of a work, as the whole answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import Availability, Verdict
from gitfleet.model.operations import Delete, KeepCode, Operation, Outcome, OutcomeCode, Refuse, RefuseCode, Release
from gitfleet.observe.results import ObjectResult, ObjectState, results_of
from gitfleet.observe.texts import ObserveText
from tests.gates import permit
from tests.observe.test_bindings import CM, WEB, create, done_by_cluster, kept, live, manifest, update, work

A, N = Verdict(Availability.AVAILABLE), Availability.NOT_YET
A_DIFFERS = (("/data/a", "9", "1"),)
BY_KUBECTL = (FieldWriter("/data/a", "kubectl"),)
PENDING = {"state": ObjectState.PENDING, "code": None, "message": ObserveText.BEING_APPLIED()}
ON_CM: dict[str, Any] = {"cluster": "c1", "placement": WEB, "key": CM.key, "reason": "r"}


def result(wanted: Any, **parts: Any) -> ObjectResult:
    """An object that is in place, but for what is given."""
    return ObjectResult(**{"key": wanted.key, "state": ObjectState.IN_PLACE, "message": "", **parts})


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (kept(CM), result(CM, code=KeepCode.IN_PLACE, live=live(CM), verdict=A)),
        (kept(CM, live=None), result(CM, code=KeepCode.IN_PLACE, verdict=Verdict(N, ObserveText.NOT_READ()))),
        (
            kept(CM, code=KeepCode.FOUND_DIFF, reason="differs", details=A_DIFFERS, writers=BY_KUBECTL),
            result(
                CM, code=KeepCode.FOUND_DIFF, message="differs", details=A_DIFFERS, writers=BY_KUBECTL, reported=True
            ),
        ),
        (
            kept(CM, code=KeepCode.NO_DIFF_FOUND, reason=ApplyText.NO_DIFFERENCE_FOUND()),
            result(CM, code=KeepCode.NO_DIFF_FOUND, message=ApplyText.NO_DIFFERENCE_FOUND(), reported=True),
        ),
        (
            kept(CM, code=KeepCode.NOT_OBSERVED, reason="was not observed"),
            result(CM, state=ObjectState.UNSEEN, code=KeepCode.NOT_OBSERVED, message="was not observed"),
        ),
        *[
            (kept(CM, code=code, reason="why"), result(CM, state=ObjectState.RETRYING, code=code, message="why"))
            for code in (
                KeepCode.UNREADABLE,
                KeepCode.TERMINATING,
                KeepCode.STAYS,
                KeepCode.NAMESPACE_IN_USE,
            )
        ],
        (
            Refuse(**ON_CM, code=RefuseCode.FOUND_DRIFTS, details=A_DIFFERS, writers=BY_KUBECTL),
            result(
                CM,
                state=ObjectState.FAILED,
                code=RefuseCode.FOUND_DRIFTS,
                message="r",
                details=A_DIFFERS,
                writers=BY_KUBECTL,
            ),
        ),
        (update(CM), result(CM, **PENDING, live=live(CM), verdict=A)),
        (create(CM), result(CM, **PENDING)),
        (Delete(**ON_CM, uid="u", wave=1, permit=permit("c1", CM.key)), result(CM, **PENDING)),
        (Release(**ON_CM), result(CM, **PENDING)),
        (replace(kept(CM), placement=PlacementKey("", "other")), result(CM, **PENDING)),
    ],
)
def test_what_an_operation_says_of_its_object(operation: Operation, expected: ObjectResult) -> None:
    assert results_of(work(CM), [operation], []) == (expected,)


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
CUSTOM = manifest("example.com/v1/Foo", "x")
BY_GENERATION = {"observedGeneration": 1, **READY}


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (done_by_cluster(create(CM)), result(CM, code=OutcomeCode.APPLIED, live=live(CM), verdict=A)),
        (done_by_cluster(update(CM)), result(CM, code=OutcomeCode.APPLIED, live=live(CM), verdict=A)),
        (
            done_by_cluster(create(CM), live=None),
            result(CM, code=OutcomeCode.APPLIED, verdict=Verdict(N, ObserveText.NOT_READ_AFTER_APPLIED())),
        ),
        (
            done_by_cluster(create(CUSTOM), live=live(CUSTOM, READY)),
            result(
                CUSTOM,
                code=OutcomeCode.APPLIED,
                live=live(CUSTOM, READY),
                verdict=Verdict(N, ObserveText.ONLY_JUST_APPLIED()),
            ),
        ),
        (
            done_by_cluster(create(CUSTOM), live=live(CUSTOM, BY_GENERATION)),
            result(CUSTOM, code=OutcomeCode.APPLIED, live=live(CUSTOM, BY_GENERATION), verdict=A),
        ),
        (
            done_by_cluster(create(CM), ok=False, code=OutcomeCode.INVALID, message="no", retry=False),
            result(CM, state=ObjectState.FAILED, code=OutcomeCode.INVALID, message="no"),
        ),
        (
            done_by_cluster(create(CM), ok=False, code=OutcomeCode.CONFLICT, message="no", retry=True),
            result(CM, state=ObjectState.RETRYING, code=OutcomeCode.CONFLICT, message="no"),
        ),
    ],
)
def test_what_an_outcome_says_counts_before_its_operation(outcome: Outcome, expected: ObjectResult) -> None:
    wanted = work(CUSTOM if expected.key == CUSTOM.key else CM)
    assert results_of(wanted, [outcome.operation], [outcome]) == (expected,)
