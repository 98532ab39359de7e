"""Remotes and disks that fail, each a real one: which error says so, and that it goes on by itself afterwards.

docs/git.md, "When it fails", is this table for people.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import DiskFull, Forbidden, GitfleetError, MissingPart, NoRepository, RemoteUnreachable
from gitfleet.settings import GitCredentials
from tests.adapters.git.hubs import STATE, bare, change, git, unsound
from tests.realparts.bad_servers import SmallDisk, hanging_server
from tests.realparts.certificates import write_server_certificate
from tests.realparts.git_http import GitHttpServer
from tests.texts import part

pytestmark = pytest.mark.real
HURRIED = Bounds(network_seconds=0.4)
NO_PORT = "127.0.0.1:1"
DRIPPING = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (f"http://{NO_PORT}/x.git", "Failed to connect|Connection refused"),
        (f"ssh://git@{NO_PORT}/x.git", "Connection refused"),
        (f"git://{NO_PORT}/x.git", "unable to connect"),
        ("http://no-such-host.invalid/x.git", "Could not resolve host"),
        ("ssh://git@no-such-host.invalid/x.git", "Could not resolve hostname"),
    ],
)
def test_a_server_that_is_not_there(tmp_path: Path, url: str, words: str) -> None:
    with pytest.raises(RemoteUnreachable, match=words):
        GitRemote(url, tmp_path / "mirror").fetch()


@pytest.mark.parametrize("drips", [b"", DRIPPING], ids=["hangs", "drips"])
@pytest.mark.parametrize("scheme", ["http", "https", "git", "ssh"])
def test_a_server_that_never_answers_is_given_up_in_time(tmp_path: Path, drips: bytes, scheme: str) -> None:
    with hanging_server(drips=drips) as place:
        remote = GitRemote(f"{scheme}://{place}/x.git", tmp_path / "mirror", bounds=HURRIED)
        with pytest.raises(RemoteUnreachable):
            remote.fetch()
        with pytest.raises(RemoteUnreachable):
            remote.commit(change(STATE, None, {"f": b"1"}))


@pytest.mark.parametrize("left", ["sleep 20 &", "setsid sleep 20 &", "exec >&- 2>&-; sleep 20"])
def test_a_deadline_ends_what_git_leaves_behind(tmp_path: Path, left: str) -> None:
    """git has ended already, or says nothing more: the pipes alone do not say when it is over."""
    runner = GitRunner(tmp_path, {})
    since = time.monotonic()
    result = runner.run("-c", f"alias.leave=!{left}", "leave", seconds=0.5)
    assert (result.ok, result.timed_out) == (False, True) and time.monotonic() - since < 10


def test_a_server_that_hangs_in_the_middle_of_a_push(git_http: GitHttpServer, tmp_path: Path) -> None:
    """The push may have gone through: the next look says whether it did."""
    git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror", bounds=Bounds(network_seconds=1.5))
    first = remote.commit(change(STATE, None, {"f": b"1"}))
    git_http.before_receive_pack = lambda _: time.sleep(4)
    with pytest.raises(
        RemoteUnreachable, match=re.escape(GitText.TOOK_TOO_LONG(doing=GitText.PUSHING(shown=remote.shown)))
    ):
        remote.commit(change(STATE, first, {"f": b"2"}))
    git_http.clear_faults()
    head = remote.fetch()[STATE]
    assert remote.commit(change(STATE, head, {"f": b"3"})) == remote.fetch()[STATE]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, Forbidden), (403, Forbidden), (404, NoRepository), (429, RemoteUnreachable), (500, RemoteUnreachable)],
)
def test_a_refusal_ends_with_its_cause(
    git_http: GitHttpServer, tmp_path: Path, status: int, kind: type[GitfleetError]
) -> None:
    git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror")
    head = remote.commit(change(STATE, None, {"f": b"1"}))
    git_http.fail_next(99, status)
    for _ in range(2):
        with pytest.raises(GitfleetError) as refused:
            remote.fetch()
        assert type(refused.value) is kind and refused.value.hint
    git_http.clear_faults()
    assert remote.fetch() == {STATE: head}


def test_a_certificate_of_an_authority_that_is_not_trusted(tmp_path: Path) -> None:
    certificate = write_server_certificate(tmp_path, "git")
    (tmp_path / "other").mkdir()
    stranger = write_server_certificate(tmp_path / "other", "git")[0]
    with GitHttpServer(tmp_path / "server", certificate=certificate) as server:
        server.create("hub")
        for credentials in (None, GitCredentials(ca_file=stranger)):
            remote = GitRemote(server.url("hub"), tmp_path / f"m{credentials}"[:9], credentials=credentials)
            with pytest.raises(RemoteUnreachable, match=part(GitText.NO_TRUSTED_CERTIFICATE)) as refused:
                remote.fetch()
            assert refused.value.hint == GitText.GIVE_CERTIFICATE()
        known = GitCredentials(ca_file=certificate[0])
        remote = GitRemote(server.url("hub"), tmp_path / "trusting", credentials=known)
        assert remote.commit(change(STATE, None, {"f": b"1"})) == remote.fetch()[STATE]


def test_a_full_disk_of_the_cache_costs_nothing_but_time(disk: SmallDisk, tmp_path: Path) -> None:
    """Each step fails while there is no room, keeps what is there, and goes through when there is some again."""
    hub = bare(tmp_path / "hub.git")
    other = GitRemote(str(hub), tmp_path / "other")
    head = other.commit(change("main", None, {"f": os.urandom(100)}))
    disk.fill()
    remote = GitRemote(str(hub), disk.path / "cache" / "mirror")

    def goes_on(step: Callable[[], object]) -> None:
        for _ in range(2):
            with pytest.raises(DiskFull) as refused:
                step()
            assert refused.value.hint == GitText.MAKE_ROOM()
        disk.make_room()
        step()
        disk.fill()

    goes_on(remote.fetch)
    assert remote.fetch() == {"main": head}, "without news nothing is to be kept"
    identity = remote._connection.mirror.identity()
    news = other.commit(change("main", head, {"g": os.urandom(1 << 20)}))
    goes_on(remote.fetch)
    assert list(remote.list_tree(news)) == ["f", "g"], "a full disk is read"
    goes_on(lambda: remote.commit(change(STATE, None, {"x": os.urandom(1 << 19)})))
    assert remote._connection.mirror.identity() == identity, "a full disk is no damage"
    disk.make_room()
    assert unsound(disk.path / "cache" / "mirror" / "mirror.git") == []
    assert not list(disk.path.rglob("tmp_*"))


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """A file lies where the folder is to be: root may write everywhere else."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(MissingPart, match=str(tmp_path / "cache")) as refused:
        GitRemote(str(bare(tmp_path / "hub.git")), tmp_path / "cache" / "mirror")
    assert refused.value.hint


