"""JSON Schemas for editors come from the shapes that read the files, and know the same fields."""

from __future__ import annotations

import orjson
import pytest

from gitfleet.desired import kinds, schema_for
from gitfleet.errors import BadInput


def test_every_kind_of_the_repo_has_one() -> None:
    assert kinds() == (
        "ApprovalRequest",
        "ClusterApprovalRequest",
        "ClusterResourceOverride",
        "ClusterResourcePlacement",
        "ClusterResourcePlacementDisruptionBudget",
        "ClusterResourcePlacementEviction",
        "ClusterStagedUpdateRun",
        "ClusterStagedUpdateStrategy",
        "FleetConfig",
        "MemberCluster",
        "ResourceOverride",
        "ResourcePlacement",
        "StagedUpdateRun",
        "StagedUpdateStrategy",
    )


@pytest.mark.parametrize("kind", kinds())
def test_a_schema_is_json_and_closed(kind: str) -> None:
    schema = schema_for(kind)
    assert orjson.loads(orjson.dumps(schema)) == schema
    assert schema["properties"]["kind"] == {"const": kind}
    assert schema["additionalProperties"] is False
    assert {"apiVersion", "kind", "metadata"} <= set(schema["required"])


def test_a_schema_has_the_files_own_field_names() -> None:
    schema = schema_for("clusterresourceplacement")
    policy = schema["$defs"]["PolicyShape"]["properties"]
    assert {"placementType", "numberOfClusters", "topologySpreadConstraints"} <= set(policy)
    assert policy["placementType"]["enum"] == ["PickAll", "PickN", "PickFixed"]
    assert schema["properties"]["apiVersion"]["enum"] == [
        f"placement.kubernetes-fleet.io/{version}" for version in ("v1", "v1beta1", "v1alpha1")
    ]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BadInput, match="is not a kind"):
        schema_for("Deployment")
