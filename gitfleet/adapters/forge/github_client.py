"""GitHub, and Gitea, whose API has the same paths and fields, by PyGithub.

Every URL is put together here from numbers and checked names: those that a response names are not followed, but for the
next page of a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, urlsplit

from github import Auth, Github
from github.Commit import Commit
from github.GithubObject import GithubObject
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest as Pull
from github.Repository import Repository
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

from gitfleet.adapters.forge.reading import read_strictly
from gitfleet.adapters.forge.sessions import MOST_PAGES, PAGE, ForgeAdapter, origin_of
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import BadInput, Forbidden, GiveUp
from gitfleet.model.forges import Comment, CommitStatus, PullRequest, StatusState
from gitfleet.ports.forges import ForgeAccess

_MOST: Final = MOST_PAGES * PAGE
_APP: Final = "[bot]"
"""What the login of an app ends with; no person can have it."""
_CONNECTING: Final = Lock()
"""What a client takes from the class of its requester is one for all threads."""
_STATES: Final = {"success": StatusState.SUCCESS, "failure": StatusState.FAILURE, "error": StatusState.FAILURE}


class GitHub:
    """Forge on github.com, or on a GitHub Enterprise Server."""

    _newest = "updated"

    def __init__(self, access: ForgeAccess) -> None:
        owner, _, name = access.repository.partition("/")
        if not owner or not name or "/" in name:
            raise BadInput(ForgeText.NO_REPOSITORY_HERE(repository=access.repository))
        self._repository = access.repository.lower()
        self._path = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        api = self._api(access.url.rstrip("/"))
        self.host = urlsplit(api).netloc
        self._client = _client(api, access)

    def _api(self, url: str) -> str:
        if not url or origin_of(url)[1] in ("github.com", "www.github.com", "api.github.com"):
            return "https://api.github.com"
        return f"{url}/api/v3"

    @read_strictly
    def pulls(self, target: str, closed_of: str = "") -> Iterator[PullRequest]:
        """Forge.pulls."""
        repository = self._client.create_from_raw_data(Repository, {"url": self._path})
        if closed_of:
            source = f"{self._repository.partition('/')[0]}:{closed_of}"
            pulls = repository.get_pulls("closed", self._newest, "desc", base=target, head=source)
        else:
            pulls = repository.get_pulls("open", base=target)
        for pull in self._all(pulls, PAGE if closed_of else _MOST):
            of, branch = pull["head"]["repo"], pull["head"]["ref"]
            own = pull["base"]["ref"] == target and of is not None and of["full_name"].lower() == self._repository
            if own and (not closed_of or (branch == closed_of and pull["merged_at"] is None)):
                yield PullRequest(branch=branch, title=pull["title"], body=pull["body"] or "", number=pull["number"])

    @read_strictly
    def open_pull(self, pull: PullRequest, target: str) -> PullRequest:
        """Forge.open_pull."""
        repository = self._client.create_from_raw_data(Repository, {"url": self._path})
        made = repository.create_pull(base=target, head=pull.branch, title=pull.title, body=pull.body)
        return PullRequest(branch=pull.branch, title=pull.title, body=pull.body, number=_fields_of(made)["number"])

    @read_strictly
    def edit_pull(self, pull: PullRequest) -> None:
        """Forge.edit_pull."""
        self._pull(pull.number).edit(title=pull.title, body=pull.body)

    @read_strictly
    def close_pull(self, number: int) -> None:
        """Forge.close_pull."""
        self._pull(number).edit(state="closed")

    @read_strictly
    def statuses(self, commit: str) -> Iterator[CommitStatus]:
        """Forge.statuses."""
        newest: dict[str, dict[str, Any]] = {}
        for status in self._all(self._commit(commit).get_statuses()):
            if status["id"] > newest.get(status["context"], {"id": 0})["id"]:
                newest[status["context"]] = status
        for context, status in newest.items():
            word = status.get("state") or status.get("status") or ""  # Gitea calls it status
            state = _STATES.get(word, StatusState.PENDING)
            yield CommitStatus(context=context, state=state, description=status.get("description") or "")

    @read_strictly
    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Forge.set_status."""
        self._commit(commit).create_status(status.state, description=status.description, context=status.context)

    @read_strictly
    def comments(self, number: int) -> Iterator[Comment]:
        """Forge.comments."""
        user = self._user()
        for comment in self._all(self._pull(number).get_issue_comments()):
            author = comment["user"]
            own = author is not None and (author["id"] == user if user is not None else author["login"].endswith(_APP))
            yield Comment(id=comment["id"], body=comment["body"] or "", own=own)

    @read_strictly
    def write_comment(self, number: int, comment: Comment) -> None:
        """Forge.write_comment."""
        if comment.id:
            url = f"{self._path}/issues/comments/{comment.id}"
            self._client.create_from_raw_data(IssueComment, {"url": url}).edit(comment.body)
        else:
            self._pull(number).create_issue_comment(comment.body)

    def _user(self) -> int | None:
        """The id of the token's user; None where it may not ask, as the token of an app's installation on GitHub."""
        try:
            return _fields_of(self._client.get_user().complete()).get("id")
        except GiveUp:
            return None

    def _all(self, pages: Iterable[GithubObject], most: int = _MOST) -> Iterator[dict[str, Any]]:
        """What the pages of a list say, as many as are read."""
        try:
            yield from map(_fields_of, islice(pages, most))
        except AssertionError as error:  # PyGithub's word for an address of another host
            raise Forbidden(ForgeText.FORGE_NAMES_ADDRESSES_ANOTHER_HOST(host=self.host)) from error

    def _pull(self, number: int) -> Pull:
        urls = {"url": f"{self._path}/pulls/{number}", "issue_url": f"{self._path}/issues/{number}"}
        return self._client.create_from_raw_data(Pull, urls)

    def _commit(self, commit: str) -> Commit:
        return self._client.create_from_raw_data(Commit, {"url": f"{self._path}/commits/{commit}", "sha": commit})


def _fields_of(resource: GithubObject) -> dict[str, Any]:
    """What a response had of an object; asking the object for what it lacks would follow the URL that it names."""
    fields: dict[str, Any] = GithubObject.raw_data.__get__(resource)
    return fields


class Gitea(GitHub):
    """Forge on a Gitea or Forgejo server."""

    _newest = "recentupdate"

    def _api(self, url: str) -> str:
        if not url:
            raise BadInput(ForgeText.GITEA_NEEDED())
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
