"""Objects that carry others are unwrapped on the way to a cluster (decision D20)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api import envelopes
from gitfleet.api.bindings import ClusterContent
from gitfleet.api.envelopes import MAX_ENTRY_BYTES, is_envelope
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import JsonPatch
from gitfleet.api.placements import Placement
from gitfleet.api.placing_policy import USUAL_POLICY, KindPattern, PlacingPolicy, PlacingRule
from gitfleet.api.texts import ApiText
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import read_documents
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.works import WorksMemo, render_fleet, works_when_done
from gitfleet.works.texts import WorksText
from tests.works.builders import (
    EAST,
    NAMESPACE,
    SETTINGS,
    WEB,
    WEST,
    binding_of,
    bodies,
    content_for,
    obj,
    override,
    render,
    rule,
    snapshot,
)

FLEET = "placement.kubernetes-fleet.io/v1beta1"
ANNOTATED = {"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}}
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota, namespace: web}
spec: {hard: {pods: "4"}}
"""
HOOK = "apiVersion: v1\nkind: Hook\nmetadata: {name: hook}\nfailing: off\n"


def config(**data: str) -> Manifest:
    return obj("v1", "ConfigMap", "wrapper", "web", metadata=ANNOTATED, data=data)


def test_an_annotated_config_map_is_unwrapped_in_its_place() -> None:
    work = render(
        (NAMESPACE, config(b=f"{QUOTA}---\n{HOOK}", a='{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}'))
    )
    assert [str(m.key) for m in work.manifests] == ["Namespace/web", "A/a", "ResourceQuota/web/quota", "Hook/hook"]
    assert work.manifests[3].body["failing"] is False
    assert work.manifests[2].origin.path == "ConfigMap/web/wrapper.yaml"
    assert work.manifests[0] is NAMESPACE


def test_an_ordinary_config_map_is_placed_as_it_is() -> None:
    assert render((SETTINGS,)).manifests == (SETTINGS,)


@pytest.mark.parametrize(
    ("value", "carries"),
    [
        *[(value, True) for value in ("true", "True", "yes", True)],
        *[(value, False) for value in ("false", "False", "", False, None)],
    ],
)
def test_what_the_annotation_says(value: Any, carries: bool) -> None:
    """Only where it stands on a ConfigMap of the core group."""
    metadata = {"annotations": {"kubernetes-fleet.io/envelope-configmap": value}}
    assert is_envelope(obj("v1", "ConfigMap", "e", "web", metadata=metadata)) is carries
    assert not is_envelope(obj("v1", "Secret", "e", "web", metadata=metadata))
    assert not is_envelope(obj("other.io/v1", "ConfigMap", "e", "web", metadata=metadata))


def envelope(kind: str, namespace: str, entry: Any) -> Manifest:
    return obj(FLEET, kind, "e", namespace, data={"x": entry})


def inside(namespace: str = "", name: str = "n") -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata}


