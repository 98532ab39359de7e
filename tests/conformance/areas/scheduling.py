"""Vectors of scheduling: affinity, properties, taints, topology spread, and whole chains of cycles.

Clusters and policies come as KubeFleet's API objects; here they only become the package's own values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, ClusterScore
from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyRequirement,
    PropertySorter,
)
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster, PropertyValue, ResourceUsage, Taint
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.placements import PlacementKey, PlacementPolicy, PlacementType, Toleration, TopologySpreadConstraint
from gitfleet.formats.quantities import parse_quantity
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.schedule import DEFAULT_PROFILE, index_fleet, schedule
from gitfleet.schedule.admission import taint_reason, untolerated
from gitfleet.schedule.affinity import ClusterAffinity as AffinityPlugin
from gitfleet.schedule.affinity import affinity_score
from gitfleet.schedule.cluster_set import ClusterSet
from gitfleet.schedule.plugins import Cycle, Unschedulable
from gitfleet.schedule.properties import interpolate
from gitfleet.schedule.spread import count_domains, effect_of, special_counts
from gitfleet.schedule.topology import TopologySpread

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CURRENT, OLDER = "p-1", "p-0"


def difference(got: object, expected: object) -> str | None:
    """None for equal values."""
    return None if got == expected else f"expected {expected}, got {got}"


def selector_of(doc: Mapping[str, Any] | None) -> LabelSelector | None:
    """metav1.LabelSelector."""
    if doc is None:
        return None
    expressions = doc.get("matchExpressions") or []
    return LabelSelector(
        doc.get("matchLabels") or {},
        tuple(LabelRequirement(e["key"], e["operator"], tuple(e.get("values") or ())) for e in expressions),
    )


def term_of(doc: Mapping[str, Any]) -> ClusterSelectorTerm:
    """A cluster selector term, required or preferred."""
    expressions = (doc.get("propertySelector") or {}).get("matchExpressions") or []
    sorter = doc.get("propertySorter")
    return ClusterSelectorTerm(
        label_selector=selector_of(doc.get("labelSelector")),
        property_requirements=tuple(
            PropertyRequirement(e["name"], e["operator"], tuple(e.get("values") or ())) for e in expressions
        ),
        property_sorter=PropertySorter(sorter["name"], sorter["sortOrder"]) if sorter else None,
    )


def preferred_of(docs: list[Mapping[str, Any]]) -> tuple[PreferredTerm, ...]:
    """Preferred terms."""
    return tuple(PreferredTerm(doc["weight"], term_of(doc["preference"])) for doc in docs)


def constraints_of(docs: list[Mapping[str, Any]] | None) -> tuple[TopologySpreadConstraint, ...]:
    """Topology spread constraints, with KubeFleet's defaults."""
    return tuple(
        TopologySpreadConstraint(
            max_skew=doc.get("maxSkew", 1),
            topology_key=doc["topologyKey"],
            when_unsatisfiable=doc.get("whenUnsatisfiable", "DoNotSchedule"),
        )
        for doc in docs or ()
    )


def tolerations_of(docs: list[Mapping[str, Any]] | None) -> tuple[Toleration, ...]:
    """Tolerations, with KubeFleet's defaults."""
    return tuple(
        Toleration(
            key=doc.get("key", ""),
            operator=doc.get("operator", "Equal"),
            value=doc.get("value", ""),
            effect=doc.get("effect", ""),
        )
        for doc in docs or ()
    )


def policy_of(doc: Mapping[str, Any] | None) -> PlacementPolicy:
    """A placement policy; none means PickAll."""
    if doc is None:
        return PlacementPolicy()
    affinity = (doc.get("affinity") or {}).get("clusterAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return PlacementPolicy(
        placement_type=PlacementType(doc.get("placementType", "PickAll")),
        cluster_names=tuple(doc.get("clusterNames") or ()),
        number_of_clusters=doc.get("numberOfClusters"),
        affinity=ClusterAffinity(
            required=tuple(map(term_of, required.get("clusterSelectorTerms") or ())),
            preferred=preferred_of(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []),
        ),
        topology_spread_constraints=constraints_of(doc.get("topologySpreadConstraints")),
        tolerations=tolerations_of(doc.get("tolerations")),
    )


