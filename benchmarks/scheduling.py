"""How long scheduling takes and how much memory its answers hold, beside a plain loop that asks about every cluster.

    python -m benchmarks.scheduling [SIZE ...]        default: 1000 10000 clusters

The fleet has 20 regions with 3 zones each and four environments; placements require `env In (prod, staging)`. Times are
the processor time of the best of a few runs, with the garbage collector off as `timeit` has it. Memory is what the
answer keeps alive. The plain loop below gives the same clusters (checked); where it would take minutes a part of it is
run and multiplied, which is marked with `~`. Goal: nothing takes longer than the plain loop.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import process_time
from typing import TypeVar

from benchmarks.goals import Goals
from gitfleet.api.bindings import Binding
from gitfleet.api.cluster_selectors import ClusterAffinity, ClusterSelectorTerm, PreferredTerm
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.placements import PlacementKey, PlacementPolicy, PlacementType, TopologySpreadConstraint
from gitfleet.model.scheduling import SchedulingRequest, SchedulingResult
from gitfleet.schedule import BindingDigests, FleetIndex, index_fleet, schedule, schedule_key
from gitfleet.schedule.eligibility import Eligibility, eligibility_of

T = TypeVar("T")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLACEMENTS = 1000
SAMPLED_PLACEMENTS = 3
SAMPLED_CYCLES = 20
RATIOS: list[float] = []

REQUIRED = ClusterSelectorTerm(
    label_selector=LabelSelector({}, (LabelRequirement("env", LabelOperator.IN, ("prod", "staging")),)),
)
PREFERRED = PreferredTerm(50, ClusterSelectorTerm(label_selector=LabelSelector({"tier": "gold"})))
PICK_ALL = PlacementPolicy(affinity=ClusterAffinity(required=(REQUIRED,)))
SPREAD = tuple(
    TopologySpreadConstraint(max_skew=1, topology_key=key, when_unsatisfiable="ScheduleAnyway")
    for key in ("region", "zone")
)


def pick_n(count: int, *, spread: bool) -> PlacementPolicy:
    """N clusters, those of the gold tier rather, over regions and zones when `spread`."""
    return PlacementPolicy(
        placement_type=PlacementType.PICK_N,
        number_of_clusters=count,
        affinity=ClusterAffinity(required=(REQUIRED,), preferred=(PREFERRED,)),
        topology_spread_constraints=SPREAD if spread else (),
    )


def make_fleet(size: int) -> list[MemberCluster]:
    """Healthy clusters whose labels are spread by arithmetic, so that every run has the same fleet."""
    ready = [
        Condition(type=type_, status=Status.TRUE, reason="Benchmark", last_transition_time=NOW)
        for type_ in ("Joined", "Healthy")
    ]
    status = ClusterStatus(agent=AgentStatus(conditions=tuple(ready), last_received_heartbeat=NOW))
    clusters: list[MemberCluster] = []
    for i in range(size):
        mixed = i * 2654435761 % 2**32
        zone = mixed % 60
        labels = {
            "region": f"region-{zone % 20}",
            "zone": f"zone-{zone}",
            "env": ("prod", "staging", "test", "dev")[mixed // 60 % 4],
            "tier": ("gold", "silver", "bronze")[mixed // 240 % 3],
            "team": f"team-{mixed // 720 % 40}",
        }
        clusters.append(MemberCluster(name=f"cluster-{i:05}", labels=labels, status=status))
    return clusters


def question(policy: PlacementPolicy, index: int = 0, bindings: tuple[Binding, ...] = ()) -> SchedulingRequest:
    """One placement's request."""
    return SchedulingRequest(
        placement=PlacementKey("", f"app-{index}"),
        policy=policy,
        policy_snapshot=f"app-{index}-0",
        bindings=bindings,
        now=NOW,
    )


def plain(policy: PlacementPolicy, clusters: list[MemberCluster], most_cycles: int | None = None) -> list[str]:
    """The same decisions by asking about each cluster in turn, cycle by cycle: the names picked, in picking order."""
    held: dict[str, MemberCluster] = {}
    wanted = policy.number_of_clusters
    while wanted is None or len(held) < wanted:
        if most_cycles is not None and len(held) == most_cycles:
            break
        counts = [_count(clusters, held, constraint) for constraint in policy.topology_spread_constraints]
        scored: list[tuple[int, int, str, MemberCluster]] = []
        for cluster in clusters:
            if cluster.name in held or not _passes(policy, cluster):
                continue
            affinity = sum(
                term.weight
                for term in policy.affinity.preferred
                if term.preference.label_selector is None
                or term.preference.label_selector.matches(cluster.scheduling_labels)
            )
            scored.append((_spread(policy, cluster, counts), affinity, cluster.name, cluster))
        if wanted is None:
            return [name for _, _, name, _ in sorted(scored)]
        best = sorted(scored, reverse=True)[: 1 if counts else wanted]
        if not best:
            break
        held.update((name, cluster) for _, _, name, cluster in best)
    return list(held)


def _passes(policy: PlacementPolicy, cluster: MemberCluster) -> bool:
    if not any(
        term.label_selector is None or term.label_selector.matches(cluster.scheduling_labels)
        for term in policy.affinity.required
    ):
        return False
    return eligibility_of(cluster, NOW).verdict is Eligibility.ELIGIBLE and not cluster.taints


def _count(
    clusters: Iterable[MemberCluster], held: dict[str, MemberCluster], constraint: TopologySpreadConstraint
) -> dict[str, int]:
    counts = {cluster.labels[constraint.topology_key]: 0 for cluster in clusters}
    for cluster in held.values():
        counts[cluster.labels[constraint.topology_key]] += 1
    return counts


