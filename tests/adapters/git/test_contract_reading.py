"""RepoReader's promises, the same for memory and for every kind of git remote."""

from __future__ import annotations

import pytest

from gitfleet.errors import BadInput, LostRace
from gitfleet.formats.git_names import GITFLEET, blob_id
from gitfleet.ports.repos import CommitFacts, Person, RepoReader, RepoWriter, TreeEntry
from tests.adapters.git.hubs import FILES, STATE, WHEN, Hub, change, put_symlink

AWKWARD = {
    'quo"te\\d': b"1",
    "with space": b"2",
    "gr\u00fc\u00df/\u65e5\u672c": b"3",
    "-option": b"4",
    "a'b;$(x)": b"5",
}


def test_both_ports_are_kept(filled: Hub) -> None:
    reader: RepoReader = filled.repo
    writer: RepoWriter = filled.repo
    assert (reader, writer) == (filled.repo, filled.repo)


def test_an_empty_remote_has_no_branches(hub: Hub) -> None:
    assert {branch for branch in hub.repo.fetch() if branch != "desk"} == set()


def test_branches_appear_move_and_go(hub: Hub) -> None:
    first = hub.seed(FILES)
    assert hub.repo.fetch()["main"] == first
    second = hub.seed({"new": b"x"})
    hub.seed({"other": b"y"}, branch="team/b")
    assert hub.repo.fetch()["main"] == second
    assert "team/b" in hub.repo.fetch()
    hub.move_branch("team/b", None)
    assert "team/b" not in hub.repo.fetch()


def test_a_branch_may_become_a_folder_of_branches_and_back(hub: Hub) -> None:
    def rename(old: str, new: str, commit: str) -> None:
        hub.move_branch(old, None)
        hub.move_branch(new, commit)

    commit = hub.seed(FILES, branch="topic")
    assert "topic" in hub.repo.fetch()
    rename("topic", "topic/one", commit)
    assert set(hub.repo.fetch()) - {"desk"} == {"topic/one"}
    rename("topic/one", "topic", commit)
    assert set(hub.repo.fetch()) - {"desk"} == {"topic"}


def test_what_fetch_gives_belongs_to_the_caller(filled: Hub) -> None:
    first = dict(filled.repo.fetch())
    result = filled.repo.fetch()
    assert isinstance(result, dict)
    result.clear()
    assert filled.repo.fetch() == first


def test_a_tree_is_listed_in_path_order_with_true_ids_and_sizes(filled: Hub) -> None:
    commit = filled.repo.resolve("main")
    tree = filled.repo.list_tree(commit)
    assert list(tree) == ["a-b", "a.b", "a/b", "sub/deep/er.yaml"]
    assert dict(tree) == {path: TreeEntry("100644", blob_id(data), len(data)) for path, data in FILES.items()}


@pytest.mark.parametrize(
    ("under", "paths"),
    [("a", ["a/b"]), ("a/", ["a/b"]), ("sub/deep", ["sub/deep/er.yaml"]), ("a.b", []), ("none", []), ("su", [])],
)
def test_a_folder_is_listed_by_full_paths(filled: Hub, under: str, paths: list[str]) -> None:
    commit = filled.repo.resolve("main")
    assert list(filled.repo.list_tree(commit, under)) == paths


def test_a_listing_cannot_be_changed_by_its_reader(filled: Hub) -> None:
    commit = filled.repo.resolve("main")
    with pytest.raises(TypeError):
        filled.repo.list_tree(commit)["x"] = TreeEntry("100644", "0" * 40)  # type: ignore[index]  # that is the point


def test_awkward_names_survive(hub: Hub) -> None:
    commit = hub.seed(AWKWARD)
    hub.repo.fetch()
    tree = hub.repo.list_tree(commit)
    blobs = hub.repo.read_blobs([entry.oid for entry in tree.values()], limit=10)
    assert {path: blobs[entry.oid] for path, entry in tree.items()} == AWKWARD


def test_blobs_are_read_once_each_and_large_ones_left_out(hub: Hub) -> None:
    commit = hub.seed({"small": b"s" * 10, "large": b"l" * 11, "same": b"s" * 10, "binary": bytes(range(10))})
    hub.repo.fetch()
    oids = [entry.oid for entry in hub.repo.list_tree(commit).values()]
    assert hub.repo.read_blobs(oids, limit=10) == {
        blob_id(b"s" * 10): b"s" * 10,
        blob_id(bytes(range(10))): bytes(range(10)),
    }
    assert hub.repo.read_blobs([], limit=10) == {}


