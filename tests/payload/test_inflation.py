"""Charts of kustomizations, with the real helm and kustomize: what is rendered for them, as kustomize would, and what
is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.helm import HelmProgram
from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.desired import FolderLayout, parse_file
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.payload.kustomize import Kustomizer
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart
from gitfleet.ports.repos import TreeEntry
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.branches.commits import MOMENT, config_map
from tests.builders import to_yaml
from tests.folders import FOLDER, folder
from tests.payload.kustomizations import builds_with
from tests.payload.test_kustomize import POINTER

APP = "resources/app"
CHART = f"{APP}/charts/web"
OWN = f"{APP}/kustomization.yaml"
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings, namespace: {{ .Release.Namespace }}}
data:
  values: {{ .Values | toJson | quote }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  acme: {{ .Capabilities.APIVersions.Has "acme.example.com/v1" | quote }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: kube-elsewhere}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", envFrom: [{configMapRef: {name: made}}]}]}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example.com}
spec: {group: acme.example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1}]}
"""
VALUES = "{text: chart, map: {a: 1, b: 2}, list: [1, 2], deep: {er: {x: z}}, big: 10000000}\n"


def hook(event: str) -> str:
    """The template of a hook."""
    annotations = f"{{helm.sh/hook: {event}}}"
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: on-{event}, annotations: {annotations}}}\n"


def chart(home: str = f"{APP}/charts/web", template: str = TEMPLATE) -> dict[str, str]:
    """The files of a chart."""
    return {
        f"{home}/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
        f"{home}/values.yaml": VALUES,
        f"{home}/templates/all.yaml": template,
        f"{home}/crds/widgets.yaml": CRD,
    }


def inflating(**fields: Any) -> dict[str, Any]:
    """A kustomization with one chart."""
    return {"helmCharts": [{"name": "web", "kubeVersion": "1.36.0", **fields}]}


def kustomization(*parts: Mapping[str, Any], where: str = OWN, **more: Any) -> dict[str, str]:
    """The file of a kustomization."""
    body: dict[str, Any] = {}
    for fields in (*parts, more):
        body |= fields
    return {where: to_yaml(body)}


