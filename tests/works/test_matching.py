"""Which override snapshots a binding should name."""

from __future__ import annotations

from gitfleet.api.bindings import ClusterContent
from gitfleet.api.overrides import OverridePlacement, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.works.matching import contents_by_cluster
from tests.works.builders import EAST, NAMESPACE, ROLE, SETTINGS, WEB, WEST, content_for, obj, override, rule, snapshot

ALL = snapshot(NAMESPACE, SETTINGS, ROLE)
OTHER = obj("v1", "ConfigMap", "other", "web")


def test_an_override_concerns_the_clusters_and_objects_it_selects() -> None:
    overrides = [
        override("z", ROLE, rule()),
        override("a", NAMESPACE, rule(region="eu")),
        override("miss", OTHER, rule(), ns="web"),
        override("elsewhere", SETTINGS, rule(), ns="shop"),
        override("hit", SETTINGS, rule(region="us"), rule(region="eu"), ns="web"),
        override("nobody", ROLE, OverrideRule(cluster_terms=None)),
    ]
    assert contents_by_cluster(WEB, ALL, overrides, (EAST, WEST)) == {
        "east": ClusterContent(("a-0", "z-0"), ("web/hit-0",)),
        "west": ClusterContent(("z-0",), ("web/hit-0",)),
    }
    assert content_for(WEB, ALL, overrides[1:2], WEST) == ClusterContent((), ())
    assert contents_by_cluster(WEB, ALL, (), (EAST, WEST)) == {}


def test_a_namespace_override_concerns_a_snapshot_with_objects_of_that_namespace_alone() -> None:
    change = override("cro", NAMESPACE, rule())
    assert content_for(WEB, snapshot(SETTINGS), [change], EAST) == ClusterContent(("cro-0",), ())
    assert content_for(WEB, snapshot(ROLE), [change], EAST) == ClusterContent((), ())


def test_an_override_may_name_its_placement() -> None:
    here = override("here", SETTINGS, rule(), ns="web", placement=OverridePlacement("web", "Cluster"))
    namespaced = override("there", SETTINGS, rule(), ns="web", placement=OverridePlacement("web", "Namespaced"))
    both = [here, namespaced]
    assert content_for(WEB, ALL, both, EAST) == ClusterContent((), ("web/here-0",))
    assert content_for(PlacementKey("", "api"), ALL, both, EAST) == ClusterContent((), ())
    assert content_for(PlacementKey("web", "web"), ALL, both, EAST) == ClusterContent((), ("web/there-0",))
    assert content_for(PlacementKey("shop", "web"), ALL, both, EAST) == ClusterContent((), ())
