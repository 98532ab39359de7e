"""`python -m tests.mutants PACKAGE [--max-children N]`: changes the code of one deciding package, one small change at a
time (mutmut), and tells which changes no test notices.

The project is copied to `.mutants/PACKAGE` first, so that nobody's work tree is touched; a run that was cut short goes
on there. Survivors that are known stand on the package's page in this folder, each with the reason why it changes
nothing that anybody could see. Exit status 1 when less than 85 % were killed or a survivor is not listed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LEAST_KILLED: Final = 0.85
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "rollout": ("tests/rollout", "tests/scenarios/test_safe_rollout.py", "tests/scenarios/test_overrides_that_fail.py"),
    "apply": ("tests/apply", "tests/scenarios/test_quiet_and_rough.py"),
    "works": ("tests/works",),
    "observe": ("tests/observe", "tests/members/test_joining.py"),
    "snapshots": ("tests/snapshots",),
    "schedule": ("tests/schedule",),
    "status": ("tests/status",),
    "reconcile": ("tests/loop/test_contained.py", "tests/loop/test_memo.py", "tests/scenarios/test_settled.py"),
}
"""Which tests speak of each package; the conformance cases speak of all."""
NOTICED: Final = ("killed", "timeout", "caught by type check", "segfault")
FILES: Final[dict[str, tuple[str, ...]]] = {"reconcile": ("gitfleet/reconcile.py", "gitfleet/placing.py")}
"""What is changed, where it is not the package of that name."""
_SLOW: Final = "tests/status/test_events.py::test_equal_states_tell_nothing_and_every_event_has_a_sentence"
"""A run of a whole fleet: 9 s, which each change that no other test notices would cost."""
_COPIED: Final = ("gitfleet", "tests", "examples", "repo-layout", "docs", "README.md", "ARCHITECTURE.md")
_CONFIG: Final = """
[tool.mutmut]
source_paths = ["gitfleet"]
only_mutate = {files}
also_copy = {copied}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--deselect={slow}"]
use_git_change_detection = false
track_dependencies = false
"""


def prepare(package: str) -> Path:
    """A copy of the project that is told what to change and which tests to ask."""
    folder = ROOT / ".mutants" / package
    folder.mkdir(parents=True, exist_ok=True)
    for name in _COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    tests = [*TESTS[package], "tests/conformance/test_conformance.py"]
    files = list(FILES.get(package, (f"gitfleet/{package}/*",)))
    config = _CONFIG.format(files=files, copied=list(_COPIED[1:]), tests=tests, slow=_SLOW)
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + config)
    return folder


def mutmut(folder: Path, *words: str) -> str:
    """What one mutmut command printed."""
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "quick", "PYTHONPATH": "."}
    command = [sys.executable, "-m", "mutmut", *words]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    return done.stdout


def verdicts(listing: str) -> dict[str, str]:
    """Each mutant's name and what became of it, from `mutmut results --all true`."""
    lines = (line.strip().rpartition(": ") for line in listing.splitlines())
    return {name: verdict for name, _, verdict in lines if name.startswith("gitfleet.")}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("package", choices=sorted(TESTS))
    parser.add_argument("--max-children", type=int, default=os.cpu_count() or 1, metavar="N")
    given = parser.parse_args()
    folder = prepare(given.package)
    mutmut(folder, "run", "--max-children", str(given.max_children))
    found = verdicts(mutmut(folder, "results", "--all", "true"))
    page = ROOT / "tests" / "mutants" / f"{given.package}.md"
    known = page.read_text() if page.exists() else ""
    new = 0
    for name, verdict in sorted(found.items()):
        if verdict not in NOTICED and f"`{name}`" not in known:
            new += 1
            print(f"{name}: {verdict}\n{mutmut(folder, 'show', name)}")
    total = Counter(found.values())
    killed = sum(total[verdict] for verdict in NOTICED) / len(found) if found else 0.0
    print(f"{given.package}: {killed:.1%} of {len(found)} killed ({dict(total)}), {new} survivors not listed")
    return 0 if killed >= LEAST_KILLED and not new else 1


if __name__ == "__main__":
    sys.exit(main())
