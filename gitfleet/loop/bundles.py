"""Carries the branches between the hub and one cluster's agent in files, for a site without a way to the hub's remote.

A bundle holds one branch, and whoever reads it says which: that of deliveries is only ever written where the agent
reads it, that of reports only where the hub does. What a file says moves a branch forward alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gitfleet.api.values import is_dns_subdomain
from gitfleet.errors import BadInput, LostRace
from gitfleet.formats.git_names import check_branch
from gitfleet.formats.times import time_text
from gitfleet.ports.bundles import BundleRepo

_MOST_TRIES: Final = 5
_ID_DIGITS: Final = 10
_REPORT_FILE: Final = re.compile(r"report\.yaml|(?:objects|applied)/[^/]+\.json")
_PLAIN_FILE: Final = "100644"


class End(StrEnum):
    """An end of the way: where the hub's remote is, or where the agent is."""

    HUB = "hub"
    MEMBER = "member"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way between the hub and the agent of a cluster: `to` is its end, `deliveries` and `members` are how the
    branches begin (spec.branches of the FleetConfig)."""

    cluster: str
    to: End
    deliveries: str
    members: str

    @property
    def branch(self) -> str:
        """The branch that goes this way; BadInput as `check`."""
        self.check()
        return (self.deliveries if self.to is End.MEMBER else self.members) + self.cluster

    def check(self) -> None:
        """BadInput for a cluster or a beginning that makes no branch."""
        if not is_dns_subdomain(self.cluster):
            hint = "Give the name of the MemberCluster: lower-case letters, digits, dashes and dots."
            raise BadInput(f"{self.cluster[:80]!r} cannot be the name of a cluster.", hint=hint)
        if self.deliveries == self.members:
            raise BadInput("The branches of deliveries and those of members begin alike; give each a name of its own.")
        for prefix in (self.deliveries, self.members):
            check_branch(prefix + self.cluster)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to: the branch is at the commit, and `moved` says whether this import set it there."""

    branch: str
    commit: str
    moved: bool


def export_bundle(repo: BundleRepo, way: Way, *, limit: int) -> tuple[str, bytes]:
    """The commit that a branch is at, and the bundle of it; BadInput where there is no such branch."""
    branch = way.branch
    commit = repo.fetch((branch,)).get(branch)
    if commit is None:
        hint = {
            End.MEMBER: "The hub makes it for a cluster that is reached by an agent; is the name right?",
            End.HUB: "The agent makes it with its first report; is the name right?",
        }[way.to]
        raise BadInput(f"{repo.shown} has no branch {branch}.", hint=hint)
    return commit, repo.write_bundle(branch, commit, limit=limit)


def import_bundle(repo: BundleRepo, content: bytes, way: Way, *, shown: str) -> Imported:
    """Set the branch of a remote to what a bundle holds, where that goes on from what is there: a delivery on top of
    the last one, or a report that is newer.

    BadInput for a bundle of anything else, one that is older, and one that is not sound; LostRace when others move the
    branch again and again; what BundleRepo raises.
    """
    branch = way.branch
    here = repo.fetch((branch,)).get(branch)
    commit = repo.read_bundle(content, branch, shown=shown)
    if way.to is End.HUB:
        _check_report(repo, commit, shown)
    for _ in range(_MOST_TRIES):
        if here == commit:
            return Imported(branch, commit, moved=False)
        if here is not None:
            (_check_delivery if way.to is End.MEMBER else _check_newer)(repo, branch, here, commit, shown)
        try:
            repo.move_branch(branch, commit, here)
        except LostRace:
            here = repo.fetch((branch,)).get(branch)
            continue
        return Imported(branch, commit, moved=True)
    raise LostRace(f"The branch {branch} of {repo.shown} is moved by others all the time; import {shown} again.")


def _check_delivery(repo: BundleRepo, branch: str, here: str, commit: str, shown: str) -> None:
    """BadInput unless a delivery has the last one in its history."""
    if repo.is_ancestor(here, commit):
        return
    if repo.is_ancestor(commit, here):
        message = f"{shown} is older than what {repo.shown} has: {branch} went on from {_at(repo, commit)}"
        raise BadInput(f"{message} to {_at(repo, here)}.", hint="Export it again at the hub's side.")
    hint = f"If the hub has begun its branch again, delete {branch} in {repo.shown} and import the file again."
    message = (
        f"{shown} does not go on from what {repo.shown} has ({_at(repo, here)}): it was never before {commit[:10]}."
    )
    raise BadInput(message, hint=hint)


def _check_newer(repo: BundleRepo, branch: str, here: str, commit: str, shown: str) -> None:
    """BadInput unless a report was made later than the one that is there."""
    if repo.about(commit).at > repo.about(here).at:
        return
    message = f"{shown} is not newer than the report that {repo.shown} has: {_at(repo, commit)} against"
    hint = f"Export it again at the site; if its clock was set back, delete {branch} in {repo.shown} once."
    raise BadInput(f"{message} {_at(repo, here)}.", hint=hint)


def _check_report(repo: BundleRepo, commit: str, shown: str) -> None:
    """BadInput unless a commit is a report: without parents, and of plain files that a report has."""
    if repo.about(commit).parents:
        raise BadInput(f"{shown} holds no report of an agent: its commit {commit[:10]} has parents.")
    for path, entry in repo.list_tree(commit).items():
        if entry.mode != _PLAIN_FILE or not _REPORT_FILE.fullmatch(path):
            raise BadInput(f"{shown} holds no report of an agent: {path[:120]!r} is no file of one.")


def _at(repo: BundleRepo, commit: str) -> str:
    return f"{commit[:_ID_DIGITS]} of {time_text(repo.about(commit).at)}"
