"""invariant 2: a fault changes nothing it does not have to. Faulty objects hold their last good version, sound ones
go on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from gitfleet.api.faults import LastGood, Severity
from gitfleet.api.placements import PlacementType
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.desired import DesiredRequest, SourceFile, read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from tests.desired.commits import blob_of, read, request_of

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {{k: {value}}}\n"
PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy: {placementType: PickN, numberOfClusters: 2}
"""
RUN = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata: {name: r}
spec: {placementName: web, resourceSnapshotIndex: "1", stagedRolloutStrategyName: s}
"""


def config_map(name: str, value: str = "v") -> str:
    return CONFIG_MAP.format(name=name, value=value)


def payload(desired: Desired) -> dict[str, str]:
    """Each ConfigMap of the payload with its value."""
    return {manifest.key.name: manifest.body["data"]["k"] for manifest in desired.payload}


def accepted(text: str, payload: str = "") -> FleetState:
    """The state after a commit with these placements was accepted."""
    placements = read({"placements/a.yaml": text, "resources/a.yaml": payload}).placements
    return FleetState(placements={key: PlacementRecord(placement=placement) for key, placement in placements.items()})


def test_a_broken_document_holds_its_own_object_only() -> None:
    before = {"resources/a.yaml": config_map("a", "old") + "---\n" + config_map("b", "old")}
    desired = read({"resources/a.yaml": config_map("a", "new") + "---\nkind: [\n"}, before=before)
    assert payload(desired) == {"a": "new", "b": "old"}
    assert desired.last_good == {"resources/a.yaml": (LastGood(blob_of(before["resources/a.yaml"]), (1,)),)}
    assert [fault.line for fault in desired.faults] == [6]


def test_a_faulty_object_holds_its_last_good_version() -> None:
    before = {"resources/a.yaml": config_map("a", "old") + "---\n" + config_map("b", "old")}
    faulty = config_map("b", "new").replace("default}", "default, labels: {x: 1}}")
    desired = read({"resources/a.yaml": config_map("a", "new") + "---\n" + faulty}, before=before)
    assert payload(desired) == {"a": "new", "b": "old"}
    assert desired.last_good == {"resources/a.yaml": (LastGood(blob_of(before["resources/a.yaml"]), (1,)),)}


def test_an_object_that_moved_out_of_a_broken_file_is_not_doubled() -> None:
    desired = read(
        {"resources/a.yaml": "a: [", "resources/b.yaml": config_map("a", "new")},
        before={"resources/a.yaml": config_map("a", "old")},
    )
    assert payload(desired) == {"a": "new"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("resources/b.yaml", "a: ["),
        ("resources/b.yaml", config_map("b").replace("default}", "default, labels: {x: 1}}")),
        ("resources/b.yaml", config_map("b").replace("ConfigMap", "ConfigMp")),
        (".gitfleetignore", "resources/"),
    ],
)
def test_a_removal_beside_an_error_is_a_removal(path: str, text: str) -> None:
    """Whether it may be carried out, the removal rules say."""
    desired = read({path: text}, before={"resources/a.yaml": config_map("a", "old")})
    assert (payload(desired), desired.last_good) == ({}, {})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("ConfigMap", "ConfigMp"),
        ("v1", "v2"),
        ("namespace", "namespce"),
    ],
)
def test_a_document_that_cannot_be_told_apart_retains_its_file(wrong: str, right: str) -> None:
    before = {"resources/a.yaml": config_map("a", "old") + "---\n" + config_map("b", "old")}
    edited = config_map("b", "new").replace(wrong, right, 1)
    assert payload(read({"resources/a.yaml": config_map("a", "new") + "---\n" + edited}, before=before)) == {
        "a": "new",
        "b": "old",
    }


def test_a_renamed_and_faulty_object_is_found_where_it_was() -> None:
    before = {"placements/old-name.yaml": PLACEMENT}
    desired = read({"placements/new-name.yaml": PLACEMENT.replace("PickN", "PickM")}, before=before)
    assert [placement.policy and placement.policy.placement_type for placement in desired.placements.values()] == [
        PlacementType.PICK_N
    ]
    assert desired.last_good == {
        "placements/new-name.yaml": (LastGood(blob_of(PLACEMENT), (0,), "placements/old-name.yaml"),)
    }


def test_of_a_double_the_first_goes_on_when_its_file_breaks() -> None:
    before = {"resources/a.yaml": config_map("a", "first") + "---\n" + config_map("a", "second")}
    (known,) = [fault for fault in read(before).faults if fault.object == "ConfigMap/default/a"]
    desired = read({"resources/a.yaml": "a: ["}, before=before, accepted=FleetState(faults=(known,)))
    assert payload(desired) == {"a": "first"}


def test_a_faulty_placement_goes_on_as_accepted_even_without_a_file() -> None:
    desired = read({"placements/a.yaml": PLACEMENT.replace("2}", "-2}")}, accepted=accepted(PLACEMENT))
    assert desired.placements == {key: record.placement for key, record in accepted(PLACEMENT).placements.items()}


PICK_N = "policy: {placementType: PickN, numberOfClusters: 2}"
PICK_ALL = "policy: {placementType: PickAll}"
TOLERANT = "policy: {placementType: PickAll, tolerations: [{key: a, operator: Exists}]}"
EXTERNAL = "strategy: {type: External}"
UNSET = "revisionHistoryLimit: 3"
RECREATE = DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD()
LESS_TOLERANT = f"6: spec.policy.tolerations: {DesiredText.ONLY_GAIN_ITEMS(recreate=RECREATE)}"


def fixed(field: str, before: str, after: str = "", line: int = 6) -> str:
    """The fault of a field that may not change, or that may not be removed."""
    if not after:
        return f"4: spec.{field}: {DesiredText.CANNOT_REMOVED_ONCE_SET(before=before, recreate=RECREATE)}"
    sentence = DesiredText.CANNOT_CHANGE_FROM(before=before, after=after, recreate=RECREATE)
    return f"{line}: spec.{field}: {sentence}"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (PICK_N, PICK_N.replace("2", "3"), ""),
        (PICK_N, PICK_ALL, fixed("policy.placementType", "PickN", "PickAll")),
        (PICK_ALL, PICK_N, fixed("policy.placementType", "PickAll", "PickN")),
        (PICK_ALL, UNSET, fixed("policy", "PickAll")),
        (UNSET, PICK_ALL, ""),
        (PICK_ALL, TOLERANT, ""),
        (TOLERANT, PICK_ALL, LESS_TOLERANT),
        ("strategy: {type: RollingUpdate}", EXTERNAL, ""),
        (EXTERNAL, "strategy: {type: RollingUpdate}", fixed("strategy.type", "External", "RollingUpdate")),
        (EXTERNAL, UNSET, fixed("strategy.type", "External", "RollingUpdate", line=4)),
        (
            "statusReportingScope: ClusterScopeOnly",
            "statusReportingScope: NamespaceAccessible",
            "6: spec.statusReportingScope: "
            + DesiredText.CANNOT_CHANGE_PUT_BACK(status_reporting_scope="ClusterScopeOnly", recreate=RECREATE),
        ),
    ],
)
def test_edits_of_a_placement(old: str, new: str, fault: str) -> None:
    before, after = (PLACEMENT.replace(PICK_N, part) for part in (old, new))
    assert before != after
    desired = read({"placements/a.yaml": after}, before={"placements/a.yaml": before}, accepted=accepted(before))
    (placement,) = desired.placements.values()
    if not fault:
        assert desired.faults == ()
        assert desired.placements == read({"placements/a.yaml": after}).placements
        return
    line, _, rest = fault.partition(": ")
    assert [*map(str, desired.faults)] == [f"placements/a.yaml:{line}: ClusterResourcePlacement/web: {rest}"]
    assert placement == accepted(before).placements[placement.key].placement
    assert desired.last_good == {"placements/a.yaml": (LastGood(blob_of(before), (0,)),)}
    (record,) = accepted(before).placements.values()
    leaving = replace(record, placement=replace(record.placement, deleting=datetime(2026, 1, 1, tzinfo=UTC)))
    state = FleetState(placements={placement.key: leaving})
    assert read({"placements/a.yaml": after}, accepted=state).faults == ()  # another one of its name


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("", ", state: Stop", []),
        (", state: Initialize", "", []),
        ("", ", state: Initialize", ["spec.state"]),
        (", state: Initialize", ", state: Stop", ["spec.state"]),
    ],
)
def test_states_of_a_run(old: str, new: str, fields: list[str]) -> None:
    before, after = (RUN.replace("Name: s}", f"Name: s{part}}}") for part in (old, new))
    desired = read({"runs/r.yaml": after}, before={"runs/r.yaml": before})
    assert [fault.field for fault in desired.faults if fault.severity is Severity.ERROR] == fields
    kept = before if fields else after
    assert desired.runs == {
        key: replace(run, origin=desired.runs[key].origin) for key, run in read({"runs/r.yaml": kept}).runs.items()
    }


def test_the_target_of_a_run_is_fixed() -> None:
    after = RUN.replace("web", "api").replace('"1"', '"2"').replace("Name: s}", "Name: t}")
    desired = read({"runs/r.yaml": after}, before={"runs/r.yaml": RUN})
    assert [str(fault) for fault in desired.faults] == [
        (f"runs/r.yaml:4: ClusterStagedUpdateRun/r: spec.{field}: " + DesiredText.CANNOT_CHANGE_RUN())
        for field in ("placementName", "resourceSnapshotIndex", "stagedRolloutStrategyName")
    ]
    assert [run.placement_name for run in desired.runs.values()] == ["web"]


SELECTING = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {{name: web}}
spec:
  resourceSelectors: [{}]
"""
SHOP = '{group: "", version: v1, kind: Namespace, name: shop}'
GADGET = "{apiVersion: acme.example/v1, kind: Gadget, metadata: {name: one}}"
MISSPELT = "{group: acme.example, version: v1, kind: Gadgt, name: one}"
WIDGET = "{group: acme.example, version: v1, kind: Widget, name: one}"


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        ([], [WIDGET], "error"),
        ([], [MISSPELT], "error"),
        ([SHOP], [WIDGET], "error"),
        ([SHOP, WIDGET], [WIDGET], "warning"),
        ([MISSPELT], [MISSPELT], "warning"),
    ],
)
def test_a_new_selector_of_an_unknown_kind_is_refused(before: list[str], after: list[str], severity: str) -> None:
    """Of one that was accepted the kind went since."""
    there = GADGET + "\n---\n" + GADGET.replace("Gadget", "Widget") + "\n---\n" + GADGET.replace("Gadget", "Gadgt")
    state = accepted(SELECTING.format(", ".join(before)), there) if before else None
    files = {"placements/a.yaml": SELECTING.format(", ".join(after)), "resources/one.yaml": GADGET}
    found = [fault for fault in read(files, accepted=state).faults if fault.path == "placements/a.yaml"]
    assert [fault.severity for fault in found] == [severity], found


