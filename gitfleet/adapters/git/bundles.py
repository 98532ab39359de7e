"""BundleRepo on a git remote: branches as git bundles, and what bundles hold, checked in a repository of its own before
the mirror gets it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitfleet.adapters.git.errors import is_out_of_room, out_of_room, quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.mirror import branch_ref, remove_tree
from gitfleet.adapters.git.pushes import checked_out, classify_push
from gitfleet.adapters.git.remote import GitRemote
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats import git_names as names

_UNPACKED = re.compile(rb"pack\t[0-9a-f]{40,64}\n")
_HEADS = "refs/heads/"
_SCRATCH = "bundle.git"
_MEMORY_BYTES = 2 << 30
"""Most memory of the git that unpacks a bundle: a small file can unfold to any size."""
_LARGEST_OBJECT_BYTES = 64 << 20
_LARGEST_BLOB_IN_MEMORY = "core.bigFileThreshold=8m"
_LARGEST_HEADER_BYTES = 16 << 10
_HEADER = re.compile(
    rb"# v(?:2 git bundle\n|3 git bundle\n(?:@object-format=(sha1|sha256)\n)?)"
    rb"([0-9a-f]{40}|[0-9a-f]{64}) ([^\n]+)\n\n"
)
"""The head of a bundle of one ref and no prerequisites, which is read before git sees the file (gitformat-bundle)."""


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """What a bundle says it holds: one branch at a commit, in a pack that begins at `start`."""

    object_format: str
    ref: str
    commit: str
    start: int


class GitBundles(GitRemote):
    """One git remote, as GitRemote has it, whose branches travel in files."""

    def write_bundle(self, branch: str, commit: str, *, limit: int) -> bytes:
        """BundleRepo.write_bundle."""
        ref = _HEADS + names.check_branch(branch)
        objects = self._connection.mirror.git_dir / "objects"
        digits = len(names.check_object_id(commit))
        with self._scratch("sha1" if digits == names.SHA1_DIGITS else "sha256", beside=objects) as git:
            result = git.run("update-ref", ref, commit)
            if result.ok:
                result = git.run("bundle", "create", "--quiet", "-", ref, output_bytes=limit)
        if result.too_large:
            message = GitText.BUNDLE_LARGER(branch=branch, shown=self.shown, limit=limit)
            raise BadInput(message, hint=GitText.RAISE_MAX_SIZE())
        if not result.ok:
            reported = quote_of(result.errors)
            raise BadInput(GitText.BRANCH_CANNOT_BUNDLED(branch=branch, shown=self.shown, reported=reported))
        return result.output

    def read_bundle(self, content: bytes, branch: str, *, shown: str) -> str:
        """BundleRepo.read_bundle."""
        header = read_header(content, shown)
        if header.ref != _HEADS + names.check_branch(branch):
            contained = header.ref.removeprefix(_HEADS)[:200]
            message = GitText.BUNDLE_HOLDS_ANOTHER_BRANCH(shown=shown, contained=contained, branch=branch)
            raise BadInput(message, hint=GitText.ANOTHER_CLUSTER())
        with self._connection.mirror.locked() as lock:
            self._match_format(header, shown, lock)
            with self._scratch(header.object_format) as git:
                self._unpack(git, content, header, shown)
                _check(git, header, shown)
            pack = [content[header.start :]]
            # Only now: what is refused leaves nothing behind.
            result = self._connection.local("index-pack", "--stdin", "--strict", stdin=pack, lock=lock)
        if is_out_of_room(result):
            raise out_of_room(self._connection.mirror.folder, quote_of(result.errors))
        if not result.ok:
            raise self._connection.mirror.unusable(quote_of(result.errors))
        return header.commit

    def move_branch(self, branch: str, commit: str, expected: str | None) -> None:
        """BundleRepo.move_branch."""
        names.check_branch(branch)
        if self._connection.checked_out(branch):
            raise checked_out(branch, self.shown)
        with self._connection.mirror.locked() as lock:
            result = self._connection.push(names.check_object_id(commit), branch=branch, expected=expected, lock=lock)
            error = classify_push(result, branch=branch, shown=self.shown, mask=self._connection.mask)
            if error is not None:
                raise error
            self._connection.local("update-ref", "--no-deref", branch_ref(branch), commit, lock=lock)

    def _unpack(self, git: GitRunner, content: bytes, header: BundleHeader, shown: str) -> None:
        """Unpack a bundle's pack into an empty repository: what it refers to must be in it, and pass fsck."""
        result = git.run(
            "-c", _LARGEST_BLOB_IN_MEMORY, "index-pack", "--stdin", "--strict", f"--max-input-size={len(content)}",
            stdin=[content[header.start :]],
        )  # fmt: skip
        if is_out_of_room(result):
            raise out_of_room(self._connection.mirror.folder, quote_of(result.errors))
        # What stands behind the pack is printed as it is.
        if not result.ok or _UNPACKED.fullmatch(result.output) is None:
            reason = quote_of(result.errors)
            if result.ok:
                reason = GitText.GOES_ON_BEHIND_END()
            elif result.timed_out:
                reason = GitText.UNPACKING_TOO_LONG()
            raise _damaged(shown, reason)

    @contextmanager
    def _scratch(self, object_format: str, *, beside: Path | None = None) -> Iterator[GitRunner]:
        """An empty repository that is gone at the end, which reads the objects of another one beside its own."""
        mirror = self._connection.mirror
        with mirror.locked():
            folder = mirror.make_fresh(object_format=object_format, name=_SCRATCH)
            try:
                environment = git_environment(str(folder))
                if beside is not None:
                    environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(beside)
                yield GitRunner(folder, environment, memory_bytes=_MEMORY_BYTES)
            finally:
                remove_tree(folder)

    def _match_format(self, header: BundleHeader, shown: str, lock: int) -> None:
        """Give the mirror of an empty remote the bundle's hash."""
        reported = self._connection.local("rev-parse", "--show-object-format", lock=lock)
        ours = reported.output.decode(errors="replace").strip()
        if ours == header.object_format:
            return
        if self._connection.known_heads():
            raise BadInput(
                GitText.BUNDLE_OF_OTHER_IDS(shown=shown, theirs=header.object_format, remote=self.shown, ours=ours)
            )
        self._connection.mirror.recreate(object_format=header.object_format)


