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
    check_policy_update,
    check_strategy,
    check_taints,
    check_tolerations_update,
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
        ([("Gt", "5"), ("Le", "5")], False),
        ([("Ge", "5"), ("Lt", "5")], False),
        ([("Ge", "6"), ("Le", "5")], False),
        ([("Gt", "5"), ("Lt", "6")], True),
        ([("Eq", "1"), ("Eq", "1000m")], True),
        ([("Eq", "1"), ("Eq", "2")], False),
        ([("Eq", "1Ki"), ("Ne", "1024")], False),
        ([("Eq", "1"), ("Ne", "2")], True),
        ([("Eq", "3"), ("Ge", "4")], False),
        ([("Eq", "3"), ("Gt", "3")], False),
        ([("Eq", "3"), ("Ge", "3"), ("Le", "3")], True),
        ([("Lt", "3"), ("Eq", "3")], False),
        ([("Ge", "1"), ("Ge", "2"), ("Gt", "2"), ("Le", "2")], False),
    ],
)
def test_contradictions_on_one_property(pairs: list[tuple[str, str]], satisfiable: bool) -> None:
    assert (not check_policy(requirements(*pairs))) is satisfiable


def test_requirements_on_two_properties_do_not_contradict() -> None:
    policy = requirements(("Eq", "1"))
    terms = policy["affinity"]["clusterAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms["clusterSelectorTerms"][0]["propertySelector"]["matchExpressions"].append(
        {"name": "resources.kubernetes-fleet.io/total-cpu", "operator": "Eq", "values": ["2"]}
    )
    assert check_policy(policy) == []


@pytest.mark.parametrize("quantity", ["1", "1.5", ".5", "800Mi", "2Gi", "1e3", "1E", "100m", "-1", "+2k", "1n"])
def test_quantities(quantity: str) -> None:
    assert check_policy(requirements(("Ge", quantity))) == []


@pytest.mark.parametrize("quantity", ["", "1 Gi", "1ki", "Mi", "1.2.3", "ten", "0x10", "1e1000000"])
def test_what_is_no_quantity(quantity: str) -> None:
    assert len(check_policy(requirements(("Ge", quantity)))) == 1


@pytest.mark.parametrize("quantity", ["1e400", "9e400", "-1e301"])
def test_a_quantity_that_the_scheduler_could_not_weigh_is_refused(quantity: str) -> None:
    (sentence,) = check_policy(requirements(("Ge", quantity)))
    assert sentence.endswith(
        ": " + FormatsText.MORE_DIGITS_CANNOT_COMPARED(max_exponent="300") + ApiText.WRITE_ONE_MI(reason="")
    )


@pytest.mark.parametrize(
    ("policy", "breaks"),
    [
        ({"placementType": "PickFixed", "clusterNames": []}, 0),
        ({"placementType": "PickFixed"}, 0),
        ({"placementType": "PickFixed", "clusterNames": ["a"], "tolerations": [{"key": "a", "operator": "Exists"}]}, 1),
        ({"placementType": "PickN", "numberOfClusters": 0}, 0),
        ({"placementType": "PickN", "numberOfClusters": -1}, 1),
        ({"placementType": "PickN", "numberOfClusters": True}, 1),
        ({"placementType": "PickAll", "numberOfClusters": 1, "clusterNames": ["a"]}, 2),
        ({"placementType": "PickSome"}, 1),
        ({}, 0),
        ({"placementType": "PickN", "numberOfClusters": 1, "topologySpreadConstraints": [{"topologyKey": "z"}] * 2}, 0),
        ({"placementType": "PickN", "numberOfClusters": 1, "topologySpreadConstraints": [{"maxSkew": 0}]}, 2),
        ({"placementType": "PickFixed", "clusterNames": ["Big"]}, 1),
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
        ({}, True),
        ({"type": "External"}, True),
        ({"type": "External", "rollingUpdate": {}}, False),
        ({"type": "External", "applyStrategy": {"type": "ReportDiff"}}, True),
        ({"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}, True),
        ({"rollingUpdate": {"maxUnavailable": 0}}, False),
        ({"rollingUpdate": {"maxUnavailable": "0%"}}, False),
        ({"rollingUpdate": {"maxUnavailable": "100%"}}, True),
        ({"rollingUpdate": {"maxUnavailable": "101%"}}, False),
        ({"rollingUpdate": {"maxUnavailable": "3"}}, False),
        ({"rollingUpdate": {"maxUnavailable": 1.5}}, False),
        ({"rollingUpdate": {"maxUnavailable": True}}, False),
        ({"rollingUpdate": {"unavailablePeriodSeconds": -1}}, False),
        ({"applyStrategy": {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}}, True),
        ({"applyStrategy": {"serverSideApplyConfig": {"force": False}}}, False),
        ({"deleteStrategy": {"propagationPolicy": "Abandon"}}, True),
        ({"type": "Recreate"}, False),
    ],
)
def test_strategies(strategy: dict[str, Any], sound: bool) -> None:
    assert (check_strategy(strategy) == []) is sound


@pytest.mark.parametrize(
    ("path", "sound"),
    [
        ("/spec/replicas", True),
        ("/metadata/labels/app.kubernetes.io~1name", True),
        ("/metadata/annotations", True),
        ("/statuses", True),
        ("/spec/kind", True),
        ("", False),
        ("/", False),
        ("spec", False),
        ("/kind", False),
        ("/apiVersion/x", False),
        ("/status", False),
        ("/status/x", False),
        ("/metadata", False),
        ("/metadata/name", False),
        ("/metadata/labels/", False),
        ("/spec//x", False),
        ("/spec/list/999999", True),
        ("/spec/list/9999999", False),
        ("/spec/list/" + "9" * 5000, False),
        ("/metadata/labels/9999999", True),
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
        ("PickAll", {"minAvailable": 1}, True),
        ("PickAll", {"minAvailable": "50%"}, False),
        ("PickAll", {"maxUnavailable": "50%"}, False),
        ("PickN", {"maxUnavailable": "50%"}, True),
        ("PickFixed", {"maxUnavailable": 1}, True),
        ("PickN", {}, False),
        ("PickN", {"maxUnavailable": 1, "minAvailable": 1}, False),
        ("PickN", {"minAvailable": -1}, False),
    ],
)
def test_disruption_budgets(placement_type: str, budget: dict[str, Any], sound: bool) -> None:
    assert (check_disruption_budget(placement_type, budget) == []) is sound


def test_tolerations_may_only_be_added() -> None:
    exists, equal = {"key": "a", "operator": "Exists"}, {"key": "a", "value": "b"}
    assert check_tolerations_update([exists], [equal, exists]) == []
    assert check_tolerations_update([equal], [{**equal, "operator": "Equal", "effect": ""}]) == []
    assert check_tolerations_update([exists, equal], [exists]) == [
        f"spec.policy.tolerations: {DesiredText.ONLY_GAIN_ITEMS(recreate=RECREATE)}"
    ]


def test_a_policy_type_does_not_change() -> None:
    assert check_policy_update(None, {"placementType": "PickAll"}) == []
    for policy in ({"placementType": "PickAll"}, {"placementType": "PickN", "numberOfClusters": 1}):
        sentence = DesiredText.CANNOT_REMOVED_ONCE_SET(before=policy["placementType"], recreate=RECREATE)
        assert check_policy_update(policy, None) == [f"spec.policy: {sentence}"]
    sentence = DesiredText.CANNOT_CHANGE_FROM(before="PickAll", after="PickFixed", recreate=RECREATE)
    assert check_policy_update(None, {"placementType": "PickFixed"}) == [f"spec.policy.placementType: {sentence}"]
