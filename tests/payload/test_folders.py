"""Folders over what kustomize and Helm build, and the outputs that are kept for other processes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gitfleet.api.faults import Severity
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.errors import BadInput
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.payload.builds import SlowBuilds, SlowHelm, SlowKustomize
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.branches.commits import MOMENT
from tests.builders import to_yaml
from tests.folders import FOLDER, PROD, REST, folder, settings, web
from tests.payload.kustomizations import RecordingBuilder, builds_with

MADE = {"namespace": "apps", "createNamespace": True}
OVERLAYS = {
    f"resources/apps/{FOLDER}": to_yaml(folder("apps", ("prod", "../../env/prod", PROD), REST, **MADE)),
    "resources/apps/base/kustomization.yaml": "resources: [settings.yaml]\n",
    "resources/apps/base/settings.yaml": settings(a="1"),
    "env/prod/kustomization.yaml": "resources: [../../resources/apps/base, ../common/more.yaml]\n",
    "env/common/more.yaml": settings(a="1").replace("settings", "more"),
}


@dataclass(slots=True)
class Rendering:
    """HelmRenderer of one ConfigMap."""

    charts: list[Chart] = field(default_factory=list)

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        self.charts.append(chart)
        return settings(a="1").encode()


@dataclass(slots=True)
class Process:
    """A process that reads commits of a repo."""

    repo: MemoryRepo = field(default_factory=MemoryRepo)
    builder: RecordingBuilder = field(default_factory=RecordingBuilder)
    helm: Rendering = field(default_factory=Rendering)
    trees: DesiredTrees = field(init=False)

    def __post_init__(self) -> None:
        self.trees = DesiredTrees(self.repo, MemoryCache(), Limits(), builds=builds_with(self.builder, self.helm))

    def read(self, files: dict[str, str | None]) -> Desired:
        """The fleet of a commit with these files."""
        return self.trees.at(self.repo.commit_files("main", files, MOMENT), FleetState())


def objects(desired: Desired) -> list[str]:
    """The payload with its variants."""
    assert not [fault for fault in desired.faults if fault.severity is Severity.ERROR], desired.faults
    return sorted(" ".join((str(m.key), *m.variants)) for m in desired.payload)


def test_a_base_may_be_a_variant_too_and_an_edit_of_the_folder_builds_nothing() -> None:
    process = Process()
    assert objects(process.read({**OVERLAYS})) == [
        "ConfigMap/apps/more prod", "ConfigMap/apps/settings prod rest", "Namespace/apps",
    ]  # fmt: skip
    assert sorted(process.builder.folders) == ["env/prod", "resources/apps/base"]
    assert not any(FOLDER in path for _, files in process.builder.builds for path in files)
    edited = to_yaml(folder("apps", ("all", "base", None), labels={"a": "b"}, **MADE))
    desired = process.read({f"resources/apps/{FOLDER}": edited, "env/common/more.yaml": None})
    assert objects(desired) == ["ConfigMap/apps/settings all", "Namespace/apps"]
    assert len(process.builder.builds) == 2


def test_a_variant_of_plain_files_may_lie_below_a_kustomization_or_in_a_chart() -> None:
    variants = ("prod", "manifests", PROD), ("rest", "web/crds", None)
    desired = Process().read({
        f"resources/apps/{FOLDER}": to_yaml(folder("apps", *variants, **MADE)),
        "resources/apps/kustomization.yaml": "resources: [manifests/settings.yaml]\n",
        "resources/apps/manifests/settings.yaml": settings(a="1"),
        "resources/apps/examples/unused.yaml": settings(a="2"),
        "resources/apps/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
        "resources/apps/web/crds/settings.yaml": settings(a="3"),
    })  # fmt: skip
    assert objects(desired) == ["ConfigMap/apps/settings prod", "ConfigMap/apps/settings rest", "Namespace/apps"]


def test_a_file_of_the_repo_is_read_once_for_a_folder_that_stays() -> None:
    process = Process()
    files = {f"resources/apps/{FOLDER}": to_yaml(folder("apps", **MADE)), "resources/apps/web.yaml": web("web:1")}
    first = process.read({**files})
    second = process.read({"resources/apps/settings.yaml": settings(a="1")})
    bodies = [next(m for m in desired.payload if m.key.kind == "Deployment").body for desired in (first, second)]
    assert bodies[0] is bodies[1]


RELEASE = """\
apiVersion: gitfleet.dev/v1alpha1
kind: HelmRelease
metadata: {name: web}
spec: {chart: ../../charts/web}
"""
CHART = {"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n"}


@pytest.mark.parametrize(("own", "namespace"), [("", "apps"), (", namespace: shop", "shop")])
def test_a_release_is_in_the_namespace_of_its_folder_unless_it_names_one(own: str, namespace: str) -> None:
    process = Process()
    files = {
        f"resources/apps/{FOLDER}": to_yaml(folder("apps", **MADE)),
        "resources/apps/gitfleet-helm.yaml": RELEASE.replace("web}\n", f"web{own}}}\n", 1),
        "gitfleet.yaml": "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"
        "spec: {existingNamespaces: [shop]}\n",
        **CHART,
    }
    assert f"ConfigMap/{namespace}/settings" in objects(process.read({**files}))
    assert {chart.namespace for chart in process.helm.charts} == {namespace}


def test_a_variable_of_a_cluster_in_what_is_built_is_an_error() -> None:
    files = {**OVERLAYS, "env/common/more.yaml": settings(a="${MEMBER-CLUSTER-NAME}")}
    why = PayloadText.VARIABLE_NEVER_REPLACED(program="kustomize")
    assert any(why in fault.message for fault in Process().read({**files}).faults)


def test_an_output_is_kept_for_other_processes_by_its_input_and_the_tool() -> None:
    cache, builder = MemoryCache(), RecordingBuilder()

    def build(tool: str, content: bytes = b"apiVersion: v1\n") -> bytes:
        slow = SlowBuilds(clock=ManualClock(), cache=cache)
        return SlowKustomize(slow, builder, builder, lambda: tool).build("x", {"x/a.yaml": content})

    assert build("kustomize-1") == build("kustomize-1") == b"apiVersion: v1\n"
    assert len(builder.builds) == 1
    build("kustomize-2")
    build("kustomize-1", b"apiVersion: v1\nx: 1\n")
    assert len(builder.builds) == 3
    build("")
    build("")
    assert len(builder.builds) == 5  # an unknown tool keeps nothing
    builder.fails["x"] = BadInput("no")
    for _ in range(2):
        with pytest.raises(BadInput):
            build("kustomize-3")
    assert len(builder.builds) == 7


def test_a_chart_is_rendered_once_for_several_processes() -> None:
    cache, helm = MemoryCache(), Rendering()
    chart = Chart(release="web", namespace="apps", files={}, kube_version="1.36.0")
    for _ in range(2):
        SlowHelm(SlowBuilds(clock=ManualClock(), cache=cache), helm, helm, lambda: "helm-1").render(chart)
    assert len(helm.charts) == 1
