"""Vectors of the apply waves: manifests as group/version/resource, and in which wave each is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.formats.kinds import BUILT_IN_KINDS, wave_of


def plural(kind: str) -> str:
    """The resource name of a kind as Kubernetes forms it."""
    name = kind.lower()
    if name.endswith(("s", "x", "ch")):
        return name if name == "endpoints" else f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


KIND_OF = {plural(kind): kind for _, kind in BUILT_IN_KINDS}
"""Kinds by resource name; a resource that is none of these keeps its name and is of no known kind."""


def run_waves(case: dict[str, Any]) -> str | None:
    """The manifests of a case, grouped by wave in ascending order; inside a wave they keep their order."""
    waves: dict[int, list[str]] = {}
    for name in case["in"]["manifests"]:
        group, _, resource = name.split("/")
        waves.setdefault(wave_of(group, KIND_OF.get(resource, resource)), []).append(name)
    got = [{"manifests": waves[wave], "wave": wave} for wave in sorted(waves)]
    return None if got == case["out"]["waves"] else f"expected {case['out']['waves']}, got {got}"


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {"apply_waves": run_waves}
