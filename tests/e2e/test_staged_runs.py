"""Staged update runs and evictions on real parts: the seeds' example, approved by merging its branches over HTTP."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
import yaml

from tests import builders
from tests.e2e.manifests import deployment, namespace_file
from tests.e2e.members import Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo, git
from tests.realparts.git_http import GitHttpServer
from tests.scenarios.test_staged_seeds import NAME, strategy, wanted_status

pytestmark = pytest.mark.real

SECONDS = 4
WAIT = f"{SECONDS}s"
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
RUN_COLUMNS = ["NAME", "PLACEMENT", "RESOURCE-SNAPSHOT", "POLICY-SNAPSHOT", "INITIALIZED", "SUCCEEDED", "AGE"]
APPROVAL_COLUMNS = ["NAME", "UPDATE-RUN", "STAGE", "APPROVED", "APPROVALACCEPTED", "AGE"]


def timeless(value: Any, wait: str = "") -> Any:
    """A status without its moments, and with other waits: they are the clock's of the day."""
    if isinstance(value, dict):
        return {k: wait if wait and k == "waitTime" else timeless(part, wait) for k, part in value.items()}
    if isinstance(value, list):
        return [timeless(part, wait) for part in value]
    return "TIME" if isinstance(value, str) and _TIME.match(value) else value


def cluster(member: str, context: str, **labels: str) -> dict[str, Any]:
    """A member cluster that is one of the real ones."""
    return builders.member_cluster(member, labels=labels, connection={"context": context})


def payload(namespace: str) -> dict[str, str]:
    """A namespace with a Deployment."""
    return {
        f"resources/{namespace}/namespace.yaml": namespace_file(namespace),
        f"resources/{namespace}/web.yaml": deployment(namespace, "web:1"),
    }


def merge(config: ConfigRepo, url: str, request: str) -> None:
    """A person merges the branch that asks, over HTTP."""
    git(config.work, "remote", "set-url", "origin", url)
    git(config.work, "fetch", "--quiet", "origin")
    git(config.work, "merge", "--quiet", "--no-ff", "-m", "Approved", f"origin/gitfleet/approve/{request}")
    git(config.work, "push", "--quiet", "origin", "HEAD:main")


def table(program: Program, kind: str) -> tuple[list[str], list[list[str]]]:
    """What `gitfleet get` prints, without ages."""
    lines = program.command("get", kind, "-C", program.repo).output.splitlines()
    return lines[0].split(), [line.split()[:-1] for line in lines[1:]]


def test_the_seeds_run_on_real_servers(
    config: ConfigRepo, program: Program, members: Members, git_http: GitHttpServer
) -> None:
    namespace, url = members.namespace("staged"), git_http.url("fleet")
    first, second = members.by_name["cluster-1"], members.by_name["cluster-2"]
    slow = yaml.safe_load(yaml.safe_dump(strategy()).replace("waitTime: 1m", f"waitTime: {WAIT}"))
    run = builders.staged_run("example-run", placement=NAME, strategy="example-strategy", index="0")
    config.commit(
        {
            **payload(namespace),
            **builders.repo_files_for(
                cluster("member1", "cluster-1", environment="staging"),
                cluster("member2", "cluster-2", environment="canary", name="1"),
                builders.placement(NAME, namespace, strategy={"type": "External"}),
                slow,
                run,
            ),
        }
    )
    at_the_gate = program.settle()
    assert "waits after stage staging for approval example-run-staging" in at_the_gate.talk
    assert (first.is_available(namespace), second.has_namespace(namespace)) == (True, False)
    assert table(program, "csur") == (RUN_COLUMNS, [["example-run", NAME, "0", "0", "True"]])
    asked = ["example-run-staging", "example-run", "staging"]
    assert table(program, "approvals") == (APPROVAL_COLUMNS, [asked])

    merge(config, url, "example-run-staging")
    program.settle()
    assert second.is_available(namespace)
    canary = ["example-run-canary", "example-run", "canary"]
    assert table(program, "approvals") == (APPROVAL_COLUMNS, [canary, [*asked, "True", "True"]])
    merge(config, url, "example-run-canary")
    program.settle()
    assert table(program, "csur") == (RUN_COLUMNS, [["example-run", NAME, "0", "0", "True", "True"]])
    found = config.state("runs/example-run.yaml")["status"]
    assert timeless(found, WAIT) == timeless(wanted_status(), WAIT)
    elapsed = [
        moment(task) - moment(stage)
        for stage in found["stagesStatus"]
        for task in stage["afterStageTaskStatus"]
        if task["type"] == "TimedWait" and stage["clusters"]
    ]
    assert len(elapsed) == 1 and all(wait >= timedelta(seconds=SECONDS) for wait in elapsed)


def moment(status: dict[str, Any]) -> datetime:
    """When the first condition of a status came about."""
    return datetime.fromisoformat(status["conditions"][0]["lastTransitionTime"])
