"""docs/workload-rollouts.md: its examples are read without an error, its tables have every field with its default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gitfleet.api.kinds import KINDS
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.schemas import json_schema
from gitfleet.api.workload_rollouts import RolloutTrait
from gitfleet.desired.texts import DesiredText
from tests.desired.commits import read
from tests.texts import part

PAGE = (Path(__file__).parents[2] / "docs" / "workload-rollouts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PLACEMENT = (
    "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: web}\n"
    "spec: {resourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]}\n"
)
NO_MANIFEST = part(DesiredText.NAMES_NO_MANIFEST_REPO)
"""What is said of the workloads of the examples, whose manifests the page does not show."""


def test_the_examples_are_read_as_they_stand() -> None:
    files = {f"rollouts/{number}.yaml": text for number, text in enumerate(EXAMPLES)}
    desired = read({**files, "web.yaml": PLACEMENT})
    assert not [fault for fault in desired.faults if NO_MANIFEST not in fault.message]
    kinds = [*(one.kind for one in desired.rollouts.values()), *("MetricTemplate" for _ in desired.metric_templates)]
    assert sorted(kinds) == ["AppRollout", "MetricTemplate", "Rollout", "RolloutTrait", "RolloutTrait"]


SECTIONS = {
    "RolloutTrait": ("RolloutTrait", "spec"),
    "AppRollout": ("AppRollout", "spec"),
    "MetricTemplate": ("MetricTemplate", "spec"),
    "rolloutPlan": ("RolloutPlan", ""),
    "rolloutBatches": ("RolloutBatch", ""),
    "Webhooks": ("RolloutWebhook", ""),
    "canaryMetric": ("CanaryMetric", ""),
}


def fields_of(name: str, section: str) -> dict[str, Any]:
    """The fields of a declaration with what the JSON Schema says of each."""
    kinds = {kind.name: kind.schema() for kind in KINDS.values()}
    schema = kinds.get(name) or {**json_schema(RolloutTrait)["$defs"], "RolloutPlan": json_schema(RolloutPlan)}[name]
    properties: dict[str, Any] = schema["properties"][section]["properties"] if section else schema["properties"]
    return {field: said for field, said in properties.items() if "deprecated" not in said}


@pytest.mark.parametrize("heading", SECTIONS)
def test_a_table_has_every_field_with_its_default(heading: str) -> None:
    section = re.split(r"^##+ ", PAGE.partition(f"\n### {heading}\n")[2], flags=re.MULTILINE)[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|(?: ([^|]*?))? \|", section, re.MULTILINE))
    fields = fields_of(*SECTIONS[heading])
    assert set(rows) == set(fields)
    for name, said in fields.items():
        default = said.get("default")
        if isinstance(default, bool):
            assert rows[name] == f"`{str(default).lower()}`"
        elif default not in (None, [], {}):
            assert rows[name] == f"`{default}`"
