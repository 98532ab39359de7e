"""checks: the rules about a commit as a whole, each a pure function of the commit.

REFUSALS    an object with such an error goes on as its last good version
NOT_PLACED  payload that may not be placed; objects that are placed stay as they are, the rest is left out
ERRORS      the object goes on as it is written
WARNINGS    the object is allowed, and does less than it says
"""

from typing import Final

from gitfleet.desired.checks.commit import Rule
from gitfleet.desired.checks.fleet import (
    budget_warnings,
    exported_warnings,
    lost_connections,
    missing_connections,
    scaled_warnings,
    spare_configs,
    spare_pins,
)
from gitfleet.desired.checks.kinds import (
    config_kind_warnings,
    lost_namespaces,
    missing_namespaces,
    selector_warnings,
    undeclared_warnings,
    unknown_overridden_kinds,
    unknown_selected_kinds,
    variant_warnings,
    version_warnings,
)
from gitfleet.desired.checks.metrics import metric_refusals
from gitfleet.desired.checks.overrides import override_refusals, patch_errors
from gitfleet.desired.checks.placing import (
    denied_payload,
    denied_selectors,
    denied_workloads,
    hook_warnings,
    misplaced_payload,
    misplaced_selectors,
    timeout_refusals,
)
from gitfleet.desired.checks.references import (
    dependency_errors,
    missing_clusters,
    reference_warnings,
    rename_refusals,
    rename_warnings,
)
from gitfleet.desired.checks.rollouts import rollout_refusals, workload_refusals, workload_warnings
from gitfleet.desired.checks.updates import update_refusals

REFUSALS: Final[tuple[Rule, ...]] = (
    rename_refusals,
    update_refusals,
    lost_namespaces,
    missing_clusters,
    lost_connections,
    misplaced_payload,
    misplaced_selectors,
    override_refusals,
    unknown_selected_kinds,
    unknown_overridden_kinds,
    metric_refusals,
    rollout_refusals,
    workload_refusals,
    spare_configs,
    spare_pins,
    denied_selectors,
    denied_workloads,
    timeout_refusals,
)
NOT_PLACED: Final[tuple[Rule, ...]] = (missing_namespaces, denied_payload)
ERRORS: Final[tuple[Rule, ...]] = (patch_errors, missing_connections, dependency_errors)
WARNINGS: Final[tuple[Rule, ...]] = (
    budget_warnings,
    config_kind_warnings,
    exported_warnings,
    hook_warnings,
    reference_warnings,
    rename_warnings,
    scaled_warnings,
    selector_warnings,
    undeclared_warnings,
    variant_warnings,
    version_warnings,
    workload_warnings,
)
