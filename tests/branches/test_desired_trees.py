"""invariant 7 for reading: an unchanged blob is never read, parsed or typed twice, and memory stays in bounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitfleet import desired
from gitfleet.adapters.blob_cache import SqliteBlobCache
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.state_trees import StateTrees, snapshots_in_use
from gitfleet.errors import BadInput
from gitfleet.formats.git_names import blob_id
from gitfleet.formats.yaml_reader import ParsedFile
from gitfleet.model.state import FleetState
from gitfleet.ports.repos import TreeEntry
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.state.texts import StateText
from tests.branches.commits import MOMENT, config_map, faulty_map, stream
from tests.builders import config_map as shop_map
from tests.builders import member_cluster, namespace, pick_fixed, placement, repo_files_for, rolling_update
from tests.scenarios.world import World, commit_state
from tests.state.builders import composed, record, small_fleet

MANY = 300


class CountingRepo(MemoryRepo):
    """Counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        self.asked["trees"] += 1
        return super().list_tree(commit, under)

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        wanted = list(oids)
        self.asked["blobs"] += len(wanted)
        return super().read_blobs(wanted, limit=limit)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How many files were parsed and typed."""
    counts: Counter[str] = Counter()
    parse, read = desired.parse_file, desired.read_file

    def parse_file(path: str, content: bytes, **options: int) -> ParsedFile:
        counts["parsed"] += 1
        return parse(path, content, **options)

    def read_file(*arguments: Any) -> desired.FileReading:
        counts["typed"] += 1
        return read(*arguments)

    monkeypatch.setattr(desired, "parse_file", parse_file)
    monkeypatch.setattr(desired, "read_file", read_file)
    yield counts


@pytest.fixture
def repo() -> CountingRepo:
    """A commit with many files."""
    repo = CountingRepo()
    files = {f"resources/{number}.yaml": config_map(f"c{number}", "1") for number in range(MANY)}
    repo.commit_files("main", files, MOMENT)
    return repo


def observed(repo: MemoryRepo) -> FleetState:
    return FleetState(observed_commit=repo.fetch()["main"])


def test_an_unchanged_commit_is_not_looked_at_again(repo: CountingRepo, work: Counter[str]) -> None:
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    commit = repo.fetch()["main"]
    first = trees.at(commit, FleetState())
    assert (work["parsed"], work["typed"], repo.asked["blobs"]) == (MANY, MANY, MANY)
    repo.asked.clear()
    assert trees.at(commit, FleetState()) is first
    trees.at(commit, observed(repo))
    trees.at(commit, observed(repo))
    assert (work["parsed"], work["typed"], repo.asked["blobs"]) == (MANY, MANY, 0)


def test_what_was_refused_for_a_placement_that_leaves_is_read_again() -> None:
    """In the process that refused it, as in any other one."""
    repo = MemoryRepo()
    commit = repo.commit_files("main", repo_files_for(placement("web"), namespace("web")), MOMENT)
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    fixed = record("web", placement_type=PlacementType.PICK_FIXED, cluster_names=("c1",))
    leaving = replace(fixed, placement=replace(fixed.placement, deleting=MOMENT))
    for known, refused in (([fixed], True), ([leaving], False), ([fixed], True), ([], False)):
        state = FleetState(observed_commit=commit, placements={one.placement.key: one for one in known})
        assert bool(trees.at(commit, state).faults) is refused


def test_a_change_of_one_file_costs_one_file(repo: CountingRepo, work: Counter[str]) -> None:
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    trees.at(repo.fetch()["main"], FleetState())
    state = observed(repo)
    for text, blobs in ((config_map("c7", "2"), 1), (stream(config_map("c7", "2"), faulty_map("x")), 3)):
        work.clear()
        repo.asked.clear()
        answer = trees.at(repo.commit_files("main", {"resources/7.yaml": text}, MOMENT), state)
        assert (work["parsed"], work["typed"]) == (1, 1)
        assert repo.asked["blobs"] <= blobs, "only a faulty file is read again, for the lines of its faults"
        assert len(answer.payload) == MANY
        state = FleetState(observed_commit=answer.commit, faults=answer.faults, last_good=answer.last_good)


def test_a_restart_reads_what_was_parsed_from_disk(repo: CountingRepo, work: Counter[str], tmp_path: Path) -> None:
    commit = repo.fetch()["main"]
    before = DesiredTrees(repo, SqliteBlobCache(tmp_path / "cache"), Limits()).at(commit, FleetState())
    work.clear()
    repo.asked.clear()
    after = DesiredTrees(repo, SqliteBlobCache(tmp_path / "cache"), Limits()).at(commit, FleetState())
    assert after == before
    assert (work["parsed"], work["typed"], repo.asked["blobs"]) == (0, MANY, 0)


def test_a_lost_cache_costs_time_only(repo: CountingRepo, tmp_path: Path) -> None:
    commit = repo.fetch()["main"]
    before = DesiredTrees(repo, SqliteBlobCache(tmp_path / "cache"), Limits()).at(commit, FleetState())
    (tmp_path / "cache").write_bytes(b"nonsense")
    assert DesiredTrees(repo, SqliteBlobCache(tmp_path / "cache"), Limits()).at(commit, FleetState()) == before


def test_files_are_read_in_batches(repo: CountingRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repo.fetch()["main"]
    whole = DesiredTrees(repo, MemoryCache(), Limits()).at(commit, FleetState())
    monkeypatch.setattr("gitfleet.branches.desired_trees._BATCH", 7)
    cache = MemoryCache()
    assert DesiredTrees(repo, cache, Limits()).at(commit, FleetState()) == whole
    assert DesiredTrees(repo, cache, Limits()).at(commit, FleetState()) == whole


def test_memory_is_bounded_by_the_tree_and_not_by_its_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.branches.desired_trees._SPARE", 20)
    repo = MemoryRepo()
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    state, most = FleetState(), 0
    for number in range(200):
        commit = repo.commit_files(
            "main", {f"resources/{n}.yaml": config_map(f"c{n}", f"{number}") for n in range(5)}, MOMENT
        )
        answer = trees.at(commit, state)
        state = FleetState(observed_commit=commit)
        most = max(most, len(trees._parsed), len(trees._readings), len(trees._latest))
        assert len(answer.payload) == 5
    assert most <= 2 * 10 + 20 + 5


def test_documents_of_several_versions_of_one_path_at_once() -> None:
    repo = MemoryRepo()
    texts = [stream(config_map("a", str(n)), config_map("b", str(n))) for n in range(3)]
    for text in texts:
        repo.commit_files("main", {"resources/a.yaml": text}, MOMENT)
    blobs = [blob_id(text.encode()) for text in texts]
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    found = trees.documents([("resources/a.yaml", blobs[0]), ("resources/a.yaml", blobs[2])])
    assert {key: manifest.body["data"]["k"] for key, manifest in found.items()} == {
        (blobs[n], document): str(n) for n in (0, 2) for document in (0, 1)
    }


def test_a_snapshot_is_restored_though_its_objects_are_faults_by_now() -> None:
    """A version with stricter rules must not stop the fleet: what was accepted goes on."""
    repo = MemoryRepo()
    text = config_map("a", "1").replace("kind: ConfigMap", "kind: /ConfigMap")
    commit = repo.commit_files("main", {"resources/a.yaml": text}, MOMENT)
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    assert [fault.field for fault in trees.at(commit, FleetState()).faults] == ["kind"]
    blob = blob_id(text.encode())
    (manifest,) = trees.documents([("resources/a.yaml", blob)]).values()
    assert (manifest.key.kind, manifest.key.name, manifest.origin.blob) == ("/ConfigMap", "a", blob)


def test_a_restart_in_the_middle_of_a_rollout_restores_every_snapshot_in_use() -> None:
    world = World()
    world.roll_out(
        *(member_cluster(name) for name in ("eu-1", "us-1")),
        namespace("shop"),
        shop_map("shop", "a", {"k": "1"}),
        placement("shop", policy=pick_fixed("eu-1", "us-1"), strategy=rolling_update(maxUnavailable="100%")),
    )
    world.fleet.cluster("us-1").reachable = False
    for value in ("2", "3"):
        world.roll_out(shop_map("shop", "a", {"k": value}))
    world.fleet.cluster("us-1").reachable = True

    world.restart()
    trees = DesiredTrees(world.repo, MemoryCache(), Limits())
    state = StateTrees(world.repo, trees, Limits()).at(world.repo.fetch()["gitfleet/state"])
    record = state.placements[PlacementKey("", "shop")]
    in_use = snapshots_in_use(record)
    known = {binding.resource_snapshot for binding in record.bindings}
    assert known <= {snapshot.name for snapshot in in_use}
    assert all(snapshot.manifests is not None for snapshot in in_use)
    world.settle()
    for cluster in ("eu-1", "us-1"):
        body = world.body(cluster, "ConfigMap", "a")
        assert body["data"] == {"k": "3"}


def test_a_state_file_over_the_limit_is_named(repo: CountingRepo) -> None:
    head = commit_state(repo, {"fleet.yaml": f"a: {'x' * (1 << 20)}\n"}, MOMENT)
    trees = StateTrees(repo, DesiredTrees(repo, MemoryCache(), Limits()), replace(Limits(), file_bytes=1 << 16))
    why = StateText.IT_IS_LARGER(limit=1)
    sentence = StateText.STATE_BRANCH_FILE_CANNOT_USED(path="fleet.yaml", reason=why)
    with pytest.raises(BadInput, match=re.escape(sentence)):
        trees.at(head)


def test_one_blob_at_paths_of_several_kinds_is_read_as_what_each_path_says(repo: CountingRepo) -> None:
    files = composed(FleetState(), small_fleet()).write
    head = {path: files[path] for path in ("fleet.yaml", "clusters/eu-1.yaml")}
    said: set[str] = set()
    for cache in (None, MemoryCache()):
        for path in ("bindings/web/all.yaml", "snapshots/policies/web/1.yaml"):
            odd = commit_state(repo, {**head, path: head["clusters/eu-1.yaml"]}, MOMENT, f"state-of-{path[:5]}")
            for _ in range(2):
                trees = StateTrees(repo, DesiredTrees(repo, MemoryCache(), Limits()), Limits(), cache)
                with pytest.raises(BadInput) as caught:
                    trees.at(odd)
                said.add(str(caught.value).removeprefix(StateText.STATE_BRANCH_FILE_CANNOT_USED(path=path, reason="")))
    assert len(said) == 2


def test_a_state_that_was_read_once_is_read_from_the_cache_but_for_files_of_many_entries(repo: CountingRepo) -> None:
    state = replace(small_fleet(), placements={}, last_good={})
    change = composed(FleetState(), state)
    head, cache = commit_state(repo, change.write, MOMENT), MemoryCache()

    def read() -> int:
        repo.asked.clear()
        trees = DesiredTrees(repo, MemoryCache(), Limits())
        assert StateTrees(repo, trees, Limits(), cache).at(head) == state
        return repo.asked["blobs"]

    assert read() == len(change.write)
    assert read() == sum(path.startswith("inventory/") for path in change.write) == 2


def test_the_files_of_a_state_are_read_so_many_at_a_time(repo: CountingRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    state = replace(small_fleet(), placements={}, last_good={})
    change = composed(FleetState(), state)
    head = commit_state(repo, change.write, MOMENT)
    monkeypatch.setattr("gitfleet.branches.state_trees._BATCH", 2)
    asked: list[int] = []

    def read_blobs(oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        wanted = list(oids)
        asked.append(len(wanted))
        return MemoryRepo.read_blobs(repo, wanted, limit=limit)

    monkeypatch.setattr(repo, "read_blobs", read_blobs)
    assert StateTrees(repo, DesiredTrees(repo, MemoryCache(), Limits()), Limits()).at(head) == state
    assert sum(asked) == len(change.write) > 4
    assert max(asked) == 2
