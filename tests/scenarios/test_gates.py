"""Gate files (Freeze, Pin, Quarantine, windows) that are hidden, emptied or misspelt: what they held back stays where
it is until the file is deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.faults import Severity
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import rolled_out
from tests.scenarios.test_pins import EVERY, pinned
from tests.scenarios.test_quarantine import digest_of, quarantine, rolling_world
from tests.scenarios.world import World

OLD, NEW = (dict.fromkeys(EVERY, image) for image in ("web:1", "web:2"))
FREEZE, PIN, QUARANTINE, FLEET = "freezes/f.yaml", "pins/web.yaml", "quarantines/web-bad.yaml", "gitfleet.yaml"


def window(**scope: Any) -> dict[str, Any]:
    """A FleetConfig that freezes every evening, and so all days."""
    always = {"name": "always", "schedule": "0 0 * * *", "duration": "1439m", "scope": scope}
    return builders.fleet_config(removals={"approval": "Never"}, freezeWindows=[always])


def gated(path: str) -> tuple[World, dict[str, Any]]:
    """Three clusters that keep web:1 because of a gate file, while the repo has web:2; and that gate."""
    world = rolling_world()
    release = builders.deployment("web", "web", image="web:2")
    if path in (FREEZE, FLEET):
        until = (world.clock.now() + timedelta(days=30)).isoformat()
        gate = builders.freeze("f", until, scope={"placements": ["web"]}) if path == FREEZE else window()
        world.commit(gate, release)
    else:
        world.roll_out(release)
        digest, gate = digest_of(world, 1), pinned(world, 0)
        if path == QUARANTINE:
            gate = quarantine(digest)
            world.roll_out(builders.deployment("web", "web", image="web:1"))
            world.commit(gate, release)
        else:
            world.commit(gate)
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, [])
    return world, gate


def at_rest(world: World) -> None:
    """As many passes as a rollout of three clusters needs; a frozen one waits for days."""
    for _ in range(12):
        world.reconcile()
        world.advance(seconds=15)


def errors(world: World) -> list[str]:
    return [str(fault) for fault in world.state().faults if fault.severity is Severity.ERROR]


Files = dict[str, str | None]
ENDED: dict[str, Callable[[str, str], Files]] = {
    "deleted": lambda path, _: {path: None},
    "emptied": lambda path, _: {path: "# for later\n"},
    "renamed": lambda path, text: {path: None, f"{path}.bak": text},
    "ignored": lambda path, _: {".gitfleetignore": f"/{path}\n"},
}


@pytest.mark.parametrize("how", ENDED)
@pytest.mark.parametrize("path", [FREEZE, PIN, QUARANTINE])
def test_a_gate_ends_with_its_file(path: str, how: str) -> None:
    world, gate = gated(path)
    world.write(ENDED[how](path, to_yaml(gate)))
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


@pytest.mark.parametrize("path", [FREEZE, PIN, QUARANTINE])
def test_a_gate_with_an_error_stays_as_it_was(path: str) -> None:
    world, gate = gated(path)
    world.commit(edit(gate, nope=1))
    at_rest(world)
    world.restart()
    world.commit(builders.namespace("other"))
    at_rest(world)
    assert rolled_out(world) == OLD and len(errors(world)) == 1
    world.commit(remove=[path])
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


def edit(gate: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """The gate with other fields in its spec."""
    return {**gate, "spec": {**gate["spec"], **spec}}


def test_a_gate_may_name_what_takes_the_place_of_what_it_named() -> None:
    world, gate = gated(FREEZE)
    world.commit(
        builders.placement("shop", selectors=[builders.select_namespace("web")]),
        edit(gate, scope={"placements": ["shop"]}),
        remove=["placements/web.yaml"],
    )
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, [])
    world.commit(edit(gate, scope={"placements": ["wbe"]}), remove=["placements/shop.yaml"])
    at_rest(world)
    assert errors(world) == [], "what it named is gone, so it may name what is still to come"


@pytest.mark.parametrize("clusters", [{}, {"matchLabels": {}}, {"matchExpressions": []}])
def test_an_override_that_says_nothing_lifts_nothing(clusters: dict[str, Any]) -> None:
    world, _ = gated(FREEZE)
    expires = (world.clock.now() + timedelta(days=1)).isoformat()
    world.commit(builders.freeze_override("o", expires, scope={"clusters": clusters}))
    at_rest(world)
    needs = "freezes/o.yaml:5: FreezeOverride/o: spec: needs at least one of windows, freezes and scope; write what it "
    assert (rolled_out(world), errors(world)) == (OLD, [f"{needs}lifts"])


NOWHERE = {"placements": ["batch"], "stages": ["gone"], "clusters": {"matchLabels": {"zone": "z"}}}


@pytest.mark.parametrize("kept", [(), ("placements",), ("stages",), ("clusters",), ("placements", "stages")])
def test_a_freeze_that_lost_its_scope_gets_it_back_by_a_revert(kept: tuple[str, ...]) -> None:
    """It froze everything meanwhile, or nothing that there is."""
    world, gate = gated(FREEZE)
    away = builders.freeze("away", gate["spec"]["until"], scope=NOWHERE)
    world.commit(away)
    at_rest(world)
    world.commit(edit(away, scope={part: NOWHERE[part] for part in kept}), remove=[FREEZE])
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW if kept else OLD, [])
    world.commit(away)
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


FLEET_HEAD = """apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  removals: {approval: Never}
"""
WINDOWS = """  freezeWindows:
    - {name: always, schedule: "0 0 * * *", duration: 1439m}
    - {name: other, schedule: "0 0 * * *", duration: 1439m, scope: {placements: [batch]}}
"""
ENDS = {
    "an empty list": FLEET_HEAD + "  freezeWindows: []\n",
    "one deleted": FLEET_HEAD + "".join(line for line in WINDOWS.splitlines(True) if "always" not in line),
    "another one": FLEET_HEAD + WINDOWS.replace("always", "late").replace("1439m", "1m"),
    "no file": None,
}


def frozen_by_windows() -> World:
    """Three clusters that keep web:1 because of a window while the repo has web:2."""
    world = rolling_world()
    world.write({FLEET: FLEET_HEAD + WINDOWS})
    world.commit(builders.deployment("web", "web", image="web:2"))
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, [])
    return world


@pytest.mark.parametrize("how", ENDS)
def test_windows_end_where_they_are_deleted(how: str) -> None:
    world = frozen_by_windows()
    world.write({FLEET: ENDS[how]})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])
