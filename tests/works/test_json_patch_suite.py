"""The public JSON Patch test suite through overrides as people write them, and the seeds' own examples.

The document of a case is the `spec` of an object, and the paths of its patch begin there. Where an
override is narrower than RFC 6902, its file is refused: each such rule is a row of `NARROWER`, and no case fails
otherwise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from gitfleet.api import read
from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import Override, override_type
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.texts import ApiText
from gitfleet.desired import manifests_of, parse_file
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.snapshots import strip
from tests.texts import part
from tests.works.builders import WEST, bodies, manifest, obj, render

DATA: Final = Path(__file__).parents[1] / "data"
DOCUMENT: Final = {"apiVersion": "example.com/v1", "kind": "Document", "metadata": {"name": "case"}}
CASES: Final[list[Any]] = [
    pytest.param(case, id=f"{name}-{number}-{case.get('comment', '')}")
    for name in ("tests", "spec_tests")
    for number, case in enumerate(json.loads((DATA / "json-patch-tests" / f"{name}.json").read_text("utf-8")))
    if "patch" in case and not case.get("disabled")
]
NARROWER: Final = {
    "test, move and copy are no operations of KubeFleet's overrides": part(ApiText.MUST_ONE)
    + "'add', 'remove', 'replace'",
    "a rule that does nothing is a slip, as in KubeFleet": ApiText.NEEDS_LEAST_ONE_PATCH_OVERRIDETYPE(),
    "an empty key is a doubled or final slash, as in KubeFleet": ApiText.NO_PATH_OF_PATCH(),
    "an unknown field is a slip in every file": part(ApiText.NOT_KNOWN_FIELD),
}
"""Why a case that the suite lets pass is refused, with what the sentence says."""
NULL_PUT: Final = {"missing 'value' parameter to add": [1, None], "missing 'value' parameter to replace": [None]}
"""Cases that are to fail and pass, with a warning, and what comes out: a value that was left out is null, as in
KubeFleet."""


def written(patch: list[Any]) -> JsonObject:
    """An override of the object, with the patch beginning at its `spec`."""
    patches = [
        {**operation, **{p: f"/spec{operation[p]}" for p in ("path", "from") if _pointer(operation.get(p))}}
        for operation in patch
    ]
    selector = {"group": "example.com", "version": "v1", "kind": "Document", "name": "case"}
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": patches}
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourceOverride",
        "metadata": {"name": "suite"},
        "spec": {"clusterResourceSelectors": [selector], "policy": {"overrideRules": [rule]}},
    }


def _pointer(path: Any) -> bool:
    return path == "" or (isinstance(path, str) and path.startswith("/"))


def in_file(path: str) -> JsonObject:
    """The one document of an example of the seeds."""
    (document,) = parse_file(path, (DATA / "seeds" / path).read_bytes()).documents
    assert isinstance(document.value, dict)
    return document.value


def override_of(body: JsonObject) -> tuple[OverrideSnapshot | None, str]:
    """The snapshot of an override in a file, or what its reader says."""
    (document,) = parse_file("overrides/one.yaml", canonical_json(body)).documents
    value: Override | None
    value, breaks = read(override_type(body["metadata"].get("namespace", "")), document.value)
    if value is None:
        return None, "; ".join(sentence for _, sentence in breaks)
    return OverrideSnapshot(override=value, index=0, hash=""), ""


@pytest.mark.parametrize("case", CASES)
def test_a_case_of_the_suite(case: JsonObject) -> None:
    override, refused = override_of(written(case["patch"]))
    if override is None:
        assert "error" in case or any(text in refused for text in NARROWER.values()), refused
        return
    work = render([manifest({**DOCUMENT, "spec": case["doc"]})], [override])
    if "error" in case and case.get("comment") not in NULL_PUT:
        assert work.error is not None
        return
    expected = case["expected"] if "expected" in case else NULL_PUT[case["comment"]]
    (body,) = bodies(work)
    # As text: to Python, 1 is True.
    assert canonical_json(body["spec"]) == canonical_json(expected)


def test_each_rule_that_is_narrower_is_met_by_a_case() -> None:
    refused = [override_of(written(parameter.values[0]["patch"]))[1] for parameter in CASES]
    assert all(any(text in sentence for sentence in refused) for text in NARROWER.values())


@pytest.mark.parametrize(
    ("override", "annotations"),
    [
        ("003-11-override-namespace.yaml", {"cro-test-annotation": "cro-test-annotation-val"}),
        ("003-13-resource-override.yaml", {"ro-test-annotation": "ro-test-annotation-val"}),
    ],
)
def test_the_seeds_examples_give_what_the_seed_shows(override: str, annotations: dict[str, str]) -> None:
    path = "003-10-config-map.yaml"
    (exported,) = manifests_of(path, "", parse_file(path, (DATA / "seeds" / path).read_bytes()))
    config_map = strip(exported)
    snapshot, refused = override_of(in_file(override))
    assert (refused, snapshot is None) == ("", False)
    (body,) = bodies(render([config_map], [snapshot] if snapshot else []))
    shown = in_file("003-12-config-map-on-member.yaml")
    assert {part: body[part] for part in ("apiVersion", "kind", "data")} == {
        part: shown[part] for part in ("apiVersion", "kind", "data")
    }
    metadata = {part: shown["metadata"][part] for part in ("name", "namespace")}
    assert body["metadata"] == {**metadata, "annotations": annotations}


def test_the_seeds_label_names_the_cluster_where_the_rule_selects_it() -> None:
    snapshot, refused = override_of(in_file("003-09-override-labels.yaml"))
    assert (refused, snapshot is None) == ("", False)
    role = obj("rbac.authorization.k8s.io/v1", "ClusterRole", "secret-reader")
    prod = replace(WEST, labels={"env": "prod"})
    labels = [
        bodies(render([role], [snapshot] if snapshot else [], cluster))[0]["metadata"].get("labels")
        for cluster in (prod, WEST)
    ]
    assert labels == [{"cluster-name": "west"}, None]
