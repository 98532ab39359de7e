"""Whose a Namespace is, on a real API server: what others made stays with all in it, whatever gitfleet took of it."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from tests.e2e.manifests import config_map, member, placement, text
from tests.e2e.members import Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real

PLACED = "placements/web.yaml"
ASKING = {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}


def space(name: str, **labels: str) -> dict[str, Any]:
    """A Namespace with labels."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


APPLIED = {"force": True, "_content_type": "application/apply-patch+yaml"}


@pytest.mark.soak("real")
@pytest.mark.parametrize(
    ("theirs", "applied"),
    [({"theirs": "1"}, False), ({}, False), ({"theirs": "1"}, True), ({"team": "b"}, True), ({}, True)],
    ids=["created", "created bare", "applied", "applied with a field that gitfleet takes", "applied bare"],
)
def test_what_others_made_stays_when_it_is_placed_and_removed_twice(
    config: ConfigRepo, program: Program, members: Members, theirs: dict[str, str], applied: bool
) -> None:
    """gitfleet's apply may take the last field of whoever made it, and with it their only trace on the server."""
    name = members.namespace("others")
    files: dict[str, str | None] = {
        "gitfleet.yaml": text({**ASKING, "spec": {"removals": {"approval": "Never"}}}),
        "clusters/cluster-1.yaml": member("cluster-1"),
        "resources/web/namespace.yaml": text(space(name, team="a")),
        "resources/web/settings.yaml": config_map(name, greeting="Hello"),
        PLACED: placement(name, name="others"),
    }
    at = members.by_name["cluster-1"]
    core: Any = CoreV1Api(at.server.client())
    if applied:
        core.patch_namespace(name, space(name, **theirs), field_manager="a-person", **APPLIED)
    else:
        core.create_namespace(space(name, **theirs), field_manager="a-person")
    core.create_namespaced_config_map(name, {"metadata": {"name": "theirs"}, "data": {"a": "1"}})
    uid = core.read_namespace(name).metadata.uid
    config.commit(files, "Placed")
    program.settle()
    placed = core.read_namespace(name).metadata
    assert (placed.uid, placed.labels["team"]) == (uid, "a")
    managers = {entry.manager for entry in placed.managed_fields}
    assert any(manager.startswith("gitfleet") for manager in managers)
    assert ("a-person" in managers) == (not applied or theirs != {"team": "b"}), managers

    for again in ("", " again"):
        config.commit({PLACED: None}, f"Removed{again}")
        removed = program.settle()
        assert f"Namespace/{name} left on cluster-1, no longer managed" in removed.output + removed.talk
        assert core.read_namespace(name).status.phase == "Active"
        assert at.config_map(name, "settings") is None, "what gitfleet made goes"
        config.commit({PLACED: files[PLACED]}, f"Placed{again or ' again'}")
        program.settle()
    left = core.read_namespace(name)
    assert (left.metadata.uid, left.status.phase) == (uid, "Active")
    assert at.config_map(name, "theirs") == {"a": "1"}

    asked = text({**space(name, team="a"), "metadata": {"name": name, "annotations": {"gitfleet.dev/prune": "true"}}})
    config.commit({"resources/web/namespace.yaml": asked}, "It may go")
    program.settle()
    config.commit({PLACED: None}, "Removed with what is in it")
    program.settle()
    assert not at.has_namespace(name)
