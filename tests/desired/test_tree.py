"""What only shows when all files are seen together: doubles, scopes, overrides, budgets, ignored and hidden files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.objects import GroupKind
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.desired import SourceFile, read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from tests.desired.commits import faults_of, read, request_of, source_of

OVERRIDE = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourceOverride
metadata: {{name: {name}}}
spec:
  clusterResourceSelectors: [{{group: "", version: v1, kind: Namespace, name: {target}}}]
  policy: {{overrideRules: [{{clusterSelector: {{}}, overrideType: Delete}}]}}
"""
PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"


def override(name: str, target: str = "web") -> str:
    return OVERRIDE.format(name=name, target=target)


def errors_of(desired: Desired) -> list[Fault]:
    """Without the warnings that nothing has the names that the overrides are for."""
    return [fault for fault in desired.faults if fault.severity is Severity.ERROR]


def test_of_doubles_the_one_that_was_there_stays() -> None:
    known = read({"overrides/z.yaml": override("o")}).overrides[OverrideKey("", "o")]
    state = FleetState(overrides={known.key: (OverrideSnapshot(override=known, index=0, hash=""),)})
    desired = read({"overrides/a.yaml": override("o"), "overrides/z.yaml": override("o")}, accepted=state)
    assert [fault.path for fault in errors_of(desired)] == ["overrides/a.yaml"]
    assert [str(value.origin) for value in desired.overrides.values()] == ["overrides/z.yaml:1"]


@pytest.mark.parametrize("changed", [("placements/shop.yaml",), (), None], ids=["new copy", "later commit", "unknown"])
def test_a_copy_whose_name_was_not_changed_takes_nothing_over(changed: tuple[str, ...] | None) -> None:
    """Its selector differs: taken for the placement in force, it would delete what that one placed."""
    (known,) = read({"placements/web.yaml": PLACEMENT}).placements.values()
    stored = replace(known, origin=None)
    state = FleetState(placements={stored.key: PlacementRecord(placement=stored)})
    copy = PLACEMENT.replace("kind: Namespace, name: web", "kind: Namespace, name: shop")
    namespaces = "{apiVersion: v1, kind: Namespace, metadata: {name: web}}"
    files = {"placements/shop.yaml": copy, "placements/web.yaml": PLACEMENT, "resources/web.yaml": namespaces}
    desired = read_desired(replace(request_of(files, accepted=state), changed=changed))
    assert [str(fault) for fault in desired.faults] == [
        (
            "placements/shop.yaml:1: ClusterResourcePlacement/web: "
            + DesiredText.DEFINED_SECOND_TIME(origin="placements/web.yaml:1")
        )
    ]
    assert [str(placement.origin) for placement in desired.placements.values()] == ["placements/web.yaml:1"]


def test_a_resource_is_in_one_override() -> None:
    desired = read({"overrides/a.yaml": override("a"), "overrides/b.yaml": override("b")})
    assert [str(fault) for fault in errors_of(desired)] == [
        (
            "overrides/b.yaml:5: ClusterResourceOverride/b: spec.clusterResourceSelectors[0]: "
            + DesiredText.SELECTS_RESOURCE_ALREADY_OVERRIDES(taken="ClusterResourceOverride/a")
        )
    ]
    assert list(desired.overrides) == [OverrideKey("", "a")]


def test_there_are_at_most_a_hundred_overrides() -> None:
    files = {f"overrides/{number:03}.yaml": override(f"o-{number:03}", f"n-{number}") for number in range(102)}
    desired = read(files)
    assert len(desired.overrides) == 100
    assert [(fault.path, fault.line) for fault in errors_of(desired)] == [
        ("overrides/100.yaml", 1),
        ("overrides/101.yaml", 1),
    ]


