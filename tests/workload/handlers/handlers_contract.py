"""Rollouts by the handlers on a server whose controllers run: the same on the simulated one and on a real one.

Subclass `HandlersContract`, name the class Test..., and give it a `side` fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.workload.goals import merge_patch, pending
from gitfleet.workload.handlers import BUILT_IN, Goal, Step, Workloads
from tests import builders as make
from tests.simulation.pods_contract import Side, image_of, is_ready
from tests.workload.handlers.playing import goals

MOST_PASSES = 1500


@dataclass
class Rolling:
    """A rollout on a server: the target's manifest, and those of its sources."""

    side: Side
    target: JsonObject
    sources: Sequence[JsonObject] = ()
    lowest: int = 10**6

    def live(self, body: JsonObject) -> LiveObject:
        status, found = self.side.send("GET", self.side.path(body))
        assert status == 200, found
        return LiveObject(key_of(found), found)

    @property
    def seen(self) -> Workloads:
        target = self.live(self.target)
        labels = ",".join(f"{k}={v}" for k, v in target.body["spec"]["selector"]["matchLabels"].items())
        pods = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in self.side.pods(labels)]
        if target.key.kind == "Deployment":  # for its ReplicaSets are asked instead (ports/clusters.py)
            path = f"/apis/apps/v1/namespaces/{self.side.namespace}/replicasets"
            _, found = self.side.send("GET", path, query={"labelSelector": labels})
            pods = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", **one} for one in found["items"]]
        return Workloads(
            target=target,
            sources=tuple(map(self.live, self.sources)),
            pods=tuple(LiveObject(key_of(pod), pod) for pod in pods),
            wanted=self.target,
        )

    def step(self, goal: Goal, step: Step, until: Callable[[Workloads], bool]) -> None:
        """Give what the handler wants, until what the step is to reach is there."""
        handler = BUILT_IN[key_of(self.target).group_kind]
        for _ in range(MOST_PASSES):
            seen = self.seen
            scaling = handler.scale(seen, goal, step)
            waits = bool(scaling.pods)
            for live, fields in pending(scaling, seen):
                waits = True
                status, said = self.side.patch(live.body, merge_patch(fields, live.body)["spec"])
                assert status == 200, said
            for pod in scaling.pods:
                assert self.side.delete_pod(pod.key.name, pod.uid)[0] in (200, 202)
            if not waits and until(seen):
                return
            self.side.wait()
            pods = self.side.pods("app in (web, old)")
            self.lowest = min(self.lowest, sum(map(is_ready, pods)))
        raise AssertionError(f"{step} does not come to its end: {self.seen}")

    def roll(self, goal: Goal, batches: Sequence[int], rolled: list[tuple[int, int]]) -> None:
        """All of it; `rolled` gets how many pods are new and old after each batch."""
        handler = BUILT_IN[key_of(self.target).group_kind]

        def is_up(one: Goal, seen: Workloads) -> bool:
            counts = handler.counts(seen, one)
            return counts.observed and counts.upgraded_ready >= one.upgraded - one.unavailable

        def is_done(one: Goal, seen: Workloads) -> bool:
            return is_up(one, seen) and handler.counts(seen, one).old <= max(0, one.size - one.upgraded)

        self.step(goal, Step.CLAIM, lambda seen: True)
        for one in goals(goal, batches):
            self.step(one, Step.FIRST, partial(is_up, one))
            self.step(one, Step.SECOND, partial(is_done, one))
            images = [image_of(pod) for pod in self.side.pods("app in (web, old)")]
            rolled.append((images.count("web:2"), images.count("web:1")))
            goal = one
        self.step(goal, Step.RELEASE, lambda seen: True)


def in_place(size: int, strategy: RolloutStrategy = RolloutStrategy.INCREASE_FIRST, away: int = 0) -> Goal:
    return Goal(mode=RolloutMode.IN_PLACE, strategy=strategy, original=size, size=size, unavailable=away)


