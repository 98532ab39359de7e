"""Mirrors and caches that a full disk, a crash, a bad disk or a hostile hand garbled: the next reconcile works."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.blob_cache import SqliteBlobCache
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.errors import RetryLater
from tests.adapters.git.hubs import STATE, bare, change, git

FILES = {f"d{number % 5}/f{number}.yaml": b"kind: X %d\n" % number * 40 for number in range(60)}
CASES = 200


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote, and a cache folder as a process that reconciled leaves it: mirror with packs and loose objects, parsed
    files on disk."""
    top = tmp_path_factory.mktemp("sound")
    path = bare(top / "hub.git")
    remote = GitRemote(str(path), top / "cache" / "mirror")
    head = remote.commit(change("main", None, FILES))
    state = None
    for number in range(4):
        head = remote.commit(change("main", head, {f"new{number}": b"%d" % number}))
        state = remote.commit(change(STATE, state, {f"s{number}": b"%d" % number}))
    writer = GitRemote(str(path), top / "writer")
    writer.fetch()
    writer.commit(change("main", head, {"theirs": b"x"}))
    remote.fetch(("main", STATE))
    git(top / "cache" / "mirror" / "mirror.git", "pack-refs")
    cache = SqliteBlobCache(top / "cache" / "parsed.sqlite3")
    cache.put_many({f"k{number}": b"v%d" % number * 200 for number in range(300)})
    cache.close()
    return top


def truncate(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size + 1)])


def zero(path: Path, chance: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 8))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(data))


def scribble(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(chance.randrange(1, 5000)))


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def remove_folder(path: Path, chance: random.Random) -> None:
    shutil.rmtree(path.parent)


def become_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x")


def become_link(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to("/dev/null" if chance.random() < 0.5 else "/nowhere")


def leave_a_lock(path: Path, chance: random.Random) -> None:
    path.with_name(path.name + ".lock").write_text("")


def take_rights(path: Path, chance: random.Random) -> None:
    path.chmod(0)
    path.parent.chmod(0o500)


HARMS: list[Callable[[Path, random.Random], None]] = [
    truncate, zero, empty, flip, flip, scribble, remove, remove_folder, become_folder, become_link, leave_a_lock,
    take_rights,
]  # fmt: skip


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.soak("mutations")) for n in range(1, 10))])
def test_garbled_caches_and_mirrors_are_repaired_without_a_person(sound: Path, tmp_path: Path, block: int) -> None:
    for case in range(block * CASES // 10, (block + 1) * CASES // 10):
        chance = random.Random(case)
        top = tmp_path / str(case)
        shutil.copytree(sound, top, symlinks=True)
        within = top / "cache" / ("mirror" if chance.random() < 0.85 else "")
        own = {"lock", "gitfleet-mirror"}
        files = sorted(path for path in within.rglob("*") if path.is_file() and path.name not in own)
        done = []
        for _ in range(chance.choice((1, 1, 3))):
            path, harm = chance.choice(files), chance.choice(HARMS)
            if path.is_file() and not path.is_symlink():
                if harm is remove_folder and path.parent.name in ("cache", "mirror"):
                    harm = remove
                path.chmod(0o600)
                harm(path, chance)
                done.append(f"{harm.__name__} {path.relative_to(top)}")
        works(top, f"case {case}: {done}")
        shutil.rmtree(top)


def works(top: Path, case: str) -> None:
    """One reconcile's reading and writing, tried again as the loop does."""
    cache = SqliteBlobCache(top / "cache" / "parsed.sqlite3")
    found = cache.get_many([f"k{number}" for number in range(300)])
    assert all(value == b"v%d" % int(key[1:]) * 200 for key, value in found.items()), case
    cache.put_many({"new": b"1"})
    if cache.get_many(["new"]) != {"new": b"1"}:  # the first use of a broken file begins a new one
        cache.put_many({"new": b"1"})
        assert cache.get_many(["new"]) == {"new": b"1"}, case
    cache.close()
    for tries_left in reversed(range(3)):
        try:
            remote = GitRemote(str(top / "hub.git"), top / "cache" / "mirror")
            heads = remote.fetch(("main", STATE))
            tree = remote.list_tree(heads["main"])
            blobs = remote.read_blobs([entry.oid for entry in tree.values()], limit=1 << 20)
            assert {path: blobs[tree[path].oid] for path in FILES} == FILES, case
            assert remote.list_tree(heads[STATE]).keys() == {"s0", "s1", "s2", "s3"}, case
            second = remote.commit(change(STATE, heads[STATE], {"after": b"1"}))
            assert remote.fetch(("main", STATE))[STATE] == second, case
            return
        except RetryLater as error:
            assert tries_left, f"{case}: {error!r}"
        except Exception as error:
            raise AssertionError(f"{case}: {error!r}") from error


TRAP = """
[core]
\trepositoryformatversion = 0
\tbare = true
\thooksPath = {trap}
\tfsmonitor = {trap}/program
\tsshCommand = {trap}/program
\tgitProxy = {trap}/program
\taskPass = {trap}/program
\tpager = {trap}/program
\talternateRefsCommand = {trap}/program
\tattributesFile = {trap}/attributes
[credential]
\thelper = !{trap}/program
[diff]
\texternal = {trap}/program
[remote "{url}"]
\tuploadpack = {trap}/program
\treceivepack = {trap}/program
[url "/nowhere/else"]
\tinsteadOf = {url}
[gpg]
\tprogram = {trap}/program
[uploadpack]
\tpackObjectsHook = {trap}/program
[include]
\tpath = {trap}/more
[extensions]
\tpartialClone = evil
[alias]
\tfetch = !{trap}/program
"""


@pytest.mark.parametrize("place", ["config", "commondir", "alternates", "link"])
def test_a_hostile_mirror_runs_nothing_and_leads_nowhere(sound: Path, tmp_path: Path, place: str) -> None:
    top = Path(shutil.copytree(sound, tmp_path / "top"))
    git_dir, trap, sprung = top / "cache" / "mirror" / "mirror.git", tmp_path / "trap", tmp_path / "sprung"
    trap.mkdir()
    config = TRAP.format(trap=trap, url=top / "hub.git")
    (trap / "more").write_text("")
    for name in ("program", "pre-push", "reference-transaction", "post-fetch", "update", "pre-receive", "pre-auto-gc"):
        (trap / name).write_text(f"#!/bin/sh\ntouch {sprung}\nexit 1\n")
        (trap / name).chmod(0o755)
    shutil.copytree(trap, git_dir / "hooks")
    evil = Path(shutil.copytree(git_dir, trap / "evil.git"))
    (evil / "config").write_text(config)
    match place:
        case "config":
            (git_dir / "config").write_text(config)
        case "commondir":
            (git_dir / "commondir").write_text(f"{evil}\n")
        case "alternates":
            (git_dir / "objects" / "info").mkdir(exist_ok=True)
            (git_dir / "objects" / "info" / "alternates").write_text(f"{evil}/objects\n")
        case _:
            shutil.rmtree(git_dir)
            git_dir.symlink_to(evil)
    running = GitRemote(
        str(top / "hub.git"), top / "cache" / "mirror", use_git_config=True, bounds=Bounds(lock_seconds=9)
    )
    works(top, place)
    assert running.fetch()
    assert not sprung.exists()
    assert not git_dir.is_symlink() and not (git_dir / "commondir").exists() and not (git_dir / "hooks").exists()
    assert str(trap) not in (git_dir / "config").read_text()
    assert not (git_dir / "objects" / "info" / "alternates").exists()
    assert list(evil.iterdir()), "what was linked to is left alone"
