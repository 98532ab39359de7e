"""What must hold at every moment of every history, judged by what the simulated clusters really run.

A cluster is *up* for a placement when it can be reached and has, settled and as written, every object of the work that
its binding asks for. Two moments can end that by gitfleet's own doing: an intent that asks for something else (from
then on the cluster counts as taken down, although its server is only told a little later), and an operation. So:

1. An intent that takes clusters down leaves at least `T - U` of those that were up (kubefleet.md §3: T the target
   number of clusters, U maxUnavailable of T, rounded up). Clusters that are down for other reasons are taken as given:
   then there is less, or nothing, to take. One that falls silent while a reconcile goes on counts as it was observed.
2. No operation takes down a cluster that is up for the intent in force: nothing happens on a cluster that was not asked
   for by a pushed intent.
3. Nothing is applied that the pushed inventory does not name, and nothing deleted that it does not name.
4. An intent that gives clusters a binding leaves at most `T + S` clusters with the resources: those that were up, or
   are being cleared, and the new ones (S maxSurge of T, rounded up).
5. Nothing is deleted that a placement wants on the cluster, or that a rule holds and nobody approved, by the files that
   people wrote (`guarantee`).
6. Nothing is deleted that a hold lists, as long as a rule holds it and nobody approved the hold; and nothing on a
   cluster, or of a placement, that abandons what it has.

All of it is read from what people wrote, the state branch and the clusters; nothing that a process keeps in memory
counts. What an agent does is judged by the state for which its orders were delivered.

Budgets (1, 2, 4, 7, 8) are judged in histories without agents, which do and see everything later, and until somebody
damages the state branch (`exact`).

A cluster that the intent says has not answered for five minutes leaves the target (decision D32); and where more than
half of a placement's clusters are silent by the intent, no binding of it may change what it asks for (7).

A placement that is deleted gives up at most U of its clusters at a time, at least one (8); those that are silent by
the intent or leave the fleet do not count. Clusters that leave are given up as a whole: no budget speaks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from gitfleet.api.bindings import BindingState, is_active
from gitfleet.api.holds import RemovalKind
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.apply import find_differences
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.ports.clock import Clock
from gitfleet.simulation.cluster import ClusterEvent
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.works import WorksMemo, render_fleet
from tests.properties.guarantee import Judge

Up = dict[PlacementKey, frozenset[str]]
Identity = tuple[str, str, str, str]


@dataclass(slots=True)
class Invariants:
    """Watches one fleet. `read` gives the head of the state branch and the state there; `intent` is the state in force:
    the one pushed last; `broken` lists what should not have been (kept, not raised: what watches a cluster must not be
    able to stop it)."""

    fleet: SimulatedFleet
    read: Callable[[], tuple[str | None, FleetState]]
    clock: Clock
    head: str | None = None
    intent: FleetState = field(default_factory=FleetState)
    broken: list[str] = field(default_factory=list)
    checked: int = 0
    exact: bool = True
    commits: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The files of every commit of people."""
    judge: Judge = field(default_factory=Judge)
    delivered: dict[str, Judge] = field(default_factory=dict)
    """By the commit of an agent's orders, what they follow from."""
    acting: Judge | None = None
    """Who judges what an agent is doing."""
    deleted: int = 0
    just_silent: set[str] = field(default_factory=set)
    _works: Mapping[str, Mapping[PlacementKey, Work]] = field(default_factory=dict)
    _rendered: WorksMemo = field(default_factory=WorksMemo)
    _up: Up = field(default_factory=dict)
    _ours: bool = False
    _same: dict[tuple[str, str, str, str], bool] = field(default_factory=dict)
    _there: dict[str, frozenset[Identity]] = field(default_factory=dict)

    def pushed(self) -> None:
        """A new intent or report may be on the state branch (invariants 1 and 4)."""
        head, state = self.read()
        if head == self.head:
            self._up = self._up_now()
            return
        self.head = head
        up_before = self._up_now()
        before, self.intent = self.intent, state
        self.judge = self.judge.next(state, self.commits.get(state.observed_commit or "", {}))
        rendered, self._rendered = render_fleet(state, self._rendered, Failures())
        self._works = {name: {work.placement: work for work in works} for name, works in rendered.items()}
        self._up = self._up_now()
        for key, record in state.placements.items() if self.exact else ():
            if record.placement.deleting is not None and key in before.placements:
                self._check_pace(before.placements[key], record)
            if record.placement.deleting is None and key in before.placements:
                self._check_budget(record, up_before.get(key, frozenset()), self._up.get(key, frozenset()))
                self._check_surge(before.placements[key], record, up_before.get(key, frozenset()))
                self._check_moves(before.placements[key], record)

    def damaged(self) -> None:
        """The next state follows from another one than the last."""
        self.exact, self.judge = False, self.judge.forgetting()

    def deliver(self, head: str | None) -> None:
        """Orders of an agent may have been pushed."""
        self.delivered.setdefault(head or "", self.judge)

    def by_agent(self, head: str | None) -> None:
        """What happens from now on is an agent's doing, until `by_gitfleet` says otherwise."""
        self.by_gitfleet(True)
        self.acting = self.delivered.get(head or "", self.judge)

    def happened(self, happening: ClusterEvent) -> None:
        """Something happened on a cluster (invariants 2 and 3). What people do by hand is none of ours."""
        if happening.what not in ("apply", "delete") or not happening.ok or not self._ours:
            return
        self.checked += 1
        name, key = happening.cluster, happening.key
        was_there = key.identity in self._there.get(name, ())
        self._there[name] = self._identities(name)
        judge = self.acting or self.judge
        if key not in judge.state.inventory.get(name, {}) and (happening.what == "apply" or was_there):
            self.broken.append(f"{happening.what} of {key} on {name}, which no pushed inventory names")
        if happening.what == "delete" and was_there:
            self.deleted += 1
            self._check_deletion(name, key, judge)
        for placement, clusters in self._up.items() if self.exact else ():
            if name in clusters and not self._is_up(name, placement):
                self.broken.append(
                    f"{happening.what} of {key} took {placement} on {name} down, which no intent asked for"
                )

    def by_gitfleet(self, performing: bool) -> None:
        """Whether what happens from now on is gitfleet's doing."""
        self._ours, self.acting = performing, None
        if performing:
            self._there = {name: self._identities(name) for name in self.fleet.clusters}

    def _identities(self, name: str) -> frozenset[Identity]:
        return frozenset(self.fleet.cluster(name).memory.objects)

    def is_up(self, cluster: str, placement: PlacementKey) -> bool:
        """Whether a cluster is up for a placement by the intent in force."""
        return self._is_up(cluster, placement)

    def _is_held(self, cluster: str, placement: PlacementKey) -> bool:
        """Whether all that a placement owns on a cluster waits for a person, and counts for no budget, or did so: then
        the removal gate lets it go cluster by cluster."""
        holds = [hold for hold in self.intent.holds.values() if hold.paced]
        removals = [removal for hold in holds for removal in hold.removals]
        held = {one.object.identity for one in removals if one.object is not None and one.placement == placement}
        owned = self.intent.inventory.get(cluster, {})
        return all(key.identity in held for key, entry in owned.items() if entry.placement == placement)

    def _check_pace(self, old: PlacementRecord, new: PlacementRecord) -> None:
        giving_up = {
            b.cluster
            for b in new.bindings
            if b.deleting is not None
            and self._stays(b.cluster)
            and self._silent_for(b.cluster) is None
            and not self._is_held(b.cluster, new.placement.key)
        }
        if not giving_up - {b.cluster for b in old.bindings if b.deleting is not None}:
            return
        self.checked += 1
        most = max(1, _part_of(len(new.bindings), new.placement.strategy.rolling_update.max_unavailable))
        if len(giving_up) > most:
            self.broken.append(f"{new.placement.key}: {sorted(giving_up)} are given up at once, and {most} may be")

    def _check_budget(self, record: PlacementRecord, before: frozenset[str], after: frozenset[str]) -> None:
        taken = {name for name in before - after if self._stays(name)}
        if not taken:
            return
        floor = floor_of(record, self._left_out(record))
        left = len(after)  # a binding that was taken back in this very state counts, too: its objects never went
        self.checked += 1
        if left < floor:
            self.broken.append(
                f"{record.placement.key}: taking down {sorted(taken)} leaves {left} up ({sorted(after)}), "
                f"and {floor} must stay"
            )

    def _check_surge(self, old: PlacementRecord, new: PlacementRecord, up: frozenset[str]) -> None:
        had = {binding.cluster for binding in old.bindings if binding.resource_snapshot is not None}
        bound = {
            b.cluster for b in new.bindings if b.resource_snapshot is not None and b.deleting is None
        } - had  # fmt: skip
        if not bound:
            return
        self.checked += 1
        ceiling, holding = ceiling_of(new, self._left_out(new)), bound | {name for name in up if self._stays(name)}
        if len(holding) > ceiling:
            self.broken.append(
                f"{new.placement.key}: binding {sorted(bound)} makes {len(holding)} clusters with the resources "
                f"({sorted(holding)}), and {ceiling} may have them"
            )

    def _check_deletion(self, name: str, key: ObjectKey, judge: Judge) -> None:
        state = judge.state
        entry = next((e for k, e in state.inventory.get(name, {}).items() if k.identity == key.identity), None)
        if entry is None:
            return  # invariant 3 speaks of it
        placement, cluster = entry.placement, state.clusters.get(name)
        record = state.placements.get(placement)
        picked = record is not None and any(b.cluster == name and is_active(b) for b in record.bindings)
        policy = record.placement.strategy.delete_propagation_policy if record is not None else "Delete"
        if cluster is not None and cluster.deleting is not None:
            policy = cluster.delete_propagation_policy
        elif picked:
            policy = "Delete"
        why = judge.why_kept(name, key) or _held(state, name, key, placement)
        if policy != "Delete":
            why = f"although it is to stay: {policy}"
        if why:
            self.broken.append(f"{key} on {name} was deleted, {why}")

    def _check_moves(self, old: PlacementRecord, new: PlacementRecord) -> None:
        names = {binding.cluster for binding in new.bindings}
        silent = {name for name in names if self._silent_for(name) is not None}
        if len(silent) * 2 <= len(names):
            return
        self.checked += 1
        if moved := self._moved(old, new):
            self.broken.append(
                f"{new.placement.key}: {moved} moved while {sorted(silent)} of {sorted(names)} are silent"
            )

    def _moved(self, old: PlacementRecord, new: PlacementRecord) -> list[str]:
        was = {b.cluster: (b.generation, b.deleting) for b in old.bindings}
        stays = [b for b in new.bindings if self._stays(b.cluster)]
        moved = [b for b in stays if (b.generation, b.deleting) != was.get(b.cluster, (1, None))]
        # That the scheduler picks a cluster no more raises the generation and moves nothing.
        return [b.cluster for b in moved if b.deleting is not None or b.state is not BindingState.UNSCHEDULED]

    def _left_out(self, record: PlacementRecord) -> int:
        """How many of the clusters that count for the target have been silent for five minutes."""
        counted = [b.cluster for b in record.bindings if b.state is not BindingState.UNSCHEDULED]
        bound = {b.cluster for b in record.bindings}
        counted += [n for n in record.placement.effective_policy.cluster_names if n not in bound]
        return sum((self._silent_for(name) or timedelta(0)) >= timedelta(minutes=5) for name in counted)

    def _silent_for(self, name: str) -> timedelta | None:
        """How long the intent knows that a cluster does not answer; None: it answers."""
        cluster = self.intent.clusters.get(name)
        agent = cluster.status.agent if cluster is not None else None
        for condition in agent.conditions if agent is not None else ():
            if condition.type == "Healthy" and condition.status == "Unknown":
                return self.clock.now() - condition.last_transition_time
        return None

    def _stays(self, name: str) -> bool:
        cluster = self.intent.clusters.get(name)
        return cluster is not None and cluster.deleting is None

    def _up_now(self) -> Up:
        up: dict[PlacementKey, set[str]] = {}
        for name, works in self._works.items():
            for placement in works:
                if self._is_up(name, placement):
                    up.setdefault(placement, set()).add(name)
        return {placement: frozenset(names) for placement, names in up.items()}

    def _is_up(self, name: str, placement: PlacementKey) -> bool:
        work = self._works.get(name, {}).get(placement)
        cluster = self.fleet.cluster(name)
        if work is None or work.error is not None or not (cluster.reachable or name in self.just_silent):
            return False
        down = {key.identity for key in cluster.unavailable()}
        for manifest in work.manifests:
            live = cluster.get(manifest.key)
            if live is None or manifest.key.identity in down:
                return False
            compared = (name, live.uid, live.resource_version, manifest.digest)
            if compared not in self._same:
                self._same[compared] = not find_differences(manifest.body, live.body)
            if not self._same[compared]:
                return False
        return True