def taints_of(docs: list[Mapping[str, Any]] | None) -> tuple[Taint, ...]:
    """Taints."""
    return tuple(Taint(doc["key"], doc.get("value", ""), doc.get("effect", "NoSchedule")) for doc in docs or ())


def agent_of(state: str | None) -> AgentStatus | None:
    """A member agent that joined an hour ago and sends heartbeats, as far as the cluster's `state` lets it."""
    if state == "never-joined":
        return None
    hour, six = NOW - timedelta(hours=1), NOW - timedelta(minutes=6)
    joined = Condition(
        type="Joined",
        status=Status.FALSE if state == "left" else Status.TRUE,
        reason="Vector",
        last_transition_time=hour,
    )
    unhealthy_since = {"unhealthy": six, "flapping": NOW}.get(state or "")
    healthy = Condition(
        type="Healthy",
        status=Status.FALSE if unhealthy_since else Status.TRUE,
        reason="Vector",
        last_transition_time=unhealthy_since or hour,
    )
    heartbeat = six if state == "heartbeat-stale" else NOW
    return AgentStatus(conditions=(joined, healthy), last_received_heartbeat=heartbeat)


def cluster_of(doc: Mapping[str, Any]) -> MemberCluster:
    """A member cluster; absent `state` means healthy."""
    usage = doc.get("resourceUsage") or {}
    state = doc.get("state")
    return MemberCluster(
        name=doc["name"],
        labels=doc.get("labels") or {},
        taints=taints_of(doc.get("taints")),
        deleting=NOW if state == "leaving" else None,
        status=ClusterStatus(
            properties={name: PropertyValue(value) for name, value in (doc.get("properties") or {}).items()},
            resource_usage=ResourceUsage(
                capacity=usage.get("capacity") or {},
                allocatable=usage.get("allocatable") or {},
                available=usage.get("available") or {},
            ),
            agent=agent_of(state),
        ),
    )


def cycle_on(policy: PlacementPolicy, clusters: list[MemberCluster], holders: list[str] | None = None) -> Cycle:
    """A first cycle over a fleet in which some clusters hold a placement."""
    fleet = index_fleet(clusters, NOW)
    return Cycle(
        placement=PlacementKey("", "p"),
        policy=policy,
        fleet=fleet,
        now=NOW,
        number=1,
        present=ClusterSet.of(fleet.names, set(holders or ())),
        obsolete=ClusterSet(fleet.names),
        notes={},
    )


def run_affinity_filter(case: dict[str, Any]) -> str | None:
    """Each cluster by itself, because an error of one aborts a cycle; and one by one equals all at once."""
    terms = tuple(map(term_of, (case["in"].get("required") or {}).get("clusterSelectorTerms") or ()))
    policy = PlacementPolicy(affinity=ClusterAffinity(required=terms))
    plugin = AffinityPlugin()
    got: dict[str, str] = {}
    for doc in case["in"]["clusters"]:
        cluster = cluster_of(doc)
        cycle = cycle_on(policy, [cluster])
        try:
            refused = plugin.pre_filter(cycle) and plugin.filter(cycle, cluster) is not None
            if plugin.pre_filter(cycle) and bool(plugin.filter_fleet(cycle, cycle.clusters).refused) != refused:
                return f"the fleet filter disagrees with the filter about {cluster.name}"
            got[cluster.name] = "reject" if refused else "pass"
        except Unschedulable:
            got[cluster.name] = "error"
    return difference(got, case["out"]["clusters"])


