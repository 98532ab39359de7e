"""What is asked of a kind of workload (a plug-in point), the values that go in and out, and the built-in handlers.

    values             what is asked and answered
    base               WorkloadHandler
    replicas           a target and its sources against each other; another size
    deployments        Deployment; deployment_in_place is one whose template changes
    stateful_sets, clone_sets, daemon_sets

Third parties write one as an entry point `gitfleet.workload_handlers`, named KIND.GROUP; its public address is
`gitfleet.ports.workloads`. A handler is pure: the same arguments give the same result.
"""

from typing import Final

from gitfleet.api.objects import GroupKind
from gitfleet.workload.handlers.base import HandlerFactory, Handlers, WorkloadHandler
from gitfleet.workload.handlers.clone_sets import CloneSetHandler
from gitfleet.workload.handlers.daemon_sets import DaemonSetHandler
from gitfleet.workload.handlers.deployments import DeploymentHandler
from gitfleet.workload.handlers.stateful_sets import StatefulSetHandler
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads

__all__ = [
    "BUILT_IN",
    "Counts",
    "Goal",
    "HandlerFactory",
    "Handlers",
    "Scaling",
    "Step",
    "WorkloadHandler",
    "Workloads",
]

BUILT_IN: Final[Handlers] = {
    GroupKind("apps.kruise.io", "CloneSet"): CloneSetHandler(),
    GroupKind("apps", "DaemonSet"): DaemonSetHandler(),
    GroupKind("apps", "Deployment"): DeploymentHandler(),
    GroupKind("apps", "StatefulSet"): StatefulSetHandler(),
}
"""Each is an entry point of `gitfleet.workload_handlers` as well, named KIND.GROUP."""
