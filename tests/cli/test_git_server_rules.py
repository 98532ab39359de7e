"""The rules of examples/git-server on a real server: who may push and see what, and the hub's work under them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import GIT, Shell, commit, git, make_repo
from tests.cli.test_bundle import bare, head, put
from tests.realparts.assets import MissingRealPart
from tests.realparts.fixtures import give_up
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
RULES = Path(__file__).resolve().parents[2] / "examples" / "git-server"
LOGINS = {"gitfleet": "of-the-hub", "member/eu-1": "of-eu-1", "member/eu-2": "of-eu-2", "ann": "of-ann"}
HUB, ONE, TWO, ANN = LOGINS
DELIVER, MEMBER = "gitfleet/deliver/eu-1", "gitfleet/member/eu-1"
REPORT = {"report.yaml": b"answers: x\n", "objects/web.json": b"{}\n"}
ODD = "a$(touch${IFS}pwned);'\"|&`id`%s"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fleet's repository, and a repository whose branches are what somebody may try to push."""
    top = tmp_path_factory.mktemp("rules")
    fleet, desk = bare(top / "fleet.git"), bare(top / "desk.git")
    (fleet / "hooks").mkdir()
    shutil.copy(RULES / "pre-receive", fleet / "hooks")
    # As the server of an owner who thought of partial clones and not of members.
    for key in ("uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter", "http.receivepack"):
        git(fleet, "config", key, "true")
    git(fleet, "config", "gitfleet.reportBytes", "100000")
    for branch, files in {
        "main": {"clusters/eu-1.yaml": b"of main\n"},
        "gitfleet/state": {"state": b"1\n"},
        "gitfleet/rendered": {"eu-2/secret.yaml": b"of eu-2\n"},
        "gitfleet/deliver/eu-1": {"delivery.yaml": b"1\n"},
        "gitfleet/deliver/eu-2": {"delivery.yaml": b"of eu-2\n"},
        "gitfleet/deliver/eu-10": {"delivery.yaml": b"of eu-10\n"},
        "gitfleet/member/eu-1": REPORT,
        "gitfleet/member/eu-2": {"report.yaml": b"of eu-2\n"},
    }.items():
        put(fleet, branch, files)
    git(desk, "fetch", "--quiet", str(fleet), "refs/heads/*:refs/heads/fleet/*")
    for branch in ("main", "gitfleet/state", "gitfleet/deliver/eu-1", MEMBER):
        put(desk, f"next/{branch}", {"new": b"2\n"}, parent=head(desk, f"fleet/{branch}"))
    put(desk, "other", {"unrelated": b"history\n"})
    put(desk, "report", {**REPORT, "objects/more.json": b"[]\n", "applied/1.json": b"{}\n"}, at=1_800_000_001)
    put(desk, "report-script", {**REPORT, "objects/run.sh": b""})
    put(desk, "report-link", {"report.yaml": b"/etc/passwd"}, mode="120000")
    put(desk, "report-without", {"objects/web.json": b"{}\n"})
    put(desk, "report-large", {**REPORT, "objects/web.json": bytes(100_001)})
    git(desk, "tag", "v1", "fleet/main")
    return top


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    """A copy of both repositories."""
    return Path(shutil.copytree(template, tmp_path / "served", symlinks=True))


@pytest.fixture
def hiding(place: Path) -> Iterator[GitHttpServer]:
    """The server with the hook and the program that hides."""
    try:
        serving = GitHttpServer(place)
    except MissingRealPart as missing:
        give_up(missing)
    serving.more_logins, serving.program = dict(LOGINS), RULES / "gitfleet-git"
    with serving:
        yield serving


