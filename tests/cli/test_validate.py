"""`gitfleet validate`: every fault in every format; nothing in the repo can forge a line or steer a terminal."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.texts import ApiText
from gitfleet.cli.texts import CliText
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from gitfleet.loop.texts import LoopText
from gitfleet.wiring import hub
from tests import builders
from tests.cli.conftest import Shell, commit, git, make_repo
from tests.sops_files import AgeKey, encrypted
from tests.texts import part

BAD = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata:
  name: bad
spec:
  resourceSelectors:
    - {group: "", version: v1, kind: Namespace, nmae: web}
  policy:
    placementType: PickN
    numberOfClusters: -2
"""
WARNED = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: warned}
spec:
  resourceSelectors:
    - {group: "", version: v1, kind: Namespace, name: web}
  strategy:
    rollingUpdate: {maxSurge: 0}
"""
HOSTILE_PATH = "placements/a\x1b[31m,b:c\n::error file=x::forged%0A.yaml"
HOSTILE = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: "x\\e[31m|`<b>@all\\n::error::forged"}
spec: 3
"""


def test_a_sound_commit(gitfleet: Shell, fleet: Path) -> None:
    ended = gitfleet("validate", fleet)

    commit_id = git(fleet, "rev-parse", "HEAD").strip()
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"commit {commit_id[:12]} has no errors and no warnings\n"


def test_every_fault_with_path_line_object_and_field(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    ended = gitfleet("validate", fleet)

    assert ended.code == 1
    assert ended.out == (
        "placements/bad.yaml:7: ClusterResourcePlacement/bad: spec.resourceSelectors[0].nmae: "
        f"{ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near='name'))}\n"
        "placements/bad.yaml:10: ClusterResourcePlacement/bad: spec.policy.numberOfClusters: "
        f"{FormatsText.MUST_LEAST_RAISE()}\n"
    )
    assert ended.err.endswith("has 2 errors and no warnings\n")


def test_warnings_alone_are_no_failure(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/warned.yaml": WARNED})
    ended = gitfleet("validate", fleet)

    assert ended.code == 0
    assert ended.out.startswith("placements/warned.yaml:8: ClusterResourcePlacement/warned: ")
    assert ended.out.endswith(" (warning)\n")
    assert ended.err.endswith("has no errors and 1 warning\n")
    assert gitfleet("validate", fleet, "-o", "github").out.startswith("::warning file=placements/warned.yaml,line=8::")


def test_another_revision_is_read_and_the_work_tree_is_not(gitfleet: Shell, fleet: Path) -> None:
    git(fleet, "switch", "--quiet", "--create", "my-change")
    commit(fleet, {"placements/bad.yaml": BAD})
    git(fleet, "switch", "--quiet", "main")
    (fleet / "placements" / "not-committed.yaml").write_text(BAD)

    assert gitfleet("validate", fleet).code == 0
    assert gitfleet("validate", fleet, "--rev", "my-change").code == 1


def test_json_is_one_document(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad.yaml": BAD})
    document = json.loads(gitfleet("validate", fleet, "-o", "json").out)

    assert document == {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FaultList",
        "commit": git(fleet, "rev-parse", "HEAD").strip(),
        "faults": [
            {
                "path": "placements/bad.yaml",
                "line": 7,
                "object": "ClusterResourcePlacement/bad",
                "field": "spec.resourceSelectors[0].nmae",
                "message": ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near="name")),
                "severity": "error",
                "code": "NOT_KNOWN_FIELD",
                "cause": document["faults"][0]["cause"],
            },
            {
                "path": "placements/bad.yaml",
                "line": 10,
                "object": "ClusterResourcePlacement/bad",
                "field": "spec.policy.numberOfClusters",
                "message": FormatsText.MUST_LEAST_RAISE(),
                "severity": "error",
                "code": "MUST_LEAST_RAISE",
                "cause": document["faults"][1]["cause"],
            },
        ],
    }


PASTED = "\n---\n".join(f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c-{n}}}}}" for n in range(33)) + "\n"
"""What somebody else's repo has: objects that leave the namespace to whoever applies them."""
LOST = PASTED.replace("metadata: {", "metadata: {namespace: shop, ")


def test_errors_of_one_cause_are_one_line(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"resources/a.yaml": PASTED, "resources/b.yaml": LOST})
    ended = gitfleet("validate", fleet)
    required = DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind="ConfigMap", folder_file=FOLDER_FILE)
    lost = DesiredText.NO_NAMESPACE_MANIFEST_REPO(name="shop", folder_file=FOLDER_FILE, near="")
    assert ended.out.splitlines() == [
        f"resources/a.yaml:1 and 32 more: ConfigMap/c-0: metadata.namespace: {required}",
        f"resources/b.yaml:1 and 32 more: ConfigMap/shop/c-0: metadata.namespace: {lost}",
    ]
    assert ended.err.endswith(f"has 66 errors and no warnings{CliText.LISTED_WITH_V()}\n")

    every = gitfleet("validate", fleet, "-v")
    assert len(every.out.splitlines()) == 66 and " more" not in every.out
    assert every.err.endswith("has 66 errors and no warnings\n")
    annotations = gitfleet("validate", fleet, "-o", "github").out.splitlines()
    assert [line.rpartition(" (")[2] for line in annotations] == ["and 32 more)"] * 2

    faults = json.loads(gitfleet("validate", fleet, "-o", "json").out)["faults"]
    causes = Counter((fault["code"], fault["cause"]) for fault in faults)
    assert sorted((code, number) for (code, _), number in causes.items()) == [
        ("NO_NAMESPACE_MANIFEST_REPO", 33),
        ("PAYLOAD_NEEDS_NAMESPACE", 33),
    ]


