"""Who may approve a stage, from commit to status, for runs with and without a namespace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet.approvals.texts import ApprovalsText
from gitfleet.cli.main import run
from tests import builders
from tests.cli.conftest import Shell, copied, git, tiered
from tests.cli.test_approvals import Person, as_person, assert_status_says, merge_into, sign_as
from tests.realparts import signers

POLICY = """\
apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  approvals: {required: 2, allowedSigners: keys/signers, separateDuties: true, expiresAfter: 1h}
"""
NAMES = ("ann", "bob", "cyd")


@dataclass(frozen=True)
class Gate:
    """A run `go` that Ann committed and that waits before its only stage. Ann, Bob and Cyd may sign, Eve may not."""

    repo: Path
    namespace: str
    people: dict[str, Person]
    run: str = "go"
    digest: str = ""

    @property
    def request(self) -> str:
        return f"{self.run}-before-all"

    def path(self, number: str = "") -> str:
        folder = f"approvals/{self.namespace}" if self.namespace else "approvals"
        return f"{folder}/{self.request}{number}.yaml"

    def text(self, number: str = "") -> str:
        kind = "ApprovalRequest" if self.namespace else "ClusterApprovalRequest"
        place = f", namespace: {self.namespace}" if self.namespace else ""
        note = f", annotations: {{gitfleet.dev/digest: '{self.digest}'}}"
        return (
            f"apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: {kind}\n"
            f"metadata: {{name: {self.request}{number}{place}{note}}}\n"
            'status: {conditions: [{type: Approved, status: "True"}]}\n'
        )

    def asked(self) -> str:
        """The digest that the request's branch names."""
        owner = f"{self.namespace}_" if self.namespace else ""
        file = git(self.repo, "show", f"gitfleet/approve/{owner}{self.request}:{self.path()}")
        return file.partition("gitfleet.dev/digest: ")[2].split()[0].strip('"')

    def approve(self, who: str, number: str = "", *, ago: float = 0) -> None:
        """A person commits an approval so many hours ago."""
        files = {self.path(number): self.text(number)}
        as_person(self.repo, self.people[who], timedelta(hours=ago), "commit", files=files)

    def start(self, who: str, name: str) -> None:
        """A person commits a run, in the place of the first one."""
        (self.repo / builders.path_of(bodies(self.namespace, self.run)[-1])).unlink(missing_ok=True)
        files = builders.repo_files_for(*bodies(self.namespace, name)[-1:])
        as_person(self.repo, self.people[who], timedelta(), "commit", files=files)


def scoped(body: dict[str, Any], namespace: str) -> dict[str, Any]:
    """A cluster-scoped object, or the one of a namespace that does the same."""
    if not namespace:
        return body
    kind = body["kind"].replace("ClusterStaged", "Staged").replace("ClusterResource", "Resource")
    return {**body, "kind": kind, "metadata": {**body["metadata"], "namespace": namespace}}


