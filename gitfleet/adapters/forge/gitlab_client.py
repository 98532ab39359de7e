"""GitLab by python-gitlab. A pull request is called a merge request there, and its number iid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

import requests
from gitlab import Gitlab
from gitlab.v4.objects import Project

from gitfleet.adapters.forge.reading import read_strictly
from gitfleet.adapters.forge.sessions import MOST_PAGES, PAGE, ForgeAdapter
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import BadInput
from gitfleet.model.forges import Comment, CommitStatus, PullRequest, StatusState
from gitfleet.ports.forges import ForgeAccess

_MOST: Final = MOST_PAGES * PAGE
_WORDS: Final = {StatusState.SUCCESS: "success", StatusState.FAILURE: "failed", StatusState.PENDING: "pending"}
_STATES: Final = {"success": StatusState.SUCCESS, "failed": StatusState.FAILURE, "canceled": StatusState.FAILURE}
_PENDING: Final = ForgeText.PROGRESS_WAITING_STATE_BRANCH_SAYS()
_SAME_STATE: Final = ForgeText.CANNOT_TRANSITION_STATUS()


class GitLab:
    """Forge on gitlab.com, or on a GitLab server."""

    def __init__(self, access: ForgeAccess) -> None:
        url = access.url.rstrip("/") or "https://gitlab.com"
        session, adapter = requests.Session(), ForgeAdapter(url, access.token)
        for scheme in ("https://", "http://"):
            session.mount(scheme, adapter)
        client = Gitlab(
            url,
            private_token=access.token,
            session=session,
            ssl_verify=str(access.ca_file) if access.ca_file else True,
            per_page=PAGE,
            keep_base_url=True,
            user_agent="gitfleet",
        )
        self._client, self.host = client, urlsplit(url).netloc
        self._project: Project = client.projects.get(access.repository, lazy=True)

    @read_strictly
    def pulls(self, target: str, closed_of: str = "") -> Iterator[PullRequest]:
        """Forge.pulls."""
        of = (
            {"state": "closed", "source_branch": closed_of, "order_by": "updated_at"}
            if closed_of
            else {"state": "opened"}
        )
        pulls = self._project.mergerequests.list(target_branch=target, iterator=True, **of)
        for pull in islice(pulls, PAGE if closed_of else _MOST):
            own = pull.source_project_id == pull.target_project_id and pull.target_branch == target
            if own and closed_of in ("", pull.source_branch):
                text = pull.description or ""
                yield PullRequest(branch=pull.source_branch, title=pull.title, body=text, number=pull.iid)

    @read_strictly
    def open_pull(self, pull: PullRequest, target: str) -> PullRequest:
        """Forge.open_pull."""
        fields = {"source_branch": pull.branch, "target_branch": target}
        made = self._project.mergerequests.create({**fields, "title": pull.title, "description": pull.body})
        return PullRequest(branch=pull.branch, title=pull.title, body=pull.body, number=made.iid)

    @read_strictly
    def edit_pull(self, pull: PullRequest) -> None:
        """Forge.edit_pull."""
        self._project.mergerequests.update(pull.number, {"title": pull.title, "description": pull.body})

    @read_strictly
    def close_pull(self, number: int) -> None:
        """Forge.close_pull."""
        self._project.mergerequests.update(number, {"state_event": "close"})

    @read_strictly
    def statuses(self, commit: str) -> Iterator[CommitStatus]:
        """Forge.statuses."""
        statuses = self._project.commits.get(commit, lazy=True).statuses.list(iterator=True)
        for status in islice(statuses, _MOST):
            state = _STATES.get(status.status, StatusState.PENDING)
            yield CommitStatus(context=status.name, state=state, description=status.description or "")

    @read_strictly
    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Forge.set_status. GitLab refuses another description of the same state, so that of a pending status is one
        that stays true."""
        text = _PENDING if status.state is StatusState.PENDING else status.description
        fields = {"state": _WORDS[status.state], "name": status.context, "description": text}
        try:
            self._project.commits.get(commit, lazy=True).statuses.create(fields)
        except BadInput as error:
            if _SAME_STATE not in str(error):
                raise

    @read_strictly
    def comments(self, number: int) -> Iterator[Comment]:
        """Forge.comments."""
        merge_request = self._project.mergerequests.get(number, lazy=True)
        self._client.auth()
        user = getattr(self._client.user, "id", None)
        for note in islice(merge_request.notes.list(iterator=True, sort="asc", order_by="created_at"), _MOST):
            yield Comment(id=note.id, body=note.body or "", own=note.author["id"] == user)

    @read_strictly
    def write_comment(self, number: int, comment: Comment) -> None:
        """Forge.write_comment."""
        notes = self._project.mergerequests.get(number, lazy=True).notes
        if comment.id:
            notes.update(comment.id, {"body": comment.body})
        else:
            notes.create({"body": comment.body})
