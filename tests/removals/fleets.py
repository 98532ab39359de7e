"""Placements that are rolled out to clusters, in a few words: the values that removals are judged by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from gitfleet.api.bindings import BindingState
from gitfleet.api.conditions import Conditions
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.removals import WantedObjects
from gitfleet.model.state import FleetState, PlacementRecord
from tests.state import builders
from tests.works.builders import obj, snapshot

WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")
CLUSTERS = ("c1", "c2")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def config_map(name: str, namespace: str = "web", **labels: str) -> Manifest:
    """An object."""
    return obj("v1", "ConfigMap", name, namespace, metadata={"labels": labels})


def envelope(*inside: Manifest, broken: bool = False) -> Manifest:
    """An envelope that carries some objects."""
    data = {f"{one.key.name}.yaml": one.body for one in inside}
    api = "placement.kubernetes-fleet.io/v1beta1"
    return obj(api, "ResourceEnvelope", "bundle", "web", data="oops" if broken else data)


def placed(key: PlacementKey, clusters: Iterable[str], *manifests: Manifest) -> PlacementRecord:
    """A placement that has these objects, and these clusters."""
    record = builders.record(key.name, *(builders.binding(key, name) for name in clusters), namespace=key.namespace)
    return replace(record, resource_snapshots=(replace(snapshot(*manifests, placement=key), index=0),))


def fleet(*records: PlacementRecord) -> FleetState:
    """All of these, applied everywhere; the first of two placements owns what both have on a cluster."""
    state = FleetState(placements={record.placement.key: record for record in records})
    inventory: dict[str, dict[ObjectKey, InventoryEntry]] = {}
    for record in records:
        for binding in record.bindings:
            for document in record.latest_resources.documents if record.latest_resources else ():
                owned = builders.entry(document.key, record.placement.key.name)
                inventory.setdefault(binding.cluster, {}).setdefault(document.key, owned)
    clusters = {name: builders.cluster(name) for name in inventory}
    return replace(state, clusters=clusters, inventory=inventory)


def wanting(state: FleetState, wants: Mapping[PlacementKey, Mapping[str, Collection[Manifest] | None]]) -> FleetState:
    """The state in which placements want these objects on clusters; None: all that they own there."""
    found = {
        key: {
            name: None if every is None else frozenset(one.key.identity for one in every) for name, every in on.items()
        }
        for key, on in wants.items()
    }
    return replace(state, wanted=WantedObjects(found))


def of_object(manifest: Manifest, key: PlacementKey = WEB, *rules: HoldRule) -> Removal:
    """An object that leaves a placement's selection, held by these rules."""
    return Removal(kind=RemovalKind.OBJECT, placement=key, object=manifest.key, judged=rules, rules=rules)


def of_cluster(name: str, *rules: HoldRule) -> Removal:
    """A cluster that leaves the fleet."""
    return Removal(kind=RemovalKind.CLUSTER, cluster=name, judged=rules, rules=rules)


def of_binding(name: str, key: PlacementKey = WEB, *rules: HoldRule) -> Removal:
    """A cluster that a placement picks no more."""
    return Removal(kind=RemovalKind.BINDING, placement=key, cluster=name, judged=rules, rules=rules)


def hold(name: str, removals: Sequence[Removal], *messages: str, conditions: Conditions = (), objects: int = 0) -> Hold:
    """A hold of some removals for these reasons."""
    reasons = tuple(HoldReason(rule=HoldRule.MASS_REMOVAL, message=message) for message in messages)
    return Hold(
        name=name,
        commit="c",
        since=builders.T0,
        digest="d",
        reasons=reasons,
        removals=tuple(removals),
        objects=objects,
        conditions=conditions,
    )


def with_web(state: FleetState, web: PlacementRecord) -> FleetState:
    """Another placement web."""
    return replace(state, placements={**state.placements, WEB: web})


def deleting(state: FleetState) -> FleetState:
    """The placement web on its way out."""
    web = state.placements[WEB]
    return with_web(state, replace(web, placement=replace(web.placement, deleting=NOW)))


def without(state: FleetState, cluster: str, *, leaving: bool = False) -> FleetState:
    """A cluster that is gone, or that is on its way out."""
    clusters = {name: one for name, one in state.clusters.items() if name != cluster}
    if leaving:
        clusters[cluster] = replace(state.clusters[cluster], deleting=NOW)
    return replace(state, clusters=clusters)


def unpicked(state: FleetState, cluster: str) -> FleetState:
    """The placement web without one of its clusters."""
    states = {cluster: BindingState.UNSCHEDULED}
    web = state.placements[WEB]
    bindings = tuple(replace(b, state=states.get(b.cluster, b.state)) for b in web.bindings)
    return with_web(state, replace(web, bindings=bindings))