def test_a_branch_that_is_deleted_forced_back_or_shallow(tmp_path: Path) -> None:
    hub = bare(tmp_path / "hub.git")
    remote = GitRemote(str(hub), tmp_path / "mirror")
    first = remote.commit(change(STATE, None, {"f": b"1"}))
    second = remote.commit(change(STATE, first, {"f": b"2"}))
    git(hub, "update-ref", f"refs/heads/{STATE}", first)
    assert remote.fetch() == {STATE: first}
    again = remote.commit(change(STATE, first, {"f": b"3"}))
    git(hub, "update-ref", "-d", f"refs/heads/{STATE}")
    assert remote.fetch() == {}
    assert list(remote.list_tree(second)) == ["f"], "what was fetched once can still be read"
    made = remote.commit(change(STATE, None, {"f": b"4"}))
    git(hub, "update-ref", f"refs/heads/{STATE}", again)
    shallow = tmp_path / "shallow.git"
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", f"--branch={STATE}", f"file://{hub}", str(shallow))
    near = GitRemote(str(shallow), tmp_path / "near")
    assert near.fetch() == {STATE: again}
    assert near.ancestors(again, most=9) == []
    assert near.is_ancestor(first, again) in (None, True)
    assert near.commit(change(STATE, again, {"g": b"5"})) == near.fetch()[STATE]
    assert made not in remote.fetch().values()
