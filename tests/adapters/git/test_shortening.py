"""A branch that is too long keeps its newest commits: the same in memory and on every kind of git remote."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.errors import Forbidden, LostRace
from tests.adapters.git.hubs import STATE, WHEN, Hub, bare, change, git, unsound
from tests.realparts.git_http import GitHttpServer

MOST, KEEP = 6, 3
LIMIT = {"most_commits": MOST, "keep_commits": KEEP}


def grown(hub: Hub, count: int, **limit: int) -> list[str]:
    """So many commits, the oldest first."""
    made: list[str] = []
    for number in range(count):
        when = WHEN + timedelta(minutes=number)
        trailers = (("Gitfleet-Phase", "intent"),) if number % 2 else ()
        files = {"f": b"%d" % number, f"d{number}/f": b"x"}
        expected = made[-1] if made else None
        step = change(STATE, expected, files, when=when, subject=f"C{number}", trailers=trailers, **limit)
        made.append(hub.repo.commit(step))
    return made


def test_the_newest_commits_stay_with_their_trees_people_times_and_messages(hub: Hub) -> None:
    old = grown(hub, MOST)
    head = hub.repo.commit(change(STATE, old[-1], {"f": b"new"}, **LIMIT))
    assert hub.other.fetch()[STATE] == head
    kept = list(hub.other.ancestors(head, most=99))
    assert len(kept) == KEEP and not {*kept} & {*old}
    for made, was in zip(kept, reversed(old), strict=False):
        assert hub.other.list_tree(made) == hub.repo.list_tree(was)
        before, after = hub.repo.about(was), hub.other.about(made)
        assert (after.author, after.committer, after.at) == (before.author, before.committer, before.at)
        start = before.message.rstrip("\n")
        assert after.message.startswith(start) and after.message.endswith(f"Gitfleet-Was: {was}\n")
        separator = "\n" if "Gitfleet-Phase" in start else "\n\n"
        assert after.message == f"{start}{separator}Gitfleet-Was: {was}\n"
    tree = hub.other.list_tree(head)
    assert {path: hub.other.read_blobs([tree[path].oid], limit=9)[tree[path].oid] for path in ("f", "d0/f")} == {
        "f": b"new",
        "d0/f": b"x",
    }


def test_it_is_cut_again_and_again_and_names_the_first_id(hub: Hub) -> None:
    made = grown(hub, 3 * MOST, **LIMIT)
    line = [made[-1], *hub.other.ancestors(hub.other.fetch()[STATE], most=99)]
    assert KEEP < len(line) <= MOST
    messages = [hub.other.about(one).message for one in line]
    assert all(message.count("Gitfleet-Was: ") <= 1 for message in messages)
    named = [message.rpartition("Gitfleet-Was: ")[2].strip() for message in messages if "Gitfleet-Was" in message]
    assert named and {*named} <= {*made}


def test_a_branch_that_is_short_enough_keeps_its_ids(hub: Hub) -> None:
    old = grown(hub, MOST - 1)
    head = hub.repo.commit(change(STATE, old[-1], {"f": b"new"}, **LIMIT))
    assert list(hub.repo.ancestors(head, most=99)) == old[::-1]


def test_no_change_cuts_nothing_and_a_race_is_lost(hub: Hub) -> None:
    old = grown(hub, MOST)
    assert hub.repo.commit(change(STATE, old[-1], {"f": b"%d" % (MOST - 1)}, **LIMIT)) == old[-1]
    rival = hub.other.commit(change(STATE, old[-1], {"f": b"rival"}))
    with pytest.raises(LostRace):
        hub.repo.commit(change(STATE, old[-1], {"f": b"new"}, **LIMIT))
    assert hub.repo.fetch()[STATE] == rival


def test_two_processes_cut_at_once_and_one_of_them_wins(hub: Hub) -> None:
    old = grown(hub, MOST)
    hub.other.fetch()
    first = hub.repo.commit(change(STATE, old[-1], {"f": b"one"}, **LIMIT))
    with pytest.raises(LostRace):
        hub.other.commit(change(STATE, old[-1], {"f": b"two"}, **LIMIT))
    assert hub.other.fetch()[STATE] == first
    second = hub.other.commit(change(STATE, first, {"f": b"two"}, **LIMIT))
    assert hub.other.ancestors(second, most=99)[0] == first


def test_strange_commits_are_kept_and_the_repositories_are_sound(tmp_path: Path) -> None:
    """People's merges, empty messages, other time zones and encodings; the old objects go from the remote."""
    path = bare(tmp_path / "hub.git")
    tree = git(path, "mktree", stdin=b"100644 blob " + git(path, "hash-object", "-w", "--stdin").encode() + b"\tf\n")
    raw = b"author J\xf6 <j@x> 1700000000 +0530\ncommitter J <j@x> 1700000001 -0900\n"
    head, first = "", ""
    for number, message in enumerate(
        (b"first\n", b"", b"no end", b"m\n\nSigned-off-by: me\n", b"\n\nblank\n\n", b"x\n")
    ):
        parents = f"parent {head}\n".encode() if head else b""
        parents += f"parent {first}\n".encode() if number == 4 else b""
        encoding = b"encoding latin1\n" if number == 2 else b""
        body = f"tree {tree}\n".encode() + parents + raw + encoding + b"\n" + message
        head = git(path, "hash-object", "-w", "-t", "commit", "--stdin", stdin=body)
        first = first or head
    git(path, "update-ref", f"refs/heads/{STATE}", head)
    remote = GitRemote(str(path), tmp_path / "mirror")
    remote.fetch()
    made = remote.commit(change(STATE, head, {"g": b"1"}, most_commits=6, keep_commits=5))
    assert len(remote.ancestors(made, most=99)) == 5
    lines = git(path, "log", "--format=%T %ad %cd", "--date=raw", STATE).splitlines()[1:]
    assert set(lines) == {f"{tree} 1700000000 +0530 1700000001 -0900"}
    assert unsound(path) == [] and unsound(tmp_path / "mirror" / "mirror.git") == []
    git(path, "reflog", "expire", "--expire=now", "--all")
    git(path, "gc", "--quiet", "--prune=now")
    assert git(path, "cat-file", "--batch-check", stdin=first.encode()).endswith("missing")
    assert GitRemote(str(path), tmp_path / "fresh").fetch() == {STATE: made}


