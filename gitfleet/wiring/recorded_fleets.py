"""A recorded fleet as `simulate` starts from it: its state branch and the commit behind it, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from gitfleet import __version__, works
from gitfleet.api.scenarios import Scenario
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.state_branch import Publication, StateBranch
from gitfleet.branches.state_trees import StateTrees
from gitfleet.errors import BadInput
from gitfleet.loop.texts import LoopText
from gitfleet.loop.workspace import Workspace
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.simulation.recorded import LONGEST, RecordedStart

_STATE_FILES = 16
"""Files of the state branch may be so many times as large as those of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFleet:
    """What is on the state branch of that name, when it was written, the `files` of the commit that it is of, and the
    `blobs` that its snapshots are made of."""

    start: RecordedStart
    branch: str
    written: datetime
    files: Mapping[str, bytes]
    blobs: Mapping[str, bytes]

    def start_of(self, script: Scenario) -> datetime:
        """When a scenario starts: when the state was written, unless it names a start. BadInput for an earlier one."""
        if script.start == Scenario().start:
            return max(script.start, self.written)
        if script.start < self.written:
            early = LoopText.SCENARIO_STARTS_TOO_EARLY(start=script.start, written=self.written)
            raise BadInput(early, hint=LoopText.NAME_LATER_START())
        return script.start

    def put_into(
        self, repo: MemoryRepo, watched: str, fleet: SimulatedFleet, clock: ManualClock, limits: Limits
    ) -> None:
        """Put it into a remote, and on clusters; what takes time there takes `LONGEST` of the clock."""
        state = self.start.put_on(fleet, clock)
        repo.keep_blobs(self.blobs.values())
        commit = repo.commit_files(watched, self.files, clock.now(), "The fleet")
        states = StateBranch(repo, repo, StateTrees(repo, DesiredTrees(repo, MemoryCache(), limits), limits))
        before, now = FleetState(), clock.now()
        states.publish(
            Publication(
                before=before,
                after=replace(state, observed_commit=commit),
                inputs=Inputs(desired=Desired(commit=commit), before=before, observations={}, now=now),
                branch=self.branch,
                head=None,
                phase="report",
                now=now,
                version=__version__,
            )
        )


class Begun(NamedTuple):
    """A scenario with its clusters, its remote and its clock, at its start."""

    script: Scenario
    fleet: SimulatedFleet
    repo: MemoryRepo
    clock: ManualClock


def begin(
    script: Scenario, files: Mapping[str, bytes], branch: str, recorded: RecordedFleet | None, limits: Limits
) -> Begun:
    """Begin a scenario with the files of a commit, over a recorded fleet or an empty one."""
    before: Mapping[str, bytes] = {}
    if recorded is None:
        clock, repo = ManualClock(script.start), MemoryRepo()
        fleet = SimulatedFleet(clock)
    else:
        script, before = replace(script, start=recorded.start_of(script)), recorded.files
        clock, repo = ManualClock(script.start - LONGEST), MemoryRepo()
        fleet = SimulatedFleet(clock)
        recorded.put_into(repo, branch, fleet, clock, limits)
    fleet.behave(script.clusters)
    repo.commit_files(branch, {**dict.fromkeys(before), **files}, clock.now(), "The fleet")
    return Begun(script, fleet, repo, clock)


def files_at(workspace: Workspace, commit: str, limits: Limits) -> dict[str, bytes]:
    """The ordinary files of a commit by path."""
    repository = workspace.repository
    entries = repository.desired_trees.regular_files(commit)
    blobs = repository.reader.read_blobs(entries.values(), limit=limits.file_bytes)
    return {path: blobs[oid] for path, oid in entries.items() if oid in blobs}


def recorded_fleet(workspace: Workspace, limits: Limits) -> RecordedFleet | None:
    """The fleet that the state branch has recorded; None where there is no state branch."""
    repository, head = workspace.repository, workspace.state_head()
    state = repository.load_state(head)
    if head is None or state.observed_commit is None:
        return None
    desired = workspace.desired_at(state.observed_commit)
    entries = repository.reader.list_tree(head)
    rendered, _ = works.render_fleet(state, works.WorksMemo(), Failures(), desired.config.policy)
    return RecordedFleet(
        start=RecordedStart(state=state, works=rendered, config=desired.config),
        branch=repository.branches.state,
        written=repository.states.written or workspace.clock.now(),
        files=files_at(workspace, state.observed_commit, limits),
        blobs=repository.reader.read_blobs(
            {entry.oid for entry in entries.values()}, limit=_STATE_FILES * limits.file_bytes
        ),
    )
