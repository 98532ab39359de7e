"""Forges: pull requests, commit statuses and comments (entry point `gitfleet.forges`). Nothing depends on them:
gitfleet reads no decision from a forge, and what a forge refuses is logged.

An entry point names a factory that takes a `ForgeAccess`. Every method raises RetryLater (ForgeUnavailable with the
time to wait) for what may pass, Forbidden for what only other settings can end, and BadInput where the forge refuses
this one call. Methods are called on one thread, one at a time, and each has an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from gitfleet.errors import BadInput, Forbidden, ForgeUnavailable, RetryLater
from gitfleet.model.forges import Comment, CommitStatus, PullRequest, StatusState

__all__ = [
    "BadInput",
    "Comment",
    "CommitStatus",
    "Forbidden",
    "Forge",
    "ForgeAccess",
    "ForgeFactory",
    "ForgeUnavailable",
    "PullRequest",
    "RetryLater",
    "StatusState",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeAccess:
    """Where a forge is: `url` as a browser has it ("": the forge's public one), the repository as OWNER/NAME, the token
    to send there and nowhere else, and the authority that signs an https server, where it is not a public one."""

    url: str
    repository: str
    token: str = field(repr=False)
    ca_file: Path | None = None


class Forge(Protocol):
    """One repository on a forge."""

    def pulls(self, target: str, closed_of: str = "") -> Iterable[PullRequest]:
        """The open pull requests from branches of the repository itself into a branch; or those of the branch
        `closed_of` that were closed lately without a merge."""

    def open_pull(self, pull: PullRequest, target: str) -> PullRequest:
        """Open a pull request into a branch; the same with its number."""

    def edit_pull(self, pull: PullRequest) -> None:
        """Give a pull request another title and body."""

    def close_pull(self, number: int) -> None:
        """Close a pull request without merging it."""

    def statuses(self, commit: str) -> Iterable[CommitStatus]:
        """The present status of each context of a commit."""

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Set the status of one context of a commit."""

    def comments(self, number: int) -> Iterable[Comment]:
        """The comments on a pull request, the oldest first."""

    def write_comment(self, number: int, comment: Comment) -> None:
        """Replace the text of a comment; add one where its id is 0."""


ForgeFactory: TypeAlias = Callable[[ForgeAccess], Forge]
