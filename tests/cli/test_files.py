"""Commands that write files: init, render, schema, demo."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import yaml

from gitfleet.api.texts import ApiText
from gitfleet.cli.init import layout_files
from gitfleet.cli.texts import CliText
from gitfleet.formats.yaml_reader import read_documents
from tests.cli.conftest import Shell, commit


def test_init_lays_out_what_works(gitfleet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = gitfleet("init", "my fleet")

    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (
        f"{CliText.FILES_NEXT(count=len(layout_files()), resolve=f'{tmp_path}/my fleet')}\n"
        "  cd 'my fleet'\n"
        f"{CliText.GIT_INIT_B_MAIN_GIT()}\n"
        f"{CliText.GITFLEET_PLAN_CLUSTERS_SIMULATED()}\n"
    )
    for path, content in layout_files():
        assert (tmp_path / "my fleet" / path).read_bytes() == content


def test_init_overwrites_nothing_unasked(gitfleet: Shell, tmp_path: Path) -> None:
    (tmp_path / "gitfleet.yaml").write_text("mine")
    ended = gitfleet("init", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (f"error: {CliText.ALREADY_HAS(resolve=tmp_path)}\nhint: {CliText.CHOOSE_ANOTHER_FOLDER()}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gitfleet.yaml"]
    forced = gitfleet("init", tmp_path, "--force")
    assert (forced.code, forced.err.splitlines()[0]) == (0, CliText.FILES_REPLACED(files="gitfleet.yaml"))
    assert gitfleet("init", tmp_path / "gitfleet.yaml" / "below").code == 1


def test_init_leaves_the_files_that_are_there(gitfleet: Shell, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "placements").mkdir()
    (tmp_path / "placements" / "web.yaml").symlink_to("nowhere")
    ended = gitfleet("init", tmp_path)

    assert ended.code == 0
    assert ended.err.splitlines()[:2] == [
        CliText.FILES_UNCHANGED(files="README.md and placements/web.yaml"),
        CliText.FILES_NEXT(count=len(layout_files()) - 2, resolve=tmp_path),
    ]
    assert (tmp_path / "README.md").read_text() == "mine"
    assert not (tmp_path / "placements" / "web.yaml").exists()
    assert all((tmp_path / path).is_file() for path, _ in layout_files() if path != "placements/web.yaml")


def test_render(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = gitfleet("render", fleet, "--out", out)

    files = sorted(str(path.relative_to(out)) for path in out.rglob("*.yaml"))
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (f"{len(files)}" + CliText.FILES_CLUSTERS(count="", count_2="4", out=out) + "\n")
    assert files[:4] == [
        "eu-north-1/monitoring/01-namespace_monitoring.yaml",
        "eu-north-1/monitoring/08-configmap_monitoring_probe-targets.yaml",
        "eu-north-1/monitoring/17-service_monitoring_probe.yaml",
        "eu-north-1/monitoring/22-deployment.apps_monitoring_probe.yaml",
    ]
    there, here = (
        yaml.safe_load(next((out / cluster / "web").glob("*_web-settings.yaml")).read_text())
        for cluster in ("us-east-1", "eu-west-1")
    )
    assert there["data"] == {"greeting": "Howdy from us-east-1"}
    assert here["data"] == {"greeting": "Hello from gitfleet"}


OVERRIDE = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourceOverride
metadata: {name: absent}
spec:
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy:
    overrideRules:
    - clusterSelector:
        clusterSelectorTerms: [{labelSelector: {matchLabels: {kubernetes-fleet.io/member-name: eu-west-1}}}]
      jsonPatchOverrides: [{op: remove, path: /metadata/labels/absent}]
"""


