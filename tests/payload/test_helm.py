"""Helm releases with the real helm: what is placed of a chart, what is refused and in which words, what costs a
rendering."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.helm import HelmProgram
from gitfleet.api.texts import ApiText
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.desired.texts import DesiredText
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.branches.commits import MOMENT
from tests.payload.kustomizations import RecordingBuilder, builds_with
from tests.payload.test_kustomize import POINTER

APP = "resources/app"
OWN = f"{APP}/gitfleet-helm.yaml"
CHART = "charts/web"
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data: {size: "{{ .Values.size }}", namespace: {{ .Release.Namespace }}}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example.com}
spec: {group: acme.example.com, scope: SCOPE, names: {kind: Widget, plural: widgets}, versions: [{name: v1}]}
"""
WIDGET = "apiVersion: acme.example.com/v1\nkind: Widget\nmetadata: {name: one}\n"


def release(spec: str = "") -> str:
    """A release `web` in the namespace shop of the chart in charts/web."""
    return (
        "apiVersion: gitfleet.dev/v1alpha1\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n"
        f"spec:\n  chart: ../../charts/web\n{spec}"
    )


def chart(folder: str = CHART, **templates: str) -> dict[str, str]:
    """The files of a chart, with templates by name; `more_` in a name is a folder."""
    named = {f"{folder}/templates/{name.replace('__', '/')}.yaml": text for name, text in templates.items()}
    return {
        f"{folder}/Chart.yaml": f"apiVersion: v2\nname: {folder.rpartition('/')[2]}\nversion: 0.1.0\n",
        f"{folder}/values.yaml": "size: small\n",
        **named,
    }


NAMESPACE = {"resources/shop.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"}
PLAIN = {**NAMESPACE, OWN: release(), **chart(config=CONFIG)}


@dataclass(slots=True)
class Counting:
    """HelmRenderer that counts what helm is asked for."""

    program: HelmProgram = field(default_factory=HelmProgram)
    asked: list[Chart] = field(default_factory=list)

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        self.asked.append(chart)
        return self.program.render(chart)


@dataclass(slots=True)
class Releases:
    """A repo and a process that reads its commits with the real helm."""

    repo: MemoryRepo = field(default_factory=MemoryRepo)
    renderer: Counting = field(default_factory=Counting)
    trees: DesiredTrees = field(init=False)

    def __post_init__(self) -> None:
        builds = builds_with(RecordingBuilder(), self.renderer)
        self.trees = DesiredTrees(self.repo, MemoryCache(), Limits(), builds=builds)

    def read(self, files: Mapping[str, str | bytes | None]) -> Desired:
        """A commit with these files on top of the one before."""
        texts = {path: text for path, text in files.items() if not isinstance(text, bytes)}
        commit = self.repo.commit_files("main", texts, MOMENT) if texts else ""
        for path, content in files.items():
            if isinstance(content, bytes):
                commit = self.repo.put_entry("main", path, "100644", content, MOMENT)
        return self.trees.at(commit, FleetState())


@pytest.fixture
def releases(helm: Path, monkeypatch: pytest.MonkeyPatch) -> Releases:
    monkeypatch.setenv("PATH", f"{helm.parent}:/usr/bin:/bin")
    return Releases()


def placed(desired: Desired) -> list[str]:
    """What is placed, without the Namespace."""
    return sorted(str(manifest.key) for manifest in desired.payload if manifest.key.kind != "Namespace")


def faults(desired: Desired) -> list[str]:
    return [str(fault) for fault in desired.faults if fault.severity.value == "error"]


def body(desired: Desired, name: str) -> dict[str, Any]:
    (found,) = [dict(manifest.body) for manifest in desired.payload if manifest.key.name == name]
    return found