class HandlersContract:
    """What holds on both servers."""

    def _held(self, side: Side, body: JsonObject, newer: JsonObject, goal: Goal) -> Rolling:
        """A workload at rest, to which new content is applied as applying does it: with the fields that are held."""
        side.apply(body)
        side.at_rest(body)
        rolling = Rolling(side, newer)
        (fields,) = BUILT_IN[key_of(body).group_kind].scale(rolling.seen, goal, Step.HOLD).fields.values()
        side.patch(body, merge_patch(fields, body)["spec"])
        status, said = side.patch(body, {"template": newer["spec"]["template"]})
        assert status == 200, said
        side.at_rest(body)
        return rolling

    @pytest.mark.parametrize("strategy", list(RolloutStrategy))
    @pytest.mark.parametrize("batches", [[2, 3], [1, 1, 3]])
    def test_a_deployment_in_place(self, side: Side, strategy: RolloutStrategy, batches: list[int]) -> None:
        body, newer = (make.deployment(side.namespace, "web", image, 5) for image in ("web:1", "web:2"))
        goal = in_place(5, strategy, away=1)
        rolling, rolled = self._held(side, body, newer, goal), list[tuple[int, int]]()
        rolling.roll(goal, batches, rolled)
        assert rolled == _expected(batches, 5)
        assert rolling.lowest >= 4
        side.at_rest(body)
        spec = rolling.live(body).body["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
        assert (spec.get("paused", False), spec.get("minReadySeconds", 0)) == (False, 0)

    @pytest.mark.parametrize("strategy", list(RolloutStrategy))
    def test_from_a_source_to_a_target(self, side: Side, strategy: RolloutStrategy) -> None:
        old, new = (
            make.deployment(side.namespace, "old", "web:1", 5),
            make.deployment(side.namespace, "web", "web:2", 0),
        )
        for body in old, new:
            side.apply(body)
            side.at_rest(body)
        goal = replace(in_place(5, strategy, 1), mode=RolloutMode.SOURCE_TO_TARGET, source_sizes=(5,))
        rolling, rolled = Rolling(side, new, [old]), list[tuple[int, int]]()
        rolling.roll(goal, [2, 2, 1], rolled)
        assert rolled == [(2, 3), (4, 1), (5, 0)]
        assert rolling.lowest >= 4

    def test_a_stateful_set(self, side: Side) -> None:
        body, newer = (make.stateful_set(side.namespace, "web", image, 4) for image in ("web:1", "web:2"))
        rolling, rolled = self._held(side, body, newer, in_place(4)), list[tuple[int, int]]()
        rolling.roll(in_place(4), [1, 2, 1], rolled)
        assert rolled == [(1, 3), (3, 1), (4, 0)]

    def test_a_daemon_set(self, side: Side) -> None:
        body, newer = (make.daemon_set(side.namespace, "web", image) for image in ("web:1", "web:2"))
        goal = in_place(side.nodes)
        batches = [1, side.nodes - 1]
        rolling, rolled = self._held(side, body, newer, goal), list[tuple[int, int]]()
        rolling.roll(goal, batches, rolled)
        assert rolled == _expected(batches, side.nodes)

    def test_a_stateful_set_goes_back(self, side: Side) -> None:
        body, newer = (make.stateful_set(side.namespace, "web", image, 4) for image in ("web:1", "web:2"))
        goal = replace(in_place(4), upgraded=2)
        rolling = self._held(side, body, newer, in_place(4))
        rolling.step(goal, Step.FIRST, lambda seen: BUILT_IN[key_of(body).group_kind].counts(seen, goal).upgraded == 2)
        rolling.step(goal, Step.REVERT, lambda seen: [image_of(pod.body) for pod in seen.pods] == ["web:1"] * 4)


def _expected(batches: Sequence[int], size: int) -> list[tuple[int, int]]:
    return [(sum(batches[: n + 1]), size - sum(batches[: n + 1])) for n in range(len(batches))]
