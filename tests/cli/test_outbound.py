"""The options of `run` that say where rollouts may call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Shell


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--allow-outbound", "https://hooks.example.com"), "--allow-outbound https://hooks.example.com is no HOST or"),
        (("--allow-outbound", "*"), "--allow-outbound * is no HOST or HOST:PORT, such as hooks.example.com"),
        (("--metric-token", "prometheus.example.com"), "--metric-token prometheus.example.com is no HOST=FILE or"),
        (("--metric-token", "*.example.com=token"), "--metric-token *.example.com=token is no HOST=FILE or"),
        (
            ("--metric-token", "p.example=a", "--metric-token", "http://p.example=b", "--metric-token", "P.example=c"),
            "--metric-token p.example=a is the second one for its host",
        ),
    ],
)
def test_wrong_options(gitfleet: Shell, moving: Path, words: tuple[str, ...], said: str) -> None:
    ended = gitfleet("run", moving, "--once", *words)
    assert ended.code == 64 and said in ended.err


@pytest.mark.parametrize("option", ["--outbound-secret", "--outbound-ca"])
def test_a_file_that_is_not_there_ends_the_start(gitfleet: Shell, moving: Path, tmp_path: Path, option: str) -> None:
    ended = gitfleet("run", moving, "--once", option, tmp_path / "nowhere")
    assert ended.code == 1 and "nowhere" in ended.err and ended.out == ""


@pytest.mark.parametrize("command", ["plan", "simulate", "agent"])
def test_who_only_looks_has_no_way_out(gitfleet: Shell, moving: Path, command: str) -> None:
    ended = gitfleet(command, moving, "--allow-outbound", "hooks.example.com")
    assert ended.code == 64 and "no such option '--allow-outbound'" in ended.err


def test_a_run_with_all_of_them(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    secret, token = tmp_path / "secret", tmp_path / "token"
    secret.write_text("s" * 32)
    token.write_text("t" * 32)
    words = ("--allow-outbound", "hooks.example.com", "--allow-outbound", "*.example.org:9090")
    files = ("--outbound-secret", secret, "--metric-token", f"http://p.example.org:9090={token}")
    for mode in ("--once", "--until-settled"):
        ended = gitfleet("run", moving, mode, *words, *files)
        assert ended.code == 0, ended.err