def packaged(files: dict[str, str], **links: str) -> bytes:
    """An archive as `helm package` makes it; `links` are symbolic links in it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        for path, target in links.items():
            member = tarfile.TarInfo(f"db/{path}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return packed.getvalue()


def long_header() -> bytes:
    """An archive whose extended header alone is larger than what is unpacked."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("db/Chart.yaml")
        member.pax_headers = {"comment": "0" * (65 << 20)}
        archive.addfile(member)
    return packed.getvalue()


def test_a_release_is_placed_in_its_namespace_from_the_one_file_that_names_it(releases: Releases) -> None:
    desired = releases.read({**PLAIN})
    assert faults(desired) == []
    assert placed(desired) == ["ConfigMap/shop/web-settings"]
    assert body(desired, "web-settings")["data"] == {"size": "small", "namespace": "shop"}
    assert {manifest.origin.path for manifest in desired.payload} == {OWN, "resources/shop.yaml"}
    assert desired.sources == {APP: tuple(sorted((*chart(config=""), OWN, CHART)))}


def test_the_chart_may_lie_in_the_folder_of_its_release(releases: Releases) -> None:
    own = release().replace("../../charts/web", ".")
    desired = releases.read({**NAMESPACE, OWN: own, **chart(APP, config=CONFIG)})
    assert (faults(desired), placed(desired)) == ([], ["ConfigMap/shop/web-settings"])
    assert "gitfleet-helm.yaml" not in releases.renderer.asked[0].files


def test_of_values_the_inline_ones_win_over_later_files_over_earlier_ones(releases: Releases) -> None:
    text = '{a: "{{ .Values.a }}", b: "{{ .Values.b }}", c: "{{ .Values.c }}", d: "{{ .Values.d }}"}'
    files = {
        **NAMESPACE,
        OWN: release('  valuesFiles: ["a,b.yaml", ../../values/two.yaml]\n  values: {c: inline}\n'),
        **chart(config=CONFIG.replace('{size: "{{ .Values.size }}", namespace: {{ .Release.Namespace }}}', text)),
        f"{CHART}/values.yaml": "{a: chart, b: chart, c: chart, d: chart}\n",
        f"{APP}/a,b.yaml": "{b: first, c: first, d: first}\n",
        "values/two.yaml": "{d: second, c: second}\n",
    }
    desired = releases.read(files)
    assert body(desired, "web-settings")["data"] == {"a": "chart", "b": "first", "c": "inline", "d": "second"}
    assert releases.read({"values/two.yaml": "{d: third}\n"}) != desired
    assert len(releases.renderer.asked) == 4


@pytest.mark.parametrize(("scope", "namespace"), [("Namespaced", "shop"), ("Cluster", None)])
@pytest.mark.parametrize("where", [f"{CHART}/crds/w.yaml", f"{CHART}/templates/w.yaml", "resources/crds.yaml"])
def test_the_crds_of_the_repo_say_which_objects_get_the_namespace(
    releases: Releases, where: str, scope: str, namespace: str | None
) -> None:
    files = {**NAMESPACE, OWN: release(), **chart(widget=WIDGET), where: CRD.replace("SCOPE", scope)}
    desired = releases.read({**files})
    assert faults(desired) == []
    assert body(desired, "one")["metadata"].get("namespace") == namespace
    assert len(placed(desired)) == 2


def test_an_object_whose_scope_nobody_knows_is_an_error_of_the_whole_release(releases: Releases) -> None:
    desired = releases.read({**PLAIN, **chart(config=CONFIG, widget=WIDGET)})
    assert faults(desired) == [f"{OWN}:1: " + DesiredText.SCOPE_UNKNOWN(kind="Widget.acme.example.com")]
    assert placed(desired) == []
    assert [str(fault) for fault in desired.faults if fault.severity.value == "warning"] == [
        f"{OWN}:1: " + DesiredText.FOLDER_PLACED_WHOLE(count="1 object")
    ]


