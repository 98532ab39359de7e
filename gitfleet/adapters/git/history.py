"""HistoryReader on the mirror: who made a commit, who signed it, and by which commits a file came to be as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from gitfleet.adapters.git.reader import GitReader
from gitfleet.adapters.git.signing import signer_of
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import Signature, SignerKeys

_MOST_COMMITS = 10_000
_BEGIN, _AND = "\x01", "\x02"
_AUTHORS = "%x01%ae%x02%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x02)"


class GitHistory(GitReader):
    """Reads who made commits of one remote. For one thread, as GitReader."""

    def last_changes(self, commit: str, path: str) -> Sequence[str]:
        """HistoryReader.last_changes."""
        if path not in self.list_tree(commit):
            return ()
        names.check_path(path)
        brought, written = (self._touching(commit, path, *how) for how in (("--first-parent",), ()))
        candidates = dict.fromkeys((*brought, *written))
        later = ("--full-history", "--ancestry-path")
        return tuple(oid for oid in candidates if not self._touching(commit, path, f"^{oid}", *later))

    def _touching(self, commit: str, path: str, *how: str) -> Sequence[str]:
        """The newest commit up to a commit that touched a file, none where there is none."""
        arguments = ("rev-list", "--max-count=1", *how, names.check_object_id(commit), "--", path)
        return self._read(GitText.HISTORY(subject=path), *arguments, commits=(commit,)).output.decode().split()

    def is_ancestor(self, old: str, new: str) -> bool | None:
        """Whether a commit is another one or comes before it; None where the history does not reach so far."""
        if old == new:
            return True
        if old in self.about(new).parents:
            return True
        arguments = ("merge-base", "--is-ancestor", names.check_object_id(old), names.check_object_id(new))
        status = self._connection.local(*arguments).status
        if status == 0:
            return True
        # All that comes before a commit was fetched with it, so that what is not here does not.
        apart = status == 1 or not self._connection.local("cat-file", "-e", old).ok
        shallow = self._connection.local("rev-parse", "--is-shallow-repository").output.strip() == b"true"
        return False if apart and not shallow else None

    def authors(self, commit: str, excluded: Collection[str], paths: Collection[str]) -> Collection[str]:
        """HistoryReader.authors. BadInput for more than 10,000 commits."""
        subject = GitText.HISTORY(subject=commit)
        arguments = (
            "-z", f"--format={_AUTHORS}", "--full-history", f"--max-count={_MOST_COMMITS + 1}", "--no-show-signature",
            "--no-mailmap", names.check_object_id(commit), *(f"^{names.check_object_id(oid)}" for oid in excluded),
            "--", *paths,
        )  # fmt: skip
        written = self._read(subject, "log", "--no-merges", *arguments, commits=(commit,)).output
        merging = ("log", "--merges", "-c", "--name-only", "--no-renames", *arguments)
        merged = self._read(subject, *merging, commits=(commit,)).output
        lines, merges = (output.decode(errors="replace").split(_BEGIN)[1:] for output in (written, merged))
        if max(len(lines), len(merges)) > _MOST_COMMITS:
            raise BadInput(GitText.NOT_ALL_AUTHORS(most=_MOST_COMMITS))
        # A merge is followed by the files that differ from each parent: what a person did there by hand.
        lines += [who for who, _, files in (merge.partition("\0") for merge in merges) if files.strip("\0\n")]
        emails = (_email(who) for line in lines for who in line.rstrip("\0\n").split(_AND))
        return {email for email in emails if email}

    def signer(self, commit: str, keys: SignerKeys, now: datetime) -> Signature:
        """HistoryReader.signer, as git verifies it."""
        self.about(commit)
        return signer_of(self._connection.mirror.git_dir, names.check_object_id(commit), keys, now)


def _email(who: str) -> str:
    """The email of `NAME <EMAIL>`, or what stands there alone."""
    return who.rpartition("<")[2].partition(">")[0].strip()
