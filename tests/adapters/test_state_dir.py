"""The state tree as plain files: what a branch would hold, all or nothing, and never out of step with what was read."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitfleet.adapters.state_dir import StateDirectory
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.branches.state_branch import StateBranch
from gitfleet.branches.state_trees import StateTrees
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, LostRace, RetryLater
from gitfleet.formats.git_names import blob_id
from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import BranchChange, TreeEntry
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.state.texts import StateText
from tests.branches.commits import MOMENT
from tests.builders import config_map, member_cluster, namespace, pick_fixed, placement, to_yaml
from tests.payload.kustomizations import RecordingBuilder, builds_with
from tests.scenarios.world import Checkpoint, World, nothing

BRANCH = "gitfleet/state"


def change(head: str | None, write: Mapping[str, bytes] | None = None, **parts: Any) -> BranchChange:
    made = BranchChange(branch=BRANCH, expected=head, subject="s", when=MOMENT, write=write or {})
    return replace(made, **parts)


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file but gitfleet's own at the top."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.relative_to(folder).parts[0].startswith(".")
    }


def on(folder: Path, repo: MemoryRepo | None = None) -> StateDirectory:
    return StateDirectory(folder, BRANCH, repo or MemoryRepo())


def test_a_change_writes_links_and_removes(tmp_path: Path) -> None:
    repo = MemoryRepo()
    repo.commit_files("main", {"resources/a.yaml": "linked"}, MOMENT)
    folder = tmp_path / "state"
    state = on(folder, repo)
    assert set(state.fetch()) == {"main"}
    first = state.commit(change(None, {"a/b.yaml": b"1", "a/c.yaml": b"2", "d.yaml": b"3", "e/f/g.yaml": b"4"}))
    assert state.fetch() == {**repo.fetch(), BRANCH: first}
    link = {"snapshots/x.yaml": TreeEntry("100644", blob_id(b"linked"))}
    second = state.commit(change(first, {"a": b"file now"}, link=link, remove=("a/b.yaml", "a/c.yaml", "e/f")))
    assert files_in(folder) == {"a": b"file now", "d.yaml": b"3", "snapshots/x.yaml": b"linked"}
    assert sorted(entry.name for entry in folder.iterdir()) == [".gitfleet.lock", "a", "d.yaml", "snapshots"]
    assert {path: entry.oid for path, entry in state.list_tree(second).items()} == {
        path: blob_id(content) for path, content in files_in(folder).items()
    }
    assert list(state.list_tree(second, "snapshots")) == ["snapshots/x.yaml"]
    third = state.commit(change(second, {"a/b.yaml": b"1"}, remove=("a",)))
    assert files_in(folder)["a/b.yaml"] == b"1"
    assert state.commit(change(third, {"z": b"1"}, base="")) != third
    assert files_in(folder) == {"z": b"1"}


def test_a_change_that_changes_nothing_keeps_the_head_and_touches_no_file(tmp_path: Path) -> None:
    state = on(tmp_path)
    head = state.commit(change(None, {"a.yaml": b"1"}))
    before = (tmp_path / "a.yaml").stat()
    assert state.commit(change(head, {"a.yaml": b"1"}, remove=("gone", "a.yaml"))) == head
    assert (tmp_path / "a.yaml").stat() == before


def test_whoever_was_slower_has_lost_the_race(tmp_path: Path) -> None:
    one, other = on(tmp_path), on(tmp_path)
    head = one.commit(change(None, {"a.yaml": b"1"}))
    assert other.fetch()[BRANCH] == head
    one.commit(change(head, {"a.yaml": b"2"}))
    with pytest.raises(LostRace):
        other.commit(change(head, {"a.yaml": b"3"}))
    with pytest.raises(LostRace):
        other.commit(change(None, {"a.yaml": b"3"}))
    assert files_in(tmp_path) == {"a.yaml": b"2"}


def test_an_edit_by_hand_is_seen(tmp_path: Path) -> None:
    state = on(tmp_path)
    head = state.commit(change(None, {"a.yaml": b"1", "b.yaml": b"one"}))
    (tmp_path / "a.yaml").write_bytes(b"2")
    with pytest.raises(LostRace):
        state.commit(change(head, {"b.yaml": b"2"}))
    edited = state.fetch()[BRANCH]
    assert edited != head
    with pytest.raises(RetryLater):
        state.list_tree(head)
    assert state.read_blobs([blob_id(b"2")], limit=10) == {blob_id(b"2"): b"2"}
    (tmp_path / "a.yaml").write_bytes(b"1")
    assert state.fetch()[BRANCH] == head, "the head is what the files say, not who wrote them"


def test_too_large_a_blob_is_left_out_and_others_come_from_the_repository(tmp_path: Path) -> None:
    repo = MemoryRepo()
    repo.commit_files("main", {"a": "from the repo"}, MOMENT)
    state = on(tmp_path, repo)
    state.commit(change(None, {"a.yaml": b"12345"}))
    wanted = [blob_id(b"12345"), blob_id(b"from the repo")]
    assert set(state.read_blobs(wanted, limit=100)) == set(wanted)
    assert set(state.read_blobs(wanted[:1], limit=4)) == set()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", ".gitfleet.lock", ".git/config", "link/x"])
def test_nothing_is_written_elsewhere(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "state"
    state = on(folder)
    head = state.commit(change(None, {"a.yaml": b"1"}))
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(BadInput, match=re.escape(f'"{path}" leads out of {folder}')):
        state.commit(change(head, {path: b"2"}))
    assert files_in(folder) == {"a.yaml": b"1"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]


def test_links_and_hidden_files_are_not_part_of_the_state(tmp_path: Path) -> None:
    state = on(tmp_path)
    head = state.commit(change(None, {"a.yaml": b"1"}))
    (tmp_path / "b.yaml").symlink_to("a.yaml")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("x")
    assert state.fetch()[BRANCH] == head


def test_other_branches_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='only the state branch can be written, not "gitfleet/rendered"'):
        on(tmp_path).commit(replace(change(None, {"a": b"1"}), branch="gitfleet/rendered"))


def test_what_the_file_system_refuses_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(RetryLater, match="cannot be used"):
        on(tmp_path / "state").commit(change(None, {"a": b"1"}))


# -- killed at any moment


class Killed(BaseException):
    """The process is gone."""


def killed_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The process dies before its n-th step on the file system."""
    left = [number]

    def step(call: Callable[..., object]) -> Callable[..., object]:
        def stepped(*arguments: object, **named: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return call(*arguments, **named)

        return stepped

    for name in ("mkdir", "rename", "replace", "unlink", "rmdir", "open"):
        monkeypatch.setattr(Path, name, step(getattr(Path, name)))
    monkeypatch.setattr(shutil, "rmtree", step(shutil.rmtree))
    monkeypatch.setattr(os, "fsync", step(os.fsync))


def test_a_kill_at_any_moment_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    old = {"a/b.yaml": b"1", "a/c.yaml": b"2", "inventory/all.yaml": b"3", "x": b"file"}
    new = {"a/b.yaml": b"changed", "inventory/00.yaml": b"3a", "inventory/01.yaml": b"3b", "x/y": b"folder now"}
    outcomes: list[bool] = []
    done = False
    for number in range(200):
        folder = tmp_path / str(number)
        state = on(folder)
        head = state.commit(change(None, old))
        with pytest.MonkeyPatch.context() as patch:
            killed_at(patch, number)
            try:
                state.commit(change(head, new, remove=("a/c.yaml", "inventory", "x")))
                done = True
            except Killed:
                done = False
        # Another process comes; it may be killed as well while it finishes what was begun.
        for again in range(number % 7):
            with pytest.MonkeyPatch.context() as patch:
                killed_at(patch, again)
                with contextlib.suppress(Killed):
                    on(folder).fetch()
        fresh = on(folder)
        now = fresh.fetch()[BRANCH]
        assert files_in(folder) in (old, new)
        outcomes.append(files_in(folder) == new)
        assert outcomes[-1] or not done
        assert not [entry for entry in folder.iterdir() if entry.name in (".gitfleet.next", ".gitfleet.journal")]
        if not outcomes[-1]:
            fresh.commit(change(now, new, remove=("a/c.yaml", "inventory", "x")))
            assert files_in(folder) == new
        if done:
            break
    assert done
    assert outcomes == sorted(outcomes), "there is one moment from which on the change holds"
    assert 5 < outcomes.count(False) < len(outcomes) - 5


names = st.sampled_from(["a", "b", "a/b", "a/c", "b/d/e", "c/d", "c/d/e"])


def fits(paths: Mapping[str, bytes]) -> bool:
    return not any(f"{one}/" == other[: len(one) + 1] for one in paths for other in paths)


trees = st.dictionaries(names, st.sampled_from([b"", b"1", b"22"]), min_size=1, max_size=5).filter(fits)


@settings(max_examples=60)
@given(st.lists(trees, min_size=2, max_size=5), st.booleans())
@example([{"a/b": b"1", "a/c": b"2"}, {"a/b": b"1"}], True)
def test_the_folder_holds_what_a_branch_would(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, bytes]], whole_folders: bool
) -> None:
    folder, repo = tmp_path_factory.mktemp("state"), MemoryRepo()
    state = on(folder)
    head: str | None = None
    oid: str | None = None
    before: dict[str, bytes] = {}
    for wanted in states:
        gone = tuple(path.partition("/")[0] if whole_folders else path for path in before if path not in wanted)
        head = state.commit(change(head, wanted, remove=gone))
        oid = repo.commit(change(oid, wanted, remove=gone))
        assert files_in(folder) == dict(repo.files(BRANCH)) == wanted
        before = wanted


