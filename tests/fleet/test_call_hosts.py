"""One host is one host however it is spelled, and keeps neither places nor the queue from the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest

from gitfleet.fleet import call_queue
from gitfleet.fleet.call_queue import MOST_OF_HOST
from gitfleet.fleet.call_steps import host_of
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.model.calls import WebhookOutcome
from gitfleet.model.decisions import Decision
from tests.fleet.test_call_queue import World, query, until, webhook, world

__all__ = ["world"]


@pytest.mark.parametrize(
    ("addresses", "host"),
    [
        (
            (
                "https://evil.example/", "https://evil.example:443/", "https://evil.example./a", "http://evil.example",
                "https://EVIL.example.:443/", "HTTPS://evil.Example:8443?q", "https://user@evil.example/",
            ),
            "evil.example",
        ),
        (("http://[2001:db8::1]/", "https://[2001:DB8:0::1]:8443/"), "2001:db8::1"),
        (("http://127.0.0.1:1/", "http://127.0.0.1:2/"), "127.0.0.1"),
        (("https://[evil/", "https://", "evil.example", "https:///evil.example", ""), ""),
    ],
)  # fmt: skip
def test_one_host_is_one_host_however_it_is_spelled(addresses: tuple[str, ...], host: str) -> None:
    assert {host_of(replace(webhook("a"), url=one)) for one in addresses} == {host or "an unreadable URL"}
    assert {host_of(replace(query("a"), address=one)) for one in addresses} == {host or "jobs"}


def test_many_calls_to_one_host_do_not_keep_the_others(world: World) -> None:
    world.hooks.closed.add("slow")
    world.queue.start([*(webhook(f"slow-{number}", "slow") for number in range(2 * MOST_OF_HOST)), webhook("quick")])
    assert world.of("quick").outcome is WebhookOutcome.PASSED
    assert len(world.queue._under_way) == MOST_OF_HOST


def test_places_are_shared_out_and_hosts_take_turns(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_queue, "MOST_AT_ONCE", 4)
    hosts = [f"h{number}" for number in range(8)]
    world.hooks.closed.update(hosts)
    world.queue.start([webhook(f"{host}-{number}", host) for host in hosts for number in range(20)])
    until(lambda: world.hooks.at_once["all"] == 4)
    assert +world.hooks.at_once == {"all": 4, **dict.fromkeys(hosts[:4], 1)}
    world.queue.start([webhook("late", "late")])
    world.hooks.closed.clear()
    until(lambda: len(world.queue.answers()) == 161)
    turns = [one.partition("-")[0] for one in world.hooks.begun]
    assert turns.index("late") <= 4 + len(hosts) + 4, "each of the others has had a turn, and no host many"
    assert max(Counter(turns[:64]).values()) <= 64 / len(hosts) + 4


def test_calls_that_are_needed_no_more_make_room_in_the_same_pass(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_queue, "MOST_OF_HOST", 1)
    world.hooks.closed.add("hooks.example")
    rollouts = WorkloadRollouts(calls=world.queue)
    for name in ("a", "b"):
        decision = SimpleNamespace(calls=(webhook(name),), inputs=SimpleNamespace(answers={}))
        rollouts._start_calls(cast(Decision, decision))
        until(partial(world.hooks.begun.__contains__, name))
    world.hooks.closed.clear()
    assert world.of("b").outcome is WebhookOutcome.PASSED


def test_hosts_that_are_gone_are_not_counted_for_ever(world: World) -> None:
    world.queue.start([webhook(f"{number}", f"h{number}") for number in range(100)])
    until(lambda: len(world.queue.answers()) == 100)
    until(lambda: not (world.queue._threads or world.queue._lost or world.queue._stuck or world.queue._turns))
