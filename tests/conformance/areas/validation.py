"""validation: each case is a commit (or two, one after the other) that `read_desired` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.conformance.texts import text_difference
from tests.desired import checks

Case = dict[str, Any]


def _budget(given: Mapping[str, Any]) -> list[str]:
    rest = {name: value for name, value in given.items() if name != "placementType"}
    return checks.check_disruption_budget(given["placementType"], rest)


def _counted(policy: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Cases about the type may leave out the number that PickN needs."""
    if policy is None or policy.get("placementType") != "PickN":
        return policy
    return {"numberOfClusters": 1, **policy}


def _type_update(given: Mapping[str, Any]) -> list[str]:
    """What is said of the type. The function behind these cases lets a policy go that was PickAll; that a policy may
    not go at all is a rule of the CRD itself (decision D21), which it does not see."""
    old = given["oldPolicy"]
    found = checks.check_policy_update(_counted(old), _counted(given["newPolicy"]))
    gone = old is not None and given["newPolicy"] is None and old["placementType"] == "PickAll"
    return [sentence for sentence in found if not (gone and sentence.startswith("spec.policy: cannot be removed"))]


OPS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "policy": lambda given: checks.check_policy(given["policy"]),
    "strategy": lambda given: checks.check_strategy(given["strategy"]),
    "patch_path": lambda given: checks.check_patch_path(given["path"]),
    "override_policy": lambda given: checks.check_override_policy(given["overridePolicy"]),
    "cluster_taints": lambda given: checks.check_taints(given["taints"]),
    "disruption_budget": _budget,
    "tolerations_update": lambda given: checks.check_tolerations_update(given["old"], given["new"]),
    "policy_type_update": _type_update,
}


def validation(case: Case) -> str | None:
    """Valid or not exactly, and with the sentence for it."""
    found, wanted = OPS[case["op"]](case["in"]), case["out"]
    refused = not wanted["valid"] if "valid" in wanted else wanted["rejected"]
    if bool(found) != refused:
        return f"wanted refused={refused}, found {found}"
    return text_difference(wanted["error"], found) if "error" in wanted else None


AREAS = {"validation": validation}
