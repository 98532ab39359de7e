"""Rendering Helm charts: files and values in, one YAML stream out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart as it is rendered: `files` are all of the chart's, by path from its own folder on; of `values`, the later
    wins. The names are checked ones."""

    release: str
    namespace: str
    files: Mapping[str, bytes]
    values: tuple[bytes, ...] = ()
    kube_version: str
    api_versions: tuple[str, ...] = ()
    skip_crds: bool = False


class HelmRenderer(Protocol):
    """Renders one chart as for its first installation. Nothing outside the given files is read, no cluster is asked,
    nothing is fetched, no plug-in runs."""

    def render(self, chart: Chart) -> bytes:
        """The chart's YAML stream, with its hooks, and with the CRDs of its crds/ folders unless they are skipped.
        BadInput says what helm said, in the same words for the same chart; MissingPart that there is no helm,
        RetryLater that it was ended."""