def run_affinity_score(case: dict[str, Any]) -> str | None:
    """Preferred terms over the fleet, or with the extremes that the case gives."""
    terms = preferred_of(case["in"].get("preferred") or [])
    clusters = [cluster_of(doc) for doc in case["in"]["clusters"]]
    cycle = cycle_on(PlacementPolicy(affinity=ClusterAffinity(preferred=terms)), clusters)
    plugin = AffinityPlugin()
    given = case["in"].get("observed_min_max")
    try:
        if given is not None:
            extremes = {n: (parse_quantity(mm["min"]), parse_quantity(mm["max"])) for n, mm in given.items()}
            return _scores({c.name: affinity_score(terms, c, extremes.get) for c in clusters}, case)
        if not plugin.pre_score(cycle):
            return difference({"skipped": True}, case["out"])
        got = {c.name: plugin.score(cycle, c).affinity for c in clusters}
        for score, members in plugin.score_fleet(cycle, cycle.clusters).items():
            for name in members:
                if got[name] != score.affinity:
                    return f"the fleet score disagrees with the score of {name}"
        return _scores(got, case)
    except Unschedulable as error:
        return None if case["out"].get("error") else f"expected {case['out']}, got the error {error}"


def _scores(got: dict[str, int], case: dict[str, Any]) -> str | None:
    return difference({"affinity_scores": got}, case["out"])


def run_property_sorter(case: dict[str, Any]) -> str | None:
    """Either one interpolation or whole scores."""
    if case.get("op") == "score":
        return run_affinity_score(case)
    given = case["in"]
    try:
        value = parse_quantity(given["value"]) if given["value"] else None
        low, high = parse_quantity(given["min"]), parse_quantity(given["max"])
        got: dict[str, Any] = {"score": interpolate(value, low, high, given["sortOrder"], given["weight"])}
    except Unschedulable:
        got = {"error": True}
    return difference(got, {"error": True} if case["out"].get("error") else case["out"])


def run_taints(case: dict[str, Any]) -> str | None:
    """The first taint that is not tolerated."""
    taint = untolerated(taints_of(case["in"]["taints"]), tolerations_of(case["in"]["tolerations"]))
    got: dict[str, Any] = {"tolerated": taint is None}
    if taint is not None:
        got["reason"] = taint_reason(taint)
    return difference(got, case["out"])


def run_topology_spread(case: dict[str, Any]) -> str | None:
    """Counting, one placement's effect, or whole constraints over a fleet."""
    given, out = case["in"], case["out"]
    match case["op"]:
        case "count_by_domain":
            key = given["topologyKey"]
            domains = {name: labels[key] for name, labels in given["clusters"].items() if key in labels}
            counts = count_domains(domains, given["bound"])
            special = special_counts(counts.values()) if counts else (0, 0, 0)
            got = {
                "counts": counts,
                "smallest": special[0],
                "second_smallest": special[1],
                "largest": special[2],
            }
            return difference(got, {**dict.fromkeys(got, 0), **out})
        case "will_violate":
            if given["domain"] not in given["counts"]:
                return None if out.get("error") else "an unknown domain must be an error"
            counts = given["counts"]
            violated, change = effect_of(counts[given["domain"]], special_counts(counts.values()), given["maxSkew"])
            return difference({"violated": violated, "skew_change": change}, out)
        case "evaluate":
            return _evaluate(given, out)
        case op:
            return f"nothing here knows the op {op}"


def _evaluate(given: Mapping[str, Any], out: Mapping[str, Any]) -> str | None:
    clusters = [MemberCluster(name=name, labels=labels) for name, labels in given["clusters"].items()]
    policy = PlacementPolicy(topology_spread_constraints=constraints_of(given["constraints"]))
    cycle = cycle_on(policy, clusters, given["bound"])
    plugin = TopologySpread()
    filtered: dict[str, str] = {}
    scores: dict[str, int] = {}
    for cluster in clusters:
        refusal = plugin.filter(cycle, cluster) if plugin.pre_filter(cycle) else None
        if refusal is not None:
            filtered[cluster.name] = refusal.reason
        else:
            scores[cluster.name] = plugin.score(cycle, cluster).topology_spread
    refused = plugin.filter_fleet(cycle, cycle.clusters).refused
    if set(refused) != set(filtered):
        return "the fleet filter disagrees with the filter"
    for score, members in plugin.score_fleet(cycle, cycle.clusters - refused).items():
        if any(scores[name] != score.topology_spread for name in members):
            return "the fleet score disagrees with the score"
    return difference({"filtered": filtered, "scores": scores}, {"filtered": {}, "scores": {}, **out})