def test_links_and_submodules_are_never_followed() -> None:
    before = {"resources/app/a.yaml": config_map("a", "old"), "clusters/c.yaml": config_map("c", "old")}
    request = request_of({}, before=before)
    request = replace(
        request,
        files={
            "resources/app": SourceFile(blob="1" * 40, mode="120000"),
            "docs/theme": SourceFile(blob="2" * 40, mode="160000"),
            "clusters/c.yaml": SourceFile(blob="3" * 40, mode="120000"),
        },
    )
    desired = read_desired(request)
    assert payload(desired) == {"a": "old", "c": "old"}
    link, module = (
        DesiredText.NEVER_FOLLOWED_PUT_FILES_THEMSELVES(what=what, ignore_file=".gitfleetignore")
        for what in ("symbolic link", "submodule")
    )
    assert [f"{fault} {fault.severity}" for fault in desired.faults] == [
        f"clusters/c.yaml:1: {link} error",
        f"docs/theme:1: {module} warning",
        f"resources/app:1: {link} error",
    ]
    assert sorted(desired.last_good) == ["clusters/c.yaml", "resources/app"]


def test_files_that_were_not_read() -> None:
    files = {
        "resources/big.yaml": SourceFile(blob="1" * 40, size=5_000_000),
        "resources/lost.yaml": SourceFile(blob="2" * 40),
        "resources/why.yaml": SourceFile(blob="3" * 40, why="is encrypted; decrypt it"),
        "resources/picture.png": SourceFile(blob="4" * 40, size=5_000_000_000),
    }
    desired = read_desired(DesiredRequest(commit="c0ffee", files=files))
    assert [str(fault) for fault in desired.faults] == [
        ("resources/big.yaml:1: " + FormatsText.BYTES_MORE_READ(count="5000000", limit="4194304")),
        ("resources/lost.yaml:1: " + DesiredText.COULD_NOT_READ(ignore_file=".gitfleetignore")),
        "resources/why.yaml:1: is encrypted; decrypt it",
    ]


