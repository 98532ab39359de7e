"""The files of a folder under git's blob ids: a file that did not change is not read again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import RetryLater
from gitfleet.formats.git_names import blob_id

_UNSURE = 2_000_000_000
"""So many nanoseconds after a change the clock of the coarsest file system has certainly gone on."""
Stamp = tuple[int, int, int, int]
"""inode, size, time of the content's and of the inode's last change: the last one cannot be set back."""


@dataclass(frozen=True, slots=True)
class FolderFile:
    """One file as it was when it was read: its blob id, and what shows that it is still the same. A file that had just
    been changed then may change once more within the same stamp, so it is not `sure`."""

    oid: str
    size: int
    stamp: Stamp
    sure: bool


class FolderFiles:
    """The ordinary files below a folder by path, as they were at the last reading.

    What begins with a dot at the top, and what is reached through a link, is not read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._head: str | None = None
        self._paths: dict[str, str] = {}
        self.known: dict[str, FolderFile] = {}

    def observe(self, now: int | None) -> None:
        """List the folder and read what changed; `now` is the file system's own time in nanoseconds, None when it is
        not known, and then everything is read. OSError as the file system raises it."""
        files: dict[str, FolderFile] = {}
        for folder, folders, names in os.walk(self._folder, onerror=_raise):
            inside = os.path.relpath(folder, self._folder)
            at_top = inside == "."
            folders[:] = [name for name in folders if not (at_top and name.startswith("."))]
            for name in names:
                if not (at_top and name.startswith(".")):
                    path = name if at_top else f"{inside}/{name}".replace(os.sep, "/")
                    file = self._file(path, now)
                    if file is not None:
                        files[path] = file
        self.known = dict(sorted(files.items()))
        self._paths = {file.oid: path for path, file in self.known.items()}
        text = "\n".join(f"{file.oid} {path}" for path, file in self.known.items())
        digest = hashlib.sha256(os.fsencode(text)).hexdigest()
        self._head = f"dir:{digest}" if self.known else None

    def head(self) -> str | None:
        """What names the files as they were at the last reading; None when there were none."""
        return self._head

    def has(self, path: str, content: bytes) -> bool:
        """Whether a file had this content at the last reading."""
        return path in self.known and self.known[path].oid == blob_id(content)

    def read(self, oids: Collection[str]) -> dict[str, bytes]:
        """The contents of those ids that files had at the last reading; RetryLater when one has changed since."""
        contents: dict[str, bytes] = {}
        for oid in oids:
            if (path := self._paths.get(oid)) is not None:
                content = (self._folder / path).read_bytes()
                if blob_id(content) != oid:
                    raise RetryLater(AdaptersText.CHANGED_WHILE_READ(path=self._folder / path))
                contents[oid] = content
        return contents

    def _file(self, path: str, now: int | None) -> FolderFile | None:
        place = self._folder / path
        try:
            status = place.lstat()
            if not place.is_file() or place.is_symlink():
                return None
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            previous = self.known.get(path)
            if previous is not None and previous.sure and previous.stamp == stamp:
                return previous
            sure = now is not None and status.st_ctime_ns + _UNSURE < now
            return FolderFile(blob_id(place.read_bytes()), status.st_size, stamp, sure)
        except FileNotFoundError:
            return None  # it went while the folder was read


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
