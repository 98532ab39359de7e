"""`run --state-dir`: the state tree as plain files in a folder instead of commits on a branch.

Everything else is read from the real repository. The folder's "head" is a digest of its files, so that compare-and-swap
keeps its meaning for whoever edits or shares the folder: an edit by hand is seen at the next reading.

A change is all or nothing, whenever the process is killed: it is first laid out beside the files (`.gitfleet.next`),
becomes valid by one rename (`.gitfleet.journal`), and is then moved into place, file by file; whoever comes next
finishes what was begun. A sibling folder that is swapped in would be simpler, but a folder that is mounted (a volume
in a pod) cannot be renamed; and there is no order of plain writes in which a part of the inventory that moves from one
file to another could not be lost in between.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gitfleet.adapters.folder_files import FolderFiles
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput, LostRace, RetryLater
from gitfleet.formats.canonical_json import json_bytes, parse_json
from gitfleet.ports.repos import BranchChange, CommitFacts, RepoReader, TreeEntry

_LOCK = ".gitfleet.lock"
_NEXT = ".gitfleet.next"
_JOURNAL = ".gitfleet.journal"
_REMOVALS = "removals.json"
_WRITES = "files"
_LOCK_SECONDS = 30.0
_MOST_SYNCED_ALONE = 200


class StateDirectory:
    """RepoReader and RepoWriter in which one branch is a folder of plain files; every other branch is the
    repository's. RetryLater for what the file system refuses."""

    def __init__(self, folder: Path, branch: str, repo: RepoReader) -> None:
        self._folder = folder
        self._branch = branch
        self._repo = repo
        self._files = FolderFiles(folder)

    @property
    def repo(self) -> RepoReader:
        """The repository of all other branches."""
        return self._repo

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """The repository's branches, with the folder in the place of the state branch."""
        heads = {name: oid for name, oid in self._repo.fetch(branches).items() if name != self._branch}
        with self._readable_errors():
            self._observe()
        head = self._files.head()
        return {**heads, self._branch: head} if head is not None else heads

    def resolve(self, revision: str) -> str:
        """As the repository does."""
        return self._repo.resolve(revision)

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """The folder's files for its head as it was read last, else the repository's tree."""
        if not commit.startswith("dir:"):
            return self._repo.list_tree(commit, under)
        if commit != self._files.head():
            raise RetryLater(AdaptersText.CHANGED_WHILE_READ(path=self._folder))
        prefix = f"{under.rstrip('/')}/" if under else ""
        return {path: entry for path, entry in self._files.entries.items() if path.startswith(prefix)}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """Blobs of the folder's files, and of the repository."""
        requested = set(oids)
        contents = {oid: self._files.contents[oid] for oid in requested & self._files.contents.keys()}
        missing = requested - contents.keys()
        within_limit = {oid: content for oid, content in contents.items() if len(content) <= limit}
        return {**within_limit, **(self._repo.read_blobs(missing, limit=limit) if missing else {})}

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """As the repository says."""
        return self._repo.changed_paths(old, new)

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """None before the folder's head: plain files have no history; for other commits as the repository says."""
        return () if commit.startswith("dir:") else self._repo.ancestors(commit, most=most)

    def about(self, commit: str) -> CommitFacts:
        """As the repository says: plain files are no commit."""
        return self._repo.about(commit)

    def clone_reader(self) -> RepoReader:
        """Another one on the same folder."""
        return StateDirectory(self._folder, self._branch, self._repo.clone_reader())

    def commit(self, change: BranchChange) -> str:
        """Write the change as files if the folder still is what was read; its new head."""
        if change.branch != self._branch:
            raise BadInput(AdaptersText.ONLY_STATE_BRANCH_WRITTEN(branch=change.branch))
        with self._readable_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._locked():
                self._finish()
                self._files.observe()
                head = self._files.head()
                if head != change.expected:
                    raise LostRace(AdaptersText.CHANGED_BY_SOMEBODY_ELSE(folder=self._folder))
                self._lay_out(change)
                self._finish()
                self._files.observe()
        new_head = self._files.head()
        if new_head is None:
            raise BadInput(AdaptersText.LEAVES_NO_FILE(folder=self._folder))
        return new_head

    def remove_branch(self, branch: str, expected: str) -> None:
        """BadInput: the folder stays, and the repository's branches are only read."""
        raise BadInput(AdaptersText.ONLY_STATE_BRANCH_WRITTEN(branch=branch))

    def _observe(self) -> None:
        """Read the folder while nobody writes to it; one that may only be read is read all the same."""
        if self._folder.is_dir() and os.access(self._folder, os.W_OK):
            with self._locked():
                self._finish()
                self._files.observe()
        else:
            self._files.observe()

    def _lay_out(self, change: BranchChange) -> None:
        """Everything that is to be written and removed, complete beside the files before the first of them moves."""
        linked = self.read_blobs({entry.oid for entry in change.link.values()}, limit=1 << 30)
        contents = {**change.write, **{path: linked[entry.oid] for path, entry in change.link.items()}}
        dropped = {""} if change.base == "" else {path.rstrip("/") for path in change.remove}
        removals = [
            path for path in self._files.entries if path not in contents and not dropped.isdisjoint(_upwards(path))
        ]
        changed = {path: content for path, content in contents.items() if not self._files.has(path, content)}
        for path in (*changed, *removals):
            self._place(path)
        if not changed and not removals:
            return
        scratch = self._folder / _NEXT
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / _WRITES).mkdir(parents=True)
        alone = len(changed) <= _MOST_SYNCED_ALONE
        _write(scratch / _REMOVALS, json_bytes([os.fsencode(path).hex() for path in removals]), sync=alone)
        for path, content in changed.items():
            _write(scratch / _WRITES / path, content, sync=alone)
        if not alone:
            os.sync()
        scratch.rename(self._folder / _JOURNAL)

    def _finish(self) -> None:
        """Bring what was begun to its end; every step may be done twice."""
        shutil.rmtree(self._folder / _NEXT, ignore_errors=True)
        journal = self._folder / _JOURNAL
        if not journal.exists():
            return
        if (journal / _REMOVALS).exists():
            for name in parse_json((journal / _REMOVALS).read_bytes()):
                target = self._place(os.fsdecode(bytes.fromhex(name)))
                if target.is_symlink() or not target.is_dir():  # a folder there is new: this was done before
                    target.unlink(missing_ok=True)
                self._drop_empty(target.parent)
        for parent, _, names in os.walk(journal / _WRITES):
            for name in sorted(names):
                laid_out = Path(parent) / name
                target = self._place(str(laid_out.relative_to(journal / _WRITES)))
                if target.is_dir():
                    self._drop_empty(target)
                target.parent.mkdir(parents=True, exist_ok=True)
                laid_out.replace(target)
        shutil.rmtree(journal)

    def _drop_empty(self, folder: Path) -> None:
        while folder != self._folder.resolve() and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def _place(self, path: str) -> Path:
        root = self._folder.resolve()
        target = (root / path).parent.resolve() / Path(path).name
        if not target.is_relative_to(root) or ".." in Path(path).parts or path.startswith("."):
            raise BadInput(AdaptersText.LEADS_OUT_OF(path=path, folder=self._folder))
        return target

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with FileLock(self._folder / _LOCK, timeout=_LOCK_SECONDS):
                yield
        except Timeout as error:
            raise RetryLater(AdaptersText.BEING_WRITTEN(folder=self._folder)) from error

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RetryLater(AdaptersText.CANNOT_USED(folder=self._folder, why=error.strerror or error)) from error


def _upwards(path: str) -> Iterator[str]:
    """A path, the folders it lies in, and the top, which is ""."""
    yield path
    while path:
        path = path.rpartition("/")[0]
        yield path


def _write(path: Path, content: bytes, *, sync: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
