"""Commits in a person's name: signed by git with that person's key, and a checked-out branch that follows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.signing import person_of
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.ports.repos import Person
from tests.adapters.git.hubs import bare, change, clone_with_work_tree, git

ANN = Person(name="Ann Other", email="ann@example.org")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A new SSH key, without a password."""
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)
    return path


def test_a_persons_commit_is_signed_as_their_settings_say(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".gitconfig").write_text(
        f"[user]\n name = Ann Other\n email = ann@example.org\n signingKey = {key}\n[commit]\n gpgSign\n"
    )
    clone = clone_with_work_tree(tmp_path / "clone")
    git(clone, "config", "gpg.format", "ssh")

    person = person_of(str(clone))
    assert person == Person(
        name="Ann Other", email="ann@example.org", signing={"user.signingkey": str(key), "gpg.format": "ssh"}
    )
    remote = bare(tmp_path / "remote.git")
    repo = GitRemote(str(remote), tmp_path / "mirror", use_git_config=True)
    first = repo.commit(change("main", None, {"a": b"1"}, subject="One", body="why", person=person))
    second = repo.commit(change("main", first, {"b": b"2"}, person=person))

    (tmp_path / "signers").write_text(f"ann@example.org {key.with_suffix('.pub').read_text()}")
    signers = ("-c", f"gpg.ssh.allowedSignersFile={tmp_path / 'signers'}")
    for commit in (first, second):
        git(remote, *signers, "verify-commit", commit)
    assert git(remote, "log", "--format=%an %ce %s %b", "main~1") == "Ann Other ann@example.org One why"
    assert repo.list_tree(second).keys() == {"a", "b"}


def test_a_clean_work_tree_follows_a_persons_commit_and_a_dirty_one_refuses_it(tmp_path: Path) -> None:
    clone = clone_with_work_tree(tmp_path / "clone")
    repo = GitRemote(str(clone), tmp_path / "mirror")
    head = repo.fetch()["desk"]
    made = repo.commit(change("desk", head, {"new/file": b"1"}, person=ANN))
    assert (git(clone, "rev-parse", "desk"), git(clone, "status", "--porcelain")) == (made, "")
    assert (clone / "new" / "file").read_bytes() == b"1"

    (clone / "README").write_text("edited\n")
    with pytest.raises(BadInput, match=re.escape(GitText.WORK_TREE_HAS_CHANGES(shown=clone, branch="desk"))) as raised:
        repo.commit(change("desk", made, {"other": b"2"}, person=ANN))
    assert raised.value.hint == GitText.COMMIT_CHANGES()
    assert (git(clone, "rev-parse", "desk"), (clone / "other").exists()) == (made, False)
