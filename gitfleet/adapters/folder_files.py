"""The files of a folder under git's blob ids."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from gitfleet.formats.git_names import blob_id
from gitfleet.ports.repos import TreeEntry


class FolderFiles:
    """The ordinary files below a folder by path, as they were at the last reading.

    What begins with a dot at the top, and what is reached through a link, is not read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.contents: dict[str, bytes] = {}
        self.entries: dict[str, TreeEntry] = {}

    def observe(self) -> None:
        """Read the folder. OSError as the file system raises it."""
        files: dict[str, TreeEntry] = {}
        contents: dict[str, bytes] = {}
        for folder, folders, names in os.walk(self._folder, onerror=_raise):
            if folder == str(self._folder):
                folders[:], names = ([name for name in part if not name.startswith(".")] for part in (folders, names))
            for place in (Path(folder, name) for name in names):
                if place.is_file() and not place.is_symlink():
                    content = place.read_bytes()
                    entry = TreeEntry("100644", blob_id(content), len(content))
                    files[place.relative_to(self._folder).as_posix()] = entry
                    contents[entry.oid] = content
        self.entries = dict(sorted(files.items()))
        self.contents = contents

    def head(self) -> str | None:
        """What names the files as they were at the last reading; None when there were none."""
        text = "\n".join(f"{entry.oid} {path}" for path, entry in self.entries.items())
        return f"dir:{hashlib.sha256(os.fsencode(text)).hexdigest()}" if self.entries else None

    def has(self, path: str, content: bytes) -> bool:
        """Whether a file had this content at the last reading."""
        return path in self.entries and self.entries[path].oid == blob_id(content)


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
