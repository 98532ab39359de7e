"""A rollout of new objects waits for a cluster: a slip in them is held as it is once the rollout is over, and the
commit can be taken back without an approval (invariant 3, docs/removal.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.loop.test_kustomize_rollout import BuiltWorld
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_folds_with_slips import Texts
from tests.scenarios.test_misspelt_moves import by_label, placing
from tests.scenarios.test_unclear_commits import at
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3", "c4", "c5", "c6")
FROZEN = builders.freeze("night", "2026-02-01T00:00:00Z", scope={"clusters": {"matchLabels": {"stage": "last"}}})
SLIPS_ONLY = builders.fleet_config(massDelete={"maxPercent": 100})


def space(name: str, team: str = "none") -> Texts:
    """A namespace with a Deployment."""
    both = builders.namespace(name, labels={"team": team}), builders.deployment(name, "web")
    return {path_of(one): to_yaml(one) for one in both}


def file(name: str, *what: str | dict[str, Any]) -> Texts:
    return {at(name): to_yaml(placing(name, *what))}


def begun(*more: dict[str, Any], texts: Texts | None = None) -> World:
    """Zulu has bread, tango has fjord, on six clusters."""
    world = BuiltWorld(rules=(QUICK,))
    world.commit(*members(*CLUSTERS[:5]), *members("c6", stage="last"), *more)
    there = {**space("bread"), **space("fjord"), **file("zulu", "bread"), **file("tango", "fjord")}
    world.write({**there, **(texts or {})})
    world.settle()
    return world


def rolled_out(world: World, texts: Texts, *, to_all: bool = False) -> None:
    """A commit whose rollout waits for the sixth cluster, which is frozen for a month."""
    if not to_all:
        world.commit(FROZEN)
        world.settle()
    world.write(texts)
    world.settle()


def having(world: World, namespace: str = "crane") -> list[str]:
    """The clusters that have a namespace with its Deployment."""
    return [name for name in CLUSTERS if world.live(name, "Namespace", namespace) and world.image_in(name, namespace)]


def undo(world: World, texts: Texts, before: Mapping[str, bytes]) -> None:
    """A commit that makes files again what they were."""
    world.write({path: before[path].decode() if path in before else None for path in texts})
    world.settle()


def rules(world: World) -> set[HoldRule]:
    return {reason.rule for hold in world.state().holds.values() for reason in hold.reasons}


CRANE = space("crane")
GONE: Texts = dict.fromkeys(CRANE)
NAMESPACE, DEPLOYMENT = sorted(CRANE, reverse=True)
DB = path_of(builders.deployment("bread", "db"))
ADDED: Texts = {**CRANE, **file("zulu", "bread", "crane"), DB: to_yaml(builders.deployment("bread", "db"))}
LEFT = file("zulu", "bread")


def edited(path: str, old: str, new: str, to: str = "") -> Texts:
    """An edit of what was added."""
    text = ADDED[path] or ""
    assert old in text
    return {path: None, to or path: text.replace(old, new)}


SLIPS: dict[str, tuple[HoldRule, Texts]] = {
    "ignored": (HoldRule.IGNORED_FILE, {".gitfleetignore": "resources/crane/\n"}),
    "out of sight": (HoldRule.IGNORED_FILE, {**GONE, **{f"{path}.bak": text for path, text in CRANE.items()}}),
    "selector misspelt": (HoldRule.EMPTY_SELECTION, file("zulu", "bread", "crnae")),
    "namespace misspelt": (
        HoldRule.LIKELY_TYPO,
        {**edited(NAMESPACE, "name: crane", "name: crnae"), **edited(DEPLOYMENT, "space: crane", "space: crnae")},
    ),
    "folder lost": (HoldRule.EMPTY_SELECTION, GONE),
    "moves, and is misspelt there": (HoldRule.EMPTY_SELECTION, {**LEFT, **file("tango", "fjord", "crnae")}),
    "moves to a new one, and is misspelt there": (HoldRule.EMPTY_SELECTION, {**LEFT, **file("golf", "crnae")}),
    "moves, and its label is misspelt": (
        HoldRule.EMPTY_SELECTION,
        {**LEFT, **space("crane", "glf"), **file("golf", by_label("golf"))},
    ),
    "moves to what is not read": (HoldRule.UNCLEAR_COMMIT, {**LEFT, "placements/golf.yaml.txt": "kind: x\n"}),
    "goes with an error": (HoldRule.UNCLEAR_COMMIT, {**LEFT, "resources/bread/more.yaml": "kind: [\n"}),
    "an object ignored": (HoldRule.IGNORED_FILE, {".gitfleetignore": "*-db.yaml\n"}),
    "an object misspelt": (HoldRule.LIKELY_TYPO, edited(DB, "name: db", "name: bd")),
    "an object in another namespace": (HoldRule.LIKELY_TYPO, edited(DB, "space: bread", "space: default")),
    "an object out of sight": (HoldRule.IGNORED_FILE, edited(DB, "", "", f"{DB}.bak")),
}


@pytest.mark.parametrize("to_all", [False, True], ids=["under way", "settled"])
@pytest.mark.parametrize("case", SLIPS)
def test_a_slip_in_what_a_rollout_brought_takes_nothing_away(case: str, to_all: bool) -> None:
    rule, slip = SLIPS[case]
    world = begun(SLIPS_ONLY)
    rolled_out(world, ADDED, to_all=to_all)
    before, there = world.repo.files("main"), list(CLUSTERS if to_all else CLUSTERS[:5])
    with world.nothing_deleted():
        world.write(slip)
        world.settle()
        world.restart()
        world.settle()
        assert rule in rules(world)
        assert having(world) == there
    undo(world, slip, before)
    assert (world.state().holds, world.state().faults, having(world)) == ({}, (), there)


WAITING = file("zulu", "bread", "crane")
LABELLED = file("zulu", "bread", by_label("zulu"))
KUSTOMIZATION: Texts = {
    "resources/k/kustomization.yaml": "resources: [more.yaml]\n",
    "resources/k/more.yaml": to_yaml(builders.config_map("bread", "more")),
}
BOTH = "resources: [more.yaml, crane.yaml]\n"
BUILT: Texts = {"resources/k/crane.yaml": "\n---\n".join(text or "" for text in CRANE.values())}
COMMITS: dict[str, tuple[Texts, Texts]] = {
    "a name with its files": ({}, {**CRANE, **WAITING}),
    "a name": (CRANE, WAITING),
    "the files of a name that waited for them": (WAITING, CRANE),
    "a label with its files": (LABELLED, space("crane", "zulu")),
    "the label of what was there": ({**LABELLED, **CRANE}, space("crane", "zulu")),
    "a selector by labels": ({**CRANE, **space("crane", "zulu")}, LABELLED),
    "what was ignored": (
        {**CRANE, **WAITING, ".gitfleetignore": "resources/crane/\n"},
        {".gitfleetignore": None},
    ),
    "what was out of sight": (
        {**WAITING, **{f"{path}.bak": text for path, text in CRANE.items()}},
        {**CRANE, **{f"{path}.bak": None for path in CRANE}},
    ),
    "an entry of a kustomization with its file": (KUSTOMIZATION | WAITING, BUILT | {min(KUSTOMIZATION): BOTH}),
    "an entry of a kustomization": (KUSTOMIZATION | BUILT | WAITING, {min(KUSTOMIZATION): BOTH}),
    "a kustomization": (WAITING, KUSTOMIZATION | BUILT | {min(KUSTOMIZATION): BOTH}),
    "what had nearly the same name": ({**space("crnae"), **WAITING}, {**dict.fromkeys(space("crnae")), **CRANE}),
}


@pytest.mark.parametrize("also", [False, True], ids=["next", "after another commit"])
@pytest.mark.parametrize("case", COMMITS)
def test_a_commit_that_waits_for_a_cluster_is_taken_back_without_an_approval(case: str, also: bool) -> None:
    texts, added = COMMITS[case]
    world = begun(texts=texts)
    before = world.repo.files("main")
    rolled_out(world, added)
    assert having(world) == list(CLUSTERS[:5])
    if also:
        world.commit(builders.config_map("fjord", "later"))
        world.settle()
    undo(world, added, before)
    assert (world.state().holds, having(world), having(world, "bread")) == ({}, [], list(CLUSTERS))


def test_commits_that_came_at_once_are_taken_back_together() -> None:
    world = begun(texts={**LABELLED, **CRANE})
    before = world.repo.files("main")
    world.commit(FROZEN)
    world.settle()
    commits = file("golf", "later"), space("crane", "zulu"), space("golf")
    for texts in commits:
        world.write(texts)
    world.settle()
    assert having(world) == list(CLUSTERS[:5])
    undo(world, {path: text for texts in commits for path, text in texts.items()}, before)
    assert (world.state().holds, having(world)) == ({}, [])


OTHERS: dict[str, Texts] = {
    "a part of it": CRANE,
    "and something else": {**CRANE, **dict.fromkeys(space("golf")), **space("bread", "x")},
    "to something else": {**space("crane", "nine"), **dict.fromkeys(space("golf"))},
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_takes_back_a_part_or_does_more_is_judged_as_every_commit(case: str) -> None:
    world = begun(SLIPS_ONLY, texts={**LABELLED, **CRANE})
    rolled_out(world, {**space("crane", "zulu"), **space("golf")})
    with world.nothing_deleted():
        world.write(OTHERS[case])
        world.settle()
        assert (HoldRule.LABELS_CHANGED in rules(world), having(world)) == (True, list(CLUSTERS[:5]))
