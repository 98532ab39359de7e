"""Repos as Argo CD and Flux read them (`tests/data/layouts`), and what docs/bring-your-app.md adds to place them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests import builders
from tests.builders import to_yaml
from tests.folders import FOLDER, folder, select_folder

LAYOUTS: Final = Path(__file__).parent / "data" / "layouts"
CLUSTERS: Final = {"staging-1": "staging", "prod-1": "production", "prod-2": "production"}
"""The environment of each cluster."""
ENVIRONMENTS: Final = ("staging", "production")
KUBE_SYSTEM: Final = {"policy": {"allow": [{"namespaces": ["kube-system"]}]}}


def _own_namespace(name: str) -> dict[str, Any]:
    return {"namespace": name, "createNamespace": True}


def _by_environment(name: str, **spec: Any) -> str:
    variants = [(env, env, {"matchLabels": {"env": env}}) for env in ENVIRONMENTS]
    return to_yaml(folder(name, *variants, **spec))


def _release(name: str, chart: str, *values: str) -> str:
    spec = {"chart": f"../../{chart}", "valuesFiles": [f"../../{chart}/{file}" for file in values]}
    return to_yaml(builders.an_object("gitfleet.dev/v1alpha1", "HelmRelease", name, spec=spec))


def _chart(name: str, chart: str, production: str) -> dict[str, str]:
    """A chart of a layout with other values in production."""
    return {
        f"resources/{name}/{FOLDER}": _by_environment(name, **_own_namespace(name)),
        f"resources/{name}/staging/gitfleet-helm.yaml": _release(name, chart),
        f"resources/{name}/production/gitfleet-helm.yaml": _release(name, chart, production),
    }


STEPS: Final[Mapping[str, Mapping[str, str]]] = {
    "example-apps": {
        ".gitfleetignore": "resources/example-apps/apps/\n",
        f"resources/example-apps/hello/{FOLDER}": to_yaml(folder("hello", **_own_namespace("hello"))),
        f"resources/example-apps/kustomize-hello/{FOLDER}": to_yaml(folder("built-hello", **_own_namespace("built"))),
        **_chart("helm-hello", "example-apps/helm-hello", "values-production.yaml"),
    },
    "podinfo": {
        f"resources/podinfo/{FOLDER}": to_yaml(
            folder("podinfo", ("all", "kustomize", None), **_own_namespace("podinfo"))
        ),
        **_chart("beacon", "podinfo/charts/beacon", "values-prod.yaml"),
    },
    "monitoring-stack": {
        "gitfleet.yaml": to_yaml(builders.fleet_config(**KUBE_SYSTEM)),
        f"resources/monitoring-stack/{FOLDER}": to_yaml(folder("monitoring-stack", ("all", "manifests", None))),
    },
    "overlays": {f"resources/overlays/{FOLDER}": _by_environment("orders")},
}
"""The files that are added to a copy of each layout below `resources/`."""
PLACEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "example-apps": ("hello", "built-hello", "helm-hello"),
    "podinfo": ("podinfo", "beacon"),
    "monitoring-stack": ("monitoring-stack",),
    "overlays": ("orders",),
}
"""The Folders of each layout, each with a placement of its name."""


def brought_in(layout: str) -> dict[str, str]:
    """The files of a config repo for a layout, without its clusters."""
    copy = {
        f"resources/{path.relative_to(LAYOUTS)}": path.read_text()
        for path in sorted((LAYOUTS / layout).rglob("*"))
        if path.is_file()
    }
    placements = {
        f"placements/{name}.yaml": to_yaml(builders.placement(name, selectors=[select_folder(name)]))
        for name in PLACEMENTS[layout]
    }
    return {**copy, **placements, **STEPS[layout]}
