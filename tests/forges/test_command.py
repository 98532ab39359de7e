"""`gitfleet run --forge ...`: what is shown, what a forge that hangs costs, and what is refused at the start."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gitfleet.adapters.forge import BUILT_IN
from gitfleet.cli.options import repository_of
from gitfleet.cli.texts import CliText
from gitfleet.model.forges import ForgeView
from gitfleet.model.state import FleetState
from gitfleet.ports.forges import Forge
from gitfleet.serving.forge import ForgePublisher, ForgeThread
from gitfleet.settings import ForgeSettings
from gitfleet.simulation.clock import ManualClock
from gitfleet.wiring import publishers as wiring_publishers
from tests.cli.conftest import Shell, _own_home, git, gitfleet, make_repo
from tests.fleet.reports import report_of
from tests.forges.server import REPOSITORY, TOKEN, ForgeServer, serving

__all__ = ["_own_home", "gitfleet"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    return make_repo(tmp_path / "fleet")


def options(server: ForgeServer, repo: Path) -> list[str | Path]:
    token = repo.parent / "token"
    where = ["--forge", server.dialect, "--forge-url", server.url, "--forge-repo", REPOSITORY]
    return [repo, *where, "--forge-token-file", token]


def test_a_run_shows_its_commit_and_says_no_token(gitfleet: Shell, repo: Path) -> None:
    head = git(repo, "rev-parse", "main").strip()
    with serving("gitea") as server:
        server.branches = {"main": head}
        ended = gitfleet("run", "--once", *options(server, repo))
        assert ended.code == 0, ended.err
        assert server.shown(head).keys() >= {"gitfleet/web"}
        assert server.refused == []
        assert TOKEN not in ended.out + ended.err


def test_a_run_goes_on_without_a_forge_that_hangs(gitfleet: Shell, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring_publishers, "_FORGE_SECONDS", dict.fromkeys((False, True), 0.1))
    with serving("github") as server:
        server.hangs = threading.Event()
        assert gitfleet("run", "--until-settled", *options(server, repo)).code == 0
        assert server.asked.is_set()
        server.hangs.set()
    assert git(repo, "rev-parse", "gitfleet/state")


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_forge_is_opened_again_for_another_token(name: str) -> None:
    chosen = ForgeSettings(name=name, url="http://127.0.0.1:9", repository=REPOSITORY)
    assert type(wiring_publishers.open_forge(chosen, "first")) is type(wiring_publishers.open_forge(chosen, "second"))


def test_a_thread_shows_what_was_handed_over_last_and_nobody_waits_for_it() -> None:
    begun, go_on, shown = threading.Event(), threading.Event(), list[ForgeView]()

    class Slow(ForgePublisher):
        def show(self, wanted: ForgeView) -> float | None:
            shown.append(wanted)
            begun.set()
            go_on.wait(60)
            return None

    def connect(_: str) -> Forge:
        raise AssertionError("nobody connects")

    thread = ForgeThread(Slow(token=lambda: TOKEN, connect=connect, clock=ManualClock()), dict)
    states = [FleetState(observed_commit=str(number)) for number in range(4)]
    first, *others = (report_of(state=state) for state in states)
    thread.publish(first)
    assert begun.wait(60)
    for report in others:
        thread.publish(report)
    go_on.set()
    thread.finish(60)
    assert [view.commit for view in shown] == ["0", "3"]


OURS = """
class Whole:
    def __init__(self, access): self.access = access
    def pulls(self, target, closed_of=''): return []
    def open_pull(self, pull, target): return pull
    def edit_pull(self, pull): pass
    def close_pull(self, number): pass
    def statuses(self, commit): return []
    def set_status(self, commit, status): print(self.access.repository, status.context, status.state)
    def comments(self, number): return []
    def write_comment(self, number, comment): pass
class Half(Whole):
    close_pull = None
