"""Clusters with a label that nothing selects and that is nearly one that is selected: the cluster is picked by nobody
for it, and nothing else says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.api import Break
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import LabelSelector
from gitfleet.api.overrides import Override
from gitfleet.api.placements import Placement
from gitfleet.api.staged import StagedStrategy
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.readings import ReadObject
from gitfleet.formats.near_names import nearest

_MOST_COMPARED: Final = 100_000
"""With more labels times selected ones than this nothing is compared: it would take more than a second."""
_Selected = dict[str, dict[str, str]]
"""By label key and value ("" for whatever value) who selects it first."""


def mislabelled_warnings(objects: Iterable[ReadObject]) -> Refusals:
    """A key, or the value of one, where another cluster has the one that was probably meant. Where no cluster has it,
    the selector is what `unselected` is about."""
    items = list(objects)
    members = [(item, item.value) for item in items if isinstance(item.value, MemberCluster)]
    selected: _Selected = {}
    topology: set[str] = set()
    for item in items:
        for key, value in _selected_by(item):
            selected.setdefault(key, {}).setdefault(value, item.label)
        if isinstance(item.value, Placement):
            topology |= {one.topology_key for one in item.value.effective_policy.topology_spread_constraints}
    present = {(key, value) for _, cluster in members for key, value in cluster.labels.items()}
    present |= {(key, "") for key, _ in present}
    if len(present) * sum(map(len, selected.values())) > _MOST_COMPARED:
        return []
    near = {key: _near_key(key, selected, present) for key, _ in present if key not in selected and key not in topology}
    values = {pair: _near_value(*pair, selected, present) for pair in present if pair[0] in selected and pair[1]}
    return [(item, note) for item, cluster in members for note in _notes(cluster, near, values)]


def _notes(
    cluster: MemberCluster, near: dict[str, tuple[str, str]], values: dict[tuple[str, str], tuple[str, str]]
) -> Iterator[Break]:
    for key, value in cluster.labels.items():
        meant, owner = near.get(key, ("", ""))
        if meant and meant not in cluster.labels:
            yield ("metadata", "labels", key), f"nothing selects this label; did you mean {meant}, as {owner} selects?"
        meant, owner = values.get((key, value), ("", ""))
        if meant:
            yield ("metadata", "labels", key), f"nothing selects this value; did you mean {meant}, as {owner} selects?"


def _near_key(key: str, selected: _Selected, present: set[tuple[str, str]]) -> tuple[str, str]:
    """The selected key that is nearly this one and that a cluster has, and who selects it; nothing where there is
    none."""
    meant = nearest(key, (one for one in selected if (one, "") in present))
    return (meant, next(iter(selected[meant].values()))) if meant is not None else ("", "")


def _near_value(key: str, value: str, selected: _Selected, present: set[tuple[str, str]]) -> tuple[str, str]:
    known = selected[key]
    if value in known or "" in known:
        return "", ""
    meant = nearest(value, (one for one in known if (key, one) in present))
    return (meant, known[meant]) if meant is not None else ("", "")


def _selected_by(item: ReadObject) -> Iterator[tuple[str, str]]:
    """The labels of clusters that a placement, an override or a stage selects, "" for whatever value."""
    for selector in filter(None, _selectors_of(item)):
        yield from selector.match_labels.items()
        for one in selector.match_expressions:
            yield from ((one.key, value) for value in (one.values if one.operator == "In" else ("",)))


def _selectors_of(item: ReadObject) -> Iterator[LabelSelector | None]:
    if isinstance(item.value, Placement):
        affinity = item.value.effective_policy.affinity
        yield from (term.label_selector for term in affinity.required)
        yield from (preferred.preference.label_selector for preferred in affinity.preferred)
    elif isinstance(item.value, Override):
        yield from (term.label_selector for rule in item.value.rules for term in rule.cluster_terms or ())
    elif isinstance(item.value, StagedStrategy):
        yield from (stage.label_selector for stage in item.value.stages)
