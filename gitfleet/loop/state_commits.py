"""The commit that brings the state branch from one state to the next: its files, its message, and its README."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet import status, views
from gitfleet.api.fleet import FEWEST_COMMITS
from gitfleet.loop.state_heads import PHASE_TRAILER, PLAIN, folders_of
from gitfleet.model.decisions import Inputs
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, UnusableHead
from gitfleet.ports.repos import BranchChange, TreeEntry
from gitfleet.reconcile import quarantines, renamed
from gitfleet.state import README_FILE, StateChange, compose_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What is to be published: `after` in the place of `before`, which stands at `head` of a branch. `phase` is
    intent or report; `inputs` are those that it was decided with, for a report without renamed placements."""

    before: FleetState
    after: FleetState
    inputs: Inputs
    branch: str
    head: str | None
    phase: str
    now: datetime
    version: str
    branches: str = ""
    """How the names of branches that ask for approvals begin, "" where none are pushed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCommit:
    """`state` is what the branch will hold: what cannot be written stays as it was, as `failures` say. `change` is None
    when there is nothing to commit."""

    state: FleetState
    failures: tuple[Failure, ...]
    events: tuple[Event, ...] = ()
    change: BranchChange | None = None


def state_commit(asked: Publication) -> StateCommit:
    """The commit of a publication. An intent says in a fault what could not be written; a renamed placement is written
    under its new name alone, or else as it was."""
    failures, wanted, names = Failures(), asked.inputs.desired, asked.inputs.renamed
    change = _composed(asked, asked.after, failures)
    if failures.found and asked.phase == "intent":
        after = renamed.with_former_names(asked.after, asked.before, names, change.state)
        after = quarantines.with_rollbacks_undone(after, asked.before, change.state)
        faults = (*after.faults, *status.faults_of(failures, FleetState(), wanted))
        change = _composed(asked, replace(after, faults=faults), failures)
        names = {key: was for key, was in names.items() if key in change.state.placements}
    if change.empty:
        return StateCommit(state=change.state, failures=failures.found)
    events = status.emit_events(asked.before, change.state, failures, names)
    page = Subject("File", README_FILE)
    readme = failures.contain(page, None, views.readme_text, change.state, now=asked.now, branches=asked.branches)
    subject, body = status.commit_message(events, failures)
    commit = BranchChange(
        branch=asked.branch,
        expected=asked.head,
        subject=subject,
        body=body,
        trailers=(("Gitfleet-Commit", wanted.commit), (PHASE_TRAILER, asked.phase)),
        when=asked.now,
        write={**change.write, **({README_FILE: readme.encode()} if readme is not None else {})},
        link={path: TreeEntry("100644", blob) for path, blob in change.link.items()},
        remove=change.remove,
        most_commits=(most := max(FEWEST_COMMITS, wanted.config.state_history_max_commits)),
        keep_commits=most // 2,
    )
    return StateCommit(state=change.state, failures=failures.found, events=events, change=commit)


def on_files_of(change: BranchChange, unusable: UnusableHead, files: Mapping[str, TreeEntry]) -> BranchChange:
    """The commit of a publication whose state was read in the place of an unusable head: with the `files` of that
    commit, or those that the head lacks, on top of the head or, where nothing can be put on top of it, on top of that
    commit."""
    if not unusable.readable:
        return replace(change, base=unusable.instead)
    gone = {path.rstrip("/") for path in change.remove}
    kept = {
        path: replace(entry, size=None)
        for path, entry in files.items()
        if path not in change.write
        and entry.mode in PLAIN
        and gone.isdisjoint((path, *folders_of(path)))
        and (path in unusable.missing or not unusable.missing)
    }
    return replace(change, remove=change.remove if unusable.missing else ("",), link={**kept, **change.link})


def _composed(asked: Publication, after: FleetState, failures: Failures) -> StateChange:
    return compose_state(asked.before, after, failures, now=asked.now, version=asked.version)
