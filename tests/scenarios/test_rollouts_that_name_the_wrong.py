"""Rollouts that name what is not there, or nearly what is there, or what goes: no pods go meanwhile, it is said, and
what belongs to nobody, or to somebody else, is not kept for them."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.workload_records import RollingState
from gitfleet.workload.texts import WorkloadText
from tests.builders import an_object, deployment, namespace, placement
from tests.scenarios.test_rollouts_one_after_another import CLUSTER, LABEL, A, B, C, Played, half, web, whole
from tests.scenarios.test_rollouts_with_slips import app

OLD, MID, NEW = (deployment("web", f"shop-{name}", f"shop:{name}", replicas=4) for name in ("old", "mid", "new"))
MISSPELT = deployment("web", "shop-mdi", "x", replicas=4)
PLACED = [namespace("web"), placement("web", "web")]


def is_there(played: Played, name: str, kind: str = "Deployment", within: str = "web") -> bool:
    return played.world.live("c1", kind, name, within) is not None


@pytest.mark.parametrize("first", [whole(MID, OLD), half(MID, OLD)], ids=["over", "half way"])
def test_a_source_of_the_next_release_is_misspelt(first: dict[str, Any]) -> None:
    played = Played([OLD], ([MID, first], [OLD]))
    sources = (OLD, MISSPELT) if "lastBatchToRollout" in first["spec"]["rolloutPlan"] else (MISSPELT,)
    played.then(NEW, whole(NEW, *sources), remove=[MID])
    assert played.least >= 4
    assert "Deployment/web/shop-mdi is nowhere, and Deployment/web/shop-mid, which is to be deleted" in played.said
    played.then(whole(NEW, OLD, MID))
    assert (played.images, played.states) == ({"shop:new": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4


@pytest.mark.parametrize("sources", [(web(9),), ()], ids=["another", "none"])
def test_a_release_leaves_out_a_workload_that_has_pods_and_no_manifest(sources: tuple[dict[str, Any], ...]) -> None:
    """Names that differ in numbers alone are not near."""
    played = Played([A], ([B, whole(B, A)], [A]), ([C, whole(C, *sources)], [B]))
    assert played.images == {"web:2": 4} and played.least >= 4
    assert "Deployment/web/web-2 has ready pods and no manifest any more, and is no source" in played.said
    played.then(whole(C, B))
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED}) and played.least >= 4


def test_a_release_after_an_idle_rollout_leaves_out_what_has_pods() -> None:
    """Its file was added once all pods were there."""
    played = Played([A], ([whole(A, web(9))], []), ([C, whole(C, web(8))], [A]))
    assert played.images == {"web:1": 4} and played.least >= 4
    assert "Deployment/web/web-1 has ready pods and no manifest any more, and is no source" in played.said
    played.then(whole(C, A))
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED}) and played.least >= 4


def test_a_release_leaves_out_the_ready_source_of_a_bad_one() -> None:
    bad = web(2, "bad")
    played = Played([A], ([bad, whole(bad, A)], [A]), ([C, whole(C, bad)], [bad]))
    assert played.images["web:1"] == 4 and "Deployment/web/web-1 has ready pods and no manifest any more" in played.said
    played.then(whole(C, A, bad))
    assert played.images == {"web:3": 4} and played.least >= 4


def test_the_target_of_a_first_release_is_misspelt() -> None:
    played = Played([OLD], ([MID, whole(MISSPELT, OLD)], [OLD]))
    assert played.least >= 4 and played.images == {"shop:old": 4}
    assert "Deployment/web/shop-mdi is nowhere, and Deployment/web/shop-mid has nearly its name; correct targetRef" in (
        played.said
    )
    played.then(whole(MID, OLD))
    assert played.images == {"shop:mid": 4} and played.least >= 4


def test_a_target_without_its_manifest_stays_while_it_has_pods() -> None:
    bad = web(2, "bad")
    played = Played([A], ([bad, whole(bad, A)], [A]), ([whole(A, bad)], []))
    assert (
        played.least >= 4
        and (WorkloadText.NO_PLACEMENT_ANY_MORE(target="Deployment/web/web-1") + "; write its manifest back")
        in played.said
    )
    played.then(A)
    assert played.images == {"web:1": 4} and played.least >= 4


def test_a_target_that_is_nowhere_half_way_and_then_the_file_goes() -> None:
    wrong = whole(web(4), A, B)
    played = Played([A], ([B, half(B, A)], [A]), ([wrong], []), ([], [wrong]))
    assert played.images == {"web:1": 2, "web:2": 2} and "its file is gone" in played.said


def test_a_target_that_asks_for_no_pods_gets_none_of_a_source_that_nobody_wants() -> None:
    none = deployment("web", "web-2", "web:2", replicas=0)
    trait = whole(none, A, paused=True)
    played = Played([A], ([none, trait], [A]), ([], [trait]))
    assert played.images == {"web:1": 4}
    assert "the manifest of Deployment/web/web-2 asks for no pods, and Deployment/web/web-1 has all" in played.said


def test_a_revert_keeps_its_source_until_its_pods_are_back() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=2) for n in (1, 2))
    played = Played([one, two], ([C, half(C, one, two)], [one]), ([], [C]))
    assert "still to go back" not in played.said and played.least >= 2
    assert not is_there(played, "web-3")


@pytest.mark.parametrize(
    "rollout", [app(componentList=["wbe"]), whole(web(4), A, B)], ids=["no component", "target nowhere"]
)
def test_everything_but_the_rollout_goes(rollout: dict[str, Any]) -> None:
    played = Played([A, B], ([half(B, A)], []), ([rollout], []))
    played.then(remove=[A, B, *PLACED])
    assert not is_there(played, "web-1") and not is_there(played, "web", "Namespace", "")


def test_an_idle_rollout_keeps_nothing_of_nearly_a_name() -> None:
    gold = deployment("web", "shop-gold", "g:1", replicas=1)
    played = Played([OLD, gold], ([NEW, whole(NEW, OLD)], [OLD]), ([], [CLUSTER]), ([CLUSTER], []))
    played.then(remove=[gold])
    assert not is_there(played, "shop-gold")


@pytest.mark.parametrize("slip", [{"componentList": ["nonsense"]}, {"rolloutPlan": {"numBatchs": 2}}])
def test_a_slip_of_somebody_else_holds_nothing(slip: dict[str, Any]) -> None:
    api = deployment("web", "api", "api:1", replicas=2)
    foreign = {**app(**slip), "metadata": {"name": "x", "namespace": "other"}}
    played = Played([A, api], ([foreign], []), ([deployment("web", "api", "api:2", replicas=2)], []))
    assert played.images["api:2"] == 2


def test_a_slip_holds_nothing_that_a_sound_rollout_moves() -> None:
    played = Played([A, B], ([whole(A)], []), ([app(rolloutPlan={"numBatchs": 2})], []))
    played.then(web(1, "9"), web(2, "9"))
    assert played.images == {"web:9": 4, "web:2": 4}


def test_a_component_that_is_misspelt_by_an_edit_moves_nothing() -> None:
    api = deployment("web", "api", "api:1", replicas=2)
    played = Played([A, api], ([app(componentList=["web-1"], targetRevision="0", sourceRevision=None)], []))
    wrong = app(componentList=["wbe"], targetRevision="1", sourceRevision="0")
    played.then(wrong, web(1, "9"), deployment("web", "api", "api:2", replicas=2))
    assert "has no workload wbe of a kind that a rollout can move" in played.said
    assert played.images["api:1"] == 2


def test_labels_change_while_everything_is_named_right() -> None:
    """Nothing of the above is asked where all is there."""
    played = Played(
        [A], ([B, whole(B, A)], [A]), ([web(2, labels=LABEL), an_object("v1", "ConfigMap", "m", namespace="web")], [])
    )
    assert (played.said, played.images) == ("", {"web:2": 4})
