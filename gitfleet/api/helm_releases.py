"""HelmRelease (gitfleet.dev/v1alpha1): what a chart of the repo is rendered with (decision record 0023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Final

from gitfleet.api.annotations import At
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.texts import ApiText
from gitfleet.api.values import DNS_SUBDOMAIN, NamespaceName, NonEmpty, matching

HELM_RELEASE_FILE: Final = "gitfleet-helm.yaml"
"""The name of the file, in a folder below `resources/`."""
_LONGEST_NAME: Final = 53
"""helm pkg/chart/v2/util/validate_name.go."""
USUAL_VERSION: Final = "1.36.0"
"""Of Kubernetes, as charts are told it unless a file says otherwise."""
_VERSION: Final = r"v?1\.[0-9]{1,3}(?:\.[0-9]{1,3})?"
_API: Final = r"[A-Za-z0-9.-]+(?:/[A-Za-z0-9.-]+){0,2}"


ReleaseName = Annotated[
    str, matching(DNS_SUBDOMAIN, ApiText.MUST_LOWER_CASE_LETTERS(longest_name=_LONGEST_NAME), _LONGEST_NAME)
]
KubeVersion = Annotated[str, matching(_VERSION, "must be a version such as 1.36 or 1.36.0; correct it")]
ApiVersion = Annotated[str, matching(_API, "must be an API version such as apps/v1; correct it")]


class Hooks(Enum):
    """What becomes of a chart's install and upgrade hooks."""

    RUN = "Run"
    APPLY = "Apply"
    SKIP = "Skip"


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "HelmRelease"))
@dataclass(frozen=True, slots=True, kw_only=True)
class HelmRelease:
    """A Helm chart of the repo, and what it is rendered with. Its name and namespace are those of the release;
    the namespace may be that of its Folder.

    chart: the folder of the chart, from the folder of this file on
    valuesFiles: files of values, from the folder of this file on; a later one wins
    values: values that win over those of files
    hooks: Run runs Jobs of install and upgrade hooks as steps, Apply places them like any other object, Skip leaves
    them out
    skipCrds: leave out what the crds/ folders of the chart and its subcharts hold, as with Argo CD and Flux
    kubeVersion: the version of Kubernetes that the chart is told
    apiVersions: APIs that the chart is told the clusters have, such as monitoring.coreos.com/v1
    """

    name: Annotated[ReleaseName, At("metadata", "name")]
    namespace: Annotated[NamespaceName | None, At("metadata", "namespace")] = None
    chart: NonEmpty = "."
    values_files: tuple[NonEmpty, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    hooks: Hooks = Hooks.RUN
    skip_crds: bool = False
    kube_version: KubeVersion = USUAL_VERSION
    api_versions: tuple[ApiVersion, ...] = ()
