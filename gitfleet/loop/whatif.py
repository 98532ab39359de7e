"""What-if: the same fleet with clusters taken away, added or cordoned, for `plan` and `simulate`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gitfleet import desired
from gitfleet.api.clusters import MemberCluster, Taint
from gitfleet.errors import BadInput
from gitfleet.loop.texts import LoopText
from gitfleet.model.desired import Desired

CORDON = Taint(key="gitfleet.dev/cordoned", value="", effect="NoSchedule")
"""What `--cordon` puts on a cluster: what is there stays, nothing new comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """`without` and `cordon` hold cluster names or `label=value`; `extra` holds (file name, content) of
    MemberClusters."""

    without: tuple[str, ...] = ()
    cordon: tuple[str, ...] = ()
    extra: tuple[tuple[str, bytes], ...] = ()

    def applied_to(self, wanted: Desired) -> Desired:
        """The fleet as it would be. BadInput when a name or label chooses no cluster, or a file holds a fault."""
        if not (self.without or self.cordon or self.extra):
            return wanted
        clusters = dict(wanted.clusters)
        for path, content in self.extra:
            clusters.update({cluster.name: cluster for cluster in _clusters_in(path, content)})
        for name in _chosen(clusters.values(), self.cordon, "--cordon"):
            clusters[name] = replace(clusters[name], taints=(*clusters[name].taints, CORDON))
        for name in _chosen(clusters.values(), self.without, "--without"):
            del clusters[name]
        return replace(wanted, objects={**wanted.objects, "clusters": clusters})


def _chosen(clusters: Iterable[MemberCluster], selectors: Iterable[str], option: str) -> set[str]:
    known = tuple(clusters)
    chosen: set[str] = set()
    for selector in selectors:
        key, is_label, value = selector.partition("=")
        found = {
            cluster.name
            for cluster in known
            if (cluster.scheduling_labels.get(key) == value if is_label else cluster.name == selector)
        }
        if not found:
            raise BadInput(
                LoopText.CHOOSES_NO_CLUSTER(option=option, selector=selector),
                hint=LoopText.NAME_CLUSTER_LABEL_KEY_VALUE(),
            )
        chosen |= found
    return chosen


def _clusters_in(path: str, content: bytes) -> list[MemberCluster]:
    parsed = desired.parse_file(path, content)
    blob = f"what-if:{path}"
    inside = f"clusters/{path.rsplit('/', 1)[-1]}"
    request = desired.DesiredRequest(
        commit="",
        files={inside: desired.SourceFile(blob=blob, parsed=parsed, size=len(content))},
        contents=lambda _: content,
    )
    wanted = desired.read_desired(request)
    if wanted.faults:
        raise BadInput(str(wanted.faults[0]), hint=LoopText.CORRECT_HOLDS_MEMBERCLUSTERS_IF(path=path))
    if not wanted.clusters:
        raise BadInput(
            LoopText.HOLDS_NO_MEMBERCLUSTER(path=path), hint=LoopText.WRITE_ONE_MORE_MEMBERCLUSTER_DOCUMENTS()
        )
    return list(wanted.clusters.values())
