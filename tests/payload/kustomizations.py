"""A builder that records what it was given, and files of a small kustomize tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitfleet.errors import GitfleetError
from gitfleet.payload.builds import Builds
from gitfleet.payload.helm import Charts
from gitfleet.payload.kustomize import Kustomizer
from gitfleet.ports.helm import Chart, HelmRenderer
from gitfleet.ports.kustomize import KustomizeBuilder


@dataclass(slots=True)
class RecordingBuilder:
    """KustomizeBuilder that puts the folder's plain manifests after one another; `fails` are raised, by folder."""

    builds: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    fails: dict[str, GitfleetError] = field(default_factory=dict)

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build."""
        self.builds.append((folder, tuple(sorted(files))))
        if folder in self.fails:
            raise self.fails[folder]
        manifests = [files[path] for path in sorted(files) if files[path].lstrip().startswith(b"apiVersion: v1")]
        return b"---\n".join(manifests)

    @property
    def folders(self) -> list[str]:
        """The folders that were built, in order."""
        return [folder for folder, _ in self.builds]


class NoHelm:
    """HelmRenderer for repos without charts."""

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        raise AssertionError(f"nothing renders {chart.release}")


def builds_with(builder: KustomizeBuilder, renderer: HelmRenderer | None = None) -> Builds:
    """What builds the folders of a tree, by these programs."""
    helm = renderer or NoHelm()
    return Builds(kustomizer=Kustomizer(builder, helm), charts=Charts(helm))
