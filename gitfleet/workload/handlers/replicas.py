"""Workloads whose `spec.replicas` is moved: a target and its sources against each other, or one to another size.

What a rollout does never takes a ready pod away while that leaves fewer than `size - unavailable` of them: how far
sources may go down follows from how many pods of the target are ready in that moment. Pods that are not ready go first.
A source is never made larger by a batch; one that somebody made smaller stays so.

Of several sources, the earlier in the list goes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.workload.handlers.reading import asked, is_paused, is_seen, pods_there, ready_there
from gitfleet.workload.handlers.values import Counts, Goal, Step, Workloads


def is_pair(seen: Workloads, goal: Goal, step: Step) -> bool:
    """Whether pods go from sources to a target. Before a rollout knows its mode, sources say so."""
    return goal.mode is RolloutMode.SOURCE_TO_TARGET or (step is Step.HOLD and bool(seen.sources))


def pair_sizes(seen: Workloads, goal: Goal, step: Step) -> tuple[int, tuple[int, ...]]:
    """How many replicas the target and each source are to have."""
    match step:
        case Step.HOLD | Step.KEEP | Step.CLAIM:
            return asked(seen.target), tuple(map(asked, seen.sources))
        case Step.FIRST | Step.SECOND:
            if goal.strategy is RolloutStrategy.DECREASE_FIRST:
                return _decreased_first(seen, goal)
            return _increased_first(seen, goal, step)
        case Step.RELEASE:
            return goal.size, (0,) * len(seen.sources)
        case Step.REVERT:
            return _reverted(seen, goal)
    assert_never(step)


def scaled_size(seen: Workloads, goal: Goal, step: Step) -> int:
    """How many replicas a workload is to have that goes to another size."""
    match step:
        case Step.HOLD | Step.KEEP:
            return asked(seen.target)
        case Step.CLAIM | Step.REVERT:
            return goal.original
        case Step.FIRST | Step.SECOND:
            return size_after(goal, goal.upgraded)
        case Step.RELEASE:
            return goal.size
    assert_never(step)


def size_after(goal: Goal, changed: int) -> int:
    """How many pods a workload has that goes to another size, once so many were added, or taken away."""
    if goal.size >= goal.original:
        return min(goal.size, goal.original + changed)
    return max(goal.size, goal.original - changed)


def pair_counts(seen: Workloads, goal: Goal, updated: int) -> Counts:
    """The counts of a target, `updated` of whose pods have its newest content, and of its sources."""
    pods = pods_there(seen.target)
    mixed = max(0, pods - updated)
    ready = max(0, min(updated, ready_there(seen.target) - mixed))
    all_of = [*seen.sources, *([seen.target] if seen.target is not None else [])]
    counts = Counts(
        upgraded=updated,
        upgraded_ready=ready,
        old=sum(map(_stable_pods, seen.sources)) + mixed,
        old_ready=sum(map(ready_there, seen.sources)) + max(0, ready_there(seen.target) - ready),
        observed=all(is_seen(live) and _stable_pods(live) == asked(live) for live in all_of),
    )
    return until_seen(counts, seen, goal)


def until_seen(counts: Counts, seen: Workloads, goal: Goal) -> Counts:
    """Counts by a status that may be about an older spec: no more is upgraded than was before the batch."""
    if seen.target is None or is_seen(seen.target):
        return counts
    upgraded = min(counts.upgraded, goal.before)
    moved = counts.upgraded - upgraded
    ready = min(counts.upgraded_ready, upgraded)
    return Counts(
        upgraded=upgraded,
        upgraded_ready=ready,
        old=counts.old + moved,
        old_ready=counts.old_ready + counts.upgraded_ready - ready,
        observed=False,
    )


def scale_counts(seen: Workloads) -> Counts:
    """The counts of a workload that goes to another size."""
    live = seen.target
    pods, ready = pods_there(live), ready_there(live)
    observed = live is not None and is_seen(live) and pods == asked(live)
    return Counts(upgraded=pods, upgraded_ready=min(pods, ready), observed=observed)


def _increased_first(seen: Workloads, goal: Goal, step: Step) -> tuple[int, tuple[int, ...]]:
    remaining = _left(goal, goal.before if step is Step.FIRST else goal.upgraded)
    sources = _reduced(seen.sources, max(remaining, goal.size - goal.unavailable - ready_there(seen.target)))
    # Pods in excess, as of a rollout that was given up half way, go first.
    most = max(goal.original, goal.size) + goal.upgraded - goal.before
    room = max(asked(seen.target), most - sum(map(_stable_pods, seen.sources)))
    return min(goal.size, max(goal.upgraded, _before_all(goal)), room), sources


def _stable_pods(live: LiveObject) -> int:
    """How many pods it has. Those in excess that are not ready may stay until it has none: they are of content that
    its own controller, or a rollout in place, has given up half way."""
    if is_paused(live):
        return asked(live)
    pods = pods_there(live)
    return min(pods, max(asked(live), ready_there(live))) if is_seen(live) else pods


def _decreased_first(seen: Workloads, goal: Goal) -> tuple[int, tuple[int, ...]]:
    """Both halves at once: where fewer pods may be not ready than the batch has, the sides follow each other."""
    missing = max(1, goal.unavailable)  # none would be moved otherwise
    least = goal.size - missing - ready_there(seen.target)
    sources = _reduced(seen.sources, max(_left(goal, goal.upgraded), least))
    present = sum(max(size, pods_there(source)) for size, source in zip(sources, seen.sources, strict=True))
    room = max(asked(seen.target), goal.size - present)
    return min(goal.size, max(goal.upgraded, _before_all(goal)), room), sources


def _reverted(seen: Workloads, goal: Goal) -> tuple[int, tuple[int, ...]]:
    """Back, within the same bounds as on the way: as many more pods than there were as the batch has, or none where
    pods go first. The sides follow each other."""
    decreases = goal.strategy is RolloutStrategy.DECREASE_FIRST
    missing = max(1, goal.unavailable) if decreases else goal.unavailable
    more = 0 if decreases else max(1, goal.upgraded - goal.before)
    sizes = _source_sizes(seen, goal)
    ready = sum(min(ready_there(source), size) for source, size in zip(seen.sources, sizes, strict=True))
    target = min(asked(seen.target), max(_before_all(goal), goal.original - missing - ready))
    present = max(target, pods_there(seen.target))
    return target, _grown(seen.sources, sizes, goal.original + more - present)


def _grown(sources: Sequence[LiveObject], goals: Sequence[int], total: int) -> tuple[int, ...]:
    """Sizes of sources on their way to others, that have so many pods in all at most unless they have more already; the
    last that went comes back first."""
    sizes = [min(max(asked(source), pods_there(source)), size) for source, size in zip(sources, goals, strict=True)]
    room = max(0, total - sum(max(size, pods_there(source)) for size, source in zip(sizes, sources, strict=True)))
    for index in reversed(range(len(sizes))):
        coming = min(room, goals[index] - sizes[index])
        sizes[index] += coming
        room -= coming
    return tuple(sizes)


def _before_all(goal: Goal) -> int:
    """How many pods the target had before the rollout."""
    return max(0, goal.original - sum(goal.source_sizes))


def _left(goal: Goal, upgraded: int) -> int:
    """How many pods the sources have in all, once so many pods have the newer content: at most what they had."""
    had = min(sum(goal.source_sizes), goal.original)
    return had if upgraded <= _before_all(goal) else min(had, max(0, goal.size - upgraded))


def _source_sizes(seen: Workloads, goal: Goal) -> tuple[int, ...]:
    if len(goal.source_sizes) == len(seen.sources):
        return goal.source_sizes
    return tuple(map(asked, seen.sources))


def _reduced(sources: Sequence[LiveObject], total: int) -> tuple[int, ...]:
    """Sizes of sources that have so many pods in all, or fewer: sources with pods that are not ready go first, then the
    first one."""
    sizes = [asked(source) for source in sources]
    surplus = max(0, sum(sizes) - max(0, total))
    unready = [max(0, max(asked(source), pods_there(source)) - ready_there(source)) for source in sources]
    for most in (unready, list(sizes)):
        for index, of_this in enumerate(most):
            going = min(of_this, sizes[index], surplus)
            sizes[index] -= going
            surplus -= going
    return tuple(sizes)
