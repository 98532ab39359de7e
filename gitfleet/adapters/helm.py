"""Helm, by the `helm` program: `helm template`, which asks no cluster.

What people name (values files, the chart's folder) is laid out under names of ours: helm splits `--values` at commas
and fetches URLs.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from gitfleet.adapters.hermetic import HermeticProgram
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import MissingPart
from gitfleet.ports.helm import Chart

_HINTS = re.compile(r"Use --debug flag to render out invalid YAML|helm\.go:\d.*", re.DOTALL)


class HelmProgram:
    """HelmRenderer on the program that PATH has; it is searched for at each rendering."""

    def __init__(self, *, seconds: float = 60.0, **limits: int) -> None:
        self._program = HermeticProgram("helm", _complaint, seconds=seconds, **limits)

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render. RetryLater when the program was ended before it was done."""
        helm = shutil.which("helm")
        if helm is None:
            raise MissingPart(AdaptersText.NO_HELM())
        files = {f"chart/{path}": content for path, content in chart.files.items()}
        values = {f"values/{number}.yaml": content for number, content in enumerate(chart.values)}

        def command(root: Path) -> list[str]:
            options = [] if chart.skip_crds else ["--include-crds"]
            options += ["--namespace", chart.namespace, "--kube-version", chart.kube_version]
            options += [f"--values={root / path}" for path in values]
            options += [f"--api-versions={version}" for version in chart.api_versions]
            return [helm, "template", *options, "--", chart.release, str(root / "chart")]

        return self._program.output(files | values, command)


def _complaint(text: str) -> str:
    """What helm says after `Error:`, in one line."""
    complaint = text.rpartition("Error: ")[2] or text
    return " ".join(_HINTS.sub(" ", complaint).split()) or "nothing"
