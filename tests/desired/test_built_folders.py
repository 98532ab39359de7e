"""Folders that kustomize or Helm builds: the files in them that nothing reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.desired import SourceFile, read_desired
from gitfleet.desired.reading.paths import built_folders
from gitfleet.desired.texts import DesiredText
from tests.desired.commits import request_of, source_of

RELEASE = "resources/web/gitfleet-helm.yaml"
OVERLAY = "resources/web/kustomization.yaml"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"


def test_of_several_build_files_the_first_sort_counts() -> None:
    names = ("kustomization.yaml", "kustomization.yml", "Kustomization", "gitfleet-helm.yaml", "Chart.yaml")
    paths = [f"resources/web/{name}" for name in names]
    for first in range(len(paths)):
        assert built_folders(paths[first:]) == {"resources/web": paths[first]}
        assert built_folders(sorted(paths[first:])) == {"resources/web": paths[first]}


@pytest.mark.parametrize(
    ("own", "others", "sources", "unread"),
    [
        (RELEASE, ["resources/web/ingress.yaml"], ["charts/web"], "ingress.yaml"),
        (RELEASE, ["resources/web/deep/a.json", "resources/web/b.yml"], ["charts/web"], "b.yml and deep/a.json"),
        (RELEASE, ["resources/web/README.md", "resources/web/.x.yaml"], ["charts/web"], ""),
        (RELEASE, ["resources/web/ingress.yaml"], [], ""),
        (OVERLAY, ["resources/web/ingress.yaml"], ["resources/web"], "ingress.yaml"),
        (OVERLAY, ["resources/web/old/kustomization.yaml"], ["resources/web"], "old/kustomization.yaml"),
        (
            OVERLAY,
            [f"resources/web/{n}.yaml" for n in range(5)],
            ["resources/web"],
            "0.yaml, 1.yaml, 2.yaml and 2 more",
        ),
    ],
)
def test_files_in_a_built_folder_that_nothing_reads_are_one_warning(
    own: str, others: list[str], sources: list[str], unread: str
) -> None:
    texts = {path: "ingress.yaml\n" if path.startswith(".git") else "x: 1\n" for path in others}
    made = replace(source_of("", CONFIG_MAP), sources=(own, *sources) if sources else ())
    nothing: dict[str, SourceFile] = {"resources/base": source_of("", "")}
    request = replace(request_of({own: "x: 1\n", **texts}), built={"resources/web": made, **nothing})
    message = DesiredText.FILES_FOLDER_NOT_READ(files=unread, ignore_file=".gitfleetignore")
    found = [fault for fault in read_desired(request).faults if fault.path == own]
    assert found == ([Fault(own, 1, "", "", message, Severity.WARNING)] if unread else [])
