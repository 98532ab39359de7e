"""Bindings that were lost are rebuilt as they were: each cluster is bound to what it has, so that only a rollout moves
it, within its budget.

What a cluster has follows from its inventory: the digests of the manifests that were applied there last are those of
one snapshot with one choice of overrides. Where none gives all of them (an apply was under way), the one that gives the
most counts, the newest of several. What has an object that no snapshot has is bound to one that was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gitfleet import snapshots, works
from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeTexts
from gitfleet.api.objects import Identity
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.works import References

Applied = Mapping[Identity, str]
"""The digests of applied manifests by group, kind, namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOverrides:
    """Every override snapshot of the branch by its reference; `current` are the references that hold now."""

    snapshots: Mapping[str, OverrideSnapshot]
    current: frozenset[str]
    compiled: works.CompiledOverrides
    texts: EnvelopeTexts = field(default_factory=dict)

    @classmethod
    def of(
        cls, known: Mapping[OverrideKey, tuple[OverrideSnapshot, ...]], current: Iterable[OverrideSnapshot]
    ) -> KnownOverrides:
        """What the branch has, and what of it holds."""
        every = {snapshot.reference: snapshot for found in known.values() for snapshot in found}
        references = frozenset(snapshot.reference for snapshot in current)
        return cls(snapshots=every, current=references, compiled=works.CompiledOverrides(every.values()))


def rebound(
    record: PlacementRecord,
    clusters: Mapping[str, MemberCluster],
    owned: Mapping[str, Inventory],
    overrides: KnownOverrides,
) -> Iterator[Binding]:
    """A binding for each of these clusters, to what the cluster has of the placement."""
    key, policy = record.placement.key, record.latest_policy
    loaded = [s for s in reversed(record.resource_snapshots) if s.manifests is not None]
    every = Successors({})
    content = frozenset[Identity]().union(*(every.content(key, snapshot) for snapshot in loaded))
    concerned = [works.overrides_by_cluster(key, s, overrides.snapshots.values(), clusters.values()) for s in loaded]
    for name, cluster in clusters.items():
        fresh = Binding(
            placement=key,
            cluster=name,
            state=BindingState.BOUND,
            policy_snapshot=policy.name if policy is not None else f"{key.name}-0",
            resource_snapshot=snapshots.lost_name(record),
            apply_strategy=record.placement.strategy.apply_strategy,
        )
        choices = [
            (snapshot, references)
            for snapshot, found in zip(loaded, concerned, strict=True)
            for references in _choices(found.get(name, ((), ())), overrides)
        ]
        applied = {
            entry.key.identity: entry.applied_digest
            for entry in owned.get(name, {}).values()
            if entry.placement == key and entry.applied_digest is not None
        }
        is_lost = not choices or applied.keys() - content
        yield fresh if is_lost else _closest(fresh, cluster, choices, applied, overrides)


def _choices(every: References, overrides: KnownOverrides) -> Iterator[References]:
    """The overrides that hold now, then the same with another snapshot of one override, or without it: of all that
    concern a cluster. So a change of one override that is on its way out is found."""
    references = {reference for scope in every for reference in scope}
    now = references & overrides.current
    yield _ordered(every, now)
    of_key: dict[OverrideKey, set[str]] = {}
    for reference in sorted(references):
        of_key.setdefault(overrides.snapshots[reference].override.key, set()).add(reference)
    for mine in of_key.values():
        newest_first = sorted(mine, key=lambda reference: -overrides.snapshots[reference].index)
        for one in (*newest_first, None):
            other = (now - mine) | ({one} if one is not None else set())
            if other != now:
                yield _ordered(every, other)


def _ordered(every: References, chosen: set[str]) -> References:
    cluster_wide, namespaced = (tuple(r for r in scope if r in chosen) for scope in every)
    return cluster_wide, namespaced


def _closest(
    fresh: Binding,
    cluster: MemberCluster,
    choices: Iterable[tuple[ResourceSnapshot, References]],
    applied: Applied,
    overrides: KnownOverrides,
) -> Binding:
    """The binding whose work has most of what was applied, and least that was not."""
    best, most = fresh, -1
    for snapshot, (cluster_wide, namespaced) in choices:
        concerned = {cluster.name: (cluster_wide, namespaced)}
        named = [overrides.snapshots[reference] for reference in (*cluster_wide, *namespaced)]
        binding = replace(
            fresh,
            resource_snapshot=snapshot.name,
            cluster_resource_overrides=cluster_wide,
            resource_overrides=namespaced,
            override_labels=works.pinned_labels(concerned, named, {cluster.name: cluster}).get(cluster.name, ()),
        )
        work = attempt(
            Subject("Work", str(fresh.placement), cluster.name),
            works.render_work, binding, snapshot, overrides.compiled, cluster, overrides.texts,
        )  # fmt: skip
        digests = {} if isinstance(work, Failure) else {m.key.identity: m.digest for m in work.manifests}
        if digests == applied:
            return binding
        same = sum(applied.get(identity) == digest for identity, digest in digests.items())
        if same > most:
            best, most = binding, same
    return best