# -- whole runs


@dataclass(slots=True)
class FolderWorld(World):
    """A world that keeps its state in a folder, as wiring builds it for `run --state-dir`."""

    folder: Path = Path()
    builder: RecordingBuilder = field(default_factory=RecordingBuilder)

    def start(self, checkpoint: Checkpoint = nothing) -> Driver:
        """A process that knows nothing but the remote and the folder; without a folder, nothing but the remote."""
        driver = World.start(self, checkpoint)
        state = StateDirectory(self.folder, BRANCH, self.repo)
        reader = state if self.folder != Path() else self.repo
        driver.repository.desired_trees = DesiredTrees(
            reader, MemoryCache(), Limits(), builds=builds_with(self.builder)
        )
        writer = state if self.folder != Path() else self.repo
        driver.repository.reader = reader
        driver.repository.states = StateBranch(
            reader, writer, StateTrees(reader, driver.repository.desired_trees, Limits())
        )
        return driver


def play(world: FolderWorld, *, restarts: bool = False) -> None:
    """Some commits: plain and built payload, a fault that is held, and a removal."""
    world.commit(
        *(member_cluster(name) for name in ("eu-1", "us-1")),
        namespace("shop"),
        config_map("shop", "plain", {"k": "1"}),
        placement("shop", policy=pick_fixed("eu-1", "us-1")),
    )
    folder = "resources/app"
    built, newer = (to_yaml(config_map("shop", "built", {"k": value})) for value in "12")
    for files in (
        {f"{folder}/kustomization.yaml": "resources: [a.yaml]\n", f"{folder}/a.yaml": built},
        {"resources/shop/configmap-plain.yaml": "kind: [\n"},
        {f"{folder}/kustomization.yaml": "resources: [\n"},
        {f"{folder}/a.yaml": newer, f"{folder}/kustomization.yaml": "resources: [a.yaml]\n"},
        {"resources/shop/configmap-plain.yaml": None},
    ):
        if restarts:
            world.restart()
        world.settle()
        world.write(files)
    if restarts:
        world.restart()
    world.settle()


