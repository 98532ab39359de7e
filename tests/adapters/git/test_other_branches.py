"""Nobody else's branch matters: what lies on branches that nobody asks for neither stops nor slows a fleet."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.formats.git_names import blob_id
from tests.adapters.git.hubs import STATE, Hub, change, git, unsound_commit
from tests.realparts.git_http import GitHttpServer
from tests.texts import part

ODD_NAMES = [
    "line\u2028end",
    "next\u0085line",
    "tab-\u00a0-space",
    "gitfleet/stat\u0115",
    "x" * 200,
    "\udcff\udcfe",
    "a/b/c/d",
]


def put_branches(path: Path, commit: str, names: list[str]) -> None:
    lines = b"".join(b"create refs/heads/" + os.fsencode(name) + f" {commit}\n".encode() for name in names)
    git(path, "update-ref", "--stdin", stdin=lines)
    git(path, "pack-refs", "--all")


def test_branches_that_are_not_asked_for_are_not_fetched(file_hub: Hub, tmp_path: Path) -> None:
    assert file_hub.path
    main = file_hub.seed({"a": b"1"})
    file_hub.seed({"big": os.urandom(3 << 20)}, branch="somebody/big")
    put_branches(file_hub.path, unsound_commit(file_hub.path), ["somebody/evil"])
    put_branches(file_hub.path, main, ODD_NAMES)
    remote = GitRemote(str(file_hub.path), tmp_path / "mirror", bounds=Bounds(largest_fetch_bytes=1 << 20))

    heads = remote.fetch(("main", STATE))

    assert heads["main"] == main and {*ODD_NAMES, "somebody/big", "somebody/evil"} <= heads.keys()
    assert dict(remote.list_tree(main)) and remote.read_blobs([blob_id(b"1")], limit=9)
    first = remote.commit(change(STATE, None, {"f": b"1"}))
    assert remote.fetch(("main", STATE))[STATE] == first
    kept = git(tmp_path / "mirror" / "mirror.git", "for-each-ref", "--format=%(objectname)").split()
    assert sorted(kept) == sorted([main, first])
    for branch, error in (
        ("somebody/big", GitText.BRINGS_MORE(limit=1)),
        ("somebody/evil", re.escape(part(GitText.OBJECT_UNSOUND_AS))),
    ):
        with pytest.raises(BadInput, match=error):
            remote.list_tree(heads[branch])
    assert remote.list_tree(main), "what was read before is read on"


@pytest.mark.soak("scale")
@pytest.mark.real
def test_a_hundred_thousand_branches_of_somebody_else(git_http: GitHttpServer, tmp_path: Path) -> None:
    path = git_http.create("hub")
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror")
    main = remote.commit(change("main", None, {"a": b"1"}))
    put_branches(path, main, [f"somebody/{number:06}" for number in range(100_000)])
    again = GitRemote(git_http.url("hub"), tmp_path / "again")
    heads = again.fetch(("main", STATE))
    assert (len(heads), list(again.list_tree(main))) == (100_001, ["a"])
    assert git(tmp_path / "again" / "mirror.git", "for-each-ref").count("\n") == 0
    git_http.requests.clear()
    assert again.fetch(("main", STATE)) == heads
    assert len(git_http.requests) == 2, "one question when nothing moved"


def test_another_branch_is_brought_when_it_is_read(file_hub: Hub, tmp_path: Path) -> None:
    main = file_hub.seed({"a": b"1"})
    topic = file_hub.seed({"b": b"2"}, branch="topic")
    older = file_hub.seed({"c": b"3"}, branch="topic2")
    newer = file_hub.seed({"c": b"4"}, branch="topic2")
    remote = GitRemote(str(file_hub.path), tmp_path / "mirror")
    remote.fetch(("main",))
    assert remote.list_tree(remote.resolve("topic")).keys() == {"b"}
    assert remote.clone_reader().list_tree(newer).keys() == {"c"}
    assert remote.changed_paths(main, topic).keys() == {"a", "b"}
    fresh = GitRemote(str(file_hub.path), tmp_path / "fresh")
    fresh.fetch(())
    assert fresh.about(newer).message.startswith("Change files")
    assert (fresh.resolve(newer[:9]), fresh.resolve(topic[:9])) == (newer, topic)
    assert fresh.resolve(older[:9]) == older
    with pytest.raises(BadInput, match=part(GitText.NO_REVISION)):
        fresh.resolve("1" * 40)
