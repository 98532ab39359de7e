"""What the commands say of the variants of folders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gitfleet.cli.texts import CliText
from gitfleet.reconcile.texts import ReconcileText
from tests import builders
from tests.builders import to_yaml
from tests.cli.conftest import Shell, commit
from tests.folders import FOLDER, PROD, REST, folder, select_folder, settings

STAGING = {"clusters/us-west-1.yaml": to_yaml(builders.member_cluster("us-west-1", labels={"env": "staging"}))}
WEB = to_yaml(builders.config_map("web", "certs"))
APPS = folder("apps", ("prod", "prod", PROD), REST, namespace="apps", createNamespace=True)
FILES = {
    f"resources/apps/{FOLDER}": to_yaml(APPS),
    "resources/apps/base/settings.yaml": settings(variant="rest"),
    "resources/apps/prod/settings.yaml": settings(variant="prod"),
    "placements/apps.yaml": to_yaml(builders.placement("apps", selectors=[select_folder("apps")])),
    **STAGING,
}


def of_apps(document: dict[str, Any]) -> dict[str, Any]:
    """The placement apps of a plan."""
    (apps,) = (placement for placement in document["placements"] if placement["name"] == "apps")
    return dict(apps)


def test_variants_are_planned_explained_and_listed(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, FILES)
    checked = gitfleet("validate", fleet)
    assert (checked.code, checked.out) == (0, ""), checked
    planned = json.loads(gitfleet("plan", fleet, "-o", "json").out)
    apps = of_apps(planned)
    chosen = {row["clusterName"]: row["variants"] for row in apps["clusters"] if "variants" in row}
    assert (chosen["eu-north-1"], chosen["us-west-1"]) == ({"apps": "prod"}, {"apps": "rest"})
    variants = {(o["clusterName"], o.get("variant")) for o in apps["operations"] if o["object"]["kind"] == "ConfigMap"}
    assert {("eu-north-1", "prod"), ("us-west-1", "rest")} <= variants
    assert [one["kind"] for one in apps["selectedResources"]] == ["Namespace", "ConfigMap"]

    assert gitfleet("run", "--until-settled", fleet).code == 0
    assert re.search(r"apps-eu-north-1-.* apps=prod ", gitfleet("get", "bindings", "-o", "wide", "-C", fleet).out)
    assert "apps: variant prod (env=prod)" in gitfleet("explain", "apps", "eu-north-1", "-C", fleet).out
    table = gitfleet("explain", "apps", "-C", fleet).out
    assert re.search(r"^CLUSTER +PICKED +STATE +SNAPSHOT +VARIANTS +WHY\neu-north-1 +yes +Bound +0 +apps=prod +", table)
    assert "VARIANTS" not in gitfleet("explain", "web", "-C", fleet).out
    assert "apps: variant rest" in gitfleet("explain", "apps", "us-west-1", "-C", fleet).out

    commit(fleet, {"resources/apps/prod/settings.yaml": settings(variant="new")})
    assert gitfleet("run", "--until-settled", fleet).code == 0
    differences = json.loads(gitfleet("diff", "apps", "--snapshots", "0", "1", "-o", "json", "-C", fleet).out)
    assert [(row["object"]["name"], row["variant"], row["state"]) for row in differences["objects"]] == [
        ("settings", "prod", "Differs")
    ]


def test_plan_creates_once_a_made_namespace_that_several_placements_have(gitfleet: Shell, fleet: Path) -> None:
    selector = {**builders.select_namespace("apps"), "selectionScope": "NamespaceOnly"}
    commit(fleet, {**FILES, "placements/zz.yaml": to_yaml(builders.placement("zz", selectors=[selector]))})
    planned = json.loads(gitfleet("plan", fleet, "--clusters", "none", "-o", "json").out)
    verbs = {
        one["name"]: {o["action"] for o in one["operations"] if o["object"]["kind"] == "Namespace"}
        for one in planned["placements"]
        if one["name"] in ("apps", "zz")
    }
    assert verbs == {"apps": {"create"}, "zz": {"keep"}}
    assert gitfleet("run", "--until-settled", fleet).code == 0
    assert "failed" not in gitfleet("get", "events", "-C", fleet).out


def test_plan_says_which_variant_a_changed_label_brings(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, FILES)
    assert gitfleet("run", "--until-settled", fleet).code == 0
    commit(fleet, {path: text.replace("staging", "prod") for path, text in STAGING.items()})
    assert "the variants change: apps: prod, was rest" in gitfleet("plan", fleet).out


def test_plan_names_the_clusters_that_lack_a_namespace(gitfleet: Shell, fleet: Path) -> None:
    bare = folder("apps", ("prod", "prod", PROD), REST, namespace="apps")
    namespace = {"resources/apps/prod/ns.yaml": to_yaml(builders.namespace("apps"))}
    commit(fleet, {**FILES, f"resources/apps/{FOLDER}": to_yaml(bare), **namespace})
    document = json.loads(gitfleet("plan", fleet, "-o", "json").out)
    (row,) = document["missingNamespaces"]
    rows = of_apps(document)["clusters"]
    chosen = {row["clusterName"]: row["variants"]["apps"] for row in rows if "variants" in row}
    assert row == {"name": "apps", "clusters": [n for n, v in sorted(chosen.items()) if v == "rest"]}
    assert row["clusters"] and "prod" in chosen.values()
    start = CliText.NAMESPACE_MISSING(name="apps", clusters="").partition("apps")[0]
    assert f"{start}apps" in gitfleet("plan", fleet).out

    commit(fleet, {"gitfleet.yaml": to_yaml(builders.fleet_config(existingNamespaces=["apps"]))})
    assert json.loads(gitfleet("plan", fleet, "-o", "json").out)["missingNamespaces"] == []


def test_plan_and_explain_say_what_a_folder_waits_for(gitfleet: Shell, fleet: Path) -> None:
    certs = {f"resources/certs/{FOLDER}": to_yaml(folder("certs")), "resources/certs/web.yaml": WEB}
    waiting = to_yaml({**APPS, "spec": {**APPS["spec"], "dependsOn": [{"folder": "certs"}]}})
    commit(fleet, {**FILES, **certs, f"resources/apps/{FOLDER}": waiting})
    why = ReconcileText.DEPENDENCY_NOT_PLACED(folder="apps", needed="folder certs", cluster="us-west-1")
    planned = gitfleet("plan", fleet).out
    assert why in planned
    assert CliText.FOLDER_ORDER(folders="certs, apps") in planned
    placements = {one["name"]: one for one in json.loads(gitfleet("plan", fleet, "-o", "json").out)["placements"]}
    # Placement web brings the objects of `certs` to two clusters; the others would wait forever.
    assert {row["clusterName"] for row in placements["apps"]["later"]} == {"eu-west-1", "us-east-1"}
    gitfleet("run", "--until-settled", fleet)
    assert why in gitfleet("explain", "apps", "us-west-1", "-C", fleet).out
