"""What `get` and `describe` print: KubeFleet's columns, kubectl's ages and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from gitfleet.api import write
from gitfleet.api.bindings import binding_name
from gitfleet.api.clusters import silent_from
from gitfleet.api.conditions import Conditions, Status
from gitfleet.api.freeze_files import Freeze, FreezeRules
from gitfleet.api.holds import Hold, HoldReason, HoldRule
from gitfleet.api.objects import JsonObject, JsonValue, Manifest, ObjectKey, Origin
from gitfleet.api.overrides import ClusterResourceOverride, JsonPatch, OverriddenResource, OverrideKey, OverrideRule
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord, RunStatus
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot
from gitfleet.api.staged import SNAPSHOT_INDEX, Eviction
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.masking import MASK
from gitfleet.model.state import FleetState
from gitfleet.rollout import evict_nothing
from gitfleet.state import StateReader
from gitfleet.views.description import describe_lines
from gitfleet.views.kinds import kinds, objects_of, table_of
from gitfleet.views.shown import shown_object
from gitfleet.views.tables import age
from gitfleet.views.texts import ViewsText
from tests.state.builders import (
    COMMIT,
    CONFIG,
    HOLD,
    NAMESPACE,
    T0,
    TreeSource,
    binding,
    composed,
    put,
    reader_of,
    record,
    small_fleet,
    with_record,
)
from tests.workload_records import idle, rollout_record

FILE = b"""\
{apiVersion: v1, kind: Namespace, metadata: {name: web, uid: u-1}, status: {phase: Active}}
---
{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: web}, data: {password: c2VjcmV0}}
"""
SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
BARE = {"type": "Progressing", "status": "True", "reason": "Started", "lastTransitionTime": "2026-01-01T00:00:00Z"}
WEB = PlacementKey("", "web")
CART = PlacementKey("shop", "cart")
SIMILAR = (PlacementKey("", "we"), PlacementKey("", "web-0"), PlacementKey("shop", "web2"), PlacementKey("", "cart2"))
NOW = T0 + timedelta(minutes=5, seconds=3)


def fleet() -> FleetState:
    """The small fleet, a namespaced placement, an override with two snapshots and an eviction."""
    base = small_fleet()
    override = ClusterResourceOverride(
        key=OverrideKey("", "cro"),
        resources=(OverriddenResource("apps", "v1", "Deployment", "web"),),
        rules=(OverrideRule(cluster_terms=(), patches=(JsonPatch("remove", "/spec"),)),),
    )
    digest = digest_of(write(override)["spec"])
    snapshots = tuple(OverrideSnapshot(override=override, index=index, hash=digest) for index in (0, 1))
    cart = record("cart", binding(CART, "eu-1"), namespace="shop")
    drain = evict_nothing([Eviction(name="drain", placement_name="shop", cluster_name="eu-1")], NOW)[0]
    run = RunRecord(
        key=NamespacedName("", "go"),
        placement_name="web",
        strategy_name="slow",
        created=T0,
        status=RunStatus(policy_snapshot_index_used="0", resource_snapshot_index_used="1"),
    )
    request = ApprovalRequest(
        key=NamespacedName("", "go-canary"),
        parent_run="go",
        target_stage="canary",
        created=T0,
        annotations={SNAPSHOT_INDEX: "1"},
    )
    return replace(
        base,
        placements={**base.placements, CART: cart},
        overrides={override.key: snapshots},
        freezes=FreezeRules(freezes=(Freeze(name="friday", reason="no changes", owner="ops", until=NOW),)),
        evictions={drain.name: drain},
        quarantines={"bad": Quarantine(name="bad", placement=PlacementKey("", "web"), digest="0" * 64)},
        runs={run.key: run},
        approvals={request.key: request},
        rollouts={NamespacedName("shop", "web"): rollout_record(idle("eu-1"))},
    )


@pytest.mark.parametrize(
    ("kind", "columns", "rows"),
    [
        (
            "placements",
            ("NAMESPACE", "NAME", "GEN", "SCHEDULED", "AVAILABLE", "CLUSTERS", "SNAPSHOT", "AGE", "WAITING"),
            [
                ("", "web", "1", "True", "False", "1/2", "0", "5m3s", "1 hold"),
                ("shop", "cart", "1", "True", "True", "1/1", "0", "5m3s", "<none>"),
            ],
        ),
        (
            "mc",
            ("NAME", "JOINED", "STATE", "AGE", "NODE-COUNT", "AVAILABLE-CPU"),
            [
                ("eu-1", "True", "healthy", "5m3s", "2", "2"),
                ("eu-2", "True", "healthy", "5m3s", "2", "2"),
                ("us-1", "True", "unhealthy", "5m3s", "2", "2"),
            ],
        ),
        (
            "snapshots",
            ("NAMESPACE", "NAME", "INDEX", "LATEST", "RESOURCES", "COMMIT", "AGE"),
            [
                ("", "web-0-snapshot", "0", "true", "2", "4b825dc642cb", "5m3s"),
                ("shop", "cart-0-snapshot", "0", "true", "2", "4b825dc642cb", "5m3s"),
            ],
        ),
        (
            "crp",
            ("NAME", "GEN", "SCHEDULED", "AVAILABLE", "CLUSTERS", "SNAPSHOT", "AGE", "WAITING"),
            [("web", "1", "True", "False", "1/2", "0", "5m3s", "1 hold")],
        ),
        (
            "rp",
            ("NAMESPACE", "NAME", "GEN", "SCHEDULED", "AVAILABLE", "CLUSTERS", "SNAPSHOT", "AGE", "WAITING"),
            [("shop", "cart", "1", "True", "True", "1/1", "0", "5m3s", "<none>")],
        ),
        (
            "policies",
            ("NAMESPACE", "NAME", "PLACEMENT", "INDEX", "LATEST", "TYPE"),
            [("", "web-0", "web", "0", "true", "PickN"), ("shop", "cart-0", "cart", "0", "true", "PickAll")],
        ),
        (
            "csur",  # the columns of seed 002
            ("NAME", "PLACEMENT", "RESOURCE-SNAPSHOT", "POLICY-SNAPSHOT", "INITIALIZED", "SUCCEEDED", "AGE"),
            [("go", "web", "1", "0", "", "", "5m3s")],
        ),
        (
            "clusterapprovalrequest",
            ("NAME", "UPDATE-RUN", "STAGE", "APPROVED", "APPROVALACCEPTED", "AGE"),
            [("go-canary", "go", "canary", "", "", "5m3s")],
        ),
        (
            "ClusterResourceOverrides",
            ("NAME", "INDEX", "LATEST", "RULES", "RESOURCES"),
            [("cro-0", "0", "false", "1", "Deployment/web"), ("cro-1", "1", "true", "1", "Deployment/web")],
        ),
    ],
)
def test_tables(kind: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = table_of(kind, reader_of(fleet()), now=NOW)

    assert (table.columns, list(table.rows)) == (columns, rows)


def held_by(hold: Hold) -> list[str]:
    """What tables say of a hold: of the placement and of its run, and whether it is listed."""
    state = reader_of(replace(fleet(), holds={hold.name: hold}))
    last = (table_of(kind, state, now=NOW, wide=True).rows[0][-1] for kind in ("crp", "csur"))
    return [*last, str(len(table_of("holds", state, now=NOW).rows))]


def test_what_waits_is_named_and_what_was_let_go_is_not() -> None:
    assert held_by(HOLD) == [HOLD.name, HOLD.name, "1"]
    assert held_by(replace(HOLD, reasons=())) == ["<none>", "<none>", "0"]
    restored = replace(
        HOLD, name="hold-state-0", removals=(), reasons=(HoldReason(rule=HoldRule.STATE_RESTORED, message="x"),)
    )
    assert held_by(restored) == ["hold-state-0", "hold-state-0", "1"], "it holds all removals of the fleet"


def test_the_table_of_bindings() -> None:
    table = table_of("bindings", reader_of(small_fleet()), now=NOW)

    assert table.columns == ("NAME", "STATE", "SNAPSHOT", "AVAILABLE", "AGE")
    assert [row[1:] for row in table.rows] == [("Bound", "0", "True", "5m3s"), ("Bound", "0", "False", "5m3s")]


@pytest.mark.parametrize("status", [Status.FALSE, Status.UNKNOWN])
def test_what_comes_after_a_step_that_is_not_done_has_its_status(status: Status) -> None:
    """KubeFleet sets no condition after the first that is not True."""
    base = small_fleet()
    web = base.placements[WEB]

    def stopped(conditions: Conditions, prefix: str = "") -> Conditions:
        until = [c for c in conditions if c.type != f"{prefix}Available"]
        return tuple(replace(c, status=status) if c.type == f"{prefix}Applied" else c for c in until)

    bindings = tuple(replace(one, conditions=stopped(one.conditions)) for one in web.bindings)
    web = replace(web, conditions=stopped(web.conditions, WEB.kind), bindings=bindings)
    state = reader_of(replace(base, placements={**base.placements, WEB: web}))
    shown = {
        kind: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for kind in ("crp", "bindings")
        if (table := table_of(kind, state, now=NOW, wide=True))
    }
    assert [(row["WORK-SYNCHRONIZED"], row["AVAILABLE"]) for row in shown["crp"]] == [("True", status)]
    assert {(row["WORKSYNCHRONIZED"], row["RESOURCESAPPLIED"], row["AVAILABLE"]) for row in shown["bindings"]} == {
        ("True", status, status)
    }


def test_wide_tables_have_kubefleets_own_columns_too() -> None:
    """The printer columns of KubeFleet's types (apis/placement/v1beta1, apis/cluster/v1beta1)."""
    wide = {
        kind: set(table_of(kind, reader_of(small_fleet()), now=NOW, wide=True).columns) for kind in ("crp", "mc", "crb")
    }

    assert wide["crp"] >= {
        "GEN",
        "SCHEDULED",
        "SCHEDULED-GEN",
        "WORK-SYNCHRONIZED",
        "AVAILABLE",
        "AVAILABLE-GEN",
        "AGE",
    }
    assert wide["mc"] >= {"JOINED", "MEMBER-AGENT-LAST-SEEN", "NODE-COUNT", "AVAILABLE-CPU", "AVAILABLE-MEMORY", "AGE"}
    assert wide["crb"] >= {"WORKSYNCHRONIZED", "RESOURCESAPPLIED", "AVAILABLE", "AGE"}


