"""Who may approve, from commit to status: each approval that counts for nothing says why, wherever one looks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitfleet.adapters.git.texts import GitText
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.branches.texts import BranchesText
from gitfleet.cli.main import run
from gitfleet.cli.texts import CliText
from gitfleet.loop.texts import LoopText
from tests.cli.conftest import GIT, Shell, copied, git, tiered
from tests.cli.test_holds import pick_nothing
from tests.realparts import signers
from tests.texts import part

POLICY = """\
apiVersion: gitfleet.dev/v1alpha1
kind: FleetConfig
metadata: {name: fleet}
spec:
  approvals: {allowedSigners: keys/signers, separateDuties: true, expiresAfter: 1h}
"""
FREE = POLICY.partition("spec:")[0]


@dataclass(frozen=True)
class Person:
    """Somebody who commits, and how git signs for them."""

    name: str
    key: signers.Signer | None = None

    @property
    def email(self) -> str:
        return f"{self.name}@example.com"


@dataclass(frozen=True)
class Fleet:
    """A fleet with a policy and a hold that Ann's commit made; Ann and Bob may approve, Eve may not."""

    repo: Path
    hold: str
    ann: Person
    bob: Person
    eve: Person

    @property
    def path(self) -> str:
        return f"approvals/{self.hold}.yaml"

    def text(self, name: str = "") -> str:
        """An approval of the hold."""
        return (
            "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterApprovalRequest\n"
            f"metadata: {{name: {name or self.hold}}}\n"
            'status: {conditions: [{type: Approved, status: "True"}]}\n'
        )

    def commit(self, person: Person, files: Mapping[str, str], *, sign: bool = True) -> None:
        """A person commits files, signed unless they should not or cannot be."""
        as_person(self.repo, person, timedelta(), "commit", files=files, sign=sign)


def as_person(
    repo: Path, person: Person, ago: timedelta, *words: str, files: Mapping[str, str] | None = None, sign: bool = True
) -> None:
    for path, text in (files or {}).items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    git(repo, "add", "--all")
    options = person.key.sign if person.key is not None and sign else ()
    when = f"{(datetime.now(UTC) - ago).timestamp():.0f} +0000"
    named = {"NAME": person.name, "EMAIL": person.email, "DATE": when}
    with pytest.MonkeyPatch.context() as patch:
        for role in ("AUTHOR", "COMMITTER"):
            for key, value in named.items():
                patch.setitem(GIT, f"GIT_{role}_{key}", value)
        subject = ("-m", "A change") if words[0] in ("commit", "merge") else ()
        git(repo, *options, *words, "--quiet", *subject)


