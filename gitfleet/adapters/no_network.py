"""Running a program in a network namespace of its own, which has no way out: not even to the machine itself."""

from __future__ import annotations

import shutil

from gitfleet.adapters.programs import PLACES, runs_behind

_WAYS = (("--user", "--net"), ("--net",))


def network_cut() -> tuple[str, ...]:
    """What to put before a command so that it runs without any network; empty where the kernel or the container does
    not allow it, or `unshare` (util-linux) is not there."""
    unshare = shutil.which("unshare", path=PLACES)
    if unshare is None:
        return ()
    return next((words for way in _WAYS if runs_behind(words := (unshare, *way, "--"))), ())