@pytest.mark.parametrize("kind", kinds())
def test_wide_tables_only_add_columns_and_every_object_has_a_row(kind: str) -> None:
    narrow, wide = (table_of(kind, reader_of(fleet()), now=NOW, wide=flag) for flag in (False, True))

    assert set(narrow.columns) <= set(wide.columns)
    assert len(narrow.rows) == len(objects_of(kind, reader_of(fleet()))) > 0
    assert all(len(row) == len(wide.columns) for row in wide.rows)


@pytest.mark.parametrize(
    ("kind", "name", "files"),
    [
        ("crp", "web", ["placements/web.yaml", "holds/hold-web-0123456789.yaml"]),
        ("mc", "eu-1", ["clusters/eu-1.yaml"]),
        ("bindings", binding_name(WEB, "eu-1"), ["bindings/web/all.yaml"]),
        ("bindings", binding_name(CART, "eu-1"), ["bindings/shop_cart/all.yaml"]),
        ("bindings", f"shop/{binding_name(CART, 'eu-1')}", ["bindings/shop_cart/all.yaml"]),
        ("snapshots", "web-0-snapshot", ["snapshots/resources/web/0/snapshot.yaml"]),
        ("snapshots", "shop/cart-0-snapshot", ["snapshots/resources/shop_cart/0/snapshot.yaml"]),
        ("policies", "web-0", ["snapshots/policies/web/0.yaml"]),
        ("policies", "cart-0", ["snapshots/policies/shop_cart/0.yaml"]),
        ("overrides", "cro-0", ["snapshots/overrides/cro/0.yaml"]),
        ("holds", "hold-web-0123456789", ["holds/hold-web-0123456789.yaml"]),
        ("evictions", "drain", ["evictions/drain.yaml"]),
        ("rollouts", "shop/web", ["rollouts/shop/web.yaml"]),
    ],
)
def test_one_object_is_read_from_its_own_file(kind: str, name: str, files: list[str]) -> None:
    """Beside the fleet stand placements, clusters and bindings of similar names."""
    base = fleet()
    others = {key: record(key.name, binding(key, "eu-1"), namespace=key.namespace) for key in SIMILAR}
    source = TreeSource(put({}, composed(FleetState(), replace(base, placements={**base.placements, **others}))))
    reader = StateReader(source, COMMIT)

    [row] = table_of(kind, reader, name, now=NOW).rows
    assert source.read == files
    source.read.clear()
    [body] = objects_of(kind, reader, name)

    assert name in row or name == "/".join(row[:2])
    assert body["metadata"]["name"] == name.rpartition("/")[2]
    if kind not in ("crp", "snapshots"):  # the one has the status of each cluster, the other its objects
        assert source.read == files


