"""Commits one after another, as the loop reads them: the state between them keeps what the state branch would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.caches import BlobCache
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.state.builders import composed, put, read_state

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def config_map(name: str, value: str = "v", namespace: str = "default") -> str:
    """A ConfigMap; with namespace "" one that is refused."""
    place = f", namespace: {namespace}" if namespace else ""
    return f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}{place}}}\ndata: {{k: "{value}"}}\n'


def faulty_map(name: str) -> str:
    """The same object with a label that is no string."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default, labels: {{n: 1}}}}\n"


def stream(*documents: str) -> str:
    """Several documents of one file."""
    return "---\n".join(documents)


def values(desired: Desired) -> dict[str, str]:
    """Each ConfigMap of the payload with its value."""
    return {manifest.key.name: manifest.body["data"]["k"] for manifest in desired.payload}


@dataclass(slots=True)
class Commits:
    """A config repo, and what has been read of it so far; `state` went over the state branch and back."""

    repo: MemoryRepo = field(default_factory=MemoryRepo)
    cache: BlobCache = field(default_factory=MemoryCache)
    state: FleetState = FleetState()
    make_trees: Callable[[MemoryRepo, BlobCache], DesiredTrees] = lambda repo, cache: DesiredTrees(
        repo, cache, Limits()
    )
    trees: DesiredTrees = field(init=False)

    def __post_init__(self) -> None:
        self.trees = self.make_trees(self.repo, self.cache)

    def push(self, files: Mapping[str, str | None]) -> Desired:
        """A commit that writes files (None removes one), read as the next reconcile does; the state takes it in."""
        return self.read(self.repo.commit_files("main", files, MOMENT))

    def read(self, commit: str) -> Desired:
        """Read a commit in the process that is alive, and again in fresh ones before and after the state took it in:
        all must say the same."""
        desired = self.trees.at(commit, self.state)
        fresh = self.make_trees(self.repo, self.cache).at(commit, self.state)
        assert fresh == desired
        state = FleetState(observed_commit=commit, faults=desired.faults, last_good=desired.last_good)
        self.state = read_state(put({}, composed(FleetState(), state)))
        assert self.state == state
        again = self.make_trees(self.repo, self.cache).at(commit, self.state)
        assert again == desired
        assert self.trees.at(commit, self.state) == desired
        return desired


def held(desired: Desired) -> dict[str, list[Iterable[int]]]:
    """For each faulty file, the documents that are held, by version."""
    return {path: [good.documents for good in versions] for path, versions in desired.last_good.items()}
