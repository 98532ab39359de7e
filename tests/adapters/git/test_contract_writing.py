"""RepoWriter's promises, the same for memory and for every kind of git remote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitfleet.errors import BadInput, LostRace
from gitfleet.formats.git_names import blob_id
from gitfleet.ports.repos import BranchChange, Person, TreeEntry
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.git.hubs import STATE, WHEN, Hub, change
from tests.profiles import examples


def files_of(hub: Hub, branch: str) -> dict[str, bytes]:
    commit = hub.repo.fetch()[branch]
    tree = hub.repo.list_tree(commit)
    blobs = hub.repo.read_blobs([entry.oid for entry in tree.values()], limit=1 << 20)
    return {path: blobs[entry.oid] for path, entry in tree.items()}


def test_a_new_branch_is_an_orphan(hub: Hub) -> None:
    hub.seed({"people": b"1"})
    first = hub.repo.commit(change(STATE, None, {"README.md": b"hello\n"}))
    assert files_of(hub, STATE) == {"README.md": b"hello\n"}
    assert hub.repo.fetch()[STATE] == first


def test_changes_build_on_each_other(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"a": b"1", "b/c": b"2"}))
    second = hub.repo.commit(change(STATE, first, {"b/d": b"3"}, remove=["a"]))
    assert files_of(hub, STATE) == {"b/c": b"2", "b/d": b"3"}
    assert hub.repo.fetch()[STATE] == second


def test_removal_comes_first_and_takes_whole_folders(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"gone/a": b"1", "gone/b/c": b"2", "stay": b"3", "lone/x": b"4"}))
    hub.repo.commit(change(STATE, first, {"gone/new": b"5"}, remove=["gone/", "lone/x", "never/was", "stay/not"]))
    assert files_of(hub, STATE) == {"gone/new": b"5", "stay": b"3"}


def test_the_whole_tree_can_be_replaced(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"a/b": b"1", "c": b"2"}))
    hub.repo.commit(change(STATE, first, {"new": b"3"}, remove=[""]))
    assert files_of(hub, STATE) == {"new": b"3"}


def test_a_file_and_a_folder_replace_each_other(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"x": b"file", "y/z": b"deep"}))
    hub.repo.commit(change(STATE, first, {"x/inside": b"1", "y": b"2"}))
    assert files_of(hub, STATE) == {"x/inside": b"1", "y": b"2"}


def test_links_keep_blob_ids(hub: Hub) -> None:
    main = hub.seed({"app.yaml": b"kind: App\n"})
    hub.repo.fetch()
    entry = hub.repo.list_tree(main)["app.yaml"]
    runnable = TreeEntry("100755", entry.oid, entry.size)
    commit = hub.repo.commit(change(STATE, None, link={"snap/1.yaml": entry, "run": runnable}))
    tree = hub.repo.list_tree(commit)
    assert dict(tree) == {"run": runnable, "snap/1.yaml": entry}
    assert entry.oid == blob_id(b"kind: App\n")


def test_a_link_to_nothing_or_to_no_file_is_refused(filled: Hub) -> None:
    filled.repo.fetch()
    for entry in (TreeEntry("100644", "1" * 40), TreeEntry("120000", blob_id(b"")), TreeEntry("160000", "1" * 40)):
        with pytest.raises(BadInput):
            filled.repo.commit(change(STATE, None, link={"x": entry}))
    assert STATE not in filled.repo.fetch()


def test_the_same_change_gives_the_same_id_everywhere(hub: Hub) -> None:
    model = MemoryRepo()
    first = change(STATE, None, {"a": b"1", "b/c": b"2", "b.c": b"3"}, body="why", trailers=(("K", "v"),))
    one = hub.repo.commit(first)
    assert one == model.commit(first)
    second = change(
        STATE, one, {"d": b"4"}, remove=["b"], author=("Ann Other", "ann@example.org"), subject="  Trimmed  "
    )
    east = datetime(2026, 3, 4, 8, 6, 7, 999, tzinfo=timezone(timedelta(hours=3)))
    two = hub.repo.commit(second)
    assert two == model.commit(second)
    third = change(STATE, two, {"e": b"5"}, when=east)
    three = hub.repo.commit(third)
    assert three == model.commit(third)
    fourth = change(STATE, three, {"f": b"6"}, person=Person(name="Ann Other", email="ann@example.org"))
    assert hub.repo.commit(fourth) == model.commit(fourth)


def test_a_commit_may_name_its_own_tree(hub: Hub) -> None:
    files = {"a": b"1", "b/c": b"2"}
    first = hub.repo.commit(change(STATE, None, files, trailers=(("K", "v"),), tree_trailer="Tree"))
    second = hub.repo.commit(change(STATE, first, {"b/c": b"3"}, remove=["a"], tree_trailer="Tree"))
    hub.repo.fetch()
    for commit in (first, second):
        about = hub.repo.about(commit)
        assert about.trailers["Tree"] == about.tree
    assert hub.repo.about(first).tree != hub.repo.about(second).tree
    assert list(hub.repo.list_tree(second)) == ["b/c"]
    assert hub.repo.commit(change(STATE, second, {"b/c": b"3"}, tree_trailer="Tree")) == second, "nothing changed"


def test_no_change_makes_no_commit(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"a": b"1"}))
    same = change(STATE, first, {"a": b"1"}, remove=["none"], subject="Again", when=WHEN + timedelta(hours=1))
    assert hub.repo.commit(same) == first
    assert hub.repo.fetch()[STATE] == first
    with pytest.raises(BadInput):
        hub.repo.commit(change("gitfleet/new", None, {}))


def test_a_branch_starts_from_another_commit(hub: Hub) -> None:
    main = hub.seed({"people": b"1"})
    approve = hub.repo.commit(change("gitfleet/approve/run-1-canary", None, {"approval": b"y"}, base=main))
    assert files_of(hub, "gitfleet/approve/run-1-canary") == {"approval": b"y", "people": b"1"}
    newer = hub.seed({"people": b"2"})
    hub.repo.fetch()
    again = hub.repo.commit(change("gitfleet/approve/run-1-canary", approve, {"approval": b"y"}, base=newer))
    assert files_of(hub, "gitfleet/approve/run-1-canary") == {"approval": b"y", "people": b"2"}
    with pytest.raises(BadInput):
        hub.repo.commit(change("gitfleet/approve/x", None, {}, base=newer))
    with pytest.raises(BadInput):
        hub.repo.commit(change("gitfleet/approve/x", None, {"a": b"1"}, base="1" * 40))
    assert hub.repo.fetch()["gitfleet/approve/run-1-canary"] == again


def test_a_branch_of_one_commit_is_amended(hub: Hub) -> None:
    first = hub.repo.commit(change("gitfleet/member/east", None, {"beat": b"1", "old": b"o"}))
    amended = change("gitfleet/member/east", first, {"beat": b"2"}, base="")
    second = hub.repo.commit(amended)
    assert files_of(hub, "gitfleet/member/east") == {"beat": b"2"}
    orphan = MemoryRepo().commit(change("gitfleet/member/east", None, {"beat": b"2"}))
    assert second == orphan
    assert hub.repo.commit(change("gitfleet/member/east", second, {"beat": b"2"}, base="", subject="Same")) == second


def test_the_slower_of_two_loses_and_changes_nothing(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"n": b"0"}))
    hub.other.fetch()
    won = hub.other.commit(change(STATE, first, {"n": b"1"}))
    with pytest.raises(LostRace):
        hub.repo.commit(change(STATE, first, {"n": b"2"}))
    assert hub.repo.fetch()[STATE] == won
    assert files_of(hub, STATE) == {"n": b"1"}


def test_a_commit_is_checked_before_it_is_pushed(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"n": b"0"}))

    def check(made: str) -> None:
        assert hub.repo.about(made).parents == (first,) and hub.repo.list_tree(made).keys() == {"n", "m"}
        raise BadInput("not this one")

    with pytest.raises(BadInput, match="not this one"):
        hub.repo.commit(change(STATE, first, {"m": b"1"}, check=check))
    assert hub.repo.fetch()[STATE] == hub.other.fetch()[STATE] == first
    assert hub.repo.commit(change(STATE, first, {"n": b"0"}, check=check)) == first, "nothing to push, nothing to check"


def test_the_very_same_commit_is_won_by_one_only(hub: Hub) -> None:
    first = hub.repo.commit(change(STATE, None, {"n": b"0"}))
    hub.other.fetch()
    hub.other.commit(change(STATE, first, {"n": b"1"}))
    with pytest.raises(LostRace):
        hub.repo.commit(change(STATE, first, {"n": b"1"}))


def test_a_branch_that_exists_already_is_a_lost_race(hub: Hub) -> None:
    won = hub.other.commit(change(STATE, None, {"n": b"1"}))
    with pytest.raises(LostRace):
        hub.repo.commit(change(STATE, None, {"n": b"2"}))
    assert hub.repo.fetch()[STATE] == won


def test_an_expected_commit_that_nobody_has_is_a_lost_race(hub: Hub) -> None:
    hub.repo.commit(change(STATE, None, {"n": b"1"}))
    with pytest.raises(LostRace):
        hub.repo.commit(change(STATE, "1" * 40, {"n": b"2"}))


def test_a_commit_of_somebody_else_is_found_without_a_fetch(hub: Hub) -> None:
    hub.repo.fetch()
    first = hub.other.commit(change(STATE, None, {"n": b"1"}))
    second = hub.repo.commit(change(STATE, first, {"n": b"2"}))
    assert hub.other.fetch()[STATE] == second


def test_a_branch_named_like_a_folder_of_branches_is_refused(hub: Hub) -> None:
    hub.seed({"x": b"1"}, branch="gitfleet")
    hub.repo.fetch()
    with pytest.raises(BadInput):
        hub.repo.commit(change(STATE, None, {"n": b"1"}))


EVIL_PATHS = [
    "../x", "/etc/passwd", "a/../../x", ".git/config", "a/.git/hooks/post-checkout", ".GIT/config", "git~1/x",
    ".git./x", ".git /x", "a//b", "a/", "./a", "a/./b", "", "a\nb", "a\0b", "a\tb", ".g\u200cit/config",
    ".git:stream/x", "x" * 256, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("path", EVIL_PATHS)
def test_evil_paths_are_refused(filled: Hub, path: str) -> None:
    good = TreeEntry("100644", blob_id(b"1"), 1)
    changes = [change(STATE, None, {path: b"1"}), change(STATE, None, {"ok": b"1"}, link={path: good})]
    if path not in ("", "a/"):  # the whole tree and a folder may be removed
        changes.append(change(STATE, None, {"ok": b"1"}, remove=[path]))
    for evil in changes:
        with pytest.raises(BadInput):
            filled.repo.commit(evil)
    assert STATE not in filled.repo.fetch()


EVIL_BRANCHES = [
    "", "-f", "--mirror", "a..b", "a b", "a~1", "a^", "a:b", "a*", "a?", "a[", "a\\b", ".a", "a/.b", "a.lock",
    "a.lock/b", "a//b", "/a", "a/", "a.", "@", "a@{1}", "a\nb", "a\0", "refs heads",
]  # fmt: skip


@pytest.mark.parametrize("branch", EVIL_BRANCHES)
def test_evil_branches_are_refused(filled: Hub, branch: str) -> None:
    with pytest.raises(BadInput):
        filled.repo.commit(change(branch, None, {"a": b"1"}))


@pytest.mark.parametrize(
    "rest",
    [
        {"subject": ""},
        {"subject": "a\nb"},
        {"subject": "x\0"},
        {"body": "x\0y"},
        {"trailers": (("Bad key", "v"),)},
        {"trailers": (("K", "v\nFake: w"),)},
        {"author": ("a\nb", "c")},
        {"author": ("a", "<c>")},
        {"author": ("", "c")},
        {"when": datetime(2026, 1, 1)},  # noqa: DTZ001 - that is the point
        {"write": {"a": b"1", "a/b": b"2"}},
        {"write": {"a": b"1"}, "link": {"a": TreeEntry("100644", blob_id(b"1"))}},
    ],
)
def test_evil_words_are_refused(filled: Hub, rest: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"subject": "s", "when": WHEN, "write": {"a": b"1"}, **rest}
    with pytest.raises(BadInput):
        filled.repo.commit(BranchChange(branch=STATE, expected=None, **fields))


def test_contents_are_bytes_of_any_kind_and_size(hub: Hub) -> None:
    files = {
        "empty": b"",
        "nul": b"\0\n\0",
        "crlf": b"a\r\nb",
        "stream": b"done\nget-mark :1\n",
        "big": b"x" * 3_000_000,
    }
    hub.repo.commit(change(STATE, None, files, body="commit refs/heads/evil\ndata 3\nfrom main"))
    commit = hub.repo.fetch()[STATE]
    tree = hub.repo.list_tree(commit)
    blobs = hub.repo.read_blobs([entry.oid for entry in tree.values()], limit=1 << 22)
    assert {path: blobs[entry.oid] for path, entry in tree.items()} == files
    assert set(hub.repo.fetch()) - {"desk"} == {STATE}


NAME = st.sampled_from(["a", "b", "a.b", "a-b", "c", "\u00e9", "A"])
PATH = st.lists(NAME, min_size=1, max_size=3).map("/".join)
STEP = st.tuples(
    st.dictionaries(PATH, st.sampled_from([b"", b"1", b"22"]), max_size=3), st.lists(PATH | st.just(""), max_size=2)
)


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=1, max_size=4), seconds=st.integers(0, (1 << 31) - 1))
def test_memory_and_git_agree_on_every_id(
    file_hub: Hub, steps: list[tuple[dict[str, bytes], list[str]]], seconds: int
) -> None:
    model = MemoryRepo()
    branch, head = f"try/{len(file_hub.repo.fetch())}", None
    when = datetime.fromtimestamp(seconds, UTC)
    for files, remove in steps:
        step = change(branch, head, files, remove=remove, when=when)
        try:
            expected = model.commit(step)
        except BadInput:
            with pytest.raises(BadInput):
                file_hub.repo.commit(step)
            continue
        assert file_hub.repo.commit(step) == expected
        assert list(file_hub.repo.list_tree(expected).items()) == list(model.list_tree(expected).items())
        if head:
            assert dict(file_hub.repo.changed_paths(head, expected)) == dict(model.changed_paths(head, expected))
        head = expected
