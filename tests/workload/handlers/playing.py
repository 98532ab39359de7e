"""A rollout played against models of controllers, in any order of their passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from random import Random

from gitfleet.api.objects import JsonObject
from gitfleet.api.workload_records import ClusterRolloutStatus
from gitfleet.model.rolling import Passage, WorkloadMove
from gitfleet.model.rollout_fields import ABSENT, Fields, value_at
from gitfleet.workload.handlers import Counts, Goal, Step, WorkloadHandler, Workloads
from tests.workload.handlers.models import Model

MOST_PASSES = 4000


def always_open(asked: ClusterRolloutStatus | WorkloadMove) -> Passage:
    """Gates that keep nothing from moving."""
    return Passage(asked.cluster)


class Stuck(AssertionError):
    """A step does not reach what it is to reach."""


@dataclass
class Play:
    """A handler with the objects that it moves. `watch` is called after everything that happens."""

    handler: WorkloadHandler
    target: Model
    sources: Sequence[Model] = ()
    order: Random = field(default_factory=lambda: Random(0))
    watch: Callable[[Play], None] = lambda _: None
    wanted: JsonObject | None = None
    originals: Fields | None = None
    before: JsonObject | None = None
    patches: int = 0
    log: list[str] = field(default_factory=list)

    @property
    def models(self) -> list[Model]:
        return [self.target, *self.sources]

    @property
    def seen(self) -> Workloads:
        return Workloads(
            target=self.target.live,
            sources=tuple(one.live for one in self.sources),
            pods=self.target.live_pods(),
            wanted=self.wanted,
            originals=self.originals,
            before=self.before,
        )

    @property
    def ready(self) -> int:
        return sum(pod.ready for one in self.models for pod in one.pods)

    @property
    def there(self) -> int:
        return sum(len(one.pods) for one in self.models)

    def counts(self, goal: Goal) -> Counts:
        return self.handler.counts(self.seen, goal)

    def patch(self, goal: Goal, step: Step) -> bool:
        """Give what the handler wants; whether anything changed."""
        seen = self.seen
        scaling = self.handler.scale(seen, goal, step)
        assert scaling == self.handler.scale(seen, goal, step)
        if self.originals is None and self.target.live.key in scaling.fields:
            fields = scaling.fields[self.target.live.key]
            self.originals = {p: v for p in fields if (v := value_at(self.target.live.body, p)) is not ABSENT}
        changed = [one.give(scaling.fields.get(one.live.key, {})) for one in self.models]
        changed.append(self.target.give_pods(scaling.fields))
        for pod in scaling.pods:
            self.target.delete(pod.key.name)
        moved = any(changed) or bool(scaling.pods)
        self.patches += moved
        return moved

    def step(self, goal: Goal, step: Step, until: Callable[[], bool]) -> None:
        """Go on, in any order, until what the step is to reach is there and nothing moves any more."""
        for passes in range(MOST_PASSES):
            moved = self.patch(goal, step) if self.order.random() < 0.5 else None
            self.watch(self)
            for one in self.order.sample(self.models, len(self.models)):
                if self.order.random() < 0.5:
                    one.sync()
                    self.watch(self)
                if self.order.random() < 0.3:
                    one.run_pods()
            if moved is False and until():
                self.log.append(f"{step} {goal.upgraded}: {passes}")
                return
        raise Stuck(f"{step} of {goal} at {self.counts(goal)}, {[(one.spec, one.status) for one in self.models]}")

    def settle(self, goal: Goal, step: Step) -> None:
        """Go on until nothing is to be changed and the controllers have nothing to do."""
        for _ in range(MOST_PASSES):
            moved = self.patch(goal, step)
            before = self._state()
            for one in self.models:
                one.sync()
                self.watch(self)
                one.run_pods()
            if not moved and before == self._state():
                return
        raise Stuck(f"{step} of {goal} does not come to an end")

    def _state(self) -> object:
        return [({**one.status}, [(pod.name, pod.ready) for pod in one.pods]) for one in self.models]

    def roll(self, goal: Goal, batches: Sequence[int]) -> None:
        """All batches, and what comes before and after them."""
        last = goal
        self.step(goal, Step.CLAIM, lambda: True)
        for one in goals(goal, batches):
            self.step(one, Step.FIRST, partial(self.is_up, one))
            self.step(one, Step.SECOND, partial(self.is_done, one))
            last = one
        self.step(last, Step.RELEASE, lambda: True)
        self.settle(last, Step.RELEASE)

    def is_up(self, goal: Goal) -> bool:
        counts = self.counts(goal)
        return counts.observed and counts.upgraded_ready >= goal.upgraded - goal.unavailable

    def is_done(self, goal: Goal) -> bool:
        return self.is_up(goal) and self.is_down(goal)

    def is_down(self, goal: Goal) -> bool:
        return not goal.upgraded or self.counts(goal).old <= max(0, goal.size - goal.upgraded)


def goals(goal: Goal, batches: Sequence[int]) -> Iterator[Goal]:
    """The goals of batches one after the other."""
    had = max(0, goal.original - sum(goal.source_sizes)) if goal.source_sizes else 0
    for before, upgraded in pairwise(accumulate(batches, initial=0)):
        yield replace(goal, before=max(had, before), upgraded=max(had, upgraded))


def hold_new_template(play: Play, goal: Goal, image: str = "new") -> None:
    """As applying does it: the held fields and the new template in one write."""
    fields = play.handler.scale(play.seen, goal, Step.HOLD).fields[play.target.live.key]
    play.patch(goal, Step.HOLD)
    play.target.give({**fields, "/spec/template": {"spec": {"image": image}}})
