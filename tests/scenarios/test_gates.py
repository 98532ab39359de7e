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
    return builders.fleet_config(massDelete={"maxPercent": 100}, freezeWindows=[always])


def gated(path: str) -> tuple[World, dict[str, Any]]:
    """Three clusters that keep web:1 because of a gate file, while the repo has web:2; and that gate."""
    world = rolling_world()
    release = builders.deployment("web", "web", image="web:2")
    if path in (FREEZE, FLEET):
        until = (world.clock.now() + timedelta(days=30)).isoformat()
        gate = builders.freeze("f", until, scope={"placements": ["web"]}) if path == FREEZE else window()
        world.commit(gate, release)
    else:
        world.commit(release)
        world.settle()
        digest, gate = digest_of(world, 1), pinned(world, 0)
        if path == QUARANTINE:
            gate = quarantine(digest)
            world.commit(builders.deployment("web", "web", image="web:1"))
            world.settle()
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


GOES_ON = "so that the {} there goes on as it was"
Files = dict[str, str | None]
HIDDEN: dict[str, Callable[[str, str], tuple[Files, str, str, str]]] = {
    "ignored": lambda path, _: (
        {".gitfleetignore": f"# old\n/{path}\n"},
        ".gitfleetignore:2",
        f"hides {path}, {GOES_ON}; take the rule back, or delete that file to end it",
        path,
    ),
    "renamed": lambda path, text: (
        {path: None, f"{path}.bak": f"# until later\n{text}"},
        f"{path}.bak:1",
        f"was {path} and is not read here, {GOES_ON}; move it back, or delete this file to end it",
        f"{path}.bak",
    ),
    "moved": lambda path, text: (
        {path: None, f"resources/{path}": text},
        f"resources/{path}:1",
        f"was {path} and is only placed here, {GOES_ON}; move it back, or delete this file to end it",
        f"resources/{path}",
    ),
    "emptied": lambda path, _: (
        {path: "# for later\n"},
        f"{path}:1",
        f"holds nothing any more, {GOES_ON}; write it back, or delete this file to end it",
        path,
    ),
}


@pytest.mark.parametrize(
    ("path", "how"),
    [
        (FREEZE, "ignored"),
        (FREEZE, "renamed"),
        (FREEZE, "emptied"),
        (PIN, "renamed"),
        (PIN, "moved"),
        (QUARANTINE, "ignored"),
        (QUARANTINE, "moved"),
        (FLEET, "ignored"),
    ],
)
def test_a_gate_that_is_hidden_goes_on_until_its_file_is_deleted(path: str, how: str) -> None:
    world, gate = gated(path)
    files, place, says, delete = HIDDEN[how](path, to_yaml(gate))
    world.write(files)
    at_rest(world)
    label = f"{gate['kind']}/{gate['metadata']['name']}"
    expected = [f"{place}: {label}: {says.format(gate['kind'])}"]
    assert (rolled_out(world), errors(world)) == (OLD, expected)

    world.commit(builders.namespace("other"))
    world.restart()
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, expected), "the commits after it know it too"

    world.write({delete: None})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


