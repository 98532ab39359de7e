"""The mirror on disk: races, killed processes, damage, many threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import LostRace, RetryLater
from gitfleet.formats.git_names import blob_id
from tests.adapters.git.hubs import STATE, WHEN, Hub, bare, change, git, unsound
from tests.texts import part


def mirror_of(hub: Hub, name: str = "one") -> Path:
    assert hub.path
    return hub.path.parent / name / "mirror.git"


def test_a_lost_race_leaves_nothing_behind(file_hub: Hub) -> None:
    assert file_hub.path
    first = file_hub.repo.commit(change(STATE, None, {"f": b"0"}))
    file_hub.other.commit(change(STATE, first, {"f": b"1"}))
    file_hub.repo.fetch()
    mirror = mirror_of(file_hub)
    refs, remote_objects = git(mirror, "for-each-ref"), git(file_hub.path, "count-objects", "-v")
    with pytest.raises(LostRace):
        file_hub.repo.commit(change(STATE, first, {"f": b"2"}))
    assert git(mirror, "for-each-ref") == refs
    assert git(file_hub.path, "count-objects", "-v") == remote_objects
    assert not list(mirror.rglob("*.lock"))
    assert not list(mirror.glob("fast_import_crash_*"))
    assert unsound(mirror) == []
    assert unsound(file_hub.path) == []


def test_housekeeping_packs_what_piled_up(file_hub: Hub) -> None:
    assert isinstance(file_hub.repo, GitRemote)
    head = None
    for number in range(24):
        files = {f"d{number}/{n}": b"%d %d" % (number, n) for n in range(90)}
        head = file_hub.repo.commit(change(STATE, head, files))
    loose = len(list(mirror_of(file_hub).glob("objects/??/*")))
    file_hub.repo.housekeep()
    after = len(list(mirror_of(file_hub).glob("objects/??/*")))
    assert loose > 2000
    assert after < loose / 10
    assert file_hub.repo.list_tree(str(head))


def test_leftovers_of_a_killed_process_do_not_stop_the_next(file_hub: Hub) -> None:
    first = file_hub.repo.commit(change(STATE, None, {"f": b"0"}))
    second = file_hub.other.commit(change(STATE, first, {"f": b"1"}))
    mirror = mirror_of(file_hub)
    for name in (
        "config.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "gc.pid", "objects/pack/tmp_pack_x",
        "refs/gitfleet/branches/x.lock", "refs/gitfleet/pending.lock", "fast_import_crash_1",
    ):  # fmt: skip
        (mirror / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / name).write_text("")
    (mirror / "refs/gitfleet/pending").write_text(first + "\n")
    (mirror.parent / "fresh.git").mkdir()
    (mirror.parent / "old.git").mkdir()
    for remote in (file_hub.repo, GitRemote(str(file_hub.path), mirror.parent)):  # one that runs on, and a new one
        assert remote.fetch() == {STATE: second}
    third = file_hub.repo.commit(change(STATE, second, {"f": b"2"}))
    assert file_hub.other.fetch() == {STATE: third}
    assert not list(mirror.rglob("*.lock"))


@pytest.mark.table("mutations")
@pytest.mark.parametrize(
    "harm",
    [
        "rm -r objects/pack objects/??", "rm -r objects", "rm config", ": > config", "echo '[core' > config", "rm HEAD",
        ": > HEAD", "echo 1111111111111111111111111111111111111111 > $(ls refs/gitfleet/branches/*)",
        "rm -r refs",
        "for f in objects/??/* objects/pack/*; do chmod +w $f; echo garbage > $f; done", "echo x > packed-refs",
        "for f in objects/??/* objects/pack/*.pack; do chmod +w $f; : > $f; done",
    ],
)  # fmt: skip
@pytest.mark.parametrize("again", [True, False])
def test_a_damaged_mirror_is_made_anew(file_hub: Hub, harm: str, again: bool) -> None:
    """`again`: a process that runs on; otherwise a new one."""
    first = file_hub.seed({f"f{n}": b"%d" % n for n in range(150)})
    file_hub.repo.fetch()
    mirror = mirror_of(file_hub)
    subprocess.run(["sh", "-c", harm], cwd=mirror, check=False, capture_output=True)
    remote = file_hub.repo if again else GitRemote(str(file_hub.path), mirror.parent)
    second = file_hub.seed({"new": b"n"})
    for attempt in range(4):  # each attempt is a reconcile of the loop
        try:
            assert remote.fetch() == {"main": second}
            assert remote.read_blobs([blob_id(b"n"), blob_id(b"7")], limit=9) == {
                blob_id(b"n"): b"n",
                blob_id(b"7"): b"7",
            }
            assert len(remote.list_tree(second)) == 151
            assert remote.changed_paths(first, second)
            break
        except RetryLater:
            assert attempt < 3
    third = remote.commit(change("main", second, {"newer": b"1"}))
    assert file_hub.other.fetch() == {"main": third}


def test_bytes_that_are_not_what_their_id_says_are_never_handed_out(file_hub: Hub) -> None:
    commit = file_hub.seed({"a": b"good", "b": b"evil"})
    file_hub.repo.fetch()
    good, evil = blob_id(b"good"), blob_id(b"evil")
    objects = mirror_of(file_hub) / "objects"
    for pack in objects.glob("pack/*.pack"):
        packed = pack.read_bytes()
        pack.unlink()
        git(objects.parent, "unpack-objects", "-q", stdin=packed)
    target = objects / good[:2] / good[2:]
    target.chmod(0o644)
    target.write_bytes((objects / evil[:2] / evil[2:]).read_bytes())
    with pytest.raises(RetryLater, match=part(GitText.MIRROR_DAMAGED)):
        file_hub.repo.read_blobs([good], limit=9)
    file_hub.repo.fetch()
    assert file_hub.repo.read_blobs([good], limit=9) == {good: b"good"}
    assert list(file_hub.repo.list_tree(commit)) == ["a", "b"]


def test_each_thread_has_its_own_reader(file_hub: Hub) -> None:
    files = {f"d{n % 9}/f{n}": b"%d" % n for n in range(300)}
    commit = file_hub.seed(files)
    file_hub.repo.fetch()
    readers = [file_hub.repo.clone_reader() for _ in range(6)]

    def read(number: int) -> bool:
        reader = readers[number]
        for _ in range(4):
            reader.fetch()
            tree = reader.list_tree(commit)
            blobs = reader.read_blobs([entry.oid for entry in tree.values()], limit=99)
            if {path: blobs[entry.oid] for path, entry in tree.items()} != files:
                return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(read, range(6)))


COUNT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from gitfleet.adapters.git import GitRemote
from gitfleet.errors import LostRace
from gitfleet.ports.repos import BranchChange
url, mirror, name, times = sys.argv[1:]
remote, done = GitRemote(url, Path(mirror)), 0
while done < int(times):
    head = remote.fetch().get("count")
    number, mine = 0, 0
    if head:
        tree = remote.list_tree(head)
        number = int(remote.read_blobs([tree["n"].oid], limit=99)[tree["n"].oid])
    try:
        files = {"n": b"%d" % (number + 1), name: b"%d" % done}
        remote.commit(BranchChange(branch="count", expected=head, subject=name, write=files,
                                   when=datetime(2026, 1, 1, tzinfo=UTC)))
        done += 1
    except LostRace:
        pass
"""


