"""What the tests cost: CPU and wall seconds of each file, and a failed run where a budget is exceeded.

CPU counts this process, the child processes that ended, and the servers of `tests.realparts.processes` that still run.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.realparts import processes

REPORT = Path(__file__).parents[1] / "build" / "test-costs.tsv"
SHOWN = 25


def cpu_seconds() -> float:
    """CPU of this process and all that it started, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + processes.running_cpu_seconds()


@dataclass
class Cost:
    """Seconds of one test file."""

    cpu: float = 0.0
    wall: float = 0.0
    tests: int = 0


@dataclass
class Costs:
    """Costs by file: measured where tests run, added up where they are reported."""

    files: dict[str, Cost] = field(default_factory=lambda: defaultdict(Cost))
    _cpu: float = field(default_factory=cpu_seconds)
    _wall: float = field(default_factory=time.monotonic)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> object:
        """Attach to each report what was spent since the report before it."""
        report = yield
        cpu, wall = cpu_seconds(), time.monotonic()
        report.cost = [cpu - self._cpu, wall - self._wall]
        self._cpu, self._wall = cpu, wall
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cpu, wall = getattr(report, "cost", (0.0, 0.0))
        cost = self.files[report.nodeid.split("::")[0]]
        cost.cpu += cpu
        cost.wall += wall
        cost.tests += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ranked = sorted(self.files.items(), key=lambda item: -item[1].cpu)
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text("".join(f"{c.cpu:.2f}\t{c.wall:.2f}\t{c.tests}\t{name}\n" for name, c in ranked))
        terminalreporter.section("CPU and wall seconds per file")
        for name, cost in ranked[:SHOWN]:
            terminalreporter.line(f"{cost.cpu:8.1f} {cost.wall:8.1f}  {name} ({cost.tests})")
        terminalreporter.line(f"{sum(c.cpu for c in self.files.values()):8.1f} CPU seconds in tests, {cpu_seconds():.1f} in all")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs(), "costs")