@pytest.fixture(scope="module")
def made(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    home = tmp_path_factory.mktemp("policy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        repo = copied(settled, home / "fleet")
    ann, bob, eve = (Person(name, signers.ssh_key(home / name)) for name in ("ann", "bob", "eve"))
    lines = [p.key.public(p.email.encode()).decode() for p in (ann, bob) if p.key is not None]
    files = {"gitfleet.yaml": POLICY, "keys/signers": "".join(lines), ".gitfleetignore": "keys/\n"}
    as_person(repo, ann, timedelta(), "commit", files=files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        assert run(["run", "--until-settled", str(repo)]) == 0
        for key, value in {"NAME": "ann", "EMAIL": ann.email}.items():
            patch.setitem(GIT, f"GIT_AUTHOR_{key}", value)
        pick_nothing(repo)
        assert run(["run", "--until-settled", str(repo)]) == 0
    (name,) = (
        path.removesuffix(".yaml") for path in git(repo, "ls-tree", "--name-only", "gitfleet/state:holds").split()
    )
    yield Fleet(repo, name, ann, bob, eve)


@pytest.fixture
def fleet(made: Fleet, tmp_path: Path) -> Fleet:
    return Fleet(copied(made.repo, tmp_path / "fleet"), made.hold, made.ann, made.bob, made.eve)


def forged(fleet: Fleet) -> str:
    """Under Bob's name, with another key."""
    fleet.commit(Person("bob", fleet.eve.key), {fleet.path: fleet.text()})
    return GitText.KEY_NOT_ALLOWED()


def with_a_weaker_policy_in_the_same_commit(fleet: Fleet) -> str:
    fleet.commit(fleet.bob, {fleet.path: fleet.text(), "gitfleet.yaml": FREE}, sign=False)
    return GitText.NOT_SIGNED()


def by_a_merge_into_a_commit_before_the_policy(fleet: Fleet) -> str:
    first = git(fleet.repo, "rev-list", "--max-parents=0", "HEAD").strip()
    merge_into(fleet.repo, first, {fleet.path: fleet.text()})
    return GitText.NOT_SIGNED()


def merge_into(repo: Path, first: str, files: Mapping[str, str], *others: str) -> None:
    """Move the branch to a merge whose first parent is `first`, then the head and `others`, with files added."""
    for path, text in files.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    git(repo, "add", "--all")
    tree = git(repo, "write-tree").strip()
    parents = [word for parent in (first, "HEAD", *others) for word in ("-p", parent)]
    git(repo, "reset", "--hard", "--quiet", git(repo, "commit-tree", tree, *parents, "-m", "Merge").strip())


def replayed(fleet: Fleet) -> str:
    """Given for an earlier removal of the same."""
    older = f"{fleet.hold.rpartition('-')[0]}-0123456789"
    fleet.commit(fleet.bob, {f"approvals/{older}.yaml": fleet.text(name=older)})
    return ApprovalsText.ANSWERS_NO_NOW(what="hold", name=fleet.hold)


COUNT_FOR_NOTHING = (
    forged,
    with_a_weaker_policy_in_the_same_commit,
    by_a_merge_into_a_commit_before_the_policy,
    replayed,
)


@pytest.mark.parametrize(
    "give",
    tiered({give.__name__: give for give in COUNT_FOR_NOTHING}, "forged", "by_a_merge_into_a_commit_before_the_policy"),
)
def test_an_approval_that_counts_for_nothing_says_why(
    gitfleet: Shell, fleet: Fleet, give: Callable[[Fleet], str]
) -> None:
    why = give(fleet)
    ran = gitfleet("run", "--until-settled", fleet.repo)
    (warning,) = [line for line in ran.err.splitlines() if why in line]
    assert warning.startswith("warning: approvals/hold-"), warning
    assert json.loads(gitfleet("get", "bindings", "-C", fleet.repo, "-o", "json").out)["items"], "nothing went"
    assert why in git(fleet.repo, "show", "gitfleet/state:README.md")
    assert (why in gitfleet("validate", fleet.repo).out) is (give is replayed)
    if give is not replayed:
        assert_status_says(gitfleet, fleet.repo, "holds", why)
    assert gitfleet("get", "holds", "-C", fleet.repo).out.split()[6:8] == [fleet.hold, "Pending"]


def assert_status_says(gitfleet: Shell, repo: Path, what: str, why: str) -> None:
    """The only hold or approval request says why what was given does not count."""
    (asking,) = json.loads(gitfleet("get", what, "-C", repo, "-o", "json").out)["items"]
    (condition,) = asking["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("Unknown", "ApprovalNotCounted")
    assert why in condition["message"] and why in gitfleet("get", what, "-C", repo, "-o", "wide").out


def by_a_signed_commit(fleet: Fleet) -> None:
    fleet.commit(fleet.bob, {fleet.path: fleet.text()})


def by_a_signed_merge_of_the_request(fleet: Fleet) -> None:
    assert fleet.bob.key is not None
    branch = f"gitfleet/approve/{fleet.hold}"
    as_person(fleet.repo, fleet.bob, timedelta(), "merge", "--no-ff", branch)


def by_the_command(fleet: Fleet) -> None:
    sign_as(fleet.repo, fleet.bob)
    assert run(["approve", fleet.hold, "-C", str(fleet.repo)]) == 0


def sign_as(repo: Path, person: Person) -> None:
    assert person.key is not None
    settings = {"commit.gpgSign": "true", "gpg.format": "ssh", "user.signingKey": str(person.key.path)}
    for key, value in settings.items():
        git(repo, "config", key, value)


COUNT = (
    by_a_signed_commit,
    by_a_signed_merge_of_the_request,
    by_the_command,
)


@pytest.mark.parametrize("give", tiered({give.__name__: give for give in COUNT}, "by_the_command"))
def test_a_signed_approval_of_another_person_counts(
    gitfleet: Shell, fleet: Fleet, give: Callable[[Fleet], None]
) -> None:
    give(fleet)
    ended = gitfleet("run", "--until-settled", fleet.repo)
    assert not gitfleet("get", "holds", "-C", fleet.repo).out, ended.err
    assert "monitoring" not in gitfleet("get", "bindings", "-C", fleet.repo).out


def by_nobody(fleet: Fleet) -> None:
    """The address is a URL, and the settings of the clone that somebody stands in are not read."""


def by_a_stranger(fleet: Fleet) -> None:
    sign_as(fleet.repo, fleet.eve)


def by_who_made_the_change(fleet: Fleet) -> None:
    sign_as(fleet.repo, fleet.ann)


CANNOT_COUNT = (
    (by_nobody, GitText.NOT_SIGNED(), LoopText.SIGN_COMMITS()),
    (by_a_stranger, GitText.KEY_NOT_ALLOWED(), LoopText.SIGN_COMMITS()),
    (
        by_who_made_the_change,
        ApprovalsText.GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES(person="ann@example.com"),
        LoopText.WHO_MAY_APPROVE(),
    ),
)


@pytest.mark.parametrize("branch", tiered({"watched": (), "another": ("--branch", "answer")}, "watched"))
@pytest.mark.parametrize(("prepare", "why", "hint"), CANNOT_COUNT)
def test_the_command_fails_where_its_commit_cannot_count(
    gitfleet: Shell, fleet: Fleet, prepare: Callable[[Fleet], None], why: str, hint: str, branch: tuple[str, ...]
) -> None:
    """And pushes nothing."""
    prepare(fleet)
    before = git(fleet.repo, "for-each-ref")
    told = gitfleet(
        "approve", fleet.hold, "-C", f"file://{fleet.repo}" if prepare is by_nobody else fleet.repo, *branch
    )
    assert (told.code, "committed" in told.err) == (1, False)
    assert why in told.err and hint in " ".join(told.err.split())
    assert git(fleet.repo, "for-each-ref") == before


def test_the_policy_of_the_process_outranks_the_repositorys(gitfleet: Shell, fleet: Fleet, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("{required: 2, allowedSigners: signers}\n")
    shutil.copy(fleet.repo / "keys" / "signers", tmp_path / "signers")
    words = ("run", "--until-settled", fleet.repo, "--approval-policy", policy)
    fleet.commit(fleet.ann, {fleet.path: fleet.text()})
    gitfleet(*words)
    assert (
        ApprovalsText.APPROVALS_ARE_THERE_BY(count="1", required="2", people="ann@example.com")
        in gitfleet("get", "holds", "-C", fleet.repo, "-o", "wide").out
    )

    as_person(fleet.repo, fleet.bob, timedelta(), "merge", "--no-ff", f"gitfleet/approve/{fleet.hold}")
    assert (fleet.repo / "approvals" / f"{fleet.hold}.2.yaml").exists()
    gitfleet(*words)
    assert not gitfleet("get", "holds", "-C", fleet.repo).out


def test_the_command_takes_the_policy_of_the_process_too(gitfleet: Shell, fleet: Fleet, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("{required: 2}\n")
    words = ("approve", fleet.hold, "-C", fleet.repo)
    assert gitfleet(*words).code == 1
    assert gitfleet(*words, "--approval-policy", policy).code == 0
    told = gitfleet(*words, "--approval-policy", policy)
    assert told.code == 1 and part(ApprovalsText.BY_SAME_PERSON) in told.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "policy.yaml cannot be read: No such file or directory"),
        ("{required: 0}", BranchesText.NO_APPROVAL_POLICY(shown="policy.yaml", faults="required ")),
        ("{allowedSigners: nowhere}", "nowhere cannot be read: No such file or directory"),
    ],
)
def test_a_policy_that_cannot_be_read_ends_the_process(
    gitfleet: Shell, moving: Path, tmp_path: Path, text: str | None, said: str
) -> None:
    policy = tmp_path / "policy.yaml"
    if text is not None:
        policy.write_text(text)
    ended = gitfleet("run", "--once", moving, "--approval-policy", policy)
    assert (ended.code, said in ended.err) == (1, True), ended.err


def test_a_forced_push_waits_until_a_person_accepts_the_new_head(gitfleet: Shell, moving: Path, tmp_path: Path) -> None:
    old = git(moving, "rev-parse", "main").strip()
    (moving / "resources" / "web" / "web.yaml").write_text("")
    git(moving, "commit", "--quiet", "--all", "--amend", "--message", "Another history")
    new = git(moving, "rev-parse", "main").strip()
    name = f"rewrite-{new[:12]}"
    before = gitfleet("get", "bindings", "-C", moving, "-o", "name").out
    ran = gitfleet("run", "--until-settled", moving)
    said = BranchesText.REWRITTEN_NOT_COME_AFTER(branch="main", new=new[:12], old=old[:12])
    assert said in ran.err and f"{part(CliText.SETTLED_COMMIT_PLACEMENTS)}{old[:12]}" in ran.err
    assert gitfleet("get", "bindings", "-C", moving, "-o", "name").out == before
    assert git(moving, "log", "-1", "--format=%s", f"gitfleet/approve/{name}").startswith(f"Accept {new[:12]}")

    planned = gitfleet("plan", moving, "--clusters", "none")
    assert planned.code == 1 and said in planned.out + planned.err
    assert BranchesText.NOTHING_NEW_HEAD_HAPPENS_BEFORE(old=old[:12], name=name) in planned.out + planned.err
    rendered = gitfleet("render", moving, "--out", tmp_path / "out")
    assert (rendered.code, said in rendered.err) == (0, True), rendered.err
    for placement in ("new", "web"):
        explained = " ".join(gitfleet("explain", placement, "-C", moving).err.split())
        assert said in explained and "--rev main" not in explained, explained

    told = gitfleet("approve", name, "-C", moving)
    assert told.code == 0 and f"approves: Accept {new[:12]} as the head of main" in told.err, told.err
    ran = gitfleet("run", "--until-settled", moving)
    assert said not in ran.err and old[:12] not in ran.err.splitlines()[-1]
