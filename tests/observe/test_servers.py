"""Which members are used where two names lead to one API server, or one name to another server than before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.clusters import SERVER, ClusterStatus, Connection, MemberCluster
from gitfleet.api.objects import Origin
from gitfleet.api.strategies import DeletePropagation
from gitfleet.model.observations import ClusterObservation
from gitfleet.observe.clusters import server_faults, usable, with_kept_objects

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GONE: dict[str, Any] = {"deleting": NOW}
PULLED: dict[str, Any] = {"connection": Connection(pull=True)}


def member(name: str, server: str = "", **fields: Any) -> MemberCluster:
    """A member whose server is known by the state."""
    accepted: dict[str, Any] = {"annotations": {SERVER: fields.pop("accepts")}} if "accepts" in fields else {}
    found = MemberCluster(name=name, status=ClusterStatus(server=server), origin=Origin(f"clusters/{name}.yaml", 1))
    return replace(found, **accepted, **fields)


CASES = {
    "each its own": ([member("a"), member("b")], {"a": "1", "b": "2"}, {}),
    "not known": ([member("a"), member("b")], {"a": "", "b": ""}, {}),
    "two new ones": ([member("b"), member("a")], {"a": "1", "b": "1"}, {"b": "a"}),
    "the first that was there": ([member("a"), member("b", "1")], {"a": "1", "b": "1"}, {"a": "b"}),
    "the first does not answer": ([member("a", "1"), member("b")], {"b": "1"}, {"b": "a"}),
    "what an agent says": ([member("a", **PULLED), member("b")], {"a": "1", "b": "1"}, {"a": "b"}),
    "the first leaves": ([member("a", "1", **GONE), member("b")], {"a": "1", "b": "1"}, {}),
    "the second leaves": ([member("a", "1"), member("b", **GONE)], {"a": "1", "b": "1"}, {}),
    "another server": ([member("a", "1")], {"a": "2"}, {"a": "a"}),
    "another server of one that leaves": ([member("a", "1", **GONE)], {"a": "2"}, {"a": "a"}),
    "another server that is accepted": ([member("a", "1", accepts="2")], {"a": "2"}, {}),
    "a server that was accepted once": ([member("a", "2", accepts="2")], {"a": "3"}, {"a": "a"}),
    "the server of another one": ([member("a", "1", accepts="2"), member("b", "2")], {"a": "2", "b": "2"}, {"a": "b"}),
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_used(name: str) -> None:
    members, servers, expected = CASES[name]
    accepted = {one.name: one for one in members}
    seen = {one: ClusterObservation(cluster=one, reachable=True, server=server) for one, server in servers.items()}
    found = usable(accepted, seen)
    assert {one: observation.refused for one, observation in found.items() if observation.refused} == expected
    assert all(observation.reachable is (one not in expected) for one, observation in found.items())
    written = {one: cluster for one, cluster in accepted.items() if cluster.deleting is None}
    faults = {fault.object for fault in server_faults(written, found)}
    assert faults == {f"MemberCluster/{one}" for one in expected if one in written}


def test_who_waits_for_another_one_to_leave_has_no_error() -> None:
    accepted = {"a": member("a", "1"), "b": member("b")}
    found = usable(accepted, {"b": ClusterObservation(cluster="b", reachable=True, server="1")})
    assert found["b"].refused == "a" and server_faults({"b": accepted["b"]}, found) == ()


@pytest.mark.parametrize(
    ("stays", "kept"),
    [(member("b", "1"), True), (member("b", "2"), False), (member("b"), False), (member("b", "1", **PULLED), False)],
)
def test_a_member_that_leaves_deletes_nothing_of_one_with_its_server(stays: MemberCluster, kept: bool) -> None:
    """What an agent says of its server keeps nothing of others."""
    leaves = member("a", "1", **GONE, delete_propagation_policy=DeletePropagation.DELETE)
    found = with_kept_objects({"a": leaves, "b": stays})["a"].delete_propagation_policy
    assert (found is DeletePropagation.ABANDON) is kept
