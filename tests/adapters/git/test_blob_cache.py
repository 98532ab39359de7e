"""The blob cache: bounded, shared, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitfleet.adapters.blob_cache import SqliteBlobCache
from gitfleet.ports.caches import BlobCache


def test_entries_survive_a_restart(tmp_path: Path) -> None:
    cache: BlobCache = SqliteBlobCache(tmp_path / "deep" / "cache.db")
    cache.put_many({"a": b"1", "b": b"", "c": bytes(range(256))})
    assert cache.get_many(["a", "c", "none", "b"]) == {"a": b"1", "b": b"", "c": bytes(range(256))}
    again = SqliteBlobCache(tmp_path / "deep" / "cache.db")
    assert again.get_many(iter(["a"])) == {"a": b"1"}
    assert again.get_many([]) == {}


def test_the_oldest_go_first_and_the_giant_is_not_kept(tmp_path: Path) -> None:
    cache = SqliteBlobCache(tmp_path / "cache.db", max_bytes=100_000)
    for number in range(30):
        cache.put_many({f"k{number:02}": bytes(10_000)})
    kept = sorted(cache.get_many([f"k{number:02}" for number in range(30)]))
    assert kept == [f"k{number:02}" for number in range(30 - len(kept), 30)]
    assert 6 <= len(kept) <= 10
    cache.put_many({"giant": bytes(25_001)})
    assert cache.get_many(["giant"]) == {}


@pytest.mark.parametrize("harm", [b"", b"not a database, not at all" * 100, None, "middle"])
def test_a_broken_file_is_begun_anew(
    tmp_path: Path, harm: bytes | str | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.db"
    cache = SqliteBlobCache(path)
    cache.put_many({f"k{number}": os.urandom(3000) for number in range(50)})
    cache.close()
    if isinstance(harm, bytes):
        path.write_bytes(harm)
    elif harm is None:
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 99")
    else:
        data = bytearray(path.read_bytes())
        data[4096:-4096] = os.urandom(len(data) - 8192)
        path.write_bytes(bytes(data))
    fresh = SqliteBlobCache(path)
    assert isinstance(fresh.get_many(["k1"]), dict)
    fresh.put_many({"new": b"1"})
    fresh.put_many({"new": b"1"})
    assert fresh.get_many(["new"]) == {"new": b"1"}
    if harm or harm is None:
        assert "recreated" in caplog.text


def test_a_folder_in_the_place_of_the_file_goes(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    (path / "deep").mkdir(parents=True)
    cache = SqliteBlobCache(path)
    cache.put_many({"new": b"1"})
    assert cache.get_many(["new"]) == {"new": b"1"}


def test_a_file_without_its_tables_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    SqliteBlobCache(path).put_many({"a": b"1"})
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE entries")
    cache = SqliteBlobCache(path)
    cache.get_many(["a"])
    cache.put_many({"a": b"2"})
    assert cache.get_many(["a"]) == {"a": b"2"}


def test_a_changed_value_is_not_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    cache = SqliteBlobCache(path)
    cache.put_many({"a": b"true", "b": b"fine"})
    with sqlite3.connect(path) as database:
        database.execute("UPDATE entries SET value = ? WHERE key = 'a'", (b"lies",))
    assert cache.get_many(["a", "b"]) == {"b": b"fine"}


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    cache = SqliteBlobCache(tmp_path / "file" / "cache.db")
    cache.put_many({"a": b"1"})
    assert cache.get_many(["a"]) == {}


WORK = """
import sys
from pathlib import Path
from gitfleet.adapters.blob_cache import SqliteBlobCache
cache = SqliteBlobCache(Path(sys.argv[1]), max_bytes=200_000)
for number in range(60):
    cache.put_many({f"{sys.argv[2]}-{number}-{n}": b"%d" % n * 100 for n in range(10)})
    assert all(value == key.rsplit("-", 1)[1].encode() * 100 for key, value in cache.get_many(
        f"{w}-{number}-{n}" for w in "ab" for n in range(10)).items())
"""


def test_threads_and_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    root = Path(__file__).parents[3]
    processes = [subprocess.Popen([sys.executable, "-c", WORK, str(path), name], cwd=root) for name in "ab"]
    cache = SqliteBlobCache(path, max_bytes=200_000)

    def write(number: int) -> None:
        cache.put_many({f"t{number}": b"t%d" % number})
        cache.get_many(f"t{n}" for n in range(number))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(100)))
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT sum(length(value)) FROM entries").fetchone() <= (200_000,)


def test_nobody_else_can_read_the_folder_and_the_files(tmp_path: Path) -> None:
    """They hold what Secrets say; a folder of an earlier version is narrowed."""
    for folder in (tmp_path / "new", tmp_path / "old"):
        path = folder / "cache.db"
        if folder.name == "old":
            folder.mkdir(mode=0o755)
            with sqlite3.connect(path) as database:
                database.execute("PRAGMA journal_mode = WAL")
            path.chmod(0o644)
        cache = SqliteBlobCache(path)
        cache.put_many({"a": b"1"})
        rights = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
        assert rights == {"cache.db": 0o600, "cache.db-wal": 0o600, "cache.db-shm": 0o600}
        assert folder.stat().st_mode & 0o777 == 0o700
        assert SqliteBlobCache(path).get_many(["a"]) == {"a": b"1"}
