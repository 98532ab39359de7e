"""Names of branches that gitfleet writes: none may be, or lie among, those of something else."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api import dotted, read
from gitfleet.api.fleet import FleetConfig


def refused(branches: dict[str, Any], **spec: Any) -> list[str]:
    """The fields for which a FleetConfig with these branches is refused."""
    body = {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FleetConfig",
        "metadata": {"name": "fleet"},
        "spec": {"branches": branches, **spec},
    }
    return [dotted(where) for where, _ in read(FleetConfig, body)[1]]


DELIVERIES, MEMBERS = "spec.branches.deliveries", "spec.branches.members"


@pytest.mark.parametrize(
    ("branches", "fields"),
    [
        ({"deliveries": "fleet/agents/"}, []),
        ({"watch": "fleet/agents/main", "deliveries": "fleet/agents/"}, [DELIVERIES]),
        ({"state": "fleet/agents/state", "deliveries": "fleet/agents/"}, [DELIVERIES]),
        ({"approvals": "fleet/", "deliveries": "fleet/agents/"}, [DELIVERIES]),
        ({"deliveries": "gitfleet/member/"}, [DELIVERIES]),
        ({"members": "gitfleet/deliver/"}, [MEMBERS]),
        ({"state": "fleet/agents/state", "members": "fleet/agents/"}, [MEMBERS]),
    ],
)
def test_the_branches_of_agents_lie_apart_from_all_others(branches: dict[str, Any], fields: list[str]) -> None:
    assert refused(branches) == fields


@pytest.mark.parametrize("prefix", ["approvals", "members", "deliveries"])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_rendered_branch_is_not_among_those_that_are_removed(prefix: str, enabled: bool) -> None:
    branches = {prefix: "fleet/them/", "rendered": "fleet/them/rendered"}
    assert refused(branches, rendered={"enabled": enabled}) == ["spec.branches.rendered"] * enabled