@pytest.mark.parametrize("where", ["crds", "charts/db/crds"])
@pytest.mark.parametrize("skips", [False, True])
def test_crds_of_a_chart_may_be_left_out_and_its_objects_are_known_still(
    releases: Releases, where: str, skips: bool
) -> None:
    templated = CRD.replace("SCOPE", "Namespaced").replace("widgets", "gadgets").replace("Widget", "Gadget")
    files = {f"{CHART}/{where}/w.yaml": CRD.replace("SCOPE", "Namespaced"), **chart(f"{CHART}/charts/db")}
    own = release("  skipCrds: true\n" if skips else "")
    desired = releases.read({**NAMESPACE, **files, OWN: own, **chart(widget=WIDGET, gadgets=templated)})
    crds = ["CustomResourceDefinition/gadgets.acme.example.com"]
    crds += [] if skips else ["CustomResourceDefinition/widgets.acme.example.com"]
    assert (faults(desired), placed(desired)) == ([], [*crds, "Widget/shop/one"])


def hook(kind: str, events: str) -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: hook, annotations: {{helm.sh/hook: '{events}'}}}}\n"


@pytest.mark.parametrize(
    ("events", "hooks", "is_payload"),
    [
        ("test", "", False),
        ("test-success,pre-delete", "", True),  # for a warning, and not placed
        ("pre-install,pre-upgrade", "", True),
        ("post-install,post-delete", "Run", True),
        ("pre-install", "Apply", True),
        ("pre-install", "Skip", False),
    ],
)
def test_hooks(releases: Releases, events: str, hooks: str, is_payload: bool) -> None:
    own = release(f"  hooks: {hooks}\n" if hooks else "")
    desired = releases.read({**PLAIN, OWN: own, **chart(config=CONFIG, hook=hook("ConfigMap", events))})
    assert (placed(desired) == ["ConfigMap/shop/hook", "ConfigMap/shop/web-settings"]) == is_payload
    annotated = [m.key.name for m in desired.payload if "annotations" in m.body["metadata"]]
    assert annotated == (["hook"] if is_payload and hooks != "Apply" else [])


def test_a_hook_that_never_runs_may_have_the_name_of_one_that_does(releases: Releases) -> None:
    hooks = {"installs": hook("ConfigMap", "pre-install"), "deletes": hook("ConfigMap", "pre-delete")}
    random = hook("ConfigMap", "post-delete").replace("name: hook", "name: hook-{{ randAlphaNum 5 | lower }}")
    desired = releases.read({**PLAIN, OWN: release(""), **chart(config=CONFIG, **hooks, random=random)})
    found = [m for m in desired.payload if m.key.name == "hook"]
    assert [m.body["metadata"]["annotations"] for m in found] == [{"helm.sh/hook": "pre-install"}]
    assert [str(fault.severity) for fault in desired.faults] == ["warning"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ randAlphaNum 12 | quote }}",
        '{{ now | date "2006-01-02" | quote }}',
    ],
)
def test_what_is_something_else_each_time_is_refused_when_it_first_changes(releases: Releases, text: str) -> None:
    changing = CONFIG.replace('"{{ .Values.size }}"', text)
    desired = releases.read({**PLAIN, **chart(config=changing)})
    assert placed(desired) == []
    sentence = PayloadText.RENDERS_SOMETHING_ELSE_EACH_TIME(chart=CHART, named="ConfigMap/web-settings")
    (fault,) = faults(desired)
    assert fault.startswith(f"{OWN}:1: {sentence}")


@pytest.mark.parametrize(
    "text",
    [
        '{{ if false }}{{ now }}{{ end }}"now"',
        '{{ derivePassword 1 "long" "a" "b" "c" | quote }}',
        '{{ (lookup "v1" "Secret" "shop" "x") | len | quote }}',
    ],
)
def test_what_is_the_same_each_time_is_placed(releases: Releases, text: str) -> None:
    desired = releases.read({**PLAIN, **chart(config=CONFIG.replace('"{{ .Values.size }}"', text))})
    assert (faults(desired), placed(desired)) == ([], ["ConfigMap/shop/web-settings"])


