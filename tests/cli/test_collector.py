"""Commands look for cyclic garbage seldom: a fleet's state is millions of values that form no cycle."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from gitfleet.cli.main import main
try:
    main(["--version"])
except SystemExit:
    print(gc.get_threshold()[0], gc.get_freeze_count() > 0)
"""


def test_every_command_collects_seldom() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "100000 True"
