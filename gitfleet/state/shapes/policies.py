"""Scheduling policies and the selectors in them, in KubeFleet's field names (kubefleet.md §1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyRequirement,
    PropertySorter,
)
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementPolicy, PlacementType, Toleration, TopologySpreadConstraint
from gitfleet.state.shapes.fields import (
    choice_at,
    int_at,
    mapping_at,
    mappings_at,
    need_text,
    optional_mapping,
    present,
    text_at,
    text_map_at,
    texts_at,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def selector_object(selector: LabelSelector) -> JsonObject:
    """metav1.LabelSelector; an empty one is `{}`."""
    return present(
        matchLabels=dict(selector.match_labels),
        matchExpressions=[
            {"key": item.key, "operator": item.operator, **present(values=list(item.values))}
            for item in selector.match_expressions
        ],
    )


def read_selector(source: Mapping[str, Any] | None) -> LabelSelector | None:
    """metav1.LabelSelector back; None where there is none."""
    if source is None:
        return None
    return LabelSelector(
        text_map_at(source, "matchLabels"),
        tuple(
            LabelRequirement(need_text(item, "key"), need_text(item, "operator"), texts_at(item, "values"))
            for item in mappings_at(source, "matchExpressions")
        ),
    )


def term_object(term: ClusterSelectorTerm) -> JsonObject:
    """One term of a cluster selector."""
    fields: dict[str, Any] = {}
    if term.label_selector is not None:
        fields["labelSelector"] = selector_object(term.label_selector)
    if term.property_requirements:
        fields["propertySelector"] = {
            "matchExpressions": [
                {"name": item.name, "operator": item.operator, "values": list(item.values)}
                for item in term.property_requirements
            ]
        }
    if term.property_sorter is not None:
        sorter = term.property_sorter
        fields["propertySorter"] = {"name": sorter.name, "sortOrder": sorter.sort_order}
    return fields


def read_term(source: Mapping[str, Any]) -> ClusterSelectorTerm:
    """One term back."""
    sorter = optional_mapping(source, "propertySorter")
    return ClusterSelectorTerm(
        label_selector=read_selector(optional_mapping(source, "labelSelector")),
        property_requirements=tuple(
            PropertyRequirement(need_text(item, "name"), need_text(item, "operator"), texts_at(item, "values"))
            for item in mappings_at(mapping_at(source, "propertySelector"), "matchExpressions")
        ),
        property_sorter=PropertySorter(need_text(sorter, "name"), need_text(sorter, "sortOrder")) if sorter else None,
    )


def policy_object(policy: PlacementPolicy) -> JsonObject:
    """PlacementPolicy."""
    affinity = present(
        **{
            _REQUIRED: present(clusterSelectorTerms=[term_object(term) for term in policy.affinity.required]),
            _PREFERRED: [
                {"weight": term.weight, "preference": term_object(term.preference)}
                for term in policy.affinity.preferred
            ],
        }
    )
    fields = present(
        clusterNames=list(policy.cluster_names),
        affinity=present(clusterAffinity=affinity),
        topologySpreadConstraints=[
            {"maxSkew": item.max_skew, "topologyKey": item.topology_key, "whenUnsatisfiable": item.when_unsatisfiable}
            for item in policy.topology_spread_constraints
        ],
        tolerations=[
            {"operator": item.operator, **present(key=item.key, value=item.value, effect=item.effect)}
            for item in policy.tolerations
        ],
    )
    count = {} if policy.number_of_clusters is None else {"numberOfClusters": policy.number_of_clusters}
    return {"placementType": policy.placement_type.value, **count, **fields}


def read_policy(source: Mapping[str, Any]) -> PlacementPolicy:
    """PlacementPolicy back."""
    affinity = mapping_at(mapping_at(source, "affinity"), "clusterAffinity")
    count = None if source.get("numberOfClusters") is None else int_at(source, "numberOfClusters")
    return PlacementPolicy(
        placement_type=choice_at(source, "placementType", PlacementType),
        cluster_names=texts_at(source, "clusterNames"),
        number_of_clusters=count,
        affinity=ClusterAffinity(
            required=tuple(map(read_term, mappings_at(mapping_at(affinity, _REQUIRED), "clusterSelectorTerms"))),
            preferred=tuple(
                PreferredTerm(int_at(item, "weight"), read_term(mapping_at(item, "preference")))
                for item in mappings_at(affinity, _PREFERRED)
            ),
        ),
        topology_spread_constraints=tuple(
            TopologySpreadConstraint(
                max_skew=int_at(item, "maxSkew"),
                topology_key=text_at(item, "topologyKey"),
                when_unsatisfiable=need_text(item, "whenUnsatisfiable"),
            )
            for item in mappings_at(source, "topologySpreadConstraints")
        ),
        tolerations=tuple(
            Toleration(
                key=text_at(item, "key"),
                operator=text_at(item, "operator", "Equal"),
                value=text_at(item, "value"),
                effect=text_at(item, "effect"),
            )
            for item in mappings_at(source, "tolerations")
        ),
    )
