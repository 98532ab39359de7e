"""BlobCache on one SQLite file: shared by threads and processes, bounded, and thrown away rather than trusted."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from gitfleet.formats.canonical_json import json_text

_FORMAT = 1
_BUSY_SECONDS = 5.0
_LARGEST_SHARE = 0.25
_SUFFIXES = ("", "-wal", "-shm")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS entries"
    " (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL, value BLOB NOT NULL)"
)
_USED_BYTES = (
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_DROP_OLDEST = "DELETE FROM entries WHERE id <= (SELECT min(id) + (max(id) - min(id)) / 10 FROM entries)"
_log = logging.getLogger(__name__)


class SqliteBlobCache:
    """Bytes by key in the file at `path`, at most about `max_bytes` of them; the oldest entries go first.

    Never raises: what cannot be read is not there, what cannot be written is lost, and a broken file is deleted and
    recreated (a warning in the log says so). Each value carries a checksum, so damage never becomes a value.
    One instance may be used by several threads, and one file by several processes.
    """

    def __init__(self, path: Path, *, max_bytes: int = 512 << 20) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        """The entries that are there; no errors."""
        distinct = list(keys)
        if not distinct:
            return {}
        question = "SELECT key, crc, value FROM entries WHERE key IN (SELECT value FROM json_each(?))"
        with self._lock:
            try:
                rows = self._open().execute(question, (json_text(distinct),)).fetchall()
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
                return {}
        return {key: value for key, crc, value in rows if isinstance(value, bytes) and _crc(key, value) == crc}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep entries; one larger than a quarter of the whole is not kept. No errors."""
        largest = self._max_bytes * _LARGEST_SHARE
        rows = [(key, _crc(key, value), value) for key, value in entries.items() if len(value) <= largest]
        if not rows:
            return
        with self._lock:
            try:
                database = self._open()
                with database:
                    database.execute("BEGIN IMMEDIATE")
                    # A key never changes its meaning, so an entry that is there needs no new write.
                    database.executemany("INSERT OR IGNORE INTO entries (key, crc, value) VALUES (?, ?, ?)", rows)
                    self._evict(database)
            except (sqlite3.Error, OSError) as error:
                self._recover(error)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _evict(self, database: sqlite3.Connection) -> None:
        """Drop the oldest tenth while there is too much."""
        dropped = 1
        while dropped and database.execute(_USED_BYTES).fetchone() > (self._max_bytes,):
            dropped = database.execute(_DROP_OLDEST).rowcount

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._keep_private()
            # autocommit (isolation_level None): transactions are begun where they are meant.
            database = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                self._prepare(database)
            except BaseException:
                database.close()
                raise
            self._database = database
        return self._database

    def _keep_private(self) -> None:
        """Nobody else may read the folder and the files: they hold what Secrets say. SQLite gives -wal and -shm the
        rights of the file itself."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = [self._path.with_name(self._path.name + suffix) for suffix in _SUFFIXES]
        for file in files:
            if file.is_symlink():
                file.unlink()
            elif file.is_dir():
                shutil.rmtree(file)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        for path, rights in ((self._path.parent, 0o700), *((file, 0o600) for file in files)):
            with suppress(FileNotFoundError, PermissionError):  # somebody else's folder, such as /tmp, stays as it is
                if path.stat().st_mode & 0o077:
                    path.chmod(rights)

    def _prepare(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, _FORMAT):
            raise sqlite3.DatabaseError(f"format {version} instead of {_FORMAT}")
        database.execute(_SCHEMA)
        if version == 0:
            database.execute(f"PRAGMA user_version = {_FORMAT}")

    def _recover(self, error: Exception) -> None:
        passing = not isinstance(error, sqlite3.DatabaseError) or isinstance(
            error, (sqlite3.OperationalError, sqlite3.ProgrammingError)
        )
        _log.warning(
            "blob cache is not usable for now" if passing else "blob cache is damaged and recreated",
            extra={"path": str(self._path), "reason": str(error)},
        )
        self._close()
        if not passing:
            for suffix in _SUFFIXES:
                with suppress(OSError):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _close(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None


def _crc(key: str, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key.encode()))
