"""A change of the state is a change of exactly the files that say so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import LastGood
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState
from gitfleet.state import document_paths
from gitfleet.state.paths import is_safe_path
from gitfleet.state.shards import named_address, shards
from gitfleet.state.texts import StateText
from tests.state.builders import (
    CONFIG,
    NAMESPACE,
    T0,
    binding,
    composed,
    entry,
    manifest,
    put,
    read_state,
    record,
    reported,
    small_fleet,
    snapshot,
    through,
    with_record,
)
from tests.state.write_golden import GOLDEN, written_fleet
from tests.texts import part

WEB = PlacementKey("", "web")
ALWAYS = {"fleet.yaml"}


def test_the_small_fleet_has_these_very_bytes() -> None:
    change = composed(FleetState(), written_fleet(), now=T0, version="0.1.0")

    golden = {str(path.relative_to(GOLDEN)): path.read_bytes() for path in GOLDEN.rglob("*") if path.is_file()}
    assert dict(change.write) == golden
    assert dict(change.link) == {
        "snapshots/resources/web/0/resources/web.yaml": "b" * 40,
        f"lastgood/{'d' * 40}.yaml": "d" * 40,
    }
    assert change.remove == ()


def test_no_change_is_empty_however_the_values_came_about() -> None:
    assert composed(small_fleet(), small_fleet(), now=T0).empty
    assert composed(FleetState(), FleetState(), now=T0).empty


def test_where_an_object_was_written_is_no_change() -> None:
    before = small_fleet()
    web = before.placements[WEB]
    moved = replace(web, placement=replace(web.placement, origin=Origin("elsewhere.yaml", 9)))

    assert composed(before, with_record(before, moved), now=T0).empty


def test_a_read_commit_alone_rewrites_the_head_of_the_branch() -> None:
    before = small_fleet()

    change = composed(before, replace(before, observed_commit="c0ffee" * 6), now=T0)

    assert (set(change.write), dict(change.link), change.remove) == (ALWAYS, {}, ())


def test_one_binding_rewrites_its_placement_and_its_shard() -> None:
    before = small_fleet()
    web = before.placements[WEB]
    healed = reported(replace(web, bindings=(web.bindings[0], replace(web.bindings[1], conditions=through()))))

    change = composed(before, with_record(before, healed), now=T0)

    assert set(change.write) == {*ALWAYS, "placements/web.yaml", "bindings/web/all.yaml"}


def test_what_was_rendered_is_written_out() -> None:
    refs = (DocumentRef("resources/app", "", 0, NAMESPACE), DocumentRef("../odd", "a" * 40, 0, CONFIG))
    taken = replace(snapshot(WEB, 0, *refs), manifests=(manifest(NAMESPACE), manifest(CONFIG, flag="y")))
    after = FleetState(placements={WEB: replace(record("web"), resource_snapshots=(taken,))})

    change = composed(FleetState(), after, now=T0)

    assert change.link == {}
    assert change.write["snapshots/resources/web/0/rendered/1.yaml"] == (
        b'apiVersion: v1\ndata:\n  flag: "y"\nkind: ConfigMap\nmetadata:\n  name: settings\n'
    )
    with pytest.raises(ValueError, match=re.escape(part(StateText.GIVEN_WITHOUT_MANIFEST))):
        composed(
            FleetState(), with_record(after, replace(record("web"), resource_snapshots=(snapshot(WEB, 0, *refs),)))
        )


def test_a_placement_that_ends_leaves_nothing() -> None:
    before = small_fleet()

    change = composed(before, replace(before, placements={}, inventory={}, faults=(), last_good={}, holds={}), now=T0)

    assert set(change.write) == ALWAYS
    assert change.remove == (
        "bindings/web", "faults.yaml", "holds/hold-web-0123456789.yaml", "inventory/eu-1/all.yaml",
        "inventory/eu-2/all.yaml",
        f"lastgood/{'d' * 40}.yaml", "placements/web.yaml", "snapshots/policies/web", "snapshots/resources/web",
    )  # fmt: skip
    tree = put(put({}, composed(FleetState(), before, now=T0)), change)
    assert set(tree) == {*ALWAYS, "clusters/eu-1.yaml", "clusters/eu-2.yaml", "clusters/us-1.yaml"}


def many(count: int, *, broken: str = "") -> FleetState:
    """A placement bound to many clusters, and an inventory of many placements."""
    bound = [
        binding(WEB, f"c-{n:03d}", conditions=through(last="False" if f"c-{n:03d}" == broken else "True"))
        for n in range(count)
    ]
    owned = {replace(CONFIG, name=f"o-{n}"): entry(replace(CONFIG, name=f"o-{n}"), f"p-{n}") for n in range(count)}
    return FleetState(placements={WEB: record("web", *bound)}, inventory={"c-000": owned})


def test_many_bindings_are_spread_so_that_one_change_rewrites_little() -> None:
    before, after = many(200), many(200, broken="c-042")
    tree = put({}, composed(FleetState(), before, now=T0))

    change = composed(before, after, now=T0)

    [shard] = [path for path in change.write if path.startswith("bindings/")]
    assert sum(path.startswith("bindings/") for path in tree) == 4
    assert change.write[shard].count(b"\n- ") <= 64
    assert read_state(put(tree, change)) == after
    old, new = ((tree[shard].content or b"").splitlines(), change.write[shard].splitlines())
    assert [line for line in new if line not in old] == [line for line in new if b'"c-042"' in line]


@given(st.sets(st.integers(0, 400), max_size=300), st.integers(0, 400))
def test_one_entry_more_splits_at_most_one_file(numbers: set[int], extra: int) -> None:
    few, more = ({f"c-{n:03d}" for n in found} for found in (numbers, numbers | {extra}))
    before, after = (shards("b", sorted(names), named_address) for names in (few, more))

    assert sorted(name for names in after.values() for name in names) == sorted(more)
    assert all(len(names) <= 64 for names in after.values())
    assert sum(names != before.get(path) for path, names in after.items()) <= 2
    assert sum(path not in after for path in before) <= 1


def test_a_removed_placement_and_one_whose_name_begins_alike_do_not_touch_each_other() -> None:
    keys = [PlacementKey("", "web"), PlacementKey("", "web-1"), PlacementKey("web", "web"), PlacementKey("web-1", "1")]
    before = FleetState(placements={key: record(key.name, namespace=key.namespace) for key in keys})
    after = replace(before, placements={key: value for key, value in before.placements.items() if key != keys[0]})

    tree = put(put({}, composed(FleetState(), before)), composed(before, after))

    assert read_state(tree) == after


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "A", "a_b", "-a", "a.", "x" * 254, "a\n", "é"])
def test_a_name_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=re.escape(part(StateText.CANNOT_NAME_FILE_STATE_BRANCH))):
        composed(FleetState(), FleetState(clusters={name: MemberCluster(name=name)}))
    with pytest.raises(BadInput, match=re.escape(part(StateText.CANNOT_NAME_FILE_STATE_BRANCH))):
        composed(FleetState(), FleetState(placements={PlacementKey("", name): record(name)}))


def test_a_namespace_with_a_dot_is_refused() -> None:
    key = PlacementKey("a.yaml", "b")
    with pytest.raises(BadInput, match=re.escape(part(StateText.CANNOT_NAME_FOLDER_STATE_BRANCH))):
        composed(FleetState(), FleetState(placements={key: record("b", namespace="a.yaml")}))


@pytest.mark.parametrize(
    ("path", "safe"),
    [("a/b.yaml", True), ("ü x.yaml", True), ("/a", False), ("a/../b", False), ("a//b", False), (".git/x", False),
     ("a/.GIT", False), ("a/git~1/b", False), ("a/.g\u200cit/b", False), ("\udcff", False), ("a" * 256, False),
     ("a/" * 1600 + "a", False), ("a\nb", False), ("a\\b", False), ("", False), ("a/.", False)],
)  # fmt: skip
def test_paths_that_may_stand_on_the_branch(path: str, safe: bool) -> None:
    assert is_safe_path(path) is safe


@pytest.mark.parametrize("path", ["a/b.yaml", "ü x.yaml", "a\nb", "a\\b", "a:b #c", "- x"])
def test_a_last_good_version_is_kept_whatever_its_file_is_called(path: str) -> None:
    versions = (LastGood("a" * 40, (0, 2)), LastGood("b" * 40, (1,)))
    held = FleetState(last_good={path: versions, "z.yaml": (LastGood("a" * 40, (0,)),)})
    change = composed(FleetState(), held)
    assert change.link == {f"lastgood/{blob * 40}.yaml": blob * 40 for blob in "ab"}
    assert read_state(put({}, change)) == held
    fewer = replace(held, last_good={"z.yaml": held.last_good["z.yaml"]})
    change = composed(held, fewer)
    assert (change.link, change.remove) == ({}, (f"lastgood/{'b' * 40}.yaml",))
    change = composed(fewer, FleetState())
    assert change.remove == ("faults.yaml", f"lastgood/{'a' * 40}.yaml")


def test_two_bindings_to_one_cluster_are_never_written() -> None:
    twice = record("web", binding(WEB, "eu-1"), binding(WEB, "eu-1"))
    with pytest.raises(ValueError, match=re.escape(part(StateText.GIVEN_TWO_BINDINGS_ONE_CLUSTER))):
        composed(FleetState(), FleetState(placements={WEB: twice}))


def test_two_versions_of_one_file_in_a_snapshot_lie_side_by_side() -> None:
    """Where a last good version stands in for one document of a file (invariant 2)."""
    old, new = "a" * 40, "b" * 40
    refs = (
        DocumentRef("resources/x.yaml", new, 0, NAMESPACE),
        DocumentRef("resources/x.yaml", old, 1, CONFIG),
        DocumentRef("resources/x.yaml", new, 2, CONFIG),
        DocumentRef("resources/x.yaml/y.yaml", "c" * 40, 0, CONFIG),
        DocumentRef("versions/z.yaml", "d" * 40, 0, CONFIG),
    )
    folder = "snapshots/resources/web/0"
    assert document_paths(snapshot(WEB, 0, *refs)) == (
        f"{folder}/resources/x.yaml",
        f"{folder}/versions/{old}.yaml",
        f"{folder}/resources/x.yaml",
        f"{folder}/versions/{'c' * 40}.yaml",
        f"{folder}/_versions/z.yaml",
    )
