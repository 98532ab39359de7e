"""JSON Schemas for editors come from the shapes that read the files, and know the same fields."""

from __future__ import annotations

import orjson
import pytest

from gitfleet.api.kinds import KINDS, watched_kinds

SCHEMAS = {kind.name: kind.schema() for kind in watched_kinds()}


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_a_schema_is_json_and_closed(kind: str) -> None:
    schema = SCHEMAS[kind]
    assert orjson.loads(orjson.dumps(schema)) == schema
    assert schema["properties"]["kind"] == {"const": kind}
    assert schema["additionalProperties"] is False
    assert {"apiVersion", "kind", "metadata"} <= set(schema["required"])


def test_a_schema_has_the_files_own_field_names() -> None:
    schema = SCHEMAS["ClusterResourcePlacement"]
    policy = schema["$defs"]["PlacementPolicy"]["properties"]
    assert {"placementType", "numberOfClusters", "topologySpreadConstraints"} <= set(policy)
    assert policy["placementType"]["enum"] == ["PickAll", "PickN", "PickFixed"]
    assert schema["properties"]["apiVersion"]["enum"] == [
        f"placement.kubernetes-fleet.io/{version}" for version in ("v1", "v1beta1", "v1alpha1")
    ]


SHORT = """crp rp mc cro ro csus sus csur sur careq areq crpe crpdb crb rb crs rs csps sps scenario config"""


def test_every_word_names_one_kind_and_every_short_name_is_a_word() -> None:
    words = [word.lower() for kind in KINDS.values() for word in kind.words]
    assert len(set(words)) == len(words)
    assert set(SHORT.split()) <= set(words)
