"""Wakes the loop when a local repository's refs move: watchdog on `refs/`, `packed-refs` and `HEAD`, never on a work
tree.

A whole checkout would overflow the kernel's queue; a handful of ref files do not. Losing an event costs one poll
interval.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

log = logging.getLogger(__name__)
_MOVING = {"created", "modified", "moved", "deleted"}


class _Bell(FileSystemEventHandler):
    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Ring for whatever moves a ref; opening and reading files moves nothing."""
        if event.event_type in _MOVING and not str(event.src_path).endswith(".lock"):
            self._ring()


def watch_refs(git_dir: Path, ring: Callable[[], None]) -> Callable[[], None]:
    """Call `ring` soon after a ref of the repository moves; the returned function ends the watch.

    Where the system gives no watches (a limit, a file system without them), polling alone is left, and the log says so.
    """
    observer = Observer()
    bell = _Bell(ring)
    try:
        observer.schedule(bell, str(git_dir / "refs"), recursive=True)
        observer.schedule(bell, str(git_dir), recursive=False)
        observer.start()
    except OSError as error:
        log.warning("%s cannot be watched (%s); only the poll interval wakes the loop", git_dir, error)
        return lambda: None

    def end() -> None:
        observer.stop()
        observer.join(timeout=5)

    return end
