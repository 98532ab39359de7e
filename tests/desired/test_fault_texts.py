"""Faults as people see them: the whole output for a file, every fault at once, each with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from tests.desired.commits import faults_of
from tests.texts import said

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_every_fault_of_a_file(name: str) -> None:
    """`cases/<name>.yaml` is the file, `cases/<name>.txt` the whole of what is said about it."""
    expected = said((CASES / f"{name}.txt").read_text(encoding="utf-8")).splitlines()
    assert faults_of({"x/a.yaml": (CASES / f"{name}.yaml").read_bytes()}) == expected


@pytest.mark.parametrize(
    ("path", "text", "faults"),
    [
        (
            "placements/a.yaml",
            "apiVersion: placement.kubernetesfleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: a}\n",
            [
                (
                    "placements/a.yaml:1: ClusterResourcePlacement/a: apiVersion: "
                    + DesiredText.NOT_GROUP_YOU_MEAN(
                        name="ClusterResourcePlacement", group="placement.kubernetes-fleet.io", versions="v1"
                    )
                )
            ],
        ),
        (
            "placements/a.yaml",
            "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacemnt\nmetadata: {name: a}\n",
            [
                (
                    "placements/a.yaml:2: ClusterResourcePlacemnt/a: kind: "
                    + DesiredText.NOT_KIND_GITFLEET_READS(
                        group="placement.kubernetes-fleet.io",
                        hint=FormatsText.YOU_MEAN(near="ClusterResourcePlacement"),
                    )
                )
            ],
        ),
        (
            "clusters/a.yaml",
            "apiVersion: cluster.kubernetes-fleet.io/v2\nkind: MemberCluster\nmetadata: {name: a, namespace: x}\n",
            [
                (
                    "clusters/a.yaml:1: MemberCluster/x/a: apiVersion: "
                    + DesiredText.NOT_VERSION_GITFLEET_READS(
                        kind="MemberCluster", group="cluster.kubernetes-fleet.io", versions="v1"
                    )
                ),
                (
                    "clusters/a.yaml:3: MemberCluster/x/a: metadata.namespace: "
                    + DesiredText.NOT_GO_CLUSTER_SCOPED_KIND(kind="MemberCluster")
                ),
            ],
        ),
        ("runs/a.yaml", "- 1\n", [("runs/a.yaml:1: " + DesiredText.NOT_MAPPING_NO_OBJECT())]),
        (
            "runs/a.yaml",
            "spec: {}\n",
            [
                ("runs/a.yaml:1: apiVersion: " + ApiText.REQUIRED_ADD()),
                ("runs/a.yaml:1: kind: " + ApiText.REQUIRED_ADD()),
            ],
        ),
        ("docs/a.yaml", "- any\n- list\n", []),
        ("docs/a.yaml", "site: any settings\n", []),
        (".github/workflows/a.yaml", "on: [\n", []),
        ("scenarios/a.yaml", "apiVersion: gitfleet.dev/v1alpha1\nkind: Scenario\nspec: {}\n", []),
        (
            "charts/a.yaml",
            "{{ include }}\n",
            [
                (
                    "charts/a.yaml:1: "
                    + FormatsText.LIST_MAPPING_STANDS_KEY()
                    + DesiredText.IF_NONE_GITFLEET_FILES(ignore_file=".gitfleetignore")
                )
            ],
        ),
    ],
)
def test_what_a_document_is(path: str, text: str, faults: list[str]) -> None:
    assert faults_of({path: text}) == faults
