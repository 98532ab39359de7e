"""The composition root of commands that only read the state branch: no driver, no executor, no cache database, no
simulation, and none of their imports."""

from __future__ import annotations

from datetime import datetime

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git_setup import open_repository
from gitfleet.api.fleet import Branches
from gitfleet.errors import BadInput
from gitfleet.loop.state_source import SharedSource, certain_state_head
from gitfleet.settings import Settings
from gitfleet.state import StateReader


def open_state(settings: Settings, at: str | None = None) -> tuple[StateReader, datetime]:
    """A reader, for any number of threads, of the state branch as it is now or at one of its commits; and this moment.

    BadInput when there is no state yet, or `at` names no commit of it.
    """
    now, repo = SystemClock().now(), open_repository(settings)
    heads, names = repo.fetch(), Branches()
    if at is not None:
        reader = StateReader(SharedSource(repo), repo.resolve(at))
        if reader.observed_commit() is None:
            raise BadInput(f'"{at}" is no commit of the state branch', hint="`git log gitfleet/state` lists them")
        return reader, now
    head = certain_state_head(repo, heads, settings.watch_branch or names.watch, names.state)
    if head is None:
        from gitfleet.wiring import open_workspace  # only a configuration that has to be read whole needs all of it

        with open_workspace(settings, clusters="none") as workspace:
            head = workspace.known_state_head()
    return StateReader(SharedSource(repo), head), now
