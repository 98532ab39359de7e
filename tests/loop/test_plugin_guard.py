"""A third party's scheduler plug-in that hangs or raises holds its own placements up, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.loop.plugin_guard import PluginStalled, guarded
from gitfleet.loop.texts import LoopText
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.schedule import index_fleet, profile_from, schedule
from gitfleet.schedule.plugins import Cycle, Refusal, SchedulerPlugin, stages_of
from tests.schedule.fleets import cluster
from tests.texts import part

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Picky(SchedulerPlugin):
    """Refuses what its args name; hangs where they say so."""

    name = "Picky"

    def __init__(self, args: Mapping[str, Any]) -> None:
        self._args = args
        self.never = threading.Event()

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        if self._args.get("hang"):
            self.never.wait()
        if self._args.get("raise"):
            raise RuntimeError("no idea")
        return Refusal("too dear") if cluster.name == self._args.get("refuse") else None


def answer_with(args: Mapping[str, Any]) -> Any:
    available = {"Picky": guarded(Picky, timeout=0.05)}
    profile, faults = profile_from([ListedPlugin(name="Picky", args=args)], available)
    assert not faults
    request = SchedulingRequest(
        placement=PlacementKey("", "web"), policy=PlacementPolicy(), policy_snapshot="web-0", now=NOW
    )
    return schedule(request, index_fleet([cluster("a"), cluster("b")], NOW), profile)


def test_a_plugin_works_as_without_the_guard() -> None:
    assert [binding.cluster for binding in answer_with({"refuse": "a"}).bindings] == ["b"]


@pytest.mark.parametrize(
    ("args", "says"), [({"hang": True}, part(LoopText.NOT_RETURN_WITHIN)), ({"raise": True}, "no idea")]
)
def test_one_that_hangs_or_raises_is_the_answer_of_its_placement(args: Mapping[str, Any], says: str) -> None:
    answer = answer_with(args)
    assert answer.error is not None and says in answer.error and "Picky" in answer.error
    assert answer.bindings == ()


def test_one_that_hung_is_not_asked_again_and_gets_no_second_thread() -> None:
    make = guarded(Picky, timeout=0.05)
    plugin: Any = make({"hang": True})
    with pytest.raises(PluginStalled):
        plugin.filter(None, None)
    threads = threading.active_count()
    again: Any = make({"hang": True})
    assert again is plugin
    with pytest.raises(PluginStalled, match=LoopText.NOT_RETURN_WITHIN(what="filter", timeout=0.05)):
        again.filter(None, None)
    assert threading.active_count() == threads


def test_only_the_stages_that_the_plugin_has() -> None:
    plugin = guarded(Picky)({})
    assert stages_of(plugin) == {"filter"}
