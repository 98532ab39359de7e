"""invariant 2 from commit to commit: every object holds its own last good version, through restarts and rewritten
history."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.faults import LastGood
from gitfleet.formats.git_names import blob_id
from tests.branches.commits import Commits, config_map, faulty_map, held, stream, values

PATH = "resources/a.yaml"


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
