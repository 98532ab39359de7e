"""StateReader: any state of the branch from the files that an answer needs, and from no others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gitfleet.api.bindings import binding_name
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState
from gitfleet.state import StateReader, summary_of
from gitfleet.state.texts import StateText
from tests.state.builders import (
    COMMIT,
    StateFile,
    TreeSource,
    binding,
    blob_of,
    composed,
    put,
    reader_of,
    record,
    small_fleet,
)
from tests.texts import part

WEB = PlacementKey("", "web")
CART = PlacementKey("shop", "cart")
CART_BINDING = binding_name(CART, "eu-1")
LONG = "a-cluster-whose-name-has-more-than-27-letters"


def fleet() -> FleetState:
    """The small fleet and a namespaced placement."""
    base = small_fleet()
    cart = record("cart", binding(CART, "eu-1"), namespace="shop")
    return replace(base, placements={**base.placements, CART: cart})


def opened(state: FleetState | None = None) -> tuple[StateReader, TreeSource]:
    """A reader of a fleet's branch, and its source."""
    source = TreeSource(put({}, composed(FleetState(), state or fleet())))
    return StateReader(source, COMMIT), source


def test_a_list_of_placements_reads_no_binding_and_no_snapshot() -> None:
    reader, source = opened()

    found = reader.placements()

    assert [file.placement.key for file in found] == [WEB, CART]
    assert [file.summary for file in found] == [summary_of(fleet().placements[key]) for key in (WEB, CART)]
    assert sorted(source.read) == ["placements/shop/cart.yaml", "placements/web.yaml"]


@pytest.mark.parametrize(("name", "key"), [("web", WEB), ("cart", CART), ("shop/cart", CART)])
def test_a_whole_placement_reads_what_is_its_own(name: str, key: PlacementKey) -> None:
    reader, source = opened()

    assert reader.records(name) == (fleet().placements[key],)
    folder = "web" if key == WEB else "shop_cart"
    assert all(path.startswith("placements/") or f"/{folder}/" in path for path in source.read)


def test_one_binding_reads_the_files_of_its_placement_alone() -> None:
    key = PlacementKey("", "wide")
    wide = record("wide", *(binding(key, name) for name in (*(f"c-{number:03}" for number in range(300)), LONG)))
    reader, source = opened(replace(fleet(), placements={**fleet().placements, key: wide}))

    for cluster in ("c-170", LONG):
        source.read.clear()
        [found] = reader.bindings(binding_name(key, cluster))
        assert found.cluster == cluster
        assert source.read and all(path.startswith("bindings/wide/") for path in source.read)

    assert [found.placement.name for found in reader.bindings(CART_BINDING)] == ["cart"]
    source.read.clear()
    assert list(reader.bindings("wide-c-000-00000000")) == []
    assert source.read == []


def test_everything_can_be_asked_for() -> None:
    reader, _ = opened()

    assert reader.whole() == fleet()
    assert reader.records() == tuple(fleet().placements.values())
    assert reader.named(MemberCluster) == tuple(fleet().clusters.values())
    assert list(reader.bindings()) == [b for found in fleet().placements.values() for b in found.bindings]
    assert reader.named(MemberCluster, "eu-2") == (fleet().clusters["eu-2"],)
    assert reader.head().observed_commit == fleet().observed_commit
    assert (reader.placements("nope"), reader.named(MemberCluster, "../x")) == ((), ())


def test_a_branch_without_a_commit_is_empty() -> None:
    reader = StateReader(TreeSource({}), None)

    assert reader.whole() == FleetState()
    assert (reader.placements(), reader.named(MemberCluster), reader.head().observed_commit) == ((), (), None)


def test_a_broken_file_hurts_only_who_asks_for_it() -> None:
    reader, source = opened()
    files = {**source.files, "bindings/web/all.yaml": StateFile("e" * 40, b"[")}
    broken = StateReader(TreeSource(files), COMMIT)

    assert broken.placements() == reader.placements()
    assert list(broken.bindings(CART_BINDING)) == list(reader.bindings("shop/" + CART_BINDING))
    assert broken.records("cart") == reader.records("cart")
    with pytest.raises(BadInput, match=r"bindings/web/all\.yaml"):
        broken.records("web")


def test_many_threads_read_the_same() -> None:
    reader = reader_of(fleet())

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: reader.whole(), range(32)))

    assert all(answer == fleet() for answer in answers)


def test_a_file_over_the_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    path, content = "clusters/eu-1.yaml", b"#" * 5000
    monkeypatch.setattr("gitfleet.state.reader.MAX_STATE_BYTES", 4096)
    files = {path: StateFile(blob_of(content), content), "clusters/eu-2.yaml": opened()[1].files["clusters/eu-2.yaml"]}
    with pytest.raises(BadInput, match=part(StateText.IT_IS_LARGER)):
        StateReader(TreeSource(files), COMMIT).named(MemberCluster)
