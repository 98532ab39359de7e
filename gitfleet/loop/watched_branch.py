"""The watched branch: what is said when it is not there, and its configuration before a commit with errors."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.fleet import FleetConfig
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import and_more
from gitfleet.loop.state_trees import StateTrees
from gitfleet.loop.texts import LoopText
from gitfleet.loop.trees import DesiredTrees
from gitfleet.ports.repos import RepoReader
from gitfleet.state import FLEET_FILE

_MOST_CANDIDATES = 50
"""So many branches may hold the state that keeps a configuration; a remote may have any number."""


def no_such_branch(watch: str, heads: Mapping[str, str]) -> BadInput:
    """The error for a repository that has only these branches."""
    others = [name for name in heads if not name.startswith("gitfleet/")]
    if not others:
        return BadInput(
            LoopText.REPOSITORY_NO_COMMIT_ANY_BRANCH(),
            hint=LoopText.COMMIT_WHERE_REMOTE(watch=watch),
        )
    named = ", ".join(others[:5]) + and_more(len(others) - 5)
    return BadInput(
        LoopText.REPOSITORY_NO_BRANCH(watch=watch, named=named),
        hint=LoopText.WATCH_ANOTHER_ONE_BRANCH(others=others[0], watch=watch),
    )


def last_good_config(
    commit: str, heads: Mapping[str, str], reader: RepoReader, desired_trees: DesiredTrees, state_trees: StateTrees
) -> FleetConfig | None:
    """The configuration that was in force before a commit with errors, for a process that has not seen it.

    It may have named the state branch, which alone has it: that is the branch whose last good configuration
    gives it this very name.
    """
    ours = sorted(heads.items(), key=lambda item: (not item[0].startswith("gitfleet/"), item))
    for name, head in ours[:_MOST_CANDIDATES]:
        try:
            if head == commit or FLEET_FILE not in reader.list_tree(head):
                continue
            config = desired_trees.at(commit, state_trees.at(head)).config
        except BadInput:
            continue  # somebody else's branch: what lies there is no state of a fleet, or cannot be fetched
        if config.branches.state == name and config.origin is not None:
            return config
    return None
