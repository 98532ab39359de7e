"""README.md of the state branch: an overview of the fleet, for people on any forge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from gitfleet.api.conditions import ConditionType, Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.formats.times import time_text
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state import paths
from gitfleet.status import cluster_progress, cluster_state, health_condition
from gitfleet.views.holds import (
    held_condition,
    hold_document,
    hold_sentence,
    how_to_approve,
    reason_sentence,
)
from gitfleet.views.markdown import code_span, link, table_lines

MOST_ROWS: Final = 50
_MOST_NAMED: Final = 3

Held = Mapping[str, list[tuple[str, str | None]]]
"""By cluster: the placements bound to it, and the index of the snapshot it has of each."""


def readme_text(state: FleetState, *, now: datetime | None = None) -> str:
    """The page; the same state gives the same text. `now` is shown as the time of the last change; sections without
    content are left out."""
    sections = [
        _head(state, time_text(now) if now else None),
        _holds(state),
        _clusters(state),
        _placements(state),
        _faults(state.faults),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _head(state: FleetState, last_changed: str | None) -> list[str]:
    commit = f"The fleet as of commit {code_span(state.observed_commit)}" if state.observed_commit else "The fleet"
    when = f", last changed {last_changed}." if last_changed else "."
    return [
        "# Fleet",
        "",
        commit + when,
        "",
        "gitfleet writes this branch by itself. To change the fleet, change the config repo.",
    ]


def _held(state: FleetState, shown: Iterable[str]) -> Held:
    held: dict[str, list[tuple[str, str | None]]] = {name: [] for name in shown}
    for key, record in sorted(state.placements.items()):
        for binding in record.bindings:
            if binding.cluster in held:
                held[binding.cluster].append((str(key), record.snapshot_index(binding.applied_snapshot)))
    return held


def _holds(state: FleetState) -> list[str]:
    """Removals that wait for a person, each with the file to add."""
    waiting = [hold for hold in state.holds.values() if hold.answer is not Status.TRUE]
    if not waiting:
        return []
    lines = [
        f"## Pending approvals: {len(waiting)}",
        "",
        "What is held is not removed. Taking the removal back ends it.",
    ]
    for hold in waiting[:MOST_ROWS]:
        document = hold_document(hold)
        rejected = " (rejected)" if hold.answer is Status.FALSE else ""
        lines += ["", f"### {link(hold.name, paths.hold_path(hold.name))}{rejected}", ""]
        lines += [f"{code_span(hold_sentence(document), 300)}, since commit {code_span(hold.commit)}.", ""]
        lines += [f"- {code_span(reason_sentence(reason), 300)}" for reason in document["reasons"]]
        path = document["approval"]["path"]
        lines += ["", how_to_approve(document).replace(path, code_span(path)), ""]
        lines += ["```yaml", *document["approval"]["content"].splitlines(), "```"]
    return [*lines, *_rest(len(waiting), "holds")]


def _clusters(state: FleetState) -> list[str]:
    if not state.clusters:
        return []
    states = {name: cluster_state(cluster) for name, cluster in state.clusters.items()}
    shown = sorted(states, key=lambda name: (states[name] == "healthy", name))[:MOST_ROWS]
    held = _held(state, shown)
    rows = []
    for name in shown:
        labels = ", ".join(f"{key}={value}" for key, value in sorted(state.clusters[name].labels.items()))
        here = held[name]
        rows.append(
            (
                link(name, paths.cluster_path(name)),
                code_span(labels, 60),
                _state_cell(state, name, states[name]),
                str(len(here)),
                ", ".join(f"{code_span(placement)} {index or '-'}" for placement, index in here[:_MOST_NAMED])
                + _more(len(here) - _MOST_NAMED),
            )
        )
    counts = ", ".join(f"{count} {word}" for word, count in sorted(Counter(states.values()).items()))
    return [
        f"## Clusters: {counts}",
        "",
        *table_lines(("Cluster", "Labels", "State", "Placements", "Snapshots"), rows),
        *_rest(len(states), "clusters"),
    ]


def _state_cell(state: FleetState, name: str, word: str) -> str:
    condition = health_condition(state.clusters[name])
    if word != "unhealthy" or condition is None:
        return word
    return f"{word}: {code_span(condition.message or condition.reason, 100)}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _rest(count: int, folder: str) -> list[str]:
    return ["", f"and {count - MOST_ROWS} more in [{folder}]({folder})"] if count > MOST_ROWS else []


def _placements(state: FleetState) -> list[str]:
    if not state.placements:
        return []
    stuck = {key: _stuck(record) for key, record in state.placements.items()}
    shown = sorted(stuck, key=lambda key: (not stuck[key], key))[:MOST_ROWS]
    rows = []
    for key in shown:
        record = state.placements[key]
        latest = record.latest_resources
        rows.append(
            (
                link(str(key), paths.placement_path(key)),
                record.placement.effective_policy.placement_type.value,
                *_progress(record),
                str(latest.index) if latest else "-",
                _stuck_cell(record) if stuck[key] else "",
            )
        )
    columns = ("Placement", "Type", "Scheduled", "Rolled out", "Available", "Snapshot", "Waiting for")
    return [
        f"## Placements: {len(stuck) - sum(stuck.values())} complete, {sum(stuck.values())} not",
        "",
        *table_lines(columns, rows),
        *_rest(len(stuck), "placements"),
    ]


def _stuck(record: PlacementRecord) -> bool:
    held = held_condition(record.placement.key, record.conditions) is not None
    return held or any(condition.status is not Status.TRUE for condition in record.conditions)


def _progress(record: PlacementRecord) -> Iterator[str]:
    """Clusters scheduled, rolled out to the latest snapshot, and available with it."""
    chosen = cluster_progress(record)
    through = [progress for progress in chosen if len(progress.steps) > 1]
    done = [progress for progress in through if progress.steps[-1].status is Status.TRUE]
    scheduled = record.scheduled
    yield str(len(chosen)) if scheduled is None or scheduled.status is Status.TRUE else f"{len(chosen)}, unmet"
    yield f"{len(through)}/{len(chosen)}"
    yield f"{len(done)}/{len(chosen)}"


def _stuck_cell(record: PlacementRecord) -> str:
    """The hold that keeps something of it; else which cluster holds the placement up, and why; else the condition that
    is not True."""
    held = held_condition(record.placement.key, record.conditions)
    if held is not None:
        return code_span(held.message)
    waiting = [progress for progress in cluster_progress(record) if progress.steps[-1].status is not Status.TRUE]
    scheduled = record.scheduled
    if scheduled is not None and scheduled.status is not Status.TRUE:
        return code_span(f"{scheduled.reason}: {scheduled.message}")
    if not waiting:
        condition = next(c for c in record.conditions if c.status is not Status.TRUE)
        return code_span(f"{condition.reason}: {condition.message}")
    # A cluster that failed matters more than those that wait for it.
    first = min(
        waiting, key=lambda progress: (progress.steps[-1].step.type is ConditionType.ROLLOUT_STARTED, progress.cluster)
    )
    last = first.steps[-1]
    failed = first.binding.failed[0] if first.binding and first.binding.failed else None
    why = f"{failed.key}: {failed.message or failed.reason}" if failed else last.message or last.reason
    return f"{code_span(first.cluster)} {code_span(f'{last.reason}: {why}')}{_more(len(waiting) - 1)}"


def _faults(faults: tuple[Fault, ...]) -> list[str]:
    if not faults:
        return []
    errors = sum(1 for fault in faults if fault.severity is Severity.ERROR)
    lines = [f"## Errors and warnings: {_count(errors, 'error')}, {_count(len(faults) - errors, 'warning')}", ""]
    for fault in faults[:MOST_ROWS]:
        middle = " ".join(code_span(part) for part in (fault.object, fault.field) if part)
        place = code_span(f"{fault.path}:{fault.line}")
        lines.append(f"- {fault.severity.value} {place} {middle} {code_span(fault.message, 300)}")
    if len(faults) > MOST_ROWS:
        lines += ["", f"and {len(faults) - MOST_ROWS} more in [{paths.FAULTS}]({paths.FAULTS})"]
    return [*lines, "", "What has errors keeps its last good version."]