def _held(state: FleetState, name: str, key: ObjectKey, owner: PlacementKey) -> str:
    """Which hold lists an object, "" for none."""
    for hold in state.holds.values():
        for removal in hold.removals if hold.waits else ():
            mine = removal.placement in (owner, None) and removal.cluster in (name, "")
            mine = mine and (removal.object is None or removal.object.identity == key.identity)
            is_list = removal.kind is not RemovalKind.BINDING or not _dropped(state, key, owner)
            if mine and removal.rules and is_list:
                return f"which {hold.name} holds"
    return ""


def _dropped(state: FleetState, key: ObjectKey, owner: PlacementKey) -> bool:
    """Whether another list of the placement has the object itself."""
    every = (removal for hold in state.holds.values() for removal in hold.removals)
    mine = (one.object for one in every if one.placement == owner and one.object is not None)
    return any(one.identity == key.identity for one in mine)


def floor_of(record: PlacementRecord, left_out: int = 0) -> int:
    """How many clusters must stay up: T - U, computed from what people wrote."""
    target = max(0, _target_of(record) - left_out)
    return target - _part_of(target, record.placement.strategy.rolling_update.max_unavailable)


def ceiling_of(record: PlacementRecord, left_out: int = 0) -> int:
    """How many clusters may have the resources: T + S."""
    target = max(0, _target_of(record) - left_out)
    return target + _part_of(target, record.placement.strategy.rolling_update.max_surge)


def _part_of(target: int, limit: int | str) -> int:
    if isinstance(limit, str) and limit.endswith("%"):
        return (int(limit[:-1]) * target + 99) // 100
    return int(limit)


def _target_of(record: PlacementRecord) -> int:
    policy = record.placement.effective_policy
    if policy.placement_type is PlacementType.PICK_N:
        target = policy.number_of_clusters or 0
    elif policy.placement_type is PlacementType.PICK_FIXED:
        target = len(policy.cluster_names)
    else:
        target = sum(binding.state is not BindingState.UNSCHEDULED for binding in record.bindings)
    return target


def owned(state: FleetState, cluster: str) -> set[ObjectKey]:
    """What gitfleet owns on a cluster by the state branch."""
    return set(state.inventory.get(cluster, {}))
