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


def overriding(value: str, placement: str = "web") -> str:
    """A placement of `web`, and an override of it with a value."""
    rule = f"{{clusterSelector: {{}}, jsonPatchOverrides: [{{op: add, path: /metadata/labels/a, value: {value}}}]}}"
    return (
        f"{PLACEMENT}{SELECTOR}---\n{GROUP}kind: ClusterResourceOverride\nmetadata: {{name: o}}\nspec:\n"
        "  clusterResourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]\n"
        f"  placement: {{name: {placement}}}\n  policy:\n    overrideRules:\n    - {rule}\n"
    )


FIELD = "16: spec.policy.overrideRules[0].jsonPatchOverrides[0].value: "
VARIABLE = FIELD + (
    "holds a variable that does not exist and goes out as it is written; write ${MEMBER-CLUSTER-NAME} or "
    "${MEMBER-CLUSTER-LABEL-KEY-<label key>}"
)
MEMBER = "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {name: eu-west-1}\n"
FIXED = f"{PLACEMENT}{SELECTOR}  policy: {{placementType: PickFixed, clusterNames: [eu-west-1, eu-wset-1, moon]}}\n"
NO_CLUSTER = "names a cluster that is not in the repo, so nothing is placed there; "
NO_PLACEMENT = "names a placement that is not in the repo, so nothing is overridden; "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"{FIXED}---\n{MEMBER}",
            [
                f"7: spec.policy.clusterNames[1]: {NO_CLUSTER}did you mean eu-west-1?",
                f"7: spec.policy.clusterNames[2]: {NO_CLUSTER}correct it, or add it",
            ],
        ),
        (overriding("x", "wbe"), [f"13: spec.placement.name: {NO_PLACEMENT}did you mean web?"]),
        (overriding("'${MEMBER-CLUSTER-NAME} ${MEMBER-CLUSTER-LABEL-KEY-example.com/a_b}'"), []),
        (overriding("'${MEMBER-CLUSTERNAME}'"), [VARIABLE]),
        (overriding("'$MEMBER-CLUSTER-NAME'"), [VARIABLE]),
        (overriding("'${member-cluster-name}'"), [VARIABLE]),
        (overriding("'${MEMBER-CLUSTER-LABEL-KEY-}'"), [VARIABLE]),
        (overriding("'${MEMBER-CLUSTER-LABEL-region}'"), [VARIABLE]),
        (overriding("{a: ['${MEMBER-CLUSTER-NAME']}"), [VARIABLE]),
        (overriding("'${MEMBERSHIP} ${OTHER}'"), []),
    ],
)
def test_names_that_lead_nowhere(text: str, expected: list[str]) -> None:
    assert warnings(text) == expected


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
