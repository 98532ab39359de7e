"""README.md of the state branch: an overview of the fleet, for people on any forge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Final

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault, Severity, by_cause
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.holds import Hold
from gitfleet.api.values import NamespacedName
from gitfleet.formats.sentences import and_more, counted
from gitfleet.formats.times import EPOCH, time_text
from gitfleet.model.state import FleetState
from gitfleet.state import paths
from gitfleet.status import ClusterState
from gitfleet.views.evictions import EvictionView
from gitfleet.views.freezes import views_of
from gitfleet.views.holds import hold_document, hold_sentence, how_to_approve, not_counted, reason_sentence
from gitfleet.views.markdown import code_span, fault_line, link, rest_lines, table_lines
from gitfleet.views.models import ClusterView
from gitfleet.views.overview import is_complete, placement_rows
from gitfleet.views.page_sections import answer_lines, quarantine_lines, request_lines, rollout_section, run_lines
from gitfleet.views.texts import ViewsText

MOST_ROWS: Final = 50
_MOST_NAMED: Final = 3
_HEALTHY: Final = ClusterState.HEALTHY


def readme_text(state: FleetState, *, now: datetime | None = None, branches: str = "") -> str:
    """The page; the same state gives the same text. `now` is shown as the time of the last change, `branches` is how
    the names of those begin that ask for approvals, "" where none are pushed; sections without content are left out."""
    sections = [
        _head(state.observed_commit, time_text(now) if now else None),
        _holds(state.held.values(), branches),
        request_lines(state, MOST_ROWS, branches),
        _clusters(state),
        _placements(state, now or EPOCH),
        _evictions([EvictionView(eviction=eviction) for eviction in state.evictions.values()]),
        _freezes(state.freezes),
        run_lines(state, MOST_ROWS, now or EPOCH),
        rollout_section(state, MOST_ROWS),
        quarantine_lines(state, MOST_ROWS),
        _faults(state.faults),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _head(observed_commit: str | None, last_changed: str | None) -> list[str]:
    commit = ViewsText.FLEET_COMMIT(code_span=code_span(observed_commit)) if observed_commit else "The fleet"
    when = f", last changed {last_changed}." if last_changed else "."
    return [
        "# Fleet",
        "",
        commit + when,
        "",
        ViewsText.GITFLEET_WRITES_BRANCH_ITSELF(),
    ]


def _holds(holds: Iterable[Hold], branches: str) -> list[str]:
    """Removals that wait for a person, each with what answers it."""
    waiting = sorted(holds, key=lambda hold: hold.answer is Status.FALSE)
    if not waiting:
        return []
    rejected = sum(hold.answer is Status.FALSE for hold in waiting)
    lines = [
        f"## Pending approvals: {len(waiting) - rejected}{f', rejected: {rejected}' if rejected else ''}",
        "",
        ViewsText.HELD_NOT_HAPPEN(),
    ]
    for hold in waiting[:MOST_ROWS]:
        document = hold_document(hold)
        answer = " (rejected)" if hold.answer is Status.FALSE else ""
        lines += ["", f"### {link(hold.name, paths.own_path('holds', '', hold.name))}{answer}", ""]
        lines += [
            ViewsText.SINCE_COMMIT(
                code_span=code_span(hold_sentence(document), 300), code_span_2=code_span(hold.commit)
            ),
            "",
        ]
        lines += [f"- {code_span(reason_sentence(reason), 300)}" for reason in document["reasons"]]
        if waits := not_counted(hold.conditions):
            lines += [f"- {code_span(f'Not approved: {waits}', 600)}"]
        if hold.answer is None:
            lines += ["", *answer_lines(hold.name, NamespacedName("", hold.name), branches)]
        lines += ["", how_to_approve(document, code_span), ""]
        lines += ["```yaml", *document["approval"]["content"].splitlines(), "```"]
    return [*lines, *rest_lines(len(waiting), MOST_ROWS, "holds")]


def _clusters(state: FleetState) -> list[str]:
    if not state.clusters:
        return []
    views = sorted(map(ClusterView.of, state.clusters.values()), key=lambda v: (v.state_text == _HEALTHY, v.name))
    bound: dict[str, list[str]] = {view.name: [] for view in views[:MOST_ROWS]}
    for key, record in sorted(state.placements.items()):
        for binding in record.bindings:
            if binding.cluster in bound:
                index = record.snapshot_index(binding.applied_snapshot)
                bound[binding.cluster].append(f"{code_span(str(key))} {index or '-'}")
    rows = [
        (
            link(view.name, paths.own_path("clusters", "", view.name)),
            code_span(", ".join(f"{key}={value}" for key, value in sorted(view.cluster.labels.items())), 60),
            _state_cell(view),
            str(len(bound[view.name])),
            ", ".join(bound[view.name][:_MOST_NAMED]) + and_more(len(bound[view.name]) - _MOST_NAMED),
        )
        for view in views[:MOST_ROWS]
    ]
    counts = ", ".join(f"{count} {word}" for word, count in sorted(Counter(v.state_text for v in views).items()))
    return [
        f"## Clusters: {counts}",
        "",
        *table_lines(("Cluster", "Labels", "State", "Placements", "Snapshots"), rows),
        *rest_lines(len(views), MOST_ROWS, "clusters"),
    ]


def _state_cell(view: ClusterView) -> str:
    shown = view.state is ClusterState.UNHEALTHY and view.message
    text = f"{view.state}: {code_span(view.message, 100)}" if shown else view.state
    return f"{text}, {code_span(view.held, 200)}" if view.held else text


def _placements(state: FleetState, now: datetime) -> list[str]:
    if not state.placements:
        return []
    complete = sum(map(is_complete, state.placements.values()))
    rows = islice(placement_rows(state, now), MOST_ROWS)
    columns = ("Placement", "Type", "Scheduled", "Rolled out", "Available", "Snapshot", "Waiting for")
    return [
        f"## Placements: {complete} complete, {len(state.placements) - complete} not",
        "",
        *table_lines(columns, rows),
        *rest_lines(len(state.placements), MOST_ROWS, "placements"),
    ]


def _evictions(views: list[EvictionView]) -> list[str]:
    if not views:
        return []
    rows = [
        (
            link(view.name, paths.own_path("evictions", "", view.name)),
            code_span(view.eviction.placement_name),
            code_span(view.eviction.cluster_name),
            view.executed or "invalid",
            code_span(view.message, 300),
        )
        for view in views[:MOST_ROWS]
    ]
    return [
        "## Evictions",
        "",
        *table_lines(("Eviction", "Placement", "Cluster", "Executed", "Message"), rows),
        *rest_lines(len(views), MOST_ROWS, "evictions"),
    ]


def _freezes(rules: FreezeRules) -> list[str]:
    views = views_of(rules)
    rows = [
        (code_span(view.name), view.kind, code_span(view.when), code_span(view.scope, 100), code_span(view.owner, 60),
         code_span(view.reason, 300))
        for view in views[:MOST_ROWS]
    ]  # fmt: skip
    table = table_lines(("Name", "Kind", "When", "Scope", "Owner", "Reason"), rows)
    return ["## Freezes", "", *table, *rest_lines(len(views), MOST_ROWS, paths.FLEET)] if rows else []


def _faults(faults: tuple[Fault, ...]) -> list[str]:
    if not faults:
        return []
    errors = sum(1 for fault in faults if fault.severity is Severity.ERROR)
    lines = [
        ViewsText.ERRORS_WARNINGS(count=counted(errors, "error"), count_2=counted(len(faults) - errors, "warning")),
        "",
    ]
    groups = by_cause(faults)
    lines += [f"- {fault_line(group)}" for group in groups[:MOST_ROWS]]
    lines += rest_lines(len(groups), MOST_ROWS, paths.FAULTS)
    return [*lines, "", ViewsText.ERRORS_KEEPS_LAST_GOOD_VERSION()] if errors else lines
