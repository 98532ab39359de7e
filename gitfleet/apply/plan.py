"""The whole plan for one cluster."""

from __future__ import annotations

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.claims import index_claims
from gitfleet.apply.ledgers import Identity
from gitfleet.apply.pruning import prune
from gitfleet.apply.requests import ApplyRequest
from gitfleet.apply.wanted import decide
from gitfleet.formats.kinds import wave_of
from gitfleet.model.operations import Delete, Operation, Refuse, Release


def plan_apply(request: ApplyRequest) -> tuple[Operation, ...]:
    """One operation for every manifest and for every inventory entry that is in no work.

    First what is to be there, by ascending wave; then deletions by descending wave; then releases. Nothing is deleted
    that the inventory does not name, none without the uid it was seen with, and nothing of a placement whose work has
    an error. Performing the plan and planning again gives only Keep and Refuse. Never raises.
    """
    claims = index_claims(request)
    operations: list[Operation] = []
    for work in claims.works.values():
        seen: set[Identity] = set()
        for manifest in work.manifests if work.error is None else ():
            if manifest.key.identity in seen:
                why = f"{manifest.key} stands more than once in {work.placement.kind} {work.placement}"
                operations.append(
                    Refuse(
                        cluster=work.cluster,
                        placement=work.placement,
                        key=manifest.key,
                        code="Duplicated",
                        reason=why,
                        manifest=manifest,
                    )
                )
                continue
            seen.add(manifest.key.identity)
            operations.append(decide(manifest, work, claims))
    for entry in request.inventory.values():
        operation = prune(entry, claims)
        if operation is not None:
            operations.append(operation)
    return tuple(sorted(operations, key=_order))


def _order(operation: Operation) -> tuple[int, int, ObjectKey, PlacementKey]:
    wave = wave_of(operation.key.group, operation.key.kind)
    if isinstance(operation, Delete):
        return (1, -wave, operation.key, operation.placement)
    if isinstance(operation, Release):
        return (2, 0, operation.key, operation.placement)
    return (0, wave, operation.key, operation.placement)
