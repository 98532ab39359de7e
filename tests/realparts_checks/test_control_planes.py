"""What no test that uses a control plane would notice: why one does not start, and that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.realparts.control_plane import ControlPlanes, StartFailed

pytestmark = pytest.mark.real


def eventually(is_so: Callable[[], bool], *, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "not so in time"
        time.sleep(0.05)


class TestControlPlanes:
    def test_a_server_that_cannot_start_says_why(self, control_planes: ControlPlanes) -> None:
        with pytest.raises(StartFailed, match="no-such-flag"):
            control_planes.start("wrong", flags=["--no-such-flag"])

    def test_a_killed_program_leaves_no_server(self, tmp_path: Path) -> None:
        program = (
            "import sys, time\n"
            "from tests.realparts.processes import ServerProcess\n"
            "from pathlib import Path\n"
            "server = ServerProcess('sleep', ['sleep', '600'], log=Path(sys.argv[1]))\n"
            "server.start()\n"
            "print(server.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "log")],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            pid = int(running.stdout.readline())
            assert is_alive(pid)
            running.kill()

        if sys.platform == "linux":
            eventually(lambda: not is_alive(pid))
        else:
            os.kill(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