def broken(access): raise ZeroDivisionError
"""


def test_a_package_brings_another_forge(
    gitfleet: Shell, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site" / "ours-1.dist-info").mkdir(parents=True)
    (tmp_path / "site" / "our_forges.py").write_text(OURS)
    names = "".join(
        f"{name} = our_forges:{where}\n" for name, where in (("a", "Whole"), ("b", "Half"), ("c", "broken"))
    )
    (tmp_path / "site" / "ours-1.dist-info" / "entry_points.txt").write_text(f"[gitfleet.forges]\n{names}")
    (tmp_path / "site" / "ours-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    given = [repo, "--forge-repo", REPOSITORY, "--forge-token-file", repo.parent / "token", "--forge"]
    shown = gitfleet("run", "--once", *given, "a")
    assert (shown.code, "acme/fleet gitfleet/web pending" in shown.out) == (0, True), shown
    assert "forge b has no close_pull" in gitfleet("run", "--once", *given, "b").err
    assert "forge c: unexpected ZeroDivisionError" in gitfleet("run", "--once", *given, "c").err


USAGE = {
    "a URL alone": (["--forge-url", "https://x"], "--forge-url goes with --forge NAME"),
    "no token": (["--forge", "gitea"], CliText.FORGE_NEEDS_TOKEN()),
    "two tokens": (
        ["--forge", "gitea", "--forge-token-file", "f", "--forge-token-env", "T"],
        CliText.FORGE_NEEDS_TOKEN(),
    ),
    "an empty variable": (
        ["--forge", "gitea", "--forge-token-env", "NOBODYS"],
        CliText.VARIABLE_FORGE_TOKEN_ENV_NOT(variable="NOBODYS"),
    ),
    "no repository": (["--forge", "gitea", "--forge-token-file", "f"], CliText.REPO_NO_URL_PATH_OWNER()),
    "no commits": (
        ["--forge", "gitea", "--forge-token-file", "f", "--forge-repo", "a/b", "--state-dir", "d"],
        CliText.FORGE_SHOWS_COMMITS(),
    ),
}


@pytest.mark.parametrize(("words", "said"), USAGE.values(), ids=USAGE)
def test_options_that_do_not_go_together_are_wrong_usage(
    gitfleet: Shell, repo: Path, words: list[str], said: str
) -> None:
    ended = gitfleet("run", "--once", repo, *words)
    assert (ended.code, said in ended.err) == (64, True), ended.err


def test_what_cannot_be_used_ends_the_run_before_it_begins(
    gitfleet: Shell, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "one\r\nX-Evil: two")
    monkeypatch.setenv("UMLAUT", "t\u00f6ken")
    (repo.parent / "empty").write_text("\n")
    given: list[str | Path] = ["--forge-repo", REPOSITORY, "--forge-url", "http://127.0.0.1:9", "--forge-token-file"]
    table = [
        (["--forge", "gitea", *given, repo.parent / "none"], "none cannot be read"),
        (["--forge", "gitea", *given, repo.parent / "empty"], "holds no token on one line"),
        (
            ["--forge", "gitea", *given[:-1], "--forge-token-env", "LINES"],
            "--forge-token-env holds no token on one line",
        ),
        (
            ["--forge", "gitea", *given[:-1], "--forge-token-env", "UMLAUT"],
            "--forge-token-env holds no token on one line",
        ),
        (["--forge", "bitbucket", *given, repo.parent / "token"], "there is no forge bitbucket; known are gitea, gi"),
    ]
    for words, said in table:
        ended = gitfleet("run", "--once", repo, *words)
        assert (ended.code, said in ended.err) == (1, True), ended.err
        assert git(repo, "branch", "--list", "gitfleet/state") == ""


@pytest.mark.parametrize(
    ("address", "repository"),
    [
        ("https://github.com/acme/fleet.git", "acme/fleet"),
        ("https://git.example.com:8443/acme/fleet/", "acme/fleet"),
        ("https://gitlab.example.com/group/sub/fleet.git", "group/sub/fleet"),
        ("git@github.com:acme/fleet.git", "acme/fleet"),
        ("ssh://git@git.example.com:22/acme/fleet", "acme/fleet"),
        ("https://git.example.com/fleet", ""),
        (".", ""),
        ("../acme/fleet", ""),
    ],
)
def test_the_repository_is_the_path_of_the_remote(address: str, repository: str) -> None:
    assert repository_of(address) == repository


def test_without_a_forge_no_client_library_is_loaded(repo: Path) -> None:
    program = (
        "import sys; from gitfleet.cli.main import run; assert run(['run', '--once', sys.argv[1]]) == 0;"
        "print(sorted({'github', 'gitlab', 'gitfleet.adapters.forge.sessions'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, repo], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
