"""`gitfleet approve` and `gitfleet reject`: a person's answer to a hold, committed to the config repo."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import click

from gitfleet.cli import commits, options
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.api.conditions import Status
    from gitfleet.api.values import NamespacedName
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.loop.workspace import Workspace
    from gitfleet.model.approvals import Asked

_ANSWER = options.combined(
    click.argument("name", metavar="HOLD|RUN"),
    click.argument("stage", metavar="[STAGE]", required=False),
    commits.target,
    options.settings(options.in_repo, commits.watch, options.cache_dir, options.approval_policy),
)


@options.command(
    "gitfleet approve hold-web-40ee3deb44 -C ssh://git.example.com/fleet",
    "gitfleet approve hold-web-40ee3deb44 --branch remove-web",
)
@_ANSWER
def approve(name: str, stage: str | None, target: str | None, settings: Settings) -> None:
    """Approve a held removal, or the STAGE that a RUN waits for: commit the file under approvals/ to the watched
    branch, as who git says you are.

    A protected branch takes it by a pull request: commit it to a branch with --branch. `gitfleet get holds` and
    `gitfleet get approvals` list what waits.
    """
    _answer(name, stage, target, settings, approved=True)


@options.command("gitfleet reject hold-web-40ee3deb44")
@_ANSWER
def reject(name: str, stage: str | None, target: str | None, settings: Settings) -> None:
    """Reject a held removal, which stays held until the file that this commits says otherwise; or a STAGE of a RUN,
    which ends the run.

    As `gitfleet approve` does it.
    """
    _answer(name, stage, target, settings, approved=False)


def _answer(name: str, stage: str | None, target: str | None, settings: Settings, *, approved: bool) -> None:
    from gitfleet.api.conditions import Status
    from gitfleet.api.values import NamespacedName
    from gitfleet.approvals import approval_path, approval_text
    from gitfleet.branches.person_commits import FilesChange
    from gitfleet.wiring.hub import open_workspace

    status, verb = (Status.TRUE, "approve") if approved else (Status.FALSE, "reject")
    with open_workspace(settings, clusters="none") as workspace:
        rejection = None
        if stage is not None:
            request, sentence = _stage_request(name, stage, workspace, verb)
        else:
            request, answer, title = _request(name.removeprefix("hold/"), workspace)
            if answer is status:
                say(CliText.FILE_WATCHED_BRANCH_ALREADY(verb=verb, request=request.name))
                return
            rejection, sentence = _rejection(request, workspace), f"{verb}s: {title}"
        key = NamespacedName(request.namespace, request.name)
        naming = _naming(workspace, target, key, approved=approved)
        say(sentence)

        def change(paths: Collection[str]) -> FilesChange:
            name = rejection or naming(paths)
            text = approval_text(name, status, request.digest, request.namespace, request.snapshot)
            path = approval_path(name, request.namespace)
            return FilesChange(subject=f"{verb.capitalize()} {key}", write={path: text.encode()})

        commits.commit_files(workspace, settings, change, target, workspace.verifier(request, status))


def _request(name: str, workspace: Workspace) -> tuple[Asked, Status | None, str]:
    """What waits under a name, how it is answered now, and what it is about in a sentence."""
    from gitfleet.removals import asked
    from gitfleet.views.holds import hold_document, hold_sentence

    hold = workspace.repository.load_state(workspace.state_head()).holds.get(name)
    if hold is not None:
        return asked(hold), hold.answer, hold_sentence(hold_document(hold))
    rewrite = workspace.rewrite()
    if rewrite is not None and rewrite.request().name == name:
        return rewrite.request(), None, rewrite.request().title
    raise BadInput(CliText.NO_HOLD(name=name), hint=CliText.GITFLEET_GET_HOLDS_LISTS())


def _stage_request(run: str, stage: str, workspace: Workspace, verb: str) -> tuple[Asked, str]:
    """What a stage waits for, and what the answer is about in a sentence."""
    from gitfleet.rollout import staged
    from gitfleet.views.runs import pending_request

    state = workspace.repository.load_state(workspace.state_head())
    request = pending_request(state, run, stage)
    if request is None:
        hint = CliText.GITFLEET_GET_APPROVALS_LISTS_STAGES()
        raise BadInput(CliText.RUN_WAITS_NO_APPROVAL_STAGE(run=run, stage=stage), hint=hint)
    record = state.runs.get(request.run)
    if record is not None and record.finished:
        raise BadInput(CliText.RUN_OVER_NO_ANSWER_CHANGES(run=run), hint=CliText.ADD_NEW_RUN_GO())
    sentence = CliText.STAGE_RUN_SNAPSHOT(verb=verb, stage=stage, run=run, snapshot_index=request.snapshot_index)
    return staged.asked(request), sentence


def _naming(
    workspace: Workspace, target: str | None, key: NamespacedName, *, approved: bool
) -> Callable[[Collection[str]], str]:
    """How an answer is named, by the paths of the branch to commit to. One more file approves where others are there:
    each is the approval of the person who commits it."""
    from gitfleet.approvals import name_to_reject, next_name

    commit = workspace.commit_of(None)
    approvals, watched = workspace.desired_at(commit).approvals, workspace.repository.reader.list_tree(commit)
    if approved:
        return lambda paths: next_name(key.name, approvals, paths if target is None else watched, key.namespace)
    return lambda _: name_to_reject(key.name, approvals, key.namespace)


def _rejection(request: Asked, workspace: Workspace) -> str | None:
    """The name of the approval that rejects the hold now."""
    from gitfleet.api.conditions import APPROVED, Status, find_condition
    from gitfleet.approvals import given

    for approval in given(request, workspace.desired_at(workspace.commit_of(None)).approvals_by_request):
        condition = find_condition(approval.conditions, APPROVED)
        if condition is not None and condition.status is Status.FALSE:
            return approval.key.name
    return None