@pytest.mark.parametrize(
    ("kind", "folders"),
    [
        ("bindings", {"bindings"}), ("snapshots", {"snapshots/resources"}), ("policies", {"snapshots/policies"}),
        ("overrides", {"snapshots/overrides"}), ("placements", {"holds", "placements"}), ("holds", {"holds"}),
        ("evictions", {"evictions", "faults"}), ("quarantines", {"quarantines"}),
        ("clusters", {"clusters"}), ("rollouts", {"rollouts"}),
    ],
)  # fmt: skip
def test_a_list_reads_the_files_of_its_own_kind(kind: str, folders: set[str]) -> None:
    source = TreeSource(put({}, composed(FleetState(), fleet())))

    assert table_of(kind, StateReader(source, COMMIT), now=NOW, wide=True).rows
    assert {re.sub(r"^((snapshots/)?[a-z]+).*", r"\1", path) for path in source.read} == folders


@pytest.mark.parametrize(
    ("word", "names"),
    [("crp", ["web"]), ("rp", ["cart"]), ("cro", ["cro-0", "cro-1"]), ("ro", [])],
)
def test_a_word_of_one_scope_lists_that_scope_alone(word: str, names: list[str]) -> None:
    assert [body["metadata"]["name"] for body in objects_of(word, reader_of(fleet()))] == names


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match=ViewsText.NO_KIND_STATE_BRANCH(word="strategies")) as caught:
        objects_of("strategies", reader_of(fleet()))
    kinds = (
        "placements, clusters, bindings, snapshots, policies, holds, evictions, freezes, quarantines, runs, approvals, "
        "rollouts, overrides"
    )
    assert kinds in str(caught.value.hint)
    with pytest.raises(BadInput, match=ApiText.NO_KIND(word="pods")):
        objects_of("pods", reader_of(fleet()))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"), (0, "0s"), (44, "44s"), (119, "119s"), (120, "2m"), (122, "2m2s"), (599, "9m59s"), (600, "10m"),
        (10799, "179m"), (10800, "3h"), (11100, "3h5m"), (28800, "8h"), (172799, "47h"), (172800, "2d"),
        (363600, "4d5h"), (691200, "8d"), (63071999, "729d"), (63072000, "2y"), (63936000, "2y10d"),
        (31536000 * 9, "9y"),
    ],
)  # fmt: skip
def test_ages_are_kubectls(seconds: int, text: str) -> None:
    assert age(T0, T0 + timedelta(seconds=seconds)) == text


