"""`run --state-dir`: the state tree as plain files in a folder instead of commits on a branch.

Everything else is read from the real repository. The folder's "head" is a digest of its files, so that compare-and-swap
keeps its meaning for whoever edits or shares the folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from filelock import FileLock

from gitfleet.errors import BadInput, LostRace
from gitfleet.ports.repos import BranchChange, RepoReader, TreeEntry

_LOCK = ".gitfleet.lock"


class StateDirectory:
    """RepoReader and RepoWriter in which one branch is a folder of plain files; every other branch is the
    repository's."""

    def __init__(self, folder: Path, branch: str, repo: RepoReader) -> None:
        self._folder = folder
        self._branch = branch
        self._repo = repo
        self._blobs: dict[str, bytes] = {}

    def fetch(self) -> Mapping[str, str]:
        """The repository's branches, with the folder in the place of the state branch."""
        heads = {name: oid for name, oid in self._repo.fetch().items() if name != self._branch}
        files = self._files()
        return {**heads, self._branch: self._head(files)} if files else heads

    def resolve(self, revision: str) -> str:
        """As the repository does."""
        return self._repo.resolve(revision)

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """The folder's files for its own head, else the repository's tree."""
        if not commit.startswith("dir:"):
            return self._repo.list_tree(commit, under)
        files = self._files()
        return {path: entry for path, entry in files.items() if not under or path.startswith(under.rstrip("/") + "/")}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """Blobs of the folder's files, and of the repository."""
        wanted = set(oids)
        here = {oid: self._blobs[oid] for oid in wanted if oid in self._blobs}
        rest = wanted - set(here)
        return {**here, **(self._repo.read_blobs(rest, limit=limit) if rest else {})}

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """As the repository says."""
        return self._repo.changed_paths(old, new)

    def clone_reader(self) -> RepoReader:
        """Another one on the same folder."""
        return StateDirectory(self._folder, self._branch, self._repo.clone_reader())

    def commit(self, change: BranchChange) -> str:
        """Write the change as files if the folder still is what was read; its new head."""
        if change.branch != self._branch:
            raise BadInput(f'with --state-dir only the state branch can be written, not "{change.branch}"')
        self._folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder / _LOCK):
            files = self._files()
            if (self._head(files) if files else None) != change.expected:
                raise LostRace(f"{self._folder} was changed by somebody else")
            linked = self.read_blobs({entry.oid for entry in change.link.values()}, limit=1 << 30)
            for path in change.remove:
                self._remove(path)
            contents = {**change.write, **{path: linked[entry.oid] for path, entry in change.link.items()}}
            for path, content in contents.items():
                target = self._place(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                scratch = target.with_name(f"{target.name}.part")
                scratch.write_bytes(content)
                scratch.replace(target)
            return self._head(self._files())

    def commit_message(self, commit: str) -> str:
        """Plain files have no message."""
        return ""

    def _place(self, path: str) -> Path:
        target = (self._folder / path).resolve()
        if not target.is_relative_to(self._folder.resolve()):
            raise BadInput(f'"{path}" leads out of {self._folder}')
        return target

    def _remove(self, path: str) -> None:
        target = self._place(path)
        if target.is_dir():
            shutil.rmtree(target)
        elif target.exists():
            target.unlink()

    def _files(self) -> dict[str, TreeEntry]:
        found: dict[str, TreeEntry] = {}
        for file in sorted(self._folder.rglob("*")) if self._folder.is_dir() else []:
            path = file.relative_to(self._folder).as_posix()
            if file.is_symlink() or not file.is_file() or path == _LOCK or path.endswith(".part"):
                continue
            content = file.read_bytes()
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            self._blobs[oid] = content
            found[path] = TreeEntry("100644", oid, len(content))
        return found

    def _head(self, files: Mapping[str, TreeEntry]) -> str:
        text = "\n".join(f"{entry.oid} {path}" for path, entry in sorted(files.items()))
        return f"dir:{hashlib.sha256(text.encode()).hexdigest()}"
