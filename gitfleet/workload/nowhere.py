"""A rollout that is about no cluster: why, and what a person is to do; "" while it may still come to one by itself."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.workload.finding import Found, NotFoundHere, find, is_coming, placement_of
from gitfleet.workload.lookup import Request


def why_nowhere(record: RolloutRecord, request: Request) -> str:
    """One sentence on a rollout without any cluster; "" where a placement is about to bring what it names, or where no
    cluster has said yet what it has."""
    selector = record.clusters_selector
    among = {name: one for name, one in request.clusters.items() if selector is None or selector.matches(one.labels)}
    if selector is not None and not among:
        return "no cluster has the labels that `clusters` asks for; correct it"
    if (placement := placement_of(record)) is not None:
        return _without_placement(placement, among, request)
    try:
        found = find(record, {}, request.handlers, request.policy)
    except NotFoundHere as unknown:
        return str(unknown)
    if is_coming(found.target.identity, among, request.placements.values()):
        return ""
    if not _is_known(found, among, request, selector is not None):
        return ""
    or_say = " (where it lives on clusters without a placement, name these in `clusters`)" if selector is None else ""
    return f"no cluster has {found.target}, and no placement brings it; correct targetRef, or place it{or_say}"


def _without_placement(key: PlacementKey, among: Mapping[str, MemberCluster], request: Request) -> str:
    record = request.placements.get(key)
    bindings = record.bindings if record is not None else ()
    if any(one.cluster in among and one.deleting is None for one in bindings):
        return ""
    where = "no cluster that `clusters` selects" if len(among) < len(request.clusters) else "no cluster"
    return f"placement {key} is on {where}; correct placementRef, or place it"


def _is_known(found: Found, among: Mapping[str, MemberCluster], request: Request, asked: bool) -> bool:
    """Whether every cluster that answers, of which one is needed, has said whether it has the target. Where the rollout
    does not select clusters they are not asked: it is about those to which a placement brings it."""
    answers = [one for name in among if (one := request.observations.get(name)) is not None and one.reachable]
    return not asked or (bool(answers) and all(found.target in one.live for one in answers))
