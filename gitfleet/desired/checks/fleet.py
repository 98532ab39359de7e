"""Rules about clusters, the configuration, pins, disruption budgets and autoscalers, and about exported objects."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import EvictionConditionType, is_true
from gitfleet.api.objects import Manifest
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.scalers import scalers_of
from gitfleet.api.staged import DECIDED_ELSEWHERE, DisruptionBudget, Eviction, StagedRun
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.json_values import section


def lost_connections(commit: Commit) -> Iterator[Refusal]:
    """Refuse clusters that lost their connection by an edit, outside of simulations."""
    accepted = commit.accepted.clusters
    for item, note in missing_connections(commit):
        cluster = accepted.get(item.identity[3])
        if cluster is not None and cluster.connection is not None and cluster.deleting is None:
            yield item, note


def missing_connections(commit: Commit) -> Iterator[Refusal]:
    """Report clusters that never had a connection. They go on: what would be done with them can be planned, and nothing
    is done while they do not answer."""
    for item, cluster in commit.of(MemberCluster) if not commit.request.simulated else ():
        if cluster.connection is None:
            yield item, (("spec", "connection"), DesiredText.REQUIRED_ADD_CONTEXT())


def spare_configs(commit: Commit) -> Iterator[Refusal]:
    """Refuse all configurations but one."""
    for item, _ in commit.configs[1:]:
        yield item, ((), DesiredText.SECOND_CONFIGURATION_BESIDE(origin=commit.configs[0][0].origin.path))


def spare_pins(commit: Commit) -> Iterator[Refusal]:
    """Refuse all pins of a placement but one; the one in force stays."""
    first: dict[PlacementKey, ReadObject] = {}
    for item, pin in sorted(commit.of(Pin), key=lambda pair: commit.standing(pair[0])):
        standing = first.setdefault(pin.placement, item)
        if standing is not item:
            yield item, (("spec", "placement"), DesiredText.PINNED_ALREADY_REMOVE_ONE_TWO(origin=standing.origin))


def budget_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of disruption budgets that do not go with the placement of the same name: they block every eviction of
    it."""
    placements = commit.named(Placement)
    for item, budget in commit.of(DisruptionBudget):
        if budget.name in placements:
            kind = placements[budget.name].effective_policy.placement_type
            yield from noted(item, budget.breaks_beside(kind))


def scaled_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of workloads whose manifest has a number of replicas that an autoscaler of the repo sets, too, unless the
    FleetConfig leaves that field alone. A cluster never has two variants of one Folder."""
    scalers = scalers_of(commit.manifests)
    if not scalers:
        return
    by_variant: dict[tuple[str, ...], list[Manifest]] = {}
    for manifest in commit.manifests:
        by_variant.setdefault(_variant(manifest), []).append(manifest)
    of_variants = {variant: scalers_of(manifests) for variant, manifests in by_variant.items()}
    shared = of_variants.get((), {})
    of_variants[()] = scalers  # what every cluster gets is scaled wherever a variant has the autoscaler
    rules = [rule for rule in commit.config.ignore_differences if "/spec/replicas" in rule.json_pointers]
    for item, manifest in commit.of(Manifest):
        workload = manifest.key.identity
        scaler = shared.get(workload) or of_variants[_variant(manifest)].get(workload)
        has_replicas = section(manifest.body, "spec").get("replicas") is not None
        if scaler is not None and has_replicas and not any(rule.matches(manifest.key) for rule in rules):
            yield item, (("spec", "replicas"), DesiredText.SET_BY_SCALER_TOO(scaler=scaler.key))


def _variant(manifest: Manifest) -> tuple[str, ...]:
    return (manifest.folder, *manifest.variants) if manifest.variants else ()


def exported_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of runs and evictions that came with what became of them elsewhere. Those that this fleet carries out are
    its own."""
    for item, run in commit.of(StagedRun):
        record = commit.accepted.runs.get(run.key)
        if run.began_elsewhere and (record is None or record.refused):
            yield item, (("status",), DesiredText.SAYS_IT_BEGAN(sentence=run.began_elsewhere))
    for item, eviction in commit.of(Eviction):
        decided = commit.accepted.evictions.get(eviction.name)
        if eviction.is_over and (decided is None or not is_true(decided.conditions, EvictionConditionType.VALID)):
            yield item, (("status", "conditions"), DesiredText.SAY_THAT_IT(elsewhere=DECIDED_ELSEWHERE))
