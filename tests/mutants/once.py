"""mutmut with tests that are collected once: `python tests/mutants/once.py run` in place of `mutmut run`.

mutmut starts pytest in the fork that tries a change; reading the settings and collecting the tests of the changed
function is most of what a change costs that the first test notices. Here a fork runs tests that its parent collected.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

import mutmut.__main__ as mutmut
import pytest
from _pytest.config import _prepareconfig  # as pytest-xdist's workers do: pytest.main would also end the session
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import change_cwd
from mutmut.workers.isolation import ForkRunner, MutantRunner, run_in_fork


class CollectedOnce(PytestRunner):
    """Runs tests of one session, in whichever process asks; exit codes are pytest's (0 passed, 1 failed)."""

    def prepare_main_test_run(self) -> None:
        """Collect all tests, with no change in force. Raises what the collection of a faulty test raises."""
        set_mutant_under_test("")
        with change_cwd("mutants"):
            words = ["--rootdir=.", "-q", "--capture=no", *self._pytest_add_cli_args_test_selection]
            config = _prepareconfig([*words, *self._pytest_add_cli_args])
            config._do_configure()
            self._session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=self._session)
            config.hook.pytest_collection(session=self._session)
        self._items = {item.nodeid: item for item in self._session.items}

    def run_stats(self, *, tests: Iterable[str]) -> int:
        """Run all tests as they are; how long each takes and which functions it calls is noted."""
        self._session.config.pluginmanager.register(_Notes())
        return self.run_tests(mutant_name=None, tests=[])

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        """Run these tests until one fails, or all of them when none is named."""
        chosen = [self._items[name] for name in tests or self._items]
        with change_cwd("mutants"):
            for item, following in zip_longest(chosen, chosen[1:]):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.testsfailed:
                    return 1
        return 0


class _Notes:
    """What mutmut wants to know of each test that passes."""

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        for function in state()._stats:
            state().tests_by_mangled_function_name[function].add(item.nodeid)
        state()._stats.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            state().duration_by_test[report.nodeid] = report.duration


class _Runner(ForkRunner):
    def run_clean_tests(self, tests: Iterable[str]) -> int:
        """Nothing: the run that notes who calls what has shown that they pass."""
        return 0

    def run_forced_fail(self) -> int:
        """In a fork, since a test that failed ends the session."""
        return run_in_fork(self.test_runner.run_forced_fail)


def runner(max_workers: int = 1) -> MutantRunner:
    """What mutmut asks for once it has written the changes."""
    tests = CollectedOnce()
    tests.prepare_main_test_run()
    return _Runner(max_workers, tests)


if __name__ == "__main__":
    vars(mutmut)["get_mutant_runner"] = runner
    mutmut.cli()
