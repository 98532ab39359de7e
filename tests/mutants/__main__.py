"""`python -m tests.mutants [PACKAGE ...] [--only PATTERN] [--show]`: changes the code of the deciding packages, one
small change at a time (mutmut), and prints by package how many changes some test noticed, and those that none did.

The project is copied to `.mutants/PACKAGE` first, so that nobody's work tree is touched; a run that was cut short goes
on there. Survivors that are known stand on the package's page in this folder, each with the reason why it changes
nothing that anybody could see; the others are printed as rows for that page. Exit status 1 when less than 85 % were
killed or a survivor has no reason there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.mutants.changes import Change, changes_of

ROOT: Final = Path(__file__).resolve().parents[2]
LEAST_KILLED: Final = 0.85
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "rollout": ("tests/rollout",),
    "rollout/staged": (
        "tests/rollout/test_staged_phases.py",
        "tests/rollout/test_run_trials.py",
        "tests/rollout/test_waiting.py",
    ),
    "apply": ("tests/apply", "tests/scenarios/test_unchanged_and_disturbed.py"),
    "works": ("tests/works", "tests/reconcile/test_later_steps.py"),
    "observe": ("tests/observe", "tests/members/test_joining.py"),
    "snapshots": ("tests/snapshots",),
    "schedule": ("tests/schedule",),
    "status": ("tests/status", "tests/views/test_views.py", "tests/reconcile/test_life.py"),
    "removals": ("tests/removals",),
    "model": ("tests/model", "tests/approvals", "tests/removals", "tests/rollout", "tests/apply", "tests/reconcile"),
    "approvals": ("tests/approvals",),
    "reconcile": ("tests/reconcile", "tests/loop/test_memo.py"),
    "workload": ("tests/workload",),
    "pull": ("tests/pull",),
    "analysis": ("tests/analysis",),
    "loop": ("tests/loop",),
    "fleet": ("tests/fleet", "tests/scenarios/test_pull.py"),
    "branches": ("tests/branches", "tests/loop"),
    "payload": ("tests/payload",),
}
"""Which tests speak of each package (what has a row of its own here is no part of the one above it); the conformance
cases speak of all."""
NOTICED: Final = ("killed", "timeout", "caught by type check", "segfault")
SLOW: Final = (
    "tests/status/test_events.py::test_equal_states_tell_nothing_and_every_event_has_a_sentence",
    "tests/conformance/test_conformance.py::test_the_runner_counts_and_tells",
    "tests/schedule/test_properties.py",
    "tests/loop/test_memo.py::test_an_empty_memo_gives_the_same_decisions_in_any_history",
    "tests/loop/test_any_history.py",
)
"""Left out: runs of whole fleets, which each change that no other test notices would cost, and a second process. So is
all that needs a real part (marker `real`)."""
MISLED: Final = (
    "tests/schedule/test_plugins.py::test_a_listed_plugin_is_added_behind_the_default",
    "tests/schedule/test_plugins.py::test_a_disabled_plugin_has_no_say",
    "tests/schedule/test_plugins.py::test_a_plugin_listed_twice_is_a_fault",
    "tests/schedule/test_picking.py::test_a_binding_that_was_given_up_stays_so_where_the_cluster_is_held_already",
)
"""Left out: mutmut keeps each version of a method as one more public method, which no scheduler plug-in may have."""
_WITHOUT: Final = ("cacheprovider", "unraisableexception", "threadexception")
"""pytest's own plug-ins that are left out; the last two collect garbage, more than half of what a change costs. Of
other packages' only the one that the settings name is loaded: the others are a fifth of the rest."""
_LAST: Final = 20
_COPIED: Final = ("gitfleet", "tests", "examples", "repo-layout", "ci", "docs", "README.md", "ARCHITECTURE.md")
_CONFIG: Final = """
[tool.mutmut]
source_paths = ["gitfleet"]
only_mutate = {files}
do_not_mutate = {others}
also_copy = {copied}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "pytest_timeout", {without}, "--tb=no", "-m", "not real", {left_out}]
use_git_change_detection = false
timeout_multiplier = 6.0
track_dependencies = false
"""


def prepare(package: str) -> Path:
    """A copy of the project that is told what to change and which tests to ask; what is gone is gone there too."""
    folder = ROOT / ".mutants" / package.replace("/", ".")
    for name in _COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    shutil.rmtree(folder / "mutants" / "tests", ignore_errors=True)
    # Which test runs which function is found anew: a test that was edited may run others than before.
    (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    for old in (folder / "mutants" / "gitfleet").rglob("*.py"):
        if not (folder / old.relative_to(folder / "mutants")).exists() or _cut_short(old):
            old.unlink()
    tests = [*TESTS[package], "tests/conformance/test_conformance.py"]
    others = [f"gitfleet/{other}/*" for other in TESTS if other.startswith(f"{package}/")]
    without = ", ".join(f'"-p", "no:{plugin}"' for plugin in _WITHOUT)
    config = _CONFIG.format(
        files=[f"gitfleet/{package}/*"],
        others=others,
        copied=list(_COPIED[1:]),
        tests=tests,
        without=without,
        left_out=_left_out(),
    )
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + config)
    return folder


