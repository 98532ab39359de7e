"""What programs leave behind comes to the first process of a container, and does not stay there as zombies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

AS_PID_1 = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
GIT = """#!/bin/sh
case $1 in
    fetch) sleep 600 ;;
    --exec-path) sleep 0.1 & ;;
esac
exec {} "$@"
"""
IN_THE_NAMESPACE = """
import json, os, sys, time
from pathlib import Path
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.programs import run_program

def zombies():
    states = [path.read_text().rpartition(")")[2].split()[0] for path in Path("/proc").glob("[0-9]*/stat")]
    return states.count("Z")

folder = Path(sys.argv[1])
environment = {"PATH": os.environ["PATH"]}
def program(text, seconds=60.0):
    return run_program(
        ["sh", "-c", text], environment=environment, folder=folder, seconds=seconds, largest_output=1000
    ).code

git = GitRunner(folder, environment)
codes = [program("sleep 0.1 & sleep 0.1 & exit 3") for _ in range(5)]
codes += [program("sleep 600 & sleep 600", 0.1) for _ in range(5)]
codes += [git.run("--exec-path").status for _ in range(5)]
codes += [git.run("fetch", seconds=0.1).status for _ in range(5)]
most = zombies()
time.sleep(1)
codes += [program("exit 0")]
print(json.dumps({"pid": os.getpid(), "codes": codes, "few": most < 10, "zombies": zombies()}))
"""


def _namespaces() -> bool:
    words = [*AS_PID_1, "true"]
    return (
        shutil.which("unshare") is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not _namespaces(), reason="a PID namespace needs rights that this machine does not give")
def test_as_pid_1_nothing_stays_as_a_zombie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(GIT.format(shutil.which("git")))
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    done = subprocess.run(
        [*AS_PID_1, sys.executable, "-c", IN_THE_NAMESPACE, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    codes = [3] * 5 + [-9] * 5 + [0] * 5 + [-9] * 5 + [0]
    assert json.loads(done.stdout) == {"pid": 1, "codes": codes, "few": True, "zombies": 0}
