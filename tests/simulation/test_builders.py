"""Builders give what a config repo holds, and text that means the same to Kubernetes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.ports.clock import Clock
from gitfleet.simulation.clock import ManualClock
from tests import builders as make

BODIES: list[dict[str, Any]] = [
    make.fleet_config(interval="10s"),
    make.member_cluster("c1", labels={"env": "prod"}, taints=[{"key": "k", "effect": "NoSchedule"}]),
    make.placement("web", policy=make.pick_n(2, match_labels={"env": "prod"})),
    make.placement("fixed", "web", strategy=make.rolling_update(maxUnavailable=1), policy=make.pick_fixed("c1")),
    make.staged_strategy("staged", make.stage("canary", match_labels={"env": "prod"}, approval=True, wait="5m")),
    make.staged_run("run", placement="web", strategy="staged", index=0),
    make.approval("run", "canary"),
    make.namespace("web"),
    make.deployment("web", "api"),
    make.service("web", "api", type_="ExternalName"),
    make.custom_definition("example.com", "Widget"),
]
PATHS = [
    "gitfleet.yaml",
    "clusters/c1.yaml",
    "placements/web.yaml",
    "placements/fixed.yaml",
    "strategies/staged.yaml",
    "runs/run.yaml",
    "approvals/run-canary.yaml",
    "resources/web/namespace-web.yaml",
    "resources/web/deployment-api.yaml",
    "resources/web/service-api.yaml",
    "resources/cluster/customresourcedefinition-widgets.example.com.yaml",
]


def read(text: str) -> list[Any]:
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert not parsed.faults
    return [document.value for document in parsed.documents]


def test_every_object_stands_in_its_conventional_place_and_reads_back() -> None:
    files = make.repo_files_for(*BODIES)
    assert [make.path_of(body) for body in BODIES] == PATHS
    assert {path: read(text) for path, text in files.items()} == {
        path: [body] for path, body in zip(PATHS, BODIES, strict=True)
    }


def test_objects_of_one_place_share_a_file() -> None:
    files = make.repo_files_for(make.namespace("a"), make.namespace("a"))
    assert {path: len(read(text)) for path, text in files.items()} == {"resources/a/namespace-a.yaml": 2}


@pytest.mark.parametrize(
    "text", ["y", "1e3", "0777", ".inf", "12:30", "", "~", "null", "a\nb\n", "2001-01-01", "- a", "on"]
)
def test_text_stays_text(text: str) -> None:
    body = make.config_map("a", "b", {"k": text})
    assert read(make.to_yaml(body)) == [body]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30))
def test_any_printable_text_stays_text(text: str) -> None:
    body = make.config_map("a", "b", {"k": text})
    assert read(make.to_yaml(body)) == [body]


def test_placement_yaml_is_a_placement() -> None:
    (body,) = read(make.placement_yaml("web", "one", "two"))
    assert body["spec"]["resourceSelectors"] == [make.select_namespace("one"), make.select_namespace("two")]


def test_member_of() -> None:
    member = make.member_of(make.member_cluster("c1", labels={"a": "b"}, properties={"p": "1"}))
    assert (member.name, dict(member.labels), member.status.properties["p"].value) == ("c1", {"a": "b"}, "1")


def test_the_manual_clock() -> None:
    clock = ManualClock(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    port: Clock = clock
    assert (port.now(), port.monotonic()) == (datetime(2026, 1, 1, tzinfo=UTC), 0.0)
    assert clock.advance(1.5) == datetime(2026, 1, 1, 0, 0, 1, 500000, tzinfo=UTC)
    assert clock.advance(3598.5) == port.now() == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert port.monotonic() == 3600.0
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="zone"):
        ManualClock(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
