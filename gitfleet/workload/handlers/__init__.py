"""What is asked of a kind of workload (a plug-in point), the values that go in and out, and the built-in handlers.

    values             what is asked and answered
    base               WorkloadHandler
    replicas           a target and its sources against each other; another size
    deployments        Deployment; deployment_in_place is one whose template changes
    stateful_sets, clone_sets, daemon_sets

Third parties write one as an entry point `gitfleet.workload_handlers`, named KIND.GROUP; its public address is
`gitfleet.ports.workloads`. A handler is pure: the same arguments give the same result.
"""

from gitfleet.workload.handlers.base import HandlerFactory, Handlers, WorkloadHandler
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads

__all__ = [
    "Counts",
    "Goal",
    "HandlerFactory",
    "Handlers",
    "Scaling",
    "Step",
    "WorkloadHandler",
    "Workloads",
]