def test_plan_run_and_the_state_branch_say_it_in_one_line_too(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"resources/a.yaml": PASTED})
    required = DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind="ConfigMap", folder_file=FOLDER_FILE)
    line = f"resources/a.yaml:1 and 32 more: ConfigMap/c-0: metadata.namespace: {required}"
    planned = gitfleet("plan", fleet, "--clusters", "none").out
    assert f"error: {line}\n" in planned and planned.count(required) == 1
    shown = f"- error `resources/a.yaml:1` and 32 more `ConfigMap/c-0` `metadata.namespace` `{required}`\n"

    ran = gitfleet("run", "--once", fleet)
    assert f"error: {line}\n" in ran.err and (ran.out + ran.err).count(required) == 1
    page = git(fleet, "show", "gitfleet/state:README.md")
    assert shown in page and page.count(required) == 1
    assert git(fleet, "log", "--format=%b", "gitfleet/state").count(required) == 1


def test_a_commit_without_anything(gitfleet: Shell, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"README.md": "A repo.\n"})
    ended = gitfleet("validate", repo)
    assert (ended.code, ended.out) == (1, f".:1: {LoopText.NOTHING_WRITTEN()}\n")
    assert ended.err.endswith("has 1 error and no warnings\n")


def test_sarif_as_code_scanning_reads_it(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"placements/bad one.yaml": BAD})
    document = json.loads(gitfleet("validate", fleet, "-o", "sarif").out)

    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert run["tool"]["driver"]["name"] == "gitfleet"
    assert {result["ruleId"] for result in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    first = run["results"][0]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "placements/bad%20one.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7},
    }


def test_hostile_names_stay_on_their_line(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {HOSTILE_PATH: HOSTILE, "placements/hostile.yaml": HOSTILE})
    faults = json.loads(gitfleet("validate", fleet, "-o", "json").out)["faults"]
    text, github = gitfleet("validate", fleet, "-v"), gitfleet("validate", fleet, "-v", "-o", "github")

    for out in (text.out, github.out):
        assert "\x1b" not in out
        assert len(out.splitlines()) == len(faults) > 2
    assert not any(line.startswith("::") for line in text.out.splitlines())
    for line in github.out.splitlines():
        properties = line.removeprefix("::error ").split("::")[0]
        assert line.startswith("::error file=") and properties.count(",") == 1 and properties.count("=") <= 3
    assert json.loads(gitfleet("validate", fleet, "-o", "sarif").out)["runs"]


def test_uncommitted_changes_are_named_or_read(gitfleet: Shell, fleet: Path) -> None:
    (fleet / "resources/web/web.yaml").write_text("bogus: [")
    committed = gitfleet("validate", fleet)
    assert (committed.code, committed.err.splitlines()[-1]) == (
        0,
        CliText.NOT_READ_WORK_TREE_UNCOMMITTED(uncommitted="1 file (resources/web/web.yaml)"),
    )
    read = gitfleet("validate", fleet, "--work-tree")
    assert read.code == 1 and "resources/web/web.yaml:1" in read.out
    assert (
        read.err.startswith(CliText.WORK_TREE() + " has ")
        and part(CliText.NOT_READ_WORK_TREE_UNCOMMITTED) not in read.err
    )
    assert gitfleet("validate", fleet, "--work-tree", "--rev", "main").code == 64


def test_what_is_encrypted_is_checked_where_the_key_is_given(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    key, other = AgeKey(), AgeKey()
    commit(fleet, {"resources/web/db.yaml": encrypted(builders.secret("web", "db", {"a": "b"}), to=other)})
    ended = gitfleet("validate", fleet)
    assert (ended.code, ended.out) == (0, "")
    assert CliText.NOT_DECRYPTED_NAME_KEY_SOPS(count="1 Secret") in ended.err
    ended = gitfleet("validate", fleet, "--sops-age-key-file", key.file(tmp_path))
    assert ended.code == 1
    assert f"the file is encrypted for {other.recipient}" in " ".join(ended.out.split())
    assert gitfleet("validate", fleet, "--sops-age-key-file", other.file(tmp_path)).code == 0


SLOW = f"""#!/bin/sh
{shutil.which("sleep")} {{}}
echo '{{{{apiVersion: v1, kind: ConfigMap, metadata: {{{{name: slow, namespace: web}}}}}}}}'
"""


@pytest.fixture
def kustomize(tmp_path: Path, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that stands for kustomize, with a folder that it builds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "kustomize"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    commit(fleet, {"resources/slow/kustomization.yaml": "{}\n"})
    return program


def test_one_pass_waits_for_a_folder_that_takes_long_to_build(
    gitfleet: Shell, fleet: Path, kustomize: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "TRY_SECONDS", 0.3)
    kustomize.write_text(SLOW.format(1))
    assert gitfleet("run", fleet, "--once").code == 0
    files = git(fleet, "ls-tree", "-r", "--name-only", "gitfleet/state")
    assert "faults.yaml" not in files.split() and "snapshots/resources/web/1/snapshot.yaml" in files, files
