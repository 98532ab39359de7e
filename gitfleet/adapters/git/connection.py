"""One remote, one mirror, one thread: runs git on the mirror and between the two, and names what went wrong."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitfleet.adapters.git.address import parse_address
from gitfleet.adapters.git.credentials import GitCredentials, Mask
from gitfleet.adapters.git.errors import error_of, is_about_the_remote, quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.mirror import BRANCHES, Mirror
from gitfleet.adapters.git.runner import LOCAL_SECONDS, OUTPUT_BYTES, GitResult, GitRunner
from gitfleet.errors import BadInput, GitfleetError, RemoteUnreachable

_HEADS = "refs/heads/"
_RECREATED = "is damaged; it is recreated at the next fetch."
_OTHER_FORMAT = re.compile(
    r"mismatched algorithms|unknown object format|object format mismatch|repository's hash algorithm", re.I
)
_DAMAGE = re.compile(r"corrupt|inflate|is far too short|bad config")
_STALE_LOCK = re.compile(r"\.lock': File exists")
_NO_SUCH_REF = re.compile(r"couldn't find remote ref", re.I)
_FETCH = (
    "fetch", "--quiet", "--prune", "--no-tags", "--force", "--update-shallow", "--no-write-fetch-head", "--no-auto-gc",
    "--no-recurse-submodules", "--no-show-forced-updates",
)  # fmt: skip
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


class Connection:
    """Everything a reader and a writer share; every method that can fail raises from gitfleet's own tree."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.address, inside = parse_address(settings.url)
        credentials = settings.credentials or inside
        if credentials is not None and inside is not None and not credentials.password:
            # What was given says how to reach the host; who we are stands in the address.
            credentials = replace(credentials, username=inside.username, password=inside.password)
        self.mask = Mask(credentials)
        self.mirror = Mirror(settings.mirror_dir, lock_seconds=settings.bounds.lock_seconds)
        self._settings = replace(settings, credentials=credentials)
        environment = git_environment(
            str(self.mirror.git_dir),
            protocols=self.address.protocols,
            origin=self.address.origin,
            credentials=credentials,
            use_git_config=settings.use_git_config,
        )
        self._git = GitRunner(self.mirror.folder, environment)
        self._seen: tuple[int, int] | None = None

    @property
    def shown(self) -> str:
        """The remote as people may see it."""
        return self.address.shown

    def local(
        self, *arguments: str, stdin: Iterable[bytes] = (), output_bytes: int = OUTPUT_BYTES, hold: int | None = None
    ) -> GitResult:
        """Run git on the mirror alone, which is made first when it is not there."""
        if not self.mirror.is_there():
            with self.mirror.hold():
                pass
        if self._seen is None:
            self._seen = self.mirror.identity()
        return self._git.run(*arguments, stdin=stdin, output_bytes=output_bytes, hold=hold)

    def remote_heads(self) -> Mapping[str, str]:
        """The remote's branches as it lists them now."""
        result = self._list_heads()
        if not result.ok and self._repair(result):
            result = self._list_heads()
        if not result.ok:
            raise error_of(result, self.shown, self.mask, doing="Reading the branches of")
        self._seen = self.mirror.identity()
        return _heads(result.output, separator="\t", prefix=_HEADS)

    def mirror_heads(self) -> Mapping[str, str]:
        """The remote's branches as the mirror has them."""
        result = self.local("for-each-ref", "--format=%(objectname) %(refname)", BRANCHES)
        if not result.ok:
            raise self.unreadable(result, "the branches of the mirror")
        return _heads(result.output, separator=" ", prefix=BRANCHES)

    def update(self) -> None:
        """Fetch all branches into the mirror; removes stale locks, and makes a broken mirror again."""
        with self.mirror.hold() as hold:
            if self.mirror.is_damaged():
                self.mirror.recreate(object_format=self._object_format(hold))
            result = self._fetch(f"+{_HEADS}*:{BRANCHES}*", hold=hold)
            if not result.ok and self._repair(result):
                result = self._fetch(f"+{_HEADS}*:{BRANCHES}*", hold=hold)
            self._seen = self.mirror.identity()
        if not result.ok:
            raise self._fetch_error(result)

    def fetch_ref(self, name: str, to: str) -> bool:
        """Fetch one ref of the remote; False when it has none of that name."""
        with self.mirror.hold() as hold:
            result = self._fetch(f"+{name}:{to}", hold=hold)
        if _NO_SUCH_REF.search(result.errors):
            return False
        if not result.ok:
            raise self._fetch_error(result)
        return True

    def push(self, commit: str, *, branch: str, expected: str | None, hold: int) -> GitResult:
        """Push a commit to a branch if the remote's branch still is `expected` (None: is not there)."""
        ref = _HEADS + branch
        return self._git.run(
            "push", "--porcelain", "--no-verify", "--no-signed", "--no-recurse-submodules", "--no-follow-tags",
            f"--force-with-lease={ref}:{expected or ''}", *self._service("receive-pack"),
            "--", self.address.url, f"{commit}:{ref}",
            seconds=self._settings.bounds.network_seconds, hold=hold,
        )  # fmt: skip

    def checked_out(self, branch: str) -> bool:
        """Whether the remote is a local repository that has this branch in a work tree."""
        return self.address.local is not None and branch in self.address.local.checked_out_branches(self._git)

    def unreadable(self, result: GitResult, what: str) -> GitfleetError:
        """Why a reading of the mirror failed: the mirror's fault (RemoteUnreachable), or a bad question (BadInput)."""
        if result.too_large:
            return BadInput(f"Reading {what} gives more than gitfleet takes in.")
        if result.timed_out or self._seen != self.mirror.identity():
            return RemoteUnreachable(f"The git mirror was busy or replaced while gitfleet read {what}.")
        if _DAMAGE.search(result.errors) or not self._is_intact():
            self.mirror.note_damage(quote_of(self.mask(result.errors)))
            return RemoteUnreachable(f"The git mirror in {self.mirror.folder} {_RECREATED}")
        return BadInput(f"{self.shown} does not have {what}.")

    def damaged(self, what: str) -> GitfleetError:
        """Note that an object of the mirror is not what its id says."""
        self.mirror.note_damage(what)
        return RemoteUnreachable(f"The git mirror in {self.mirror.folder} {_RECREATED}")

    def housekeep(self) -> None:
        """Roll small packs and loose objects up into one pack when there are many; nothing is ever dropped."""
        if not self.mirror.is_cluttered():
            return
        with self.mirror.hold() as hold:
            self.mirror.remove_leftovers()
            # Geometric: the cost follows what came in since the last time, not the size of the repository.
            arguments = ("-c", "repack.writeBitmaps=false", "repack", "--geometric=2", "-d", "-l", "-q")
            result = self._git.run(*arguments, seconds=5 * LOCAL_SECONDS, hold=hold)
        if not result.ok:
            _log.warning("git housekeeping failed", extra={"reason": quote_of(self.mask(result.errors))})

    def adopt_object_format_of(self, result: GitResult) -> bool:
        """Make an empty mirror of the other hash when the remote reported that it has it; whether that was so."""
        return bool(_OTHER_FORMAT.search(result.errors)) and self._repair(result)

    def _list_heads(self) -> GitResult:
        if not self.mirror.is_there():
            with self.mirror.hold():
                pass
        return self._git.run(
            "ls-remote", "--quiet", "--heads", *self._service("upload-pack"), "--", self.address.url,
            seconds=self._settings.bounds.network_seconds,
        )  # fmt: skip

    def _fetch(self, refspec: str, *, hold: int) -> GitResult:
        return self._git.run(
            *_FETCH, *self._service("upload-pack"), "--", self.address.url, refspec,
            seconds=self._settings.bounds.network_seconds,
            file_bytes=self._settings.bounds.largest_fetch_bytes,
            hold=hold,
        )  # fmt: skip

    def _fetch_error(self, result: GitResult) -> GitfleetError:
        limit_bytes = self._settings.bounds.largest_fetch_bytes
        # git does not say that the system stopped it at the limit; the file that it was writing does.
        if self.mirror.largest_unfinished_bytes() >= limit_bytes:
            self._remove_leftovers()
            limit = f"{limit_bytes >> 20} MiB"
            return BadInput(f"Fetching {self.shown} brings more than {limit}.", hint="Use a repository of its own.")
        return error_of(result, self.shown, self.mask, doing="Fetching")

    def _remove_leftovers(self) -> None:
        with self.mirror.hold():
            self.mirror.remove_leftovers()

    def _service(self, name: str) -> list[str]:
        return [f"--{name}={self.address.local.service(name)}"] if self.address.local else []

    def _repair(self, result: GitResult) -> bool:
        """Repair the mirror if a failure was its own fault; whether to try again."""
        if is_about_the_remote(result):
            return False
        with self.mirror.hold() as hold:
            if _OTHER_FORMAT.search(result.errors):
                other = "sha1" if self._object_format(hold) == "sha256" else "sha256"
                self.mirror.recreate(object_format=other)
            elif _STALE_LOCK.search(result.errors):
                self.mirror.remove_leftovers()
            elif not self._is_intact():
                _log.warning("git mirror is damaged and recreated", extra={"mirror": str(self.mirror.folder)})
                self.mirror.recreate()
            else:
                return False
        return True

    def _is_intact(self) -> bool:
        return self._git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress").ok

    def _object_format(self, hold: int) -> str:
        return self._git.run("rev-parse", "--show-object-format", hold=hold).output.decode().strip() or "sha1"


def _heads(output: bytes, *, separator: str, prefix: str) -> dict[str, str]:
    heads = {}
    for line in output.decode(errors="surrogateescape").splitlines():
        oid, ref = line.split(separator, 1)
        if ref.startswith(prefix):
            heads[ref.removeprefix(prefix)] = oid
    return heads
