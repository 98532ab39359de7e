"""observe_binding as tables: conditions in order, at the binding's generation, with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState, DiffedObject, DriftedObject, FailedObject, FieldWriter
from gitfleet.api.conditions import Condition, Status, find_condition
from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import (
    Create,
    DifferenceDetails,
    Keep,
    Operation,
    Outcome,
    OutcomeCode,
    Refuse,
    RefuseCode,
    Update,
)
from gitfleet.model.works import Work
from gitfleet.observe import ClusterSeen, observe_binding
from gitfleet.observe.texts import ObserveText

T0 = datetime(2026, 1, 1, tzinfo=UTC)
T1, T2 = T0 + timedelta(seconds=5), T0 + timedelta(seconds=10)
WEB = PlacementKey("", "web")


def manifest(kind: str = "v1/ConfigMap", name: str = "cm", **more: Any) -> Manifest:
    api_version, _, kind = kind.rpartition("/")
    body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "ns"}, **more}
    return Manifest(key_of(body), body, digest_of(body), Origin("f.yaml", 1))


def _is_not(first: str, verb: str, why: str, more: str = "") -> str:
    return ObserveText.IS_NOT(first=first, verb=verb, why=why, more_than_first=more)


CM = manifest()
DEPLOYMENT = manifest("apps/v1/Deployment", "web", spec={"replicas": 2})


def binding(**more: Any) -> Binding:
    started = Condition(
        type="RolloutStarted",
        status=Status.TRUE,
        reason="RolloutStarted",
        last_transition_time=T0,
        observed_generation=3,
    )
    values: dict[str, Any] = {
        "placement": WEB,
        "cluster": "c1",
        "state": BindingState.BOUND,
        "policy_snapshot": "web-0",
        "resource_snapshot": "web-1-snapshot",
        "generation": 3,
        "conditions": (started,),
    }
    return Binding(**{**values, **more})


def work(*manifests: Manifest, **more: Any) -> Work:
    values: dict[str, Any] = {"placement": WEB, "cluster": "c1", "generation": 3, "snapshot": "web-1-snapshot"}
    return Work(**{**values, "manifests": manifests, **more})


def live(wanted: Manifest, status: dict[str, Any] | None = None) -> LiveObject:
    metadata = {**wanted.body["metadata"], "uid": "u", "generation": 1}
    return LiveObject(wanted.key, {**wanted.body, "metadata": metadata, "status": status or {}})


def kept(wanted: Manifest, status: dict[str, Any] | None = None, **more: Any) -> Keep:
    there = live(wanted, status)
    values: dict[str, Any] = {"reason": "as applied", "live": there, "manifest": wanted}
    return Keep(cluster="c1", placement=WEB, key=wanted.key, **{**values, **more})


def create(wanted: Manifest) -> Create:
    return Create(cluster="c1", placement=WEB, manifest=wanted, wave=1, reason="absent")


def done_by_cluster(
    operation: Create | Update, ok: bool = True, code: OutcomeCode = OutcomeCode.APPLIED, **more: Any
) -> Outcome:
    if ok:
        more = {"live": live(operation.manifest), **more}
    return Outcome(operation=operation, ok=ok, code=code, **more)


def observed(
    before: Binding,
    wanted: Work | None,
    operations: Sequence[Operation],
    outcomes: Sequence[Outcome],
    now: datetime,
    unreachable: str | None = None,
) -> Binding:
    seen = ClusterSeen(work=wanted, operations=operations, outcomes=outcomes, unreachable=unreachable)
    return observe_binding(before, seen, now)


def reported(b: Binding) -> list[tuple[str, str, str]]:
    assert all(c.observed_generation == b.generation for c in b.conditions)
    return [(c.type, c.status.value, c.reason) for c in b.conditions]


BEFORE = [
    ("RolloutStarted", "True", "RolloutStarted"),
    ("Overridden", "True", "NoOverrideSpecified"),
    ("WorkSynchronized", "True", "AllWorkSynced"),
]
AVAILABLE = {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2}


def messages(b: Binding) -> list[str]:
    """What the conditions after RolloutStarted say."""
    return [c.message for c in b.conditions[1:]]


SYNCED = ObserveText.ALL_WORKS_SYNCHRONIZED_LATEST()
NO_RULES = ObserveText.NO_OVERRIDE_RULES_CONFIGURED_SELECTED()
OVERRIDDEN = ObserveText.SUCCESSFULLY_APPLIED_OVERRIDE_RULES_RESOURCES()
APPLIED = ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_APPLIED()
INGRESS = manifest("networking.k8s.io/v1/Ingress", "web")
OTHER_INGRESS = manifest("networking.k8s.io/v1/Ingress", "other")
NOT_TRACKED = ObserveText.AVAILABILITY_WORK_OBJECT_WORK_NOT(placement="web") + (
    ": Ingress/ns/web, " + ObserveText.AVAILABILITY_NOT_TRACKABLE(kind="Ingress")
)


def refused(wanted: Manifest, why: str) -> Refuse:
    return Refuse(
        cluster="c1", placement=WEB, key=wanted.key, code=RefuseCode.NOT_TAKEN_OVER, reason=why, manifest=wanted
    )


@pytest.mark.parametrize(
    ("wanted", "operations", "said", "last"),
    [
        (
            work(CM, overridden=True),
            [kept(CM)],
            [OVERRIDDEN, SYNCED, APPLIED, ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_AVAILABLE()],
            ("True", "AllWorkAreAvailable"),
        ),
        (
            work(CM, error="no such path (cluster c1)"),
            [],
            [ObserveText.FAILED_APPLY_OVERRIDE_RULES_RESOURCES(error="no such path (cluster c1)")],
            ("False", "OverriddenFailed"),
        ),
        (
            work(error="ConfigMap a/e cannot be unwrapped", unwrapped=False),
            [],
            [NO_RULES, ObserveText.FAILED_SYNCHRONIZE_WORK_LATEST(error="ConfigMap a/e cannot be unwrapped")],
            ("False", "SyncWorkFailed"),
        ),
        (
            work(CM, snapshot="web-0-snapshot"),
            [kept(CM)],
            [
                NO_RULES,
                ObserveText.WORK_SNAPSHOT_NOT_YET(snapshot="web-0-snapshot", resource_snapshot="web-1-snapshot"),
            ],
            ("False", "WorkNotSynchronizedYet"),
        ),
        (
            work(CM, DEPLOYMENT),
            [kept(CM), create(DEPLOYMENT)],
            [NO_RULES, SYNCED, ObserveText.WORK_OBJECTS_BEING_APPLIED(waiting="1", count="2")],
            ("False", "ApplyInProgress"),
        ),
        (
            work(CM, DEPLOYMENT, INGRESS),
            [create(CM), create(DEPLOYMENT), kept(INGRESS)],
            [NO_RULES, SYNCED, ObserveText.WORK_OBJECTS_BEING_APPLIED(waiting="2", count="3")],
            ("False", "ApplyInProgress"),
        ),
        (
            work(CM, DEPLOYMENT),
            [refused(CM, "it is somebody else's"), create(DEPLOYMENT)],
            [NO_RULES, SYNCED, _is_not("ConfigMap/ns/cm", "applied", "it is somebody else's")],
            ("False", "ApplyFailed"),
        ),
        (
            work(CM, DEPLOYMENT, INGRESS),
            [refused(CM, "no"), refused(DEPLOYMENT, "never"), kept(INGRESS, code="Unreadable", reason="forbidden")],
            [NO_RULES, SYNCED, _is_not("ConfigMap/ns/cm", "applied", "no", more=" (and 1 more)")],
            ("False", "ApplyFailed"),
        ),
        (
            work(CM, INGRESS),
            [kept(CM), kept(INGRESS, code="Unreadable", reason="forbidden")],
            [NO_RULES, SYNCED, _is_not("Ingress/ns/web", "applied", "forbidden")],
            ("False", "NotAllWorkHaveBeenApplied"),
        ),
        (
            work(DEPLOYMENT, INGRESS),
            [kept(DEPLOYMENT), kept(INGRESS)],
            [
                NO_RULES,
                SYNCED,
                APPLIED,
                _is_not("Deployment/ns/web", "available", ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC()),
            ],
            ("False", "NotAllWorkAreAvailable"),
        ),
        (
            work(INGRESS, OTHER_INGRESS),
            [kept(INGRESS), kept(OTHER_INGRESS)],
            [NO_RULES, SYNCED, APPLIED, f"{NOT_TRACKED} (and 1 more)"],
            ("True", "WorkNotTrackable"),
        ),
    ],
)
def test_what_the_conditions_say(
    wanted: Work, operations: list[Operation], said: list[str], last: tuple[str, str]
) -> None:
    got = observed(binding(), wanted, operations, [], T1)
    assert (messages(got), reported(got)[-1][1:]) == (said, last)


def test_what_was_said_of_an_older_generation_says_nothing_of_a_silent_cluster() -> None:
    well = observed(binding(), work(CM), [kept(CM)], [], T0)
    silent = observed(well, work(CM), [], [], T1, unreachable="x")
    newer = replace(silent, generation=4, resource_snapshot="web-2-snapshot")
    wanted = work(CM, generation=4, snapshot="web-2-snapshot")
    got = observed(newer, wanted, [], [], T2, unreachable="timed out")
    assert [(c.type, c.message, c.last_transition_time) for c in got.conditions[3:]] == [
        ("Applied", ObserveText.NOTHING_COULD_APPLIED(cluster="c1"), T2),
        ("Available", ObserveText.CLUSTER_NOT_ANSWER(cluster="c1", error="timed out"), T2),
    ]


def test_applied_now_and_judged_by_the_servers_answer() -> None:
    operations: list[Operation] = [create(CM), create(DEPLOYMENT)]
    outcomes = [done_by_cluster(create(CM)), done_by_cluster(create(DEPLOYMENT))]
    got = observed(binding(), work(CM, DEPLOYMENT), operations, outcomes, T1)
    assert reported(got)[3:] == [
        ("Applied", "True", "AllWorkHaveBeenApplied"),
        ("Available", "False", "NotAllWorkAreAvailable"),
    ]
    message = _is_not("Deployment/ns/web", "available", ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC())
    available = find_condition(got.conditions, "Available")
    assert available is not None and available.message == message
    assert got.failed == (
        FailedObject(
            key=DEPLOYMENT.key,
            condition="Available",
            reason="NotYetAvailable",
            message=ObserveText.CONTROLLER_NOT_OBSERVED_LATEST_SPEC(),
        ),
    )
    assert got.applied_snapshot == "web-1-snapshot"


A_DIFFERS = (("/data/a", "9", "1"),)
DRIFTED = Refuse(
    cluster="c1", placement=WEB, key=CM.key, code=RefuseCode.FOUND_DRIFTS, reason="drifted", details=A_DIFFERS
)


def test_drifted_and_diffed_objects_keep_when_they_were_first_seen() -> None:
    details, refused = A_DIFFERS, DRIFTED
    got = observed(binding(), work(CM), [refused], [], T1)
    assert got.drifted == (DriftedObject(key=CM.key, details=details, observed=T1, first_observed=T1),)
    assert observed(got, work(CM), [refused], [], T2) == got
    more = replace(refused, details=(*details, ("/data/b", None, "2")))
    later = observed(got, work(CM), [more], [], T2)
    assert [(d.observed, d.first_observed) for d in later.drifted] == [(T2, T1)]
    diffed = observed(binding(), work(CM), [replace(refused, code=RefuseCode.FAILED_TO_TAKE_OVER)], [], T1)
    seen_now: dict[str, Any] = {"key": CM.key, "details": details, "observed": T1, "first_observed": T1}
    assert (diffed.diffed, diffed.drifted) == ((DiffedObject(**seen_now),), ())
    behind = observed(binding(), work(DEPLOYMENT, CM), [kept(DEPLOYMENT), refused], [], T1)
    assert behind.drifted == got.drifted


BY_KUBECTL, LATER = (
    FieldWriter("/data/a", "kubectl", time) for time in ("2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z")
)


@pytest.mark.parametrize(
    ("details", "writers", "recorded"),
    [
        # The same difference, though the manager has written something else since.
        (A_DIFFERS, (LATER,), (BY_KUBECTL,)),
        (A_DIFFERS, (), ()),
        # Another manager, or another field of the same one.
        (A_DIFFERS, (LATER, replace(LATER, manager="helm")), (BY_KUBECTL, replace(LATER, manager="helm"))),
        (A_DIFFERS, (replace(LATER, path="/data/b"),), (replace(LATER, path="/data/b"),)),
        # Another difference: the manager wrote it just now.
        ((("/data/a", "8", "1"),), (LATER,), (LATER,)),
    ],
)
def test_who_wrote_a_difference_is_recorded_with_the_time_at_which_it_was_found_first(
    details: DifferenceDetails, writers: tuple[FieldWriter, ...], recorded: tuple[FieldWriter, ...]
) -> None:
    refused = replace(DRIFTED, writers=(BY_KUBECTL,))
    got = observed(binding(), work(CM), [refused], [], T1)
    assert [one.writers for one in got.drifted] == [(BY_KUBECTL,)]
    later = observed(got, work(CM), [replace(refused, details=details, writers=writers)], [], T2)
    assert [one.writers for one in later.drifted] == [recorded]


def times(b: Binding) -> dict[str, datetime]:
    """When each condition got its status."""
    return {c.type: c.last_transition_time for c in b.conditions}


def test_one_that_is_applied_again_hides_no_other_that_is_refused() -> None:
    wanted = work(CM, DEPLOYMENT)
    well = observed(binding(), wanted, [kept(CM), kept(DEPLOYMENT, AVAILABLE)], [], T1)
    got = observed(well, wanted, [refused(CM, "it is somebody else's"), update(DEPLOYMENT, AVAILABLE)], [], T2)
    assert reported(got)[3:] == [("Applied", "False", "ApplyFailed")]
    assert got.failed == (
        FailedObject(key=CM.key, condition="Applied", reason="NotTakenOver", message="it is somebody else's"),
    )


def test_another_sentence_of_the_same_status_keeps_its_time() -> None:
    first, second = (observed(binding(), work(error=why), [], [], T1) for why in ("no such path", "no such value"))
    later = observed(first, work(error="no such value"), [], [], T2)
    assert later == second
    assert times(later) == {"RolloutStarted": T0, "Overridden": T1}


def test_an_unreachable_cluster_keeps_its_conditions_and_is_not_ready() -> None:
    well = observed(binding(), work(CM), [kept(CM)], [], T0)
    got = observed(well, work(CM), [], [], T1, unreachable="connection refused")
    assert reported(got) == [
        *BEFORE,
        ("Applied", "True", "AllWorkHaveBeenApplied"),
        ("Available", "Unknown", "ClusterUnreachable"),
    ]
    assert got.conditions[-1].message == ObserveText.CLUSTER_NOT_ANSWER(cluster="c1", error="connection refused")
    assert got.conditions[-1].last_transition_time == T1
    assert observed(got, work(CM), [], [], T2, unreachable="connection refused") is got
    slow = observed(got, work(CM), [], [], T2, unreachable="no response within 5 s")
    assert slow.conditions[-1].message == ObserveText.CLUSTER_NOT_ANSWER(
        cluster="c1", error="no response within 5 s"
    ), "the present cause"
    assert slow.conditions[-1].last_transition_time == T1, "silent since the first look"
    assert observed(slow, work(CM), [], [], T2, unreachable="no response within 7 s") is slow, "numbers are no cause"
    older = replace(got, conditions=(*got.conditions[:-1], replace(got.conditions[-1], observed_generation=2)))
    again = observed(older, work(CM), [], [], T2, unreachable="connection refused")
    expected = replace(got.conditions[-1], last_transition_time=T2)
    assert again.conditions == (*got.conditions[:-1], expected), "said of each generation anew"
    back = observed(got, work(CM), [kept(CM)], [], T2)
    assert reported(back)[-1] == ("Available", "True", "AllWorkAreAvailable")
    unsaid = observed(well, work(CM), [], [], T1, unreachable="")
    assert unsaid.conditions[-1].message == ObserveText.CLUSTER_NOT_ANSWER(cluster="c1", error="")
    never = observed(binding(), work(CM), [], [], T1, unreachable="x")
    assert reported(never)[3:] == [
        ("Applied", "False", "ApplyInProgress"),
        ("Available", "Unknown", "ClusterUnreachable"),
    ]


def test_report_diff() -> None:
    strategy = ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)
    found = kept(CM, code="FoundDiff", details=(("/data/a", "9", "1"),), reason="differs")
    same = kept(DEPLOYMENT, code="NoDiffFound")
    got = observed(binding(), work(CM, DEPLOYMENT, apply_strategy=strategy), [found, same], [], T1)
    assert reported(got)[3:] == [("DiffReported", "True", "AllWorkHaveDiffReported")]
    assert messages(got)[-1] == ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_REPORTED()
    a_diff = DiffedObject(key=CM.key, details=(("/data/a", "9", "1"),), observed=T1, first_observed=T1)
    assert (got.diffed, got.applied_snapshot, times(got)["DiffReported"]) == ((a_diff,), None, T1)
    unread = kept(DEPLOYMENT, code="Unreadable", reason="forbidden", live=None)
    got = observed(binding(), work(CM, DEPLOYMENT, apply_strategy=strategy), [found, unread], [], T1)
    assert reported(got)[3:] == [("DiffReported", "False", "NotAllWorkHaveDiffReported")]
    assert messages(got)[-1] == _is_not("Deployment/ns/web", "compared", "forbidden")
    gone = observed(got, work(CM, apply_strategy=strategy), [], [], T2, unreachable="x")
    assert reported(gone)[3:] == [("DiffReported", "Unknown", "ClusterUnreachable")]


def test_without_a_work_nothing_is_told_and_lists_are_cut() -> None:
    b = binding()
    assert observed(b, None, [], [], T1) is b
    many = [manifest(name=f"cm-{n}") for n in range(150)]
    outcomes = [done_by_cluster(create(m), ok=False, code=OutcomeCode.INVALID, message="x", retry=False) for m in many]
    got = observed(b, work(*many), [], outcomes, T1)
    assert len(got.failed) == 100
    assert got.conditions[-1].message == _is_not("ConfigMap/ns/cm-0", "applied", "x", more=" (and 149 more)")


def update(wanted: Manifest, status: dict[str, Any] | None = None) -> Update:
    return Update(cluster="c1", placement=WEB, manifest=wanted, wave=1, reason="drifted", live=live(wanted, status))


def test_a_plan_alone_is_no_news() -> None:
    """An observation before the operation: what failed stays failed, what was in place is judged as it was found."""
    invalid = done_by_cluster(create(CM), ok=False, code=OutcomeCode.INVALID, message="no such field", retry=False)
    failed = observed(binding(), work(CM), [create(CM)], [invalid], T1)
    assert observed(failed, work(CM), [create(CM)], [], T2) is failed
    well = observed(binding(), work(DEPLOYMENT), [kept(DEPLOYMENT, AVAILABLE)], [], T1)
    assert observed(well, work(DEPLOYMENT), [update(DEPLOYMENT, AVAILABLE)], [], T2) is well
    broken = observed(well, work(DEPLOYMENT), [update(DEPLOYMENT)], [], T2)
    assert reported(broken)[3:] == [
        ("Applied", "True", "AllWorkHaveBeenApplied"),
        ("Available", "False", "NotAllWorkAreAvailable"),
    ]
    gone = observed(well, work(DEPLOYMENT), [create(DEPLOYMENT)], [], T2)
    assert reported(gone)[3:] == [("Applied", "False", "ApplyInProgress")]
    not_observed = kept(DEPLOYMENT, code="NotObserved", reason="was not observed", live=None)
    assert observed(well, work(DEPLOYMENT), [not_observed], [], T2) is well


def test_clusters_that_say_the_same_share_their_conditions() -> None:
    one, other = (observed(binding(cluster=name), work(CM, cluster=name), [kept(CM)], [], T1) for name in ("c1", "c2"))
    assert len(one.conditions) == 5
    assert [a is b for a, b in zip(one.conditions[1:], other.conditions[1:], strict=True)] == [True] * 4
