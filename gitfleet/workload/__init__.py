"""workload: takes the pods of one workload, on each of its clusters, from one revision to the next (seed 004).

    advance_workloads(request, failures) -> Advance      how far each rollout is, and which calls are to be under way
    movement(rollouts, works, ...) -> Movement           what the records hold of objects, and do on clusters
    batch_sizes(plan, status) -> sizes                  how many pods each batch changes
    keys_to_observe(wanted, records, clusters) -> keys   the workloads that must be read, by cluster
    named_snapshots(rollouts, records) -> names          the resource snapshots in use, by placement
    pods_to_observe(records, handlers) -> keys           those whose pods must be read, by cluster
    permitted(moving, rollouts, policy) -> Movement      without what a rollout may not do
    phases      the state machine, as one table
    handlers    what is asked of a kind of workload (a plug-in point); BUILT_IN are those of gitfleet

Everything here is pure.
"""

from gitfleet.workload.advance import Advance, advance_workloads
from gitfleet.workload.built_in import BUILT_IN
from gitfleet.workload.finding import movable_from, named_snapshots
from gitfleet.workload.goals import batch_sizes
from gitfleet.workload.handlers import (
    Counts,
    Goal,
    HandlerFactory,
    Handlers,
    Scaling,
    Step,
    WorkloadHandler,
    Workloads,
)
from gitfleet.workload.lookup import Request
from gitfleet.workload.misnamed import held_for_unnamed, own_workloads
from gitfleet.workload.movement import Movement, movement
from gitfleet.workload.observing import keys_to_observe, pods_to_observe
from gitfleet.workload.permission import permitted

__all__ = [
    "BUILT_IN",
    "Advance",
    "Counts",
    "Goal",
    "HandlerFactory",
    "Handlers",
    "Movement",
    "Request",
    "Scaling",
    "Step",
    "WorkloadHandler",
    "Workloads",
    "advance_workloads",
    "batch_sizes",
    "held_for_unnamed",
    "keys_to_observe",
    "movable_from",
    "movement",
    "named_snapshots",
    "own_workloads",
    "permitted",
    "pods_to_observe",
]
