"""HistoryReader on the mirror: who made a commit, who signed it, and by which commits a file came to be as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gitfleet.adapters.git import objects
from gitfleet.adapters.git.reader import GitReader
from gitfleet.adapters.git.signing import signer_of
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import CommitFacts, SignerKeys

_MOST_COMMITS = 1000


class GitHistory(GitReader):
    """Reads who made commits of one remote. For one thread, as GitReader."""

    def about(self, commit: str) -> CommitFacts:
        """What a commit says of itself; BadInput for an unknown commit."""
        what = f"the commit {commit}"
        result = self._read(what, "cat-file", "commit", names.check_object_id(commit), commits=(commit,))
        return objects.parse_commit(commit, result.output)

    def last_changes(self, commit: str, path: str) -> Sequence[str]:
        """The commits that brought a file to where a commit has it, and that wrote it where the first merged it."""
        what, found = f"the history of {path}", []
        for how in (("--first-parent",), ()):
            arguments = ("rev-list", "--max-count=1", *how, names.check_object_id(commit), "--", names.check_path(path))
            found += self._read(what, *arguments, commits=(commit,)).output.decode().split()
        return tuple(dict.fromkeys(found)) if path in self.list_tree(commit) else ()

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

    def authors(self, commit: str, after: str | None) -> Collection[str]:
        """The emails of authors since `after` (the first parent when None), merges left out; BadInput for more than
        1,000 commits."""
        known = self.about(commit).parents[:1] if after is None else (after,)
        since = (f"--max-count={_MOST_COMMITS + 1}", *(f"^{names.check_object_id(oid)}" for oid in known))
        result = self._read(
            f"the authors of {commit}", "log", "-z", "--no-merges", "--no-show-signature", "--no-mailmap",
            "--format=%ae", commit, *since, "--", commits=(commit,),
        )  # fmt: skip
        found = result.output.decode(errors="replace").split("\0")
        if len(found) > _MOST_COMMITS:
            raise BadInput(f"more than {_MOST_COMMITS} commits are to be approved, whose authors are not all read")
        return {email.strip() for email in found if email.strip()}

    def signer(self, commit: str, keys: SignerKeys) -> tuple[str, str]:
        """Who of the owners of these keys signed a commit, as git verifies it; "" and why where it is nobody."""
        self.about(commit)
        return signer_of(self._connection.mirror.git_dir, names.check_object_id(commit), keys)