def of(kind: str, namespace: str = "", name: str = "n") -> dict[str, Any]:
    return {**inside(namespace, name), "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}


KUBE_SYSTEM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}
RESERVED = ApiText.NAMESPACE_RESERVED_CANNOT_PLACED(key="kube-system")
NO_OBJECT = "x " + ApiText.NOT_OBJECT()
NO_OBJECTS: list[Any] = [
    "hunter2",
    {**inside("web"), "metadata": ["x"]},
    {**inside("web"), "kind": ["A"]},
    {**inside("web"), "apiVersion": 1},
    {**inside("web"), "kind": "/../A"},
    inside("web", ""),
    inside("web", "/../../evil"),
    inside("../web"),
    {**inside(), "metadata": {"name": "a", "namespace": "web", "labels": "x"}},
    {**inside(), "metadata": {"name": "a", "namespace": "web", "annotations": "x"}},
]


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (
            envelope("ClusterResourceEnvelope", "", inside("web")),
            f"x {ApiText.LIES_NAMESPACE_ONLY_CLUSTER_SCOPED(namespace='web')}",
        ),
        (envelope("ResourceEnvelope", "web", inside()), f"x {ApiText.NO_NAMESPACE_ONLY_OBJECTS_ENVELOPE()}"),
        (
            envelope("ResourceEnvelope", "web", inside("other")),
            ("x " + ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN(namespace="other")),
        ),
        *[(envelope("ResourceEnvelope", "web", entry), NO_OBJECT) for entry in NO_OBJECTS],
        *[(config(x=json.dumps(entry)), NO_OBJECT) for entry in NO_OBJECTS],
        (obj(FLEET, "ResourceEnvelope", "e", "web", data="text"), ApiText.DATA_NOT_MAPPING()),
        (obj("v1", "ConfigMap", "e", "web", metadata=ANNOTATED, data="hunter2"), ApiText.DATA_NOT_MAPPING()),
        (
            envelope("ResourceEnvelope", "web", of("ClusterRole", "web")),
            f"x is of ClusterRole, {ApiText.CLUSTER_SCOPED_KIND_NAMESPACE()}",
        ),
        (
            envelope("ClusterResourceEnvelope", "", of("Role")),
            ("x is of Role, " + ApiText.NAMESPACED_KIND_NO_NAMESPACE()),
        ),
        (envelope("ClusterResourceEnvelope", "", KUBE_SYSTEM), f"x {RESERVED}"),
        (config(x=json.dumps(KUBE_SYSTEM)), f"x {RESERVED}"),
        (config(x="a: ["), f"x: line 1: {FormatsText.YAML_CANNOT_READ.value.partition(chr(123))[0]}"),
        (config(x="a: &top [*top]"), f"x: line 1: {FormatsText.ANCHOR_CONTAINS_ALIAS_ITSELF()}"),
        (config(x="a: 1\na: 2"), f"x: line 2: {FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key='a')}"),
        (config(x="a: .inf"), f"x: line 1: {FormatsText.INFINITY_NOT_NUMBER_CANNOT_WRITTEN()}"),
        (
            config(x="x" * (MAX_ENTRY_BYTES + 1)),
            f"x: line 1: {FormatsText.BYTES_MORE_READ(count=MAX_ENTRY_BYTES + 1, limit=MAX_ENTRY_BYTES)}",
        ),
        (
            config(x=QUOTA.replace("namespace: web", "namespace: other")),
            f"x {ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN(namespace='other')}",
        ),
        (config(x="[" * 40_000), f"x: line 1: {FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth=200)}"),
    ],
)
def test_what_cannot_be_unwrapped_is_the_works_error(subject: Manifest, message: str) -> None:
    work = render((NAMESPACE, subject))
    assert work.manifests == ()
    assert work.error is not None
    assert work.unwrapped is False
    place = "/".join(filter(None, (subject.key.namespace, subject.key.name)))
    assert work.error.startswith(f"{subject.key.kind}" + ApiText.CANNOT_UNWRAPPED(key="", place=place, why=message))
    assert "hunter2" not in work.error


def test_an_object_in_an_envelope_and_beside_it_is_an_error() -> None:
    quota = obj("v1", "ResourceQuota", "quota", "web")
    twice = WorksText.PLACED_TWICE_SEARCH_ENVELOPES_BESIDE(manifest="ResourceQuota/web/quota")
    assert twice in (render((quota, config(x=QUOTA))).error or "")


def test_overrides_reach_into_envelopes() -> None:
    quota = obj("v1", "ResourceQuota", "quota", "web")
    change = override("ro", quota, rule(JsonPatch("replace", "/spec/hard/pods", "9")), ns="web")
    wrapped = config(x=QUOTA)
    broken = obj("v1", "ConfigMap", "broken", "web", metadata=ANNOTATED, data={"x": "a: ["})
    assert content_for(WEB, snapshot(broken, wrapped), [change], EAST) == ClusterContent((), ("web/ro-0",))
    assert bodies(render((wrapped,), [change]))[0]["spec"] == {"hard": {"pods": "9"}}


def test_overrides_of_the_envelope_itself_come_first() -> None:
    wrapped = config(x="not: an object of Kubernetes")
    mend = override("ro", wrapped, rule(JsonPatch("replace", "/data/x", QUOTA)), ns="web")
    assert content_for(WEB, snapshot(wrapped), [mend], EAST) == ClusterContent((), ("web/ro-0",))
    assert [str(m.key) for m in render((wrapped,), [mend]).manifests] == ["ResourceQuota/web/quota"]


def test_a_text_is_parsed_once_for_all_clusters_of_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def counted(text: bytes, *args: Any, **named: Any) -> Any:
        asked.append(text)
        return read_documents(text, *args, **named)

    monkeypatch.setattr(envelopes, "read_documents", counted)
    texts: envelopes.EnvelopeTexts = {}
    first, second = (envelopes.unwrap(config(b=QUOTA), texts) for _ in range(2))
    assert first == second and len(asked) == 1
    envelopes.unwrap(config(b=QUOTA), {})
    assert len(asked) == 2, "nothing is kept beyond what the caller holds"
    record = PlacementRecord(
        placement=Placement(key=WEB, selectors=()),
        bindings=(binding_of(EAST), binding_of(WEST)),
        resource_snapshots=(snapshot(config(b=QUOTA)),),
    )
    state = FleetState(placements={WEB: record}, clusters={"east": EAST, "west": WEST})
    works, _ = render_fleet(state, WorksMemo(), Failures())
    assert [len(work.manifests) for found in works.values() for work in found] == [1, 1]
    assert len(asked) == 3