def _check(git: GitRunner, header: BundleHeader, shown: str) -> None:
    listed = git.run("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "--batch-all-objects")
    kinds = dict[str, str]()
    for line in listed.output.decode("ascii", errors="replace").splitlines():
        oid, kind, size = line.split(" ")
        if int(size) > _LARGEST_OBJECT_BYTES:
            limit = _LARGEST_OBJECT_BYTES >> 20
            raise BadInput(GitText.OBJECT_LARGER(shown=shown, limit=limit, oid=oid[:12]))
        kinds[oid] = kind
    if not listed.ok or kinds.get(header.commit) != "commit":
        raise _damaged(shown, GitText.LACKS_ITS_COMMIT(oid=header.commit[:12]))


def _damaged(shown: str, reason: str) -> BadInput:
    return BadInput(GitText.BUNDLE_DAMAGED(shown=shown, reason=reason), hint=GitText.COPY_AGAIN())


def _quoted(path: Path) -> str:
    """As GIT_ALTERNATE_OBJECT_DIRECTORIES has it, whose separator is the colon."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read_header(content: bytes, shown: str) -> BundleHeader:
    """The head of a bundle; BadInput unless it is one, holds one ref, and lacks nothing that the reader would need to
    have already."""
    header = _HEADER.match(content[:_LARGEST_HEADER_BYTES])
    if header is None:
        raise BadInput(GitText.NO_BUNDLE(shown=shown), hint=GitText.MAKE_BUNDLE())
    object_format = (header[1] or b"sha1").decode()
    return BundleHeader(object_format, header[3].decode(errors="surrogateescape"), header[2].decode(), header.end())


def make_site_repository(folder: Path, bundle: bytes, *, shown: str) -> bool:
    """Make an empty bare repository, only for this user, whose ids are of the kind that a bundle has; whether there was
    none. BadInput for what is no bundle of one branch, MissingPart where the folder cannot be made."""
    if os.path.lexists(folder):
        return False
    object_format = read_header(bundle, shown).object_format
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _not_made(folder, str(error.strerror)) from error
    try:
        done = GitRunner(fresh, git_environment(None)).run(
            "init", "--quiet", "--bare", "--template=", "--initial-branch=main", f"--object-format={object_format}",
            str(fresh),
        )  # fmt: skip
        if not done.ok:
            raise _not_made(folder, quote_of(done.errors))
        try:
            fresh.rename(folder)
        except OSError as error:
            if not folder.is_dir():  # otherwise, another process was faster
                raise _not_made(folder, str(error.strerror)) from error
        return True
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _not_made(folder: Path, why: str) -> MissingPart:
    message = GitText.FOLDER_CANNOT_MADE(folder=folder, why=why.rstrip("."))
    return MissingPart(message, hint=GitText.GIVE_FREE_PATH())
