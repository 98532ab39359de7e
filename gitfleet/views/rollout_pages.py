"""Workload rollouts on the page of the state branch."""

from __future__ import annotations

from typing import Final

from gitfleet.model.state import FleetState
from gitfleet.state import paths
from gitfleet.views.markdown import code_span, link, rest_lines, table_lines
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import RolloutProgress, RolloutView, by_key

_CELLS: Final = 10
"""Of a bar."""


def rollout_page_lines(state: FleetState, most: int) -> list[str]:
    """Every workload rollout on which something is left to do, cluster by cluster, with a bar of its ready pods and
    what it waits for; those that are done are counted."""
    views = [RolloutView(record=record) for record in by_key(state.rollouts.values())]
    rows = [_row(view, one) for view in views for one in view.clusters if not one.is_done]
    rows += [_row_of_none(view) for view in views if not view.clusters]
    if not views:
        return []
    over = sum(1 for view in views if view.clusters and all(one.is_done for one in view.clusters))
    titles = ("Rollout", "Target", "Cluster", "State", "Batch", "Ready", "Waits for")
    lines = [ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY(count=len(views) - over, over=over)]
    if rows:
        lines += ["", *table_lines(titles, rows[:most])]
    return [*lines, *rest_lines(len(rows), most, "rollouts")]


def _row(view: RolloutView, one: RolloutProgress) -> tuple[str, ...]:
    key = view.record.key
    return (
        link(str(key), paths.own_path("rollouts", key.namespace, key.name)),
        code_span(view.target),
        code_span(one.status.cluster),
        one.state,
        f"{one.batch}/{one.batches}",
        bar_of(one.status.upgraded_ready_replicas, one.status.target_size),
        code_span(one.message, 300),
    )


def _row_of_none(view: RolloutView) -> tuple[str, ...]:
    """The row of a rollout that is about no cluster."""
    key = view.record.key
    named = link(str(key), paths.own_path("rollouts", key.namespace, key.name))
    return named, code_span(view.target), "-", "-", "-", "-", code_span(view.message, 300)


def bar_of(ready: int, size: int) -> str:
    """How much of something is done, as ten squares with the numbers behind."""
    filled = min(_CELLS, ready * _CELLS // size) if size > 0 else 0
    return f"{'■' * filled}{'□' * (_CELLS - filled)} {ready}/{size}"
