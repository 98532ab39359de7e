"""Which files a head of the state branch stands for: its own, and those that gitfleet wrote last and somebody else took
away since; or those of a commit before it.

Only gitfleet's own commits, which their trailer tells, remove what gitfleet wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from gitfleet.errors import BadInput, UnreadableCommit
from gitfleet.formats.sentences import counted
from gitfleet.loop.texts import LoopText
from gitfleet.model.state import UnusableHead
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.state import holds_state, is_linked_file, is_state_file

MOST_COMMITS: Final = 50
"""So many commits back, what can be read is searched for."""
PHASE_TRAILER: Final = "Gitfleet-Phase"
PLAIN: Final = ("100644", "100755")

Files = Mapping[str, TreeEntry]


def usable_files(repo: RepoReader, head: str) -> tuple[Files, UnusableHead | None]:
    """The files to read for a head, by path, and what is not used of it. BadInput where there are none."""
    why, readable = LoopText.HOLDS_NO_STATE_GITFLEET(), True
    try:
        files = repo.list_tree(head)
        if head.startswith("dir:"):
            return files, None
        if holds_state(files):
            return _with_missing(repo, head, files)
    except UnreadableCommit as error:
        why, readable = LoopText.CANNOT_READ_2(reason=error.reason), False
    with suppress(UnreadableCommit):
        for commit in repo.ancestors(head, most=MOST_COMMITS):
            if holds_state(files := repo.list_tree(commit)):
                return files, UnusableHead(commit=head, why=why, instead=commit, readable=readable)
    raise BadInput(
        LoopText.STATE_BRANCH_COMMIT(head=head[:12], why=why),
        hint=LoopText.PUSH_LAST_COMMIT_GITFLEET_MADE(),
    )


def _with_missing(repo: RepoReader, head: str, files: Files) -> tuple[Files, UnusableHead | None]:
    own = _own_commit(repo, head)
    if own is None or own == head:
        return files, None
    missing = _missing(files, repo.list_tree(own))
    if not missing:
        return files, None
    why = LoopText.LACKS_GITFLEET_WROTE(count=counted(len(missing), "file"), missing=min(missing))
    unusable = UnusableHead(commit=head, why=why, instead=own, readable=True, missing=frozenset(missing))
    return dict(sorted({**files, **missing}.items())), unusable


def _own_commit(repo: RepoReader, head: str) -> str | None:
    """The newest commit up to a head that gitfleet made; None where none of the next can be found."""
    with suppress(BadInput, UnreadableCommit):
        if _is_own(repo, head):
            return head
        return next((one for one in repo.ancestors(head, most=MOST_COMMITS) if _is_own(repo, one)), None)
    return None


def _is_own(repo: RepoReader, commit: str) -> bool:
    trailers = repo.about(commit).message.rstrip().rpartition("\n\n")[2]
    return any(line.startswith(f"{PHASE_TRAILER}: ") for line in trailers.splitlines())


def _missing(files: Files, written: Files) -> dict[str, TreeEntry]:
    """What is there no more, and what was linked and is another blob: that never changes. Nothing that lies where there
    is something else now."""
    folders = {folder for path in files for folder in folders_of(path)}

    def is_missing(path: str, entry: TreeEntry) -> bool:
        if path in files:
            return files[path].oid != entry.oid and is_linked_file(path)
        ours = is_state_file(path) or is_linked_file(path)
        return ours and path not in folders and files.keys().isdisjoint(folders_of(path))

    return {path: entry for path, entry in written.items() if entry.mode in PLAIN and is_missing(path, entry)}


def folders_of(path: str) -> list[str]:
    """Every folder that a path lies in."""
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]
