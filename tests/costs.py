"""What the tests cost: CPU and wall seconds of each file, and a failed run where a budget is exceeded.

CPU counts this process, the child processes that ended, and the servers of `tests.realparts.processes` that still run.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.realparts import processes

REPORT = Path(__file__).parents[1] / "build" / "test-costs.tsv"
SHOWN = 25
WRITE_EVERY = 10.0
"""Seconds."""
FILE_BUDGET = 60.0
"""CPU seconds that a test file may cost in `make test`; the first of several pays for the servers that they share."""
E2E_BUDGET = 120.0
"""The same for a file of `tests/e2e`."""


@dataclass
class Cost:
    """CPU and wall seconds of one test file, and how many tests it ran."""

    cpu: float = 0.0
    wall: float = 0.0
    tests: int = 0


def cpu_seconds() -> float:
    """CPU of this process and all that it started, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + processes.running_cpu_seconds()


def excesses(files: Mapping[str, Cost], total: float, budget: float) -> list[str]:
    """What exceeds its budget, a sentence each."""
    budgets = {name: E2E_BUDGET if name.startswith("tests/e2e/") else FILE_BUDGET for name in files}
    found = [
        f"{name} cost {cost.cpu:.0f} CPU seconds, more than {budgets[name]:.0f}: move cases down to a pure package, or "
        "mark them `soak` (CONTRIBUTING.md)"
        for name, cost in files.items()
        if cost.cpu > budgets[name]
    ]
    return found + [f"all tests cost {total:.0f} CPU seconds, more than {budget:.0f}"] * (total > budget)


@dataclass(eq=False)  # pytest keeps plug-ins in sets
class Costs:
    """Costs by file: measured where tests run, added up where they are reported."""

    budget: float | None
    writes: bool
    files: dict[str, Cost] = field(default_factory=lambda: defaultdict(Cost))
    _cpu: float = field(default_factory=cpu_seconds)
    _wall: float = field(default_factory=time.monotonic)
    _written: float = field(default_factory=time.monotonic)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        """Attach to each report what was spent since the report before it."""
        report = yield
        cpu, wall = cpu_seconds(), time.monotonic()
        report.cost = [cpu - self._cpu, wall - self._wall]
        self._cpu, self._wall = cpu, wall
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the cost of a report to its file."""
        cpu, wall = getattr(report, "cost", (0.0, 0.0))
        cost = self.files[report.nodeid.split("::")[0]]
        cost.cpu += cpu
        cost.wall += wall
        cost.tests += report.when == "call"
        if self.writes and time.monotonic() > self._written + WRITE_EVERY:
            self.write()

    def write(self) -> list[tuple[str, Cost]]:
        """Write the costs so far, the dearest files first, so that a run that is killed leaves them."""
        ranked = sorted(self.files.items(), key=lambda item: -item[1].cpu)
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text("".join(f"{c.cpu:.2f}\t{c.wall:.2f}\t{c.tests}\t{name}\n" for name, c in ranked))
        self._written = time.monotonic()
        return ranked

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that exceeds its budget."""
        if (
            self.budget
            and session.exitstatus == pytest.ExitCode.OK
            and excesses(self.files, cpu_seconds(), self.budget)
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the dearest files, and write all of them to `build/test-costs.tsv`."""
        ranked = self.write()
        terminalreporter.section("CPU and wall seconds per file")
        for name, cost in ranked[:SHOWN]:
            terminalreporter.line(f"{cost.cpu:8.1f} {cost.wall:8.1f}  {name} ({cost.tests} tests)")
        terminalreporter.line(f"{cpu_seconds():8.1f} CPU seconds in all; every file: {REPORT}")
        for sentence in excesses(self.files, cpu_seconds(), self.budget) if self.budget else ():
            terminalreporter.line(f"over budget: {sentence}", red=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--budget SECONDS` for the whole run and, with it, the budget of each file."""
    parser.addoption("--budget", type=float, metavar="SECONDS", help="fail when the tests cost more CPU than this")


def pytest_configure(config: pytest.Config) -> None:
    """Measure each run."""
    config.pluginmanager.register(Costs(config.getoption("budget"), writes=not hasattr(config, "workerinput")), "costs")
