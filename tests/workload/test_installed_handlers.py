"""Workload handlers of other packages: the example, found by its entry point, and what is left out."""

from __future__ import annotations

import logging
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from gitfleet.api.objects import GroupKind, key_of
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS
from gitfleet.fleet.texts import FleetText
from gitfleet.fleet.workload_handlers import usable_handlers
from gitfleet.formats.texts import FormatsText
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT
from gitfleet.wiring.plugins import workload_handlers
from gitfleet.workload.handlers import BUILT_IN, Counts, Goal, Step, WorkloadHandler, Workloads
from gitfleet.workload.texts import WorkloadText
from tests.installed import install_example

ROOT = Path(__file__).resolve().parents[2]
KIND = GroupKind("games.example.com", "GameServerSet")


def arena(generation: int = 3, **spec: Any) -> Workloads:
    body = {
        "apiVersion": "games.example.com/v1",
        "kind": "GameServerSet",
        "metadata": {"namespace": "games", "name": "arena", "generation": generation},
        "spec": spec,
        "status": {
            "observedGeneration": 3, "replicas": 8, "readyReplicas": 7, "updatedReplicas": 3, "updatedReadyReplicas": 2
        },
    }  # fmt: skip
    return Workloads(target=LiveObject(key_of(body), body))


def goal(mode: RolloutMode, *names: str) -> Goal:
    strategy = RolloutStrategy.INCREASE_FIRST
    return Goal(mode=mode, strategy=strategy, original=8, size=8, before=1, upgraded=3, pod_list=names)


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkloadHandler:
    install_example("workload-handler", "gitfleet.workload_handlers", tmp_path, monkeypatch)
    handlers = workload_handlers()
    assert set(handlers) == {*BUILT_IN, KIND}
    return handlers[KIND]


@pytest.mark.parametrize(
    ("step", "keep_old"),
    [
        (Step.HOLD, 8), (Step.CLAIM, 7), (Step.FIRST, 5), (Step.SECOND, 5), (Step.RELEASE, 0), (Step.KEEP, 6),
        (Step.REVERT, 8),
    ],
)  # fmt: skip
def test_the_example_moves_its_kind(handler: WorkloadHandler, step: Step, keep_old: int) -> None:
    seen = arena(replicas=8, keepOld=6)
    assert list(handler.scale(seen, goal(RolloutMode.IN_PLACE), step).fields.values()) == [{"/spec/keepOld": keep_old}]


def test_the_example_counts_and_leaves_the_rest_to_the_base_class(handler: WorkloadHandler) -> None:
    seen, in_place, scaled = arena(replicas=8), goal(RolloutMode.IN_PLACE), goal(RolloutMode.SCALE)
    assert handler.counts(seen, in_place) == Counts(upgraded=3, upgraded_ready=2, old=5, old_ready=5)
    assert handler.counts(arena(4, replicas=8), in_place).observed is False
    assert handler.counts(seen, scaled) == Counts(upgraded=8, upgraded_ready=7)
    assert handler.health(seen) == WorkloadText.PODS_READY(ready="7", wanted="8", live="GameServerSet/games/arena")
    assert list(handler.scale(seen, scaled, Step.CLAIM).fields.values()) == [{"/spec/replicas": 8}]
    assert handler.size({"spec": {"replicas": 8}}) == 8
    assert handler.template({"spec": {"template": {"metadata": {"creationTimestamp": None}, "a": 1}}}) == {"a": 1}
    assert list(handler.scale(arena(), in_place, Step.HOLD).fields.values()) == [{"/spec/keepOld": ABSENT}]


@pytest.mark.parametrize(
    ("mode", "names", "expected"),
    [
        (RolloutMode.IN_PLACE, (), ""),
        (RolloutMode.SOURCE_TO_TARGET, (), "a GameServerSet has pods of both contents itself; leave sourceRef out"),
        (
            RolloutMode.IN_PLACE,
            ("arena-1",),
            "a GameServerSet chooses the pods itself; give replicas in place of podList",
        ),
    ],
)
def test_the_example_refuses(
    handler: WorkloadHandler, mode: RolloutMode, names: tuple[str, ...], expected: str
) -> None:
    assert handler.refusal(arena(replicas=8), goal(mode, *names)) == expected


class Misspelt(WorkloadHandler):
    def count(self) -> int:
        return 0


def broken() -> WorkloadHandler:
    raise ValueError("a secret")


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        (
            "Rollout.argoproj.io",
            Misspelt,
            f"Misspelt has no hook count: {FormatsText.YOU_MEAN(near='counts')} Helpers start with an underscore",
        ),
        ("Rollout.argoproj.io", broken, "unexpected ValueError"),
        ("Rollout.argoproj.io", dict, FleetText.FACTORY_MADE_NOT_DERIVE_FROM(name="dict")),
        ("Rollout.argoproj.io", 7, "unexpected TypeError"),
        ("Deployment.apps", WorkloadHandler, FleetText.GITFLEET_ONE_ITSELF(of_kind="Deployment.apps")),
    ],
)
def test_one_that_cannot_be_used_is_left_out_and_logged(
    name: str, make: object, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert usable_handlers({name: make}) == BUILT_IN
    assert caplog.messages == [FleetText.WORKLOAD_HANDLER_CANNOT_USED() % (name, why)]


def test_a_commit_is_read_with_the_built_in_ones() -> None:
    assert BUILT_IN.keys() == WORKLOAD_KINDS


def test_the_built_in_ones_are_entry_points_too(caplog: pytest.LogCaptureFixture) -> None:
    group = "gitfleet.workload_handlers"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][group]
    installed = {name: EntryPoint(name, value, group).load() for name, value in declared.items()}
    assert {str(kind): type(one) for kind, one in BUILT_IN.items()} == installed
    with caplog.at_level(logging.WARNING):
        assert usable_handlers(installed) == BUILT_IN
    assert caplog.records == []
