"""`gitfleet plan`: short for people, one document for programs, safe as a comment on a pull request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.apply.texts import ApplyText
from gitfleet.branches.texts import BranchesText
from gitfleet.cli.plan_groups import names, operations_of
from gitfleet.cli.plan_headlines import risk_lines
from gitfleet.cli.texts import CliText
from gitfleet.schedule.texts import ScheduleText
from gitfleet.views.plan_risk import ASSUMES
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, commit, git
from tests.cli.test_validate import BAD, HOSTILE, HOSTILE_PATH
from tests.texts import said

NOT_BEST = ScheduleText.SCORE_NOT_HIGH_ENOUGH(
    scores=ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity=0, topology_spread=0)
)
FIRST = said(f"""\
monitoring (PickAll): 4 clusters, 4 objects, snapshot 0
  4 clusters join, because [[views.PLACEMENT_NEW]]
  bind   eu-north-1, eu-west-1, us-east-1, us-lab-1: [[rollout.GOES_OUT_NEW_CLUSTER|monitoring-0-snapshot]]
  + Namespace/monitoring on eu-north-1, eu-west-1, us-east-1, us-lab-1: [[apply.NOT_CLUSTER_YET]]
  + ConfigMap/monitoring/probe-targets on eu-north-1, eu-west-1, us-east-1, us-lab-1: [[apply.NOT_CLUSTER_YET]]
  + Service/monitoring/probe on eu-north-1, eu-west-1, us-east-1, us-lab-1: [[apply.NOT_CLUSTER_YET]]
  + Deployment/monitoring/probe on eu-north-1, eu-west-1, us-east-1, us-lab-1: [[apply.NOT_CLUSTER_YET]]
web (PickN): 2 clusters, 4 objects, snapshot 0
  2 clusters join, because [[views.PLACEMENT_NEW]]
  bind   eu-west-1, us-east-1: [[rollout.GOES_OUT_NEW_CLUSTER|web-0-snapshot]]
  not    eu-north-1: {NOT_BEST}
  not    us-lab-1: [[schedule.CLUSTER_UNSCHEDULABLE|[[schedule.CLUSTER_NOT_MATCH_ANY_REQUIRED]]]]
  + Namespace/web on eu-west-1, us-east-1: [[apply.NOT_CLUSTER_YET]]
  + ConfigMap/web/web-settings on eu-west-1, us-east-1: [[apply.NOT_CLUSTER_YET]]
  + Service/web/web on eu-west-1, us-east-1: [[apply.NOT_CLUSTER_YET]]
  + Deployment/web/web on eu-west-1, us-east-1: [[apply.NOT_CLUSTER_YET]]
