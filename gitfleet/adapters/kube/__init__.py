"""adapters.kube: member clusters, over the official `kubernetes` client's connections or any other Transport.

    KubeDirectory     finds the client of a cluster by its MemberCluster file; credentials never come from the repo
    KubeClient        observes one cluster and changes it
    CoreProvider      the built-in property provider; `chosen_providers` says which ones are asked

Requests go straight to the API's paths (server-side apply, discovery of our own): the package's dynamic client would
write discovery to a predictable file that everybody can read and costs twice the processor time.
"""

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.directory import KubeDirectory
from gitfleet.adapters.kube.properties import CoreProvider
from gitfleet.adapters.kube.properties_collecting import Provider, Rests, chosen_providers
from gitfleet.adapters.kube.wire import Timeouts

__all__ = ["CoreProvider", "KubeClient", "KubeDirectory", "Provider", "Rests", "Timeouts", "chosen_providers"]