def test_an_unknown_age() -> None:
    assert age(None, T0) == "<unknown>"


def test_the_description_is_kubectls() -> None:
    [body] = objects_of("crp", reader_of(small_fleet()), "web")

    lines = list(describe_lines(body))

    assert lines[:18] == [
        "Name:         web",
        "Namespace:",
        "Labels:       team=a",
        "Annotations:  <none>",
        "API Version:  placement.kubernetes-fleet.io/v1",
        "Kind:         ClusterResourcePlacement",
        "Metadata:",
        "  Generation:  1",
        "Spec:",
        "  Policy:",
        "    Number Of Clusters:  2",
        "    Placement Type:      PickN",
        "  Resource Selectors:",
        "    Group:",
        "    Kind:     Namespace",
        "    Name:     web",
        "    Version:  v1",
        "Status:",
    ]
    assert "    Last Transition Time:   2026-01-01T00:00:00Z" in lines
    assert "    Type:                   ClusterResourcePlacementAvailable" in lines
    assert "  Observed Resource Index:  0" in lines
    assert not any("written" in line.lower() or "Schedule Key" in line for line in lines)


@pytest.mark.parametrize("kind", kinds())
def test_objects_are_shown_in_the_order_of_kubernetes(kind: str) -> None:
    for body in objects_of(kind, reader_of(fleet())):
        names = list(shown_object({"status": {}, **body}))
        known = [name for name in ("apiVersion", "kind", "metadata", "spec", "status") if name in names]
        assert [name for name in names if name in known] == known, kind
        assert names[-1] == "status" or "status" not in names


