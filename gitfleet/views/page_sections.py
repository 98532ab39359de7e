"""Sections of the page of the state branch: staged update runs, with what waits for a person and a picture of each,
workload rollouts and quarantined content."""

from __future__ import annotations

from datetime import datetime

from gitfleet.api import write
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord, StageStatus
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import approval_branch, approval_path, approval_text
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.state import FleetState
from gitfleet.rollout import staged
from gitfleet.state import paths
from gitfleet.views.markdown import code_span, link, rest_lines, table_lines
from gitfleet.views.runs import RunView, progress_of
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import RolloutProgress, RolloutView, by_key


def answer_lines(request: str, key: NamespacedName, branches: str) -> list[str]:
    """The commands that answer a request (`request` is what they take), and the branch to merge; `branches` is how the
    names of these begin, "" where none are pushed."""
    merge = ViewsText.MERGE_BRANCH(code_span=code_span(approval_branch(branches, key))) if branches else ""
    return [
        f"- To approve: {code_span(f'gitfleet approve {request}')}{merge}.",
        ViewsText.REJECT_CLOSING_DELETING_BRANCH_ANSWERS(code_span=code_span(f"gitfleet reject {request}")),
    ]


def request_lines(state: FleetState, most: int, branches: str) -> list[str]:
    """The approval requests of runs that nobody has answered, each with what answers it (`branches` as of
    `answer_lines`)."""
    pending = [request for request in state.approvals.values() if request.answer is None]
    if not pending:
        return []
    lines = [ViewsText.STAGES_WAIT_APPROVAL(count=len(pending))]
    for request in pending[:most]:
        key, path = request.key, approval_path(request.key.name, request.key.namespace)
        lines += [
            "",
            f"### {link(str(key), paths.own_path('approvals', key.namespace, key.name))}",
            "",
            _waits(request),
            "",
            *answer_lines(f"{request.run} {request.target_stage}", key, branches),
            ViewsText.HAND_ADD_CONFIG_REPO(code_span=code_span(path)),
            "",
            "```yaml",
            *approval_text(key.name, namespace=key.namespace).splitlines(),
            "```",
        ]
    return [*lines, *rest_lines(len(pending), most, "approvals")]


def _waits(request: ApprovalRequest) -> str:
    side = "before" if request.task == "beforeStage" else "after"
    run, stage = code_span(request.parent_run or ""), code_span(request.target_stage or "")
    return ViewsText.RUN_WAITS_STAGE(run=run, side=side, stage=stage, code_span=code_span(request.snapshot_index))


def run_lines(state: FleetState, most: int, now: datetime) -> list[str]:
    """Every run in a table, those that are not over first, each of these with what it waits for and its picture."""
    runs = sorted(state.runs.values(), key=lambda run: (run.finished, run.key))
    if not runs:
        return []
    unfinished = [run for run in runs if not run.finished]
    rows = [_row(run) for run in runs[:most]]
    titles = ("Run", "Placement", "Snapshot", "State", "Stage", "Updated")
    lines = [ViewsText.STAGED_UPDATE_RUNS(count=len(unfinished)), "", *table_lines(titles, rows)]
    lines += rest_lines(len(runs), most, "runs")
    for run in unfinished[:most]:
        waits = [f"- {code_span(wait, 600)}" for wait in staged.waits_of(run, state.approvals, now)]
        lines += ["", f"### {_link(run)}", "", *waits, *([""] if waits else []), *picture(run)]
    return lines


def _row(run: RunRecord) -> tuple[str, ...]:
    view, phase = RunView(run=run), staged.run_phase(run.status)
    return (
        _link(run),
        code_span(str(run.placement)),
        run.status.resource_snapshot_index_used or "-",
        f"{phase}: {code_span(view.message, 200)}" if view.message else phase,
        view.stage,
        view.updated,
    )


def _link(run: RunRecord) -> str:
    return link(str(run.key), paths.own_path("runs", run.key.namespace, run.key.name))


