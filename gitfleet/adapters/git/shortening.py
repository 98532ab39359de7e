"""The newest commits of a branch again, without those before them: the same trees, people, times and messages.

Their ids change with their parents, so each says in a trailer which one it was. Nothing is pushed here, and no ref of a
branch is touched: what is made is of no consequence until a commit on top of it is pushed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Final

from gitfleet.adapters.git.connection import Connection
from gitfleet.adapters.git.errors import quote_of
from gitfleet.adapters.git.mirror import PENDING
from gitfleet.adapters.git.texts import GitText
from gitfleet.formats.git_names import was_trailer
from gitfleet.ports.repos import BranchChange

_HEADER: Final = re.compile(rb"(?P<oid>[0-9a-f]{40,64}) commit (?P<size>\d+)\n")
_LINE: Final = re.compile(rb"^(tree|author|committer) (.+)$", re.MULTILINE)
_log = logging.getLogger(__name__)


class Shortening:
    """Counts the commits of branches, and makes short histories in the mirror of one remote. For one thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._counted: tuple[str, int] = ("", 0)

    def base_of(self, change: BranchChange, lock: int) -> str | None:
        """The commit that a change is to be put on top of where its branch is to be shortened; None where it is not."""
        head, most = change.expected, change.most_commits
        if most is None or head is None or change.base is not None:
            return None
        count = self._count(head, lock)
        if count is None or count < most:
            return None
        return self._again(head, max(1, change.keep_commits), lock)

    def note(self, commit: str, base: str | None, keep: int, parent: str | None) -> None:
        """A commit was pushed: on top of a short history (`base`), or of its parent."""
        if base is not None:
            self._counted = (commit, 1 + max(1, keep))
        elif parent is not None and self._counted[0] == parent:
            self._counted = (commit, self._counted[1] + 1)

    def _count(self, head: str, lock: int) -> int | None:
        if self._counted[0] != head:
            result = self._connection.local("rev-list", "--first-parent", "--count", head, "--", lock=lock)
            if not result.ok:
                return None  # whatever is wrong there, the change itself finds it
            self._counted = (head, int(result.output))
        return self._counted[1]

    def _again(self, head: str, keep: int, lock: int) -> str | None:
        """The newest commits again, on nothing; None where git does not take one of them."""
        listed = self._connection.local(
            "rev-list", "--first-parent", "--reverse", f"--max-count={keep}", head, "--", lock=lock
        )
        read = self._connection.local("cat-file", "--batch", "--buffer", stdin=[listed.output], lock=lock)
        stream = [b"feature done\n", *_commits(read.output), b"get-mark :%d\ndone\n" % len(listed.output.split())]
        made = self._connection.local("fast-import", "--quiet", "--force", "--date-format=raw", stdin=stream, lock=lock)
        if not (listed.ok and read.ok and made.ok):
            failed = next(result for result in (listed, read, made) if not result.ok)
            reason = quote_of(self._connection.mask(failed.errors))
            _log.warning(GitText.HISTORY_CANNOT_SHORTENED(), extra={"reason": reason})
            self._connection.mirror.remove_leftovers()
            return None
        return made.output.decode("ascii", errors="replace").strip()


def _commits(output: bytes) -> Iterator[bytes]:
    """What `cat-file --batch` gave of commits, as a stream for `fast-import` in which each follows the one before."""
    at, mark = 0, 0
    while header := _HEADER.match(output, at):
        start, mark = header.end(), mark + 1
        at = start + int(header["size"]) + 1
        raw = output[start : at - 1]
        headers, _, message = raw.partition(b"\n\n")
        values = {match[1]: match[2] for match in reversed(list(_LINE.finditer(headers)))}
        message = was_trailer(message, header["oid"].decode())
        yield b"commit %s\nmark :%d\n" % (PENDING.encode(), mark)
        yield b"author %s\ncommitter %s\n" % (values.get(b"author", b""), values.get(b"committer", b""))
        yield b"data %d\n%b\n" % (len(message), message)
        yield b"from :%d\n" % (mark - 1) if mark > 1 else b""
        yield b'M 040000 %s ""\n\n' % values.get(b"tree", b"")
