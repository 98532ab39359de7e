"""A cluster that nobody observed, as its inventory has it: planning against it changes only what changed since."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest
from gitfleet.apply import Comparisons, Ignored, as_recorded
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import WEB, live, owned, plan, work

CM, NS = config_map("cm", a="1"), namespace("web")
BARE = manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare"}})
ROLE = manifest(
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r", "namespace": "ns"}}
)
OURS = [{"manager": "gitfleet", "operation": "Apply"}]


def entry(applied: Manifest, **parts: Any) -> InventoryEntry:
    """An applied object, of which the server rewrote a value."""
    there = live(applied, manager="gitfleet", data={"a": "rewritten"})
    return replace(owned(applied, there), **parts)


@pytest.mark.parametrize(
    ("wanted", "known", "body"),
    [
        (CM, entry(CM), {**CM.body, "metadata": {**CM.body["metadata"], "uid": "u1", "managedFields": OURS}}),
        (
            CM,
            entry(CM, applied_digest="older"),
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "cm", "namespace": "ns", "uid": "u1", "managedFields": OURS},
            },
        ),
        (
            NS,
            entry(BARE, uid="u7"),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare", "uid": "u7", "managedFields": OURS}},
        ),
        (
            CM,
            entry(ROLE),
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "r", "namespace": "ns", "uid": "u1", "managedFields": OURS},
            },
        ),
    ],
    ids=[ApplyText.AS_APPLIED(), "another version was applied", "cluster-wide and wanted no more", "of a group"],
)
def test_what_was_applied_is_there(wanted: Manifest, known: InventoryEntry, body: dict[str, Any]) -> None:
    labelled = {**wanted.body["metadata"], "labels": {"a": "b"}}
    wanted = replace(wanted, body={**wanted.body, "metadata": labelled})
    if known.applied_digest == wanted.digest:
        body["metadata"]["labels"] = {"a": "b"}
    observed, inventory = as_recorded("c1", {known.key: known}, [work(), work(wanted)])
    assert (observed.cluster, observed.reachable) == ("c1", True)
    assert observed.live == {known.key: LiveObject(known.key, body)}
    same = wanted.digest == known.applied_digest
    assert (inventory[known.key] == known) is not same, "the shape is that of the manifest, where that was applied"
    assert replace(inventory[known.key], shape_digest=known.shape_digest) == known


def test_what_was_never_applied_is_not_there_and_the_next_is() -> None:
    new = entry(CM, uid=None)
    observed, inventory = as_recorded("c1", {CM.key: new, NS.key: entry(NS)}, [work(CM, NS)])
    assert observed.live[CM.key] is None and observed.live[NS.key] is not None
    assert inventory[CM.key] is new and list(inventory) == [CM.key, NS.key]


def test_only_what_changed_since_is_written() -> None:
    newer = config_map("cm", a="2")
    left_alone = Ignored((IgnoreDifferences(kind="ConfigMap", json_pointers=("/data/a",)),))
    for wanted, rules, expected in (
        (CM, Ignored(), "Keep"), (newer, Ignored(), "Update"), (CM, left_alone, "Keep"), (newer, left_alone, "Update")
    ):  # fmt: skip
        observed, inventory = as_recorded("c1", {CM.key: entry(CM)}, [work(wanted)], rules)
        given: dict[str, Any] = {"compared": Comparisons(rules)}
        (operation,) = plan(work(wanted), live=observed.live, inventory=inventory, **given)
        assert (type(operation).__name__, operation.placement) == (expected, WEB)