ROLE_BINDING = of("ClusterRoleBinding")
DENYING = PlacingPolicy(deny=(PlacingRule(kinds=(KindPattern(kind="ClusterRoleBinding", group="*"),)),))
FOR_WEB = PlacingPolicy(deny=(replace(DENYING.deny[0], placements=("web",)),))
FOR_API = PlacingPolicy(deny=(replace(DENYING.deny[0], placements=("api",)),))
LETTING = PlacingPolicy(allow=(PlacingRule(namespaces=("kube-system",)),))
PLAIN = obj("v1", "ConfigMap", "wrapper", "web", data={"x": json.dumps(ROLE_BINDING)})
OTHER = JsonPatch("add", "/data/y", json.dumps(ROLE_BINDING))
MADE_ENVELOPE = JsonPatch("add", "/metadata/annotations", ANNOTATED["annotations"])
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "kubernetes", "namespace": "default"}}


@pytest.mark.parametrize(
    ("subject", "patch", "policy", "said"),
    [
        (config(x=QUOTA), OTHER, DENYING, f"kind {ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index=0)}"),
        (PLAIN, MADE_ENVELOPE, DENYING, f"kind {ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index=0)}"),
        (config(x=QUOTA), OTHER, FOR_WEB, f"kind {ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index=0)}"),
        (config(x=QUOTA), OTHER, FOR_API, ""),
        (config(x=QUOTA), OTHER, LETTING, ""),
        (config(x=json.dumps(ROLE_BINDING)), JsonPatch("add", "/metadata/labels", {"a": "b"}), DENYING, ""),
        (config(x=QUOTA), JsonPatch("add", "/data/y", json.dumps(KUBE_SYSTEM)), LETTING, f"y {RESERVED}"),
        (
            config(x=QUOTA),
            JsonPatch("add", "/data/y", QUOTA.replace(": web", ": kube-system")),
            LETTING,
            f"y {ApiText.LIES_NAMESPACE_NOT_ENVELOPE_OWN(namespace='kube-system')}",
        ),
        (
            obj("v1", "ConfigMap", "wrapper", "default", metadata=ANNOTATED, data={}),
            JsonPatch("add", "/data/y", json.dumps(SERVICE)),
            LETTING,
            f"name {ApiText.OBJECT_EACH_API_SERVER_MAKES()}",
        ),
    ],
)
def test_an_override_adds_nothing_to_an_envelope_that_may_not_be_placed(
    subject: Manifest, patch: JsonPatch, policy: PlacingPolicy, said: str
) -> None:
    """Decision D37. What lies in the envelope without the override was judged before, and stays."""
    change = override("ro", subject, rule(patch), ns=subject.key.namespace)
    work = render((subject,), [change], policy=policy)
    assert said in (work.error or "") and bool(said) is bool(work.error)
    assert bool(work.manifests) is not bool(said)


def test_a_policy_that_changed_renders_again_what_overrides_add() -> None:
    change = override("ro", config(x=QUOTA), rule(OTHER), ns="web")
    resources = snapshot(config(x=QUOTA))
    binding = replace(binding_of(EAST), resource_overrides=(change.reference,))
    record = PlacementRecord(
        placement=Placement(key=WEB, selectors=()), resource_snapshots=(resources,), bindings=(binding,)
    )
    state = FleetState(clusters={"east": EAST}, placements={WEB: record}, overrides={change.override.key: (change,)})
    memo, errors = WorksMemo(), []
    for policy in (LETTING, DENYING, USUAL_POLICY, DENYING):
        works, memo = render_fleet(state, memo, Failures(), policy)
        errors.append(bool(works["east"][0].error))
        assert bool(works_when_done(state, (change,), policy)["east"][0].error) is errors[-1]
    assert errors == [False, True, False, True]


def test_a_work_says_which_override_deleted_an_object_and_what_it_carries() -> None:
    gone, inside = config(x=QUOTA), obj("v1", "ResourceQuota", "quota", "web")
    cases = [
        (override("whole", gone, rule(delete=True), ns="web"), {gone.key.identity, inside.key.identity}),
        (override("inner", inside, rule(delete=True), ns="web"), {inside.key.identity}),
        (override("other", gone, rule(delete=True, region="us"), ns="web"), set()),
    ]
    for change, identities in cases:
        work = render((gone, SETTINGS), [change])
        assert work.deleted == dict.fromkeys(identities, change.override.key)
        assert (gone.key.identity in identities or inside.key.identity in identities) == (len(work.manifests) == 1)
