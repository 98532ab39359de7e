"""What contracts.md §2, §4 and §5 and cli.md list is what the program writes and has, no more and no less."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gitfleet.cli.commands import COMMANDS
from gitfleet.formats.yaml_reader import read_documents
from gitfleet.model.events import EventType
from tests.builders import eviction, repo_files_for, to_yaml
from tests.cli.conftest import Shell, commit, git
from tests.folders import FOLDER, folder
from tests.scenarios.test_overrides_that_fail import failing_override
from tests.views.test_plan_risk import BEGINS, IN_WEB, lacking, scaled_down
from tests.views.test_rollout_documents import whole_documents

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "contracts.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\d)\. [^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
FILES: dict[str, str] = dict(re.findall(r"^([\w/<>.-]+)  +(\w.*)$", SECTIONS["2"], re.MULTILINE))
"""What the page says of each path of the state branch."""
NOT_IN_THE_FLEET = {
    *("placements/<namespace>/<name>.yaml", "runs/<name>.yaml", "approvals/<name>.yaml", "quarantines/<name>.yaml"),
    "holds/<name>/",
}
ELSEWHERE = """\
apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata: {name: elsewhere, labels: {env: lab}}
spec: {connection: {context: nowhere}}
"""


def change(repo: Path) -> None:
    """One commit that is held in part and has an error, an update in steps, a cluster that leaves, one that no process
    can reach and an eviction."""
    web = repo / "resources/web/web.yaml"
    web.write_text(web.read_text().replace("replicas: 2", "replicas: 5"))
    placement = repo / "placements/web.yaml"
    placement.write_text(placement.read_text().replace("numberOfClusters: 2", "numberOfClusters: 3"))
    (repo / "clusters/us-lab-1.yaml").unlink()
    (repo / "clusters/elsewhere.yaml").write_text(ELSEWHERE)
    override = repo / "overrides/web-in-the-us.yaml"
    override.write_text(override.read_text().replace("spec:", "spec: 5\nother:"))
    monitoring = repo / "resources/monitoring/monitoring.yaml"
    commit(
        repo,
        {
            "resources/monitoring/monitoring.yaml": monitoring.read_text().replace("probe-targets", "probe-target"),
            **repo_files_for(eviction("drain", "web", "eu-west-1")),
        },
    )


def fields_of(value: Any, at: str = "$") -> set[str]:
    """Every field of a document by its path; a list counts by what its elements have, so an empty one has no `[]`."""
    if isinstance(value, dict):
        return {at, *(path for key, one in value.items() for path in fields_of(one, f"{at}.{key}"))}
    if isinstance(value, list):
        return {at, *(path for one in value for path in fields_of(one, f"{at}[]"))}
    return {at}


def test_the_plan_has_the_fields_of_the_page(gitfleet: Shell, moving: Path) -> None:
    change(moving)
    folders = (folder("monitoring"), folder("web", dependsOn=[{"folder": "monitoring"}]))
    files = {f"resources/{body['metadata']['name']}/{FOLDER}": to_yaml(body) for body in folders}
    commit(moving, {"overrides/blocking.yaml": to_yaml(failing_override()), **files})
    (moving / "gitfleet.yaml").write_text((moving / "gitfleet.yaml").read_text() + "# a remark\n")
    (shown,) = re.findall(r"```json\n(.*?)```", SECTIONS["4"], re.DOTALL)
    page = json.loads(shown)

    plans = [json.loads(gitfleet("plan", moving, "--clusters", how, "-o", "json").out) for how in ("live", "none")]
    assert all(plan["rollouts"] == [] for plan in plans)
    plans.append({"rollouts": whole_documents()})
    plans.append({"missingNamespaces": lacking((IN_WEB,))})
    plans.append({"risk": {"scaledDown": scaled_down(0, BEGINS, replicas=6)}})

    assert set().union(*map(fields_of, plans)) == fields_of(page)


def test_the_state_branch_has_the_files_of_the_page(gitfleet: Shell, moving: Path) -> None:
    change(moving)
    gitfleet("run", "--once", moving)
    paths = git(moving, "ls-tree", "-r", "--name-only", "gitfleet/state").split()
    patterns = {path: pattern_of(path) for path in FILES}

    assert [path for path in paths if not any(pattern.fullmatch(path) for pattern in patterns.values())] == []
    unmet = {path for path, pattern in patterns.items() if not any(map(pattern.fullmatch, paths))}
    assert unmet == NOT_IN_THE_FLEET


@pytest.mark.parametrize(
    ("path", "listed"), [("fleet.yaml", "fleet.yaml"), ("placements/web.yaml", "placements/<name>.yaml")]
)
def test_the_status_of_a_file_is_what_the_page_says(settled: Path, path: str, listed: str) -> None:
    (document,) = read_documents(git(settled, "show", f"gitfleet/state:{path}").encode())
    status = document["status"]
    keys = {*status, *status.get("gitfleet", {})}

    assert keys and keys <= set(re.findall(r"\w+", FILES[listed]))


def test_the_page_lists_every_event() -> None:
    listed = set(re.findall(r'`(\w+)`|"type": "(\w+)"', re.sub(r'"type":\s+', '"type": ', SECTIONS["5"])))
    assert {event.value for event in EventType} <= {name for names in listed for name in names}


def test_the_table_of_commands_is_complete() -> None:
    rows = re.findall(r"^\| `([a-z]+)[ `]", (DOCS / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == set(COMMANDS)


def pattern_of(path: str) -> re.Pattern[str]:
    """The paths that one of the page stands for."""
    names = {"<path>": ".+", "<index>": "[0-9]+", "<part>": "(all|[0-9a-f]+)"}
    parts = re.split(r"(<\w+>)", path)
    return re.compile("".join(names.get(part, "[^/]+") if part.startswith("<") else re.escape(part) for part in parts))
