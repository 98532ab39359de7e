"""What waits for a person's approval, as requests that a person can read and answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitfleet.api import runs
from gitfleet.api.holds import Hold
from gitfleet.api.runs import RunRecord
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import approval_path
from gitfleet.formats.sentences import counted
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.status import one_line
from gitfleet.views.holds import hold_document, hold_sentence, reason_sentence
from gitfleet.views.runs import progress_of
from gitfleet.views.texts import ViewsText

_MOST_LISTED: Final = 100
_MOST_CHANGES: Final = 20
_LINE_CHARACTERS: Final = 300
_MOST_COMPARED: Final = 3


def approval_requests(state: FleetState) -> Iterator[ApprovalRequest]:
    """The requests that nobody has answered yet."""
    for hold in state.held.values():
        if hold.answer is None:
            yield _of_hold(hold)
    for request in state.approvals.values():
        run = state.runs.get(request.run)
        if run is not None and not run.finished and request.answer is None:
            yield from _of_stage(run, request, state.placements.get(run.placement), state.observed_commit or "")


def _of_stage(
    run: RunRecord, request: runs.ApprovalRequest, record: PlacementRecord | None, commit: str
) -> Iterator[ApprovalRequest]:
    before, stages = request.task == "beforeStage", [stage.name for stage in run.status.stages]
    stage = request.target_stage or ""
    at = stages.index(stage) + (not before)
    following, side = run.status.all_stages[at], "before" if before else "after"
    sections = {
        "What happened": [
            ViewsText.RUN_ROLLS_OUT_SNAPSHOT_PLACEMENT(
                run=run.key, snapshot_index=request.snapshot_index, placement=run.placement
            ),
            *(f"- stage {passed.name}: {progress_of(passed)}" for passed in run.status.stages[:at]),
        ],
        **{
            title: _listed(names, most=_MOST_CHANGES)
            for title, names in (_changes_of_run(run, record) if record else ())
        },
        f"What comes next: {'the deletion stage' if at == len(stages) else f'stage {following.name}'}": _listed(
            cluster.cluster for cluster in following.clusters
        )
        or ["No cluster."],
    }
    yield ApprovalRequest(
        name=request.key.name,
        namespace=request.key.namespace,
        subject="ApprovalRequest",
        digest=request.digest or "",
        snapshot=request.snapshot_index,
        commit=commit,
        title=one_line(f"Approve {request.key}: run {run.key} waits {side} stage {stage}", _LINE_CHARACTERS),
        body=_body(f"{run.key} {stage}", request.key, sections),
    )


def _of_hold(hold: Hold) -> ApprovalRequest:
    document = hold_document(hold)
    happened = [
        ViewsText.COMMIT_LISTED_BELOW(commit=hold.commit),
        *(f"- {reason_sentence(reason)}" for reason in document["reasons"]),
    ]
    sections = {
        "What happened": happened,
        f"What goes: {hold.objects} placed objects": _listed(document["removals"], document["removalCount"]),
        "From where": _listed(f"{count.cluster}: {count.objects} deleted" for count in hold.clusters),
        "What comes next": [ViewsText.ONCE_WATCHED_BRANCH(), ViewsText.PLACEMENTS_BUDGETS_ALLOW()],
    }
    return ApprovalRequest(
        name=hold.name,
        subject="Hold",
        digest=hold.digest,
        commit=hold.commit,
        after=hold.after,
        title=one_line(f"Approve {hold.name}: {hold_sentence(document)}", _LINE_CHARACTERS),
        body=_body(hold.name, NamespacedName("", hold.name), sections),
    )


def _how_to_answer(name: str, approval: NamespacedName) -> str:
    path = approval_path(approval.name, approval.namespace)
    return (
        "Merge this (merge, squash or rebase) to approve what is listed below. Closing or deleting the branch\n"
        f'does not reject it: gitfleet reject {name}, or {path} with status "False", does.'
    )


def _body(name: str, approval: NamespacedName, sections: Mapping[str, list[str]]) -> str:
    parts = [_how_to_answer(name, approval)]
    for title, lines in sections.items():
        parts.append("\n".join([title, "", *(one_line(line, _LINE_CHARACTERS) for line in lines)]))
    return "\n\n".join(parts)


def _listed(names: Iterable[str], total: int = 0, *, most: int = _MOST_LISTED) -> list[str]:
    listed = list(names)
    omitted = max(total, len(listed)) - len(listed[:most])
    return [*(f"- {name}" for name in listed[:most]), *([f"- and {omitted} more"] if omitted else [])]


def _changes_of_run(run: RunRecord, record: PlacementRecord) -> Iterator[tuple[str, list[str]]]:
    """A title and names of objects for each snapshot that the run's clusters had before it began to update them, newest
    first, at most three; where they had none, what goes out. Counts and names, never values: they may be secret."""
    new = record.snapshot_named(run.snapshot)
    if new is None:
        return
    now = {binding.cluster: binding.resource_snapshot for binding in record.bindings}
    had = {c.former.resource_snapshot if c.former else now.get(c.cluster) for c in run.status.clusters} - {new.name}
    versions = [snapshot for snapshot in reversed(record.resource_snapshots) if snapshot.name in had]
    for old in versions[:_MOST_COMPARED]:
        yield _compared(old, new)
    if not versions:
        yield (
            ViewsText.GOES_OUT(count=counted(len(new.keys), "object")),
            sorted(map(str, new.keys)),
        )


def _compared(old: ResourceSnapshot, new: ResourceSnapshot) -> tuple[str, list[str]]:
    title = ViewsText.CHANGES_FROM_SNAPSHOT(old=old.index)
    if old.manifests is None or new.manifests is None:
        return title, [ViewsText.NOT_KNOWN_OBJECTS_SNAPSHOT_NOT()]
    before, after = old.by_variant, new.by_variant
    changes = {
        "removed": {str(m.key) for place, m in before.items() if place not in after},
        "changed": {str(m.key) for place, m in after.items() if place in before and before[place].digest != m.digest},
        "added": {str(m.key) for place, m in after.items() if place not in before},
    }
    counts = ", ".join(f"{len(keys)} {word}" for word, keys in changes.items())
    names = [f"{word} {key}" for word, keys in changes.items() for key in sorted(keys)]
    return f"{title}: {counts}", names
