"""Which override snapshots a binding should name."""

from __future__ import annotations

from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.overrides import OverridePlacement, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.works import overrides_by_cluster, overrides_for
from tests.works.builders import EAST, NAMESPACE, ROLE, SETTINGS, WEB, WEST, obj, override, rule, snapshot

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
    assert overrides_by_cluster(WEB, ALL, overrides, (EAST, WEST)) == {
        "east": (("a-0", "z-0"), ("web/hit-0",)),
        "west": (("z-0",), ("web/hit-0",)),
    }
    assert overrides_for(WEB, ALL, overrides[1:2], WEST) == ((), ())
    assert overrides_by_cluster(WEB, ALL, (), (EAST, WEST)) == {}


def test_a_namespace_override_concerns_a_snapshot_with_objects_of_that_namespace_alone() -> None:
    change = override("cro", NAMESPACE, rule())
    assert overrides_for(WEB, snapshot(SETTINGS), [change], EAST) == (("cro-0",), ())
    assert overrides_for(WEB, snapshot(ROLE), [change], EAST) == ((), ())


def test_an_override_may_name_its_placement() -> None:
    here = override("here", SETTINGS, rule(), ns="web", placement=OverridePlacement("web", "Cluster"))
    namespaced = override("there", SETTINGS, rule(), ns="web", placement=OverridePlacement("web", "Namespaced"))
    both = [here, namespaced]
    assert overrides_for(WEB, ALL, both, EAST) == ((), ("web/here-0",))
    assert overrides_for(PlacementKey("", "api"), ALL, both, EAST) == ((), ())
    assert overrides_for(PlacementKey("web", "web"), ALL, both, EAST) == ((), ("web/there-0",))
    assert overrides_for(PlacementKey("shop", "web"), ALL, both, EAST) == ((), ())


def test_a_selector_that_cannot_be_used_is_not_hidden() -> None:
    term = ClusterSelectorTerm(label_selector=LabelSelector(match_expressions=(LabelRequirement("a", "Near"),)))
    wrong = override("cro", ROLE, OverrideRule(cluster_terms=(term,)))
    assert overrides_for(WEB, ALL, [wrong], EAST) == (("cro-0",), ())
