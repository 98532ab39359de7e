"""The Helm charts of a kustomization, with kustomize's fields.

Source: kubernetes-sigs/kustomize api/types/helmchartargs.go.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Any

from gitfleet.api.annotations import At
from gitfleet.api.helm_releases import USUAL_VERSION, ApiVersion, HelmRelease, Hooks, KubeVersion, ReleaseName
from gitfleet.api.layout import document
from gitfleet.api.values import NamespaceName, NonEmpty


class ValuesMerge(Enum):
    """What becomes of inline values and those of the values file."""

    OVERRIDE = "override"
    MERGE = "merge"
    REPLACE = "replace"


@document(tolerated={"configHome": str, "skipTests": bool, "debug": bool, "devel": bool})
@dataclass(frozen=True, slots=True, kw_only=True)
class InflatedChart:
    """An entry of `helmCharts` with the fields of `helmGlobals`, or a HelmChartInflationGenerator. Tests of charts are
    never placed, and nothing is fetched.

    chartHome: the folder of all charts, from the kustomization on
    version, repo: where kustomize would fetch the chart, and so a part of its path
    valuesFile: in place of the chart's own values
    additionalValuesFiles: a later one wins, also over inline values
    """

    name: NonEmpty
    version: str = ""
    repo: str = ""
    chart_home: NonEmpty = "charts"
    release_name: ReleaseName = "release-name"
    namespace: NamespaceName | None = None
    values_file: NonEmpty | None = None
    additional_values_files: tuple[NonEmpty, ...] = ()
    values_inline: Mapping[str, Any] = field(default_factory=dict)
    values_merge: ValuesMerge = ValuesMerge.OVERRIDE
    include_crds: Annotated[bool, At("includeCRDs")] = False
    skip_hooks: bool = False
    api_versions: tuple[ApiVersion, ...] = ()
    kube_version: KubeVersion = USUAL_VERSION

    @property
    def path(self) -> str:
        """The folder of the chart, from the kustomization on: where kustomize looks before it fetches."""
        version = f"{self.name}-{self.version}" if self.version and self.repo else ""
        return posixpath.join(self.chart_home, version, self.name)

    @property
    def values_files(self) -> tuple[str, ...]:
        """The files of values beside the chart's own."""
        return (*filter(None, [self.values_file]), *self.additional_values_files)

    @property
    def release(self) -> HelmRelease:
        """The same as a release."""
        release = HelmRelease(
            name=self.release_name,
            skip_crds=not self.include_crds,
            kube_version=self.kube_version,
            api_versions=self.api_versions,
        )
        return replace(release, hooks=Hooks.SKIP) if self.skip_hooks else release
