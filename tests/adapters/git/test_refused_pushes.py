"""What a remote says of a push that it refuses, from real servers: a race, what passes, or what a person must end."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.pushes import classify_push
from gitfleet.adapters.git.runner import GitResult
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import (
    BadInput,
    Forbidden,
    GitfleetError,
    GiveUp,
    LostRace,
    NoRepository,
    RefusedForNow,
    RemoteRefuses,
    RemoteUnreachable,
    RetryLater,
)
from gitfleet.settings import GitCredentials
from tests.adapters.git.hubs import STATE, change, git, unsound
from tests.realparts.bad_servers import SmallDisk
from tests.realparts.git_http import GitHttpServer
from tests.texts import part

pytestmark = pytest.mark.real
REF = f"refs/heads/{STATE}"


@dataclass
class Push:
    """A branch that was pushed once, and is to be pushed again to a server that does not take it."""

    server: GitHttpServer
    path: Path
    remote: GitRemote
    first: str

    def hook(self, name: str, script: str) -> None:
        (self.path / "hooks").mkdir(exist_ok=True)
        file = self.path / "hooks" / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def again(self, size: int = 10) -> str:
        return self.remote.commit(change(STATE, self.first, {"f": os.urandom(size)}))


@pytest.fixture
def push(git_http: GitHttpServer, tmp_path: Path) -> Push:
    path = git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror", credentials=GitCredentials(password="hunter2hunter2"))
    return Push(git_http, path, remote, remote.commit(change(STATE, None, {"f": b"0"})))


def _overtaken(push: Push) -> None:
    def overtake(path: Path) -> None:
        push.server.before_receive_pack = None
        tree = git(path, "rev-parse", f"{STATE}^{{tree}}")
        rival = git(path, "commit-tree", "-p", push.first, "-m", "rival", tree)
        git(path, "update-ref", REF, rival)

    push.server.before_receive_pack = overtake


def _deleted(push: Push) -> None:
    def delete(path: Path) -> None:
        git(path, "update-ref", "-d", REF)

    push.server.before_receive_pack = delete


def _stale(push: Push) -> None:
    GitRemote(str(push.path), push.path.parent / "rival").commit(change(STATE, push.first, {"f": b"rival"}))


def _answers(status: int, match: str = "receive-pack") -> Callable[[Push], None]:
    return lambda push: push.server.fail_next(99, status, match=match)


def _says(code: GitText, reported: str) -> str:
    """The pattern of a sentence, and of what the remote reported."""
    return re.escape(code(doing="", shown="", branch=STATE, reported="")) + reported


RACES = {"stale lease": _stale, "overtaken": _overtaken, "deleted": _deleted}
PASSING: dict[str, tuple[Callable[[Push], object], type[GitfleetError], str]] = {
    "a lock that is held": (
        lambda push: (push.path / f"{REF}.lock").touch(),
        RefusedForNow,
        _says(GitText.BRANCH_NOT_MOVED_NOW, r"remote: error: cannot lock ref .*File exists"),
    ),
    "503": (_answers(503, "POST"), RemoteUnreachable, "503"),
    "429": (_answers(429), RemoteUnreachable, "429"),
    "broken off": (lambda push: push.server.lose_answers(99), RemoteUnreachable, part(GitText.NOT_WORK)),
}
LASTING: dict[str, tuple[Callable[[Push], object], type[GitfleetError], str]] = {
    "pre-receive": (
        lambda push: push.hook("pre-receive", "printf 'no \\033[31mred\\033[0m \\007way\\n' >&2; exit 1"),
        Forbidden,
        _says(GitText.PUSH_REFUSED, r"remote: no red  way\.$"),
    ),
    "update": (lambda push: push.hook("update", "echo only on Mondays >&2; exit 1"), Forbidden, "only on Mondays"),
    "a secret that is repeated": (
        lambda push: push.hook("pre-receive", "echo token hunter2hunter2 is old >&2; exit 1"),
        Forbidden,
        r"token \*\*\* is old",
    ),
    "a long speech": (
        lambda push: push.hook("pre-receive", "for i in $(seq 2000); do echo blah $i >&2; done; exit 1"),
        Forbidden,
        r"^.{0,400}$",
    ),
    "413": (_answers(413, "POST /hub.git/git-receive"), RemoteRefuses, part(GitText.TOO_LARGE)),
    "the server's own limit": (
        lambda push: git(push.path, "config", "receive.maxInputSize", "50"),
        RemoteRefuses,
        _says(GitText.TOO_LARGE, "remote: fatal: pack exceeds maximum allowed size"),
    ),
    "401": (_answers(401), Forbidden, GitText.CREDENTIALS_NOT_ACCEPTED()),
    "403": (_answers(403), Forbidden, part(GitText.REFUSED)),
    "404": (_answers(404), NoRepository, part(GitText.FOUND_NO_REPOSITORY)),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_lost_and_the_next_commit_goes_through(push: Push, name: str) -> None:
    RACES[name](push)
    with pytest.raises(LostRace):
        push.again()
    push.server.clear_faults()
    head = push.remote.fetch().get(STATE)
    assert push.remote.commit(change(STATE, head, {"g": b"2"})) == push.remote.fetch()[STATE]


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_no_race(push: Push, name: str) -> None:
    """A lost race is tried again at once, and without an end where it is none."""
    prepare, kind, words = PASSING[name]
    prepare(push)
    with pytest.raises(RetryLater, match=words) as refused:
        push.again()
    assert isinstance(refused.value, kind) and not isinstance(refused.value, LostRace) and refused.value.hint


def test_a_lock_that_is_gone_is_no_hindrance(push: Push) -> None:
    lock = push.path / f"{REF}.lock"
    lock.touch()
    with pytest.raises(RefusedForNow):
        push.again()
    lock.unlink()
    assert push.again() == push.remote.fetch()[STATE]


@pytest.mark.parametrize("name", LASTING)
def test_what_lasts_says_so_in_the_servers_own_words(push: Push, name: str) -> None:
    prepare, kind, words = LASTING[name]
    prepare(push)
    with pytest.raises(GiveUp, match=words) as refused:
        push.again()
    text = str(refused.value)
    assert type(refused.value) is kind and refused.value.hint
    assert text.isprintable() and "hunter2hunter2" not in text
    push.server.clear_faults()
    assert push.remote.fetch()[STATE] == push.first


def test_a_remote_whose_disk_is_full_goes_on_when_it_has_room(push: Push, disk: SmallDisk) -> None:
    repository = disk.path / "hub.git"
    shutil.move(push.path, repository)
    push.path.symlink_to(repository)
    disk.fill()
    with pytest.raises(RefusedForNow, match=_says(GitText.REMOTE_DISK_FULL, r"remote: .*No space left on device")):
        push.again(1 << 20)
    disk.make_room()
    assert push.again(1 << 20) == push.remote.fetch()[STATE]
    assert unsound(repository) == []


@pytest.mark.parametrize(
    ("summary", "errors", "kind"),
    [
        ("[rejected] (stale info)", "", LostRace),
        ("[rejected] (fetch first)", "", LostRace),
        ("[rejected] (non-fast-forward)", "", LostRace),
        ("[remote rejected] (incorrect old value provided)", "", LostRace),
        ("[remote rejected] (protected branch hook declined)", "remote: error: GH006: protected branch", Forbidden),
        ("[remote rejected] (push declined due to repository rule violations)", "", Forbidden),
        ("[remote rejected] (TF402455: Pushes to this branch are not permitted)", "", Forbidden),
        ("[remote rejected] (shallow update not allowed)", "", RemoteRefuses),
        ("[remote rejected] (unpacker error)", "remote: fatal: fsck error in packed object", RemoteRefuses),
        ("[remote rejected] (unpacker error)", "remote: fatal: unable to create temporary object", RefusedForNow),
        ("[remote rejected] (Internal Server Error)", "", RefusedForNow),
        ("[remote rejected] (something that nobody knows)", "", RefusedForNow),
        # What a hook says is quoted and decides nothing.
        ("[remote rejected] (pre-receive hook declined)", "remote: x is at 1 but expected 2, checked out", Forbidden),
    ],
)
def test_words_of_servers_that_are_not_here(summary: str, errors: str, kind: type[GitfleetError]) -> None:
    output = f"To https://host/x\n!\tabc:{REF}\t{summary}\nDone\n".encode()
    error = classify_push(GitResult(1, output, errors), branch=STATE, shown="https://host/x", mask=str)
    assert type(error) is kind and isinstance(error, GitfleetError)
    assert not isinstance(error, BadInput)
