"""What is allowed and does nothing, or hardly what is meant: a warning says so, and the object goes on."""

from __future__ import annotations

import pytest

from gitfleet.desired import read_desired
from tests.desired.commits import request_of

GROUP = "apiVersion: placement.kubernetes-fleet.io/v1beta1\n"
PLACEMENT = GROUP + "kind: ClusterResourcePlacement\nmetadata: {name: web}\nspec:\n  resourceSelectors:\n"
SELECTOR = "  - {group: '', version: v1, kind: Namespace, name: web}\n"
NOT_ACTED_ON = "kind: is read and kept, and nothing acts on it in this version of gitfleet; do not rely on it"
WEB = {"resources/web.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: web}}"}


def warnings(text: str) -> list[str]:
    """The warnings of a file, less the path and the object."""
    faults = read_desired(request_of({**WEB, "x/a.yaml": text})).faults
    assert all(fault.severity == "warning" for fault in faults), faults
    return [f"{fault.line}: {fault.field}: {fault.message}" for fault in faults]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            f"{PLACEMENT}{SELECTOR}  strategy: {{type: External}}\n",
            (
                "7: spec.strategy.type: leaves the rollout to staged update runs, and nothing acts on those in this "
                "version of gitfleet; use RollingUpdate to have anything rolled out"
            ),
        ),
        (
            (
                f"{GROUP}kind: ClusterResourcePlacementEviction\nmetadata: {{name: e}}\n"
                "spec: {placementName: web, clusterName: c}\n"
            ),
            f"2: {NOT_ACTED_ON}",
        ),
        (
            f"{GROUP}kind: ClusterStagedUpdateStrategy\nmetadata: {{name: s}}\nspec: {{stages: [{{name: a}}]}}\n",
            f"2: {NOT_ACTED_ON}",
        ),
        ("apiVersion: core.oam.dev/v1beta1\nkind: AppRollout\nmetadata: {name: r}\n", f"2: {NOT_ACTED_ON}"),
    ],
)
def test_what_this_version_does_not_act_on_says_so(text: str, warning: str) -> None:
    assert warnings(text) == [warning]