def run_git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git, whatever it ends with."""
    environment = {**os.environ, **GIT, "LC_ALL": "C"}
    return subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def refs(repo: Path) -> str:
    """Every ref of a repository."""
    return git(repo, "for-each-ref", "--format=%(objectname) %(refname)")


NOT_MAIN = "may only push gitfleet/member/eu-1, not main"
NO_REPORT = "a report is report.yaml, objects/*.json and applied/*.json, plain files of at most 100000 bytes"
PUSHES = [
    # A member: its own branch, one report, replaced at each push.
    (ONE, f"+report:{MEMBER}", ""),
    (ONE, f"report:{MEMBER}", "(non-fast-forward)"),  # git itself: it says what the agent's lease is for
    (ONE, f":{MEMBER}", f"member eu-1 may not delete {MEMBER}"),
    (ONE, f"next/{MEMBER}:{MEMBER}", "a report has no parents"),
    (ONE, f"+report-script:{MEMBER}", NO_REPORT),
    (ONE, f"+report-link:{MEMBER}", NO_REPORT),
    (ONE, f"+report-without:{MEMBER}", NO_REPORT),
    (ONE, f"+report-large:{MEMBER}", NO_REPORT),
    (ONE, f"+report:{MEMBER} report:again", "may push one branch at a time"),
    (ONE, "+report:gitfleet/member/eu-2", "may only push gitfleet/member/eu-1, not gitfleet/member/eu-2"),
    (ONE, "report:gitfleet/member/eu-1.x", "not gitfleet/member/eu-1.x"),
    (ONE, "next/main:main", NOT_MAIN),
    (ONE, "next/gitfleet/state:gitfleet/state", "not gitfleet/state"),
    (ONE, "v1:refs/tags/v1", "member eu-1 may not push the tag v1"),
    (ONE, "report:refs/replace/0123456789012345678901234567890123456789", "only branches and tags"),
    (ONE, f"report:{ODD}", "may only push gitfleet/member/eu-1, not a$(touch"),
    (TWO, f"+report:{MEMBER}", f"may only push gitfleet/member/eu-2, not {MEMBER}"),
    # The hub: its own branches, forward.
    (HUB, "next/gitfleet/state:gitfleet/state", ""),
    (HUB, f"next/{DELIVER}:{DELIVER}", ""),
    (HUB, "other:gitfleet/deliver/eu-3 other:gitfleet/approve/web", ""),
    (HUB, f":{DELIVER} :{MEMBER}", ""),
    (HUB, "+other:gitfleet/state", "the hub's account may not replace the history of refs/heads/gitfleet/state"),
    (HUB, f"+other:{DELIVER}", f"may not replace the history of refs/heads/{DELIVER}"),
    (HUB, ":gitfleet/state", "the hub's account may not delete gitfleet/state"),
    (HUB, "next/main:main", "the hub's account may not push main"),
    (HUB, f"+report:{MEMBER}", f"the hub's account may only delete {MEMBER}, not write it"),
    (HUB, "other:topic", "the hub's account may not push topic"),
    (HUB, "v1:refs/tags/v1", "the hub's account may not push the tag v1"),
    # One ref that is refused refuses the push.
    (HUB, "next/gitfleet/state:gitfleet/state next/main:main", "the hub's account may not push main"),
    # People: everything else.
    (ANN, "next/main:main other:topic v1:refs/tags/v1", ""),
    (ANN, f"other:{ODD}", ""),
    (ANN, "+other:main", "ann may not replace the history of refs/heads/main"),
    (ANN, ":main", "ann may not delete main"),
    (ANN, "next/gitfleet/state:gitfleet/state", "gitfleet/state is gitfleet's: ann may not push it"),
    (ANN, f"+report:{MEMBER}", f"{MEMBER} is gitfleet's"),
    (ANN, "other:GitFleet/State", "GitFleet/State is gitfleet's"),
    (ANN, "other:gitfleet/of-mine", "gitfleet/of-mine is gitfleet's"),
    (ANN, "other:refs/notes/commits", "ann may not push refs/notes/commits: only branches and tags"),
]


@pytest.mark.parametrize(("user", "what", "refusal"), PUSHES, ids=[f"{user}-{what}" for user, what, _ in PUSHES])
def test_who_may_push_what(place: Path, monkeypatch: pytest.MonkeyPatch, user: str, what: str, refusal: str) -> None:
    """Without a server: git gives the hook the name that a server would."""
    monkeypatch.setenv("REMOTE_USER", user)
    before = refs(place / "fleet.git")
    done = run_git(place / "desk.git", "push", str(place / "fleet.git"), *what.split(" "))

    assert (done.returncode == 0) == (refusal == ""), done.stderr
    assert refusal in done.stderr
    assert (refs(place / "fleet.git") == before) == (refusal != "")
    if refusal and not refusal.startswith("("):
        assert "remote: gitfleet: " in done.stderr
    assert not list(place.rglob("pwned"))


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "the server does not say who pushes"),
        ({"REMOTE_USER": ""}, "the server does not say who pushes"),
        ({"REMOTE_USER": "ann", "GITFLEET_USER": "gitfleet"}, "the server names two who push"),
        ({"REMOTE_USER": "member/"}, "the name of this member is no name of a cluster"),
        ({"REMOTE_USER": "member/../eu-1"}, "the name of this member is no name of a cluster"),
        ({"GITFLEET_USER": "member:eu-1\nmember:eu-2"}, "the name of this member is no name of a cluster"),
        ({"GITFLEET_USER": "member:*"}, "the name of this member is no name of a cluster"),
    ],
)
def test_who_is_nobody_pushes_nothing(place: Path, variables: dict[str, str], sentence: str) -> None:
    fleet = place / "fleet.git"
    line = f"{'0' * 40} {head(fleet, 'main')} refs/heads/topic\n"
    environment = {"PATH": os.environ["PATH"], "GIT_DIR": str(fleet), **variables}
    words = [str(fleet / "hooks" / "pre-receive")]
    done = subprocess.run(words, input=line, cwd=fleet, env=environment, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"gitfleet: {sentence}\n")


def listed(server: GitHttpServer, user: str, folder: Path) -> set[str]:
    """What a user sees, whichever version of the protocol is asked for."""
    seen = set[str]()
    for version in ("0", "1", "2"):
        done = run_git(folder, "-c", f"protocol.version={version}", "ls-remote", server.url("fleet", user=user))
        assert done.returncode == 0, done.stderr
        seen |= {line.split("\t")[1] for line in done.stdout.splitlines()}
    return seen


def test_a_member_sees_its_two_branches(hiding: GitHttpServer, place: Path) -> None:
    everything = {line.split()[1] for line in refs(place / "fleet.git").splitlines()} | {"HEAD"}

    assert listed(hiding, ONE, place) == {f"refs/heads/{DELIVER}", f"refs/heads/{MEMBER}"}
    assert listed(hiding, TWO, place) == {
        f"refs/heads/{name}" for name in ("gitfleet/deliver/eu-2", "gitfleet/member/eu-2")
    }
    assert listed(hiding, HUB, place) == listed(hiding, ANN, place) == everything


def asked(server: GitHttpServer, user: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    """What the server answers to a request as no git of ours would send it."""
    login = b64encode(f"{user}:{LOGINS[user]}".encode()).decode()
    url = f"{server.url('fleet')}/{path}"
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body or None, {"Authorization": f"Basic {login}", **names})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        return str(error.code).encode()


def packets(*lines: str) -> bytes:
    """Lines as git's protocol has them; an empty one is a flush, "0001" a delimiter."""
    return b"".join(
        (b"0000" if not line else b"0001") if line in ("", "0001") else f"{len(line) + 5:04x}{line}\n".encode()
        for line in lines
    )


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize(("user", "branch", "given"), [
    (ONE, DELIVER, True), (ONE, MEMBER, True), (ONE, "main", False), (ONE, "gitfleet/state", False),
    (ONE, "gitfleet/rendered", False), (ONE, "gitfleet/deliver/eu-2", False), (ONE, "gitfleet/deliver/eu-10", False),
    (ONE, "gitfleet/member/eu-2", False), (ANN, "main", True),
])  # fmt: skip
def test_a_member_gets_no_commit_by_its_id(
    hiding: GitHttpServer, place: Path, user: str, branch: str, given: bool, version: int
) -> None:
    """git's own client would not even ask for what is not listed."""
    oid = head(place / "fleet.git", branch)
    old = packets(f"want {oid} ofs-delta no-progress", "") + packets("done")
    new = packets("command=fetch", "0001", f"want {oid}", "no-progress", "done", "")
    kind = {"Content_Type": "application/x-git-upload-pack-request"}
    as_asked = asked(hiding, user, "git-upload-pack", old, **kind)
    if version == 2:
        # A member is answered as by a server that knows no version 2.
        as_asked = asked(hiding, user, "git-upload-pack", new, Git_Protocol="version=2", **kind)
        given = given and user == ANN

    assert (b"PACK" in as_asked) == given, as_asked[:200]


