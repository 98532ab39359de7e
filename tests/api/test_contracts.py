"""What contracts.md §1 shows is read as it stands there, and its values are the defaults."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from gitfleet.api import read, read_state
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import ApprovalPolicy, FleetConfig, RemovalSettings
from gitfleet.api.strategies import RollingUpdate
from gitfleet.api.texts import ApiText
from gitfleet.formats.yaml_reader import parse_documents

CONTRACTS = Path(__file__).parents[2] / "docs/reference/contracts.md"


def documents() -> list[object]:
    block, *_ = re.findall(r"```yaml\n(apiVersion: gitfleet.*?)```", CONTRACTS.read_text(), flags=re.DOTALL)
    parsed = parse_documents(block.encode(), max_bytes=100_000)
    assert parsed.faults == ()
    return [document.value for document in parsed.documents]


def test_the_fleet_config_shows_every_field_with_its_default() -> None:
    body, _ = documents()

    config, breaks = read(FleetConfig, body)

    assert (breaks, config) == ([], FleetConfig())
    assert config is not None and list(config.warnings()) == []


def test_the_member_cluster_is_read() -> None:
    _, body = documents()

    cluster, breaks = read(MemberCluster, body)

    assert breaks == [] and cluster is not None
    assert (cluster.name, cluster.connection is not None and cluster.connection.context) == ("eu-1", "eu-1")


def test_what_does_not_act_yet_says_so() -> None:
    config = replace(FleetConfig(), removals=RemovalSettings(min_objects=7), approvals=ApprovalPolicy(required=2))
    config = replace(config, state_history_max_commits=100)
    assert list(config.warnings()) == []

    few = replace(config, state_history_max_commits=99)
    assert list(few.warnings()) == [
        (("spec", "stateHistory", "maxCommits"), ApiText.COUNTS_FEWEST_WRITE_MORE(fewest_commits="100"))
    ]

    config = replace(config, delivery_mode="pull")
    assert [".".join(map(str, place)) for place, _ in config.warnings()] == ["spec.delivery.mode"]


def test_a_budget_of_zero_that_stands_in_the_state_is_read() -> None:
    """Decision D1 is a rule of validation: what is stored stays readable; the arithmetic takes it."""
    assert read_state(RollingUpdate, {"maxUnavailable": 0, "maxSurge": "0%"}).max_unavailable == 0
