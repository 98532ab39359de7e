"""What waits on a cluster for objects of another folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.folders import Dependency, Folder
from gitfleet.api.objects import Manifest
from gitfleet.apply.texts import ApplyText
from gitfleet.model.desired import Desired
from gitfleet.model.folder_order import NO_ORDER, FolderOrder
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Update
from tests.apply.model_cluster import config_map
from tests.apply.test_plan_apply import live, owned, plan, work

APPS, CERTS = config_map("apps", a="1"), config_map("certs", a="1")
NEWER_APPS, NEWER_CERTS = config_map("apps", a="2"), config_map("certs", a="2")
THERE, CERTS_THERE = live(APPS, manager="gitfleet"), live(CERTS, manager="gitfleet")
BROKEN, DRIFTED = live(CERTS, manager="gitfleet", broken=True), live(APPS, manager="gitfleet", data={"a": "9"})
OWNED, CERTS_OWNED = owned(APPS, THERE), owned(CERTS, CERTS_THERE)
COMPLETED = replace(CERTS_OWNED, finished=True)
FOLDERS = (Folder(name="apps", depends_on=(Dependency(folder="certs"),)), Folder(name="certs"))
PAYLOAD = (replace(APPS, folder="apps"), replace(CERTS, folder="certs"))
DESIRED = Desired(commit="", objects={"folders": {folder.name: folder for folder in FOLDERS}}, payload=PAYLOAD)
ORDER = FolderOrder.of(DESIRED, lambda body: "broken" not in body)


@pytest.mark.parametrize(
    ("needs", "names"),
    [
        ({}, []),
        ({"apps": {"certs"}, "shop": {"apps", "dns"}}, ["certs", "dns", "apps", "shop"]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d"}}, ["d", "c", "a", "b"]),
    ],
)
def test_folders_are_listed_in_their_order(needs: dict[str, set[str]], names: list[str]) -> None:
    order = FolderOrder(needs={name: frozenset(others) for name, others in needs.items()})
    assert order.names == names


def of_apps(operations: Iterable[Operation]) -> Operation:
    """The operation for the object that waits."""
    return next(operation for operation in operations if operation.key == APPS.key)


def on_cluster(apps: LiveObject | None, certs: LiveObject | None) -> dict[str, Any]:
    """Both objects as the cluster has them, and the inventory that goes with it."""
    entries = {OWNED.key: OWNED if apps else None, CERTS_OWNED.key: CERTS_OWNED if certs else None}
    inventory = {key: entry for key, entry in entries.items() if entry is not None}
    return {"live": {APPS.key: apps, CERTS.key: certs}, "inventory": inventory, "order": ORDER}


@pytest.mark.parametrize(
    ("apps", "certs", "there", "made"),
    [
        (APPS, CERTS, on_cluster(None, None), None),
        (APPS, CERTS, on_cluster(None, BROKEN), None),
        (APPS, CERTS, on_cluster(None, CERTS_THERE), Create),
        (NEWER_APPS, NEWER_CERTS, on_cluster(THERE, CERTS_THERE), None),
        (NEWER_APPS, CERTS, on_cluster(THERE, CERTS_THERE), Update),
        (APPS, NEWER_CERTS, on_cluster(DRIFTED, CERTS_THERE), Update),  # drift does not wait
        (APPS, CERTS, {**on_cluster(None, None), "order": NO_ORDER}, Create),
        (APPS, CERTS, {**on_cluster(None, None), "inventory": {CERTS.key: CERTS_OWNED}}, None),
        (APPS, CERTS, {**on_cluster(None, None), "inventory": {CERTS.key: COMPLETED}}, Create),  # gone by its TTL
    ],
)
def test_new_content_waits_for_the_objects_of_the_other_folder(
    apps: Manifest, certs: Manifest, there: dict[str, Any], made: type[Operation] | None
) -> None:
    operation = of_apps(plan(work(apps, certs), **there))
    if made is not None:
        assert isinstance(operation, made)
        return
    assert isinstance(operation, Keep)
    why = ApplyText.WAITS_FOR_FOLDER(folder="certs", missing=CERTS.key)
    assert (operation.code, operation.reason) == (KeepCode.FOLDER, why)


def test_what_is_waited_for_is_deleted_last() -> None:
    both = plan(work(), **on_cluster(THERE, CERTS_THERE))
    assert {o.key: type(o) for o in both} == {APPS.key: Delete, CERTS.key: Keep}
    (kept,) = (o for o in both if isinstance(o, Keep))
    assert (kept.code, kept.reason) == (KeepCode.FOLDER, ApplyText.STAYS_UNTIL_GONE(first=APPS.key))
    assert isinstance(plan(work(), **on_cluster(None, CERTS_THERE))[0], Delete)
    one = plan(work(APPS), **on_cluster(THERE, CERTS_THERE))
    assert {o.key: type(o) for o in one} == {APPS.key: Keep, CERTS.key: Delete}  # the other one stays