def picture(run: RunRecord) -> list[str]:
    """A run as a Mermaid flowchart: its stages in their order, how far each is, and what stands between them."""
    stages = run.status.all_stages
    lines = ["```mermaid", "flowchart LR"]
    for at, stage in enumerate(stages):
        title = "deletion" if stage is run.status.deletion else stage.name
        lines.append(f'  s{at}["{title}<br/>{progress_of(stage)}"]')
        if at:
            lines.append(f"  s{at - 1} -->{_between(stages[at - 1], stage)} s{at}")
    return [*lines, "```"]


def _between(before: StageStatus, after: StageStatus) -> str:
    tasks = [task.type for task in (*before.after_tasks, *after.before_tasks)]
    return f"|{' and '.join(tasks)}|" if tasks else ""


def rollout_section(state: FleetState, most: int) -> list[str]:
    """Every workload rollout on which something is left to do, cluster by cluster, with its ready pods and what it
    waits for; those that are done are counted."""
    views = [RolloutView(record=record) for record in by_key(state.rollouts.values())]
    rows = [
        _rollout_row(view, *_progress_cells(progress))
        for view in views
        for progress in view.clusters
        if not progress.is_done
    ]
    rows += [_rollout_row(view, *"----", code_span(view.message, 300)) for view in views if not view.clusters]
    if not views:
        return []
    over = sum(1 for view in views if view.clusters and all(progress.is_done for progress in view.clusters))
    titles = ("Rollout", "Target", "Cluster", "State", "Batch", "Ready", "Waits for")
    lines = [ViewsText.WORKLOAD_ROLLOUTS_UNDER_WAY(count=len(views) - over, over=over)]
    if rows:
        lines += ["", *table_lines(titles, rows[:most])]
    return [*lines, *rest_lines(len(rows), most, "rollouts")]


def _rollout_row(view: RolloutView, *cells: str) -> tuple[str, ...]:
    key = view.record.key
    return link(str(key), paths.own_path("rollouts", key.namespace, key.name)), code_span(view.target), *cells


def _progress_cells(progress: RolloutProgress) -> tuple[str, ...]:
    status = progress.status
    batch, ready = f"{progress.batch}/{progress.batches}", f"{status.upgraded_ready_replicas}/{status.target_size}"
    return code_span(status.cluster), progress.state, batch, ready, code_span(progress.message, 300)


def lifting_text(quarantine: Quarantine) -> str:
    """The file that lets the content out again."""
    lifted = Quarantine(name=quarantine.name, placement=quarantine.placement, digest=quarantine.digest, lifted=True)
    return yaml_text(write(lifted))


def quarantine_lines(state: FleetState, most: int) -> list[str]:
    """What is quarantined, each with its snapshots and with what lets it out."""
    quarantines = [quarantine for quarantine in state.quarantines.values() if not quarantine.lifted]
    lines = [f"## Quarantined content: {len(quarantines)}"] if quarantines else []
    for quarantine in quarantines[:most]:
        record = state.placements.get(quarantine.placement)
        indexes = [str(s.index) for s in record.resource_snapshots if s.hash == quarantine.digest] if record else []
        lines += ["", f"### {link(quarantine.name, paths.own_path('quarantines', '', quarantine.name))}", ""]
        snapshots, reason = ", ".join(indexes) or "-", code_span(quarantine.reason, 300)
        lines += [f"{code_span(str(quarantine.placement))}, snapshot {snapshots}: {reason}."]
        if quarantine.run:
            path = code_span(f"quarantines/{quarantine.name}.yaml")
            lines += [ViewsText.NOT_ROLLED_OUT(path=path), ""]
            lines += ["```yaml", *lifting_text(quarantine).splitlines(), "```"]
        else:
            lines += [ViewsText.NOT_ROLLED_OUT_LONG_FILE()]
    return [*lines, *rest_lines(len(quarantines), most, "quarantines")]