def _cut_short(written: Path) -> bool:
    """Whether a run ended while mutmut wrote this file, which it would take for whole: what it notes comes after."""
    notes = written.with_suffix(".py.meta")
    return notes.exists() and notes.stat().st_mtime_ns < written.stat().st_mtime_ns


def _left_out() -> str:
    return ", ".join(f'"--deselect={test}"' for test in (*SLOW, *MISLED))


def mutmut(folder: Path, *words: str) -> str:
    """What one mutmut command printed; the end of it is shown when it could not do what it was asked."""
    settings = {"HYPOTHESIS_PROFILE": "mutants", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": "."}
    environment = {**os.environ, **settings}
    command = [sys.executable, "-P", str(ROOT / "tests" / "mutants" / "once.py"), *words]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"mutmut failed in {folder}:\n{chr(10).join(done.stdout.splitlines()[-_LAST:])}")
    return done.stdout


def verdicts(listing: str) -> dict[str, str]:
    """Each mutant's name and what became of it, from `mutmut results --all true`."""
    lines = (line.strip().rpartition(": ") for line in listing.splitlines())
    return {name: verdict for name, _, verdict in lines if name.startswith("gitfleet.")}


def survivors(found: dict[str, str]) -> list[str]:
    """The changes that were tried and that no test noticed."""
    return sorted(name for name, verdict in found.items() if verdict not in (*NOTICED, "not checked"))


def _alive(folder: Path) -> dict[str, Change]:
    """The changes that no test noticed, by mutmut's names of them."""
    return changes_of(folder, survivors(verdicts(mutmut(folder, "results", "--all", "true"))))


def _page(package: str) -> Path:
    return ROOT / "tests" / "mutants" / f"{package.replace('/', '.')}.md"


def unexplained(package: str, folder: Path) -> dict[str, Change]:
    """The changes that no test noticed and that the package's page gives no reason for."""
    known = reasons(_page(package).read_text() if _page(package).exists() else "")
    return {name: change for name, change in _alive(folder).items() if change.name not in known}


def forget(folder: Path, mutants: set[str]) -> None:
    """Have these changes tried again, as if they never had been."""
    for path in (folder / "mutants" / "gitfleet").rglob("*.py.meta"):
        meta = json.loads(path.read_text())
        codes = meta["exit_code_by_key"]
        if again := mutants & codes.keys():
            path.write_text(json.dumps({**meta, "exit_code_by_key": {**codes, **dict.fromkeys(again)}}))


def report(package: str, folder: Path) -> bool:
    """Print what became of a package's changes; whether enough were killed and each survivor has its reason."""
    found = verdicts(mutmut(folder, "results", "--all", "true"))
    tried = {name: verdict for name, verdict in found.items() if verdict != "not checked"}
    alive, without = _alive(folder), unexplained(package, folder)
    for name, change in without.items():
        print(f"{change.row()} {tried[name]}, {name}")
    page = _page(package)
    if tried == found and page.exists():
        for gone in sorted(reasons(page.read_text()) - {change.name for change in alive.values()}):
            print(f"{page.name} explains {gone}, which did not survive or is no longer made")
    killed, of = len(tried) - len(alive), f"{len(tried)}" + (f" tried of {len(found)}" if tried != found else "")
    share = killed / len(tried) if tried else 0.0
    print(f"{package}: {killed}/{of} killed ({share:.1%}), {len(alive)} survived, {len(without)} without a reason")
    return share >= LEAST_KILLED and not without


def reasons(page: str) -> set[str]:
    """The names of the changes that a page gives a reason for: the rows of its tables whose last cell says one."""
    rows = (line.strip().strip("|").split("|") for line in page.splitlines() if line.startswith("| `"))
    return {row[0].strip().strip("`") for row in rows if row[-1].strip()}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "package", nargs="*", metavar="PACKAGE", help=f"{', '.join(TESTS)}; all of them when none is given"
    )
    parser.add_argument("--max-children", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--only", nargs="*", default=[], metavar="PATTERN", help="'*[05]' is every fifth change")
    given = parser.parse_args()
    if unknown := set(given.package) - set(TESTS):
        parser.error(f"no such package: {', '.join(sorted(unknown))}")
    good = True
    for package in given.package or TESTS:
        folder = prepare(package)
        forget(folder, set(unexplained(package, folder)))  # a test of today may notice them
        mutmut(folder, "run", "--max-children", str(given.max_children), *given.only)
        good = report(package, folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
