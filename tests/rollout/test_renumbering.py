"""Clusters whose content a new snapshot leaves as it is take its number without moving."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.folders import FolderVariants, VariantSelector
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import renumbered
from tests.builders import config_map, manifest_of

WEB = PlacementKey("", "web")
FOLDER = FolderVariants(name="apps", variants=(VariantSelector(name="a"), VariantSelector(name="b")))


def of(variant: str, **data: str) -> Manifest:
    """A ConfigMap of a variant; "" is one for every cluster."""
    manifest = manifest_of(config_map("web", "settings", data))
    return replace(manifest, folder="apps", variants=(variant,)) if variant else manifest


def snapshot(index: int, *manifests: Manifest, loaded: bool = True) -> ResourceSnapshot:
    """A snapshot with these objects."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    documents = tuple(DocumentRef("x", "", 0, m.key, folder=m.folder, variants=m.variants) for m in manifests)
    return ResourceSnapshot(
        placement=WEB, index=index, hash=str(index), commit="", created=moment, documents=documents, folders=(FOLDER,),
        manifests=manifests if loaded else None,
    )  # fmt: skip


def bound(**fields: Any) -> Binding:
    """A binding that has snapshot 0 with variant a."""
    fields = {"variants": (("apps", "a"),), "state": BindingState.BOUND, **fields}
    return Binding(
        placement=WEB, cluster="c1", policy_snapshot="web-0", resource_snapshot="web-0-snapshot",
        applied_snapshot="web-0-snapshot", **fields,
    )  # fmt: skip


A, B = ClusterContent(variants=(("apps", "a"),)), ClusterContent(variants=(("apps", "b"),))
OLD = (of("a", x="1"), of("b", x="2"))


@pytest.mark.parametrize(
    ("new", "target", "binding", "takes"),
    [
        ((of("a", x="1"), of("b", x="3")), A, bound(), True),  # another variant was edited
        ((of("a", x="9"), of("b", x="2")), A, bound(), False),  # its own was
        ((of("a", x="9"), of("b", x="1")), B, bound(), True),  # another variant has the same content now
        ((of("a", x="1"), of("b", x="3")), A, replace(bound(), applied_snapshot=None), True),  # it has not arrived
        ((of("a", x="1"), of("b", x="3")), A._replace(resource_overrides=("web/o-1",)), bound(), False),
        ((of("a", x="1"), of("", x="3")), A, bound(), False),
        ((of("a", x="1"), of("b", x="3")), A, bound(state=BindingState.UNSCHEDULED), False),
    ],
)
def test_who_takes_the_number(new: tuple[Manifest, ...], target: ClusterContent, binding: Binding, takes: bool) -> None:
    record = PlacementRecord(
        placement=Placement(key=WEB, selectors=()),
        resource_snapshots=(snapshot(0, *OLD), snapshot(1, *new)),
        bindings=(binding,),
    )
    (after,) = renumbered(record, {"c1": target}).bindings
    if takes:
        applied = "web-1-snapshot" if binding.applied_snapshot else None
        wanted: dict[str, Any] = {"resource_snapshot": "web-1-snapshot", "applied_snapshot": applied}
        assert after == replace(binding, generation=binding.generation + 1, variants=target.variants, **wanted)
    else:
        assert after == binding
    unloaded = replace(record, resource_snapshots=(snapshot(0, *OLD, loaded=False), snapshot(1, *new)))
    assert renumbered(unloaded, {"c1": target}).bindings == (binding,)
