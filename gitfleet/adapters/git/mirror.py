"""The bare mirror of one remote on disk: made, locked, cleared of what killed processes left, recreated when damaged.

mirror_dir/
  gitfleet-mirror   says that the folder is ours and may be deleted
  lock              held by whoever changes the mirror, across threads and processes
  damaged           there when a reader found an unsound object: whoever locks the mirror next recreates it
  mirror.git/       branches as refs/gitfleet/branches/<hash of the name>, requested tags as refs/tags/*
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gitfleet.adapters.git.errors import NO_ROOM, is_out_of_room, out_of_room, quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, DiskFull, GitfleetError, MissingPart, RetryLater
from gitfleet.formats.git_names import SHA1_DIGITS

HEADS = "refs/heads/"
TRACKED = "refs/remotes/origin/"
"""Where a clone has the branches of the remote that it was made from."""
BRANCHES = "refs/gitfleet/branches/"
"""Where the mirror keeps the remote's branches."""
PENDING = "refs/gitfleet/pending"
"""The ref that holds a commit between its making and its push; only ever used under the lock."""

_MARKER = "gitfleet-mirror"
_HARMLESS = frozenset({"lock", "lost+found"})  # the second is in the top folder of a fresh volume
_LEFTOVERS = ("*.lock", "gc.pid", "fast_import_crash_*", "objects/pack/tmp_*", "objects/info/*.lock")
_FOREIGN = (
    "commondir", "config.worktree", "gitdir", "hooks", "info/attributes", "info/grafts", "objects/info/alternates",
    "objects/info/http-alternates",
)  # fmt: skip
"""What would lead git to settings, objects or programs of somebody else; a mirror needs none of it."""
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = true\n{extensions}"
_CONFIGS = {
    "sha1": _CONFIG.format(version=0, extensions="").encode(),
    "sha256": _CONFIG.format(version=1, extensions="[extensions]\n\tobjectformat = sha256\n").encode(),
}
_HEAD = b"ref: refs/heads/main\n"
_MANY_PACKS = 20
_MANY_LOOSE = 1_000
_POLL_SECONDS = 0.01
_log = logging.getLogger(__name__)


def branch_ref(name: str) -> str:
    """Where the mirror keeps a branch. By a hash: names of branches may exclude each other as files and folders do, and
    some file systems take two of them for one."""
    return BRANCHES + hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:40]


def refspecs(names: Iterable[str], tracked: Collection[str] = ()) -> list[str]:
    """Branches of the remote, of which some are only `tracked` there, to where the mirror keeps them."""
    return [f"+{TRACKED if name in tracked else HEADS}{name}:{branch_ref(name)}" for name in names]


def format_of(heads: Mapping[str, str]) -> str:
    """The object format of a remote with these heads."""
    return "sha256" if any(len(oid) > SHA1_DIGITS for oid in heads.values()) else "sha1"


def heads_of(output: bytes, *, separator: bytes, prefix: str) -> dict[str, str]:
    """Ids by ref without its prefix. Only a line feed ends a line: a name may have other line ends of Unicode."""
    heads = {}
    for line in output.split(b"\n"):
        oid, _, name = line.partition(separator)
        ref = name.decode(errors="surrogateescape")
        if ref.startswith(prefix) and ref:
            heads[ref.removeprefix(prefix)] = oid.decode("ascii", errors="replace")
    return heads