def test_scopes_come_from_the_table_from_crds_and_from_what_is_written() -> None:
    desired = read(
        {
            "resources/wood.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: wood}}",
            "resources/a.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trees.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Tree}}
---
apiVersion: example.com/v1
kind: Tree
metadata: {name: oak, namespace: wood}
---
apiVersion: example.org/v1
kind: Leaf
metadata: {name: green, namespace: wood}
---
apiVersion: example.org/v1
kind: Leaf
metadata: {name: brown}
---
apiVersion: example.org/v1
kind: Root
metadata: {name: deep}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
""",
        }
    )
    assert [str(fault) for fault in desired.faults] == [
        (
            "resources/a.yaml:8: Tree/wood/oak: metadata.namespace: "
            + DesiredText.NOT_GO_CLUSTER_SCOPED_KIND(kind="Tree")
        ),
        (
            "resources/a.yaml:11: Leaf/wood/green: kind: "
            + DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(hint=DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS())
        ),
        (
            "resources/a.yaml:16: Leaf/brown: metadata.namespace: "
            + DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind="Leaf", folder_file=FOLDER_FILE)
        ),
        (
            "resources/a.yaml:19: Root/deep: kind: "
            + DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(hint=DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS())
        ),
        (
            "resources/a.yaml:24: Secret/s: metadata.namespace: "
            + DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind="Secret", folder_file=FOLDER_FILE)
        ),
    ]
    assert desired.namespaced == {
        GroupKind("", "Namespace"): False,
        GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): False,
        GroupKind("example.com", "Tree"): False,
        GroupKind("example.org", "Leaf"): True,
        GroupKind("example.org", "Root"): False,
    }


def test_selectors_are_for_kinds_of_the_placement_s_scope() -> None:
    selectors = PLACEMENT.replace("kind: Namespace, name: web", "kind: ConfigMap, name: web")
    namespaced = PLACEMENT.replace("Cluster", "").replace("{name: web}\nspec", "{name: web, namespace: x}\nspec")
    assert faults_of({"placements/a.yaml": selectors, "placements/b.yaml": namespaced}) == [
        (
            "placements/a.yaml:5: ClusterResourcePlacement/web: spec.resourceSelectors[0].kind: "
            + DesiredText.NAMESPACED_KIND_SELECT_NAMESPACE(selector="ConfigMap")
        ),
        (
            "placements/b.yaml:5: ResourcePlacement/x/web: spec.resourceSelectors[0].kind: "
            + DesiredText.CLUSTER_SCOPED_KIND(selector="Namespace")
        ),
    ]


def test_a_fleet_has_one_configuration() -> None:
    config = "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\nspec: {interval: 90s}\n"
    desired = read({"gitfleet.yaml": config, "other.yaml": config.replace("fleet}", "more}")})
    assert [str(fault) for fault in desired.faults] == [
        ("other.yaml:1: FleetConfig/more: " + DesiredText.SECOND_CONFIGURATION_BESIDE(origin="gitfleet.yaml"))
    ]
    assert desired.config.interval_seconds == 90.0


@pytest.mark.parametrize("kind", ["/../../../../EVIL", "A/B", "..", "A.b", "A b", "1A", "A%2f"])
def test_a_kind_that_no_kind_can_have_is_a_fault(kind: str) -> None:
    desired = read({"resources/a.yaml": CONFIG_MAP.replace("ConfigMap", f'"{kind}"')})
    (fault,) = desired.faults
    assert (fault.line, fault.field, desired.payload) == (2, "kind", ())
    assert fault.message == DesiredText.CANNOT_NAME_KIND()


@pytest.mark.parametrize("name", ["/../../evil", "..", ".", "a/b", "a%2f", "a\\0b", "a\\nb", "\\ud800", "x" * 254])
@pytest.mark.parametrize("field", ["name", "namespace"])
def test_a_name_that_no_object_can_have_is_a_fault(field: str, name: str) -> None:
    metadata = {"name": "a", "namespace": "default"} | {field: name}
    quoted = ", ".join(f'{key}: "{value}"' for key, value in metadata.items())
    desired = read({"resources/a.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{{quoted}}}\n"})
    assert desired.payload == ()
    assert {fault.line for fault in desired.faults} <= {1, 3}
    assert desired.faults


CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\n"
ENVELOPE = "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourceEnvelope\nmetadata: {name: e}\n"
WEB = "{apiVersion: v1, kind: Namespace, metadata: {name: web}}"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1, kind: Role"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        *((f"{CRD}spec: {value}\n", "spec") for value in ("text", "[]", "7")),
        *((f"{CRD}spec: {{names: {value}}}\n", "spec.names") for value in ("text", "[]", "7")),
        *((f"{CONFIG_MAP}data: {value}\n", "data") for value in ("text", "[]", "7")),
        *((f"{SECRET}{part}: hunter2\n", part) for part in ("data", "stringData")),
        *((f"{ENVELOPE}data: {value}\n", "data") for value in ("text", "[]", "7")),
        (f"{ENVELOPE}data: {{x: text}}\n", "data.x"),
        (f"{ENVELOPE}data: {{x: {{apiVersion: v1, kind: Node, metadata: x}}}}\n", "data.x.metadata"),
        (f"{ENVELOPE}data: {{x: {{apiVersion: v1, kind: A/B, metadata: {{name: a}}}}}}\n", "data.x.kind"),
        (f"{ENVELOPE}data: {{x: {{apiVersion: v1, kind: Node, metadata: {{name: ../a}}}}}}\n", "data.x.metadata.name"),
        (f"{ENVELOPE}data: {{x: {{{ROLE}, metadata: {{name: a}}}}}}\n", "data.x.metadata.namespace"),
        (
            f"{ENVELOPE}data: {{x: {{apiVersion: v1, kind: Namespace, metadata: {{name: kube-system}}}}}}\n",
            "data.x.metadata.name",
        ),
    ],
)
def test_what_gitfleet_looks_into_has_a_shape_that_it_can_read(text: str, field: str) -> None:
    desired = read({"resources/a.yaml": text})
    assert [(fault.line, fault.field) for fault in desired.faults] == [(4, field)]
    assert desired.payload == () and "hunter2" not in str(desired.faults)


@pytest.mark.parametrize(
    "envelope",
    [
        ENVELOPE + "data: {x: %s}\n",
        CONFIG_MAP.replace("default", "web, annotations: {kubernetes-fleet.io/envelope-configmap: 'true'}")
        + "data: {x: '%s'}\n",
    ],
)
def test_a_namespace_may_be_made_by_what_an_envelope_carries(envelope: str) -> None:
    files = {"resources/a.yaml": CONFIG_MAP.replace("default", "shop"), "resources/web.yaml": WEB}
    assert [fault.field for fault in read(files).faults] == ["metadata.namespace"]
    text = envelope % "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"
    assert read({**files, "resources/e.yaml": text}).faults == ()


def test_approvals_are_named_after_their_file_or_themselves() -> None:
    when = '"lastTransitionTime": "2026-01-01T00:00:00Z"'
    payload = f'{{"status": {{"conditions": [{{"type": "Approved", "status": "True", {when}}}]}}}}'
    request = (
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterApprovalRequest\nmetadata: {name: r-prod}\n"
        "spec: {parentStageRollout: r, targetStage: prod}\nstatus: {conditions: [{type: Approved, status: 'False'}]}\n"
    )
    desired = read(
        {"approvals/r-canary.json": payload, "approvals/shop/s-canary.yaml": payload, "approvals/x.yaml": request}
    )
    assert [fault.field for fault in desired.faults] == ["spec.parentStageRollout"]
    assert {
        str(key): [(c.type, c.status.value) for c in approval.conditions] for key, approval in desired.approvals.items()
    } == {
        "r-canary": [("Approved", "True")],
        "r-prod": [("Approved", "False")],
        "shop/s-canary": [("Approved", "True")],
    }


def test_bad_lines_of_the_ignore_file() -> None:
    assert faults_of({".gitfleetignore": "!\n" + "*a" * 251 + "\n# fine\n[z-a]\n" + "x\n" * 1002}) == [
        (".gitfleetignore:1: " + DesiredText.NOT_GITIGNORE_PATTERN(longest="500")),
        (".gitfleetignore:2: " + DesiredText.NOT_GITIGNORE_PATTERN(longest="500")),
        (".gitfleetignore:4: " + DesiredText.NOT_GITIGNORE_PATTERN(longest="500")),
        (".gitfleetignore:1005: " + DesiredText.MORE_RULES_NOT_READ(most_rules="1000")),
    ]


def test_kustomize_folders_are_built_not_read() -> None:
    request = request_of(
        {"resources/app/kustomization.yaml": "resources: [a.yaml]", "resources/app/deep/a.yaml": "a: ["}
    )
    unbuilt = read_desired(request)
    assert [str(fault) for fault in unbuilt.faults] == [
        ("resources/app/kustomization.yaml:1: " + DesiredText.FOLDER_NOT_BUILT(ignore_file=".gitfleetignore"))
    ]
    assert unbuilt.payload == ()
    built = read_desired(replace(request, built={"resources/app": source_of("", CONFIG_MAP)}))
    assert (built.faults, len(built.payload)) == ((), 1)


def test_a_file_read_before_is_not_read_again() -> None:
    request = request_of({"resources/a.yaml": CONFIG_MAP})
    source = request.files["resources/a.yaml"]
    reading = source.read("resources/a.yaml", request.contents)
    again = replace(request, files={"resources/a.yaml": SourceFile(blob=source.blob, reading=reading)})
    assert read_desired(again) == read_desired(request)


SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default, labels: {a: 5551234}, annotations: {b: [hunter2]}}
stringData: {password: hunter2}
---
apiVersion: v1
kind: Secret
metadata: hunter2
stringData: {password: hunter2}
---
apiVersion: v1
kind: Secret
stringData:
  password: hunter2
  password: hunter3
---
apiVersion: v1
kind: Secret
stringData:
  password: hunter2
 other: hunter2
"""


def test_no_message_has_a_secret_in_it() -> None:
    cluster = (
        "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {name: c}\n"
        "spec: {connection: {kubeconfig: {inline: hunter2, token: hunter2, file: [hunter2]}, context: {a: hunter2}}}\n"
    )
    faults = faults_of({"resources/s.yaml": SECRET, "clusters/c.yaml": cluster})
    assert len(faults) >= 8
    assert not [fault for fault in faults if "hunter" in fault or "5551234" in fault]


MEMBER = "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {name: c1}\nspec:\n  taints: []\n"


def test_outside_of_simulations_a_cluster_says_how_it_is_reached() -> None:
    path = "clusters/c1.yaml"
    assert faults_of({path: MEMBER}) == []
    desired = read_desired(replace(request_of({path: MEMBER}), simulated=False))
    assert [str(fault) for fault in desired.faults] == [
        ("clusters/c1.yaml:4: MemberCluster/c1: spec.connection: " + DesiredText.REQUIRED_ADD_CONTEXT())
    ]
    assert list(desired.clusters) == ["c1"]

    connected = MEMBER + "  connection: {context: c1}\n"
    before = read({path: connected})
    state = FleetState(clusters=before.clusters)
    edited = read_desired(
        replace(request_of({path: MEMBER}, before={path: connected}, accepted=state), simulated=False)
    )
    assert [fault.field for fault in edited.faults] == ["spec.connection"]
    assert edited.clusters == before.clusters, "the last good version stays"
