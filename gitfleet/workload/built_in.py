"""The built-in workload handlers by their kinds."""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import GroupKind
from gitfleet.workload.handlers import Handlers
from gitfleet.workload.handlers.clone_sets import CloneSetHandler
from gitfleet.workload.handlers.daemon_sets import DaemonSetHandler
from gitfleet.workload.handlers.deployments import DeploymentHandler
from gitfleet.workload.handlers.stateful_sets import StatefulSetHandler

BUILT_IN: Final[Handlers] = {
    GroupKind("apps.kruise.io", "CloneSet"): CloneSetHandler(),
    GroupKind("apps", "DaemonSet"): DaemonSetHandler(),
    GroupKind("apps", "Deployment"): DeploymentHandler(),
    GroupKind("apps", "StatefulSet"): StatefulSetHandler(),
}
"""Each is an entry point of `gitfleet.workload_handlers` as well, named KIND.GROUP."""
