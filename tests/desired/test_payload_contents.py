"""What an API server would refuse in the payload that gitfleet reads, envelopes included: all of one object at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
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


STRING = ApiText.MUST_STRING_PUT_QUOTES()
BASE64 = DesiredText.MUST_BASE64_ENCODE()
KEY = DesiredText.NO_KEY_API_SERVER_TAKES()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (payload("ConfigMap", data={"a": 1, "b": "c", "d": [1], "e": None}), [
            f"4: data.a: {STRING}",
            f"4: data.d: {STRING}",
        ]),
        (payload("ConfigMap", binaryData={"a": "?"}), [f"4: binaryData.a: {BASE64}"]),
        (payload("ConfigMap", data={"a.b-c_D": "x", "a/b": "x", "..": "x", "...": "x"}), [
            f"4: data{key}: {KEY}" for key in ('[".."]', '["..."]', '["a/b"]')
        ]),
        (payload("Secret", data={"a": "hunter2hunter2!", "b": "aHVudGVyMg=="}), [f"4: data.a: {BASE64}"]),
        (payload("Secret", metadata={"labels": {"n": 1}}, data=[]), [
            f"3: metadata.labels.n: {STRING}",
            ("4: data: " + DesiredText.MUST_MAPPING_CORRECT()),
        ]),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: oops\ndata: oops\n", [
            ("3: metadata: " + DesiredText.MUST_MAPPING_NAME()),
            ("4: data: " + DesiredText.MUST_MAPPING_CORRECT()),
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
        ("a: [", DesiredText.CANNOT_READ_OBJECTS(unreadable="")),
        ("- 1", ("object 1 " + DesiredText.MUST_OBJECT_WRITE_APIVERSION())),
        (ROLE % "", ("object 1: metadata.namespace " + DesiredText.REQUIRED_SINCE_NAMESPACED_KIND(kind="Role"))),
        (
            ROLE % ", namespace: bank",
            ("object 1: metadata.namespace " + ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN(namespace="bank")),
        ),
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}",
            ("object 1: metadata.name " + DesiredText.RESERVED_NAMESPACE_CANNOT_PLACED()),
        ),
        (
            "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, data: oops}",
            ("object 1: data " + DesiredText.MUST_MAPPING_CORRECT()),
        ),
    ],
)
def test_the_texts_of_an_annotated_config_map_are_read_with_the_commit(text: str, sentence: str) -> None:
    (fault,) = faults(payload("ConfigMap", metadata=ANNOTATED, data={"x": text}))
    assert fault.startswith(f"4: data.x: {sentence}"), fault


def test_where_an_object_may_lie_holds_in_every_envelope() -> None:
    fleet = "placement.kubernetes-fleet.io/v1beta1"
    inner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "kube-system"}}
    for kind, namespace, code in (
        ("ResourceEnvelope", "shop", ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN),
        ("ClusterResourceEnvelope", "", ApiText.LIES_NAMESPACE_ONLY_CLUSTER_SCOPED),
    ):
        sentence = f"{code(namespace='kube-system')}; correct it"
        assert faults(payload(kind, fleet, namespace, data={"x": inner})) == [
            f"4: data.x.metadata.namespace: {sentence}"
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
        ("4: spec: " + DesiredText.MUST_MAPPING_CORRECT()),
        ("5: status: " + DesiredText.MUST_MAPPING_CORRECT()),
    ]
    assert faults(f"{head}spec:\n") == []
