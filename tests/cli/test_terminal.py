"""On a terminal of 80 columns: tables fold their last column, bars move, and nobody's text steers the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

from gitfleet.cli.main import run
from tests.cli.conftest import commit, git
from tests.cli.test_validate import BAD, HOSTILE, HOSTILE_PATH, PASTED

STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(*words: str | Path, columns: int = 80) -> str:
    """All that a command writes to a terminal of that width."""
    pid, screen = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        os.execv(sys.executable, [sys.executable, "-m", "gitfleet", *(str(word) for word in words)])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    seen = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:  # Linux says EIO when the other side has gone
            break
        if not part:
            break
        seen += part
    os.close(screen)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1)
    return seen.decode()


def test_explain_folds_its_last_column(settled: Path) -> None:
    lines = on_a_terminal("explain", "web", "-C", settled).split("\r\n")

    assert lines == [
        "CLUSTER      PICKED   STATE   SNAPSHOT   WHY",
        "eu-west-1    yes      Bound   0          up to date",
        "us-east-1    yes      Bound   0          up to date",
        "eu-north-1   no       -       -          does not score high enough (affinity",
        "                                         score: 0, topology spread score: 0)",
        "us-lab-1     no       -       -          cluster does not match with any of the",
        "                                         required cluster affinity terms",
        "",
    ]


def test_tables_have_at_most_80_columns(moving: Path) -> None:
    git(moving, "rm", "-q", "placements/monitoring.yaml", "resources/web/web.yaml")
    git(moving, "commit", "-q", "-m", "Remove most")
    assert run(["run", "--once", str(moving)]) == 0
    for what in ("crp", "mc", "holds"):
        lines = on_a_terminal("get", what, "-C", moving).split("\r\n")
        assert len(lines) > 2 and max(map(len, lines)) <= 80, lines


def test_a_plan_folds_its_sentences(fleet: Path) -> None:
    lines = on_a_terminal("plan", "--clusters", "none", fleet).split("\r\n")

    assert max(map(len, lines)) <= 80
    at = lines.index("  bind   eu-north-1, eu-west-1, us-east-1, us-lab-1: monitoring-0-snapshot goes")
    assert lines[at + 1] == "      out to a new cluster"


def test_long_sentences_are_folded_between_words(fleet: Path) -> None:
    long = "a-name-that-is-as-long-as-names-of-clusters-can-get"
    commit(fleet, {f"placements/{long}.yaml": BAD.replace("name: bad", f"name: {long}")})
    for words in (("validate", fleet), ("run", "--once", fleet), ("describe", "crp", "web", "-C", fleet)):
        lines = [STEERING.sub("", line) for line in re.split("[\r\n]+", on_a_terminal(*words))]
        assert max(map(len, lines)) <= 80, lines
        if words[0] == "describe":
            further = [line for line in lines if line.lstrip().startswith('"eu-west-1" (affinity score: 0, ')]
            assert further and all(line.startswith(" " * 20) for line in further), lines
        else:
            at = next(n for n, line in enumerate(lines) if f"placements/{long}.yaml:7:" in line)
            assert lines[at + 1].startswith(f"  ClusterResourcePlacement/{long[:20]}")


def test_errors_of_one_cause_are_one_folded_line(fleet: Path) -> None:
    commit(fleet, {"resources/apps/deployments.yaml": PASTED})
    lines = STEERING.sub("", on_a_terminal("validate", fleet)).split("\r\n")
    assert lines[0] == "resources/apps/deployments.yaml:1 and 32 more: ConfigMap/c-0:"
    assert lines[1].startswith("  metadata.namespace: ") and lines[2].startswith("  "), lines
    assert max(map(len, lines)) <= 80, lines


def test_hostile_texts_reach_no_terminal(fleet: Path) -> None:
    commit(fleet, {HOSTILE_PATH: HOSTILE})
    for words in (("validate", fleet), ("plan", "--clusters", "none", fleet)):
        assert "\x1b" not in on_a_terminal(*words)
    assert "\x1b[31m" not in on_a_terminal("run", "--once", fleet)
