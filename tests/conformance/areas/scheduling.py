"""Vectors of scheduling: affinity, properties, taints, topology spread, and whole chains of cycles.

Single rules are asked of the plug-ins, stage by stage, as the scheduler asks them: of the whole fleet, and of one
cluster for its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitfleet.api import InvalidContent, read_state
from gitfleet.api.bindings import Binding
from gitfleet.api.cluster_selectors import SortOrder
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PARENT_LABEL, PlacementPolicy
from gitfleet.api.snapshots import PolicySnapshot
from gitfleet.formats.quantities import parse_quantity
from gitfleet.model.state import PlacementRecord
from gitfleet.schedule import (
    ClusterSet,
    Cycle,
    Refusal,
    SchedulerPlugin,
    Unschedulable,
    index_fleet,
    request_for,
    schedule,
)
from gitfleet.schedule.admission import TaintToleration
from gitfleet.schedule.affinity import ClusterAffinity
from gitfleet.schedule.properties import interpolate
from gitfleet.schedule.topology import TopologySpread
from tests.conformance.documents import (
    NOW,
    PLACEMENT,
    V1BETA1,
    affinity,
    binding_of,
    cluster_of,
    difference,
    placement_of,
)
from tests.conformance.texts import text_difference

CURRENT, OLDER = "p-1", "p-0"
FREE = "candidate"


def policy_of(policy: JsonObject | None) -> PlacementPolicy:
    """A policy, read in its placement."""
    return placement_of(policy).effective_policy


def pick_n(**fields: Any) -> PlacementPolicy:
    """A policy of a type that takes every field."""
    return policy_of({"placementType": "PickN", "numberOfClusters": 1, **fields})


def cycle_on(policy: PlacementPolicy, clusters: Sequence[MemberCluster], holders: Iterable[str] = ()) -> Cycle:
    """A first cycle over a fleet in which some clusters hold a placement."""
    fleet = index_fleet(clusters, NOW)
    return Cycle(
        placement=PLACEMENT,
        policy=policy,
        fleet=fleet,
        now=NOW,
        number=1,
        present=ClusterSet.of(fleet.names, set(holders)),
        obsolete=ClusterSet(fleet.names),
        notes={},
    )


def refusals_of(plugin: SchedulerPlugin, cycle: Cycle) -> dict[str, Refusal]:
    """Whom a plug-in refuses, with its reasons; AssertionError when its two ways of filtering differ."""
    if not plugin.pre_filter(cycle):
        return {}
    answer = plugin.filter_fleet(cycle, cycle.clusters)
    assert answer is not None, "the plug-in has no filter for a whole fleet"
    refused = set(answer.refused)
    why = {name: plugin.filter(cycle, cycle.cluster(name)) for name in cycle.fleet.names}
    found = {name: refusal for name, refusal in why.items() if refusal is not None}
    assert set(found) == refused, f"the fleet filter refuses {refused}, the filter {set(found)}"
    return found


def scores_of(plugin: SchedulerPlugin, cycle: Cycle, among: Iterable[str] | None = None) -> dict[str, int]:
    """What a plug-in gives to clusters that passed the filters; AssertionError when its two ways differ."""
    names = set(cycle.fleet.names if among is None else among)
    if not plugin.pre_score(cycle):
        return dict.fromkeys(names, 0)
    given = plugin.score_fleet(cycle, ClusterSet.of(cycle.fleet.names, names))
    assert given is not None, "the plug-in has no score for a whole fleet"
    totals = {name: sum(score) for score, members in given.items() for name in members}
    single = {name: sum(plugin.score(cycle, cycle.cluster(name))) for name in names}
    assert totals == single, f"the fleet scores {totals}, single clusters {single}"
    return totals


def run_affinity_filter(case: dict[str, Any]) -> str | None:
    """Each cluster by itself, because an error of one aborts a cycle. An operator that KubeFleet's scheduler refuses is
    refused here where the policy is read."""
    got: dict[str, str] = {}
    for cluster in map(cluster_of, case["in"]["clusters"]):
        try:
            policy = policy_of({"placementType": "PickAll", "affinity": affinity(case["in"].get("required"))})
            refused = refusals_of(ClusterAffinity(), cycle_on(policy, [cluster]))
            got[cluster.name] = "reject" if refused else "pass"
        except (InvalidContent, Unschedulable):
            got[cluster.name] = "error"
    wanted = dict(case["out"]["clusters"])
    if _HYPHENATED_RESOURCE.search(json.dumps(case["in"])):
        # An error for every cluster in KubeFleet, which then schedules nothing; decision D36 reads the name.
        wanted |= {name: got[name] for name, answer in wanted.items() if answer == "error" and got[name] != "error"}
    return difference(wanted, got)


_HYPHENATED_RESOURCE: Final = re.compile(r'"resources\.kubernetes-fleet\.io/[a-z]+-[^"]*-[^"]*"')


def run_affinity_score(case: dict[str, Any]) -> str | None:
    """Preferred terms over the fleet; extremes that the case gives are what the plug-in noted before it scores."""
    given, out = case["in"], case["out"]
    policy = pick_n(affinity=affinity(preferred=given.get("preferred") or ()))
    cycle, plugin = cycle_on(policy, list(map(cluster_of, given["clusters"]))), ClusterAffinity()
    try:
        if not plugin.pre_score(cycle):
            return difference(out, {"skipped": True} if out.get("skipped") else _zeros(cycle))
        if "observed_min_max" not in given:
            return difference(out, {"affinity_scores": scores_of(plugin, cycle)})
        cycle.notes[plugin.name] = {
            name: (parse_quantity(ends["min"]), parse_quantity(ends["max"]))
            for name, ends in given["observed_min_max"].items()
        }
        scores = {name: plugin.score(cycle, cycle.cluster(name)).affinity for name in cycle.fleet.names}
        return difference(out, {"affinity_scores": scores})
    except Unschedulable as error:
        return None if out.get("error") else f"expected {out}, got the error {error}"


def _zeros(cycle: Cycle) -> dict[str, Any]:
    return {"affinity_scores": dict.fromkeys(cycle.fleet.names, 0)}


def run_property_sorter(case: dict[str, Any]) -> str | None:
    """Either one interpolation or whole scores."""
    if case.get("op") == "score":
        return run_affinity_score(case)
    given = case["in"]
    value = parse_quantity(given["value"]) if given["value"] else None
    low, high = parse_quantity(given["min"]), parse_quantity(given["max"])
    order, weight = given["sortOrder"] or SortOrder.ASCENDING, given["weight"]
    try:
        got: dict[str, Any] = {"score": interpolate(value, low, high, SortOrder(order), weight) if value else 0}
    except ValueError:
        got = {"error": True}
    return difference({"error": True} if case["out"].get("error") else case["out"], got)


def run_taints(case: dict[str, Any]) -> str | None:
    """The first taint that is not tolerated."""
    cluster = cluster_of({"name": FREE, "taints": case["in"]["taints"]})
    policy = policy_of({"placementType": "PickAll", "tolerations": case["in"]["tolerations"]})
    refusal = refusals_of(TaintToleration(), cycle_on(policy, [cluster])).get(FREE)
    out = dict(case["out"])
    reason = out.pop("reason", None)
    wrong = difference(out, {"tolerated": refusal is None})
    return wrong or (text_difference(reason, [refusal.reason]) if reason and refusal else None)


def run_topology_spread(case: dict[str, Any]) -> str | None:
    """Counting, one placement's effect, or whole constraints over a fleet."""
    match case["op"]:
        case "count_by_domain":
            return _counts(case["in"], case["out"])
        case "will_violate":
            return _effect(case["in"], case["out"])
        case "evaluate":
            return _evaluate(case["in"], case["out"])
        case op:
            return f"nothing here knows the op {op}"


