"""validation: admission checks (KubeFleet pkg/utils/validator) on the desired package's own checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.desired import checks

Case = dict[str, Any]


def _budget(given: Mapping[str, Any]) -> Any:
    rest = {name: value for name, value in given.items() if name != "placementType"}
    return checks.check_disruption_budget(given["placementType"], rest)


OPS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "policy": lambda given: checks.check_policy(given["policy"]),
    "strategy": lambda given: checks.check_strategy(given["strategy"]),
    "patch_path": lambda given: checks.check_patch_path(given["path"]),
    "override_policy": lambda given: checks.check_override_policy(given["overridePolicy"]),
    "cluster_taints": lambda given: checks.check_taints(given["taints"]),
    "disruption_budget": _budget,
    "tolerations_update": lambda given: checks.check_tolerations_update(given["old"], given["new"]),
    "policy_type_update": lambda given: checks.check_policy_type_update(given["oldPolicy"], given["newPolicy"]),
}


def validation(case: Case) -> str | None:
    """Valid or not, and rejected or not, exactly; texts are the seed's affair."""
    found = list(OPS[case["op"]](case["in"]))
    wanted = case["out"]
    refused = not wanted["valid"] if "valid" in wanted else wanted["rejected"]
    return None if bool(found) == refused else f"wanted refused={refused}, found {found}"


AREAS = {"validation": validation}
