"""What is allowed and does nothing, or hardly what is meant: a warning says so, and the object goes on."""

from __future__ import annotations

import pytest

from gitfleet.desired import read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from tests.builders import to_yaml
from tests.desired.commits import request_of
from tests.folders import FOLDER, PROD, REST, folder
from tests.texts import part

GROUP = "apiVersion: placement.kubernetes-fleet.io/v1beta1\n"
PLACEMENT = GROUP + "kind: ClusterResourcePlacement\nmetadata: {name: web}\nspec:\n  resourceSelectors:\n"
SELECTOR = "  - {group: '', version: v1, kind: Namespace, name: web}\n"
WEB = {"resources/web.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: web, labels: {}}}"}


def warnings(text: str) -> list[str]:
    """The warnings of a file, less the path and the object."""
    faults = read_desired(request_of({**WEB, "x/a.yaml": text})).faults
    assert all(fault.severity == "warning" for fault in faults), faults
    return [f"{fault.line}: {fault.field}: {fault.message}" for fault in faults]


def approving(conditions: str, kind: str = "ClusterApprovalRequest", metadata: str = "name: hold-web-1") -> str:
    """An approval of held removals."""
    return f"{GROUP}kind: {kind}\nmetadata: {{{metadata}}}\nstatus:\n  conditions: {conditions}\n"


def overriding(value: str, placement: str = "web") -> str:
    """A placement of `web`, and an override of it with a value."""
    rule = f"{{clusterSelector: {{}}, jsonPatchOverrides: [{{op: add, path: /metadata/labels/a, value: {value}}}]}}"
    return (
        f"{PLACEMENT}{SELECTOR}---\n{GROUP}kind: ClusterResourceOverride\nmetadata: {{name: o}}\nspec:\n"
        "  clusterResourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]\n"
        f"  placement: {{name: {placement}}}\n  policy:\n    overrideRules:\n    - {rule}\n"
    )


FIELD = "16: spec.policy.overrideRules[0].jsonPatchOverrides[0].value: "
VARIABLE = FIELD + (DesiredText.HOLDS_VARIABLE_NOT_EXIST_GOES())
NO_ANSWER = DesiredText.NO_CONDITION_ANSWERS_NOTHING(approved="Approved", condition='{type: Approved, status: "True"}')
NO_PLACEMENT = DesiredText.NAMES_NOT_REPO(kind="placement", hint=FormatsText.YOU_MEAN(near="web"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (overriding("x", "wbe"), [f"13: spec.placement.name: {NO_PLACEMENT}"]),
        (overriding("'${MEMBER-CLUSTER-NAME} ${MEMBER-CLUSTER-LABEL-KEY-example.com/a_b}'"), []),
        (overriding("'${MEMBER-CLUSTER-ANNOTATION-KEY-a/b} ${MEMBER-CLUSTER-PROPERTY-example.com/sku/a100}'"), []),
        (overriding("'${MEMBER-CLUSTER-PROPERTY-}'"), [VARIABLE]),
        (overriding("'$MEMBER-CLUSTER-NAME'"), [VARIABLE]),
        (overriding("'${MEMBER-CLUSTER-LABEL-region}'"), [VARIABLE]),
        (overriding("{a: ['${MEMBER-CLUSTER-NAME']}"), [VARIABLE]),
        (overriding("'${MEMBERSHIP} ${OTHER}'"), []),
    ],
)
def test_names_that_lead_nowhere(text: str, expected: list[str]) -> None:
    assert warnings(text) == expected


def overriding_scaler(version: str) -> str:
    """An autoscaler that is written in v2, and an override of it."""
    rule = "{clusterSelector: {}, jsonPatchOverrides: [{op: add, path: /spec/maxReplicas, value: 9}]}"
    return (
        f"{GROUP}kind: ResourceOverride\nmetadata: {{namespace: web, name: o}}\nspec:\n  resourceSelectors:\n"
        f"  - {{group: autoscaling, version: {version}, kind: HorizontalPodAutoscaler, name: web}}\n"
        f"  policy: {{overrideRules: [{rule}]}}\n---\n"
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {namespace: web, name: web}\n"
        "spec: {maxReplicas: 3}\n"
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v2", []),
        (
            "v1",
            [
                (
                    "6: spec.resourceSelectors[0].version: "
                    + DesiredText.OVERRIDES_NOTHING_SINCE_WRITTEN(key="HorizontalPodAutoscaler/web/web", version="v2")
                )
            ],
        ),
    ],
)
def test_an_override_is_for_one_version(version: str, expected: list[str]) -> None:
    assert warnings(overriding_scaler(version)) == expected


@pytest.mark.parametrize(
    "envelope",
    [
        f"{GROUP}kind: ClusterResourceEnvelope\nmetadata: {{name: e}}\ndata: {{x: %s}}\n",
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e, namespace: web, "
            "annotations: {kubernetes-fleet.io/envelope-configmap: 'true'}}\ndata: {x: '%s'}\n"
        ),
    ],
)
def test_an_override_may_be_of_a_custom_kind_that_only_an_envelope_holds(envelope: str) -> None:
    tree = "clusterResourceSelectors: [{group: t.example, version: v1, kind: Tree"
    text = overriding("x").replace("clusterResourceSelectors: [{group: '', version: v1, kind: Namespace", tree)
    assert tree in text
    inner = "{apiVersion: t.example/v1, kind: Tree, metadata: {name: web}}"
    assert warnings(f"{text}---\n{envelope % inner}") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (approving("[{type: Approved, status: 'True'}]"), []),
        (approving("[{type: approved, status: 'True'}]"), [f"5: status.conditions: {NO_ANSWER}"]),
        (approving("[]"), [f"5: status.conditions: {NO_ANSWER}"]),
        (
            approving("[{type: Approved, status: 'True'}]", "ApprovalRequest", "name: hold-web-1, namespace: a"),
            [("2: kind: " + DesiredText.ANSWERS_NO_HOLD())],
        ),
        (
            approving("[{type: approved, status: 'True'}]", metadata="name: run-canary"),
            [f"5: status.conditions: {NO_ANSWER}"],
        ),
        (approving("[]", metadata="name: run-canary"), []),
    ],
)
def test_an_approval_that_answers_nothing(text: str, expected: list[str]) -> None:
    assert warnings(text) == expected


