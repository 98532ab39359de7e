"""Faults as people see them: the whole output for a file, every fault at once, each with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desired.commits import faults_of

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_every_fault_of_a_file(name: str) -> None:
    """`cases/<name>.yaml` is the file, `cases/<name>.txt` the whole of what is said about it."""
    expected = (CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert faults_of({"x/a.yaml": (CASES / f"{name}.yaml").read_bytes()}) == expected


@pytest.mark.parametrize(
    ("path", "text", "faults"),
    [
        (
            "placements/a.yaml",
            "apiVersion: placement.kubernetesfleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: a}\n",
            [
                (
                    "placements/a.yaml:1: ClusterResourcePlacement/a: apiVersion: is not the group of "
                    "ClusterResourcePlacement; did you mean placement.kubernetes-fleet.io/v1?"
                )
            ],
        ),
        (
            "placements/a.yaml",
            "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacemnt\nmetadata: {name: a}\n",
            [
                (
                    "placements/a.yaml:2: ClusterResourcePlacemnt/a: kind: is not a kind of "
                    "placement.kubernetes-fleet.io that gitfleet reads; did you mean ClusterResourcePlacement?"
                )
            ],
        ),
        (
            "clusters/a.yaml",
            "apiVersion: cluster.kubernetes-fleet.io/v2\nkind: MemberCluster\nmetadata: {name: a, namespace: x}\n",
            [
                (
                    "clusters/a.yaml:1: MemberCluster/x/a: apiVersion: is not a version of MemberCluster that gitfleet "
                    "reads; use cluster.kubernetes-fleet.io/v1"
                ),
                (
                    "clusters/a.yaml:3: MemberCluster/x/a: metadata.namespace: does not go with MemberCluster, which "
                    "is a cluster-scoped kind; remove it"
                ),
            ],
        ),
        (
            "placements/a.yaml",
            (
                "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ResourcePlacement\nmetadata: {name: a}\n"
                "spec: {resourceSelectors: [{group: '', version: v1, kind: ConfigMap}]}\n"
            ),
            [
                (
                    "placements/a.yaml:3: ResourcePlacement/a: metadata.namespace: is required, since "
                    "ResourcePlacement is a namespaced kind; add it"
                )
            ],
        ),
        (
            "runs/a.yaml",
            "- 1\n",
            ["runs/a.yaml:1: is not a mapping, so it is no object; write apiVersion, kind and metadata"],
        ),
        (
            "runs/a.yaml",
            "spec: {}\n",
            ["runs/a.yaml:1: apiVersion: is required; add it", "runs/a.yaml:1: kind: is required; add it"],
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
                    "charts/a.yaml:1: a list or mapping stands as a key; keys must be plain words; if it is none of "
                    "gitfleet's files, ignore it in .gitfleetignore"
                )
            ],
        ),
    ],
)
def test_what_a_document_is(path: str, text: str, faults: list[str]) -> None:
    assert faults_of({path: text}) == faults
