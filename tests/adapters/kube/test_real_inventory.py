"""What gitfleet owns, on a real kube-apiserver: recorded before it is made, forgotten only when it is gone, deleted
only as the very object that was recorded, and a Namespace only when no other placement has anything in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import ApiException, CoreV1Api

from gitfleet.model.operations import OutcomeCode
from gitfleet.views import objects_of
from tests import builders
from tests.adapters.kube.plays import (
    Found,
    Play,
    create,
    delete,
    patch,
    reconcile,
    release,
    strategy,
    unplace,
)
from tests.adapters.kube.test_real_strategies import AVAILABLE, NEW, made
from tests.realparts.control_plane import ApiServer, ControlPlanes
from tests.state.builders import reader_of

pytestmark = pytest.mark.real
OTHERS = create(a="1", theirs="1")


@pytest.fixture(scope="module")
def core(control_planes: ControlPlanes) -> Iterator[CoreV1Api]:
    with control_planes.start("east").client() as client:
        yield CoreV1Api(client)


@pytest.fixture
def play(server: ApiServer, core: CoreV1Api, tmp_path: Path) -> Iterator[Play]:
    with Play(server, tmp_path, core, strategy("")) as found:
        yield found


def test_an_entry_is_there_before_its_object(play: Play) -> None:
    play.commit()
    play.crash_at("intent published")
    assert (play.found(), play.uids()) == (None, [None])
    reconcile(play)
    assert (play.found(), play.said(), play.is_owned()) == (NEW, AVAILABLE, True)


def test_what_was_made_before_a_crash_is_gitfleets(play: Play) -> None:
    play.commit()
    play.crash_at("performed")
    assert (play.found(), play.uids()) == (NEW, [None])
    version = play.version()
    reconcile(play)
    assert (play.version(), play.is_owned()) == (version, True), "applied again, which changes nothing"


def test_what_was_made_before_a_crash_goes_with_its_placement(play: Play) -> None:
    play.commit()
    play.crash_at("performed")
    unplace(play)
    assert (play.found(), play.uids()) == (None, [])


def test_what_others_made_after_the_intent_stays(play: Play) -> None:
    play.commit()
    play.crash_at("intent published")
    OTHERS(play)
    unplace(play)
    assert (play.found(), play.uids()) == (made("1", theirs="1"), [])


def test_what_others_made_anew_between_the_observation_and_the_deletion_stays(play: Play) -> None:
    release()(play)
    play.world.commit(remove=[play.placement()])

    def replace(_: Play) -> None:
        delete(play)
        OTHERS(play)

    (outcome,) = play.reconcile_while(replace)
    assert (outcome.code, outcome.retry) == (OutcomeCode.CONFLICT, True), outcome.message
    assert (play.found(), play.is_owned()) == (made("1", theirs="1"), True)
    reconcile(play)
    assert (play.found(), play.uids()) == (made("1", theirs="1"), [])


def test_an_entry_stays_until_the_server_says_that_its_object_is_gone(play: Play) -> None:
    release()(play)
    patch({"metadata": {"finalizers": ["example.com/wait"]}})(play)
    unplace(play)
    for _ in range(2):
        found = play.found()
        assert isinstance(found, Found) and found.terminating and play.is_owned()
        (status,) = objects_of("placements", reader_of(play.world.state()), f"{play.namespace}/web")
        ((left,),) = (one["failedPlacements"] for one in status["status"]["placementStatuses"])
        assert (left["name"], left["condition"]["type"], left["condition"]["reason"]) == (
            "cm",
            "Deleted",
            "Terminating",
        )
        why = "it is being deleted and waits for its finalizers (example.com/wait)"
        assert left["condition"]["message"] == why
        assert any(why in sentence for sentence in play.world.driver.reconcile().waiting)
        play.restart()
        reconcile(play)
    patch({"metadata": {"finalizers": None}})(play)
    reconcile(play)
    assert (play.found(), play.uids(), play.said()) == (None, [], None)


def namespace_of(core: Any, name: str) -> str:
    """Whether a namespace is there and stays, is being deleted, or is gone."""
    try:
        return str(core.read_namespace(name).status.phase)
    except ApiException as error:
        assert error.status == 404
        return "gone"


def test_a_namespace_stays_while_another_placement_has_objects_in_it(
    server: ApiServer, core: CoreV1Api, tmp_path: Path
) -> None:
    name = f"shared-{uuid4().hex[:8]}"
    with Play(server, tmp_path, core, strategy(""), namespace=name) as play:
        spaces = builders.placement("spaces", name)
        spaces["spec"]["resourceSelectors"][0]["selectionScope"] = "NamespaceOnly"
        play.world.commit(spaces)
        release()(play)
        assert len(play.uids()) == 2 and all(play.uids())
        play.world.commit(remove=[spaces])
        play.world.rest()
        assert (namespace_of(core, name), play.found(), len(play.uids())) == ("Active", NEW, 2)
        why = f"stays while ResourcePlacement {name}/web has objects in it on this cluster"
        waiting = play.world.driver.reconcile().waiting
        assert any(why in sentence for sentence in waiting), waiting
        unplace(play)
        assert play.found() is None and namespace_of(core, name) in ("Terminating", "gone")


PRUNE, KEEP = {"gitfleet.dev/prune": "true"}, {"gitfleet.dev/prune": "false"}


@pytest.mark.parametrize(("labels", "words", "phase"), [
    ({}, [{}], "Active"),
    ({"team": "a"}, [{}], "Active"),
    ({"team": "a"}, [PRUNE], "Terminating"),
    ({"team": "a"}, [KEEP, PRUNE, {}], "Active"),
], ids=["bare", "with a label", "asked for", "words that came and went"])  # fmt: skip
def test_a_namespace_that_others_made_stays_with_what_they_have_in_it_unless_a_person_asks(
    labels: dict[str, str], words: list[dict[str, str]], phase: str, play: Play, core: Any
) -> None:
    core.create_namespaced_config_map(play.namespace, {"metadata": {"name": "theirs"}})
    everything = builders.placement("spaces", play.namespace)
    for word in words:
        space = builders.an_object("v1", "Namespace", play.namespace, labels=labels, annotations=word)
        play.world.commit(everything, space, play.body(a="1"))
        play.world.rest()
    assert play.found() == NEW and len(play.uids()) == 2
    play.world.commit(remove=[everything])
    play.world.rest()
    assert (play.found(), namespace_of(core, play.namespace)) == (None, phase)
    assert len(play.uids()) == (0 if phase == "Active" else 1)
    assert core.read_namespaced_config_map("theirs", play.namespace).metadata.deletion_timestamp is None