class Mirror:
    """The mirror in one folder; every thread has its own instance, the lock file brings them together."""

    def __init__(self, folder: Path, *, lock_seconds: float) -> None:
        self.folder = folder.absolute()
        self.git_dir = self.folder / "mirror.git"
        self._lock_seconds = lock_seconds
        self._descriptor = -1
        self._cleared = False
        with suppress(DiskFull):  # whoever uses it first tries again
            self._prepare_folder()
        self._lock = FileLock(
            self.folder / "lock", timeout=lock_seconds, thread_local=False, on_acquired=self._note_descriptor
        )

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the lock with a sound repository in place; gives the lock's descriptor for `GitRunner.run(lock=)`.

        A git that we started keeps the lock when we are killed, so whoever gets it next is alone with the mirror.
        RetryLater when others hold it for longer than `lock_seconds`, DiskFull when there is no room for it.
        """
        self._prepare_folder()
        try:
            self._lock.acquire(poll_interval=_POLL_SECONDS)
        except Timeout as error:
            seconds = self._lock_seconds
            raise RetryLater(GitText.ANOTHER_PROCESS_HOLDS_MIRROR(folder=self.folder, seconds=seconds)) from error
        except OSError as error:
            raise self._error_of(error) from error
        try:
            self._ensure()
            yield self._descriptor
        finally:
            self._lock.release()

    def is_ours(self) -> bool:
        """Whether a repository is in place with the settings that we wrote, and nothing leads git to those of somebody
        else: git runs and follows what a repository's settings name (programs for ssh and credentials, addresses)."""
        head, folders = self.git_dir / "HEAD", (self.git_dir / "objects", self.git_dir / "refs")
        try:
            ours = (self.git_dir / "config").read_bytes() in _CONFIGS.values() and head.read_bytes() == _HEAD
        except OSError:
            return False
        foreign = any(os.path.lexists(self.git_dir / name) for name in _FOREIGN)
        linked = head.is_symlink() or self.git_dir.is_symlink()
        return ours and all(folder.is_dir() for folder in folders) and not (foreign or linked)

    def identity(self) -> tuple[int, int]:
        """Changes when the repository is recreated."""
        try:
            status = self.git_dir.stat()
        except OSError:
            return (0, 0)
        return (status.st_dev, status.st_ino)

    def note_damage(self, reason: str) -> None:
        """Let whoever locks the mirror next recreate it."""
        _log.warning(GitText.MIRROR_IS_DAMAGED(), extra={"mirror": str(self.folder), "reason": reason})
        with suppress(OSError):
            (self.folder / "damaged").touch()

    def is_damaged(self) -> bool:
        """Whether somebody asked for a new mirror."""
        return (self.folder / "damaged").exists()

    def recreate(self, *, object_format: str = "sha1") -> None:
        """Throw the repository away and put an empty one there; only under `locked`."""
        self.replace_with(self.make_fresh(object_format=object_format))

    def make_fresh(self, *, object_format: str = "sha1", name: str = "fresh.git") -> Path:
        """An empty repository beside the mirror; only under `locked`."""
        fresh = self.folder / name
        remove_tree(fresh)
        git = GitRunner(self.folder, git_environment(str(fresh)))
        # An empty template: no sample hooks, no description, nothing that a system's administrator put there.
        result = git.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(fresh))
        try:
            if result.ok:
                (fresh / "config").write_bytes(_CONFIGS[object_format])
                (fresh / "HEAD").write_bytes(_HEAD)
                return fresh
        except OSError as error:
            raise self._error_of(error) from error
        if is_out_of_room(result):
            raise out_of_room(self.folder, quote_of(result.errors))
        raise self.unusable(quote_of(result.errors))

    def replace_with(self, fresh: Path) -> None:
        """Put a repository from `make_fresh` in the mirror's place; only under `locked`. Whoever is reading the old one
        learns from `identity` that it was replaced."""
        old = self.folder / "old.git"
        remove_tree(old)
        try:
            with suppress(FileNotFoundError):
                self.git_dir.rename(old)
            fresh.rename(self.git_dir)
            (self.folder / "damaged").unlink(missing_ok=True)
        except OSError as error:
            raise self._error_of(error) from error
        remove_tree(old)

    def remove_leftovers(self) -> None:
        """Remove what killed git processes left. Only under `locked`: no other git of ours is alive then."""
        stale = [path for pattern in _LEFTOVERS for path in self.git_dir.glob(pattern)]
        stale += self.git_dir.glob("refs/**/*.lock")
        stale += self.git_dir.glob("objects/??/tmp_obj_*")
        for path in stale:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            remove_tree(path)
        self.drop_pending()
        self._cleared = True

    def drop_pending(self) -> None:
        """Drop the ref of a commit in the making; only under `locked`."""
        with suppress(OSError):
            (self.git_dir / PENDING).unlink(missing_ok=True)

    def is_cluttered(self) -> bool:
        """Whether packs or loose objects have piled up so that reading gets slower."""
        objects = self.git_dir / "objects"
        packs = sum(1 for _ in objects.glob("pack/*.pack"))
        # As git does it: ids are evenly spread, so one folder of 256 stands for all.
        loose = 256 * sum(1 for _ in objects.glob("17/*"))
        return packs > _MANY_PACKS or loose > _MANY_LOOSE

    def largest_unfinished_bytes(self) -> int:
        """The size of the largest pack that a fetch left unfinished."""
        sizes = [0]
        for path in self.git_dir.glob("objects/pack/tmp_*"):
            with suppress(OSError):
                sizes.append(path.stat().st_size)
        return max(sizes)

    def _ensure(self) -> None:
        if self.is_damaged() or not self.is_ours():
            self.recreate()
        if not self._cleared:
            self.remove_leftovers()

    def _note_descriptor(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def _prepare_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            marker = self.folder / _MARKER
            if marker.exists():
                return
            if any(path.name not in _HARMLESS for path in self.folder.iterdir()) and not marker.exists():
                message = GitText.FOLDER_HOLDS_SOMETHING_ELSE(folder=self.folder)
                raise BadInput(message, hint=GitText.GIVE_EMPTY_FOLDER())
            marker.write_text(f"{GitText.MIRROR_KEPT_BY_GITFLEET()}\n", encoding="utf-8")
        except OSError as error:
            raise self._error_of(error) from error

    def _error_of(self, error: OSError) -> GitfleetError:
        why = str(error.strerror)
        return out_of_room(self.folder, why) if error.errno in NO_ROOM else self.unusable(why)

    def unusable(self, why: str) -> MissingPart:
        """The error where the folder cannot be written, or not read."""
        message = GitText.FOLDER_CANNOT_USED(folder=self.folder, why=why.rstrip("."))
        return MissingPart(message, hint=GitText.GIVE_ANOTHER_FOLDER())


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it, whatever rights were taken from it; no errors. Links are not followed."""
    if folder.is_symlink():
        with suppress(OSError):
            folder.unlink()
        return
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            Path(place).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