def test_a_run_goes_on_after_every_restart(tmp_path: Path) -> None:
    branch, folder = FolderWorld(), FolderWorld(folder=tmp_path)
    play(branch)
    play(folder, restarts=True)
    assert set(folder.repo.fetch()) == {"main"}, "nothing is pushed"
    assert files_in(tmp_path) == dict(branch.repo.files(BRANCH))
    for cluster in ("eu-1", "us-1"):
        assert folder.live(cluster, "ConfigMap", "plain") is None
        built = folder.live(cluster, "ConfigMap", "built")
        assert built is not None and built["data"] == {"k": "2"}


def test_a_second_run_with_no_change_writes_nothing(tmp_path: Path) -> None:
    world = FolderWorld(folder=tmp_path)
    play(world)
    before = {path: path.stat() for path in tmp_path.rglob("*") if path.name != ".gitfleet.lock"}
    world.restart()
    result = world.driver.reconcile()
    assert (result.changed, result.settled) == (False, True)
    assert {path: path.stat() for path in tmp_path.rglob("*") if path.name != ".gitfleet.lock"} == before


def test_a_file_that_cannot_be_used_stops_everything_until_it_is_put_back(tmp_path: Path) -> None:
    world = FolderWorld(folder=tmp_path)
    play(world)
    path = tmp_path / "inventory/eu-1/all.yaml"
    sound = path.read_text()
    path.write_text("nonsense")
    before = len(world.happenings)
    sentence = StateText.STATE_BRANCH_FILE_CANNOT_USED(path="inventory/eu-1/all.yaml", reason="")
    with pytest.raises(BadInput, match=re.escape(sentence)) as raised:
        world.driver.reconcile()
    assert raised.value.hint == BranchesText.STATE_FOLDER_START_AGAIN() and len(world.happenings) == before
    path.write_text(sound)
    world.settle()
    assert len(world.happenings) == before
