"""The repository as one process sees it: the watched branch under its configuration, and the state branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from gitfleet import removals
from gitfleet.api.faults import is_error
from gitfleet.api.fleet import Branches, FleetConfig
from gitfleet.branches.approval_history import ApprovalHistory, Rewrite
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.state_branch import StateBranch
from gitfleet.branches.state_trees import StateTrees
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import and_more
from gitfleet.model.approvals import ApprovalRequest, FactsByApproval
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import RepoReader
from gitfleet.reconcile import run_approvals
from gitfleet.state import FLEET_FILE

_MOST_TURNS = 3
_MOST_CANDIDATES = 50
"""So many branches may have the state that keeps a configuration; a remote may have any number."""


@dataclass(slots=True, kw_only=True)
class Repository:
    """`approvals` looks who gave an approval, None where nobody looks; `watch_branch` and `state_branch` are names that
    the process was given, None for those of the configuration."""

    reader: RepoReader
    states: StateBranch
    desired_trees: DesiredTrees
    clock: Clock
    approvals: ApprovalHistory | None = None
    watch_branch: str | None = None
    state_branch: str | None = None
    rewrite: tuple[ApprovalRequest, ...] = ()
    """What asks people to accept the rewritten branch, as of the last pass."""
    _config: tuple[str, FleetConfig] | None = None
    _last: tuple[Desired, Rewrite, Desired] | None = None
    """The same for the same, so that nothing is decided again."""

    @property
    def config(self) -> FleetConfig:
        """The FleetConfig that was read last, all defaults before the first."""
        return self._config[1] if self._config else FleetConfig()

    @property
    def branches(self) -> Branches:
        """The branches' names, those of the watched and the state branch as given to the process."""
        named = self.config.branches
        return replace(named, watch=self.watch_branch or named.watch, state=self.state_branch or named.state)

    def watched_commit(self, heads: Mapping[str, str]) -> str:
        """The head of the watched branch; the FleetConfig there says what the branches are called, that one included.

        BadInput when the remote has no such branch, or two configurations send the watch to each other.
        """
        watch = self.branches.watch
        for _ in range(_MOST_TURNS):
            watch = self.branches.watch
            if watch not in heads:
                self._config = None  # it may be a typing error: the next reconcile reads it again
                raise no_such_branch(watch, heads)
            self._read_config(heads[watch], heads)
            if self.branches.watch == watch:
                return heads[watch]
        redirected, self._config = self.branches.watch, None
        sentence = BranchesText.CONFIGURATIONS_SEND_WATCH_EACH_OTHER(watch=watch, other=redirected)
        raise BadInput(sentence, hint=BranchesText.LET_SPEC_BRANCHES_WATCH_SAY())

    def _read_config(self, commit: str, heads: Mapping[str, str]) -> None:
        if self._config is not None and self._config[0] == commit:
            return
        # With the state as the branch is called so far: the reconcile then needs no second reading of the commit.
        before = FleetState()
        with suppress(BadInput):  # that branch may be somebody else's
            before = self.load_state(heads.get(self.branches.state))
        desired = self.desired_trees.at(commit, before)
        lost = self._config is None and desired.config.origin is None and any(map(is_error, desired.faults))
        config = last_good_config(commit, heads, self.reader, self.desired_trees, self.states.trees) if lost else None
        self._config = (commit, config or desired.config)

    def load_state(self, head: str | None) -> FleetState:
        """The state at a head of the state branch."""
        return self.states.at(head, self.branches.state)

    def loaded(self, before: FleetState, desired: Desired) -> FleetState:
        """The state with the snapshots loaded that runs and pins name."""
        return self.states.trees.with_snapshots_named(before, desired)

    def rewrite_of(self, desired: Desired, before: FleetState) -> Rewrite | None:
        """How the watched branch was rewritten, None where it was not or a person has accepted it."""
        if self.approvals is None:
            return None
        read_at = partial(self.desired_trees.at, state=before)
        return self.approvals.rewrite(self.branches.watch, desired, before, self.clock.now(), read_at)

    def accepted(self, commit: str, before: FleetState, ask: Callable[[Desired], None]) -> Desired:
        """What is reconciled: a commit of the watched branch, or the one that was accepted last while the branch was
        rewritten and nobody accepted that. BadInput, after `ask`, where that one cannot be read any more."""
        desired = self.desired_trees.at(commit, before)
        rewrite = self.rewrite_of(desired, before)
        self.rewrite = (rewrite.request(),) if rewrite is not None else ()
        if rewrite is None:
            return desired
        try:
            last = self.desired_trees.at(rewrite.old, before)
        except BadInput as error:
            ask(desired)
            raise BadInput(BranchesText.COMMIT_CANNOT_READ_ANY_MORE(fault=rewrite.fault().message)) from error
        if self._last is None or self._last[:2] != (last, rewrite):
            self._last = (last, rewrite, replace(last, faults=(*last.faults, *rewrite.faults())))
        return self._last[2]

    def approvals_of(self, desired: Desired, before: FleetState, now: datetime) -> FactsByApproval | None:
        """How the approvals came to the watched branch that may answer what waits; None where nobody looks."""
        if self.approvals is None:
            return None
        requests = [removals.asked(hold) for hold in before.holds.values()]
        requests += run_approvals.asked_of_people(before, desired)
        read_at = partial(self.desired_trees.at, state=before)
        return self.approvals.facts(desired, requests, read_at, before.observed_commit, now)


def no_such_branch(watch: str, heads: Mapping[str, str]) -> BadInput:
    """The error for a repository that has only these branches."""
    branches = [name for name in heads if not name.startswith("gitfleet/")]
    if not branches:
        return BadInput(
            BranchesText.REPOSITORY_NO_COMMIT_ANY_BRANCH(),
            hint=BranchesText.COMMIT_WHERE_REMOTE(watch=watch),
        )
    named = ", ".join(branches[:5]) + and_more(len(branches) - 5)
    return BadInput(
        BranchesText.REPOSITORY_NO_BRANCH(watch=watch, named=named),
        hint=BranchesText.WATCH_ANOTHER_ONE_BRANCH(others=branches[0], watch=watch),
    )


def last_good_config(
    commit: str, heads: Mapping[str, str], reader: RepoReader, desired_trees: DesiredTrees, state_trees: StateTrees
) -> FleetConfig | None:
    """The configuration that was in force before a commit with errors, for a process that has not seen it.

    It may have named the state branch, which alone has it: that is the branch whose last good configuration
    gives it this very name.
    """
    candidates = sorted(heads.items(), key=lambda branch: (not branch[0].startswith("gitfleet/"), branch))
    for name, head in candidates[:_MOST_CANDIDATES]:
        try:
            if head == commit or FLEET_FILE not in reader.list_tree(head):
                continue
            config = desired_trees.at(commit, state_trees.at(head)).config
        except BadInput:
            continue  # somebody else's branch: what lies there is no state of a fleet, or cannot be fetched
        if config.branches.state == name and config.origin is not None:
            return config
    return None
