"""The single rules, as tables: KubeFleet's admission checks with decision D1."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from tests.desired.checks import (
    check_disruption_budget,
    check_override_policy,
    check_patch_path,
    check_policy,
    check_strategy,
    check_taints,
)

RECREATE = DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD()
NODES = "kubernetes-fleet.io/node-count"


def requirements(*pairs: tuple[str, str], name: str = NODES) -> dict[str, Any]:
    """A PickAll policy with one required term over one property."""
    expressions = [{"name": name, "operator": operator, "values": [value]} for operator, value in pairs]
    terms = [{"propertySelector": {"matchExpressions": expressions}}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}
    return {"placementType": "PickAll", "affinity": {"clusterAffinity": required}}


@pytest.mark.parametrize(
    ("pairs", "satisfiable"),
    [
        ([("Ge", "5"), ("Le", "5")], True),
        ([("Ge", "5"), ("Lt", "5")], False),
        ([("Gt", "5"), ("Lt", "6")], True),
        ([("Eq", "1"), ("Eq", "1000m")], True),
        ([("Eq", "1"), ("Eq", "2")], False),
        ([("Eq", "1"), ("Ne", "2")], True),
        ([("Eq", "2"), ("Ne", "2")], False),
        ([("Eq", "3"), ("Lt", "3")], False),
        ([("Eq", "3"), ("Gt", "3")], False),
        ([("Eq", "3"), ("Ge", "3"), ("Le", "3")], True),
        ([("Ge", "1"), ("Ge", "2"), ("Gt", "2"), ("Le", "2")], False),
    ],
)
def test_contradictions_on_one_property(pairs: list[tuple[str, str]], satisfiable: bool) -> None:
    assert (not check_policy(requirements(*pairs))) is satisfiable


@pytest.mark.parametrize("quantity", ["1e400", "-1e301"])
def test_a_quantity_that_the_scheduler_could_not_weigh_is_refused(quantity: str) -> None:
    (sentence,) = check_policy(requirements(("Ge", quantity)))
    assert sentence.endswith(
        ": " + FormatsText.MORE_DIGITS_CANNOT_COMPARED(max_exponent="300") + ApiText.WRITE_ONE_MI(reason="")
    )


@pytest.mark.parametrize(
    ("policy", "breaks"),
    [
        ({"placementType": "PickFixed", "clusterNames": []}, 0),
        ({"placementType": "PickFixed", "clusterNames": ["a"], "tolerations": [{"key": "a", "operator": "Exists"}]}, 1),
        ({"placementType": "PickN", "numberOfClusters": 0}, 0),
        ({"placementType": "PickN", "numberOfClusters": -1}, 1),
        ({"placementType": "PickAll", "numberOfClusters": 1, "clusterNames": ["a"]}, 2),
        ({"placementType": "PickN", "numberOfClusters": 1, "topologySpreadConstraints": [{"topologyKey": "z"}] * 2}, 0),
        ({"placementType": "PickFixed", "clusterNames": ["c"] + [f"c{n}" for n in range(100)]}, 1),
    ],
)
def test_the_matrix_of_placement_types(policy: dict[str, Any], breaks: int) -> None:
    assert len(check_policy(policy)) == breaks


def test_sorters_are_for_preferred_terms_and_selectors_for_required_ones() -> None:
    sorter = {"propertySorter": {"name": NODES, "sortOrder": "Descending"}}
    selector = {"propertySelector": {"matchExpressions": [{"name": NODES, "operator": "Ge", "values": ["1"]}]}}

    def policy(required: Any, preferred: Any) -> dict[str, Any]:
        affinity = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [required]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": preferred}],
        }
        return {"placementType": "PickN", "numberOfClusters": 1, "affinity": {"clusterAffinity": affinity}}

    assert check_policy(policy(selector, sorter)) == []
    assert check_policy(policy(selector, [sorter])) == []
    assert len(check_policy(policy(sorter, selector))) == 2


@pytest.mark.parametrize(
    ("strategy", "sound"),
    [
        ({"type": "External"}, True),
        ({"type": "External", "rollingUpdate": {}}, False),
        ({"type": "External", "applyStrategy": {"type": "ReportDiff"}}, True),
        ({"rollingUpdate": {"maxUnavailable": 0}}, False),
        ({"rollingUpdate": {"maxUnavailable": "0%"}}, False),
        ({"rollingUpdate": {"maxUnavailable": "100%"}}, True),
        ({"applyStrategy": {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}}, True),
        ({"applyStrategy": {"serverSideApplyConfig": {"force": False}}}, False),
    ],
)
def test_strategies(strategy: dict[str, Any], sound: bool) -> None:
    assert (check_strategy(strategy) == []) is sound


@pytest.mark.parametrize(
    ("path", "sound"),
    [
        ("/metadata/labels/app.kubernetes.io~1name", True),
        ("/statuses", True),
        ("", False),
        ("/", False),
        ("/kind", False),
        ("/metadata", False),
        ("/spec/list/999999", True),
        ("/spec/list/9999999", False),
        ("/spec/list/" + "9" * 5000, False),
        ("/data/9999999", True),
    ],
)
def test_paths_of_patches(path: str, sound: bool) -> None:
    assert (check_patch_path(path) == []) is sound


def test_rules_of_an_override() -> None:
    patch = {"op": "add", "path": "/spec/x", "value": None}
    every = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    assert check_override_policy({"overrideRules": [every]}) == []
    assert check_override_policy({"overrideRules": [{"overrideType": "Delete"}]}) == []
    assert len(check_override_policy({"overrideRules": []})) == 1
    assert len(check_override_policy({"overrideRules": [{**every, "jsonPatchOverrides": [patch] * 21}]})) == 1


def test_taints() -> None:
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    assert check_taints([taint, {**taint, "value": "c"}]) == []
    assert len(check_taints([taint, taint])) == 1
    assert len(check_taints([{"key": "a"}])) == 1


@pytest.mark.parametrize(
    ("placement_type", "budget", "sound"),
    [
        ("PickAll", {"minAvailable": "50%"}, False),
        ("PickN", {"maxUnavailable": "50%"}, True),
        ("PickN", {}, False),
        ("PickN", {"maxUnavailable": 1, "minAvailable": 1}, False),
    ],
)
def test_disruption_budgets(placement_type: str, budget: dict[str, Any], sound: bool) -> None:
    assert (check_disruption_budget(placement_type, budget) == []) is sound
