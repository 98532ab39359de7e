"""The files of a local repository's work tree, committed or not. Nothing is written, and no filter or hook runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.local import find_local_repository
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.errors import BadInput
from gitfleet.formats.git_names import SHA1_DIGITS, blob_id
from gitfleet.ports.repos import TreeEntry, WorkTreeFiles


def read_work_tree(address: str, *, limit: int) -> WorkTreeFiles | None:
    """What is in the work tree of a repository on this machine, without ignored files; None for a URL, a bare
    repository, and one that has no commit checked out or uses SHA-256. A file of more than `limit` bytes counts as
    committed where git knows it."""
    folder = Path(address).expanduser().absolute()
    if "://" in address or not (folder / ".git").exists():
        return None
    try:
        find_local_repository(folder)
    except BadInput:
        return None
    git = GitRunner(folder, git_environment(None, use_git_config=True))
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").output.decode().strip()
    tree = git.run("ls-tree", "-r", "-z", "HEAD")
    listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if len(head) != SHA1_DIGITS or not tree.ok or not listed.ok:
        return None
    committed = dict(_committed(tree.output))
    top = folder.resolve()
    contents: dict[str, bytes] = {}
    files: dict[str, TreeEntry] = {}
    for path in sorted({os.fsdecode(raw) for raw in listed.output.split(b"\0") if raw}):
        committed_entry = committed.get(path)
        inside = (folder / path).parent.resolve() == top / Path(path).parent
        entry, content = _read(folder / path, committed_entry, limit) if inside else (None, None)
        if entry is not None:
            files[path] = entry
            if content is not None and (committed_entry is None or committed_entry.oid != entry.oid):
                contents[entry.oid] = content
    paths = sorted({*committed, *files})
    changed = tuple(path for path in paths if committed.get(path) != files.get(path))
    return WorkTreeFiles(head=head, files=files, contents=contents, changed=changed)


def _committed(output: bytes) -> Iterator[tuple[str, TreeEntry]]:
    for line in filter(None, output.split(b"\0")):
        columns, _, path = line.partition(b"\t")
        mode, _, oid = columns.decode().split(" ")
        yield os.fsdecode(path), TreeEntry(mode, oid)


def _read(file: Path, committed_entry: TreeEntry | None, limit: int) -> tuple[TreeEntry | None, bytes | None]:
    """The entry of one file and its bytes; the committed entry where it cannot be read or is no ordinary file."""
    try:
        status = file.lstat()
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(file.readlink())
            return TreeEntry("120000", blob_id(content), len(content)), content
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return committed_entry, None
        content = file.read_bytes()
    except FileNotFoundError:
        return None, None
    except OSError:
        return committed_entry, None
    if committed_entry is not None and committed_entry.oid == blob_id(content.replace(b"\r\n", b"\n")):
        return TreeEntry(
            committed_entry.mode, committed_entry.oid, len(content)
        ), content  # git checked it out with another line ending
    return TreeEntry("100755" if status.st_mode & stat.S_IXUSR else "100644", blob_id(content), len(content)), content
