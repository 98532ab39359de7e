"""adapters.kube: member clusters over the official `kubernetes` client's connections.

    KubeDirectory     finds the client of a cluster by its MemberCluster file; credentials never come from the repo
    KubeClient        looks at one cluster and changes it

Requests go straight to the API's paths (server-side apply, discovery of our own): the package's dynamic client would
write discovery to a predictable world-readable file and costs twice the processor time.
"""

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.directory import KubeDirectory

__all__ = ["KubeClient", "KubeDirectory"]
