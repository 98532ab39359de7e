"""Folders: what their objects get, which objects are payload, and what is wrong with them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.faults import by_cause
from gitfleet.api.folders import is_made
from gitfleet.api.kinds import ONLY_A_FOLDER_FILE, watched_kinds
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.desired import SourceFile, read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.snapshots import index_of, take_snapshots
from tests import builders
from tests.builders import to_yaml
from tests.desired.commits import faults_of, read, request_of, source_of
from tests.folders import FOLDER, PROD, REST, folder, select_folder, settings, web

APPS = f"resources/apps/{FOLDER}"
NAMESPACE = {"resources/apps/ns.yaml": to_yaml(builders.namespace("apps"))}
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\n"
PLACING = {"placements/apps.yaml": to_yaml(builders.placement("apps", selectors=[select_folder("apps")]))}
PAIR = {"resources/apps/base/web.yaml": web("web:1"), "resources/apps/prod/web.yaml": web("web:2")}


def governed(*variants: tuple[str, str, Mapping[str, Any] | None], **spec: Any) -> dict[str, str]:
    """The file of the Folder `apps`."""
    return {APPS: to_yaml(folder("apps", *variants, **spec))}


def placed(desired: Desired) -> dict[str, Manifest]:
    """The payload by name, with the variants that have it."""
    return {" ".join((str(m.key), *m.variants)): m for m in desired.payload}


def errors(files: Mapping[str, str]) -> list[str]:
    """The errors of a commit."""
    return [fault for fault in faults_of(files) if not fault.endswith("(warning)")]


def test_a_folder_gives_namespace_labels_and_annotations() -> None:
    spec: dict[str, Any] = {"namespace": "apps", "labels": {"team": "shop"}, "annotations": {"a": "1"}}
    own = to_yaml(builders.config_map("apps", "own", labels={"team": "x", "y": "z"}))
    role = to_yaml(builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", "reader", rules=[]))
    files = {**governed(**spec), **NAMESPACE, "resources/apps/deep/web.yaml": web("web:1") + "---\n" + role}
    desired = read({**files, "resources/apps/own.yaml": own, "resources/else.yaml": to_yaml(builders.namespace("b"))})
    assert desired.faults == ()
    objects = placed(desired)
    assert sorted(objects) == [
        "ClusterRole/reader", "ConfigMap/apps/own", "Deployment/apps/web", "Namespace/apps", "Namespace/b",
    ]  # fmt: skip
    governed_by = {name: manifest.folder for name, manifest in objects.items() if manifest.folder}
    assert governed_by == dict.fromkeys(sorted(objects)[:4], "apps")
    assert objects["ConfigMap/apps/own"].labels == {"team": "shop", "y": "z"}
    deployment = objects["Deployment/apps/web"].body
    assert deployment["metadata"]["annotations"] == {"a": "1"}
    assert "team" not in deployment["spec"]["template"]["metadata"]["labels"]
    assert objects["ClusterRole/reader"].body["metadata"]["labels"] == {"team": "shop"}
    assert {m.origin.blob for m in desired.payload if m.folder} == {""}


def test_a_folder_governs_down_to_the_next_one() -> None:
    inner = {f"resources/apps/inner/{FOLDER}": to_yaml(folder("inner", labels={"a": "b"}))}
    text = to_yaml(builders.config_map("default", "x"))
    desired = read({**governed(namespace="apps"), **inner, "resources/apps/inner/x.yaml": text})
    assert [(m.folder, m.labels) for m in desired.payload] == [("inner", {"a": "b"})]


CRD = to_yaml(
    builders.an_object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "widgets.example.com",
        spec={
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
    )
)


def config(**spec: Any) -> dict[str, str]:
    """A gitfleet.yaml."""
    return {"gitfleet.yaml": to_yaml(builders.fleet_config(**spec))}


@pytest.mark.parametrize(
    ("remedy", "name", "warnings"),
    [
        ({"resources/crd.yaml": CRD}, "Widget/apps/one", 0),
        (config(kinds=[{"group": "example.com", "kind": "Widget", "scope": "Namespaced"}]), "Widget/apps/one", 0),
        (config(kinds=[{"group": "example.com", "kind": "Widget", "scope": "Cluster"}]), "Widget/one", 0),
        ({"resources/apps/w.yaml": WIDGET.replace("one", "one, namespace: apps")}, "Widget/apps/one", 1),
    ],
)
def test_an_unknown_scope_is_one_error_for_each_kind(remedy: dict[str, str], name: str, warnings: int) -> None:
    files = {**governed(namespace="apps"), **NAMESPACE, "resources/apps/w.yaml": WIDGET}
    more = {"resources/apps/v.yaml": WIDGET.replace("one", "two")}
    sentence = DesiredText.SCOPE_UNKNOWN(kind=GroupKind("example.com", "Widget"))
    assert errors({**files, **more}) == [f"resources/apps/{name}.yaml:1: {sentence}" for name in "vw"]
    assert len(by_cause(read({**files, **more}).faults)) == 1
    assert name in placed(read({**files, **remedy}))
    assert (errors({**files, **remedy}), len(faults_of({**files, **remedy}))) == ([], warnings)


@pytest.mark.parametrize("names", [["apps"], ["ap*"], ["x", "a*s"]])
def test_a_namespace_that_exists_needs_no_manifest(names: list[str]) -> None:
    files = {**governed(namespace="apps"), "resources/apps/web.yaml": web("web:1")}
    assert len(errors(files)) == 1
    assert errors({**files, **config(existingNamespaces=names)}) == []


@pytest.mark.parametrize("rule", [{"scope": "Cluster"}, {"namespaces": ["ap*"]}, {"kinds": [{"kind": "Namespace"}]}])
def test_the_policy_holds_for_the_made_namespace(rule: dict[str, Any]) -> None:
    files = {**governed(namespace="apps", createNamespace=True), **config(policy={"deny": [rule]})}
    assert len([fault for fault in errors(files) if fault.startswith(f"{APPS}:1: ")]) == 1
    assert read(files).payload == ()


def test_each_variant_is_payload_and_equal_content_is_there_once() -> None:
    files = {**governed(("prod", "prod", PROD), REST, namespace="apps", createNamespace=True), **PAIR}
    same = {"resources/apps/base/s.yaml": settings(a="1"), "resources/apps/prod/s.yaml": settings(a="1")}
    desired = read({**files, **same, "resources/apps/notes.yaml": web("web:9")})
    assert desired.faults == ()
    assert sorted(placed(desired)) == [
        "ConfigMap/apps/settings prod rest", "Deployment/apps/web prod", "Deployment/apps/web rest", "Namespace/apps",
    ]  # fmt: skip


def test_a_variant_may_lie_elsewhere_and_is_no_payload_by_itself() -> None:
    files = {**governed(("all", "../../base", None), namespace="apps", createNamespace=True), **NAMESPACE}
    desired = read({**files, "base/web.yaml": web("web:1")})
    assert sorted(placed(desired)) == ["Deployment/apps/web all", "Namespace/apps"]
    assert is_made(placed(desired)["Namespace/apps"])  # a Folder with variants has nothing else
    assert desired.faults == ()


def no_folder(path: str) -> str:
    return DesiredText.VARIANT_PATH_NO_FOLDER(path=path, ignore_file=".gitfleetignore")


NESTED = {f"resources/apps/base/{FOLDER}": to_yaml(folder("inner"))}


@pytest.mark.parametrize(
    ("files", "line", "said"),
    [
        (governed(("x", "../../..", None)), 8, no_folder("../../..")),
        (governed(("x", "/base", None)), 8, no_folder("/base")),
        (governed(("x", "bse", None)), 8, no_folder("bse")),
        (governed(("x", "../..", None)), 8, no_folder("../..")),
        (governed(("x", "../../../x", None)), 8, no_folder("../../../x")),
        (
            {**governed(("x", "../../old/x", None)), ".gitfleetignore": "/old/\n", "old/x/web.yaml": web("web:1")},
            8,
            no_folder("../../old/x"),
        ),
        (governed(("x", ".", None)), 8, DesiredText.VARIANT_PATH_NOT_BUILT()),
        ({**governed(REST), **NESTED}, 8, DesiredText.VARIANT_HOLDS_FOLDER(file=f"resources/apps/base/{FOLDER}")),
        (governed(REST, ("prod", "prod", PROD)), 7, ApiText.VARIANT_NEVER_MATCHES(name="prod")),
        (governed(("rest", "base", {}), ("prod", "prod", PROD)), 7, ApiText.VARIANT_NEVER_MATCHES(name="prod")),
        (governed(createNamespace=True), 6, ApiText.NEEDS_NAMESPACE()),
        (governed(namespace="kube-system", createNamespace=True), 7, ApiText.MAKES_RESERVED_NAMESPACE()),
        (governed(dependsOn=[{"folder": "a", "placement": "b"}]), 7, ApiText.NAME_FOLDER_OR_PLACEMENT()),
        ({APPS: to_yaml(folder("apps"), folder("more"))}, 8, DesiredText.MUST_HOLD_ONE_FOLDER()),
        ({"resources/apps/x.yaml": to_yaml(folder("apps"))}, 2, ONLY_A_FOLDER_FILE),
        ({f"placements/{FOLDER}": to_yaml(folder("apps"))}, 2, ONLY_A_FOLDER_FILE),
    ],
)
def test_what_is_wrong_with_a_folder(files: dict[str, str], line: int, said: str) -> None:
    found = [fault for fault in errors({**PAIR, **files}) if said in fault]
    assert len(found) == 1, errors({**PAIR, **files})
    assert f":{line}: " in found[0], found


GITFLEETS = sorted({kind.folder for kind in watched_kinds() if kind.folder})
MEMBER = to_yaml(builders.member_cluster("c1"))


@pytest.mark.parametrize(
    ("path", "file"),
    [
        *((f"../../{name}", f"{name}/a.yaml") for name in GITFLEETS),
        ("../../clusters/eu", "clusters/eu/c1.yaml"),
        ("../../fleet", "fleet/deep/c1.yaml"),
    ],
)
def test_what_gitfleet_acts_on_is_no_variant(path: str, file: str) -> None:
    files = {**PLACING, **governed(("x", path, PROD), REST, labels={"a": "b"}), **PAIR, file: MEMBER}
    assert [fault for fault in errors(files) if DesiredText.VARIANT_HOLDS_GITFLEETS(file=file) in fault]
    desired = read(files)
    assert [*desired.clusters] == ["c1"]
    assert (desired.payload, desired.folders) == ((), {})


@pytest.mark.parametrize("path", ["../../.git", "../../.github", "..", "../../resources"])
def test_no_folder_with_this_one_in_it_and_no_hidden_one_is_a_variant(path: str) -> None:
    files = {**governed(("x", path, None)), **PAIR, ".github/workflows/x.yaml": "on: push\n"}
    assert len([fault for fault in errors(files) if "spec.variants[0].path" in fault]) == 1
    assert read(files).folders == {}


def test_gitfleets_kinds_in_a_variant_are_payload_and_one_that_a_build_reads_stays_gitfleets() -> None:
    rollout = to_yaml(builders.an_object("rollout.oam.dev/v1alpha1", "RolloutTrait", "x", namespace="apps"))
    files = governed(("all", "all", None), namespace="apps", createNamespace=True)
    files |= {"resources/apps/all/x.yaml": rollout}
    assert "RolloutTrait/apps/x all" in placed(read(files))
    build = {**governed(("all", "all", None)), "fleet/c1.yaml": MEMBER, "base/web.yaml": web("web:1")}
    build |= {"resources/apps/all/kustomization.yaml": "{}"}
    sources = ("resources/apps/all", "resources/apps/all/kustomization.yaml", "fleet/c1.yaml", "base/web.yaml")
    made = {"resources/apps/all": replace(source_of("", settings(a="1")), sources=sources)}
    desired = read_desired(replace(request_of(build), built=made))
    assert [*desired.clusters] == ["c1"]


def accepted(desired: Desired) -> FleetState:
    """The state after a commit: a placement of everything of the Folder."""
    key = PlacementKey("", "apps")
    placement = desired.placements[key]
    index, _ = index_of(desired, None, Failures())
    taken = take_snapshots(placement, index, None, commit="before", now=datetime(2026, 1, 1, tzinfo=UTC))
    record = PlacementRecord(placement=placement, resource_snapshots=taken.resource_snapshots)
    return FleetState(placements={key: record}, observed_commit="before")


GOOD = {
    **PLACING,
    **governed(("prod", "prod", PROD), REST, namespace="apps", createNamespace=True),
    **PAIR,
}


def after(edit: Mapping[str, str | None], good: Mapping[str, str] = GOOD) -> Desired:
    """A commit that edits files of a good one, after that was accepted."""
    state = accepted(read(good))
    files = {path: text for path, text in {**good, **edit}.items() if text is not None}
    request = request_of(files, before=good, accepted=state)
    kept = {path: source for path, source in request.before.items() if path in (APPS, "placements/apps.yaml")}
    return read_desired(replace(request, before=kept))


ALL = ["Deployment/apps/web prod", "Deployment/apps/web rest", "Namespace/apps"]


@pytest.mark.parametrize(
    "edit",
    [
        {"resources/apps/prod/web.yaml": "kind: ["},
        {"resources/apps/prod/web.yaml": web("web:1").replace("replicas: 1", "replicas: x")},
        {APPS: "kind: ["},
        {APPS: GOOD[APPS].replace("path: prod", "path: gone")},
        {"resources/apps/prod/web.yaml": None},
    ],
)
def test_an_error_keeps_the_last_good_version_of_what_it_concerns(edit: dict[str, str | None]) -> None:
    desired = after(edit)
    assert [fault for fault in desired.faults if fault.severity == "error"]
    assert sorted(placed(desired)) == ALL
    assert [v.name for v in desired.folders["apps"].variants] == ["prod", "rest"]


@pytest.mark.parametrize("path", ["../../vendor/x", "../shared"])
@pytest.mark.parametrize(("text", "broken"), [("path: base", "path: gone"), ("kind: Folder", "kind: [")])
def test_an_error_of_a_folder_keeps_what_lies_elsewhere(path: str, text: str, broken: str) -> None:
    prod = {posixpath.normpath(f"resources/apps/{path}/web.yaml"): to_yaml(builders.deployment("apps", "web", "web:2"))}
    own = governed(("prod", path, PROD), REST, namespace="apps", createNamespace=True)
    good = {**PLACING, **own, **prod, "resources/apps/base/web.yaml": PAIR["resources/apps/base/web.yaml"]}
    desired = after({APPS: own[APPS].replace(text, broken)}, good)
    assert [fault for fault in desired.faults if fault.severity == "error"]
    assert sorted(placed(desired)) == ALL


@pytest.mark.parametrize("path", ["../../vendor/x", "../shared"])
def test_an_error_of_a_folder_makes_no_payload_of_what_its_variants_name(path: str) -> None:
    home = posixpath.normpath(f"resources/apps/{path}")
    files = {
        f"{home}/settings.yaml": to_yaml(builders.config_map("apps", "settings")),
        "resources/apps/prod/web.yaml": web("web:1"),
        "resources/ns.yaml": to_yaml(builders.namespace("apps")),
    }
    sound, wrong = (governed(("prod", prod, PROD), ("rest", path, None), namespace="apps") for prod in ("prod", "prd"))
    assert sorted(placed(read({**files, **sound}))) == [
        "ConfigMap/apps/settings rest", "Deployment/apps/web prod", "Namespace/apps",
    ]  # fmt: skip
    assert len(errors({**files, **wrong})) == 1
    assert sorted(placed(read({**files, **wrong}))) == ["Namespace/apps"]


def test_what_is_built_gets_the_folder_too_and_the_folder_file_is_not_read_by_the_build() -> None:
    files = {
        **governed(("all", ".", None), namespace="apps", createNamespace=True),
        "resources/apps/kustomization.yaml": "{}",
    }
    made: dict[str, SourceFile] = {
        "resources/apps": replace(
            source_of("", web("web:1")), sources=("resources/apps", "resources/apps/kustomization.yaml")
        )
    }
    desired = read_desired(replace(request_of(files), built=made))
    assert desired.faults == (), desired.faults
    assert sorted(placed(desired)) == ["Deployment/apps/web all", "Namespace/apps"]
    below = {f"resources/apps/deep/{FOLDER}": to_yaml(folder("deep"))}
    assert DesiredText.FOLDER_IN_BUILT_FOLDER() in str(
        read_desired(replace(request_of({**files, **below}), built=made)).faults
    )


def depending(**needs: list[dict[str, str]]) -> dict[str, str]:
    """Folders with what they depend on."""
    return {f"resources/{name}/{FOLDER}": to_yaml(folder(name, dependsOn=listed)) for name, listed in needs.items()}


def needing(*names: str) -> list[dict[str, str]]:
    """Dependencies on folders."""
    return [{"folder": name} for name in names]


@pytest.mark.parametrize(
    ("files", "cycle"),
    [
        (depending(a=needing("b"), b=needing("c"), c=[]), ""),
        (depending(a=needing("a")), "a -> a"),
        (depending(a=needing("b"), b=needing("c"), c=needing("b")), "b -> c -> b"),
        ({**depending(apps=[{"placement": "apps"}]), **PLACING}, "apps -> apps"),
        ({**depending(apps=[{"placement": "other"}]), **PLACING}, ""),
    ],
)
def test_a_folder_that_depends_on_itself_is_an_error(files: dict[str, str], cycle: str) -> None:
    said = [fault for fault in errors(files) if "dependsOn" in fault]
    assert [DesiredText.DEPENDENCY_CYCLE(cycle=cycle) in fault for fault in said] == ([True] if cycle else [])


def test_an_unknown_dependency_is_a_warning() -> None:
    found = faults_of(depending(a=[*needing("bb"), {"placement": "x"}], b=[]))
    assert len([fault for fault in found if "dependsOn" in fault and fault.endswith("(warning)")]) == 2
    assert not errors(depending(a=needing("bb"), b=[]))


@pytest.mark.parametrize(("env", "expected"), [("prod", []), ("prdo", ["spec.variants[0].clusterSelector"])])
def test_a_variant_that_no_cluster_matches_is_a_warning(env: str, expected: list[str]) -> None:
    files = governed(("prod", "prod", {"matchLabels": {"env": env}}), REST, namespace="apps", createNamespace=True)
    cluster = {"clusters/eu.yaml": to_yaml(builders.member_cluster("eu", labels={"env": "prod"}))}
    faults = read_desired(request_of({**files, **PAIR, **cluster})).faults
    sentence = DesiredText.SELECTS_NO_LABELS(kind="cluster")
    assert [(fault.path, fault.field) for fault in faults if fault.message == sentence] == [
        (APPS, field) for field in expected
    ]


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("web.yaml", "", ["spec.variants[0].path"]),
        ("README.md", "Later", ["spec.variants[0].path"]),
        ("web.yaml", "kind: [", []),
        ("web.yaml", WIDGET, []),
    ],
)
def test_a_variant_without_objects_is_a_warning(file: str, text: str, expected: list[str]) -> None:
    files = governed(("prod", "prod", PROD), REST, namespace="apps", createNamespace=True)
    base = {"resources/apps/base/web.yaml": web("web:1")}
    faults = read_desired(request_of({**files, **base, f"resources/apps/prod/{file}": text})).faults
    sentence = DesiredText.VARIANT_WITHOUT_OBJECTS()
    assert [(fault.path, fault.field) for fault in faults if fault.message == sentence] == [
        (APPS, field) for field in expected
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: [", []),
        (to_yaml(folder("apps")).replace("name: apps", "name: [apps]"), []),
        (None, ["placements/apps.yaml"]),
    ],
)
def test_what_a_broken_folder_file_may_define_is_not_reported_as_missing(text: str | None, expected: list[str]) -> None:
    files = {**PLACING, **depending(b=needing("apps")), **({APPS: text} if text else {})}
    missing = [fault for fault in read_desired(request_of(files)).faults if fault.severity == "warning"]
    assert {fault.path for fault in missing} == {*expected, *(f"resources/b/{FOLDER}" for _ in expected)}


@pytest.mark.parametrize("other", ["gold", "lead", ""])
def test_a_selector_by_a_label_that_differs_by_variant_is_a_warning(other: str) -> None:
    labels = {"matchLabels": {"tier": "gold"}}
    by_label = {"group": "apps", "version": "v1", "kind": "Deployment", "labelSelector": labels}
    home = {**builders.select_namespace("apps"), "selectionScope": "NamespaceWithResourceSelectors"}
    texts = {
        "resources/apps/prod/web.yaml": web("web:1", labels={"tier": "gold"}),
        "resources/apps/base/web.yaml": web("web:1", labels={"tier": other} if other else {}),
        "placements/x.yaml": to_yaml(builders.placement("x", selectors=[home, by_label])),
    }
    files = governed(("prod", "prod", PROD), REST, namespace="apps", createNamespace=True)
    sentence = DesiredText.LABEL_DIFFERS_BY_VARIANT(key="Deployment/apps/web")
    assert any(sentence in fault for fault in faults_of({**files, **texts})) is (other != "gold")


def test_a_repo_has_a_bounded_number_of_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.desired.reading.folders.MAX_VARIANTS", 1)
    files = {**governed(("prod", "prod", PROD), REST, namespace="apps", createNamespace=True), **PAIR}
    assert any(DesiredText.TOO_MANY_VARIANTS(most=1) in fault for fault in errors(files))
