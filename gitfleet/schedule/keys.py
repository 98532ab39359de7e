"""A digest of everything that a placement's scheduling depends on: while it stays the same, so does the result."""

from __future__ import annotations

from collections.abc import MutableMapping
from hashlib import sha256
from typing import TypeAlias

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.scheduling import SchedulingRequest
from gitfleet.schedule.fleet import ELIGIBILITY, Fact, FleetIndex
from gitfleet.schedule.profile import DEFAULT_PROFILE, Profile

BindingDigests: TypeAlias = MutableMapping[PlacementKey, tuple[tuple[Binding, ...], bytes]]
"""What the caller keeps from reconcile to reconcile, so that bindings that are still the same tuple are not read
again."""


def schedule_key(
    request: SchedulingRequest,
    fleet: FleetIndex,
    *,
    profile: Profile = DEFAULT_PROFILE,
    digests: BindingDigests | None = None,
) -> str:
    """The SHA-256, in hexadecimal, of what the result depends on: policy, bindings, profile, and facts about clusters.

    Of the fleet only those facts count that the profile's plug-ins name for this policy, so a label that no placement
    mentions has no placement scheduled again. The time counts by the clusters' eligibility alone. To be stored is the
    key of the request with the RESULT's bindings in it: scheduling those again changes nothing. Of the bindings only
    the present ones count, Scheduled or Bound alike, so that carrying the result out is no reason to schedule again.
    """
    facts: set[Fact] = {ELIGIBILITY}
    if request.policy.placement_type is not PlacementType.PICK_FIXED:
        facts |= profile.depends_on(request.placement, request.policy)
    digest = sha256(
        canonical_json((str(request.placement), request.policy_snapshot, profile.key, profile.fault, request.policy))
    )
    digest.update(fleet.membership)
    for fact in sorted(facts, key=lambda fact: (fact.kind, fact.name)):
        digest.update(f"{fact.kind}\0{fact.name}\0".encode())
        digest.update(fleet.digest(fact))
    digest.update(_bindings_digest(request, digests))
    return digest.hexdigest()


def _bindings_digest(request: SchedulingRequest, digests: BindingDigests | None) -> bytes:
    if digests is None:
        return digest_bindings(request.bindings)
    cached = digests.get(request.placement)
    if cached is None or cached[0] is not request.bindings:
        cached = digests[request.placement] = (request.bindings, digest_bindings(request.bindings))
    return cached[1]


def digest_bindings(bindings: tuple[Binding, ...]) -> bytes:
    """The clusters that are held and by which policy: not whether they are rolled out, nor what is on its way out.

    Those matter to a result only together with a change that is in the key anyway: a given-up binding is taken up
    again when its cluster is picked again, and Scheduled goes before Bound when fewer clusters are wanted.
    """
    current = [f"{binding.cluster} {binding.policy_snapshot}" for binding in bindings if is_active(binding)]
    return sha256("\n".join(sorted(current)).encode()).digest()
