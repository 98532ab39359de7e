"""What a forge is to show of the fleet, and which calls bring it there from what it shows.

A description has words of closed sets alone, no counts: a forge is called when something is decided, not for each
cluster (GitHub takes 1,000 statuses of one commit and context).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api.conditions import Condition, ConditionType, Status, type_of
from gitfleet.api.runs import RunRecord
from gitfleet.api.staged import DIGEST
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RollingState
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.forges import (
    ClosePull,
    CommitStatus,
    EditPull,
    ForgeView,
    OpenPull,
    PullCall,
    PullRequest,
    SetStatus,
    StatusState,
)
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.status import one_line
from gitfleet.views.markdown import fenced
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import RolloutView

_TITLE_CHARACTERS: Final = 200
_BODY_CHARACTERS: Final = 60_000
"""GitHub takes 256 characters as a title and 65,536 as a body; the others take more."""
_DESCRIPTION_CHARACTERS: Final = 140
"""GitHub's limit."""
_FAILING: Final = (
    ConditionType.SCHEDULED,
    ConditionType.OVERRIDDEN,
    ConditionType.APPLIED,
    ConditionType.DIFF_REPORTED,
)
"""The conditions of a placement that are False for a failure alone; the others are while a rollout goes on."""
_ORDER: Final = (StatusState.FAILURE, StatusState.PENDING, StatusState.SUCCESS)


def forge_view(
    state: FleetState, requests: Mapping[str, ApprovalRequest | None], *, target: str, prefix: str
) -> ForgeView:
    """What a forge is to show of a state. `requests` are the branches of requests that there are, with what each asks
    for (None: nothing any more)."""
    statuses = [_of_placement(record) for record in state.placements.values()]
    for run in state.runs.values():
        statuses += _of_run(run)
    statuses += [_of_rollout(RolloutView(record=record)) for record in state.rollouts.values()]
    return ForgeView(
        target=target,
        prefix=prefix,
        commit=state.observed_commit or "",
        pulls={branch: _pull_of(branch, request) for branch, request in requests.items() if request is not None},
        branches=frozenset(requests),
        statuses=tuple(sorted(statuses, key=lambda status: (_ORDER.index(status.state), status.context))),
    )


def pull_calls(view: ForgeView, shown: Mapping[str, PullRequest]) -> Iterator[PullCall]:
    """What brings the pull requests there that are wanted; `shown` are those that are open, by branch. One whose branch
    is there and asks for nothing any more is somebody's own."""
    for branch, pull in view.pulls.items():
        open_pull = shown.get(branch)
        if open_pull is None:
            yield OpenPull(pull)
        elif (open_pull.title, _plain(open_pull.body)) != (pull.title, _plain(pull.body)):
            yield EditPull(PullRequest(branch=branch, title=pull.title, body=pull.body, number=open_pull.number))
    for branch, open_pull in shown.items():
        if branch.startswith(view.prefix) and branch not in view.branches:
            yield ClosePull(open_pull)


def closed_by_a_person(proposal: PullRequest, closed: Iterable[PullRequest]) -> PullRequest | None:
    """The pull request that asks the same as `proposal` and was closed: `proposal` is not opened then."""
    asks = proposal.body.splitlines()[-1]
    return next((pull for pull in closed if pull.body.splitlines()[-1:] == [asks]), None)


def status_calls(view: ForgeView, shown: Mapping[str, CommitStatus]) -> Iterator[SetStatus]:
    """What sets the wanted statuses of the commit, failures first; `shown` are the present ones, by context."""
    for status in view.statuses:
        present = shown.get(status.context)
        if present != status and (present is not None or not status.over):
            yield SetStatus(view.commit, status)


def _plain(text: str) -> str:
    """A text as every forge gives it back, whatever its line ends."""
    return "\n".join(text.splitlines()).strip()


def _pull_of(branch: str, request: ApprovalRequest) -> PullRequest:
    body = request.body
    if len(body) > _BODY_CHARACTERS:
        body = f"{body[:_BODY_CHARACTERS]}\n\nThe commit of this branch has the whole text."
    return PullRequest(
        branch=branch,
        title=one_line(request.title, _TITLE_CHARACTERS),
        body="\n".join([*fenced(body.splitlines(), "text"), "", f"<!-- {DIGEST}: {request.digest} -->"]),
    )


def _status(name: NamespacedName, state: StatusState, description: str) -> CommitStatus:
    """No Kubernetes name has an underscore: no two have one context."""
    full = f"{name.namespace}_{name.name}" if name.namespace else name.name
    text = one_line(description, _DESCRIPTION_CHARACTERS)
    return CommitStatus(context=f"gitfleet/{full}", state=state, description=text)


def _of_placement(record: PlacementRecord) -> CommitStatus:
    key, conditions = record.placement.key, record.conditions
    if record.placement.deleting is not None:
        return _status(key, StatusState.PENDING, ViewsText.BEING_REMOVED())
    if record.condition(ConditionType.REMOVALS_HELD) is not None:
        return _status(key, StatusState.PENDING, ViewsText.REMOVALS_WAIT_APPROVAL())
    unmet = next((condition for condition in conditions if condition.status is not Status.TRUE), None)
    if unmet is None and conditions:
        return _status(key, StatusState.SUCCESS, ViewsText.ROLLED_OUT_AVAILABLE())
    failing = {type_of(key.kind, type_) for type_ in _FAILING}
    failed = next((c for c in conditions if c.status is Status.FALSE and c.type in failing), None)
    state = StatusState.PENDING if failed is None else StatusState.FAILURE
    return _status(key, state, _words(key.kind, failed or unmet))


def _words(kind: str, condition: Condition | None) -> str:
    if condition is None:
        return ViewsText.NOT_DECIDED_YET()
    return f"{condition.type.removeprefix(kind)} is {condition.status}: {condition.reason}"


def _of_run(run: RunRecord) -> Iterator[CommitStatus]:
    deletion = run.status.deletion
    for stage in (*run.status.stages, *([deletion] if deletion is not None and deletion.clusters else [])):
        shown = _of_stage(run, staged.stage_phase(stage))
        name = stage.name.rpartition("/")[2]
        yield replace(shown, context=f"{shown.context}/{name}", over=run.finished)


def _of_rollout(view: RolloutView) -> CommitStatus:
    """One status for all clusters; where there is none, nothing was rolled out yet."""
    states = {progress.status.rolling_state for progress in view.clusters}
    done = bool(view.clusters) and all(progress.is_done for progress in view.clusters)
    over = bool(view.clusters) and all(progress.is_done or progress.status.is_over for progress in view.clusters)
    if states & {RollingState.FAILING, RollingState.FAILED}:
        state = StatusState.FAILURE
    else:
        state = StatusState.SUCCESS if done else StatusState.PENDING
    shown = _status(view.record.key, state, view.state if view.clusters else view.message)
    return replace(shown, context=f"gitfleet/rollout/{shown.context.removeprefix('gitfleet/')}", over=over)


def _of_stage(run: RunRecord, phase: staged.StagePhase) -> CommitStatus:
    if phase in (staged.StagePhase.SUCCEEDED, staged.StagePhase.SKIPPED):
        return _status(run.key, StatusState.SUCCESS, f"{run.placement}: {phase}")
    if phase is staged.StagePhase.FAILED or run.finished:
        why = ViewsText.RUN_OVER(phase=phase) if run.finished else phase
        return _status(run.key, StatusState.FAILURE, f"{run.placement}: {why}")
    return _status(run.key, StatusState.PENDING, f"{run.placement}: {phase}")
