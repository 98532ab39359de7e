"""Snapshots of folders with variants: what is selected, the hash, and what one cluster gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.folders import Folder, Variant, made_namespace
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.snapshots import PayloadIndex, restore_snapshot, select, take_snapshots
from gitfleet.snapshots.index import index_payload
from gitfleet.snapshots.texts import SnapshotsText
from tests.builders import config_map, manifest_of, namespace

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VARIANTS = (
    Variant(name="prod", path="prod", cluster_selector=LabelSelector({"env": "prod"})),
    Variant(name="rest", path="b"),
)
APPS = Folder(name="apps", namespace="apps", create_namespace=True, variants=VARIANTS)
EVERYTHING = {"group": "gitfleet.dev", "version": "v1alpha1", "kind": "Folder"}


def of(name: str, *variants: str, folder: str = "apps", **parts: Any) -> Manifest:
    """A ConfigMap of variants."""
    return replace(manifest_of(config_map("apps", name, **parts)), folder=folder, variants=variants)


MADE = manifest_of(made_namespace("apps"))
PAYLOAD = (
    MADE,
    of("both", "prod", labels={"tier": "gold"}),
    of("both", "rest", data={"a": "1"}),
    of("only", "prod"),
    of("plain", folder="other"),
)


def indexed(*payload: Manifest, **folders: Folder) -> PayloadIndex:
    """The index of a payload."""
    return index_payload(payload, {}, folders=folders or {"apps": APPS})


def placing(*selectors: Mapping[str, Any]) -> Placement:
    """A placement."""
    return Placement(key=PlacementKey("", "web"), selectors=tuple(ResourceSelector(**one) for one in selectors))


MAPS = {"group": "", "version": "v1", "kind": "Namespace", "name": "apps"}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({**EVERYTHING, "name": "apps"}, ["apps", "both prod", "both rest", "only prod"]),
        ({**EVERYTHING, "name": "other"}, ["plain"]),
        ({**EVERYTHING, "name": "none"}, []),
        (MAPS, ["apps", "both prod", "both rest", "only prod", "plain"]),
    ],
)
def test_what_a_selector_selects_of_folders(selector: dict[str, Any], selected: list[str]) -> None:
    found = select(placing(selector), indexed(*PAYLOAD))
    assert found.error is None
    assert [" ".join((m.key.name, *m.variants)) for m in found.manifests] == selected
    assert [folder.name for folder in found.folders] == (["apps"] if "both prod" in selected else [])


def test_only_the_made_namespace_may_be_selected_twice() -> None:
    twice = [{**EVERYTHING, "name": "apps"}, {**MAPS, "selection_scope": "NamespaceOnly"}]
    assert select(placing(*twice), indexed(MADE, of("x"))).error is None
    assert select(placing(*twice), indexed(replace(manifest_of(namespace("apps")), folder="apps"))).error is not None
    assert select(placing(*twice[:1] * 2), indexed(of("x"))).error is not None


@pytest.mark.parametrize("body", [made_namespace("kube-system"), namespace("default")])
def test_a_reserved_namespace_is_not_selected_by_its_folder(body: JsonObject) -> None:
    made = replace(manifest_of(body), folder="apps")
    chosen = select(placing({**EVERYTHING, "name": "apps"}), indexed(made, of("x")))
    assert chosen.error is not None
    assert SnapshotsText.NAMESPACE_RESERVED_CANNOT_PLACED(selector=made.key.name) in chosen.error.message


def test_a_snapshot_has_every_variant_and_a_cluster_gets_its_own() -> None:
    (taken,) = take_snapshots(placing(MAPS), indexed(*PAYLOAD), None, commit="c", now=NOW).resource_snapshots
    assert len(taken.documents) == 5
    assert [key.name for key in taken.keys] == ["apps", "both", "only", "plain"]
    prod, rest, none = (taken.with_variants(chosen) for chosen in ((("apps", "prod"),), (("apps", "rest"),), ()))
    assert [ref.key.name for ref in prod.documents] == ["apps", "both", "only", "plain"]
    assert [ref.key.name for ref in rest.documents] == ["apps", "both", "plain"]
    assert [ref.key.name for ref in none.documents] == ["apps", "plain"]
    assert [m.key.name for m in rest.manifests or ()] == ["apps", "both", "plain"]
    assert prod.with_variants(()) is prod
    documents = {("", number): m for number, m in enumerate(taken.manifests or ())}
    refs = tuple(replace(ref, document=number) for number, ref in enumerate(taken.documents))
    bare = {place: replace(m, folder="", variants=()) for place, m in documents.items()}
    restored = restore_snapshot(replace(taken, documents=refs, manifests=None), bare)
    assert [(m.folder, m.variants) for m in restored.manifests or ()][1:3] == [("apps", ("prod",)), ("apps", ("rest",))]


def test_the_hash_covers_variants_and_selectors_and_is_as_before_without() -> None:
    def hash_of(*payload: Manifest, **folders: Folder) -> str:
        index = indexed(*payload, **folders)
        return take_snapshots(placing(MAPS), index, None, commit="c", now=NOW).resource_snapshots[0].hash

    plain = hash_of(MADE, of("x", folder=""))
    assert hash_of(MADE, of("x")) == plain
    edited = replace(APPS, variants=VARIANTS[:1])
    hashes = {
        plain,
        hash_of(MADE, of("x", "prod")),
        hash_of(MADE, of("x", "rest")),
        hash_of(MADE, of("x", "rest"), apps=edited),
    }
    assert len(hashes) == 4


def test_variants_of_a_folder_that_an_error_took_away_are_those_of_the_latest_snapshot() -> None:
    found = select(placing(MAPS), index_payload(PAYLOAD, {}))
    assert found.error is not None
    assert SnapshotsText.FOLDER_NOT_KNOWN(folder="apps") in found.error.message
    before = select(placing(MAPS), indexed(*PAYLOAD))
    assert select(placing(MAPS), index_payload(PAYLOAD, {}), before=before.folders) == before
