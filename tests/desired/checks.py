"""One rule at a time: what is wrong with a part of a file, as `read_desired` says it of a commit with that file.

Each function gives `field: sentence` texts, none when the part is sound.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitfleet.api.faults import is_error
from gitfleet.api.placements import Placement
from gitfleet.model.state import FleetState, PlacementRecord
from tests.conformance.documents import V1BETA1, accepted, cluster_document, override_document, placement_document
from tests.desired.commits import read

Json = Mapping[str, Any]
FILE = "fleet/object.json"


def check_policy(policy: Json) -> list[str]:
    """A placement's `spec.policy`."""
    return _texts(placement_document(policy))


def check_strategy(strategy: Json) -> list[str]:
    """A placement's `spec.strategy`."""
    return _texts(placement_document(strategy=strategy))


def check_override_policy(policy: Json) -> list[str]:
    """An override's `spec.policy`."""
    target = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "any"}}
    return _texts(override_document("o", "", policy, target))


def check_patch_path(path: str) -> list[str]:
    """The path of one patch of an override."""
    patch = {"op": "add", "path": path, "value": 1}
    return check_override_policy({"overrideRules": [{"clusterSelector": {}, "jsonPatchOverrides": [patch]}]})


def check_taints(taints: Sequence[Json]) -> list[str]:
    """A MemberCluster's `spec.taints`."""
    return _texts(cluster_document("c", taints=list(taints)))


def check_disruption_budget(placement_type: str, budget: Json) -> list[str]:
    """A disruption budget's `spec` beside the placement that it protects; warnings too, since a budget may be merged
    before its placement."""
    policy = {"placementType": placement_type} | ({"numberOfClusters": 3} if placement_type == "PickN" else {})
    kind = {"apiVersion": V1BETA1, "kind": "ClusterResourcePlacementDisruptionBudget"}
    document = {**kind, "metadata": {"name": "p"}, "spec": dict(budget)}
    return _texts(document, warnings=True, placement=placement_document(policy))


def check_strategy_stages(stages: Sequence[Json]) -> list[str]:
    """A staged update strategy's `spec.stages`."""
    kind = {"apiVersion": V1BETA1, "kind": "ClusterStagedUpdateStrategy"}
    return _texts({**kind, "metadata": {"name": "strat"}, "spec": {"stages": list(stages)}})


def check_tolerations_update(old: Sequence[Json], new: Sequence[Json]) -> list[str]:
    """An edit of tolerations."""
    before, after = ({"placementType": "PickAll", "tolerations": list(items)} for items in (old, new))
    return check_policy_update(before, after)


def check_policy_update(old: Json | None, new: Json | None) -> list[str]:
    """An edit of a placement's policy after the first version was accepted."""
    documents = [placement_document(policy) for policy in (old, new)]
    before, after = ({FILE: json.dumps(document)} for document in documents)
    placement = accepted(Placement, documents[0])
    state = FleetState(placements={placement.key: PlacementRecord(placement=placement)})
    return [f"{fault.field}: {fault.message}" for fault in read(after, before=before, accepted=state).faults]


def _texts(document: Json, *, warnings: bool = False, **beside: Json) -> list[str]:
    """What is wrong in a document, in a commit that has others beside it."""
    files = {FILE: json.dumps(document)}
    files |= {f"fleet/{name}.json": json.dumps(other) for name, other in beside.items()}
    faults = [fault for fault in read(files).faults if fault.path == FILE and (warnings or is_error(fault))]
    return [f"{fault.field}: {fault.message}" for fault in faults]
