"""Selectors that select nothing: what was probably meant, where something has nearly that name or label.

No error, since what is selected may come later: an unknown name of a known kind selects nothing (decision D31). A
placement that waits for its objects is silent; an override of what is not there says so, and whether this commit takes
it away or another namespace has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitfleet.api import Break, Location
from gitfleet.api.annotations import below
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.freeze_files import Freeze, FreezeOverride
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.labels import LabelSelector
from gitfleet.api.overrides import OverriddenResource, Override, OverrideKey
from gitfleet.api.placements import Placement, ResourceSelector, SelectionScope
from gitfleet.desired.labelled import Labelled
from gitfleet.desired.present import Present, any_matches
from gitfleet.desired.readings import payload_identity
from gitfleet.formats.kinds import is_selectable

_REMOVE: Final = "correct it, or remove it"
_AFFINITY: Final = ("spec", "policy", "affinity", "clusterAffinity")


def unselected_notes(value: object, present: Present) -> Iterator[Break]:
    """The selectors of a placement or override, for resources and for clusters, of which each selects nothing at all
    while something nearly the same is there, the names of resources that an override is for and that are not there at
    all, scopes of freezes that match nothing; none where what is hidden may be what it selects."""
    if isinstance(value, Placement):
        yield from _resources(value, present)
        yield from _affinity(value, present)
    elif isinstance(value, Override):
        yield from _overridden(value, present)
        yield from _rules(value, present)
    elif isinstance(value, Freeze | FreezeOverride):
        yield from _scope(value.scope, ("spec", "scope"), present)
    elif isinstance(value, FleetConfig):
        for index, window in enumerate(value.freeze_windows):
            yield from _scope(window.scope, ("spec", "freezeWindows", index, "scope"), present)


def _resources(placement: Placement, present: Present) -> Iterator[Break]:
    home = placement.key.namespace or next((s.name or "" for s in placement.selectors if _is_home(s)), "")
    for index, selector in enumerate(placement.selectors):
        if not is_selectable(selector.group, selector.kind):
            continue
        found = present.objects(selector.group, selector.kind, home)
        here: Location = ("spec", "resourceSelectors", index)
        if selector.name:
            near = present.nearest(selector.name, found) if selector.name not in found else None
            if near and not present.hidden.has_object(selector.kind, selector.name):
                yield (*here, "name"), f"selects nothing, since no {selector.kind} has this name; did you mean {near}?"
        elif selector.label_selector is not None and not present.hidden.has_some_of(selector.kind):
            every = present.labelled(selector.group, selector.kind, home)
            notes = list(_near_labels(selector.label_selector, every, selector.kind, present))
            yield from below((*here, "labelSelector"), notes)


def _is_home(selector: ResourceSelector) -> bool:
    """Whether it selects the namespace in which the others of a ClusterResourcePlacement select."""
    return selector.selection_scope is SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS


def _overridden(override: Override, present: Present) -> Iterator[Break]:
    for index, resource in enumerate(override.resources):
        place = (resource.group, resource.kind, override.key.namespace)
        if resource.name in present.objects(*place) or resource.name in present.wrapped.get(place, ()):
            continue
        hidden = present.hidden
        if not hidden.has_envelope() and not hidden.has_object(resource.kind, resource.name):
            sentence = f"overrides nothing, since no {resource.kind} has this name"
            yield ("spec", override.selectors_field, index, "name"), sentence + _meant(resource, override.key, present)


def _meant(resource: OverriddenResource, key: OverrideKey, present: Present) -> str:
    """The end of a sentence about a resource that is not there."""
    place = (resource.group, resource.kind, key.namespace)
    if near := present.nearest(resource.name, {**present.objects(*place), **present.wrapped.get(place, {})}):
        return f"; did you mean {near}?"
    if key.namespace and (elsewhere := present.namespaces.get((resource.group, resource.kind, resource.name))):
        return f" in namespace {key.namespace}, but {elsewhere} has one; write the override there"
    identity = payload_identity((*place, resource.name))
    if identity is not None and (was := present.before.get(identity)):
        return f" any more: this commit takes it from {was.origin}; write it back, or remove this"
    return "; correct it, or add it"


def _affinity(placement: Placement, present: Present) -> Iterator[Break]:
    affinity = placement.effective_policy.affinity
    required = (*_AFFINITY, "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms")
    yield from _terms(affinity.required, required, present)
    for index, preferred in enumerate(affinity.preferred):
        here = (*_AFFINITY, "preferredDuringSchedulingIgnoredDuringExecution", index, "preference")
        yield from _term(preferred.preference, here, present)


def _rules(override: Override, present: Present) -> Iterator[Break]:
    for index, rule in enumerate(override.rules):
        here = ("spec", "policy", "overrideRules", index, "clusterSelector", "clusterSelectorTerms")
        yield from _terms(rule.cluster_terms or (), here, present)


def _terms(terms: Iterable[ClusterSelectorTerm], here: Location, present: Present) -> Iterator[Break]:
    for index, term in enumerate(terms):
        yield from _term(term, (*here, index), present)


def _term(term: ClusterSelectorTerm, here: Location, present: Present) -> Iterator[Break]:
    """Of the labels alone: what properties a cluster has shows only when it answers."""
    if term.label_selector is not None and not present.hidden.has_some_of("MemberCluster"):
        notes = list(_near_labels(term.label_selector, present.clusters, "cluster", present))
        yield from below((*here, "labelSelector"), notes)


def _scope(scope: FreezeScope, here: Location, present: Present) -> Iterator[Break]:
    """The parts of a scope that match nothing, near to something or not: what was to be frozen goes on."""
    hides = present.hidden.has_some_of
    for word, patterns, known, kind in (
        ("placement", scope.placements, present.placements, "ResourcePlacement"),
        ("stage", scope.stages, present.stages, "StagedUpdateStrategy"),
    ):
        for index, pattern in enumerate(patterns if not (hides(kind) or hides(f"Cluster{kind}")) else ()):
            if not any_matches(pattern, known):
                hint = present.meant(pattern, known, _REMOVE)
                yield (*here, f"{word}s", index), f"matches no {word} in the repo; {hint}"
    selector = scope.clusters
    if selector is None or hides("MemberCluster") or present.clusters.any_matches(selector):
        return
    notes = list(_near_labels(selector, present.clusters, "cluster", present))
    yield from below((*here, "clusters"), notes or [((), f"matches no cluster in the repo; {_REMOVE}")])


def _near_labels(selector: LabelSelector, every: Labelled, what: str, present: Present) -> Iterator[Break]:
    """The parts of a selector that nothing meets, while something has nearly that key, or that value of the key."""
    if every.any_matches(selector):
        return
    parts: list[tuple[Location, Location, str, Sequence[str]]] = [
        (("matchLabels", key), ("matchLabels", key), key, (value,)) for key, value in selector.match_labels.items()
    ]
    for index, one in enumerate(selector.match_expressions):
        if one.operator in ("In", "Exists"):
            here = ("matchExpressions", index)
            parts.append(((*here, "key"), (*here, "values"), one.key, one.values))
    for at_key, at_values, key, wanted in parts:
        values = every.values(key)
        if not values:
            if near := present.nearest(key, every.keys()):
                yield at_key, f"selects nothing, since no {what} has a label of this key; {_one_of(near, what)}"
        elif wanted and not any(value in values for value in wanted):
            near = next(filter(None, (present.nearest(value, values) for value in wanted)), None)
            if near is not None:
                yield at_values, f"selects nothing, since no {what} has this label and value; {_one_of(near, what)}"


def _one_of(near: str, what: str) -> str:
    """Which of the two is misspelt nobody knows where every cluster has the other one."""
    return f"did you mean {near}?" + (" Or are the labels of the clusters wrong?" if what == "cluster" else "")
