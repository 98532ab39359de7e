"""The composition root (beside `wiring`) of commands that only read the state branch: no driver, no executor, no cache
database, no simulation, and none of their imports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git_setup import open_repository, remote_with_state
from gitfleet.api.fleet import Branches
from gitfleet.branches.state_source import SharedSource, certain_state_head
from gitfleet.errors import BadInput
from gitfleet.ports.repos import RepoReader
from gitfleet.settings import Settings
from gitfleet.state import StateReader
from gitfleet.wiring.texts import WiringText

if TYPE_CHECKING:
    from gitfleet import schedule

__all__ = ["NoState", "OpenedState", "open_state", "remote_with_state"]

_FOREIGN = WiringText.PUSH_LAST_COMMIT_BACK()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedState:
    """The state branch as it is, or was at one of its commits. `now` is the present moment, `watched` the head of the
    watched branch."""

    reader: StateReader
    now: datetime
    watched: str | None

    def profile(self) -> schedule.Profile:
        """The scheduler's profile that decided this state."""
        from gitfleet import schedule  # `get` needs none

        plugins = self.reader.head().scheduler_plugins
        available: Mapping[str, schedule.PluginFactory] = schedule.BUILT_IN
        if any(plugin.name not in available for plugin in plugins):
            from gitfleet.wiring.hub import (
                scheduler_plugins,
            )  # only a fleet with plug-ins of its own needs what is installed

            available = scheduler_plugins()
        return schedule.profile_from(plugins, available)[0]


def open_state(settings: Settings, at: str | None = None) -> OpenedState:
    """A reader, for any number of threads, of the state branch as it is now or at one of its commits.

    BadInput when there is no state yet, or `at` names no commit of it.
    """
    now, repo = SystemClock().now(), open_repository(settings)
    watch = settings.watch_branch or Branches().watch
    heads = repo.fetch((watch, Branches().state))
    if at is None:
        head = _head(settings, repo, heads, watch)
        reader = StateReader(SharedSource(repo), head)
        if reader.head().observed_commit is None:
            raise BadInput(WiringText.COMMIT_HOLDS_NO_STATE(head=head[:12]), hint=_FOREIGN)
    else:
        reader = StateReader(SharedSource(repo), repo.resolve(at))
        if reader.head().observed_commit is None:
            raise BadInput(WiringText.NO_COMMIT_STATE_BRANCH(at=at), hint=WiringText.GIT_LOG_LISTS_THEM())
    return OpenedState(reader=reader, now=now, watched=heads.get(watch))


def _head(settings: Settings, repo: RepoReader, heads: Mapping[str, str], watch: str) -> str:
    head = certain_state_head(repo, heads, watch, Branches().state)
    if head is None:
        from gitfleet.wiring.hub import open_workspace  # only a configuration that has to be read whole needs all of it

        with open_workspace(settings, clusters="none") as workspace:
            workspace.commit_of(None)
            head, name = workspace.state_head(), workspace.repository.branches.state
        if head is None:
            hint = WiringText.FIRST_RECONCILE_MAKES_IT()
            if (remote := remote_with_state(settings.repo)) is not None:
                hint = WiringText.NAME_REMOTE(remote=remote)
            raise NoState(WiringText.NO_BRANCH_YET(name=name), hint=hint)
    return head


class NoState(BadInput):
    """There is no state branch yet."""