SCHEMA = '{{"$schema": "{}", "type": "object", "properties": {{"size": {}}}}}'
DRAFT = "https://json-schema.org/draft/2020-12/schema"
DEPENDENCY = "dependencies: [{name: db, version: 0.1.0, repository: 'https://charts.example.com'}]\n"
MISTAKES: dict[str, tuple[Mapping[str, str | bytes | None], str]] = {
    "the chart is elsewhere": (
        {OWN: release().replace("web\n", "wbe\n")},
        f"{OWN}:5: spec.chart: ",
    ),
    "out of the repo": (
        {OWN: release().replace("../../charts/web", "../../../x")},
        f"{OWN}:5: spec.chart: {PayloadText.LEADS_OUT_REPO()}",
    ),
    "a URL": (
        {OWN: release().replace("../../charts/web", "oci://x.example/web")},
        PayloadText.NAMES_ONLY_FILES_REPO_BUILT(reference="oci://x.example/web"),
    ),
    "a values file that is not there": (
        {OWN: release("  valuesFiles: [x.yaml]\n")},
        (f"{OWN}:6: spec.valuesFiles: " + PayloadText.NAMES_NO_FILE_REPO(name="x.yaml", target=f"{APP}/x.yaml")),
    ),
    "a field that nobody knows": ({OWN: release("  valueFiles: [x.yaml]\n")}, f"{OWN}:6: spec.valueFiles: "),
    "Flux's kind": (
        {OWN: release().replace("gitfleet.dev/v1alpha1", "helm.toolkit.fluxcd.io/v2")},
        f"{OWN}:1: {PayloadText.MUST_HOLD_ONE_OBJECT(api_version='gitfleet.dev/v1alpha1')}",
    ),
    "broken YAML": ({OWN: "kind: [\n"}, f"{OWN}:"),
    "a release name that is an option": (
        {OWN: release().replace("name: web", "name: --help")},
        f"{OWN}:3: metadata.name: {ApiText.MUST_LOWER_CASE_LETTERS(longest_name=53)}",
    ),
    "no namespace": (
        {OWN: release().replace(", namespace: shop", "")},
        f"{OWN}:3: {PayloadText.RELEASE_NEEDS_NAMESPACE()}",
    ),
    "a version that is an option": (
        {OWN: release("  kubeVersion: --debug\n")},
        f"{OWN}:6: spec.kubeVersion: must be a version such as 1.36",
    ),
    "a dependency that is not in charts/": (
        {f"{CHART}/Chart.yaml": f"apiVersion: v2\nname: web\nversion: 0.1.0\n{DEPENDENCY}"},
        "missing in charts/ directory: db",
    ),
    "a template that is broken": (chart(config="{{ if }}"), "parse error at (web/templates/config.yaml:1)"),
    "a key that stands twice": (chart(config=f"{CONFIG}data: {{}}\n"), f"{OWN}:1: helm's output: "),
    "values that the schema refuses": (
        {f"{CHART}/values.schema.json": SCHEMA.format(DRAFT, '{"type": "integer"}')},
        "at '/size': got string, want integer",
    ),
    "a schema that refers to a file": (
        {f"{CHART}/values.schema.json": SCHEMA.format(DRAFT, '{"$ref": "file:///etc/passwd"}')},
        PayloadText.REFERS_NOTHING_FETCHED(path="values.schema.json", value="file:///etc/passwd"),
    ),
    "a schema that refers to a URL": (
        {
            f"{CHART}/charts/db/values.schema.json": SCHEMA.format(DRAFT, '{"$dynamicRef": "http://x.example/s"}'),
            **chart(f"{CHART}/charts/db"),
        },
        PayloadText.REFERS_NOTHING_FETCHED(path="charts/db/values.schema.json", value="http://x.example/s"),
    ),
    "a schema of another sort": (
        {f"{CHART}/values.schema.json": SCHEMA.format("http://x.example/meta", "{}")},
        PayloadText.SCHEMA_USE_ONE_JSON_SCHEMA(path="values.schema.json", value="http://x.example/meta"),
    ),
    "an archive that is none": (
        {f"{CHART}/charts/db-1.tgz": b"nothing"},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-1.tgz"),
    ),
    "an archive with a link": (
        {f"{CHART}/charts/db-1.tgz": packaged({"db/Chart.yaml": "x"}, link="/etc/passwd")},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-1.tgz"),
    ),
    "an archive that leads elsewhere": (
        {f"{CHART}/charts/db-1.tgz": packaged({"../../x/Chart.yaml": "x"})},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-1.tgz"),
    ),
    "a values file that is encrypted": (
        {
            OWN: release("  valuesFiles: [e.yaml]\n"),
            f"{APP}/e.yaml": "password: ENC[AES256_GCM,data:x]\nsops: {mac: 'ENC[x]', version: 3.13.3}\n",
        },
        PayloadText.ENCRYPTED_SOPS_NOTHING_DECRYPTED_HELM(encrypted=f"{APP}/e.yaml"),
    ),
    "archives that grow together": (
        {f"{CHART}/charts/db-{n}.tgz": packaged({f"db{n}/big": "0" * (30 << 20)}) for n in range(3)},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-2.tgz"),
    ),
    "an archive whose header grows": (
        {f"{CHART}/charts/db-1.tgz": long_header()},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-1.tgz"),
    ),
    "an archive that is cut off": (
        {f"{CHART}/charts/db-1.tgz": packaged({"db/Chart.yaml": "x" * 9000})[:-20]},
        PayloadText.NO_ARCHIVE_READ(path="charts/db-1.tgz"),
    ),
    "a kustomization beside it": (
        {f"{APP}/kustomization.yaml": "resources: []\n"},
        "gitfleet-helm.yaml",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_error_with_its_place_in_the_same_words_each_time(releases: Releases, mistake: str) -> None:
    files, said = MISTAKES[mistake]
    found = faults(releases.read({**PLAIN, **files}))
    assert len(found) == 1
    assert said in found[0]
    assert not any(part in found[0] for part in ("/tmp", "gitfleet-helm-", "values/0.yaml", "tree/"))
    again = Releases()
    assert faults(again.read({**PLAIN, **files})) == found


@pytest.mark.parametrize(
    ("values", "template", "is_shown"),
    [
        ("password: hunter2hunter2", '{{ fail (printf "bad %s" .Values.password) }}', False),
        ("db: {token: {value: hunter2hunter2}}", '{{ fail (printf "bad %s" .Values.db.token.value) }}', False),
        ("plain: hunter2hunter2", 'kind: Secret\nx: {{ fail (printf "bad %s" .Values.plain) }}', False),
        ("plain: visible", '{{ fail (printf "bad %s" .Values.plain) }}', True),
    ],
)
def test_a_secret_value_in_helm_s_words_is_not_shown(
    releases: Releases, values: str, template: str, is_shown: bool
) -> None:
    given = "\n".join(f"    {line}" for line in values.splitlines())
    desired = releases.read({**PLAIN, OWN: release(f"  values:\n{given}\n"), **chart(config=template)})
    (found,) = faults(desired)
    assert "hunter2" not in found
    assert ("bad visible" in found) == is_shown
    assert (PayloadText.CANNOT_BUILT_HELM_SAYS_NOT() in found) != is_shown


def test_a_link_in_a_chart_is_refused(releases: Releases) -> None:
    releases.read({**PLAIN})
    commit = releases.repo.put_entry("main", f"{CHART}/templates/x.yaml", "120000", b"/etc/passwd", MOMENT)
    found = faults(releases.trees.at(commit, FleetState()))
    assert (
        f"{OWN}:5: spec.chart: " + PayloadText.NAMES_WHERE_NO_FILE(chart=CHART, linked=f"{CHART}/templates/x.yaml")
    ) in found


def test_a_subchart_is_rendered_from_its_archive_under_the_same_rules(releases: Releases) -> None:
    inner = {path.removeprefix("x/"): text for path, text in chart("x/db", config=CONFIG).items()}
    deep = packaged({**inner, "db/values.schema.json": SCHEMA.format(DRAFT, '{"type": "string"}')})
    own = {f"{CHART}/Chart.yaml": f"apiVersion: v2\nname: web\nversion: 0.1.0\n{DEPENDENCY}"}
    desired = releases.read({**PLAIN, **own, **chart_without_config(), f"{CHART}/charts/db-0.1.0.tgz": deep})
    assert (faults(desired), placed(desired)) == ([], ["ConfigMap/shop/web-settings"])
    refers = packaged({**inner, "db/values.schema.json": SCHEMA.format(DRAFT, '{"$ref": "x.json"}')})
    assert (
        PayloadText.REFERS_NOTHING_FETCHED(path="charts/db/values.schema.json", value="x.json")
        in faults(releases.read({f"{CHART}/charts/db-0.1.0.tgz": refers}))[0]
    )


def chart_without_config() -> dict[str, str | None]:
    return {f"{CHART}/templates/config.yaml": None}


def test_a_chart_is_not_read_file_by_file_wherever_it_lies(releases: Releases) -> None:
    more = {
        f"{CHART}/crds/x.yaml": CRD.replace("SCOPE", "Cluster"),
        f"{CHART}/templates/broken.yaml": "{{ if true }}{{ end }}\n",
    }
    desired = releases.read({**PLAIN, **more})
    assert faults(desired) == []
    assert [path for path in (manifest.origin.path for manifest in desired.payload) if "charts/" in path] == []


def test_a_chart_of_the_payload_that_nothing_renders_is_one_error(releases: Releases) -> None:
    desired = releases.read({**PLAIN, **chart("resources/unused", config=CONFIG)})
    sentence = PayloadText.HELM_CHART_NOTHING_RENDERS(
        helm_release_file="gitfleet-helm.yaml", ignore_file=".gitfleetignore"
    )
    assert faults(desired) == [f"resources/unused/Chart.yaml:1: {sentence}"]
    used = releases.read({OWN: release().replace("../../charts/web", "../unused")})
    assert (faults(used), placed(used)) == ([], ["ConfigMap/shop/web-settings"])


def test_only_a_change_of_what_was_read_costs_renderings(releases: Releases) -> None:
    asked = releases.renderer.asked
    releases.read({**PLAIN})
    assert len(asked) == 2
    releases.read({"resources/other.yaml": "", f"{APP}/README.md": "x"})
    assert len(asked) == 2
    releases.read({f"{CHART}/values.yaml": "size: large\n"})
    assert len(asked) == 4
    releases.read({f"{CHART}/values.yaml": "size: small\n"})
    assert len(asked) == 4, "two trees are kept"


@pytest.mark.parametrize(
    "path", [OWN, f"{APP}/more.yaml", f"{CHART}/values.yaml", f"{CHART}/files/x.txt", f"{CHART}/charts/db.tgz"]
)
def test_a_git_lfs_pointer_among_the_input_is_named(releases: Releases, path: str) -> None:
    files = {**PLAIN, OWN: release("  valuesFiles: [more.yaml]\n"), f"{APP}/more.yaml": "a: 1\n"}
    found = [fault for fault in releases.read({**files, path: POINTER}).faults if fault.severity == "error"]
    sentence = PayloadText.GIT_LFS_POINTER()
    own = [fault.message for fault in found if fault.path == OWN]
    assert own == [sentence if path == OWN else f"{path} {sentence}"]
    assert releases.renderer.asked == []