Plan: 24 to create.
""")
STILL = said("""\
monitoring (PickAll): [[cli.UP_DATE_2|4 clusters]], 4 objects, snapshot 0
web (PickN): [[cli.UP_DATE_2|2 clusters]], 4 objects, snapshot 0
[[cli.NO_OBJECT_CHANGES|24 objects]]
""")


@pytest.mark.parametrize("clusters", ["live", "simulated", "none"])
def test_the_first_plan_of_a_new_fleet(gitfleet: Shell, fleet: Path, clusters: str) -> None:
    ended = gitfleet("plan", fleet, "--clusters", clusters)

    assert (ended.code, ended.out, ended.err) == (0, FIRST, "")


def test_nothing_is_written_anywhere(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    before = git(fleet, "for-each-ref")
    kept = tmp_path / "kept"
    gitfleet("plan", fleet, "--clusters", "simulated", "--simulated-dir", kept)

    assert git(fleet, "for-each-ref") == before
    assert git(fleet, "status", "--porcelain") == ""
    assert not kept.exists()


def test_the_detailed_exit_code(gitfleet: Shell, settled: Path, fleet: Path) -> None:
    assert gitfleet("plan", fleet, "--clusters", "none", "--detailed-exitcode").code == 2
    simulated = settled.parent / "cache"
    place = next(simulated.glob("gitfleet/repos/*"))
    ended = gitfleet("plan", settled, "--detailed-exitcode", "--simulated-dir", place / "simulated")
    assert (ended.code, ended.out) == (0, STILL)


def test_an_update_shows_its_diff(gitfleet: Shell, settled: Path, moving: Path) -> None:
    place = next((settled.parent / "cache").glob("gitfleet/repos/*"))
    git(moving, "switch", "--quiet", "--create", "my-change")
    path = moving / "resources" / "web" / "web.yaml"
    old = path.read_text()
    assert "replicas: 2" in old
    new = (
        old.replace("replicas: 2", "replicas: 5")
        .replace("    app: web\nspec:", "spec:", 1)
        .replace("  labels:\n", "", 1)
    )
    commit(moving, {"resources/web/web.yaml": new})
    git(moving, "switch", "--quiet", "main")
    ended = gitfleet("plan", moving, "--rev", "my-change", "--simulated-dir", place / "simulated")

    web = ended.out[ended.out.index("web (PickN)") :]
    assert "  update eu-west-1: " in web and "  wait   us-east-1: " in web  # one cluster at a time: maxUnavailable 1
    changed = ApplyText.MANIFEST_CHANGED()
    assert f"  ~ Deployment/web/web on eu-west-1: {changed}\n" in web
    assert "      -  replicas: 2\n      +  replicas: 5\n" in web
    assert "      -  labels:\n      -    app: web\n" in web  # what the manifest no longer says is taken away
    assert '      removes /metadata/labels (now {"app":"web"})\n' in web
    assert web.endswith(
        f"  later ~ Deployment/web/web on us-east-1: {changed}\n"
        "Plan: 1 to update, 23 in place.\n"
        "Later: 1 to update on 1 cluster.\n"
        "Risk: updates 2 of 24 placed objects (8.3%), on 2 of 4 clusters.\n"
        f"{ASSUMES}\n"
    )
    # Where no cluster is asked, what was applied last is there.
    recorded = json.loads(gitfleet("plan", moving, "--rev", "my-change", "--clusters", "none", "-o", "json").out)
    rows = [row for one in recorded["placements"] for row in one["operations"] if row["removedFields"]]
    assert [(row["clusterName"], row["removedFields"]) for row in rows] == [
        ("eu-west-1", [{"path": "/metadata/labels", "value": '{"app":"web"}'}])
    ]


def test_a_rename_is_named_and_moves_nothing(gitfleet: Shell, moving: Path) -> None:
    text = (moving / "placements" / "monitoring.yaml").read_text()
    renamed = text.replace(
        "  name: monitoring\n", "  name: probes\n  annotations: {gitfleet.dev/renamed-from: monitoring}\n", 1
    )
    commit(moving, {"placements/monitoring.yaml": renamed})
    ended = gitfleet("plan", moving, "--clusters", "none", "--detailed-exitcode")
    assert CliText.RENAMED_NOW_KEEPS(placement="monitoring", placement_name="probes") in ended.out
    assert ended.code == 0
    document = json.loads(gitfleet("plan", moving, "--clusters", "none", "-o", "json").out)
    assert {one["name"]: one["formerName"] for one in document["placements"]} == {"probes": "monitoring", "web": None}


def test_json_has_every_part_of_the_contract(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    document = json.loads(gitfleet("plan", fleet, "--clusters", "none", "-o", "json").out)

    assert {name: type(value).__name__ for name, value in document.items()} == {
        "apiVersion": "str", "kind": "str", "commit": "str", "stateCommit": "NoneType", "faults": "list",
        "placements": "list", "runs": "list", "evictions": "list", "rollouts": "list", "summary": "dict",
        "unreachable": "list", "holds": "list", "risk": "dict", "workTree": "dict", "blocked": "list",
        "folderOrder": "list", "missingNamespaces": "list",
    }  # fmt: skip
    assert document["summary"] == {"create": 24, "update": 0, "delete": 0, "wait": 0, "keep": 0, "refuse": 0}
    web = next(placement for placement in document["placements"] if placement["name"] == "web")
    assert set(web) == {
        "name", "namespace", "placementType", "resourceSnapshotIndex", "resourceHash", "policySnapshotIndex",
        "scheduled", "selectedResources", "clusters", "rollout", "operations", "later", "moves", "removalsHeld",
        "formerName",
    }  # fmt: skip
    assert {row["clusterName"]: row["refusedBy"] for row in web["clusters"] if not row["selected"]} == {
        "eu-north-1": None,
        "us-lab-1": "ClusterAffinity",
    }
    assert document["faults"][0]["path"] == "placements/bad.yaml"


def test_faults_come_first_and_hold_nothing_else_up(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    ended = gitfleet("plan", fleet, "--clusters", "none")

    lines = ended.out.splitlines()
    assert ended.code == 1
    assert lines[0].startswith("error: placements/bad.yaml:7: ClusterResourcePlacement/bad: ")
    assert lines[2] == ViewsText.ERRORS_KEEPS_LAST_GOOD_VERSION()
    assert "\n".join(lines[3:]) + "\n" == FIRST


def test_a_cluster_that_cannot_be_reached_is_named_with_the_reason(gitfleet: Shell, fleet: Path) -> None:
    cluster = (fleet / "clusters" / "eu-west-1.yaml").read_text()
    commit(fleet, {"clusters/eu-west-1.yaml": cluster.replace("simulated: true", "context: eu-west-1")})
    ended = gitfleet("plan", fleet)

    assert ended.code == 0
    why = KubeText.CLUSTER_REACHED_CONTEXT_NO_KUBECONFIG(name="eu-west-1", context="eu-west-1")
    assert ended.out.startswith(f"unreachable: eu-west-1: {why}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--without", "us-east-1"), "bind   eu-north-1, eu-west-1: web-0-snapshot"),
        (("--without", "region=eu"), "! SchedulingPolicyUnfulfilled: "),
        (("--cordon", "us-east-1"), "not    us-east-1: ClusterUnschedulable, taint"),
    ],
)
def test_what_if(gitfleet: Shell, fleet: Path, words: tuple[str, ...], expected: str) -> None:
    ended = gitfleet("plan", fleet, "--clusters", "none", *words)

    assert ended.code == 0
    assert f"  {expected}" in ended.out[ended.out.index("web (PickN)") :]


def test_what_if_with_more_clusters(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra.yaml"
    extra.write_text((fleet / "clusters" / "eu-west-1.yaml").read_text().replace("eu-west-1", "eu-west-9"))
    ended = gitfleet("plan", fleet, "--clusters", "none", "--with", extra)

    assert ended.out.startswith("monitoring (PickAll): 5 clusters, ")
    assert gitfleet("plan", fleet, "--with", tmp_path / "absent").err.startswith("error: ")
    assert gitfleet("plan", fleet, "--without", "nope").err.startswith(
        "error: " + BranchesText.CHOOSES_NO_CLUSTER(option="--without", selector="nope")
    )


def test_with_a_base_only_the_change_is_planned(gitfleet: Shell, fleet: Path) -> None:
    git(fleet, "switch", "--quiet", "--create", "my-change")
    commit(fleet, {"placements/monitoring.yaml": None})
    git(fleet, "switch", "--quiet", "main")
    ended = gitfleet("plan", fleet, "--clusters", "none", "--base", "main", "--rev", "my-change", "-o", "json")

    moves = {
        placement["name"]: {row["move"] for row in placement["rollout"]}
        for placement in json.loads(ended.out)["placements"]
    }
    assert moves["web"] == {"none"}


@pytest.mark.parametrize("clusters", ["live", "simulated"])
def test_with_a_base_no_cluster_is_asked(gitfleet: Shell, fleet: Path, clusters: str) -> None:
    ended = gitfleet("plan", fleet, "--base", "main", "--clusters", clusters)
    assert (ended.code, ended.err.splitlines()[0]) == (64, "error: " + CliText.BASE_ASKS_NO_CLUSTER(clusters=clusters))
    assert gitfleet("plan", fleet, "--base", "main").out == STILL


def test_a_clone_plans_from_the_state_of_its_remote(gitfleet: Shell, settled: Path, tmp_path: Path) -> None:
    """As a job of a forge has it: no branch is checked out, and only remote-tracking branches are there."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(settled), str(clone))
    git(clone, "switch", "--quiet", "--detach")
    git(clone, "branch", "--quiet", "--delete", "main")
    ended = gitfleet("plan", clone, "--clusters", "none", "--rev", "HEAD")
    assert (ended.code, ended.out, ended.err) == (0, STILL, "")
    commit(clone, {"placements/monitoring.yaml": None})
    for words in (("--clusters", "none"), ("--base", "main")):
        document = json.loads(gitfleet("plan", clone, "--rev", "HEAD", *words, "-o", "json").out)
        assert document["stateCommit"] == git(settled, "rev-parse", "gitfleet/state").strip()
        assert [rule["rule"] for rule in document["holds"][0]["reasons"]] == ["StillInRepo", "Emptied", "ProtectedKind"]