def bodies(namespace: str, run: str) -> list[dict[str, Any]]:
    gated = builders.stage("all", beforeStageTasks=[{"type": "Approval"}])
    placed = builders.placement("shop", strategy={"type": "External"}, policy=builders.pick_fixed("us-east-1"))
    if namespace:
        placed["spec"]["resourceSelectors"] = [{"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}]
    made = [placed, builders.staged_strategy("gated", gated)]
    made.append(builders.staged_run(run, placement="shop", strategy="gated"))
    return [scoped(body, namespace) for body in made]


@pytest.fixture(scope="module", params=tiered({"cluster": "", "namespaced": "shop"}, "namespaced"))
def made(request: pytest.FixtureRequest, settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    home = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        repo = copied(settled, home / "fleet")
    people = {name: Person(name, signers.ssh_key(home / name)) for name in (*NAMES, "eve")}
    keys = [(people[name].key, people[name].email.encode()) for name in NAMES]
    lines = [key.public(email).decode() for key, email in keys if key is not None]
    shop = [builders.namespace("shop"), builders.deployment("shop", "web")]
    if request.param:  # a ResourcePlacement needs its namespace on the cluster
        holder = builders.placement("holder", policy=builders.pick_fixed("us-east-1"))
        holder["spec"]["resourceSelectors"] = [
            {"group": "", "version": "v1", "kind": "Namespace", "name": "shop", "selectionScope": "NamespaceOnly"}
        ]
        shop.append(holder)
    *placed, go = bodies(request.param, "go")
    files = builders.repo_files_for(*shop, *placed)
    config = {"gitfleet.yaml": POLICY, "keys/signers": "".join(lines), ".gitfleetignore": "keys/\n"}
    as_person(repo, people["ann"], timedelta(), "commit", files={**files, **config})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        assert run(["run", "--once", str(repo)]) == 0
        as_person(repo, people["ann"], timedelta(), "commit", files=builders.repo_files_for(go))
        as_person(repo, people["bob"], timedelta(), "commit", files={"NOTES": "of others, when the gate is reached"})
        assert run(["run", "--until-settled", str(repo)]) == 0
    gate = Gate(repo, request.param, people)
    yield replace(gate, digest=gate.asked())


@pytest.fixture
def gate(made: Gate, tmp_path: Path) -> Gate:
    return replace(made, repo=copied(made.repo, tmp_path / "fleet"))


def beside_bobs(why: str, *who: str) -> Callable[[Gate], str]:
    """Bob approves, and somebody does in a second file."""

    def give(gate: Gate) -> str:
        gate.approve("bob")
        for name in who:
            gate.approve(name, ".2")
        return why

    return give


def of_an_earlier_run_of_the_name(gate: Gate) -> str:
    """The signed commits of a gate that opened are merged again, when a run of the same name waits."""
    by_two_files(gate)
    given = git(gate.repo, "rev-parse", "HEAD").strip()
    files = {path: (gate.repo / path).read_text() for path in (gate.path(), gate.path(".2"))}
    assert run(["run", "--until-settled", str(gate.repo)]) == 0
    for path in files:
        (gate.repo / path).unlink()
    gate.start("ann", "other")
    assert run(["run", "--until-settled", str(gate.repo)]) == 0
    (gate.repo / builders.path_of(bodies(gate.namespace, "other")[-1])).unlink()
    gate.start("ann", "go")
    assert run(["run", "--until-settled", str(gate.repo)]) == 0
    merge_into(gate.repo, given, files)
    return ApprovalsText.ANOTHER_REQUEST(asked=gate.request, digest="its annotation gitfleet.dev/digest says")


def by_a_key_renamed_between(gate: Gate) -> str:
    """Eve's push gives Bob's key another name, which is reconciled, and Bob approves on top of that once more."""
    gate.approve("bob")
    lines = (gate.repo / "keys" / "signers").read_text().replace("bob@", "zed@")
    as_person(gate.repo, gate.people["eve"], timedelta(), "commit", files={"keys/signers": lines})
    assert run(["run", "--once", str(gate.repo)]) == 0
    gate.approve("bob", ".2")
    return TWICE


def self_given_under_another_name(gate: Gate) -> str:
    """Eve's push gives Ann's key another name, by which Ann approves her own change, and it is reconciled."""
    gate.approve("bob")
    lines = (gate.repo / "keys" / "signers").read_text().replace("ann@", "zed@")
    as_person(gate.repo, gate.people["eve"], timedelta(), "commit", files={"keys/signers": lines})
    zed = Person("zed", gate.people["ann"].key)
    as_person(gate.repo, zed, timedelta(), "commit", files={gate.path(".2"): gate.text(".2")})
    as_person(gate.repo, gate.people["eve"], timedelta(), "commit", files={"NOTES": "later"})
    assert run(["run", "--once", str(gate.repo)]) == 0
    return BY_ANN


def by_a_key_that_expired(gate: Gate) -> str:
    """It ended yesterday, and its commit says that it is of the day before."""
    ended = f"{datetime.now(UTC) - timedelta(hours=24):%Y%m%d}"
    lines = (gate.repo / "keys" / "signers").read_text().splitlines()
    limited = [line.replace(" ", f' valid-before="{ended}" ', 1) if "cyd" in line else line for line in lines]
    policy = POLICY.replace(", expiresAfter: 1h", "")
    files = {"keys/signers": "\n".join(limited), "gitfleet.yaml": policy}
    as_person(gate.repo, gate.people["ann"], timedelta(), "commit", files=files)
    gate.start("ann", "next")
    assert run(["run", "--until-settled", str(gate.repo)]) == 0
    later = replace(gate, run="next")
    later = replace(later, digest=later.asked())
    later.approve("bob")
    later.approve("cyd", ".2", ago=72)
    return "is signed with a key that is not valid now"


ONE = ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="bob@example.com")
TWICE = ApprovalsText.BY_SAME_PERSON(person="bob@example.com")
BY_ANN = ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.com")


def self_given_and_reformatted_by_another(gate: Gate) -> str:
    beside_bobs(BY_ANN, "ann")(gate)
    reformat(gate, "cyd", ".2")
    return BY_ANN


def reformat(gate: Gate, who: str, *numbers: str) -> None:
    """A person signs a commit that writes approvals another way, and says nothing else."""
    said = {number: yaml.safe_load((gate.repo / gate.path(number)).read_text()) for number in numbers}
    files = {gate.path(number): json.dumps(one, indent=1) for number, one in said.items()}
    as_person(gate.repo, gate.people[who], timedelta(), "commit", files=files)


COUNT_FOR_NOTHING: dict[str, Callable[[Gate], str]] = {
    "one of two": beside_bobs(ONE),
    "twice by a key that was renamed between": by_a_key_renamed_between,
    "self-given under another name": self_given_under_another_name,
    "by a key that expired": by_a_key_that_expired,
    "self-given, formatted by another": self_given_and_reformatted_by_another,
    "replayed of an earlier run": of_an_earlier_run_of_the_name,
}


@pytest.mark.parametrize("give", tiered(COUNT_FOR_NOTHING, "one of two", "twice by a key that was renamed between"))
def test_an_approval_of_a_stage_that_counts_for_nothing_says_why(
    gitfleet: Shell, gate: Gate, give: Callable[[Gate], str]
) -> None:
    why = give(gate)
    ran = gitfleet("run", "--until-settled", gate.repo)
    assert ran.code == 0
    (waits,) = [line for line in ran.err.splitlines() if line.startswith("waiting: ")]
    assert why in waits and "`gitfleet approve " in waits
    if not why.startswith("1 of 2"):
        warning = next(line for line in ran.err.splitlines() if line.startswith("warning: approvals/"))
        assert why in warning
        assert why in git(gate.repo, "show", "gitfleet/state:README.md")
    assert_status_says(gitfleet, gate.repo, "approvals", why)
    assert stage_of(gitfleet, gate) == ("all gated", "0/1")


def stage_of(gitfleet: Shell, gate: Gate) -> tuple[str, str]:
    """Stage and Updated, of the run."""
    lines = gitfleet("get", "csur" if not gate.namespace else "sur", "-C", gate.repo, "-o", "wide").out.splitlines()
    titles = lines[0]
    cells = [lines[1][titles.index(t) :].partition("  ")[0].strip() for t in ("STAGE", "UPDATED")]
    return cells[0], cells[1]


def by_two_files(gate: Gate) -> None:
    gate.approve("bob")
    gate.approve("cyd", ".2")


def by_a_merge_and_the_command(gate: Gate) -> None:
    owner = f"{gate.namespace}/" if gate.namespace else ""
    branch = f"gitfleet/approve/{owner.replace('/', '_')}{gate.request}"
    as_person(gate.repo, gate.people["bob"], timedelta(), "merge", "--no-ff", branch)
    sign_as(gate.repo, gate.people["cyd"])
    assert run(["approve", f"{owner}go", "all", "-C", str(gate.repo)]) == 0


def and_a_stranger_formats_them(gate: Gate) -> None:
    by_two_files(gate)
    reformat(gate, "eve", "", ".2")


COUNT = (by_two_files, by_a_merge_and_the_command, and_a_stranger_formats_them)


@pytest.mark.parametrize("give", tiered({give.__name__: give for give in COUNT}, "by_a_merge_and_the_command"))
def test_two_signed_approvals_of_others_open_the_gate(
    gitfleet: Shell, gate: Gate, give: Callable[[Gate], None]
) -> None:
    give(gate)
    ran = gitfleet("run", "--until-settled", gate.repo)
    assert "warning" not in ran.err and "waiting" not in ran.err
    assert stage_of(gitfleet, gate) == ("<none>", "1/1")
    (request,) = json.loads(gitfleet("get", "approvals", "-C", gate.repo, "-o", "json").out)["items"]
    said = [(c["type"], c["status"]) for c in request["status"]["conditions"]]
    assert said == [("Approved", "True"), ("ApprovalAccepted", "True")]


def test_the_command_fails_where_its_commit_cannot_count(gitfleet: Shell, gate: Gate) -> None:
    """And pushes nothing: unsigned, by who made the change, and by who approved already."""
    stage = (f"{gate.namespace}/go" if gate.namespace else "go", "all", "-C", gate.repo)
    for who, why in (("", "is not signed"), ("ann", BY_ANN), ("bob", ""), ("bob", TWICE), ("cyd", "")):
        if who:
            sign_as(gate.repo, gate.people[who])
        before = git(gate.repo, "for-each-ref")
        told = gitfleet("approve", *stage)
        assert (told.code, why in told.err) == (1 if why else 0, True), told.err
        assert (git(gate.repo, "for-each-ref") == before) is bool(why)
    ran = gitfleet("run", "--until-settled", gate.repo)
    assert "warning" not in ran.err and "waiting" not in ran.err
