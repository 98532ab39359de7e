"""What a forge (GitHub, GitLab, Gitea) is to show of the fleet, and the calls that bring it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class StatusState(StrEnum):
    """What a commit status says; adapters have each forge's own word for it."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request (GitLab: merge request) of a branch of the repository itself; `number` is 0 until it is open."""

    branch: str
    title: str
    body: str
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStatus:
    """One line of a commit's checks. `over`: of a run that has ended, which a commit shows only where it showed the run
    before."""

    context: str
    state: StatusState
    description: str
    over: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment on a pull request. `own`: the user of the token wrote it."""

    id: int
    body: str
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeView:
    """What a forge is to show: pull requests into `target`, by branch, and statuses of `commit` ("": none).

    `branches` are the requests' branches that there are, whoever needs them: all begin with `prefix`.
    """

    target: str
    prefix: str
    commit: str
    pulls: Mapping[str, PullRequest]
    branches: frozenset[str]
    statuses: tuple[CommitStatus, ...]


@dataclass(frozen=True, slots=True)
class OpenPull:
    """Open a pull request."""

    pull: PullRequest


@dataclass(frozen=True, slots=True)
class EditPull:
    """Give an open pull request its title and body."""

    pull: PullRequest


@dataclass(frozen=True, slots=True)
class ClosePull:
    """Close a pull request whose branch is gone."""

    pull: PullRequest


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Set one status of a commit."""

    commit: str
    status: CommitStatus


PullCall = OpenPull | EditPull | ClosePull
ForgeCall = PullCall | SetStatus
