"""The kustomize adapter on the machine's own program: what it may do, and what it says when it cannot."""

from __future__ import annotations

import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.errors import BadInput, MissingPart, RetryLater

needs_program = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="there is neither kustomize nor kubectl"
)
BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
"""
FILES = {
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "base/web.yaml": BASE,
    "parts/replicas/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches: [{patch: '[{"op": "add", "path": "/spec/replicas", "value": 3}]', target: {kind: Deployment}}]
""",
    "prod/kustomization.yaml": """\
namespace: prod
namePrefix: p-
resources: [../base]
components: [../parts/replicas]
images: [{name: web, newTag: "2"}]
patches: [{path: patch.yaml}]
configMapGenerator:
- {name: settings, files: [app.conf, other=app.conf], literals: [colour=blue], envs: [app.env]}
secretGenerator:
- {name: password, literals: [key=hunter2]}
generatorOptions: {disableNameSuffixHash: true}
""",
    "prod/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {patched: 'yes'}}\n",
    "prod/app.conf": "a = 1\n",
    "prod/app.env": "SIZE=large\n",
}


def build(folder: str, files: dict[str, str], seconds: float = 60.0) -> list[dict[str, Any]]:
    output = KustomizeProgram(seconds=seconds).build(folder, {path: text.encode() for path, text in files.items()})
    return list(yaml.safe_load_all(output))


@needs_program
def test_overlays_components_patches_and_generators() -> None:
    documents = {str(document["kind"]): document for document in build("prod", FILES)}
    deployment, settings = documents["Deployment"], documents["ConfigMap"]
    assert deployment["metadata"] == {"name": "p-web", "namespace": "prod", "annotations": {"patched": "yes"}}
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
    assert settings["data"] == {"app.conf": "a = 1\n", "other": "a = 1\n", "colour": "blue", "SIZE": "large"}
    assert documents["Secret"]["metadata"] == {"name": "p-password", "namespace": "prod"}


@needs_program
@pytest.mark.parametrize(
    ("kustomization", "said"),
    [
        ("resources: [gone.yaml]\n", "gone.yaml"),
        ("resources: [../../../../../../../etc/hostname]\n", ""),
        ("nonsense: 1\n", "nonsense"),
        ("helmCharts: [{name: x, repo: 'https://charts.example.com', version: '1'}]\n", "enable-helm"),
        ("resources: ['https://git.example.com/r//b?ref=v1']\n", "127.0.0.1:9"),
        ("generators: [plugin.yaml]\n", ""),
        ("resources: [.]\n", ""),
    ],
)
def test_what_cannot_be_built_is_told_in_the_same_words_each_time(kustomization: str, said: str) -> None:
    function = "annotations: {config.kubernetes.io/function: 'exec: {path: ./x}'}"
    plugin = f"apiVersion: x/v1\nkind: X\nmetadata: {{name: x, {function}}}\n"
    files = {"k/kustomization.yaml": kustomization, "k/plugin.yaml": plugin, "k/x": "#!/bin/sh\n"}
    words = set()
    for _ in range(2):
        with pytest.raises(BadInput) as caught:
            build("k", files)
        words.add(str(caught.value))
    (sentence,) = words
    assert sentence.startswith("cannot be built, kustomize says: ")
    assert said in sentence
    assert not any(part in sentence for part in ("/tmp", "gitfleet-kustomize", "command failed", "run.go"))


@needs_program
def test_a_file_beside_the_folder_is_out_of_reach() -> None:
    with pytest.raises(BadInput, match="not in or below"):
        build("k", {"k/kustomization.yaml": "resources: [../x.yaml]\n", "x.yaml": BASE})


@needs_program
def test_a_folder_whose_name_looks_like_an_option() -> None:
    assert build("--help", {"--help/kustomization.yaml": "resources: [w.yaml]\n", "--help/w.yaml": BASE})


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only program on PATH is a `kustomize` that is this script."""
    path = folder / "kustomize"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def test_without_a_program_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="install one of them, or commit the built manifests"):
        build("k", {"k/kustomization.yaml": ""})


def test_kustomize_itself_comes_before_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, 'echo "args: $1 $2"; echo "env: $PATH $HOME"; echo "secret: $TOKEN"', monkeypatch)
    monkeypatch.setenv("TOKEN", "hunter2")
    output = KustomizeProgram().build("k", {"k/kustomization.yaml": b""}).decode()
    assert output.startswith("args: build --\nenv: /nonexistent ")
    assert output.endswith("secret: \n"), "the environment holds nothing of ours"


def test_a_build_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exec /bin/sleep 60", monkeypatch)
    with pytest.raises(RetryLater, match=r"it may take 0\.2 s at most"):
        build("k", {"k/kustomization.yaml": ""}, seconds=0.2)


def test_an_endless_output_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exec /bin/cat /dev/zero", monkeypatch)
    with pytest.raises(BadInput, match="prints more than 64 MiB"):
        build("k", {"k/kustomization.yaml": ""})


@needs_program
@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's own")
def test_generators_do_not_take_the_memory_of_the_machine() -> None:
    names = "".join(f"- {{name: c{number}, files: [big.txt]}}\n" for number in range(100))
    files = {"k/kustomization.yaml": f"configMapGenerator:\n{names}", "k/big.txt": "x" * (2 << 20)}
    with pytest.raises(BadInput, match="needs more than 128 MiB of memory"):
        KustomizeProgram(memory=128 << 20).build("k", {path: text.encode() for path, text in files.items()})
    assert build("prod", FILES)


def test_many_words_of_complaint_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "echo first >&2; printf 'Error: %01000d' 7 >&2; exit 1", monkeypatch)
    with pytest.raises(BadInput) as caught:
        build("k", {"k/kustomization.yaml": ""})
    assert str(caught.value) == f"cannot be built, kustomize says: {'0' * 500}"


@needs_program
def test_without_a_temporary_directory_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(MissingPart, match="kustomize needs a temporary directory: No such file") as caught:
        build("base", FILES)
    assert caught.value.hint == KubeText.SET_TMPDIR_FOLDER_WRITTEN()
