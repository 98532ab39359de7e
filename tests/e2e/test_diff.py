"""`gitfleet diff` on real API servers: what the server fills in is no difference, what somebody writes is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import CoreV1Api

from tests.e2e.manifests import PLACEMENT, member, text
from tests.e2e.members import Members
from tests.e2e.programs import Ended, Program
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real

FORTY_KINDS = Path(__file__).parent / "forty_kinds.yaml"


def placement_of(name: str, documents: list[dict[str, Any]], comparison: str) -> str:
    """A placement that selects the Namespace and each cluster-scoped object by name."""
    selectors = []
    for document in documents:
        group, _, version = document["apiVersion"].rpartition("/")
        metadata = document["metadata"]
        if "namespace" not in metadata:
            selectors.append({"group": group, "version": version, "kind": document["kind"], "name": metadata["name"]})
    strategy = {"type": "RollingUpdate", "applyStrategy": {"comparisonOption": comparison}}
    spec = {"resourceSelectors": selectors, "policy": {"placementType": "PickAll"}, "strategy": strategy}
    return text({"apiVersion": PLACEMENT, "kind": "ClusterResourcePlacement", "metadata": {"name": name}, "spec": spec})


def diff(program: Program, *words: str, expect: int = 0) -> Ended:
    """`gitfleet diff` of the placement `forty`."""
    return program.command("diff", "forty", "-C", program.repo, *words, *program.options(), expect=expect)


@pytest.mark.parametrize(
    "comparison", [pytest.param("PartialComparison", marks=pytest.mark.soak("real")), "FullComparison"]
)
def test_right_after_a_rollout_of_the_forty_most_used_kinds_nothing_differs_and_then_what_somebody_wrote_does(
    config: ConfigRepo, program: Program, members: Members, comparison: str
) -> None:
    namespace = members.namespace("forty")
    content = FORTY_KINDS.read_text(encoding="utf-8").replace("NS", namespace)
    documents = list(yaml.safe_load_all(content))
    assert len({(one["apiVersion"], one["kind"]) for one in documents}) >= 40
    config.commit(
        {
            "clusters/cluster-1.yaml": member("cluster-1"),
            "placements/forty.yaml": placement_of("forty", documents, comparison),
            "resources/forty.yaml": content,
        },
        "Forty kinds",
    )
    missing = json.loads(diff(program, "-o", "json").output)["clusters"]
    assert [(c["clusterName"], c["same"], {o["state"] for o in c["objects"]}) for c in missing] == [
        ("cluster-1", 0, {"Missing"})
    ]
    for _ in range(3):  # custom resources follow their definition
        program.run("--once")
    same = json.loads(diff(program, "--detailed-exitcode", "-o", "json").output)["clusters"]
    assert same == [
        {"clusterName": "cluster-1", "compared": True, "message": "", "same": len(documents), "objects": []}
    ]

    client = members.by_name["cluster-1"].server.client()
    CoreV1Api(client).patch_namespaced_config_map(
        "settings", namespace, {"data": {"greeting": "hacked", "more": "1"}}, field_manager="a-person"
    )
    CoreV1Api(client).patch_namespaced_secret(
        "login", namespace, {"stringData": {"password": "hunter3"}}, field_manager="a-person"
    )
    found = diff(program, "cluster-1", "--detailed-exitcode", expect=2).output
    assert "hunter" not in found
    lines = [line.split(" wrote it at ")[0] for line in found.splitlines()]
    assert lines == [
        f"cluster-1: 2 of {len(documents)} objects differ",
        f"  Secret/{namespace}/login differs",
        "    /data/password",
        "      - (redacted)   (a-person",
        "      + (redacted)",
        f"  ConfigMap/{namespace}/settings differs",
        "    /data/greeting",
        "      - hacked   (a-person",
        "      + Hello",
        *(["    /data/more", "      - 1   (a-person", "      + (not there)"] if comparison == "FullComparison" else []),
    ]
