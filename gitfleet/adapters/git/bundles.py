"""BundleRepo on a git remote: branches as git bundles, and what bundles hold, checked in a repository of its own before
the mirror gets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitfleet.adapters.git.bundle_header import BundleHeader, read_header
from gitfleet.adapters.git.errors import is_out_of_room, out_of_room, quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.mirror import branch_ref, remove_tree
from gitfleet.adapters.git.pushes import checked_out, classify_push
from gitfleet.adapters.git.remote import GitRemote
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats import git_names as names

_UNPACKED = re.compile(rb"pack\t[0-9a-f]{40,64}\n")
_HEADS = "refs/heads/"
_SCRATCH = "bundle.git"
_MEMORY_BYTES = 2 << 30
"""Most memory of the git that unpacks a bundle: a small file can unfold to any size."""
_LARGEST_OBJECT_BYTES = 64 << 20
_LARGEST_BLOB_IN_MEMORY = "core.bigFileThreshold=8m"


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
            hint = "Raise --max-size, here and where the bundle is imported."
            raise BadInput(f"The branch {branch} of {self.shown} makes a bundle of over {limit} bytes.", hint=hint)
        if not result.ok:
            raise BadInput(f"The branch {branch} of {self.shown} cannot be bundled: {quote_of(result.errors)}")
        return result.output

    def read_bundle(self, content: bytes, branch: str, *, shown: str) -> str:
        """BundleRepo.read_bundle."""
        header = read_header(content, shown)
        if header.ref != _HEADS + names.check_branch(branch):
            found = header.ref.removeprefix(_HEADS)
            hint = "Is it the file of another cluster, or of the other direction?"
            raise BadInput(f"{shown} holds the branch {found[:200]!r} and not {branch}.", hint=hint)
        with self._connection.mirror.hold() as hold:
            self._match_format(header, shown, hold)
            with self._scratch(header.object_format) as git:
                self._unpack(git, content, header, shown)
                _check(git, content, header, shown)
            pack = [content[header.start :]]
            # Only now: what is refused leaves nothing behind.
            result = self._connection.local("index-pack", "--stdin", "--strict", stdin=pack, hold=hold)
        if is_out_of_room(result):
            raise out_of_room(self._connection.mirror.folder, quote_of(result.errors))
        if not result.ok:
            raise MissingPart(f"git could not keep what {shown} holds: {quote_of(result.errors)}")
        return header.commit

    def move_branch(self, branch: str, commit: str, expected: str | None) -> None:
        """BundleRepo.move_branch."""
        names.check_branch(branch)
        if self._connection.checked_out(branch):
            raise checked_out(branch, self.shown)
        with self._connection.mirror.hold() as hold:
            result = self._connection.push(names.check_object_id(commit), branch=branch, expected=expected, hold=hold)
            error = classify_push(result, branch=branch, shown=self.shown, mask=self._connection.mask)
            if error is not None:
                raise error
            self._connection.local("update-ref", "--no-deref", branch_ref(branch), commit, hold=hold)

    def _unpack(self, git: GitRunner, content: bytes, header: BundleHeader, shown: str) -> None:
        """Unpack a bundle's pack into an empty repository: what it refers to must be in it, and pass fsck."""
        result = git.run(
            "-c", _LARGEST_BLOB_IN_MEMORY, "index-pack", "--stdin", "--strict", f"--max-input-size={len(content)}",
            stdin=[content[header.start :]],
        )  # fmt: skip
        if is_out_of_room(result):
            raise out_of_room(self._connection.mirror.folder, quote_of(result.errors))
        # What stands behind the pack is printed as it is.
        whole = _UNPACKED.fullmatch(result.output) is not None
        if not result.ok or not whole:
            reason = quote_of(result.errors)
            if result.ok:
                reason = "it goes on behind its end."
            elif result.timed_out:
                reason = "unpacking it took too long."
            hint = "Copy it again from where it was made."
            raise BadInput(f"{shown} is damaged, or holds what git refuses: {reason}", hint=hint)

    @contextmanager
    def _scratch(self, object_format: str, *, beside: Path | None = None) -> Iterator[GitRunner]:
        """An empty repository that is gone at the end, which reads the objects of another one beside its own."""
        mirror = self._connection.mirror
        with mirror.hold():
            folder = mirror.make_fresh(object_format=object_format, name=_SCRATCH)
            try:
                environment = git_environment(str(folder))
                if beside is not None:
                    environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(beside)
                yield GitRunner(folder, environment, memory_bytes=_MEMORY_BYTES)
            finally:
                remove_tree(folder)

    def _match_format(self, header: BundleHeader, shown: str, hold: int) -> None:
        """Give the mirror of an empty remote the bundle's hash."""
        told = self._connection.local("rev-parse", "--show-object-format", hold=hold)
        ours = told.output.decode(errors="replace").strip()
        if ours == header.object_format:
            return
        if self._connection.known_heads():
            raise BadInput(f"{shown} has ids of {header.object_format}, and {self.shown} has those of {ours}.")
        self._connection.mirror.recreate(object_format=header.object_format)


def _check(git: GitRunner, content: bytes, header: BundleHeader, shown: str) -> None:
    """What git itself makes of the unpacked bundle."""
    listed = git.run("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "--batch-all-objects")
    kinds = dict[str, str]()
    for line in listed.output.decode("ascii", errors="replace").splitlines():
        oid, kind, size = line.split(" ")
        if int(size) > _LARGEST_OBJECT_BYTES:
            raise BadInput(f"{shown} holds an object of over {_LARGEST_OBJECT_BYTES >> 20} MiB ({oid[:12]}).")
        kinds[oid] = kind
    if not listed.ok or kinds.get(header.commit) != "commit":
        raise BadInput(f"{shown} does not hold the commit {header.commit[:12]} that it names.")
    verified = git.run("bundle", "verify", "--quiet", "/dev/stdin", stdin=[content])
    if not verified.ok:
        raise BadInput(f"{shown} does not pass `git bundle verify`: {quote_of(verified.errors)}")


def _quoted(path: Path) -> str:
    """As GIT_ALTERNATE_OBJECT_DIRECTORIES has it, whose separator is the colon."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
