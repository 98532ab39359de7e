"""When a snapshot is taken, what it holds, and how long it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.placements import PlacementPolicy, PlacementType, Toleration
from gitfleet.api.snapshots import DocumentRef
from gitfleet.errors import BadInput
from gitfleet.snapshots import Retained, restore_snapshot
from gitfleet.snapshots.texts import SnapshotsText
from tests.snapshots.builders import (
    NOW,
    config,
    index,
    manifest,
    namespace,
    pick_namespace,
    placement,
    record_of,
    take,
)

SUBJECT = placement(pick_namespace("web"))
NAMESPACE = namespace("web")


def test_the_first_snapshot_has_index_0_and_everything_in_order() -> None:
    settings = config("settings", "web")
    (snapshot,) = take(SUBJECT, index(settings, NAMESPACE)).resource_snapshots
    assert snapshot.name == "web-0-snapshot"
    assert (snapshot.commit, snapshot.created) == ("c0", NOW)
    assert snapshot.manifests == (NAMESPACE, settings)
    assert snapshot.documents == tuple(
        DocumentRef(m.origin.path, m.origin.blob, 0, m.key) for m in (NAMESPACE, settings)
    )


def test_unchanged_content_makes_no_snapshot_and_a_return_makes_a_new_one() -> None:
    """Decision D16."""
    one, two = index(NAMESPACE, config("settings", "web", "1")), index(NAMESPACE, config("settings", "web", "2"))
    first = take(SUBJECT, one)
    record = record_of(SUBJECT, first)
    assert take(SUBJECT, one, record, commit="c1") == first
    second = take(SUBJECT, two, record, commit="c2")
    third = take(SUBJECT, one, record_of(SUBJECT, second), commit="c3")
    assert [s.index for s in third.resource_snapshots] == [0, 1, 2]
    assert third.resource_snapshots[0].hash == third.resource_snapshots[2].hash != second.resource_snapshots[1].hash


def test_what_a_cluster_added_makes_no_snapshot() -> None:
    first = take(SUBJECT, index(NAMESPACE))
    metadata = {
        **NAMESPACE.body["metadata"],
        "uid": "u",
        "resourceVersion": "5",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    exported = manifest({**NAMESPACE.body, "metadata": metadata, "status": {"phase": "Active"}})
    assert take(SUBJECT, index(exported), record_of(SUBJECT, first)) == first
    (alone,) = take(SUBJECT, index(exported)).resource_snapshots
    assert alone.manifests is not None
    assert (alone.manifests[0].body, alone.manifests[0].digest) == (NAMESPACE.body, NAMESPACE.digest)


def test_rendered_manifests_have_no_blob_and_are_compared_by_content() -> None:
    rendered = [manifest(config("s", "web", v).body, blob="") for v in "12"]
    first = take(SUBJECT, index(NAMESPACE, rendered[0]))
    record = record_of(SUBJECT, first)
    assert take(SUBJECT, index(NAMESPACE, rendered[0]), record) == first
    assert len(take(SUBJECT, index(NAMESPACE, rendered[1]), record).resource_snapshots) == 2


def test_a_user_error_keeps_all_that_was_there() -> None:
    first = take(SUBJECT, index(NAMESPACE))
    wrong = replace(SUBJECT, selectors=(pick_namespace("kube-system"),))
    answer = take(wrong, index(NAMESPACE), record_of(SUBJECT, first))
    assert answer.user_error is not None
    assert replace(answer, user_error=None) == first


def test_history_is_limited_but_nothing_in_use_is_dropped() -> None:
    """Decision D17."""
    subject = replace(SUBJECT, revision_history_limit=2)
    answer = take(subject, index(NAMESPACE, config("s", "web", "0")))
    bound = Binding(
        placement=subject.key,
        cluster="a",
        state=BindingState.BOUND,
        policy_snapshot="web-0",
        resource_snapshot="web-1-snapshot",
        applied_snapshot="web-0-snapshot",
    )
    for value in "12345":
        record = record_of(subject, answer, bindings=(bound,) if int(value) > 1 else ())
        keep = Retained(snapshots={"web-2-snapshot"} if int(value) > 2 else set())
        answer = take(subject, index(NAMESPACE, config("s", "web", value)), record, retain=keep)
    assert [s.index for s in answer.resource_snapshots] == [0, 1, 2, 4, 5]
    assert [s.index for s in take(subject, index(), record_of(subject, answer)).resource_snapshots] == [5, 6]


def policy(n: int, **more: Any) -> PlacementPolicy:
    return PlacementPolicy(placement_type=PlacementType.PICK_N, number_of_clusters=n, **more)


def test_scaling_edits_the_policy_snapshot_and_a_change_makes_a_new_one() -> None:
    subject = replace(SUBJECT, policy=policy(2))
    first = take(subject, index())
    scaled = replace(subject, policy=policy(3), generation=2)
    second = take(scaled, index(), record_of(subject, first))
    (edited,) = second.policy_snapshots
    assert (edited.name, edited.hash) == ("web-0", first.policy_snapshots[0].hash)
    assert (edited.number_of_clusters, edited.policy.number_of_clusters, edited.placement_generation) == (3, 3, 2)
    changed = replace(scaled, policy=policy(3, tolerations=(Toleration(key="gpu"),)))
    third = take(changed, index(), record_of(scaled, second))
    assert [s.index for s in third.policy_snapshots] == [0, 1]
    fourth = take(scaled, index(), record_of(changed, third))
    assert [s.index for s in fourth.policy_snapshots] == [0, 1, 2]


def test_a_snapshot_is_restored_from_its_documents() -> None:
    raw = manifest({**NAMESPACE.body, "status": {"phase": "Active"}}, blob="b1", document=2)
    (snapshot,) = take(SUBJECT, index(raw, config("s", "web"))).resource_snapshots
    documents = {("b1", 2): raw, (config("s", "web").digest, 0): config("s", "web")}
    assert restore_snapshot(replace(snapshot, manifests=None), documents) == snapshot
    for blob, said in (("b1", "b1"), ("", "(none)")):
        named = tuple(replace(reference, blob=blob) for reference in snapshot.documents)
        with pytest.raises(BadInput) as raised:
            restore_snapshot(replace(snapshot, documents=named), {})
        assert str(raised.value) == (
            SnapshotsText.SNAPSHOT_NEEDS_FROM_DOCUMENT(
                snapshot="web-0-snapshot",
                reference="Namespace/web",
                document="2",
                reference_2="resources/Namespace/web.yaml",
                blob=said,
            )
        )


def test_the_hash_is_of_the_contents_in_their_order() -> None:
    """It stands in the state branch: another way to compute it would make a snapshot of every placement."""
    (snapshot,) = take(SUBJECT, index(NAMESPACE, config("s", "web"))).resource_snapshots
    assert snapshot.hash == "587df383e038f9b2af69e2ed559510fbd5351c3830a056239c8372bae278d82c"


@pytest.mark.parametrize(("limit", "kept"), [(0, [3]), (1, [3]), (2, [2, 3]), (3, [1, 2, 3]), (9, [0, 1, 2, 3])])
def test_the_newest_snapshots_are_kept_and_one_at_least(limit: int, kept: list[int]) -> None:
    answer = take(SUBJECT, index())
    for value in "123":
        subject = replace(SUBJECT, revision_history_limit=limit, policy=policy(1, cluster_names=(value,)))
        record = record_of(subject, answer)
        answer = take(subject, index(NAMESPACE, config("s", "web", value)), record)
    assert [s.index for s in answer.resource_snapshots] == kept
    assert [s.index for s in answer.policy_snapshots] == kept


def test_a_policy_in_use_is_kept_and_the_others_stay_when_the_latest_is_edited() -> None:
    subject = replace(SUBJECT, revision_history_limit=1)
    bound = Binding(placement=subject.key, cluster="a", state=BindingState.BOUND, policy_snapshot="web-0")
    wanted, answer = subject, take(subject, index())
    for value in "123":
        wanted = replace(subject, policy=policy(1, cluster_names=(value,)))
        answer = take(wanted, index(), record_of(wanted, answer, bindings=(bound,)))
    assert [s.index for s in answer.policy_snapshots] == [0, 3]
    scaled = replace(wanted, policy=policy(2, cluster_names=("3",)))
    edited = take(scaled, index(), record_of(scaled, answer, bindings=(bound,)))
    assert [(s.index, s.number_of_clusters) for s in edited.policy_snapshots] == [(0, None), (3, 2)]
    same = record_of(scaled, edited, bindings=(bound,))
    for limit in (2, 9):
        again = take(replace(scaled, revision_history_limit=limit), index(), same)
        assert again.policy_snapshots is same.policy_snapshots
