"""From the files that are on the rendered branch to those that are to be there: what one commit writes and removes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.objects import Manifest
from gitfleet.formats.git_names import blob_id, is_path
from gitfleet.formats.sentences import and_more, counted, named_briefly
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.rendered.files import file_content
from gitfleet.rendered.folders import Folder, Folders
from gitfleet.rendered.texts import RenderedText

README_FILE: Final = "README.md"
_MOST_LINES: Final = 50
_MOST_NAMED: Final = 3
_MOST_CHARACTERS: Final = 120

Files = Mapping[str, str]
"""Blob ids by name, "" for what is no plain file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files of the branch by folder ("" is the top), and what the folders were made of, as far as that is known."""

    files: Mapping[str, Files] = field(default_factory=dict)
    made_of: Folders = field(default_factory=dict)


def tree_of(blobs: Iterable[tuple[str, str]]) -> Tree:
    """The files of a commit, given by path and blob id."""
    files: dict[str, dict[str, str]] = {}
    for path, oid in blobs:
        folder, _, name = path.rpartition("/")
        files.setdefault(folder, {})[name] = oid
    return Tree(files=files)


@dataclass(slots=True)
class Contents:
    """Manifests as blobs, each written once: `written` are the bytes by id. The ids have so many digits."""

    digits: int
    written: dict[str, bytes] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict)

    def blob(self, content: bytes) -> str:
        """The id of a blob with these bytes."""
        oid = blob_id(content, self.digits)
        self.written[oid] = content
        return oid

    def of(self, manifest: Manifest) -> str:
        """The id of the blob that a manifest becomes."""
        if is_sops_encrypted(manifest.body):
            return self.blob(file_content(manifest))  # the order of its fields counts, which its digest does not have
        if manifest.digest not in self._ids:
            self._ids[manifest.digest] = self.blob(file_content(manifest))
        return self._ids[manifest.digest]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeChange:
    """The files after a commit; by path what it writes, links (blobs that the repository has) and removes. Where
    something is removed that has no path which git takes, that is all there is, and every file is linked again."""

    after: Tree
    write: Mapping[str, bytes]
    link: Mapping[str, str]
    remove: Collection[str]
    changed: Mapping[str, tuple[int, int]]
    """How many files are written and removed, by folder."""

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not self.changed


def tree_change(folders: Folders, own: Tree, current: Tree, readme: bytes, contents: Contents) -> TreeChange:
    """What brings the `current` files to those of the `folders`. `own` is what gitfleet wrote last: what stays as it is
    stays as it was there."""
    files: dict[str, Files] = {"": {README_FILE: contents.blob(readme)}}
    for path, folder in folders.items():
        if folder_files := _files_of(folder, own.files.get(path, {}), own.made_of.get(path), contents):
            files[path] = folder_files
    after = Tree(files=files, made_of=folders)
    changed, put, remove = dict[str, tuple[int, int]](), dict[str, str](), list[str]()
    for path in files.keys() | current.files.keys():
        new, old = files.get(path, {}), current.files.get(path, {})
        if new is old or new == old:
            continue
        written = {name: oid for name, oid in new.items() if old.get(name) != oid}
        removed = [name for name in old if name not in new]
        put |= {_joined(path, name): oid for name, oid in written.items()}
        remove += [_joined(path, name) for name in removed]
        changed[path] = (len(written), len(removed))
    if not all(map(is_path, remove)):
        remove, put = [""], {_joined(path, name): oid for path, blobs in files.items() for name, oid in blobs.items()}
    return TreeChange(
        after=after,
        write={path: contents.written[oid] for path, oid in put.items() if oid in contents.written},
        link={path: oid for path, oid in put.items() if oid not in contents.written},
        remove=sorted(remove),
        changed=dict(sorted(changed.items())),
    )


def _files_of(folder: Folder, had: Files, before: Folder | None, contents: Contents) -> Files:
    """The files of a folder; the very same value where nothing changes."""
    if before is folder:
        return had
    previous = before.manifests if before is not None else {}
    files = {name: oid for name, oid in had.items() if oid and folder.keeps(name)}
    for name, manifest in folder.manifests.items():
        files[name] = had[name] if name in had and _same(previous.get(name), manifest) else contents.of(manifest)
    return had if files == had else files


def _same(old: Manifest | None, new: Manifest) -> bool:
    """Whether two manifests surely give the same bytes."""
    return old is new or (old is not None and old.digest == new.digest and not is_sops_encrypted(new.body))


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def commit_message(change: TreeChange, commit: str) -> tuple[str, str]:
    """Subject and body of the commit: which placements on which clusters, and the config commit that they follow."""
    parts = [path.split("/") for path in change.changed if path.count("/") == 1 and is_path(path)]
    clusters, placements = sorted({part[0] for part in parts}), sorted({part[1] for part in parts})
    subject = RenderedText.PUT_FILES_ORDER()
    if parts:
        subject = f"Render {named_briefly(placements, _MOST_NAMED)} on {named_briefly(clusters, _MOST_NAMED)}"
    lines = [
        f"- {path if is_path(path) else 'elsewhere'}: {counted(written, 'file')} written, {removed} removed"
        for path, (written, removed) in list(change.changed.items())[:_MOST_LINES]
    ]
    omitted = len(change.changed) - _MOST_LINES
    lines += [f"-{and_more(omitted)} folders"] if omitted > 0 else []
    return subject[:_MOST_CHARACTERS], "\n".join((RenderedText.AS_COMMIT(commit=commit), "", *lines))


def readme_text(watch: str, state: str) -> str:
    """The page at the top of the branch: the same for the same names of branches."""
    return f"""\
# Rendered manifests

gitfleet writes this branch by itself, from the branches `{watch}` and `{state}`. Edits are undone: change `{watch}`.

`CLUSTER/PLACEMENT/*.yaml` is what each member cluster is to have of each placement now, overrides applied: not the
newest version, but the one that the rollout has brought to that cluster. Secrets stand here as they stand on `{watch}`.
"""
