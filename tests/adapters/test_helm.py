"""The helm adapter: what the program is given, what it may do, and what it says when it cannot."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from gitfleet.adapters.helm import HelmProgram
from gitfleet.errors import BadInput, MissingPart
from gitfleet.ports.helm import Chart

CHART = Chart(
    release="web",
    namespace="shop",
    files={"Chart.yaml": b"apiVersion: v2\nname: web\nversion: 0.1.0\n"},
    values=(b"a: 1\n", b"b: 2\n"),
    kube_version="1.36.0",
    api_versions=("acme.example.com/v1",),
)


def with_template(text: str) -> Chart:
    return Chart(
        release="web", namespace="shop", files={**CHART.files, "templates/x.yaml": text.encode()}, kube_version="1.36.0"
    )


def test_the_arguments_are_fixed_and_the_environment_holds_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "helm"
    program.write_text(
        '#!/bin/sh\nfor a in "$@"; do echo "$a"; done\necho "env: $PATH $TOKEN $KUBECONFIG $HELM_PLUGINS"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("TOKEN", "KUBECONFIG", "HELM_PLUGINS"):
        monkeypatch.setenv(name, "hunter2")
    printed = HelmProgram().render(CHART).decode().splitlines()
    folder = printed[-2].removesuffix("/chart")
    assert "gitfleet-helm-" in folder
    assert [line.replace(folder, "TREE") for line in printed] == [
        "template", "--include-crds", "--namespace", "shop", "--kube-version", "1.36.0", "--values=TREE/values/0.yaml",
        "--values=TREE/values/1.yaml", "--api-versions=acme.example.com/v1", "--", "web", "TREE/chart",
        "env: /nonexistent   ",
    ]  # fmt: skip


def test_without_a_program_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="there is no helm where gitfleet runs; install it, or commit the rendered"):
        HelmProgram().render(CHART)


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's own")
def test_a_template_does_not_take_the_memory_of_the_machine(helm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{helm.parent}:/usr/bin:/bin")
    with pytest.raises(BadInput, match="helm needs more than 256 MiB of memory for it"):
        HelmProgram(memory=256 << 20).render(with_template('{{ repeat 400000000 "x" }}'))


@pytest.mark.parametrize(
    ("template", "answer"),
    [
        ('{{ getHostByName "localhost" | quote }}', b'""'),
        ('{{ lookup "v1" "Namespace" "" "" | toJson }}', b"{}"),
        ('{{ .Files.Get "/etc/hostname" | quote }}{{ .Files.Get "../values/0.yaml" | quote }}', b'""""'),
        ("{{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Capabilities.KubeVersion }}", b"true 1 v1.36.0"),
    ],
)
def test_a_template_sees_its_chart_and_nothing_else(
    helm: Path, monkeypatch: pytest.MonkeyPatch, template: str, answer: bytes
) -> None:
    monkeypatch.setenv("PATH", f"{helm.parent}:/usr/bin:/bin")
    output = HelmProgram().render(with_template(f"# {template}\na: 1\n"))
    assert b"# " + answer + b"\n" in output


@pytest.mark.parametrize("function", ['{{ env "HOME" }}', '{{ expandenv "$HOME" }}'])
def test_a_template_reads_no_environment(helm: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    monkeypatch.setenv("PATH", f"{helm.parent}:/usr/bin:/bin")
    with pytest.raises(BadInput, match="not defined"):
        HelmProgram().render(with_template(function))
