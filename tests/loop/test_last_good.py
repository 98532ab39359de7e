"""invariant 2 from commit to commit: every object holds its own last good version, through restarts and rewritten
history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.faults import LastGood, is_error
from gitfleet.formats.git_names import blob_id
from tests.loop.commits import Commits, config_map, faulty_map, held, stream, values

PATH = "resources/a.yaml"
UNREADABLE = "a: [\n"


def test_every_object_of_a_file_holds_its_own_last_good_version() -> None:
    commits = Commits()
    first, second = stream(config_map("a", "1"), config_map("b", "1")), stream(config_map("a", "2"), faulty_map("b"))
    assert values(commits.push({PATH: first})) == {"a": "1", "b": "1"}
    assert values(commits.push({PATH: second})) == {"a": "2", "b": "1"}

    desired = commits.push({PATH: stream(faulty_map("a"), faulty_map("b"))})

    assert values(desired) == {"a": "2", "b": "1"}
    assert set(desired.last_good[PATH]) == {
        LastGood(blob_id(second.encode()), (0,)),
        LastGood(blob_id(first.encode()), (1,)),
    }


def test_a_file_that_cannot_be_read_at_all_holds_what_each_object_was() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"), config_map("c", "1"))})
    commits.push({PATH: stream(config_map("a", "2"), faulty_map("b"), config_map("c", "2"))})
    commits.push({PATH: stream(faulty_map("a"), faulty_map("b"))})
    for text in (UNREADABLE, "b: [\n", UNREADABLE):
        desired = commits.push({PATH: text})
        assert values(desired) == {"a": "2", "b": "1"}, "c was removed on purpose while b was faulty"
        assert not desired.holds_removals


def test_what_was_removed_on_purpose_does_not_come_back_with_a_later_fault() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    commits.push({PATH: stream(faulty_map("a"), faulty_map("b"))})
    assert values(commits.push({PATH: faulty_map("b")})) == {"b": "1"}
    assert values(commits.push({PATH: stream(faulty_map("b"), faulty_map("a"))})) == {"b": "1"}


def test_a_healed_file_lets_its_last_good_versions_go() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    assert held(commits.push({PATH: stream(faulty_map("a"), faulty_map("b"))})) == {PATH: [(0, 1)]}
    assert held(commits.push({PATH: stream(config_map("a", "3"), faulty_map("b"))})) == {PATH: [(1,)]}
    desired = commits.push({PATH: stream(config_map("a", "3"), config_map("b", "3"))})
    assert (values(desired), desired.last_good, desired.faults) == ({"a": "3", "b": "3"}, {}, ())


def test_a_faulty_file_that_is_removed_takes_its_objects_along() -> None:
    commits = Commits()
    commits.push({PATH: config_map("a")})
    commits.push({PATH: UNREADABLE})
    desired = commits.push({PATH: None})
    assert (values(desired), desired.last_good) == ({}, {})


@pytest.mark.parametrize("text", [stream(config_map("a", "2"), faulty_map("b")), UNREADABLE])
def test_a_faulty_file_may_be_renamed(text: str) -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    before = values(commits.push({PATH: text}))
    renamed = commits.push({PATH: None, "resources/b.yaml": text})
    assert values(renamed) == before
    assert set(renamed.last_good) == {"resources/b.yaml"}
    assert values(commits.push({"resources/b.yaml": UNREADABLE})) == before
    assert values(commits.push({"other.yaml": config_map("c", "1")})) == {**before, "c": "1"}
    assert values(commits.push({"resources/b.yaml": config_map("b", "4")})) == {"b": "4", "c": "1"}


def test_a_file_that_is_renamed_and_broken_at_once() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("apple", "1"), config_map("plum", "1")), "resources/z.yaml": config_map("z")})
    desired = commits.push({PATH: None, "resources/z.yaml": None, "resources/b.yaml": "apple plum: [\n"})
    assert values(desired) == {"apple": "1", "plum": "1"}, "z stands nowhere in the unreadable text, so it was removed"
    assert values(commits.push({"resources/b.yaml": UNREADABLE})) == {"apple": "1", "plum": "1"}
    assert values(commits.push({"resources/b.yaml": config_map("plum", "2")})) == {"plum": "2"}


def test_an_object_may_have_moved_into_a_file_that_was_broken_in_the_same_commit() -> None:
    commits = Commits()
    other = "resources/other.yaml"
    commits.push({PATH: config_map("apple", "1"), other: stream(config_map("plum", "1"), config_map("pear", "1"))})
    broken = stream(config_map("apple", "2"), config_map("plum", "2")) + "---\n[\n"
    assert values(commits.push({PATH: broken.replace("name: plum", "name: [plum"), other: None})) == {
        "apple": "2",
        "plum": "1",
    }
    # An escape may spell any name.
    commits.push({"resources/more.yaml": config_map("fig", "1")})
    assert values(commits.push({"resources/more.yaml": None, PATH: '"\\u0066ig": [\n'})) == {
        "apple": "2", "plum": "1", "fig": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "hurt",
    [
        config_map("a", "2", namespace=""),
        config_map("a", "2", namespace="No_Namespace"),
        config_map('"a/"', "2"),
        config_map("a", "2").replace("kind: ConfigMap", "kind: Namespace"),
    ],
)
def test_an_object_whose_name_or_namespace_was_hurt_is_not_taken_away(hurt: str) -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    desired = commits.push({PATH: stream(hurt, config_map("b", "2"))})
    assert values(desired) == {"a": "1", "b": "2"}
    assert len([fault for fault in desired.faults if is_error(fault)]) == 1
    assert values(commits.push({"resources/b.yaml": config_map("c", "1")})) == {"a": "1", "b": "2", "c": "1"}
    assert values(commits.push({PATH: config_map("b", "2")})) == {"b": "2", "c": "1"}


def test_a_hurt_object_that_moved_to_another_file() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    desired = commits.push({PATH: None, "resources/b.yaml": stream(config_map("a", "2", namespace=""))})
    assert values(desired) == {"a": "1"}


def test_a_fault_beside_a_known_history_holds_no_other_removal() -> None:
    commits = Commits()
    commits.push({PATH: config_map("a", "1"), "resources/b.yaml": config_map("b", "1"), "x/chart.yaml": "{{ nothing }"})
    desired = commits.push({PATH: UNREADABLE, "resources/b.yaml": None})
    assert values(desired) == {"a": "1"}
    assert not desired.holds_removals


def test_without_history_nothing_that_is_missing_counts_as_removed_until_the_file_is_healed() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"))})
    commits.repo.move_branch("main", None)
    commits.state = replace(commits.state, observed_commit="f" * 40)

    desired = commits.push({PATH: UNREADABLE})
    assert desired.holds_removals
    assert desired.last_good == {PATH: (LastGood("", ()),)}
    assert commits.push({"resources/b.yaml": config_map("b")}).holds_removals, "it still is not known what stood there"
    assert commits.push({PATH: "b: [\n"}).holds_removals
    healed = commits.push({PATH: config_map("a", "2")})
    assert (healed.holds_removals, healed.last_good) == (False, {})


def test_history_may_be_rewritten_while_a_version_is_held() -> None:
    commits = Commits()
    commits.push({PATH: stream(config_map("a", "1"), config_map("b", "1"))})
    commits.push({PATH: stream(config_map("a", "1"), faulty_map("b"))})
    commits.repo.move_branch("main", None)
    commits.state = replace(commits.state, observed_commit="f" * 40)
    desired = commits.push({PATH: stream(config_map("a", "5"), faulty_map("b"))})
    assert values(desired) == {"a": "5", "b": "1"}
    assert held(desired) == {PATH: [(1,)]}


def test_a_new_object_that_was_never_good_is_not_taken_from_the_commit_that_refused_it() -> None:
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec: {group: x.io, names: {kind: Thing}, scope: Namespaced}
"""
    thing = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {n: 1}\n"
    commits = Commits()
    commits.push({"resources/crd.yaml": definition})
    for text in (thing, thing.replace("n: 1", "n: 2"), thing.replace("name: t", "name: t, labels: {n: 1}")):
        desired = commits.push({PATH: text})
        assert [manifest.key.kind for manifest in desired.payload] == ["CustomResourceDefinition"]
        assert len(desired.faults) == 1


def test_of_two_configurations_the_one_in_force_stays() -> None:
    def config(name: str, seconds: int) -> str:
        return (
            "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\n"
            f"metadata: {{name: {name}}}\nspec: {{interval: {seconds}s}}\n"
        )

    commits = Commits()
    commits.push({"gitfleet.yaml": config("fleet", 10)})
    assert commits.push({"a.yaml": config("other", 20)}).config.interval_seconds == 10
    assert commits.push({"a.yaml": config("other", 30)}).config.interval_seconds == 10
    assert commits.push({"gitfleet.yaml": "a: ["}).config.interval_seconds == 10
    assert commits.push({"gitfleet.yaml": None}).config.interval_seconds == 30