@pytest.fixture(autouse=True)
def programs(helm: Path, kustomize: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{helm.parent}:{kustomize.parent}:/usr/bin:/bin")


def by_kustomize(files: Mapping[str, str], root: Path) -> list[Any]:
    """What `kustomize build --enable-helm` prints."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    command = ["kustomize", "build", "--enable-helm", str(root / APP)]
    built = subprocess.run(command, capture_output=True, check=True)
    return _sorted(document.value for document in parse_file("x.yaml", built.stdout).documents)


def by_gitfleet(files: Mapping[str, str]) -> list[Any]:
    """The same by gitfleet."""
    blobs = {sha256(text.encode()).hexdigest(): text.encode() for text in files.values()}
    listing = {path: TreeEntry("100644", sha256(text.encode()).hexdigest(), 1) for path, text in files.items()}
    kustomizer = Kustomizer(KustomizeProgram(), HelmProgram())
    output = kustomizer.built([APP], FolderLayout(), listing, lambda oids: {oid: blobs[oid] for oid in oids})[APP]
    assert output.parsed is not None and not output.parsed.faults, output
    return _sorted(document.value for document in output.parsed.documents)


def _sorted(bodies: Any) -> list[Any]:
    return sorted(bodies, key=lambda body: (body["kind"], body["metadata"]["name"]))


BASE = "resources/app/base"
INLINE: dict[str, Any] = {"text": "inline", "map": {"a": 5, "c": 1}, "list": [9], "more": True, "deep": {"er": None}}
GENERATOR = {"apiVersion": "builtin", "kind": "HelmChartInflationGenerator", "metadata": {"name": "x"}, "name": "web"}
LABELS = {"apiVersion": "builtin", "kind": "ConfigMapGenerator", "metadata": {"name": "made"}, "literals": ["a=b"]}
SAME: dict[str, dict[str, str]] = {
    "nothing but its name": kustomization(inflating()),
    "a namespace": kustomization(inflating(namespace="shop", releaseName="shop")),
    "what kustomize does to its objects": kustomization(
        inflating(releaseName="r"),
        resources=["own.yaml"],
        images=[{"name": "web", "newTag": "2"}],
        labels=[{"pairs": {"team": "shop"}, "includeSelectors": True}],
        patches=[{"target": {"kind": "Deployment"}, "patch": '[{"op": "add", "path": "/spec/replicas", "value": 3}]'}],
        configMapGenerator=[{"name": "made", "literals": ["a=b"]}],
    ),
    "CRDs and versions": kustomization(inflating(includeCRDs=True, apiVersions=["acme.example.com/v1"])),
    "a home": kustomization(inflating(), helmGlobals={"chartHome": "more"}) | chart(f"{APP}/more/web"),
    "the place of what was fetched": kustomization(inflating(repo="https://charts.example.com", version="0.1.0"))
    | chart(f"{APP}/charts/web-0.1.0/web"),
    "a values file": kustomization(inflating(valuesFile="v.yaml")),
    "inline values": kustomization(inflating(valuesInline=INLINE)),
    "inline values alone": kustomization(inflating(valuesInline={**INLINE, "text": None}, valuesMerge="replace")),
    "no hooks": kustomization(inflating(skipHooks=True))
    | chart(template=TEMPLATE + hook("pre-install") + hook("test")),
    "two charts": kustomization({"helmCharts": [*inflating()["helmCharts"], {"name": "db"}]})
    | chart(f"{APP}/charts/db", config_map("db")),
    "a generator": kustomization(generators=["g.yaml"], namespace="shop")
    | {f"{APP}/g.yaml": to_yaml({**GENERATOR, "kubeVersion": "1.36.0", "valuesInline": {"text": "x"}}, LABELS)},
    "a base": kustomization(resources=["base"], namespace="shop", nameSuffix="-x")
    | kustomization(inflating(), where=f"{BASE}/kustomization.yaml")
    | chart(f"{BASE}/charts/web"),
    "a component": kustomization(components=["base"], namespace="shop", resources=["own.yaml"])
    | kustomization(inflating(), kind="Component", where=f"{BASE}/kustomization.yaml")
    | chart(f"{BASE}/charts/web"),
}


@pytest.mark.parametrize("case", SAME)
def test_a_chart_is_rendered_as_kustomize_renders_it(case: str, tmp_path: Path) -> None:
    files = {
        f"{APP}/v.yaml": "{text: file, map: {a: 7}, only: file}\n",
        f"{APP}/a.yaml": "text: additional\n",
        f"{APP}/own.yaml": config_map("own"),
        **chart(),
        **SAME[case],
    }
    assert by_gitfleet(files) == by_kustomize(files, tmp_path)


@dataclass(slots=True)
class Process:
    """A process that reads commits of a repo, and counts what helm is asked for."""

    repo: MemoryRepo = field(default_factory=MemoryRepo)
    asked: list[Chart] = field(default_factory=list)
    trees: DesiredTrees = field(init=False)

    def __post_init__(self) -> None:
        self.trees = DesiredTrees(self.repo, MemoryCache(), Limits(), builds=builds_with(KustomizeProgram(), self))

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        self.asked.append(chart)
        return HelmProgram().render(chart)

    def read(self, files: Mapping[str, str | None]) -> Desired:
        """A commit with these files on top of the one before."""
        return self.trees.at(self.repo.commit_files("main", files, MOMENT), FleetState())


@pytest.fixture
def process() -> Process:
    return Process()


SIMPLE = config_map("made", namespace="{{ .Release.Namespace }}")
PLAIN = {**chart(template=SIMPLE), **kustomization(inflating(namespace="default"))}


def placed(desired: Desired) -> list[str]:
    return sorted(str(manifest.key) for manifest in desired.payload if manifest.key.kind != "Namespace")


def errors(desired: Desired) -> list[str]:
    return [str(fault) for fault in desired.faults if fault.severity.value == "error"]


def test_a_chart_beside_its_kustomization_is_placed_and_used(process: Process) -> None:
    desired = process.read(PLAIN)
    assert (desired.faults, placed(desired)) == ((), ["ConfigMap/default/made"])
    assert set(desired.sources) == {APP}
    assert {*PLAIN, APP, CHART} == set(desired.sources[APP])


def test_a_chart_may_lie_anywhere_in_the_repo_and_serve_others_too(process: Process) -> None:
    home = {"helmGlobals": {"chartHome": "../../charts"}}
    second = kustomization(inflating(namespace="shop"), home, where="resources/b/kustomization.yaml")
    namespace = {"resources/shop.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"}
    files = {**chart("charts/web", SIMPLE), **kustomization(inflating(namespace="default"), home), **second}
    desired = process.read({**files, **namespace})
    assert (desired.faults, placed(desired)) == ((), ["ConfigMap/default/made", "ConfigMap/shop/made"])


def test_a_release_without_a_namespace_is_in_that_of_its_folder(process: Process) -> None:
    files = {**PLAIN, **kustomization(inflating())}
    assert placed(process.read(files)) == ["ConfigMap/default/made"]
    made = {f"{APP}/{FOLDER}": to_yaml(folder("app", namespace="apps", createNamespace=True))}
    assert placed(process.read(made)) == ["ConfigMap/apps/made"]


@pytest.mark.parametrize("includes", [False, True])
def test_crds_that_a_chart_leaves_out_say_which_objects_get_a_namespace(process: Process, includes: bool) -> None:
    made = {f"{APP}/{FOLDER}": to_yaml(folder("app", namespace="apps", createNamespace=True))}
    widget = "apiVersion: acme.example.com/v1\nkind: Widget\nmetadata: {name: one}\n"
    files = {**chart(template=widget), **kustomization(inflating(includeCRDs=includes)), **made}
    crds = ["CustomResourceDefinition/widgets.acme.example.com"] if includes else []
    desired = process.read(files)
    assert (errors(desired), placed(desired)) == ([], [*crds, "Widget/apps/one"])


@pytest.mark.parametrize(
    ("namespace", "fields", "where"),
    [("shop", {}, "shop"), ("", {"namespace": "shop"}, None)],
)
def test_an_object_of_a_chart_without_a_namespace_gets_that_of_the_kustomization(
    process: Process, namespace: str, fields: dict[str, str], where: str | None
) -> None:
    bare = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n"
    files = {**chart(template=bare), **kustomization(inflating(**fields), namespace=namespace)}
    desired = process.read(
        {**files, "resources/shop.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"}
    )
    assert placed(desired) == ([f"ConfigMap/{where}/made"] if where else [])
    assert ["PAYLOAD_NEEDS_NAMESPACE"] * (where is None) == [
        f.code for f in desired.faults if f.severity.value == "error"
    ]


def test_a_base_is_built_for_one_namespace(process: Process) -> None:
    base = {**chart(f"{APP}/charts/web", SIMPLE), **kustomization(inflating())}
    overlays = {
        f"resources/all/{name}/kustomization.yaml": to_yaml({"resources": ["../../app"], "namespace": name})
        for name in ("a", "b")
    }
    both = kustomization(resources=["a", "b"], where="resources/all/kustomization.yaml")
    sentence = PayloadText.CHART_IN_SEVERAL_NAMESPACES(namespaces="a and b")
    assert errors(process.read({**base, **overlays, **both})) == [
        f"resources/all/kustomization.yaml:1: {OWN} {sentence}"
    ]


def test_only_a_change_of_what_is_read_costs_a_rendering(process: Process) -> None:
    process.read({**PLAIN, "resources/x.yaml": config_map("x")})
    assert len(process.asked) == 2
    process.read({"resources/x.yaml": config_map("x", "2")})
    assert len(process.asked) == 2
    assert placed(process.read({f"{CHART}/templates/all.yaml": SIMPLE.replace("made", "new")})) == [
        "ConfigMap/default/new", "ConfigMap/default/x",
    ]  # fmt: skip
    assert len(process.asked) == 4


ABSENT = PayloadText.CHART_NOT_IN_REPO
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "no chart": (kustomization({"helmCharts": [{"name": "db"}]}), ABSENT(name="db", folder=f"{APP}/charts/db")),
    "a repo": (
        kustomization(inflating(repo="https://charts.example.com", version="1.0.0")),
        ABSENT(name="web", folder=f"{APP}/charts/web-1.0.0/web"),
    ),
    "no values file": (
        kustomization(inflating(valuesFile="v.yaml")),
        PayloadText.NAMES_NO_FILE_REPO(name="v.yaml", target=f"{APP}/v.yaml"),
    ),
    "values that are no YAML": (
        {**kustomization(inflating(valuesFile="v.yaml", valuesInline={"a": 1})), f"{APP}/v.yaml": "a: ["},
        f"{APP}/v.yaml ",
    ),
    "a pointer": (
        {**kustomization(inflating(valuesFile="v.yaml")), f"{APP}/v.yaml": POINTER},
        f"{APP}/v.yaml {PayloadText.GIT_LFS_POINTER()}",
    ),
    "a field": (kustomization(inflating(nameTemplate="x")), "helmCharts[0].nameTemplate"),
    "a generator elsewhere": (
        {**kustomization(transformers=["g.yaml"]), f"{APP}/g.yaml": to_yaml(GENERATOR)},
        f"{APP}/g.yaml {PayloadText.KIND_NOT_USED_HERE()}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_one_error(process: Process, case: str) -> None:
    files, sentence = REFUSED[case]
    desired = process.read({**PLAIN, **files})
    found = [fault for fault in desired.faults if fault.severity.value == "error"]
    assert [fault.path for fault in found] == [OWN], found
    assert sentence in found[0].message
    assert placed(desired) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (to_yaml({**inflating(namespace="default"), "helmGlobals": {"chartHome": "../charts"}}), []),
        (to_yaml({**inflating(releaseName="--x"), "helmGlobals": {"chartHome": "../charts"}}), [OWN]),
        ("helmCharts: [{name: web}, ", [OWN]),
        (to_yaml({"resources": ["own.yaml"]}), ["resources/charts/web/Chart.yaml"]),
    ],
)
def test_a_chart_elsewhere_that_no_kustomization_may_render_is_an_error(
    process: Process, text: str, at: list[str]
) -> None:
    files = {**chart("resources/charts/web", SIMPLE), OWN: text, f"{APP}/own.yaml": config_map("own")}
    assert [fault.path for fault in process.read(files).faults if fault.severity.value == "error"] == at
