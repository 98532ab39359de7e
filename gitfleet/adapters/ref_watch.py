"""Wakes the loop when a local repository's branches move: watchdog on `refs/heads`, `packed-refs` and `reftable`, never
on a work tree.

A whole checkout would overflow the kernel's queue; a handful of ref files do not. Losing an event costs one poll
interval.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from watchdog.events import DirModifiedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from gitfleet.adapters.git_setup import local_git_dir
from gitfleet.adapters.texts import AdaptersText

log = logging.getLogger(__name__)
_MOVING = {"created", "modified", "moved", "deleted"}


class _RefEvents(FileSystemEventHandler):
    def __init__(self, git_dir: Path, trigger: Callable[[], None]) -> None:
        self._trigger = trigger
        self._packed = str(git_dir / "packed-refs")
        self._folders = tuple(str(git_dir / name) + os.sep for name in ("refs/heads", "reftable"))

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Call the trigger for whatever moves a branch. git writes `main.lock` first and renames it: only the rename
        counts.

        Opening and reading files moves nothing."""
        if event.event_type in _MOVING and not isinstance(event, DirModifiedEvent):
            path = os.fsdecode(event.dest_path if event.event_type == "moved" else event.src_path)
            if not path.endswith(".lock") and (path == self._packed or path.startswith(self._folders)):
                self._trigger()


def watcher_of(address: str) -> Callable[[Triggered], Callable[[], None]]:
    """What wakes a loop while it runs: the refs of a repository on this machine, nothing for any other address."""

    def start(wake: Triggered) -> Callable[[], None]:
        git_dir = local_git_dir(address)
        return watch_refs(git_dir, wake.trigger) if git_dir is not None else lambda: None

    return start


class Triggered(Protocol):
    """A loop that can be woken."""

    def trigger(self) -> None:
        """Wake it; safe from any thread."""


def watch_refs(git_dir: Path, trigger: Callable[[], None]) -> Callable[[], None]:
    """Call `trigger` soon after a branch of the repository moves; the returned function ends the watch.

    `git_dir` is the common git directory, which the repository's work trees share. Where the system gives no watches (a
    limit, a file system without them), polling alone is left, and the log says so.
    """
    observer = Observer()
    events = _RefEvents(git_dir, trigger)
    try:
        observer.schedule(events, str(git_dir / "refs"), recursive=True)
        observer.schedule(events, str(git_dir), recursive=False)
        if (git_dir / "reftable").is_dir():
            observer.schedule(events, str(git_dir / "reftable"), recursive=False)
        observer.start()
    except OSError as error:
        log.warning(AdaptersText.CANNOT_WATCHED(), git_dir, error)
        observer.unschedule_all()
        return lambda: None

    def end() -> None:
        observer.stop()
        observer.join(timeout=5)

    return end