def test_what_cannot_be_rendered_does_not_keep_the_rest_from_being_written(
    gitfleet: Shell, fleet: Path, tmp_path: Path
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    gitfleet("render", fleet, "--out", whole)
    commit(fleet, {"overrides/absent.yaml": OVERRIDE})
    ended = gitfleet("render", fleet, "--out", out)

    (error,) = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert (ended.code, "web on eu-west-1: " in error, "/metadata/labels/absent" in error) == (1, True, True)
    written, before = ({str(path.relative_to(top)) for path in top.rglob("*.yaml")} for top in (out, whole))
    assert before - written == {path for path in before if path.startswith("eu-west-1/web/")} != set()


def test_rendered_texts_are_texts_to_kubernetes_too(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    texts = {"exponent": "1234e5", "yes": "y", "octal": "08", "n": "1_000", "script": "#!/bin/sh\nexit 0\n"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "texts", "namespace": "web"}}
    commit(fleet, {"resources/web/texts.yaml": json.dumps({**document, "data": texts})})
    assert gitfleet("render", fleet, "--out", out).code == 0
    (written,) = read_documents(next(out.glob("eu-west-1/web/*_texts.yaml")).read_bytes())
    assert written["data"] == texts


def test_render_twice_gives_the_same_bytes_and_needs_an_empty_folder(
    gitfleet: Shell, fleet: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        assert gitfleet("render", fleet, "--out", tmp_path / name).code == 0
    one, two = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.yaml")}
        for name in ("one", "two")
    )
    again = gitfleet("render", fleet, "--out", tmp_path / "one")

    assert one == two
    assert again.err.startswith(f"error: {tmp_path / 'one'}" + CliText.NOT_EMPTY_FOLDER(out="") + "\n")
    assert gitfleet("render", fleet, "--out", fleet / "README.md").code == 1


def test_no_name_leads_out_of_the_folder(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    hostile = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: "../../../../../escaped", namespace: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "system:..:x", namespace: web}
"""
    commit(fleet, {"resources/web/hostile.yaml": hostile})
    out = tmp_path / "a" / "b" / "c" / "out"
    assert gitfleet("render", fleet, "--out", out).code == 0

    assert not list(tmp_path.rglob("*escaped*"))
    assert all(out in path.parents for path in tmp_path.rglob("*-*.yaml") if fleet not in path.parents)


def test_schema(gitfleet: Shell) -> None:
    kinds = gitfleet("schema").out.split()
    document = json.loads(gitfleet("schema", "clusterresourceplacement").out)

    assert json.loads(gitfleet("schema", "-o", "json").out)["items"] == kinds
    assert {"ClusterResourcePlacement", "MemberCluster", "FleetConfig"} <= set(kinds)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert gitfleet("schema", "FletConfig").err == (
        f"error: {ApiText.NO_KIND(word='FletConfig')}\n"
        f"hint: {ApiText.GITFLEET_SCHEMA_LISTS_KINDS(meant=ApiText.YOU_MEAN(same_spelling='FleetConfig'))}\n"
    )


def test_demo(gitfleet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    first = gitfleet("demo")
    again = gitfleet("demo")

    assert first.code == again.code == 0
    assert "web: us-east-1 available\n" in first.out
    assert "## Placements: 2 complete, 0 not\n" in first.out
    commands = [line.strip() for line in first.err.splitlines() if line.startswith("  gitfleet ")]
    assert commands == [
        "gitfleet get crp -C .demo/fleet",
        "gitfleet explain web -C .demo/fleet",
        "gitfleet run --until-settled .demo/fleet --cache-dir .demo/cache",
    ]
    for command in commands:
        assert gitfleet(*command.split()[1:]).code == 0


def test_demo_deletes_nobody_elses_folder(gitfleet: Shell, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    ended = gitfleet("demo", "--dir", tmp_path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"error: {tmp_path}" + CliText.NOT_EMPTY_NOT_EARLIER_DEMO(directory="") + "\n")
    assert (tmp_path / "precious.txt").read_text() == "mine"
    assert gitfleet("demo", "--dir", tmp_path / "precious.txt").code == 1
