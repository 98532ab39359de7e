"""Wrong usage, help, and the exit codes of contracts.md §3."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitfleet import __version__
from gitfleet.adapters.git.texts import GitText
from gitfleet.adapters.texts import AdaptersText
from gitfleet.branches.texts import BranchesText
from gitfleet.cli import main
from gitfleet.cli.commands import COMMANDS
from gitfleet.cli.texts import CliText
from gitfleet.formats.texts import FormatsText
from gitfleet.wiring.texts import WiringText
from tests.cli.conftest import Shell, git, make_repo, tiered
from tests.texts import part


@pytest.mark.parametrize(
    ("words", "talk"),
    [
        (("pln",), ("error: " + CliText.NO_COMMAND(args="pln", meant=FormatsText.YOU_MEAN(near="plan")))),
        (("plan", "--bogus"), "error: no such option"),
        (("plan", "--clusters", "wat"), "error: invalid value for '--clusters'"),
        (("get",), "error: missing argument"),
        (("get", "crp", "-o", "foo"), "error: invalid value for '-o' / '--output'"),
        (("run", "--once", "--until-settled"), ("error: " + CliText.ONCE_UNTIL_SETTLED_EXCLUDE_EACH())),
        (("run", "-o", "json"), "error: " + CliText.O_JSON_ONE_DOCUMENT_NEEDS()),
        (("run", "--until-settled", "--timeout", "-1"), "error: invalid value for '--timeout'"),
        (
            ("run", "--leader-election", "Web/x"),
            ("error: " + CliText.LEADER_ELECTION_NONE_AUTO(leader_election="Web/x")),
        ),
        (
            ("run", "--leader-election", "never", "--lease-duration", "15"),
            ("error: " + CliText.LEASE_DURATION_GOES_LEASE()),
        ),
        (
            ("run", "--once", "--leader-election", "ns/name"),
            "error: "
            + CliText.CONTINUOUS_RUN_NOT_ONCE_UNTIL(
                which="--listen, --notify, --leader-election, --executor and --log-format go"
            ),
        ),
        (("run", "--forge", "github", "--forge-token-env", "HOME"), ("error: " + CliText.REPO_NO_URL_PATH_OWNER())),
    ],
)
def test_wrong_usage_is_64_with_a_sentence_and_a_hint(gitfleet: Shell, words: tuple[str, ...], talk: str) -> None:
    ended = gitfleet(*words)

    assert (ended.code, ended.out) == (64, "")
    first, second = ended.err.splitlines()
    assert first.startswith(talk)
    paths = ["gitfleet", f"gitfleet {words[0]}"]
    assert second in [CliText.HINT_HELP_SHOWS(command_path=path) for path in paths]


def test_no_command_shows_the_help_as_talk(gitfleet: Shell) -> None:
    ended = gitfleet()

    assert (ended.code, ended.out) == (64, "")
    assert [line.split()[0] for line in ended.err.split("Commands:\n")[1].splitlines() if line.startswith("  ")][
        : len(COMMANDS)
    ] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_and_fits_the_terminal(
    gitfleet: Shell, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = gitfleet(command, "--help")

    assert (ended.code, ended.err) == (0, "")
    assert "Example" in ended.out and f"  gitfleet {command}" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert gitfleet(command, "-h").out == ended.out


def test_the_version(gitfleet: Shell) -> None:
    assert gitfleet("--version").out == f"gitfleet {__version__}\n"


def test_help_loads_neither_clients_nor_rooms() -> None:
    program = (
        "import sys; from gitfleet.cli.main import run; run(['--help'])\n"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('kubernetes', 'git', 'yaml', 'pydantic')"
        " or m.startswith(('gitfleet.wiring.hub', 'gitfleet.state', 'gitfleet.desired'))), sep=',', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    "words",
    tiered({"get": ("get", "crp", "-C"), "validate": ("validate",), "explain": ("explain", "web", "-C")}, "get"),
)
def test_commands_that_ask_no_cluster_load_neither_its_client_nor_cel(settled: Path, words: tuple[str, ...]) -> None:
    command = [*words, str(settled)]
    loaded = "{'kubernetes', 'cel_expr_python'} & set(sys.modules)"
    program = f"import sys; from gitfleet.cli.main import run; run({command!r}); print({loaded})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "set()"


def test_a_known_fault_is_1(gitfleet: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for repo in (tmp_path / "absent", tmp_path / "empty"):
        ended = gitfleet("validate", repo)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(f"error: {GitText.NO_REPOSITORY_AT(path=repo)}")


def test_a_repository_without_a_commit_says_what_to_do(gitfleet: Shell, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    ended = gitfleet("plan", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"error: {BranchesText.REPOSITORY_NO_COMMIT_ANY_BRANCH()}\n"
        f"hint: {BranchesText.COMMIT_WHERE_REMOTE(watch='main')}\n"
    )


def test_a_branch_of_another_name_is_named(gitfleet: Shell, tmp_path: Path) -> None:
    make_repo(tmp_path, branch="master")
    ended = gitfleet("validate", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"error: {BranchesText.REPOSITORY_NO_BRANCH(watch='main', named='master')}\n"
        f"hint: {BranchesText.WATCH_ANOTHER_ONE_BRANCH(others='master', watch='main')}\n"
    )
    assert gitfleet("validate", tmp_path, "--branch", "master").code == 0


@pytest.mark.parametrize("packed", [False, True])
def test_a_clone_says_that_its_remote_has_the_state(
    gitfleet: Shell, settled: Path, tmp_path: Path, packed: bool
) -> None:
    """Without a word it would look like a fleet without any state, and `run` would begin one."""
    clone, said = (tmp_path / "clone", (CliText.WARNING_CLONE_NO_STATE_BRANCH(remote="origin")))
    git(tmp_path, "clone", "--quiet", str(settled), str(clone))
    if packed:
        git(clone, "pack-refs", "--all")
    for words in (
        ("get", "crp", "-C", clone),
        ("explain", "web", "-C", clone),
        ("approve", "go", "canary", "-C", clone),
    ):
        assert gitfleet(*words).err.splitlines()[0] == said, words
    hint = f"hint: {WiringText.NAME_REMOTE(remote='origin')}"
    assert gitfleet("get", "crp", "-C", clone).err.splitlines()[-1] == hint
    assert said not in gitfleet("validate", clone).err
    assert said not in gitfleet("get", "crp", "-C", git(clone, "remote", "get-url", "origin").strip()).err
    git(clone, "branch", "gitfleet/state", "origin/gitfleet/state")
    assert gitfleet("get", "crp", "-C", clone).err == ""


def test_a_revision_or_cache_folder_that_cannot_be_used(gitfleet: Shell, fleet: Path) -> None:
    assert gitfleet("validate", fleet, "--rev", "nope").code == 1
    ended = gitfleet("validate", fleet, "--cache-dir", fleet / "README.md" / "cache")
    assert ended.code == 1 and part(AdaptersText.CACHE_FOLDER_CANNOT_MADE) in ended.err


def test_a_revision_that_counts_from_another_says_what_is_wanted(gitfleet: Shell, fleet: Path) -> None:
    for words in (("get", "crp", "-C", fleet, "--at", "gitfleet/state~1"), ("validate", fleet, "--rev", "main^")):
        ended = gitfleet(*words)
        assert (ended.code, ended.out) == (1, "")
        said = GitText.COUNTS_FROM_ANOTHER_REVISION(revision=words[-1])
        assert ended.err.splitlines() == [f"error: {said}", f"hint: {GitText.GIVE_REVISION()}"]


def test_an_unexpected_error_is_3_and_its_report_is_saved(
    gitfleet: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("gitfleet.api.kinds.KINDS", {"broken": None})
    ended = gitfleet("schema", "a-secret-argument")

    assert (ended.code, ended.out) == (3, "")
    assert "Traceback" not in ended.err
    report = next(tmp_path.glob("gitfleet-report-*.txt"))
    assert str(report) in ended.err.replace("\n", "")
    text = report.read_text()
    assert "AttributeError" in text and "a-secret-argument" not in text
    assert report.stat().st_mode & 0o077 == 0


def test_an_interrupt_is_130(gitfleet: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_line: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gitfleet.cli.schema.show", interrupted)
    ended = gitfleet("schema")

    assert (ended.code, ended.out, ended.err) == (main.EXIT_INTERRUPTED, "", "\ninterrupted\n")


@pytest.mark.parametrize(
    ("line", "offered"), [("gitfleet pl", ["plan"]), ("gitfleet plan --clusters s", ["simulated"])]
)
def test_completion_in_bash(line: str, offered: list[str]) -> None:
    environment = {**os.environ, "_GITFLEET_COMPLETE": "bash_complete", "COMP_WORDS": line}
    environment["COMP_CWORD"] = str(line.count(" "))
    done = subprocess.run(
        [sys.executable, "-m", "gitfleet"], env=environment, capture_output=True, text=True, check=False
    )

    assert [answer.split(",")[1] for answer in done.stdout.splitlines()] == offered


def test_what_a_shell_evaluates_for_completion() -> None:
    environment = {**os.environ, "_GITFLEET_COMPLETE": "bash_source"}
    done = subprocess.run(
        [sys.executable, "-m", "gitfleet"], env=environment, capture_output=True, text=True, check=False
    )

    assert "complete -o nosort -F _gitfleet_completion gitfleet" in done.stdout
