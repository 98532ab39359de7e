"""Reports of agents on a real remote: read with one fetch, signed or not."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.texts import GitText
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import Branches
from gitfleet.api.member_reports import MemberReport
from gitfleet.fleet.pull_clusters import PullClusters
from gitfleet.fleet.pull_reports import PullReports, Silence
from gitfleet.ports.repos import BranchChange, Person
from gitfleet.pull import report_content
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
NAMES = tuple(f"shop-{number}" for number in range(20))


def report(name: str, at: datetime) -> bytes:
    """A report of a cluster that has nothing."""
    return report_content(MemberReport(cluster=name, at=at))


def pushed(
    remote: GitRemote, name: str, expected: str | None, person: Person | None = None, content: bytes = b""
) -> str:
    """An agent's commit."""
    now = datetime.now(UTC)
    return remote.commit(
        BranchChange(
            branch=f"gitfleet/member/{name}",
            expected=expected,
            base="",
            subject="Report",
            when=now,
            write={"report.yaml": report(name, now)},
            person=person,
        )
    )


def clusters(*public_keys: str) -> dict[str, MemberCluster]:
    connection = Connection(pull=True, public_keys=public_keys)
    return {name: MemberCluster(name=name, connection=connection) for name in NAMES}


def uploads(server: GitHttpServer) -> int:
    """How many fetches brought something: each is one POST that asks for refs and at least one that asks for packs."""
    return sum(request.startswith("POST") and "git-upload-pack" in request for request in server.requests)


def test_all_reports_are_read_with_one_fetch(git_http: GitHttpServer, tmp_path: Path) -> None:
    git_http.create("fleet")
    agent, hub = (GitRemote(git_http.url("fleet"), tmp_path / name) for name in ("agent", "hub"))
    heads = {name: pushed(agent, name, None) for name in NAMES}
    pull = PullClusters.on(hub, SystemClock())
    pull.gather(hub.fetch(()), Branches(), clusters())
    assert [pull.report_of(cluster) for cluster in clusters().values()] == [heads[name] for name in NAMES]
    newer = {name: pushed(agent, name, heads[name]) for name in NAMES[:15]}
    git_http.requests.clear()
    pull.gather(hub.fetch(pull.needed), Branches(), clusters())
    all_of_them = uploads(git_http)
    assert {name: pull.reports.head_of(name) for name in newer} == newer
    pushed(agent, "shop-19", heads["shop-19"])
    git_http.requests.clear()
    pull.gather(hub.fetch(pull.needed), Branches(), clusters())
    assert uploads(git_http) == all_of_them, "fifteen cost as many requests as one"
    git_http.requests.clear()
    pull.gather(hub.fetch(pull.needed), Branches(), clusters())
    assert uploads(git_http) < all_of_them, "and none but an ls-remote while nothing changes"


@pytest.mark.parametrize("signed_by", ["its own key", "another key", "nobody"])
def test_only_what_one_of_the_clusters_keys_signed_counts(
    git_http: GitHttpServer, tmp_path: Path, signed_by: str
) -> None:
    git_http.create("fleet")
    remote = GitRemote(git_http.url("fleet"), tmp_path / "mirror")
    keys = {name: tmp_path / name for name in ("its own key", "another key")}
    for path in keys.values():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    signer = None
    if signed_by in keys:
        signing = {"gpg.format": "ssh", "user.signingkey": str(keys[signed_by])}
        signer = Person(name="agent", email="agent@example.com", signing=signing)
    pushed(remote, "shop-1", None, signer)
    public = Path(f"{keys['its own key']}.pub").read_text().strip()
    cluster = clusters(public)["shop-1"]
    reports = PullReports(remote, remote, SystemClock())
    reports.read(remote.fetch(()), Branches(), [cluster])
    found = reports.report_of(cluster, Branches(), datetime.now(UTC))
    said = found.why if isinstance(found, Silence) else "counts"
    assert {
        "its own key": said == "counts",
        "another key": GitText.KEY_NOT_ALLOWED() in said,
        "nobody": GitText.NOT_SIGNED() in said,
    }[signed_by], said


def test_a_report_counts_no_more_once_its_key_is_taken_away(git_http: GitHttpServer, tmp_path: Path) -> None:
    git_http.create("fleet")
    remote = GitRemote(git_http.url("fleet"), tmp_path / "mirror")
    public = []
    for name in ("old", "new"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
        public.append((tmp_path / f"{name}.pub").read_text().strip())
    signing = {"gpg.format": "ssh", "user.signingkey": str(tmp_path / "old")}
    pushed(remote, "shop-1", None, Person(name="agent", email="agent@example.com", signing=signing))
    reports, found = PullReports(remote, remote, SystemClock()), []
    for key in public:
        cluster = clusters(key)["shop-1"]
        reports.read(remote.fetch(()), Branches(), [cluster])
        found.append(isinstance(reports.report_of(cluster, Branches(), datetime.now(UTC)), Silence))
    assert found == [False, True]
