"""Over HTTP: credentials stay secret, and every way of failing has its name."""

from __future__ import annotations

import base64
import logging
import os
import shutil
import traceback
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, Forbidden, LostRace, RemoteUnreachable
from gitfleet.settings import GitCredentials
from tests.adapters.git.hubs import STATE, change
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
SECRET = "s3cr3t/with@odd:signs"
TOKEN = base64.b64encode(f"bot:{SECRET}".encode()).decode()


@pytest.fixture
def spied_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `git` on the PATH that notes its arguments (and those of every git below it) and runs the real one."""
    real = shutil.which("git")
    spy, notes = tmp_path / "bin", tmp_path / "arguments"
    spy.mkdir()
    (spy / "git").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {notes}\nexec {real} "$@"\n')
    (spy / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy}:{os.environ['PATH']}")
    return notes


@pytest.fixture
def private(git_http: GitHttpServer) -> GitHttpServer:
    """A server that asks for a password, with the repository `hub`."""
    git_http.create("hub")
    git_http.credentials = ("bot", SECRET)
    return git_http


def test_credentials_open_the_door_and_show_nowhere(
    private: GitHttpServer, tmp_path: Path, spied_arguments: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    credentials = GitCredentials(username="bot", password=SECRET)
    remote = GitRemote(private.url("hub"), tmp_path / "mirror", credentials=credentials)
    first = remote.commit(change(STATE, None, {"f": b"1"}))
    assert remote.clone_reader().fetch() == {STATE: first}
    seen = spied_arguments.read_text() + caplog.text + repr(remote) + repr(credentials) + repr(remote._settings)
    seen += "".join(file.read_text(errors="replace") for file in (tmp_path / "mirror").rglob("*") if file.is_file())
    assert "fast-import" in seen
    assert SECRET not in seen
    assert TOKEN not in seen


def test_a_password_inside_the_url_is_taken_out_of_it(
    private: GitHttpServer, tmp_path: Path, spied_arguments: Path
) -> None:
    url = private.url("hub").replace("http://", "http://bot:s3cr3t%2Fwith%40odd%3Asigns@")
    remote = GitRemote(url, tmp_path / "mirror")
    remote.commit(change(STATE, None, {"f": b"1"}))
    assert "s3cr3t" not in spied_arguments.read_text() + remote.shown + repr(remote)


@pytest.mark.parametrize(
    "url", ["https://bot:hunter2@", "https://bot:hunter2/x@host/y", "bot:hunter2@host:x", "bot:hunter2@h/x"]
)
def test_a_url_that_cannot_be_read_is_not_repeated(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput) as refused:
        GitRemote(url, tmp_path / "mirror")
    trace = "".join(traceback.format_exception(refused.value))
    assert "hunter2" not in trace.replace(repr(url), "")


@pytest.mark.parametrize("password", ["wrong-password", None])
def test_wrong_credentials_are_forbidden_and_masked(
    private: GitHttpServer, tmp_path: Path, password: str | None
) -> None:
    credentials = GitCredentials(username="bot", password=password) if password else None
    remote = GitRemote(private.url("hub"), tmp_path / "mirror", credentials=credentials)
    with pytest.raises(Forbidden) as refused:
        remote.fetch()
    assert refused.value.hint
    assert GitText.CREDENTIALS_NOT_ACCEPTED() in str(refused.value)
    assert "wrong-password" not in str(refused.value)
    with pytest.raises(Forbidden):
        remote.commit(change(STATE, None, {"f": b"1"}))


def test_a_remote_that_repeats_a_secret_is_masked(git_http: GitHttpServer, tmp_path: Path) -> None:
    """The name of the repository stands for anything that a server may send back."""
    remote = GitRemote(
        git_http.url("no-hunter2hunter2"), tmp_path / "m", credentials=GitCredentials(password="hunter2hunter2")
    )
    with pytest.raises(BadInput) as missing:
        remote.fetch()
    assert "hunter2hunter2" not in str(missing.value).replace(remote.shown, "")


def test_a_push_whose_answer_is_lost_is_seen_by_the_next_look(git_http: GitHttpServer, tmp_path: Path) -> None:
    git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror")
    first = remote.commit(change(STATE, None, {"f": b"1"}))
    git_http.lose_answers(1)
    with pytest.raises((RemoteUnreachable, LostRace)):  # curl asks a second time by itself and finds the branch moved
        remote.commit(change(STATE, first, {"f": b"2"}))
    head = remote.fetch()[STATE]
    assert head != first
    with pytest.raises(LostRace):
        remote.commit(change(STATE, first, {"f": b"2"}))
    assert remote.commit(change(STATE, head, {"f": b"2"})) == head


def test_a_fetch_without_news_is_one_question(git_http: GitHttpServer, tmp_path: Path) -> None:
    git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror")
    remote.commit(change(STATE, None, {"f": b"1"}))
    remote.fetch()
    git_http.requests.clear()
    remote.fetch()
    assert not [request for request in git_http.requests if "receive-pack" in request]
    assert len(git_http.requests) <= 2