def edit(gate: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """The gate with other fields in its spec."""
    return {**gate, "spec": {**gate["spec"], **spec}}


def named(name: str, gate: dict[str, Any]) -> dict[str, Any]:
    """The gate under another name."""
    return {**gate, "metadata": {**gate["metadata"], "name": name}}


def another_digest(gate: dict[str, Any]) -> dict[str, Any]:
    """The gate with one wrong digit."""
    digest = gate["spec"]["digest"]
    return edit(gate, digest=("1" if digest[0] != "1" else "2") + digest[1:])


STAYS = "so the version before stays in force"
RIGHT = "write the right name, or delete the file to end it"
SLIPS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]], str, str]] = {
    "pin": (
        PIN,
        lambda g: edit(g, placement="wbe"),
        "spec.placement",
        f"names no placement, {STAYS}; did you mean web?",
    ),
    "freeze": (
        FREEZE,
        lambda g: edit(g, scope={"placements": ["wbe"]}),
        "spec.scope.placements[0]",
        f"matches no placement, {STAYS}; did you mean web?",
    ),
    "freeze with a slash": (
        FREEZE,
        lambda g: edit(g, scope={"placements": ["/web"]}),
        "spec.scope.placements[0]",
        f"matches no placement, {STAYS}; did you mean web?",
    ),
    "freeze, stage": (
        FREEZE,
        lambda g: edit(g, scope={"placements": ["web"], "stages": ["prod"]}),
        "spec.scope.stages[0]",
        f"matches no stage, {STAYS}; {RIGHT}",
    ),
    "freeze, clusters": (
        FREEZE,
        lambda g: edit(g, scope={"clusters": {"matchLabels": {"env": "p"}}}),
        "spec.scope.clusters",
        f"matches no cluster, {STAYS}; {RIGHT}",
    ),
    "quarantine": (
        QUARANTINE,
        lambda g: edit(g, placement="wbe"),
        "spec.placement",
        f"names no placement, {STAYS}; did you mean web?",
    ),
    "digest": (
        QUARANTINE,
        another_digest,
        "spec.digest",
        f"is the digest of no snapshot of web, {STAYS}; copy it from the snapshot, or delete the file to end it",
    ),
    "pin of another name": (
        PIN,
        lambda g: named("wen", edit(g, placement="wbe")),
        "spec.placement",
        f"names no placement, {STAYS}; did you mean web?",
    ),
    "freeze of another name": (
        FREEZE,
        lambda g: named("ff", edit(g, scope={"placements": ["wbe"]})),
        "spec.scope.placements[0]",
        f"matches no placement, {STAYS}; did you mean web?",
    ),
    "quarantine of another name": (
        QUARANTINE,
        lambda g: named("bad", edit(g, placement="wbe")),
        "spec.placement",
        f"names no placement, {STAYS}; did you mean web?",
    ),
    "window": (
        FLEET,
        lambda _: window(placements=["wbe"]),
        "spec.freezeWindows[0].scope.placements[0]",
        f"matches no placement, {STAYS}; did you mean web?",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_what_a_gate_is_for_leaves_it_as_it_was(slip: str) -> None:
    path, slipped, field, says = SLIPS[slip]
    world, gate = gated(path)
    world.write({path: to_yaml(slipped(gate))})
    at_rest(world)
    world.restart()
    world.commit(builders.namespace("other"))
    at_rest(world)
    (error,) = errors(world)
    assert error.startswith(f"{path}:") and error.endswith(f"{field}: {says}")
    assert rolled_out(world) == OLD

    world.commit(remove=[path])
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


def test_a_disruption_budget_of_a_misspelt_name_leaves_the_one_before_in_force() -> None:
    world, path = rolling_world(), "budgets/web.yaml"
    world.commit(builders.placement_budget("web", minAvailable=3))
    at_rest(world)
    world.write({path: to_yaml(builders.placement_budget("wbe", minAvailable=3))})
    world.commit(builders.eviction("go", "web", EVERY[0]))
    at_rest(world)
    (error,) = errors(world)
    assert error.startswith(f"{path}:")
    assert error.endswith(f"metadata.name: names no placement, {STAYS}; did you mean web?")
    (eviction,) = world.state().evictions.values()
    assert [(one.type, str(one.status)) for one in eviction.conditions] == [("Valid", "True"), ("Executed", "False")]

    world.commit(builders.eviction("again", "web", EVERY[0]), remove=[path, "evictions/go.yaml"])
    at_rest(world)
    executed = [one.status for e in world.state().evictions.values() for one in e.conditions if one.type == "Executed"]
    assert (errors(world), executed[-1]) == ([], "True")


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


@pytest.mark.parametrize(
    ("path", "slip"),
    [(PIN, {"placement": "shpo"}), (QUARANTINE, {"placement": "shpo"}), (FREEZE, {"scope": {"placements": ["shpo"]}})],
)
def test_a_slip_in_a_gate_beside_the_rename_of_its_placement(path: str, slip: dict[str, Any]) -> None:
    world, gate = gated(path)
    rolling = builders.rolling_update(maxUnavailable=1)
    shop = builders.placement("shop", selectors=[builders.select_namespace("web")], strategy=rolling)
    world.commit(shop, edit(gate, **slip), remove=["placements/web.yaml"])
    at_rest(world)
    assert rolled_out(world) == OLD
    assert len([error for error in errors(world) if error.endswith(f"{STAYS}; did you mean shop?")]) == 1


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


def commented(text: str, *lines: str) -> str:
    """The text with `#` in front of the lines that have one of these words, or of all lines."""
    every = text.splitlines()
    return "\n".join(f"# {line}" if not lines or any(word in line for word in lines) else line for line in every) + "\n"


FLEET_HEAD = """apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  massDelete: {maxPercent: 100}
"""
WINDOWS = """  freezeWindows:
    - {name: always, schedule: "0 0 * * *", duration: 1439m}
    - {name: other, schedule: "0 0 * * *", duration: 1439m, scope: {placements: [batch]}}
"""
ALWAYS = (
    'line 7 comments out the window "always", so the version before stays in force; write it back, or delete that line'
)
NO_KEY = "is not there any more, so the version before stays in force; write `freezeWindows: []` to end all windows"
LESS: dict[str, tuple[str, str]] = {
    "the list": (FLEET_HEAD + commented(WINDOWS), f"spec.freezeWindows: {ALWAYS} to end it"),
    "all items": (FLEET_HEAD + commented(WINDOWS, "name"), f"spec.freezeWindows: {ALWAYS} to end it"),
    "one of two": (FLEET_HEAD + commented(WINDOWS, "always"), f"spec.freezeWindows: {ALWAYS} to end it"),
    "the key": (FLEET_HEAD, f"spec.freezeWindows: {NO_KEY}"),
    "its value": (FLEET_HEAD + "  freezeWindows:\n", f"spec.freezeWindows: {NO_KEY}"),
    "the spec": (FLEET_HEAD.partition("spec")[0], f"spec.freezeWindows: {NO_KEY}"),
}
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


@pytest.mark.parametrize("how", LESS)
def test_windows_that_are_commented_out_or_lose_their_key_go_on(how: str) -> None:
    text, says = LESS[how]
    world = frozen_by_windows()
    for edited in (text, text + "# another edit\n"):
        world.write({FLEET: edited})
        at_rest(world)
        (error,) = errors(world)
        assert error.startswith(f"{FLEET}:") and error.endswith(f"FleetConfig/fleet: {says}")
        assert rolled_out(world) == OLD
        world.restart()
    world.write({FLEET: ENDS["an empty list"]})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


@pytest.mark.parametrize("how", ENDS)
def test_windows_end_where_they_are_deleted(how: str) -> None:
    world = frozen_by_windows()
    world.write({FLEET: ENDS[how]})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


@pytest.mark.parametrize("path", [FREEZE, PIN, QUARANTINE])
def test_one_of_several_documents_that_is_commented_out_goes_on(path: str) -> None:
    world, gate = gated(path)
    text, beside = to_yaml(gate), to_yaml(builders.freeze("beside", "2099-01-01T00:00:00Z", scope=NOWHERE))
    world.write({path: f"{beside}---\n{text}"})
    at_rest(world)
    world.write({path: f"{beside}---\n{commented(text)}"})
    at_rest(world)
    label, line = f"{gate['kind']}/{gate['metadata']['name']}", len(beside.splitlines()) + 2
    says = "comments it out, so that the {} there goes on as it was; write it back, or delete these lines to end it"
    expected = [f"{path}:{line}: {label}: {says.format(gate['kind'])}"]
    assert (rolled_out(world), errors(world)) == (OLD, expected)
    world.restart()
    world.commit(builders.namespace("other"))
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, expected)
    world.write({path: beside})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"{FREEZE}.bak", lambda text: text.replace("Freeze", "Freze")),
        ("old/f.yaml.off", lambda text: text.replace("Freeze", "Freze")),
        ("freezes/.f.yaml", lambda text: ""),
        (f"{FREEZE}.bak", commented),
        ("notes/old.txt", lambda text: text.replace("Freeze", "Freze")),
    ],
)
def test_a_gate_that_is_renamed_and_edited_goes_on(path: str, content: Callable[[str], str]) -> None:
    world, gate = gated(FREEZE)
    world.write({FREEZE: None, path: content(to_yaml(gate))})
    at_rest(world)
    expected = [f"{path}:1: Freeze/f: {HIDDEN['renamed'](FREEZE, '')[2].format('Freeze')}"]
    assert (rolled_out(world), errors(world)) == (OLD, expected)
    world.restart()
    world.commit(builders.namespace("other"))
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (OLD, expected)
    world.write({path: None})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])


@pytest.mark.parametrize("name", ["fleet", "another"])
@pytest.mark.parametrize(("first", "second"), [(FLEET, "fleets/a.yaml"), ("fleets/b.yaml", FLEET)])
def test_a_second_configuration_beside_a_hidden_one_is_refused(first: str, second: str, name: str) -> None:
    world = rolling_world()
    world.write({first: FLEET_HEAD + WINDOWS})
    world.commit(builders.deployment("web", "web", image="web:2"))
    at_rest(world)
    other = to_yaml(named(name, builders.fleet_config(massDelete={"maxPercent": 100})))
    world.write({".gitfleetignore": f"{first}\n", second: other})
    for _ in range(2):
        at_rest(world)
        assert rolled_out(world) == OLD
        says = f"hides {first}, {GOES_ON.format('FleetConfig')}; take the rule back, or delete that file to end it"
        assert f".gitfleetignore:1: FleetConfig/fleet: {says}" in errors(world)
        world.restart()
        world.commit(builders.namespace("other"))
    world.write({first: None})
    at_rest(world)
    assert (rolled_out(world), errors(world)) == (NEW, [])