ACCEPTED = (
    """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: web}
spec: {connection: {context: web}}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata: {name: web, namespace: web}
spec: {resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: web}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata: {name: web}
spec:
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy: {overrideRules: [{clusterSelector: {}, overrideType: Delete}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceOverride
metadata: {name: web, namespace: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: web}]
  policy: {overrideRules: [{clusterSelector: {}, overrideType: Delete}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacementEviction
metadata: {name: web}
spec: {placementName: web, clusterName: web}
"""
    "---\n" + PLACEMENT
)


def test_each_kind_that_is_accepted_goes_on_without_a_file() -> None:
    """One that is leaving as it was before; of an override the newest version."""
    desired, leaving = read({"all.yaml": ACCEPTED}), datetime(2026, 1, 1, tzinfo=UTC)
    overrides, snapshot = desired.objects["overrides"], partial(OverrideSnapshot, hash="")
    state = FleetState(
        placements={
            key: PlacementRecord(placement=replace(value, deleting=leaving))
            for key, value in desired.placements.items()
        },
        clusters={name: replace(value, deleting=leaving) for name, value in desired.clusters.items()},
        overrides={
            key: (snapshot(override=replace(value, rules=()), index=0), snapshot(override=value, index=1))
            for key, value in overrides.items()
        },
        evictions=desired.objects["evictions"],
    )
    faulty = read({"all.yaml": ACCEPTED.replace("\nspec:", "\nnope: 1\nspec:")}, accepted=state)
    assert [fault.field for fault in faulty.faults].count("nope") == ACCEPTED.count("metadata:")
    evictions = {name: replace(value, origin=None) for name, value in state.evictions.items()}
    written = {name: replace(value, origin=None) for name, value in faulty.objects["evictions"].items()}
    assert (faulty.placements, faulty.clusters, faulty.objects["overrides"], written) == (
        desired.placements,
        desired.clusters,
        overrides,
        evictions,
    )
