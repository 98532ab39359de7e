"""A member's server that answers wrongly for a while: what it says later counts, and nothing is forgotten meanwhile."""

from __future__ import annotations

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import ObjectKey
from gitfleet.apply.texts import ApplyText
from gitfleet.ports.transport import Request, Response
from gitfleet.rollout.texts import RolloutText
from tests import builders
from tests.scenarios.test_unsure_deletes import SETTINGS, has, settled
from tests.scenarios.world import World

AGAIN = ApplyText.BEING_DELETED_MADE_AGAIN_ONCE(key="ConfigMap/web/settings")
KEY = ObjectKey("", "v1", "ConfigMap", "web", "settings")
GONE = Response(200, {"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"name": "settings"}})


def being_deleted(world: World, request: Request) -> Response:
    """The ConfigMap seems to be being deleted, in the very version that it has."""
    answer = world.fleet.cluster("c1").request(request)
    if not request.path.endswith("/configmaps/settings") or not answer.ok:
        return answer
    body = answer.json()
    return Response(
        answer.status, {**body, "metadata": {**body["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    )


def pretends_to_delete(world: World, request: Request) -> Response:
    """A deletion is answered as one that was carried out."""
    return GONE if request.method == "DELETE" else world.fleet.cluster("c1").request(request)


def waiting(world: World) -> list[str]:
    """What the next reconcile says it waits for."""
    result = world.driver.reconcile()
    return list(result.waiting)


def test_what_was_said_wrongly_once_counts_no_longer_than_it_is_said() -> None:
    world, line = settled()
    line.fault = being_deleted
    world.roll_out(builders.config_map("web", "settings", {"a": "2"}))
    assert any(AGAIN in sentence for sentence in waiting(world))
    line.fault = None
    world.settle()
    assert waiting(world) == []
    there = [world.live(name, "ConfigMap", "settings") for name in ("c1", "c2")]
    assert [live and live["data"] for live in there] == [{"a": "2"}] * 2


def test_what_is_said_to_be_deleted_and_is_still_there_keeps_its_entry() -> None:
    world, line = settled()
    line.fault = pretends_to_delete
    world.roll_out(remove=[SETTINGS])
    assert KEY in world.state().inventory["c1"], "an entry leaves only when the server says NotFound"
    commits = world.state_commits()
    (said,) = waiting(world)
    assert said == (
        "web: c1 "
        + RolloutText.NOT_DELETED(
            there="ConfigMap/web/settings",
            there_2="",
            more_than_first=KubeText.SERVER_ANSWERED_DELETED(operation="").removeprefix(": "),
        )
    )
    assert world.state_commits() == commits
    line.fault = None
    world.settle()
    assert waiting(world) == []
    assert has(world, "c1") == {"kept"} and KEY not in world.state().inventory["c1"]