@pytest.mark.real
def test_a_remote_that_forbids_forced_pushes_says_so(git_http: GitHttpServer, tmp_path: Path) -> None:
    path = git_http.create("hub")
    git(path, "config", "receive.denyNonFastForwards", "true")
    hub = Hub(GitRemote(git_http.url("hub"), tmp_path / "one"), GitRemote(git_http.url("hub"), tmp_path / "two"), path)
    old = grown(hub, MOST)
    with pytest.raises(Forbidden):
        hub.repo.commit(change(STATE, old[-1], {"f": b"new"}, **LIMIT))
    assert hub.other.fetch()[STATE] == old[-1]
    head = hub.repo.commit(change(STATE, old[-1], {"f": b"new"}))
    assert list(hub.repo.ancestors(head, most=99)) == old[::-1]


def test_it_costs_no_blob_and_no_tree(file_hub: Hub) -> None:
    old = grown(file_hub, MOST)
    mirror = file_hub.path.parent / "one" / "mirror.git" if file_hub.path else Path()
    kinds = git(mirror, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    head = file_hub.repo.commit(change(STATE, old[-1], {"f": b"new"}, **LIMIT))
    now = git(mirror, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert head and {kind: now.count(kind) - kinds.count(kind) for kind in ("commit", "tree", "blob")} == {
        "commit": KEEP + 1,
        "tree": 1,
        "blob": 1,
    }