@pytest.mark.parametrize(
    ("group", "kind", "metadata", "home"),
    [
        ("placement.kubernetes-fleet.io/v1", "ClusterResourcePlacement", "{name: web}", "placements/web.yaml"),
        ("placement.kubernetes-fleet.io/v1", "ResourcePlacement", "{name: a, namespace: db}", "placements/db/a.yaml"),
        ("placement.kubernetes-fleet.io/v1beta1", "ClusterApprovalRequest", "{name: hold-1}", "approvals/hold-1.yaml"),
        ("gitfleet.dev/v1alpha1", "FleetConfig", "{name: fleet}", "gitfleet.yaml"),
        ("placement.kubernetes-fleet.io/v1beta1", "ClusterResourceEnvelope", "{name: e}", None),
        ("example.com/v1", "MemberCluster", "{name: eu}", None),
    ],
)
def test_an_object_of_ours_among_the_payload(group: str, kind: str, metadata: str, home: str | None) -> None:
    text = f"apiVersion: {group}\nkind: {kind}\nmetadata: {metadata}\n"
    found = read_desired(request_of({"resources/a.yaml": text})).faults
    expected = [("resources/a.yaml", 2, DesiredText.READ_RESOURCE_PLACED(home=home), "warning")] if home else []
    kinds = [
        fault for fault in found if fault.field == "kind" and part(DesiredText.READ_RESOURCE_PLACED) in fault.message
    ]
    assert [(fault.path, fault.line, fault.message, fault.severity) for fault in kinds] == expected


HPA = (
    "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: web}\n"
    "spec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}}\n"
)
KEDA = (
    "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: web}\n"
    "spec: {scaleTargetRef: {name: NAME}, triggers: []}\n"
)
LEFT_ALONE = (
    "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"
    "spec: {ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]}\n"
)


def scaled(spec: str) -> str:
    """A Deployment with something in its spec."""
    template = "{metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: 'web:1'}]}}"
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: web}\n"
        f"spec: {{{spec}selector: {{matchLabels: {{a: b}}}}, template: {template}}}\n"
    )


@pytest.mark.parametrize(
    ("scaler", "name", "spec", "config", "kind"),
    [
        (HPA, "web", "replicas: 3, ", "", "HorizontalPodAutoscaler"),
        (KEDA, "web", "replicas: 3, ", "", "ScaledObject"),
        (HPA, "web", "", "", ""),
        (HPA, "web", "replicas: 3, ", LEFT_ALONE, ""),
    ],
)
def test_replicas_beside_an_autoscaler(scaler: str, name: str, spec: str, config: str, kind: str) -> None:
    files = {**WEB, "resources/app.yaml": scaled(spec) + scaler.replace("NAME", name)}
    faults = read_desired(request_of({**files, **({"gitfleet.yaml": config} if config else {})})).faults
    found = [fault for fault in faults if fault.field == "spec.replicas"]
    wanted = DesiredText.SET_BY_SCALER_TOO(scaler=f"{kind}/web/web")
    assert [(fault.severity, fault.line, fault.message) for fault in found] == (
        [("warning", 4, wanted)] if kind else []
    )


@pytest.mark.parametrize(
    ("workload", "scaler", "is_scaled"),
    [
        ("web/base", "web/prod", False),
        ("web/base", "web/base", True),
        ("web/base", "everywhere", True),
        ("everywhere", "web/base", True),
    ],
)
def test_replicas_beside_an_autoscaler_of_the_same_variant_only(workload: str, scaler: str, is_scaled: bool) -> None:
    path = f"resources/{workload}/web.yaml"
    files = {
        **WEB,
        f"resources/web/{FOLDER}": to_yaml(folder("web", ("prod", "prod", PROD), REST)),
        "resources/web/base/a.yaml": "",
        "resources/web/prod/a.yaml": "",
        path: scaled("replicas: 3, "),
        f"resources/{scaler}/hpa.yaml": HPA.replace("NAME", "web"),
    }
    faults = read_desired(request_of(files)).faults
    assert [fault.path for fault in faults if fault.field == "spec.replicas"] == [path] * is_scaled


@pytest.mark.parametrize(
    ("api_version", "kind", "meant"),
    [
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease", None),
        ("argoproj.io/v1alpha1", "Rollout", None),
        ("app.example.com/v1", "Deployment", "Deployment.apps"),
        ("gitfleet.dv/v1alpha1", "Freeze", "Freeze.gitfleet.dev"),
    ],
)
def test_a_kind_of_another_group_is_meant_only_where_that_is_likely(
    api_version: str, kind: str, meant: str | None
) -> None:
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: one, namespace: web}}\n"
    (fault,) = read_desired(request_of({**WEB, "resources/one.yaml": text})).faults
    hint = FormatsText.YOU_MEAN(near=meant) if meant else DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS()
    assert fault.message == DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(hint=hint)