@pytest.mark.parametrize("shared", [True, pytest.param(False, marks=pytest.mark.soak("races"))])
def test_processes_never_lose_an_update(tmp_path: Path, shared: bool) -> None:
    path = bare(tmp_path / "hub.git")
    workers, times = 3, 8
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(path), str(tmp_path / ("m" if shared else f"m{n}")), f"w{n}", str(times)],
            cwd=Path(__file__).parents[3],
        )
        for n in range(workers)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0] * workers
    assert git(path, "show", "count:n") == str(workers * times)
    assert int(git(path, "rev-list", "--count", "count")) == workers * times
    assert unsound(path) == []
    for mirror in tmp_path.glob("m*/mirror.git"):
        assert unsound(mirror) == []


@pytest.mark.soak("crashes")
def test_processes_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    path = bare(tmp_path / "hub.git")
    arguments = [sys.executable, "-c", COUNT, str(path), str(tmp_path / "m"), "w", "1000000"]
    for round_number in range(6):
        process = subprocess.Popen(arguments, cwd=Path(__file__).parents[3], stderr=subprocess.DEVNULL)
        time.sleep(0.5 + round_number * 0.037)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        remote = GitRemote(str(path), tmp_path / "m", bounds=Bounds(lock_seconds=10))
        head = remote.fetch().get("count")
        remote.commit(change("probe", remote.fetch().get("probe"), {"round": b"%d" % round_number}))
        if head:
            (number,) = remote.read_blobs([remote.list_tree(head)["n"].oid], limit=99).values()
            assert int(number) == int(git(path, "rev-list", "--count", head))
    assert unsound(path) == []
    assert unsound(tmp_path / "m" / "mirror.git") == []


def test_waiting_for_the_mirror_has_an_end(file_hub: Hub) -> None:
    occupied = file_hub.repo
    assert isinstance(occupied, GitRemote) and file_hub.path
    hurried = GitRemote(str(file_hub.path), file_hub.path.parent / "one", bounds=Bounds(lock_seconds=0.1))
    entered, leave = threading.Event(), threading.Event()

    def occupy() -> None:
        with occupied._connection.mirror.locked():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=occupy)
    thread.start()
    entered.wait(10)
    with pytest.raises(RetryLater, match=part(GitText.ANOTHER_PROCESS_HOLDS_MIRROR)):
        hurried.commit(change(STATE, None, {"f": b"1"}))
    leave.set()
    thread.join()
    hurried.commit(change(STATE, None, {"f": b"1"}, when=WHEN))