def binding_of(doc: Mapping[str, Any], placement: PlacementKey) -> Binding:
    """A binding as it was before; without scores it has none."""
    state = BindingState(doc["state"])
    previous = doc.get("previousState")
    score = None
    if "affinityScore" in doc:
        score = ClusterScore(doc.get("topologySpreadScore", 0), doc["affinityScore"])
    return Binding(
        placement=placement,
        cluster=doc["cluster"],
        state=state,
        previous_state=BindingState(previous) if previous else None,
        policy_snapshot=OLDER if doc.get("obsolete") else CURRENT,
        decision=ClusterDecision(cluster=doc["cluster"], selected=True, score=score),
    )


def told_of(binding: Binding) -> dict[str, Any]:
    """A binding as vectors write it."""
    told: dict[str, Any] = {"cluster": binding.cluster, "state": binding.state.value}
    if binding.policy_snapshot != CURRENT:
        told["obsolete"] = True
    if binding.previous_state is not None:
        told["previousState"] = binding.previous_state.value
    if binding.decision is not None and binding.decision.score is not None:
        told["affinityScore"] = binding.decision.score.affinity
        told["topologySpreadScore"] = binding.decision.score.topology_spread
    return told


def run_scheduler_cycles(case: dict[str, Any]) -> str | None:
    """The whole chain: final bindings, condition, number of cycles, and the selected decisions in their order."""
    given, out = case["in"], case["out"]
    placement = PlacementKey("", "p")
    request = SchedulingRequest(
        placement=placement,
        policy=policy_of(given["policy"]),
        policy_snapshot=CURRENT,
        bindings=tuple(binding_of(doc, placement) for doc in given["bindings"]),
        now=NOW,
    )
    answer = schedule(request, index_fleet(map(cluster_of, given["clusters"]), NOW), DEFAULT_PROFILE)
    if answer.error is not None:
        return None if out.get("error") else f"got the error {answer.error}"
    condition = out.get("condition")
    got: dict[str, Any] = {
        "bindings": [told_of(binding) for binding in answer.bindings],
        "condition": answer.fulfilled if condition else None,
        "reason": answer.reason if condition else None,
        "message": answer.message if condition else None,
    }
    expected: dict[str, Any] = {
        "bindings": sorted(out["bindings"], key=lambda doc: str(doc["cluster"])),
        "condition": condition["status"] == "True" if condition else None,
        "reason": condition["reason"] if condition else None,
        "message": condition["message"] if condition else None,
    }
    if "cycles" in out:
        got["cycles"], expected["cycles"] = answer.cycles, len(out["cycles"])
    if "decisions" in out:
        got["selected"] = [decision.cluster for decision in answer.decisions if decision.selected]
        expected["selected"] = [doc["cluster"] for doc in out["decisions"] if doc["selected"]]
        got["others"] = [(d.cluster, d.reason) for d in answer.decisions if not d.selected]
        expected["others"] = [(doc["cluster"], doc["reason"]) for doc in out["decisions"] if not doc["selected"]]
    return difference(got, expected)


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {
    "affinity_filter": run_affinity_filter,
    "affinity_score": run_affinity_score,
    "property_sorter": run_property_sorter,
    "taints": run_taints,
    "topology_spread": run_topology_spread,
    "scheduler_cycles": run_scheduler_cycles,
}