def _spread(constraints: Sequence[JsonObject], clusters: Mapping[str, JsonObject], holders: Sequence[str]) -> Cycle:
    """The last of two cycles: the plug-in counted when half of the placements were there, and follows the others."""
    fleet = [cluster_of({"name": name, "labels": labels}) for name, labels in clusters.items()]
    cycle = cycle_on(pick_n(topologySpreadConstraints=list(constraints)), fleet, holders[: len(holders) // 2])
    TopologySpread().filter_fleet(cycle, cycle.clusters)
    return replace(cycle, number=2, present=ClusterSet.of(cycle.fleet.names, set(holders)))


def _counts(given: Mapping[str, Any], out: Mapping[str, Any]) -> str | None:
    """What the plug-in noted of its only constraint."""
    cycle = _spread([{"topologyKey": given["topologyKey"]}], given["clusters"], given["bound"])
    refusals_of(TopologySpread(), cycle)
    (tally,) = cycle.notes[TopologySpread.name]
    got = {"counts": tally.counts, **tally.special._asdict()}
    return difference({**dict.fromkeys(got, 0), **out}, got)


def _effect(given: Mapping[str, Any], out: Mapping[str, Any]) -> str | None:
    """A fleet with so many placements in each domain, and one cluster more in the domain of the case."""
    if given["domain"] not in given["counts"]:
        # A domain is a value that some cluster has, so that no cluster can be in one that is not counted.
        return None if out.get("error") else "an unknown domain must be an error"
    holders = {f"{domain}-{n}": {"zone": domain} for domain, count in given["counts"].items() for n in range(count)}
    empty = {f"{domain}-empty": {"zone": domain} for domain in given["counts"]}
    clusters = {**holders, **empty, FREE: {"zone": given["domain"]}}
    hard = {"topologyKey": "zone", "maxSkew": given["maxSkew"]}
    soft = {"topologyKey": "zone", "maxSkew": 1000, "whenUnsatisfiable": "ScheduleAnyway"}
    refused = refusals_of(TopologySpread(), _spread([hard], clusters, list(holders)))
    gained = scores_of(TopologySpread(), _spread([soft], clusters, list(holders)))[FREE]
    return difference(dict(out), {"violated": FREE in refused, "skew_change": -gained})


def _evaluate(given: Mapping[str, Any], out: Mapping[str, Any]) -> str | None:
    cycle, plugin = _spread(given["constraints"], given["clusters"], given["bound"]), TopologySpread()
    refused = refusals_of(plugin, cycle)
    passed = [name for name in cycle.fleet.names if name not in refused]
    got = {"filtered": {name: refusal.reason for name, refusal in refused.items()}}
    wanted = {"filtered": {}, "scores": {}, **out}
    return difference(wanted, {**got, "scores": scores_of(plugin, cycle, passed)})


def bound_of(case: Mapping[str, Any]) -> Binding:
    """A binding as it was before; without scores it has none."""
    decision: dict[str, Any] = {"clusterName": case["cluster"], "selected": True}
    if "affinityScore" in case:
        spread = case.get("topologySpreadScore", 0)
        decision["clusterScore"] = {"affinityScore": case["affinityScore"], "priorityScore": spread}
    return binding_of(case, policy=OLDER if case.get("obsolete") else CURRENT, decision=decision)


def told_of(binding: Binding) -> dict[str, Any]:
    """A binding as vectors write it."""
    reported: dict[str, Any] = {"cluster": binding.cluster, "state": binding.state.value}
    if binding.policy_snapshot != CURRENT:
        reported["obsolete"] = True
    if binding.previous_state is not None:
        reported["previousState"] = binding.previous_state.value
    if binding.decision is not None and binding.decision.score is not None:
        reported["affinityScore"] = binding.decision.score.affinity
        reported["topologySpreadScore"] = binding.decision.score.topology_spread
    return reported


def record_of(given: Mapping[str, Any]) -> PlacementRecord:
    """What the state branch has of the placement: its policy as the latest snapshot, and its bindings."""
    policy = given["policy"] or {}
    scaled = policy.get("numberOfClusters")
    metadata: dict[str, Any] = {
        "labels": {PARENT_LABEL: PLACEMENT.name, "kubernetes-fleet.io/policy-index": "1"},
        "annotations": {} if scaled is None else {"kubernetes-fleet.io/number-of-clusters": str(scaled)},
    }
    document = {"apiVersion": V1BETA1, "kind": "ClusterSchedulingPolicySnapshot", "metadata": metadata}
    snapshot = read_state(PolicySnapshot, {**document, "spec": {"policyHash": "", "policy": policy}})
    bindings = tuple(map(bound_of, given["bindings"]))
    return PlacementRecord(placement=placement_of(given["policy"]), policy_snapshots=(snapshot,), bindings=bindings)


def run_scheduler_cycles(case: dict[str, Any]) -> str | None:
    """The whole chain: final bindings, condition, number of cycles, and all decisions in their order."""
    given, out = case["in"], case["out"]
    answer = schedule(request_for(record_of(given), NOW), index_fleet(map(cluster_of, given["clusters"]), NOW))
    if answer.error is not None:
        return None if out.get("error") else f"got the error {answer.error}"
    condition = out.get("condition")
    got: dict[str, Any] = {"bindings": [told_of(binding) for binding in answer.bindings], "condition": None}
    bindings = sorted(out["bindings"], key=lambda case: str(case["cluster"]))
    expected: dict[str, Any] = {"bindings": bindings, "condition": condition}
    if condition:
        status = str(answer.fulfilled)
        got["condition"] = {"status": status, "reason": answer.reason, "message": answer.message}
    if "cycles" in out:
        got["cycles"], expected["cycles"] = answer.cycles, len(out["cycles"])
    if "decisions" in out:
        got["decisions"] = [(d.cluster, d.selected, d.reason) for d in answer.decisions]
        expected["decisions"] = [(d["cluster"], d["selected"], d["reason"]) for d in out["decisions"]]
    return difference(expected, got)


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {
    "affinity_filter": run_affinity_filter,
    "affinity_score": run_affinity_score,
    "property_sorter": run_property_sorter,
    "taints": run_taints,
    "topology_spread": run_topology_spread,
    "scheduler_cycles": run_scheduler_cycles,
}
