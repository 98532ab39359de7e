"""The variables that say how to reach the git remote."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitfleet.cli.git_environment import git_credentials, git_seconds
from gitfleet.cli.options import forge_settings
from gitfleet.cli.texts import CliText
from gitfleet.settings import GitCredentials, GitHubApp
from tests.cli.conftest import Shell

APP = {
    "GITFLEET_GITHUB_APP_ID": "4711",
    "GITFLEET_GITHUB_APP_INSTALLATION_ID": "42",
    "GITFLEET_GITHUB_APP_KEY_FILE": "/etc/app.pem",
}
SECRET = "hunter2hunter2"
SEVERAL = CliText.GIVE_ONE_GITFLEET_GIT_PASSWORD(app="GITFLEET_GITHUB_APP_ID")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, GitCredentials()),
        ({"GITFLEET_GIT_PASSWORD_FILE": "/etc/token"}, GitCredentials(password_file=Path("/etc/token"))),
        (APP, GitCredentials(app=GitHubApp(app_id="4711", installation_id="42", key_file=Path("/etc/app.pem")))),
        ({"GITFLEET_GIT_PROXY": "http://proxy:3128"}, GitCredentials(proxy="http://proxy:3128")),
        ({"GITFLEET_GIT_PASSWORD": ""}, GitCredentials()),
    ],
)
def test_what_is_named_is_used(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: GitCredentials
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert git_credentials() == expected


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"GITFLEET_GIT_PASSWORD": SECRET, "GITFLEET_GIT_PASSWORD_FILE": "x"}, SEVERAL),
        ({**APP, "GITFLEET_GIT_PASSWORD_FILE": "x"}, SEVERAL),
        (
            {"GITFLEET_GITHUB_APP_ID": "1"},
            CliText.GITHUB_APP_NEEDS(app=", ".join(APP), missing="GITFLEET_GITHUB_APP_INSTALLATION_ID"),
        ),
        (
            {"GITFLEET_GITHUB_API_URL": "https://x/api/v3"},
            CliText.GITHUB_APP_NEEDS(app=", ".join(APP), missing="GITFLEET_GITHUB_APP_ID"),
        ),
        (
            {**APP, "GITFLEET_GITHUB_APP_INSTALLATION_ID": "../.."},
            CliText.NO_NUMBER_STANDS_ADDRESS_INSTALLATION(app="GITFLEET_GITHUB_APP_INSTALLATION_ID"),
        ),
        ({"GITFLEET_GIT_PROXY": f"ftp://user:{SECRET}@proxy"}, CliText.GITFLEET_GIT_PROXY_NO_URL()),
        ({"GITFLEET_GIT_PROXY": f"user:{SECRET}@proxy:1"}, CliText.GITFLEET_GIT_PROXY_NO_URL()),
        ({"GITFLEET_GIT_TIMEOUT": "soon"}, CliText.GITFLEET_GIT_TIMEOUT(text="soon", longest_seconds=3600.0)),
        ({"GITFLEET_GIT_TIMEOUT": "0"}, CliText.GITFLEET_GIT_TIMEOUT(text="0", longest_seconds=3600.0)),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, gitfleet: Shell, tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ended = gitfleet("validate", tmp_path)
    assert ended.code == 1 and words in ended.err and SECRET not in ended.err and "Traceback" not in ended.err


def test_the_time_for_one_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert git_seconds() == 120.0
    monkeypatch.setenv("GITFLEET_GIT_TIMEOUT", "900")
    assert git_seconds() == 900.0


def test_an_app_is_a_token_for_github_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in APP.items():
        monkeypatch.setenv(name, value)
    repo = "https://github.com/acme/fleet"
    found = forge_settings(repo, {"forge": "github"})
    assert found is not None and found.app == git_credentials().app
    own = forge_settings(repo, {"forge": "github", "forge_token_file": Path("x")})
    assert own is not None and own.app is None
    with pytest.raises(Exception, match=re.escape(CliText.FORGE_NEEDS_TOKEN())):
        forge_settings(repo, {"forge": "gitea"})


def test_a_password_is_in_no_text_of_the_settings() -> None:
    text = repr(GitCredentials(password=SECRET, proxy=f"http://u:{SECRET}@proxy:1"))
    assert SECRET not in text
