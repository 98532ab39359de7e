"""What an API server would refuse in the payload that gitfleet reads, envelopes included: all of one object at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.desired.commits import read

SHOP = {"resources/shop.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trees.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Tree}, versions: [{name: v1, served: true, storage: true}]}
"""


def payload(kind: str, api_version: str = "v1", namespace: str = "shop", **parts: Any) -> str:
    """An object of one line for each part."""
    metadata = {"name": "a", **({"namespace": namespace} if namespace else {}), **parts.pop("metadata", {})}
    whole = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in whole.items())


def faults(text: str) -> list[str]:
    """The faults of a file as `line: field: sentence`."""
    found = read({**SHOP, "resources/crd.yaml": CRD, "resources/a.yaml": text}).faults
    assert all(fault.path == "resources/a.yaml" for fault in found), found
    return [f"{fault.line}: {fault.field}: {fault.message}" for fault in found]


STRING = "must be a string; put it in quotes"
BASE64 = "must be base64; encode it, or use stringData in a Secret and data in a ConfigMap"
KEY = "is no key that an API server takes: use letters, digits, -, _ and .; rename it"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (payload("ConfigMap", data={"a": 1, "b": "c", "d": [1], "e": None}), [
            f"4: data.a: {STRING}",
            "4: data.d: must be a string; correct it",
        ]),
        (payload("ConfigMap", binaryData={"a": "?"}), [f"4: binaryData.a: {BASE64}"]),
        (payload("ConfigMap", data={"a.b-c_D": "x", "a/b": "x", "..": "x", "...": "x"}), [
            f"4: data{key}: {KEY}" for key in ('[".."]', '["..."]', '["a/b"]')
        ]),
        (payload("Secret", stringData={"": "x"}), [f'4: stringData[""]: {KEY}']),
        (payload("Secret", data={"a": "hunter2hunter2!", "b": "aHVudGVyMg=="}), [f"4: data.a: {BASE64}"]),
        (payload("Secret", data="x", stringData={"p": True}), [
            "4: data: must be a mapping; correct it",
            f"5: stringData.p: {STRING}",
        ]),
        (payload("Secret", metadata={"labels": {"n": 1}}, data=[]), [
            f"3: metadata.labels.n: {STRING}",
            "4: data: must be a mapping; correct it",
        ]),
        (payload("Sceret", metadata={"annotations": "no"}), [
            "2: kind: is not a kind of the core group; did you mean Secret?",
            "3: metadata.annotations: must be a mapping of strings; correct it",
        ]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: oops\ndata: oops\n", [
            "3: metadata: must be a mapping with a name; add it",
            "4: data: must be a mapping; correct it",
        ]),
    ],
)  # fmt: skip
def test_fields_of_a_wrong_type(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


ANNOTATED = {"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}}
ROLE = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r%s}}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "cannot be read as objects: "),
        ("- 1", "object 1 must be an object; write apiVersion, kind and metadata"),
        ("{kind: A, metadata: {name: a}}", "object 1: apiVersion must be a string; correct it"),
        (ROLE % "", "object 1: metadata.namespace is required, since Role is a namespaced kind; add it"),
        (ROLE % ", namespace: bank", "object 1: metadata.namespace lies in namespace bank, not in the envelope's own"),
        (
            ROLE % ", namespace: shop"
            + "\n---\n{apiVersion: v1, kind: ConfigMp, metadata: {name: m, namespace: shop}}",
            "object 2: kind is not a kind of the core group; did you mean ConfigMap?",
        ),
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}",
            "object 1: metadata.name is a reserved namespace, which cannot be placed; name another",
        ),
        (
            "{apiVersion: example.com/v1, kind: Tree, metadata: {name: t, namespace: shop}}",
            "object 1: metadata.namespace does not go with Tree, which is a cluster-scoped kind; remove it",
        ),
        (
            "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, data: oops}",
            "object 1: data must be a mapping; correct it",
        ),
    ],
)
def test_the_texts_of_an_annotated_config_map_are_read_with_the_commit(text: str, sentence: str) -> None:
    (fault,) = faults(payload("ConfigMap", metadata=ANNOTATED, data={"x": text}))
    assert fault.startswith(f"4: data.x: {sentence}"), fault


def test_a_sound_envelope_of_either_kind_has_no_fault() -> None:
    role = ROLE % ", namespace: shop"
    assert faults(payload("ConfigMap", metadata=ANNOTATED, data={"x": role})) == []
    tree = {"apiVersion": "example.com/v1", "kind": "Tree", "metadata": {"name": "t"}}
    fleet = "placement.kubernetes-fleet.io/v1beta1"
    assert faults(payload("ClusterResourceEnvelope", fleet, "", data={"x": tree})) == []


def test_where_an_object_may_lie_holds_in_every_envelope() -> None:
    fleet = "placement.kubernetes-fleet.io/v1beta1"
    inner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "kube-system"}}
    assert faults(payload("ResourceEnvelope", fleet, data={"x": inner})) == [
        "4: data.x.metadata.namespace: lies in namespace kube-system, not in the envelope's own; correct it"
    ]
    assert faults(payload("ClusterResourceEnvelope", fleet, "", data={"x": inner})) == [
        (
            "4: data.x.metadata.namespace: lies in namespace kube-system, and only cluster-scoped objects may be "
            "wrapped here; correct it"
        )
    ]


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("PodDisruptionBudget", "policy/v1"),
        ("Deployment", "apps/v1"),
        ("Service", "v1"),
        ("NetworkPolicy", "networking.k8s.io/v1"),
    ],
)
@pytest.mark.parametrize("value", ["oops", "3", "[]", "true"])
def test_spec_and_status_of_a_built_in_kind_are_mappings(kind: str, version: str, value: str) -> None:
    head = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\n"
    assert faults(f"{head}spec: {value}\nstatus: {value}\n") == [
        "4: spec: must be a mapping; correct it",
        "5: status: must be a mapping; correct it",
    ]
    assert faults(f"{head}spec:\n") == []


def test_a_custom_kind_may_have_a_spec_of_any_type() -> None:
    tree = "apiVersion: example.com/v1\nkind: Tree\nmetadata: {name: t}\nspec: oops\n"
    assert faults(tree) == []
