"""What waits for a person's approval, as requests that a person can read and answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitfleet.api import runs
from gitfleet.api.holds import Hold
from gitfleet.api.runs import RunRecord
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.status import one_line
from gitfleet.views.holds import approval_path, hold_document, hold_sentence, reason_sentence
from gitfleet.views.runs import progress_of
from gitfleet.views.snapshot_changes import changes_of_run
from gitfleet.views.texts import ViewsText

_MOST_LISTED: Final = 100
_MOST_CHANGES: Final = 20
_LINE_CHARACTERS: Final = 300


def approval_requests(state: FleetState) -> Iterator[ApprovalRequest]:
    """The requests that nobody has answered yet."""
    for hold in state.holds.values():
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
    every = (*run.status.stages, *filter(None, (run.status.deletion,)))
    stage = request.target_stage or ""
    at = stages.index(stage) + (not before) if stage in stages else len(every)
    if at == len(every):
        return  # the run's file on the state branch is damaged
    following, side = every[at], "before" if before else "after"
    sections = {
        "What happened": [
            ViewsText.RUN_ROLLS_OUT_SNAPSHOT_PLACEMENT(
                run=run.key, snapshot_index=request.snapshot_index, placement=run.placement
            ),
            *(f"- stage {one.name}: {progress_of(one)}" for one in run.status.stages[:at]),
        ],
        **{
            title: _listed(names, most=_MOST_CHANGES)
            for title, names in (changes_of_run(run, record) if record else ())
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
    asked = ViewsText.NO_LONGER_ASKS() if document["removes"] else "asks"
    happened = [
        ViewsText.COMMIT_LISTED_BELOW(commit=hold.commit, asked=asked),
        *(f"- {reason_sentence(reason)}" for reason in document["reasons"]),
    ]
    sections = {
        "What happened": happened,
        f"What goes: {hold.objects} placed objects": _listed(document["removals"], document["removalCount"]),
        "From where": _listed(
            f"{count.cluster}: {count.objects} deleted"
            + (ViewsText.STAY_UNMANAGED(unmanaged=count.unmanaged) if count.unmanaged else "")
            for count in hold.clusters
        ),
        "What comes next": [
            ViewsText.ONCE_WATCHED_BRANCH(),
            ViewsText.PLACEMENTS_BUDGETS_ALLOW(),
            *([ViewsText.STAYS_UNMANAGED_DELETED_NOBODY()] if document["unmanaged"] else []),
        ],
    }
    if not document["removes"]:
        sections = {
            "What happened": happened,
            "What changes": _listed(document["removals"], document["removalCount"]),
            "What comes next": [
                ViewsText.ONCE_WATCHED_BRANCH_LATEST_SNAPSHOT(),
                ViewsText.BUDGET_EACH_LATER_ONE(),
            ],
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
    return "\n\n".join([_how_to_answer(name, approval), *(_section(*section) for section in sections.items())])


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, "", *(one_line(line, _LINE_CHARACTERS) for line in lines)])


def _listed(names: Iterable[str], total: int = 0, *, most: int = _MOST_LISTED) -> list[str]:
    found = list(names)
    rest = max(total, len(found)) - len(found[:most])
    return [*(f"- {name}" for name in found[:most]), *([f"- and {rest} more"] if rest else [])]
