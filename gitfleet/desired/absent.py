"""Names of what is not in the repo, and variables that do not exist: allowed, as it may come later, and warned of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from gitfleet.api import Break
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.hidden import Hidden
from gitfleet.desired.readings import ReadObject
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.near_names import did_you_mean

_VARIABLE: Final = re.compile(r"\$\{?\s*MEMBER[-_ ]?CLUSTER[^}\"]*\}?", re.IGNORECASE)
_CORRECT: Final = "correct it, or add it"
_SOUND: Final = re.compile(r"\$\{MEMBER-CLUSTER-(NAME|LABEL-KEY-[A-Za-z0-9][-A-Za-z0-9_./]*)\}")

_NO_VARIABLE: Final = (
    "holds a variable that does not exist and goes out as it is written; write ${MEMBER-CLUSTER-NAME} or "
    "${MEMBER-CLUSTER-LABEL-KEY-<label key>}"
)


def absent_warnings(objects: Iterable[ReadObject], hidden: Hidden) -> Refusals:
    """Clusters and placements that are named and not there, and misspelt variables of overrides."""
    items = list(objects)
    clusters = {item.value.name for item in items if isinstance(item.value, MemberCluster)}
    placements = {item.value.key for item in items if isinstance(item.value, Placement)}
    warned: Refusals = []
    for item in items:
        if isinstance(item.value, Placement):
            warned += [(item, note) for note in _absent_clusters(item.value, clusters, hidden)]
        elif isinstance(item.value, Override):
            warned += [(item, note) for note in _absent_placement(item.value, placements, hidden)]
            warned += [(item, note) for note in _misspelt_variables(item.value)]
    return warned


def _absent_clusters(placement: Placement, clusters: Collection[str], hidden: Hidden) -> Iterator[Break]:
    for index, name in enumerate(placement.effective_policy.cluster_names):
        if name not in clusters and not hidden.has_object("MemberCluster", name):
            sentence = "names a cluster that is not in the repo, so nothing is placed there; "
            yield ("spec", "policy", "clusterNames", index), sentence + did_you_mean(name, clusters, _CORRECT)


def _absent_placement(override: Override, placements: Collection[PlacementKey], hidden: Hidden) -> Iterator[Break]:
    if override.placement is None:
        return
    namespace = override.key.namespace if override.placement.scope == "Namespaced" else ""
    key = PlacementKey(namespace, override.placement.name)
    if key not in placements and not hidden.has_object(key.kind, key.name):
        names = [key.name for key in placements if key.namespace == namespace]
        sentence = "names a placement that is not in the repo, so nothing is overridden; "
        yield ("spec", "placement", "name"), sentence + did_you_mean(override.placement.name, names, _CORRECT)


def _misspelt_variables(override: Override) -> Iterator[Break]:
    for index, rule in enumerate(override.rules):
        for number, patch in enumerate(rule.patches):
            text = canonical_json(patch.operand).decode() if patch.op != "remove" else ""
            if any(_SOUND.fullmatch(found[0]) is None for found in _VARIABLE.finditer(text)):
                here = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number, "value")
                yield here, _NO_VARIABLE
