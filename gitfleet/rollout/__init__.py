"""rollout: which bindings move now, from one shared core for rolling updates, staged runs, evictions and budgets.

    plan_rollout        one planning step of the rolling update
    refusal_of, recorded_refusal    why no cluster may get a placement's newest snapshot
    recorded_waits      where a folder of a placement waits for another one
    renumbered          clusters whose content a new snapshot leaves as it is
    request_for         the request for it, from a placement's record
    unavailable_period  how long what cannot be tracked counts as unavailable
    is_ready            whether a binding's resources are available at its present generation
    needs_new_run       whether a run gave a binding what cannot be rendered
    evict               what becomes of evictions, and of the bindings that they name
    evict_nothing, evicted_elsewhere
                        evictions of a placement that does not exist
    evicted_since       what was evicted between two states
    eviction_waits      what an eviction says while its cluster is frozen
    disruptions         what a disruption budget allows
    kept_there          what a cluster keeps until another placement has it, in a sentence
    run_awaited         what an External placement has and waits for, in a sentence
    waiting_for         what a placement is still waiting for, in a sentence
    waiting_state       the same of one cluster, as the end of a sentence about it
    way_out             what to do where a binding needs a new run, in a sentence
    freezes_at          the freezes in force at a moment, and what they hold
    next_expiry         when the next one with a date ends for good
    silent_since        the clusters that do not answer, and since when
    long_silent         those of the fleet that others go on without
    frozen_removals, give_up, take_back, removals, release_left, next_forced_leave, owners_of,
    retire_bindings,
    without_left        placements and clusters that go as a whole

Forbidden here: choosing clusters, reading manifests, talking to clusters. Same request, same plan.

Source: kubefleet.md §3 and §8; decisions D1, D6, D13, D18.
"""

from gitfleet.rollout.evictions import (
    disruptions,
    evict,
    evict_nothing,
    evicted_elsewhere,
    evicted_since,
    eviction_waits,
)
from gitfleet.rollout.freezes import Freezes, freezes_at, next_expiry
from gitfleet.rollout.leaving import (
    Owners,
    frozen_removals,
    give_up,
    next_forced_leave,
    owners_of,
    release_left,
    removals,
    retire_bindings,
    take_back,
    without_left,
)
from gitfleet.rollout.plan import plan_rollout
from gitfleet.rollout.readiness import (
    Readiness,
    is_ready,
    needs_new_run,
    unavailable_period,
)
from gitfleet.rollout.renumbering import renumbered
from gitfleet.rollout.requests import recorded_refusal, recorded_waits, refusal_of, request_for
from gitfleet.rollout.silence import long_silent, silent_since
from gitfleet.rollout.waiting import kept_there, run_awaited, waiting_for, waiting_state, way_out

__all__ = [
    "Freezes",
    "Owners",
    "Readiness",
    "disruptions",
    "evict",
    "evict_nothing",
    "evicted_elsewhere",
    "evicted_since",
    "eviction_waits",
    "freezes_at",
    "frozen_removals",
    "give_up",
    "is_ready",
    "kept_there",
    "long_silent",
    "needs_new_run",
    "next_expiry",
    "next_forced_leave",
    "owners_of",
    "plan_rollout",
    "recorded_refusal",
    "recorded_waits",
    "refusal_of",
    "release_left",
    "removals",
    "renumbered",
    "request_for",
    "retire_bindings",
    "run_awaited",
    "silent_since",
    "take_back",
    "unavailable_period",
    "waiting_for",
    "waiting_state",
    "way_out",
    "without_left",
]
