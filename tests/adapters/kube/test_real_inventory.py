"""What gitfleet owns: recorded before it is made, forgotten only when it is gone, deleted
only as the very object that was recorded, and a Namespace only when no other placement has anything in it. On the
simulated server, and as a real kube-apiserver does it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from gitfleet.apply.texts import ApplyText
from gitfleet.model.operations import OutcomeCode
from gitfleet.views.kinds import objects_of
from tests import builders
from tests.adapters.kube.plays import (
    Begin,
    Found,
    OnRealServer,
    OnSimulatedServer,
    Play,
    create,
    delete,
    patch,
    reconcile,
    release,
    unplace,
)
from tests.adapters.kube.test_real_strategies import AVAILABLE, NEW, made
from tests.state.builders import reader_of

OTHERS = create(a="1", theirs="1")


PRUNE, KEEP = {"gitfleet.dev/prune": "true"}, {"gitfleet.dev/prune": "false"}


def namespace_of(play: Play) -> str:
    """Whether the namespace is there and stays, is being deleted, or is gone."""
    status, body = play.send("GET", f"/api/v1/namespaces/{play.namespace}")
    return str(body["status"]["phase"]) if status == 200 else "gone"


class Inventory:
    """What both servers do."""

    @pytest.fixture
    def play(self, begin: Begin) -> Play:
        return begin("")

    def test_an_entry_is_there_before_its_object(self, play: Play) -> None:
        play.commit()
        play.crash_at("intent published")
        assert (play.found(), play.uids()) == (None, [None])
        reconcile(play)
        assert (play.found(), play.said(), play.is_owned()) == (NEW, AVAILABLE, True)

    def test_what_was_made_before_a_crash_is_gitfleets(self, play: Play) -> None:
        play.commit()
        play.crash_at("performed")
        assert (play.found(), play.uids()) == (NEW, [None])
        version = play.version()
        reconcile(play)
        assert (play.version(), play.is_owned()) == (version, True), "applied again, which changes nothing"

    def test_what_was_made_before_a_crash_goes_with_its_placement(self, play: Play) -> None:
        play.commit()
        play.crash_at("performed")
        unplace(play)
        assert (play.found(), play.uids()) == (None, [])

    def test_what_others_made_after_the_intent_stays(self, play: Play) -> None:
        play.commit()
        play.crash_at("intent published")
        OTHERS(play)
        unplace(play)
        assert (play.found(), play.uids()) == (play.as_recorded(made("1", theirs="1")), [])

    def test_what_others_made_anew_between_the_observation_and_the_deletion_stays(self, play: Play) -> None:
        release()(play)
        play.world.commit(remove=[play.placement()])

        def replace(_: Play) -> None:
            delete(play)
            OTHERS(play)

        (outcome,) = play.reconcile_while(replace)
        assert (outcome.code, outcome.retry) == (OutcomeCode.CONFLICT, True), outcome.message
        assert (play.found(), play.is_owned()) == (play.as_recorded(made("1", theirs="1")), True)
        reconcile(play)
        assert (play.found(), play.uids()) == (play.as_recorded(made("1", theirs="1")), [])

    def test_an_entry_stays_until_the_server_says_that_its_object_is_gone(self, play: Play) -> None:
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
            why = ApplyText.BEING_DELETED_WAITS_FINALIZERS(finalizers=" (example.com/wait)")
            assert left["condition"]["message"] == why
            assert any(why in sentence for sentence in play.world.driver.reconcile().waiting)
            play.restart()
            reconcile(play)
        patch({"metadata": {"finalizers": None}})(play)
        reconcile(play)
        assert (play.found(), play.uids(), play.said()) == (None, [], None)

    def test_a_namespace_stays_while_another_placement_has_objects_in_it(self, begin: Begin) -> None:
        name = f"shared-{uuid4().hex[:8]}"
        play = begin("", namespace=name)
        spaces = builders.placement("spaces", name)
        spaces["spec"]["resourceSelectors"][0]["selectionScope"] = "NamespaceOnly"
        play.world.commit(spaces)
        release()(play)
        assert len(play.uids()) == 2 and all(play.uids())
        play.world.commit(remove=[spaces])
        play.world.rest()
        assert (namespace_of(play), play.found(), len(play.uids())) == ("Active", NEW, 2)
        why = ApplyText.STAYS_WHILE_OBJECTS_CLUSTER(user=f"ResourcePlacement {name}/web")
        waiting = play.world.driver.reconcile().waiting
        assert any(why in sentence for sentence in waiting), waiting
        unplace(play)
        assert play.found() is None and namespace_of(play) in ("Terminating", "gone")

    @pytest.mark.parametrize(("labels", "words", "stays"), [
        ({}, [{}], True),
        ({"team": "a"}, [{}], True),
        ({"team": "a"}, [PRUNE], False),
        ({"team": "a"}, [KEEP, PRUNE, {}], True),
    ], ids=["bare", "with a label", "asked for", "words that came and went"])  # fmt: skip
    def test_a_namespace_that_others_made_stays_with_what_they_have_in_it_unless_a_person_asks(
        self, labels: dict[str, str], words: list[dict[str, str]], stays: bool, play: Play
    ) -> None:
        play.post(play.path, builders.config_map(play.namespace, "theirs"), "other")
        everything = builders.placement("spaces", play.namespace)
        for word in words:
            space = builders.an_object("v1", "Namespace", play.namespace, labels=labels, annotations=word)
            play.world.commit(everything, space, play.body(a="1"))
            play.world.rest()
        assert play.found() == NEW and len(play.uids()) == 2
        play.world.commit(remove=[everything])
        play.world.rest()
        assert play.found() is None and (namespace_of(play) == "Active") == stays
        assert len(play.uids()) == (namespace_of(play) == "Terminating")
        if stays:
            assert "deletionTimestamp" not in play.done("GET", f"{play.path}/theirs")["metadata"]


class TestOnSimulatedServer(OnSimulatedServer, Inventory):
    """Every case."""


@pytest.mark.soak("real")
class TestOnRealServer(OnRealServer, Inventory):
    """Every case, as it was seen here."""


class TestSampleOnRealServer(OnRealServer):
    """The one that several processes have a part in."""

    play = Inventory.play
    test_what_was_made_before_a_crash_goes_with_its_placement = (
        Inventory.test_what_was_made_before_a_crash_goes_with_its_placement
    )
