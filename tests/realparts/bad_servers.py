"""Servers on a loopback port that do not do what a client hopes for, and a disk that is soon full."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DRIP_SECONDS = 0.05


@contextmanager
def hanging_server(*, drips: bytes = b"") -> Iterator[str]:
    """``127.0.0.1:PORT`` of a server that accepts connections and never answers; with ``drips`` it sends that first and
    then one byte now and then, without an end."""
    ending = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_DRIP_SECONDS)

        def serve(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.sendall(drips)
                while not ending.wait(_DRIP_SECONDS):
                    if drips:
                        connection.sendall(b"0")

        def accept() -> None:
            while not ending.is_set():
                with suppress(TimeoutError):
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ending.set()
            thread.join()


class SmallDisk:
    """A file system of its own at ``path`` with room for little; ``fill`` leaves none, ``make_room`` gives it back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self) -> None:
        """Take all the room that is left."""
        descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            for size in (1 << 16, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        os.write(descriptor, b"x" * size)
        finally:
            os.close(descriptor)

    def make_room(self) -> None:
        """Give back what ``fill`` took."""
        self._ballast.unlink()


@contextmanager
def small_disk(path: Path, *, megabytes: int = 3) -> Iterator[SmallDisk | None]:
    """A small disk mounted at ``path``; None where this process may mount nothing."""
    path.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        yield None
        return
    try:
        yield SmallDisk(path)
    finally:
        for _ in range(50):
            if subprocess.run(["umount", str(path)], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
