"""One remote, one mirror, one thread: runs git on the mirror and between the two, and names what went wrong."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitfleet.adapters.git.access import Access, AppToken, RemoteCommands
from gitfleet.adapters.git.address import parse_address
from gitfleet.adapters.git.credentials import Mask
from gitfleet.adapters.git.errors import error_of, is_about_the_remote, is_out_of_room, out_of_room, quote_of
from gitfleet.adapters.git.mirror import (
    BRANCHES,
    HEADS,
    TRACKED,
    Mirror,
    branch_ref,
    format_of,
    heads_of,
    refspecs,
    remove_tree,
)
from gitfleet.adapters.git.runner import LOCAL_SECONDS, OUTPUT_BYTES, GitResult, GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, GitfleetError, RemoteUnreachable, UnreadableCommit
from gitfleet.settings import GitCredentials

_OTHER_FORMAT = re.compile(r"(?i)mismatched algorithms|unknown object format|object format mismatch|'s hash algorithm")
_DAMAGE = re.compile(r"corrupt|inflate|is far too short|bad config|unable to read|is empty|does not match index")
_ABSENT = re.compile(
    r"not a tree|bad object|[Nn]ot a valid|not found|bad file|[Mm]issing|unknown|does not exist|not a commit"
)
"""What git says of an object that is not there, perhaps because it never was; a damaged one gives other errors."""
_STALE_LOCK = re.compile(r"\.lock': File exists")
_NO_SUCH_REF = re.compile(r"couldn't find remote ref", re.I)
_FETCH = (
    "fetch", "--quiet", "--no-tags", "--force", "--update-shallow", "--no-write-fetch-head", "--no-auto-gc",
    "--no-recurse-submodules", "--no-show-forced-updates", "--stdin",
)  # fmt: skip
_UNCHECKED_FETCH = ("-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false", *_FETCH)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of time and size.

    `network_seconds` is for one fetch or push, `lock_seconds` for the wait for another process, `largest_fetch_bytes`
    for one file that a fetch may write (Linux).
    """

    network_seconds: float = 120.0
    lock_seconds: float = 300.0
    largest_fetch_bytes: int = 2 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """How to reach one remote; see `GitRemote` for what each means."""

    url: str = field(repr=False)  # it may hold a password
    mirror_dir: Path
    credentials: GitCredentials | None = None
    bounds: Bounds = Bounds()
    use_git_config: bool = False
    app_token: AppToken | None = None
    tracked: bool = False


