"""What a kustomization may not say is refused with a sentence, and kustomize does not run."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import pytest

from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.formats.texts import FormatsText
from gitfleet.payload.kustomizations import read_kustomization, read_plugin_file
from gitfleet.payload.texts import PayloadText
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.branches.commits import MOMENT, config_map
from tests.payload.kustomizations import builds_with
from tests.payload.test_kustomize import APP, Fleet
from tests.texts import part

URL = "http://127.0.0.1:8080/x"
FIELD_WRITE = PayloadText.FIELD_WRITE
FETCHED = part(PayloadText.NAMES_ONLY_FILES_REPO_BUILT)
BRACES = part(PayloadText.NAMES_PATH_NO_BRACES)
PLUGIN = "apiVersion: builtin\\nkind: PatchTransformer\\nmetadata: {name: x}\\n"


def unknown(key: str, hint: str = "remove it") -> str:
    return PayloadText.FIELD_KUSTOMIZE_NOT_KNOW(unknown=key, hint=hint)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"Resources: ['{URL}']", unknown("Resources", FormatsText.YOU_MEAN(near="resources"))),
        (f"patches: [{{Path: '{URL}'}}]", unknown("Path", FormatsText.YOU_MEAN(near="path"))),
        (f"openapi: {{Path: '{URL}'}}", PayloadText.CANNOT_BUILT_NOTHING_ELSE(key="openapi", fields="path")),
        (f"remotes: ['{URL}']", unknown("remotes")),
        ("secretGenerator: [{name: x, url: y}]", unknown("url")),
        (f"resources: ['{URL}']", FETCHED),
        ("resources: ['HTTP:x']", FETCHED),
        ("resources: ['github.com/o/r']", FETCHED),
        ("resources: ['git@127.0.0.1:o/r']", FETCHED),
        ("resources: ['a//b']", FETCHED),
        ("resources: ['a?ref=v1']", FETCHED),
        ("resources: ['a\\b']", FETCHED),
        (f"openapi: {{path: '{URL}'}}", FETCHED),
        (f"patches: [{{path: '{URL}'}}]", FETCHED),
        (f"replacements: [{{path: '{URL}'}}]", FETCHED),
        (f"resources: [!!binary {base64.b64encode(URL.encode()).decode()}]", FETCHED),
        (f"patchesStrategicMerge: ['{URL}/{{x}}']", BRACES),
        (f'transformers: ["{PLUGIN}"]', PayloadText.INLINE_NOT_USED(key="transformers")),
        ("helmCharts: here", PayloadText.CANNOT_BUILT_MUST_LIST(key="helmCharts", what="mappings")),
        ("helmCharts: [here]", PayloadText.CANNOT_BUILT_MUST_LIST(key="helmCharts", what="mappings")),
        (
            "helmGlobals: {name: x}",
            part(PayloadText.CANNOT_BUILT_NOTHING_ELSE),
        ),
        ("patches: [here]", PayloadText.CANNOT_BUILT_MUST_LIST(key="patches", what="mappings")),
        ("openapi: here", PayloadText.CANNOT_BUILT_NOTHING_ELSE(key="openapi", fields="path")),
    ],
)
def test_refused_before_kustomize_runs(text: str, sentence: str) -> None:
    fleet = Fleet()
    found = fleet.push({f"{APP}/kustomization.yaml": text, f"{APP}/c.yaml": config_map("c")}).faults
    assert [(fault.path, sentence in fault.message) for fault in found] == [(f"{APP}/kustomization.yaml", True)], found
    assert fleet.builder.builds == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"kind: PatchTransformer\nPath: {URL}\n", FIELD_WRITE(key="Path", meant="path")),
        (f"kind: PatchStrategicMergeTransformer\npaths: ['{URL}/{{x}}']\n", BRACES),
        ("kind: GoPlugin\nname: x\n", PayloadText.KIND_NOT_USED_HERE()),
        (
            "kind: LabelTransformer\nmetadata: {annotations: {config.kubernetes.io/function: x}}\n",
            PayloadText.ASKS_FUNCTION_NO_FUNCTIONS_RUN(),
        ),
        (
            f"kind: LabelTransformer\n---\napiVersion: builtin\nkind: PatchTransformer\nPath: {URL}\n",
            FIELD_WRITE(key="Path", meant="path"),
        ),
    ],
)
@pytest.mark.parametrize("where", ["transformers", "generators", "validators"])
def test_plug_in_files_that_are_refused(text: str, sentence: str, where: str) -> None:
    fleet = Fleet()
    files: dict[str, str | None] = {
        f"{APP}/kustomization.yaml": f"{where}: [t.yaml]\n",
        f"{APP}/t.yaml": f"apiVersion: builtin\n{text}",
    }
    assert [sentence in fault.message for fault in fleet.push(files).faults] == [True]
    assert fleet.builder.builds == []


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: x/v1, kind: X}]\n",
        "a: [",
        "apiVersion: x/v1\nkind: X\n",
    ],
)
def test_a_file_that_is_no_configuration_of_a_built_in_plug_in(text: str) -> None:
    assert read_plugin_file(text.encode()).fault


def test_kustomize_is_given_the_values_that_were_checked() -> None:
    class Keeping:
        given: Mapping[str, bytes] = {}

        def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
            self.given = files
            return b""

    builder, repo = Keeping(), MemoryRepo()
    plugin = "kind: &k LabelTransformer\napiVersion: builtin\nlabels: {k: *k}\n"
    files = {
        f"{APP}/kustomization.yaml": "# text\nresources: [&x c.yaml]\ntransformers: [t.yaml]\nimages: [{name: *x}]\n",
        f"{APP}/t.yaml": plugin,
        f"{APP}/c.yaml": "# as it is\n" + config_map("c"),
    }
    trees = DesiredTrees(repo, MemoryCache(), Limits(), builds=builds_with(builder))
    assert trees.at(repo.commit_files("main", files, MOMENT), Fleet().state).faults == ()
    assert json.loads(builder.given[f"{APP}/kustomization.yaml"]) == {
        "resources": ["c.yaml"], "transformers": ["t.yaml"], "images": [{"name": "c.yaml"}],
    }  # fmt: skip
    expected = {"apiVersion": "builtin", "kind": "LabelTransformer", "labels": {"k": "LabelTransformer"}}
    assert json.loads(builder.given[f"{APP}/t.yaml"]) == expected
    assert builder.given[f"{APP}/c.yaml"].startswith(b"# as it is\n")


def test_every_field_of_a_kustomization_may_be_used() -> None:
    """The fields of kubernetes-sigs/kustomize api/types/kustomization.go, but for helm's."""
    lists = (
        "labels patchesStrategicMerge patchesJson6902 patches images imageTags replacements replicas vars resources "
        "components crds bases configMapGenerator secretGenerator configurations generators transformers validators "
        "buildMetadata"
    )
    texts = "apiVersion kind namePrefix nameSuffix namespace"
    mappings = "metadata openapi commonLabels commonAnnotations sortOptions generatorOptions"
    body = {
        **{key: [] for key in lists.split()},
        **dict.fromkeys(texts.split(), "x"),
        **{key: {} for key in mappings.split()},
    }
    assert read_kustomization(json.dumps(body).encode()).fault == ""