def test_times_are_shown_to_the_second_and_what_people_wrote_as_it_is() -> None:
    """metav1.Time has whole seconds; what a member or a person wrote is no time of ours."""
    exact, shown = "2026-11-23T01:32:44.579088Z", "2026-11-23T01:32:44Z"

    def body(at: str) -> JsonObject:
        drift = {"path": "/at", "valueInMember": exact}
        return {
            "apiVersion": "v1",
            "kind": "Thing",
            "metadata": {"name": "a", "creationTimestamp": at, "annotations": {"at": exact}},
            "spec": {"renewTime": exact},
            "status": {
                "observationTime": at,
                "conditions": [{"type": "Ready", "message": f"since {exact}", "lastTransitionTime": at}],
                "driftedPlacements": [{"firstDriftedObservedTime": at, "observedDrifts": [drift]}],
            },
        }

    assert shown_object(body(exact)) == body(shown)
    assert shown_object(body(shown)) == body(shown)


SEEDS = Path(__file__).parents[1] / "data" / "seeds"
HUB = {"annotations", "ownerReferences", "resourceVersion", "uid", "generation", "finalizers", "creationTimestamp"}
"""What a hub writes into metadata; some of the annotations are ours, too."""


@pytest.mark.parametrize(
    ("seed", "kind", "name"),
    [
        ("003-02-resource-snapshot.yaml", "snapshots", "web-0-snapshot"),
        ("003-03-policy-snapshot.yaml", "policies", "web-0"),
        ("003-04-binding.yaml", "bindings", binding_name(WEB, "eu-1")),
    ],
)
def test_what_the_seeds_show_is_shown(seed: str, kind: str, name: str) -> None:
    [body] = objects_of(kind, with_files(), name)

    wanted = yaml.safe_load((SEEDS / seed).read_text())
    annotations = wanted["metadata"]["annotations"]
    wanted["metadata"] = {key: value for key, value in wanted["metadata"].items() if key not in HUB}
    annotations.pop("kubernetes-fleet.io/previous-binding-state", None)
    assert annotations.keys() <= body["metadata"].get("annotations", {}).keys()
    wanted["spec"].pop("selectedResources", None)
    assert list(missing(wanted, shown_object(body))) == []


