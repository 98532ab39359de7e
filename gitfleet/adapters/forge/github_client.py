"""GitHub, and Gitea, whose API has the same paths and fields, by PyGithub.

Every URL is put together here from numbers and checked names: those that a response names are not followed, but for the
next page of a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from github import Auth, Github
from github.Commit import Commit
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest as Pull
from github.Repository import Repository
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

from gitfleet.adapters.forge.sessions import MOST_PAGES, PAGE, ForgeAdapter, origin_of
from gitfleet.errors import BadInput, Forbidden
from gitfleet.model.forges import Comment, CommitStatus, PullRequest, StatusState
from gitfleet.ports.forges import ForgeAccess

T = TypeVar("T")
_CONNECTING: Final = Lock()
"""What a client takes from the class of its requester is one for all threads."""
_STATES: Final = {"success": StatusState.SUCCESS, "failure": StatusState.FAILURE, "error": StatusState.FAILURE}


class GitHub:
    """Forge on github.com, or on a GitHub Enterprise Server."""

    def __init__(self, access: ForgeAccess) -> None:
        owner, _, name = access.repository.partition("/")
        if not owner or not name or "/" in name:
            raise BadInput(f"{access.repository!r} is no repository here; give --forge-repo as OWNER/NAME")
        self._repository = access.repository.lower()
        self._path = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        api = self._api(access.url.rstrip("/"))
        self._host = urlsplit(api).netloc
        self._client = _client(api, access)

    def _api(self, url: str) -> str:
        if not url or origin_of(url)[1] in ("github.com", "www.github.com", "api.github.com"):
            return "https://api.github.com"
        return f"{url}/api/v3"

    def pulls(self, target: str) -> Iterator[PullRequest]:
        """Forge.pulls."""
        repository = self._client.create_from_raw_data(Repository, {"url": self._path})
        for pull in self._all(repository.get_pulls(state="open", base=target)):
            source = pull.head.repo
            if pull.base.ref == target and source is not None and source.full_name.lower() == self._repository:
                yield PullRequest(branch=pull.head.ref, title=pull.title, body=pull.body or "", number=pull.number)

    def open_pull(self, pull: PullRequest, target: str) -> PullRequest:
        """Forge.open_pull."""
        repository = self._client.create_from_raw_data(Repository, {"url": self._path})
        made = repository.create_pull(base=target, head=pull.branch, title=pull.title, body=pull.body)
        return PullRequest(branch=pull.branch, title=pull.title, body=pull.body, number=made.number)

    def edit_pull(self, pull: PullRequest) -> None:
        """Forge.edit_pull."""
        self._pull(pull.number).edit(title=pull.title, body=pull.body)

    def close_pull(self, number: int) -> None:
        """Forge.close_pull."""
        self._pull(number).edit(state="closed")

    def statuses(self, commit: str) -> Iterator[CommitStatus]:
        """Forge.statuses."""
        newest: dict[str, dict[str, Any]] = {}
        for status in self._all(self._commit(commit).get_statuses()):
            said = status.raw_data
            if said["id"] > newest.get(said["context"], {"id": 0})["id"]:
                newest[said["context"]] = said
        for context, said in newest.items():
            word = said.get("state") or said.get("status") or ""  # Gitea calls it status
            state = _STATES.get(word, StatusState.PENDING)
            yield CommitStatus(context=context, state=state, description=said.get("description") or "")

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Forge.set_status."""
        self._commit(commit).create_status(status.state, description=status.description, context=status.context)

    def comments(self, number: int) -> Iterator[Comment]:
        """Forge.comments."""
        for comment in self._all(self._pull(number).get_issue_comments()):
            yield Comment(id=comment.id, body=comment.body or "")

    def write_comment(self, number: int, comment: Comment) -> None:
        """Forge.write_comment."""
        if comment.id:
            url = f"{self._path}/issues/comments/{comment.id}"
            self._client.create_from_raw_data(IssueComment, {"url": url}).edit(comment.body)
        else:
            self._pull(number).create_issue_comment(comment.body)

    def _all(self, found: Iterable[T]) -> Iterator[T]:
        """The pages of a list, as many as are read."""
        try:
            yield from islice(found, MOST_PAGES * PAGE)
        except AssertionError as error:  # PyGithub's word for an address of another host
            raise Forbidden(f"the forge {self._host} names addresses of another host, which get no token") from error

    def _pull(self, number: int) -> Pull:
        urls = {"url": f"{self._path}/pulls/{number}", "issue_url": f"{self._path}/issues/{number}"}
        return self._client.create_from_raw_data(Pull, urls)

    def _commit(self, commit: str) -> Commit:
        return self._client.create_from_raw_data(Commit, {"url": f"{self._path}/commits/{commit}", "sha": commit})


class Gitea(GitHub):
    """Forge on a Gitea or Forgejo server."""

    def _api(self, url: str) -> str:
        if not url:
            raise BadInput("a Gitea or Forgejo server is needed; give --forge-url as https://HOST")
        return f"{url}/api/v1"


def _client(api: str, access: ForgeAccess) -> Github:
    """A client whose connections are ours: PyGithub takes their classes from the class of its requester when one is
    made."""
    adapter = ForgeAdapter(api, access.token)

    class Plain(HTTPRequestsConnectionClass):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.session.mount("http://", adapter)

    class Encrypted(HTTPSRequestsConnectionClass):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.session.mount("https://", adapter)

    with _CONNECTING:
        Requester.injectConnectionClasses(Plain, Encrypted)
        try:
            return Github(
                base_url=api,
                auth=Auth.Token(access.token),
                per_page=PAGE,
                verify=str(access.ca_file) if access.ca_file else True,
                retry=0,
                seconds_between_requests=None,
                seconds_between_writes=None,
                user_agent="gitfleet",
            )
        finally:
            Requester.resetConnectionClasses()