class Connection:
    """Everything a reader and a writer share; every method that can fail raises from gitfleet's own tree."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.address, inside = parse_address(settings.url)
        credentials = settings.credentials or inside
        if (
            credentials is not None
            and inside is not None
            and not (credentials.password or credentials.password_file or credentials.app)
        ):
            # What was given says how to reach the host; who we are stands in the address.
            credentials = replace(credentials, username=inside.username, password=inside.password)
        self.mask = Mask(credentials)
        self.mirror = Mirror(settings.mirror_dir, lock_seconds=settings.bounds.lock_seconds)
        self._settings = settings
        self._remote = RemoteCommands(
            self.address,
            Access(credentials, settings.app_token),
            self.mask,
            self.mirror.git_dir,
            seconds=settings.bounds.network_seconds,
            use_git_config=settings.use_git_config,
        )
        self._git = self._remote.runner(self.mirror.git_dir)
        self._seen: tuple[int, int] | None = None
        self._heads: Mapping[str, str] | None = None
        self._tracked: Set[str] = frozenset()
        self.refusals: dict[str, UnreadableCommit] = {}  # why a commit could not be read when it was tried

    @property
    def shown(self) -> str:
        """The remote as people may see it."""
        return self.address.shown

    def local(
        self, *arguments: str, stdin: Iterable[bytes] = (), output_bytes: int = OUTPUT_BYTES, lock: int | None = None
    ) -> GitResult:
        """Run git on the mirror alone, which is made first when it is not there."""
        self._check_mirror()
        self._seen = self._seen or self.mirror.identity()
        return self._git.run(*arguments, stdin=stdin, output_bytes=output_bytes, lock=lock)

    def remote_heads(self) -> Mapping[str, str]:
        """The remote's branches as it lists them now."""
        result = self._list_heads()
        if not result.ok and self._repair(result):
            result = self._list_heads()
        if not result.ok:
            raise error_of(result, self.shown, self.mask, doing=GitText.READING_BRANCHES)
        self._seen = self.mirror.identity()
        own = heads_of(result.output, separator=b"\t", prefix=HEADS)
        tracked = heads_of(result.output, separator=b"\t", prefix=TRACKED)
        self._tracked = tracked.keys() - own.keys() - {"HEAD"}
        self._heads = own | {name: tracked[name] for name in sorted(self._tracked)}
        return self._heads

    def known_heads(self) -> Mapping[str, str]:
        """The remote's branches as it reported them last."""
        return self.remote_heads() if self._heads is None else self._heads

    def mirrored(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of the branches that are in the mirror, as they are there."""
        result = self.local("for-each-ref", "--format=%(objectname) %(refname)", BRANCHES)
        if not result.ok:
            raise self.unreadable(result, GitText.BRANCHES_OF_MIRROR())
        refs = heads_of(result.output, separator=b" ", prefix="")
        return {name: refs[ref] for name in names if (ref := branch_ref(name)) in refs}

    def bring(self, names: Collection[str]) -> Collection[str]:
        """Fetch branches into the mirror, and nothing else that the remote has: whatever lies on other branches cannot
        get in the way. Removes stale locks, and recreates a damaged mirror.

        The branches that are there now. Of another one `refusals` says why its head cannot be read; the mirror keeps
        what it had of it.
        """
        with self.mirror.locked() as lock:
            result = self._fetch(refspecs(names, self._tracked), lock=lock)
            if not result.ok and self._repair(result):
                result = self._fetch(refspecs(names, self._tracked), lock=lock)
            self._seen = self.mirror.identity()
            return names if result.ok else self._bring_apart(names, result, lock=lock)

    def drop_passing_refusals(self) -> None:
        """Keep only the refusals that lie in the commits themselves; the remote may have them by then."""
        self.refusals = {commit: error for commit, error in self.refusals.items() if error.lasting}

    def fetch_ref(self, name: str, to: str) -> bool:
        """Fetch one ref of the remote; False when it has none of that name."""
        with self.mirror.locked() as lock:
            result = self._fetch([f"+{name}:{to}"], lock=lock)
        if _NO_SUCH_REF.search(result.errors):
            return False
        if not result.ok:
            raise self._fetch_error(result)
        return True

    def push(self, commit: str, *, branch: str, expected: str | None, lock: int, follow: bool = False) -> GitResult:
        """Push a commit ("": none, so that the branch goes) to a branch if the remote's branch still is `expected`
        (None: is not there); `follow` as LocalRepository.service has it."""
        ref = HEADS + branch
        return self._remote.run(
            "push", "--porcelain", "--no-verify", "--no-signed", "--no-recurse-submodules", "--no-follow-tags",
            f"--force-with-lease={ref}:{expected or ''}", *self._service("receive-pack", follow),
            "--", self.address.url, f"{commit}:{ref}",
            lock=lock,
        )  # fmt: skip

    def checked_out(self, branch: str) -> bool:
        """Whether the remote is a local repository that has this branch in a work tree."""
        return self.address.local is not None and branch in self.address.local.checked_out_branches(self._git)

    def unreadable(self, result: GitResult, subject: str) -> GitfleetError:
        """Why a reading of the mirror failed: the mirror's fault (RemoteUnreachable), or a bad question (BadInput)."""
        if is_out_of_room(result):
            return out_of_room(self.mirror.folder, quote_of(self.mask(result.errors)))
        if result.too_large:
            reason = GitText.GIVES_MORE()
            message = GitText.FAILED_SINCE(doing=GitText.READING(subject=subject), reason=reason)
            return UnreadableCommit(message, reason=reason, lasting=True)
        if result.timed_out or self._seen != self.mirror.identity():
            return RemoteUnreachable(GitText.MIRROR_BUSY(subject=subject))
        absent = not result.errors or _ABSENT.search(result.errors)
        if not absent or _DAMAGE.search(result.errors) or not self._is_intact():
            return self.damaged(quote_of(self.mask(result.errors)))
        return BadInput(GitText.NOT_HAVE(shown=self.shown, subject=subject))

    def damaged(self, reason: str) -> GitfleetError:
        """Note that the mirror is damaged, so that whoever locks it next recreates it."""
        self.mirror.note_damage(reason)
        return RemoteUnreachable(GitText.MIRROR_DAMAGED(folder=self.mirror.folder))

    def housekeep(self) -> None:
        """Roll small packs and loose objects up into one pack when there are many; nothing is ever dropped."""
        if not self.mirror.is_cluttered():
            return
        with self.mirror.locked() as lock:
            self.mirror.remove_leftovers()
            # Geometric: the cost follows what came in since the last time, not the size of the repository.
            arguments = ("-c", "repack.writeBitmaps=false", "repack", "--geometric=2", "-d", "-l", "-q")
            result = self._git.run(*arguments, seconds=5 * LOCAL_SECONDS, lock=lock)
        if not result.ok:
            _log.warning(GitText.HOUSEKEEPING_PUT_OFF(), extra={"reason": quote_of(self.mask(result.errors))})

    def repaired_push(self, result: GitResult) -> bool:
        """Whether a push failed since the mirror has ids of the other hash than the remote, and may be tried again.
        RemoteUnreachable where the mirror is damaged."""
        if _DAMAGE.search(result.errors) and not self._is_intact():
            raise self.damaged(quote_of(self.mask(result.errors)))
        return bool(_OTHER_FORMAT.search(result.errors)) and self._repair(result)

    def _check_mirror(self) -> None:
        if not self.mirror.is_ours():
            with self.mirror.locked():
                pass

    def _list_heads(self) -> GitResult:
        self._check_mirror()
        tracked = self._settings.tracked and self.address.local is not None
        kind, refs = ((), (f"{HEADS}*", f"{TRACKED}*")) if tracked else (("--heads",), ())
        where = (*self._service("upload-pack"), "--", self.address.url)
        return self._remote.run("ls-remote", "--quiet", *kind, *where, *refs)

    def _fetch(
        self, refspecs: Iterable[str], *, lock: int, into: Path | None = None, how: Sequence[str] = _FETCH
    ) -> GitResult:
        return self._remote.run(
            *how, *self._service("upload-pack"), "--", self.address.url,
            stdin=["".join(f"{refspec}\n" for refspec in refspecs).encode(errors="surrogateescape")],
            file_bytes=self._settings.bounds.largest_fetch_bytes, lock=lock, into=into,
        )  # fmt: skip

    def _bring_apart(self, names: Collection[str], result: GitResult, *, lock: int) -> list[str]:
        """Fetch branches one by one after fetching them together failed, so that one which holds what git refuses is
        alone with it. Where only its history does, its head is fetched without history. Those that are there."""
        error = self._fetch_error(result)
        if not isinstance(error, UnreadableCommit):
            raise error
        before, heads = self.known_heads(), self.remote_heads()
        for name in names:
            if before.get(name) != heads.get(name):
                raise RemoteUnreachable(GitText.BRANCH_MOVED_WHILE_FETCHED(shown=self.shown))
            if (refusal := self._bring_alone(name, lock=lock)) is not None:
                self.refusals[heads[name]] = refusal
        return [name for name in names if heads[name] not in self.refusals]

    def _bring_alone(self, name: str, *, lock: int) -> UnreadableCommit | None:
        """Fetch one branch, without its history where that is refused; why its head cannot be had, if so."""
        result = self._fetch(refspecs([name], self._tracked), lock=lock)
        if result.ok:
            return None
        error = self._fetch_error(result)
        if not isinstance(error, UnreadableCommit):
            raise error
        if self._fetch(refspecs([name], self._tracked), lock=lock, how=(*_FETCH, "--depth=1")).ok:
            _log.warning(GitText.BRANCH_WITHOUT_HISTORY(), extra={"branch": name, "reason": str(error)})
            return None
        self.mirror.remove_leftovers()
        return error

    def _fetch_error(self, result: GitResult) -> GitfleetError:
        if _NO_SUCH_REF.search(result.errors):
            return RemoteUnreachable(GitText.BRANCH_MOVED_WHILE_FETCHED(shown=self.shown))
        limit_bytes = self._settings.bounds.largest_fetch_bytes
        # git does not say that the system stopped it at the limit; the file that it was writing does.
        too_large = self.mirror.largest_unfinished_bytes() >= limit_bytes
        if too_large or is_out_of_room(result):
            with self.mirror.locked():
                self.mirror.remove_leftovers()
        if too_large:
            reason = GitText.BRINGS_MORE(limit=limit_bytes >> 20)
            message = GitText.FAILED_SINCE(doing=GitText.FETCHING(shown=self.shown), reason=reason)
            return UnreadableCommit(message, reason=reason, lasting=True, hint=GitText.USE_REPOSITORY_OF_OWN())
        return error_of(result, self.shown, self.mask, doing=GitText.FETCHING)

    @contextmanager
    def unchecked(self, names: Iterable[str]) -> Iterator[GitRunner | None]:
        """Some branches in a repository of their own, where nothing was checked and of which nothing is kept; None when
        the remote cannot give them."""
        with self.mirror.locked() as lock:
            scratch = self.mirror.make_fresh(object_format=format_of(self.known_heads()), name="examined.git")
            try:
                fetched = self._fetch(refspecs(names, self._tracked), lock=lock, into=scratch, how=_UNCHECKED_FETCH).ok
                yield self._remote.runner(scratch) if fetched else None
            finally:
                remove_tree(scratch)

    def _service(self, name: str, follow: bool = False) -> list[str]:
        return [f"--{name}={self.address.local.service(name, follow)}"] if self.address.local else []

    def _repair(self, result: GitResult) -> bool:
        """Empty the mirror, or remove stale locks, if a failure was its own fault; whether to try again."""
        if is_about_the_remote(result) or is_out_of_room(result):
            return False
        with self.mirror.locked() as lock:
            if _OTHER_FORMAT.search(result.errors):
                current = self._git.run("rev-parse", "--show-object-format", lock=lock).output.strip()
                self.mirror.recreate(object_format="sha1" if current == b"sha256" else "sha256")
            elif _STALE_LOCK.search(result.errors):
                self.mirror.remove_leftovers()
            elif self._is_intact():
                return False
            else:
                self.mirror.note_damage(quote_of(self.mask(result.errors)))
                self.mirror.recreate()
        return True

    def repair_after(self, result: GitResult, branch: str, base: str | None) -> None:
        """After a writing into the mirror failed: bring what it may have lacked. RemoteUnreachable where it is
        damaged."""
        self.mirror.remove_leftovers()
        if is_out_of_room(result):
            raise out_of_room(self.mirror.folder, quote_of(self.mask(result.errors)))
        if not self._is_intact():
            raise self.damaged(quote_of(self.mask(result.errors)))
        self.bring(sorted(name for name, oid in self.remote_heads().items() if name == branch or oid == base))

    def _is_intact(self) -> bool:
        return self._git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress").ok
