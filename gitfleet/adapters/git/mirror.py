"""The bare mirror of one remote on disk: made, locked, cleared of what killed processes left, recreated when damaged.

mirror_dir/
  gitfleet-mirror   says that the folder is ours and may be deleted
  lock              held by whoever changes the mirror, across threads and processes
  damaged           there when a reader found an unsound object: the next fetch recreates the mirror
  mirror.git/       branches of the remote as refs/remotes/origin/*, tags that were asked for as refs/tags/*
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.errors import BadInput, MissingPart, RetryLater

BRANCHES = "refs/remotes/origin/"
"""Where the mirror keeps the remote's branches."""
PENDING = "refs/gitfleet/pending"
"""The ref that holds a commit between its making and its push; only ever used under the lock."""

_MARKER = "gitfleet-mirror"
_MARKER_TEXT = "A mirror of a git remote, kept by gitfleet. It may be deleted at any time.\n"
_HARMLESS = frozenset({"lock", "lost+found"})  # the second is in the top folder of a fresh volume
_LEFTOVERS = ("*.lock", "gc.pid", "fast_import_crash_*", "objects/pack/tmp_*", "objects/info/*.lock")
_MANY_PACKS = 20
_MANY_LOOSE = 1_000
_POLL_SECONDS = 0.01
_log = logging.getLogger(__name__)


class Mirror:
    """The mirror in one folder; every thread has its own instance, the lock file brings them together."""

    def __init__(self, folder: Path, *, lock_seconds: float) -> None:
        self.folder = folder.absolute()
        self.git_dir = self.folder / "mirror.git"
        self._lock_seconds = lock_seconds
        self._descriptor = -1
        self._cleared = False
        self._prepare_folder()
        self._lock = FileLock(
            self.folder / "lock", timeout=lock_seconds, thread_local=False, on_acquired=self._note_descriptor
        )

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Hold the lock with a sound repository in place; gives the lock's descriptor for `GitRunner.run(hold=)`.

        A git that we started keeps the lock when we are killed, so whoever gets it next is alone with the mirror.
        RetryLater when others hold it for longer than `lock_seconds`.
        """
        try:
            self._lock.acquire(poll_interval=_POLL_SECONDS)
        except Timeout as error:
            message = (
                f"Another process holds the git mirror in {self.folder} for over {self._lock_seconds:.0f} seconds."
            )
            raise RetryLater(message) from error
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._ensure()
            yield self._descriptor
        finally:
            self._lock.release()

    def is_there(self) -> bool:
        """Whether a repository is in place; says nothing of its objects."""
        return (
            (self.git_dir / "config").is_file()
            and (self.git_dir / "HEAD").is_file()
            and (self.git_dir / "objects").is_dir()
            and (self.git_dir / "refs").is_dir()
        )

    def identity(self) -> tuple[int, int]:
        """Changes when the repository is recreated."""
        try:
            found = self.git_dir.stat()
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def note_damage(self, reason: str) -> None:
        """Make the next fetch recreate the mirror."""
        _log.warning("git mirror is damaged", extra={"mirror": str(self.folder), "reason": reason})
        with suppress(OSError):
            (self.folder / "damaged").touch()

    def is_damaged(self) -> bool:
        """Whether somebody asked for a new mirror."""
        return (self.folder / "damaged").exists()

    def recreate(self, *, object_format: str = "sha1") -> None:
        """Throw the repository away and put an empty one there; only under `hold`."""
        fresh = self.folder / "fresh.git"
        shutil.rmtree(fresh, ignore_errors=True)
        git = GitRunner(self.folder, git_environment(str(fresh)))
        # An empty template: no sample hooks, no description, nothing that a system's administrator put there.
        result = git.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(fresh))
        if not result.ok:
            raise MissingPart(
                f"git could not make a mirror in {self.folder}.", hint="Is the folder writable, is it full?"
            )
        old = self.folder / "old.git"
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):
            self.git_dir.rename(old)
        fresh.rename(self.git_dir)
        shutil.rmtree(old, ignore_errors=True)
        (self.folder / "damaged").unlink(missing_ok=True)

    def remove_leftovers(self) -> None:
        """Remove what killed git processes left: under `hold` no other git of ours is alive, so all of it is stale."""
        stale = [path for pattern in _LEFTOVERS for path in self.git_dir.glob(pattern)]
        stale += self.git_dir.glob("refs/**/*.lock")
        stale += self.git_dir.glob("objects/??/tmp_obj_*")
        for path in stale:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self.drop_pending()
        self._cleared = True

    def drop_pending(self) -> None:
        """Drop the ref of a commit in the making; only under `hold`."""
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
        if not self.is_there():
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
                raise BadInput(
                    f"The folder {self.folder} holds something else than a mirror of gitfleet.",
                    hint="Give an empty folder; gitfleet deletes and rewrites what is in it.",
                )
            marker.write_text(_MARKER_TEXT, encoding="utf-8")
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> MissingPart:
        return MissingPart(
            f"The folder {self.folder} for the git mirror cannot be used: {error.strerror}.",
            hint="Give a folder that this process may write to, with package on its disk.",
        )
