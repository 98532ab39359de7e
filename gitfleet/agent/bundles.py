"""Carries the branches between the hub and one cluster's agent in files, for a site without a way to the hub's remote.

A bundle contains one branch, and whoever reads it says which: that of deliveries is only ever written where the agent
reads it, that of reports only where the hub does. What a file says moves a branch forward alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gitfleet.agent.texts import AgentText
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
            hint = AgentText.GIVE_NAME_MEMBERCLUSTER()
            raise BadInput(AgentText.CANNOT_NAME_CLUSTER(cluster=self.cluster[:80]), hint=hint)
        if self.deliveries == self.members:
            raise BadInput(AgentText.BRANCHES_DELIVERIES_THOSE_MEMBERS_BEGIN())
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
            End.MEMBER: AgentText.HUB_MAKES_CLUSTER_REACHED_AGENT(),
            End.HUB: AgentText.AGENT_MAKES_FIRST_REPORT(),
        }[way.to]
        raise BadInput(AgentText.NO_BRANCH(shown=repo.shown, branch=branch), hint=hint)
    return commit, repo.write_bundle(branch, commit, limit=limit)


def import_bundle(repo: BundleRepo, content: bytes, way: Way, *, shown: str) -> Imported:
    """Set the branch of a remote to what a bundle has, where that goes on from what is there: a delivery on top of
    the last one, or a report that is newer.

    BadInput for a bundle of anything else, one that is older, and one that is not sound; LostRace when others move the
    branch again and again; what BundleRepo raises.
    """
    branch = way.branch
    present = repo.fetch((branch,)).get(branch)
    commit = repo.read_bundle(content, branch, shown=shown)
    if way.to is End.HUB:
        _check_report(repo, commit, shown)
    for _ in range(_MOST_TRIES):
        if present == commit:
            return Imported(branch, commit, moved=False)
        if present is not None:
            (_check_delivery if way.to is End.MEMBER else _check_newer)(repo, branch, present, commit, shown)
        try:
            repo.move_branch(branch, commit, present)
        except LostRace:
            present = repo.fetch((branch,)).get(branch)
            continue
        return Imported(branch, commit, moved=True)
    raise LostRace(AgentText.BRANCH_MOVED_OTHERS_ALL_TIME(branch=branch, shown=repo.shown, shown_2=shown))


def _check_delivery(repo: BundleRepo, branch: str, present: str, commit: str, shown: str) -> None:
    """BadInput unless a delivery has the last one in its history."""
    if repo.is_ancestor(present, commit):
        return
    if repo.is_ancestor(commit, present):
        message = AgentText.OLDER_WENT_FROM(shown=shown, shown_2=repo.shown, branch=branch, at=_at(repo, commit))
        raise BadInput(f"{message} to {_at(repo, present)}.", hint=AgentText.EXPORT_AGAIN_HUB_SIDE())
    hint = AgentText.IF_HUB_BEGUN_BRANCH_AGAIN(branch=branch, shown=repo.shown)
    message = AgentText.NOT_GO_FROM(shown=shown, shown_2=repo.shown, at=_at(repo, present), commit=commit[:10])
    raise BadInput(message, hint=hint)


def _check_newer(repo: BundleRepo, branch: str, present: str, commit: str, shown: str) -> None:
    """BadInput unless a report was made later than the one that is there."""
    if repo.about(commit).at > repo.about(present).at:
        return
    message = AgentText.NOT_NEWER_REPORT(shown=shown, shown_2=repo.shown, at=_at(repo, commit))
    hint = AgentText.EXPORT_AGAIN_SITE(branch=branch, shown=repo.shown)
    raise BadInput(f"{message} {_at(repo, present)}.", hint=hint)


def _check_report(repo: BundleRepo, commit: str, shown: str) -> None:
    """BadInput unless a commit is a report: without parents, and of plain files that a report has."""
    if repo.about(commit).parents:
        raise BadInput(AgentText.HOLDS_NO_REPORT_AGENT(shown=shown, commit=commit[:10]))
    for path, entry in repo.list_tree(commit).items():
        if entry.mode != _PLAIN_FILE or not _REPORT_FILE.fullmatch(path):
            raise BadInput(AgentText.HOLDS_NO_REPORT_AGENT_NO(shown=shown, path=path[:120]))


def _at(repo: BundleRepo, commit: str) -> str:
    return f"{commit[:_ID_DIGITS]} of {time_text(repo.about(commit).at)}"
