"""Simulated clusters that have what a state has recorded: from where `simulate` starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from gitfleet import apply
from gitfleet.api.definitions import CRD
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import GroupKind, Identity, JsonObject, Manifest, ObjectKey
from gitfleet.errors import GitfleetError
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.model.failures import Failures
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Outcome, OutcomeCode
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.simulation.bodies import Stored
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.refusals import Refused

LONGEST: Final = timedelta(hours=1)
"""So long controllers have for what is there from the beginning."""
_FIRST: Final = (GroupKind("", "Namespace"), CRD)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStart:
    """A recorded `state`, and the works of its bindings by cluster, of a fleet with a configuration."""

    state: FleetState
    works: Mapping[str, tuple[Work, ...]]
    config: FleetConfig

    def put_on(self, fleet: SimulatedFleet, clock: ManualClock) -> FleetState:
        """Put everything that the inventory names on the clusters, available; the state with the uids that it has
        there. Takes `LONGEST` of the clock."""
        start = clock.now()
        for first in (True, False):
            for name in self.state.inventory:
                for manifest in self._applied(name):
                    if (manifest.key.group_kind in _FIRST) is first:
                        _apply(fleet.cluster(name), manifest.body)
            while (moment := fleet.next_change()) is not None and moment < start + LONGEST:
                clock.advance((moment - clock.now()).total_seconds())
        for name in self.state.clusters:
            self._add_unknown(fleet.cluster(name))
        clock.advance((start + LONGEST - clock.now()).total_seconds())
        return self._with_uids(fleet)

    def _applied(self, cluster: str) -> Iterator[Manifest]:
        """The manifests that were applied, as far as they are known."""
        works = self.works.get(cluster, ())
        manifests = {(m.key.identity, m.digest): m for work in works for m in work.manifests}
        for key, entry in self.state.inventory[cluster].items():
            manifest = manifests.get((key.identity, entry.applied_digest or ""))
            if entry.uid is not None and manifest is not None:
                yield manifest

    def _add_unknown(self, cluster: SimulatedCluster) -> None:
        """What is there, and of which nothing but the name is known: namespaces of others, and objects whose manifest
        is over."""
        present = {live.key.identity for live in cluster.objects()}
        namespaces = self.state.clusters[cluster.name].status.namespaces or {}
        keys = [ObjectKey("", "v1", "Namespace", "", name) for name in namespaces]
        keys += [key for key, entry in self.state.inventory.get(cluster.name, {}).items() if entry.uid is not None]
        missing = {key.identity: key for key in keys if key.identity not in present}
        server = cluster.memory
        bare = [Stored(LiveObject(key, _bare(key)), done=True, first=False) for key in missing.values()]
        server.restore(server.version, [*server.objects.values(), *bare])

    def _with_uids(self, fleet: SimulatedFleet) -> FleetState:
        manifests = {name: {m.key.identity: m for m in self._applied(name)} for name in self.state.inventory}
        outcomes = [
            outcome for name, owned in manifests.items() for outcome in self._outcomes(fleet.cluster(name), owned)
        ]
        desired = apply.Wanted(self.works, ignored=self.config.ignore_differences)
        settled = apply.settle_all(self.state.inventory, (), outcomes, Failures(), {}, desired)
        inventory = {
            name: {
                key: replace(entry, uid=live.uid) if (live := fleet.cluster(name).get(key)) is not None else entry
                for key, entry in owned.items()
            }
            for name, owned in settled.items()
        }
        clusters = {
            name: replace(cluster, status=replace(cluster.status, server=""))
            for name, cluster in self.state.clusters.items()
        }
        return replace(self.state, inventory=inventory, clusters=clusters)

    def _outcomes(self, cluster: SimulatedCluster, manifests: Mapping[Identity, Manifest]) -> Iterator[Outcome]:
        for key, entry in self.state.inventory[cluster.name].items():
            manifest, live = manifests.get(key.identity), cluster.get(key)
            if manifest is not None and live is not None:
                create = Create(cluster=cluster.name, placement=entry.placement, reason="", manifest=manifest, wave=0)
                yield Outcome(operation=create, ok=True, code=OutcomeCode.APPLIED, live=live)


def _apply(cluster: SimulatedCluster, body: JsonObject) -> None:
    """Apply an object; what this server refuses is there all the same, and only its name is known."""
    try:
        cluster.apply_by_hand(body, manager=FIELD_MANAGER)
    except (Refused, GitfleetError):
        return


def _bare(key: ObjectKey) -> JsonObject:
    namespace = {"namespace": key.namespace} if key.namespace else {}
    metadata = {"name": key.name, **namespace, "uid": f"recorded-{key.kind}-{key.name}", "resourceVersion": "1"}
    return {"apiVersion": key.api_version, "kind": key.kind, "metadata": metadata}