def test_a_member_gets_no_file_of_the_repository(hiding: GitHttpServer, place: Path) -> None:
    git(place / "fleet.git", "update-server-info")
    oid = head(place / "fleet.git", "main") or ""
    paths = ("info/refs", "HEAD", "objects/info/packs", f"objects/{oid[:2]}/{oid[2:]}", "config", "git-upload-archive")

    assert {path: asked(hiding, ONE, path)[:3] for path in paths} == dict.fromkeys(paths[:4], b"403") | dict.fromkeys(
        paths[4:], b"404"
    )


@pytest.mark.parametrize(("user", "what", "refusal"), [
    (ONE, f"+report:{MEMBER}", ""),
    (ONE, f":{MEMBER}", "may not delete"),
    (ONE, "next/main:main", "deny updating a hidden ref"),
    (ANN, "next/main:main", ""),
])  # fmt: skip
def test_pushes_where_branches_are_hidden(
    hiding: GitHttpServer, place: Path, user: str, what: str, refusal: str
) -> None:
    done = run_git(place / "desk.git", "push", hiding.url("fleet", user=user), what)

    assert (done.returncode == 0) == (refusal == ""), done.stderr
    assert refusal in done.stderr


def test_by_ssh_what_is_asked_for_only_chooses_the_program(place: Path) -> None:
    """ssh itself is played by a script that does what sshd does with a forced command."""
    ssh, fleet = place / "ssh", place / "fleet.git"
    ssh.write_text(
        f'#!/bin/sh\nfor last; do :; done\nSSH_ORIGINAL_COMMAND=$last exec {RULES}/gitfleet-git "$WHO" {fleet}\n'
    )
    ssh.chmod(0o755)

    def by_ssh(who: str, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **GIT, "GIT_SSH": str(ssh), "GIT_SSH_VARIANT": "simple", "WHO": who, "LC_ALL": "C"}
        command = ["git", *words]
        folder = place / "desk.git"
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    seen = by_ssh("member:eu-1", "ls-remote", "git@host:/elsewhere/other.git")
    assert [line.split("\t")[1] for line in seen.stdout.splitlines()] == [
        f"refs/heads/{DELIVER}",
        f"refs/heads/{MEMBER}",
    ]
    assert by_ssh("member:eu-1", "push", "git@host:x", f"+report:{MEMBER}").returncode == 0
    assert by_ssh("gitfleet", "push", "git@host:x", "next/gitfleet/state:gitfleet/state").returncode == 0
    refused = by_ssh("gitfleet", "push", "git@host:x", "next/main:main")
    assert "remote: gitfleet: the hub's account may not push main" in refused.stderr
    archive = by_ssh("member:eu-1", "archive", "--remote=git@host:x", "main")
    assert archive.returncode != 0 and "of main" not in archive.stdout
    assert "only git fetch and git push are served here" in archive.stderr


