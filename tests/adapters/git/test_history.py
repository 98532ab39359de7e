"""Who made a commit, who signed it, and by which commits a file came to be as it is: on real git, with real keys."""

from __future__ import annotations

import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote, history
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.ports.repos import Signature, SignerKeys
from tests.adapters.git.hubs import git
from tests.realparts import signers
from tests.texts import part

NOW = datetime.now(UTC)


def commit(where: Path, path: str, text: str, *options: str) -> str:
    """Write a file and commit it as git does; the commit's id."""
    target = where / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    git(where, "add", "--all")
    git(where, *options, "commit", "--quiet", "-m", f"Write {path}")
    return git(where, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with one commit on main."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    commit(folder, "a", "1")
    return folder


def remote_of(clone: Path) -> GitRemote:
    repo = GitRemote(str(clone), clone.parent / "mirror")
    repo.fetch()
    return repo


@pytest.mark.parametrize("how", ["merge", "fast-forward", "squash", "rebase"])
def test_a_file_has_a_commit_that_brought_it_and_one_that_wrote_it(clone: Path, how: str) -> None:
    git(clone, "switch", "--quiet", "-c", "topic")
    written = commit(clone, "approvals/x.yaml", "yes\n")
    git(clone, "switch", "--quiet", "main")
    before = git(clone, "rev-parse", "main")
    if how != "fast-forward":
        before = commit(clone, "b", "2")
    match how:
        case "merge":
            git(clone, "merge", "--quiet", "--no-ff", "topic")
        case "fast-forward":
            git(clone, "merge", "--quiet", "--ff-only", "topic")
        case "squash":
            git(clone, "merge", "--quiet", "--squash", "topic")
            git(clone, "commit", "--quiet", "-m", "Squashed")
        case _:
            git(clone, "cherry-pick", "topic")
    brought = git(clone, "rev-parse", "main")
    after = commit(clone, "c", "3")

    repo = remote_of(clone)
    found = repo.last_changes(after, "approvals/x.yaml")
    assert tuple(found) == ((brought, written) if how == "merge" else (brought,))
    assert repo.about(found[0]).parents[0] == before
    assert not repo.last_changes(after, "approvals/none.yaml") and not repo.last_changes(before, "approvals/x.yaml")
    assert [repo.is_ancestor(*pair) for pair in ((before, after), (after, before), (after, after))] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(("depth", "comes_before"), [((), False), (("--depth=1",), None)], ids=["full", "shallow"])
def test_a_history_in_part_says_of_no_commit_that_it_does_not_come_before(
    clone: Path, depth: tuple[str, ...], comes_before: bool | None
) -> None:
    git(clone, "switch", "--quiet", "-c", "sibling", "main")
    sibling = commit(clone, "b", "1")
    git(clone, "switch", "--quiet", "main")
    head = commit(clone, "c", "1")
    git(clone.parent, "clone", "--quiet", "--no-single-branch", *depth, f"file://{clone}", "part")
    git(clone.parent / "part", "branch", "--quiet", "sibling", "origin/sibling")
    repo = remote_of(clone.parent / "part")
    assert (repo.is_ancestor(sibling, head), repo.is_ancestor(head, head)) == (comes_before, True)


@pytest.mark.parametrize("takes_back", [True, False], ids=["taken back", "answered otherwise"])
@pytest.mark.parametrize("merged", [True, False], ids=["merged", "committed"])
def test_a_merge_does_not_bring_back_a_commit_that_a_later_one_undid(
    clone: Path, merged: bool, takes_back: bool
) -> None:
    path, first = "approvals/x.yaml", git(clone, "rev-parse", "main")
    git(clone, "switch", "--quiet", "-c", "topic")
    written = commit(clone, path, "yes\n")
    git(clone, "switch", "--quiet", "main")
    git(clone, "merge", "--quiet", "--no-ff" if merged else "--ff-only", "topic")
    brought = git(clone, "rev-parse", "main")
    tree = git(clone, "rev-parse", "main^{tree}")
    if takes_back:
        (clone / path).unlink()
        undone = commit(clone, "b", "1")
    else:
        undone = commit(clone, path, "no\n")

    def merge(*parents: str) -> str:
        return git(clone, "commit-tree", tree, *(word for one in parents for word in ("-p", one)), "-m", "Replayed")

    crafted = {first: [first, undone, brought], undone: [undone, written], brought: [brought, undone]}
    made = {parent: merge(*parents) for parent, parents in crafted.items()}
    for number, oid in enumerate(made.values()):
        git(clone, "branch", f"crafted-{number}", oid)
    repo = remote_of(clone)
    assert {parent: tuple(repo.last_changes(oid, path)) for parent, oid in made.items()} == {
        first: (made[first],),
        undone: (made[undone],),
        brought: (),
    }
    assert repo.last_changes(brought, path) and (takes_back or tuple(repo.last_changes(undone, path)) == (undone,))


def test_authors_are_those_who_wrote_between_two_commits_not_those_who_merged(clone: Path) -> None:
    def by(name: str, *words: str) -> None:
        git(clone, "-c", "user.name=x", "commit", "--quiet", f"--author={name} <{name}@example.org>", "-m", *words)

    first = git(clone, "rev-parse", "main")
    lines = [f"{number}\n" for number in range(20)]
    git(clone, "switch", "--quiet", "-c", "topic")
    (clone / "d").mkdir()
    (clone / "d" / "web.yaml").write_text("".join(lines))
    git(clone, "add", "--all")
    by("Bob", "Web\n\nCo-authored-by: Cyd Doe <cyd@example.org>\nCo-Authored-By: dan@example.org")
    by("Eve", "Nothing", "--allow-empty")
    git(clone, "switch", "--quiet", "main")
    (clone / "other").write_text("1")
    git(clone, "add", "--all")
    by("Fay", "Other")
    git(clone, "merge", "--quiet", "--no-ff", "--no-commit", "topic")
    by("Gus", "A merge as git makes it")
    clean = git(clone, "rev-parse", "main")
    git(clone, "switch", "--quiet", "-c", "more", first)
    (clone / "more").write_text("1")
    git(clone, "add", "--all")
    by("Hal", "More")
    git(clone, "switch", "--quiet", "main")
    git(clone, "merge", "--quiet", "--no-ff", "--no-commit", "more")
    (clone / "d" / "web.yaml").write_text("".join([*lines, "by hand\n"]))
    git(clone, "add", "--all")
    by("Ida", "A merge with something of its own")
    last = git(clone, "rev-parse", "main")

    def authors(*names: str) -> set[str]:
        return {f"{name}@example.org" for name in names}

    repo, web = remote_of(clone), authors("Bob", "cyd", "dan")
    for commit_id, known, paths, found in (
        (last, (first,), (), web | authors("Eve", "Fay", "Hal", "Ida")),
        (last, (first,), ("d/web.yaml",), web | authors("Ida")),
        (last, (first,), ("d", "more"), web | authors("Hal", "Ida")),
        (clean, (first,), ("d",), web),
        (last, (clean,), ("d", "nothing"), authors("Ida")),
        (last, (clean,), ("*",), set()),
        (last, (), ("a",), authors("ann")),
        (clean, (last,), (), set()),
    ):
        assert (commit_id, repo.authors(commit_id, known, paths)) == (commit_id, found), paths
    for commit_id, known in (("1" * 40, ()), (last, ("1" * 40,))):
        with pytest.raises(BadInput):
            repo.authors(commit_id, known, ())


def test_authors_that_are_not_all_read_are_an_error(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = commit(clone, "a", "2")
    repo = remote_of(clone)
    monkeypatch.setattr(history, "_MOST_COMMITS", 1)
    assert repo.authors(last, repo.about(last).parents, ()) == {"ann@example.org"}
    with pytest.raises(BadInput, match=GitText.NOT_ALL_AUTHORS(most=1)):
        repo.authors(last, (), ())


def test_signatures_are_verified_with_the_given_keys_alone(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, eve = signers.ssh_key(tmp_path / "ann"), signers.ssh_key(tmp_path / "eve")
    bob = signers.gpg_key(tmp_path / "bob", "Bob <bob@example.org>")
    by_ann = commit(clone, "b", "1", *ann.sign)
    by_eve = commit(clone, "b", "2", *eve.sign)
    with signers.gpg_home(bob):
        by_bob = commit(clone, "b", "3", *bob.sign)
    unsigned = commit(clone, "b", "4")
    raw = git(clone, "cat-file", "commit", by_ann).replace("Write b", "Write c")
    forged = git(clone, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{raw}\n".encode())
    git(clone, "branch", "forged", forged)

    # Whatever this process's user trusts counts for nothing.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GNUPGHOME", str(tmp_path / "bob"))
    (tmp_path / "home").mkdir()
    (tmp_path / "everybody").write_bytes(eve.public(b"eve@example.org"))
    (tmp_path / "home" / ".gitconfig").write_text(f"[gpg.ssh]\n allowedSignersFile = {tmp_path / 'everybody'}\n")
    repo = GitRemote(str(clone), tmp_path / "mirror", use_git_config=True)
    repo.fetch()
    both = SignerKeys(ssh=ann.public(b"ann@example.org"), gpg=bob.public(b""))
    bob_is = Signature("bob@example.org", bob.fingerprint)
    stranger, nobody = GitText.KEY_NOT_ALLOWED(), GitText.NOT_SIGNED()
    expected = {
        by_ann: Signature("ann@example.org", fingerprint_of(ann)),
        by_bob: bob_is,
        by_eve: Signature(why=stranger),
        unsigned: Signature(why=nobody),
        forged: Signature(why=GitText.NOT_GOOD_SIGNATURE()),
    }
    assert {oid: repo.signer(oid, both, NOW) for oid in expected} == expected
    assert repo.signer(by_bob, SignerKeys(ssh=both.ssh), NOW).why == stranger
    assert repo.signer(by_ann, SignerKeys(gpg=both.gpg), NOW).why == stranger
    assert repo.signer(by_ann, SignerKeys(ssh=b"\0 rubbish\n", gpg=b"rubbish"), NOW).why == stranger
    with pytest.raises(BadInput):
        repo.signer("1" * 40, both, NOW)


def fingerprint_of(key: signers.Signer) -> str:
    words = ["ssh-keygen", "-l", "-f", str(key.path.with_suffix(".pub"))]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[1]


STAMP = f"{NOW:%Y%m%d}"
OLD_NAME_AND_NEW = 'ann valid-before="{stamp}" {key}', 'bob valid-after="{stamp}" {key}'


@pytest.mark.parametrize(
    ("lines", "days", "name"),
    [
        (["ann {key}"], 0, "ann"),
        (['ann valid-before="{stamp}" {key}'], 0, ""),
        (['ann valid-before="{stamp}" {key}'], 30, ""),  # a date before the key's end
        (['ann valid-after="{stamp}" {key}'], 30, ""),  # a date before the key's beginning
        (OLD_NAME_AND_NEW, 30, ""),
        (OLD_NAME_AND_NEW[::-1], 0, "bob"),
        (['ann valid-before="{stamp}" {key}', "ann {key}"], 30, "ann"),
        (['ann,bob valid-before="20990101" {key}'], 30, "ann"),
        (["*@example.org,ann {key}"], 30, "*@example.org"),
        (["ann cert-authority {key}"], 0, ""),
    ],
)
def test_a_key_of_ssh_must_be_valid_at_the_commits_date_and_now(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], days: int, name: str
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    ann = signers.ssh_key(tmp_path / "ann")
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{(NOW - timedelta(days)).timestamp():.0f} +0000")
    made = commit(clone, "b", "1", *ann.sign)
    key = ann.public(b"").decode().strip()
    allowed = "".join(f"{line.format(key=key, stamp=STAMP)}\n" for line in lines)
    found = remote_of(clone).signer(made, SignerKeys(ssh=allowed.encode()), NOW)
    assert (found.name, bool(found.why), bool(found.key)) == (name, not name, bool(name))


def test_a_commit_with_two_signatures_is_nobodys(clone: Path, tmp_path: Path) -> None:
    """Git takes them as one text, of which ssh-keygen reads the first."""
    ann = signers.ssh_key(tmp_path / "ann")
    made = commit(clone, "b", "1", *ann.sign)
    raw = git(clone, "cat-file", "commit", made)
    header, _, body = raw.partition("\n\n")
    signature = header[header.index("gpgsig") :]
    content = f"{header}\n{signature}\n\n{body}\n".encode()
    twice = git(clone, "hash-object", "-t", "commit", "-w", "--stdin", stdin=content)
    git(clone, "branch", "twice", twice)
    repo, allowed = remote_of(clone), SignerKeys(ssh=ann.public(b"ann"))
    assert (repo.signer(made, allowed, NOW).name, repo.signer(twice, allowed, NOW).name) == ("ann", "")


def test_a_gpg_key_that_expired_signs_nothing_by_an_older_date(clone: Path, tmp_path: Path) -> None:
    bob = signers.gpg_key(tmp_path / "bob", "Bob <bob@example.org>")
    with signers.gpg_home(bob):
        by_bob = commit(clone, "b", "3", *bob.sign)
        words = ["gpg", "--homedir", str(bob.path), "--batch", "--passphrase", "", "--pinentry-mode", "loopback"]
        soon = f"{datetime.now(UTC) + timedelta(seconds=1):%Y%m%dT%H%M%S}"
        subprocess.run([*words, "--quick-set-expire", bob.fingerprint, soon], check=True)
        public = bob.public(b"")
    time.sleep(2)
    assert remote_of(clone).signer(by_bob, SignerKeys(gpg=public), NOW).name == ""


def test_what_no_gpg_can_verify_says_so(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bob = signers.gpg_key(tmp_path / "bob", "Bob <bob@example.org>")
    with signers.gpg_home(bob):
        by_bob = commit(clone, "b", "3", *bob.sign)
    repo, public = remote_of(clone), bob.public(b"")
    monkeypatch.setenv("PATH", signers.path_without(tmp_path / "bin", "gpg"))
    found = repo.signer(by_bob, SignerKeys(gpg=public), NOW)
    assert found == Signature(why=GitText.CANNOT_VERIFIED(why="gpg: No such file or directory"))
    assert repo.signer(by_bob, SignerKeys(ssh=b""), NOW).why.startswith(part(GitText.CANNOT_VERIFIED))
