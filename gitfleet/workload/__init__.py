"""workload: takes the pods of one workload, on each of its clusters, from one revision to the next (seed 004).

    phases      the state machine, as one table
    handlers    what is asked of a kind of workload (a plug-in point)

Everything here is pure.
"""

from gitfleet.workload.handlers import Counts, Goal, HandlerFactory, Scaling, Step, WorkloadHandler, Workloads

__all__ = ["Counts", "Goal", "HandlerFactory", "Scaling", "Step", "WorkloadHandler", "Workloads"]