def _spread(policy: PlacementPolicy, cluster: MemberCluster, counts: list[dict[str, int]]) -> int:
    points = 0
    for constraint, by_domain in zip(policy.topology_spread_constraints, counts, strict=True):
        ordered = sorted(by_domain.values())
        smallest, second, largest = ordered[0], ordered[1], ordered[-1]
        count = by_domain[cluster.labels[constraint.topology_key]]
        if smallest == largest:
            change = 1
        elif count == smallest:
            points += int(smallest != second)
            continue
        else:
            change = int(count == largest)
        points += -1000 if largest - smallest + change > constraint.max_skew else -change
    return points


def best_of(runs: int, work: Callable[[], T]) -> tuple[float, T]:
    """The shortest time in seconds, and what the last run gave."""
    shortest, result = timed(work)
    for _ in range(runs - 1):
        seconds, result = timed(work)
        shortest = min(shortest, seconds)
    return shortest, result


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The time in seconds without the garbage collector, and what `work` gave."""
    gc.collect()
    gc.disable()
    start = process_time()
    result = work()
    seconds = process_time() - start
    gc.enable()
    return seconds, result


def kept(work: Callable[[], object]) -> float:
    """Megabytes that the result of `work` keeps alive."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    result = work()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return (after - before) / 2**20


def report(what: str, seconds: float, megabytes: float | None, reference: float | None, *, about: bool = False) -> None:
    """One line of the table; `reference` is the plain loop's time."""
    memory = "" if megabytes is None else f"{megabytes:9.2f}"
    ratio = "" if reference is None else f"{'~' if about else ''}{reference / seconds:.0f}x"
    if reference is not None:
        RATIOS.append(reference / seconds)
    print(f"  {what:<58}{seconds * 1e3:11.2f}{memory:>11}{ratio:>10}", flush=True)


def one_placement(clusters: list[MemberCluster], fleet: FleetIndex) -> None:
    """PickAll and PickN, each placement by itself, from nothing."""
    count = len(clusters) // 10
    cases = [
        ("PickAll, required affinity", PICK_ALL),
        (f"PickN {count}, preferred label", pick_n(count, spread=False)),
        (f"PickN {count}, preferred label, 2 spread constraints", pick_n(count, spread=True)),
    ]
    for what, policy in cases:
        seconds, answer = best_of(5, partial(schedule, question(policy), fleet))
        memory = kept(partial(schedule, question(policy), fleet))
        chained = bool(policy.topology_spread_constraints)
        sampled = SAMPLED_CYCLES if chained and count > SAMPLED_CYCLES * 5 else None
        reference, names = best_of(1, partial(plain, policy, clusters, sampled))
        found = {binding.cluster for binding in answer.bindings}
        if sampled is None:
            assert found == set(names), "the plain loop picks other clusters"
        else:
            assert set(names) <= found, "the plain loop picks other clusters"
            reference *= count / sampled
        report(f"{what}: {len(found)} picked", seconds, memory, reference, about=sampled is not None)


def many_placements(clusters: list[MemberCluster], fleet: FleetIndex) -> None:
    """1,000 PickAll placements: from nothing, with nothing changed, and with one label of one cluster changed."""
    part, _ = best_of(1, lambda: [plain(PICK_ALL, clusters) for _ in range(SAMPLED_PLACEMENTS)])
    reference = part * PLACEMENTS / SAMPLED_PLACEMENTS
    memory = kept(lambda: [schedule(question(PICK_ALL, i), fleet) for i in range(10)]) * PLACEMENTS / 10
    seconds, decisions = best_of(1, partial(_schedule_all, clusters))
    total = sum(len(answer.bindings) for answer in decisions)
    report(f"{PLACEMENTS} placements, cold: {total} bindings", seconds, memory, reference, about=True)
    gc.freeze()
    requests = [question(PICK_ALL, i, answer.bindings) for i, answer in enumerate(decisions)]
    digests: BindingDigests = {}
    keys = [schedule_key(request, fleet, digests=digests) for request in requests]

    def again(now_clusters: list[MemberCluster]) -> int:
        now_fleet = index_fleet(now_clusters, NOW, fleet)
        ran = 0
        for request, key in zip(requests, keys, strict=True):
            if schedule_key(request, now_fleet, digests=digests) != key:
                schedule(request, now_fleet)
                ran += 1
        return ran

    seconds, ran = best_of(3, partial(again, clusters))
    report(f"{PLACEMENTS} placements, nothing changed: {ran} scheduled", seconds, None, reference, about=True)
    for key, value in (("team", "another"), ("env", "nowhere")):
        first = clusters[0]
        changed = [replace(first, labels={**first.labels, key: value}), *clusters[1:]]
        seconds, ran = best_of(3, partial(again, changed))
        report(f"{PLACEMENTS} placements, label {key} changed: {ran} scheduled", seconds, None, reference, about=True)
    gc.unfreeze()


def _schedule_all(clusters: list[MemberCluster]) -> list[SchedulingResult]:
    fleet = index_fleet(clusters, NOW)
    return [schedule(question(PICK_ALL, i), fleet) for i in range(PLACEMENTS)]


def main(sizes: list[int]) -> None:
    """The table, one block a size."""
    for size in sizes:
        clusters = make_fleet(size)
        print(f"{size} clusters{'ms':>59}{'MB kept':>11}{'plain':>10}")
        seconds, fleet = best_of(3, partial(index_fleet, clusters, NOW))
        report("index the fleet", seconds, kept(partial(index_fleet, clusters, NOW)), None)
        one_placement(clusters, fleet)
        many_placements(clusters, fleet)
    goals = Goals()
    goals.at_least("times as fast as the plain loop, the slowest of all", min(RATIOS), 1)
    goals.end()


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1000, 10000])