def test_changes_between_commits(hub: Hub) -> None:
    old = hub.seed({"keep": b"k", "edit": b"1", "drop": b"d", "file": b"f", "dir/x": b"x"})
    new = hub.other.commit(
        change(
            "main", old, {"edit": b"2", "add": b"a", "file/inside": b"f", "dir": b"x"}, remove=["drop", "file", "dir"]
        )
    )
    hub.repo.fetch()
    changes = hub.repo.changed_paths(old, new)
    assert dict(changes) == {
        "add": TreeEntry("100644", blob_id(b"a")),
        "dir": TreeEntry("100644", blob_id(b"x")),
        "dir/x": None,
        "drop": None,
        "edit": TreeEntry("100644", blob_id(b"2")),
        "file": None,
        "file/inside": TreeEntry("100644", blob_id(b"f")),
    }
    assert hub.repo.changed_paths(new, new) == {}


def test_the_commits_before_one_are_listed_nearest_first(hub: Hub) -> None:
    first = hub.seed({"f": b"1"})
    second = hub.other.commit(change("main", first, {"f": b"2"}))
    third = hub.other.commit(change("main", second, {"f": b"3"}))
    hub.repo.fetch()
    assert list(hub.repo.ancestors(third, most=5)) == [second, first]
    assert list(hub.repo.ancestors(third, most=1)) == [second]
    assert list(hub.repo.ancestors(first, most=5)) == []
    with pytest.raises(BadInput):
        hub.repo.ancestors("1" * 40, most=1)


def test_revisions_are_resolved(hub: Hub) -> None:
    commit = hub.seed(FILES)
    hub.repo.fetch()
    hub.tag("v1.0", commit)
    for revision in ("main", "refs/heads/main", commit, commit[:12], "v1.0", "refs/tags/v1.0"):
        assert hub.repo.resolve(revision) == commit


@pytest.mark.parametrize(
    "revision", ["nope", "0" * 40, "abcdef", "", "-x", "--all", "main~1", "a..b", "@{-1}", "x\ny", ":a"]
)
def test_what_names_no_commit_is_refused(filled: Hub, revision: str) -> None:
    with pytest.raises(BadInput):
        filled.repo.resolve(revision)


def test_unknown_objects_are_refused(filled: Hub) -> None:
    commit = filled.repo.resolve("main")
    for oid in ("1" * 40, "main", "--help", "", "1" * 39, commit.upper()):
        with pytest.raises(BadInput):
            filled.repo.list_tree(oid)
        with pytest.raises(BadInput):
            filled.repo.read_blobs([oid], limit=10)
        with pytest.raises(BadInput):
            filled.repo.changed_paths(commit, oid)
        with pytest.raises(BadInput):
            filled.repo.about(oid)


def test_symlinks_are_listed_and_never_followed(hub: Hub) -> None:
    hub.seed({"secret": b"s"})
    put_symlink(hub, "link", "/etc/passwd")
    commit = hub.repo.fetch()["main"]
    entry = hub.repo.list_tree(commit)["link"]
    assert entry == TreeEntry("120000", blob_id(b"/etc/passwd"), 11)
    assert hub.repo.read_blobs([entry.oid], limit=100) == {entry.oid: b"/etc/passwd"}


def test_messages_are_read_whole(hub: Hub) -> None:
    commit = hub.other.commit(
        change(
            "main",
            None,
            {"f": b"1"},
            subject="Say it",
            body="Because.\n\nReally.\n",
            trailers=(("Gitfleet-Phase", "intent"),),
        )
    )
    hub.repo.fetch()
    text = "Say it\n\nBecause.\n\nReally.\n\nGitfleet-Phase: intent\n"
    tree = hub.repo.about(commit).tree
    assert hub.repo.about(commit) == CommitFacts(
        id=commit, tree=tree, parents=(), author=GITFLEET, committer=GITFLEET, at=WHEN, message=text
    )
    assert hub.repo.about(commit).trailers == {"Gitfleet-Phase": "intent"}
    person = Person(name="Ann Other", email="ann@example.org")
    second = hub.repo.commit(change("main", commit, {"b": b"2"}, person=person))
    about = hub.repo.about(second)
    assert (about.parents, about.author, about.committer) == ((commit,), *[("Ann Other", "ann@example.org")] * 2)


def test_a_branch_is_removed_from_where_it_was(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"a": b"1"}))
    second = hub.other.commit(change(STATE, first, {"a": b"2"}))
    with pytest.raises(LostRace):
        hub.repo.remove_branch(STATE, first)
    assert hub.repo.fetch()[STATE] == second
    hub.repo.remove_branch(STATE, second)
    assert STATE not in hub.repo.fetch()
    with pytest.raises(LostRace):
        hub.other.remove_branch(STATE, second)


def test_the_second_reader_reads_the_same(filled: Hub) -> None:
    commit = filled.repo.resolve("main")
    second = filled.repo.clone_reader()
    assert second.fetch()["main"] == commit
    assert list(second.list_tree(commit)) == list(filled.repo.list_tree(commit))
    assert WHEN.tzinfo is not None
