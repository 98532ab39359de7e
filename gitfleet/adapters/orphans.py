"""What programs leave behind: as the first process of a container, gitfleet inherits it and has to wait for it."""

from __future__ import annotations

import os
from contextlib import suppress

_groups: set[int] = set()
"""Process groups of programs that have ended, of which something was alive when they were asked for last."""


def reap(group: int) -> None:
    """Take the exit codes of what died of the process group of a program that has ended, and of those before it, so
    that no zombies stay.

    By group, and so nobody else's exit code is taken; what makes itself a session of its own needs an init process.
    """
    _groups.add(group)
    for left in tuple(_groups):
        with suppress(ChildProcessError):  # as any other process, or with nothing left: init has it, or nobody
            while os.waitpid(-left, os.WNOHANG)[0]:
                pass
            continue
        _groups.discard(left)