def missing(wanted: JsonValue, found: JsonValue, where: str = "") -> Iterator[str]:
    """The fields that the one has and the other lacks; of lists the first item."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            if not isinstance(found, dict) or key not in found:
                yield f"{where}.{key}"
            else:
                yield from missing(value, found[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        yield from missing(wanted[0], found[0] if isinstance(found, list) and found else None, f"{where}[0]")


def with_files(content: bytes | None = FILE) -> StateReader:
    """The small fleet, whose snapshot holds two documents of a file (of this content) and a rendered one."""
    state, blob = small_fleet(), "f" * 40
    keys = [NAMESPACE, ObjectKey("", "v1", "Secret", "web", "login"), CONFIG]
    written = [DocumentRef("resources/web.yaml", blob, at, key) for at, key in enumerate(keys[:2])]
    documents = (*written, DocumentRef("resources/kustomization.yaml", "", 0, CONFIG))
    rendered = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config", "namespace": "web"}}
    manifests = tuple(Manifest(key=key, body=rendered, digest="", origin=Origin("a.yaml", 1)) for key in keys)
    record = state.placements[WEB]
    (only,) = record.resource_snapshots
    snapshot = replace(only, documents=documents, manifests=manifests)
    whole = with_record(state, replace(record, resource_snapshots=(snapshot,)))
    files = dict(put({}, composed(FleetState(), whole)))
    for path, file in files.items():
        if file.blob == blob:
            files[path] = replace(file, content=content)
    return StateReader(TreeSource(files), COMMIT)


def test_a_snapshot_shows_its_objects_as_they_were_taken() -> None:
    [body] = objects_of("snapshots", with_files(), "web-0-snapshot")

    login = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "web"}}
    assert shown_object(body)["spec"]["selectedResources"] == [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}},
        {**login, "data": {"password": MASK}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config", "namespace": "web"}},
    ]
    assert body["metadata"]["annotations"]["kubernetes-fleet.io/number-of-enveloped-object"] == "0"


@pytest.mark.parametrize("content", [None, b"", b"kind: [\n"])
def test_a_snapshot_of_which_a_file_is_lost_shows_where_its_objects_were(content: bytes | None) -> None:
    [body] = objects_of("snapshots", with_files(content), "web-0-snapshot")

    assert sorted(body["spec"]) == ["commit", "documents"]


@pytest.mark.parametrize(
    ("kind", "part", "shown"),
    [
        ("ClusterResourcePlacement", {"spec": {}}, {"spec": {}}),
        ("ClusterResourcePlacement", {"spec": {"policy": {}}}, {"spec": {"policy": {"placementType": "PickAll"}}}),
        (
            "ResourcePlacement",
            {"spec": {"policy": {"placementType": "PickN", "topologySpreadConstraints": [{"topologyKey": "zone"}]}}},
            {"spec": {"policy": {"placementType": "PickN", "topologySpreadConstraints": [SPREAD]}}},
        ),
        ("ClusterResourceOverride", {"spec": {"policy": {}}}, {"spec": {"policy": {}}}),
        (
            "ClusterResourceBinding",
            {"spec": {"clusterDecision": {"clusterScore": {"priorityScore": 2}}, "other": {"clusterScore": {}}}},
            {
                "spec": {
                    "clusterDecision": {"clusterScore": {"priorityScore": 2, "affinityScore": 0}},
                    "other": {"clusterScore": {}},
                }
            },
        ),
        (
            "ClusterStagedUpdateRun",
            {"status": {"stagesStatus": [{"conditions": [BARE]}]}},
            {"status": {"stagesStatus": [{"conditions": [{**BARE, "message": ""}]}]}},
        ),
    ],
)
def test_the_defaults_that_a_hub_prints(kind: str, part: JsonObject, shown: JsonObject) -> None:
    head = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": kind, "metadata": {"name": "a"}}
    assert shown_object({**head, **part}) == {**head, **shown}
    others = {**head, "apiVersion": "apps/v1"}
    assert shown_object({**others, **part}) == {**others, **part}


def test_a_cluster_that_answers_was_seen_in_the_last_pass_however_old_its_heartbeat_is() -> None:
    state = fleet()
    column = table_of("mc", reader_of(state), now=NOW, wide=True).columns.index("MEMBER-AGENT-LAST-SEEN")
    seen = {row[0]: row[column] for row in table_of("mc", reader_of(state), now=NOW, wide=True).rows}
    answering = {
        name for name, one in state.clusters.items() if one.status.agent is not None and silent_from(one) is None
    }
    assert answering and {name for name, text in seen.items() if text == ViewsText.LAST_PASS()} == answering