@pytest.fixture
def apart(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHttpServer]:
    """The server with a repository for each of two members."""
    monkeypatch.setenv("GITFLEET_MEMBERS", "/members")
    fleet = place / "fleet.git"
    git(fleet, "config", "gitfleet.memberRepos", str(place / "members"))
    shutil.copy(RULES / "post-receive", fleet / "hooks")
    for cluster in ("eu-1", "eu-2"):
        repo = bare(place / "members" / f"{cluster}.git")
        shutil.copytree(fleet / "hooks", repo / "hooks")
        git(repo, "config", "gitfleet.hubRepo", str(fleet))
    try:
        serving = GitHttpServer(place)
    except MissingRealPart as missing:
        give_up(missing)
    serving.more_logins, serving.program = dict(LOGINS), RULES / "gitfleet-git"
    with serving:
        yield serving


def test_a_repository_for_each_member(apart: GitHttpServer, place: Path) -> None:
    fleet, desk, mine = place / "fleet.git", place / "desk.git", place / "members" / "eu-1.git"
    hub, theirs, ours = (
        apart.url(*of, user=who) for of, who in ((("fleet",), HUB), (("members/eu-1",), ONE), (("fleet",), ONE))
    )

    # What the hub delivers is there at once, and nothing else that the fleet has, in whatever way one asks.
    assert run_git(desk, "push", hub, f"next/{DELIVER}:{DELIVER}", "next/gitfleet/state:gitfleet/state").returncode == 0
    assert refs(mine) == f"{head(fleet, DELIVER)} refs/heads/{DELIVER}\n"
    assert refs(place / "members" / "eu-2.git") == ""
    known = set(git(mine, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())
    assert known == set(git(fleet, "rev-list", "--objects", "--no-object-names", DELIVER).split())
    # A report is with the hub at once, and a member writes no other branch, here or there.
    assert run_git(desk, "push", theirs, f"+report:{MEMBER}").returncode == 0
    assert head(fleet, MEMBER) == head(mine, MEMBER) == head(desk, "report")
    before = refs(fleet)
    for what in ("next/main:main", f"+other:{DELIVER}", "+report:gitfleet/member/eu-2", f":{MEMBER}"):
        assert run_git(desk, "push", theirs, what).returncode != 0
    # No other repository answers a member at all.
    for url in (ours, apart.url("members/eu-2", user=ONE), apart.url("members/eu-1.git/../eu-2", user=ONE)):
        assert "error: 403" in run_git(desk, "ls-remote", url).stderr
        assert run_git(desk, "push", url, f"+report:{MEMBER}").returncode != 0
    assert refs(fleet) == before
    # A cluster that leaves loses its deliveries there too.
    assert run_git(desk, "push", hub, f":{DELIVER}").returncode == 0
    assert head(mine, DELIVER) is None


def test_the_hub_works_and_people_merge(
    hiding: GitHttpServer, place: Path, gitfleet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = place / "fleet.git"
    for ref in re.findall(r"refs/\S+", refs(fleet)):
        git(fleet, "update-ref", "-d", ref)
    desk = make_repo(tmp_path / "desk")
    fleet_config = "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"
    commit(desk, {"gitfleet.yaml": f"{fleet_config}spec: {{rendered: {{enabled: true}}}}\n"})
    git(desk, "push", "--quiet", hiding.url("fleet", user=ANN), "main")
    monkeypatch.setenv("GITFLEET_GIT_USERNAME", HUB)
    monkeypatch.setenv("GITFLEET_GIT_PASSWORD", LOGINS[HUB])

    ended = gitfleet("run", "--until-settled", hiding.url("fleet"))
    assert ended.code == 0, ended.err
    names = {line.split()[1] for line in refs(fleet).splitlines()}
    assert names == {f"refs/heads/{name}" for name in ("main", "gitfleet/state", "gitfleet/rendered")}
    assert git(fleet, "fsck", "--strict", "--no-dangling") == ""

    git(desk, "switch", "--quiet", "--create", "topic")
    commit(
        desk, {"resources/web/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: web}\n"}
    )
    git(desk, "switch", "--quiet", "main")
    git(desk, "merge", "--quiet", "--no-ff", "topic")
    git(desk, "push", "--quiet", hiding.url("fleet", user=ANN), "main", "topic")
    assert gitfleet("run", "--until-settled", hiding.url("fleet")).code == 0
    assert "more.yaml" in git(fleet, "ls-tree", "-r", "--name-only", "gitfleet/rendered")


def test_bundles_are_carried_with_the_login_of_the_member(
    hiding: GitHttpServer, place: Path, gitfleet: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, desk, file = hiding.url("fleet"), place / "desk.git", tmp_path / "file"

    def as_user(user: str) -> None:
        monkeypatch.setenv("GITFLEET_GIT_USERNAME", user)
        monkeypatch.setenv("GITFLEET_GIT_PASSWORD", LOGINS[user])

    as_user(HUB)
    site = tmp_path / "site.git"
    assert gitfleet("bundle", "export", url, file, "--cluster", "eu-1", "--to", "member").code == 0
    assert gitfleet("bundle", "import", site, file, "--cluster", "eu-1", "--from", "hub", "--create").code == 0
    git(site, "fetch", "--quiet", str(desk), f"refs/heads/report:refs/heads/{MEMBER}")
    assert gitfleet("bundle", "export", site, file, "--cluster", "eu-1", "--to", "hub").code == 0
    ended = gitfleet("bundle", "import", url, file, "--cluster", "eu-1", "--from", "member")
    assert (ended.code, "only delete" in ended.err) == (1, True), ended.err
    as_user(ONE)
    assert gitfleet("bundle", "import", url, file, "--cluster", "eu-1", "--from", "member").code == 0
    assert head(place / "fleet.git", MEMBER) == head(desk, "report")


@pytest.mark.parametrize("name", ["pre-receive", "post-receive", "gitfleet-git"])
def test_the_scripts_are_plain_shell(name: str) -> None:
    script = RULES / name
    assert script.stat().st_mode & 0o111 == 0o111
    assert script.read_text().startswith("#!/bin/sh\n")
    checks = [["sh", "-n", str(script)], *([["shellcheck", str(script)]] if shutil.which("shellcheck") else [])]
    assert [subprocess.run(words, capture_output=True, text=True, check=False).stdout for words in checks] == [
        ""
    ] * len(checks)