def test_a_clone_prefers_its_own_branches(gitfleet: Shell, settled: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(settled), str(clone))
    commit(clone, {"placements/monitoring.yaml": None})
    (hold,) = json.loads(gitfleet("plan", clone, "--clusters", "none", "-o", "json").out)["holds"]
    assert hold["nameIsFinal"]


def test_markdown_for_a_pull_request(gitfleet: Shell, fleet: Path) -> None:
    ended = gitfleet("plan", fleet, "--clusters", "none", "-o", "markdown")
    assert ended.out == f"### gitfleet plan\n\nPlan: 24 to create.\n\n```text\n{FIRST}```\n"


def test_markdown_of_hostile_texts_is_inert(gitfleet: Shell, fleet: Path) -> None:
    settings = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: hostile, namespace: web}
data:
  a: "````\\n</details><img src=x onerror=alert(1)> @everyone"
"""
    commit(fleet, {HOSTILE_PATH: HOSTILE, "resources/web/hostile.yaml": settings})
    out = gitfleet("plan", fleet, "--clusters", "none", "-o", "markdown").out

    outside, fence = [], ""
    for line in out.splitlines():
        if not fence and line.startswith("```"):
            fence = line.removesuffix("text")
        elif fence and line == fence:
            fence = ""
        elif not fence:
            outside.append(line)
    text = "\n".join(outside)
    assert not fence and "\x1b" not in out
    assert "<img" not in text and "<b>" not in text and "@everyone" not in text
    assert "::error file" not in "".join(line[:8] for line in outside)


def operation(cluster: str, **more: Any) -> dict[str, Any]:
    """One row of a Plan document."""
    key = {"group": "", "version": "v1", "kind": "Secret", "namespace": "n", "name": "s"}
    return {"clusterName": cluster, "action": "refuse", "object": key, "reason": "why", "diff": "", **more}


def test_many_clusters_are_counted() -> None:
    placement = {"operations": [operation(f"c{number:03d}") for number in range(200)]}
    (group,) = operations_of(placement)

    assert names(group.clusters) == "c000, c001, c002, c003 and 196 more"
    assert names(("a", "b", "c", "d", "e")) == "a, b, c, d, e"


@pytest.mark.parametrize(
    ("placed", "percent", "share"),
    [(24, 33.3, "8 of 24 placed objects (33.3%)"), (3, 266.7, "8 objects"), (0, None, "8 objects")],
)
def test_what_is_updated_may_be_more_than_what_is_placed(placed: int, percent: float | None, share: str) -> None:
    """Objects that are on the clusters already and get placed now."""
    update = {"objects": 8, "percent": percent}
    risk = {"placed": placed, "delete": {"objects": 0}, "update": update, "touched": 4, "clusters": 4}
    assert list(risk_lines({"risk": {**risk, "namespaces": [], "losses": []}})) == [
        f"Risk: updates {share}, on 4 of 4 clusters."
    ]
