"""What one commit of the rendered branch writes: what changed, and no more."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gitfleet.api.objects import Manifest
from gitfleet.formats.git_names import blob_id
from gitfleet.rendered import Contents, Tree, commit_message, tree_change, tree_of
from gitfleet.rendered.files import file_content, file_name
from gitfleet.rendered.folders import Folder
from gitfleet.rendered.texts import RenderedText
from tests import builders

README = b"read me\n"


def manifest(name: str, value: str = "1") -> Manifest:
    return builders.manifest_of(builders.config_map("web", name, {"value": value}))


def folder(*manifests: Manifest) -> Folder:
    return Folder({file_name(one.key): one for one in manifests})


def written(folders: dict[str, Folder]) -> Tree:
    return tree_change(folders, Tree(), Tree(), README, Contents(40)).after


def test_what_is_there_already_is_not_written_again() -> None:
    folders = {f"c{number}/web": folder(manifest("a"), manifest("b")) for number in range(3)}
    known = written(folders)
    assert tree_change(folders, known, known, README, Contents(40)).empty
    read = tree_of(
        (f"{path}/{name}", oid) for path, files in known.files.items() for name, oid in files.items() if path
    )
    change = tree_change(folders, read, read, README, Contents(40))
    assert (list(change.write), list(change.remove)) == (["README.md"], [])


def test_only_what_differs_is_written_and_a_folder_without_files_vanishes() -> None:
    folders = {"c1/web": folder(manifest("a"), manifest("b")), "c2/web": folder(manifest("a"))}
    known = written(folders)
    change = tree_change({"c1/web": folder(manifest("a"), manifest("b", "2"))}, known, known, README, Contents(40))
    content = file_content(manifest("b", "2"))
    name = file_name(manifest("b").key)
    assert (dict(change.write), list(change.remove)) == (
        {f"c1/web/{name}": content},
        [f"c2/web/{file_name(manifest('a').key)}"],
    )
    assert change.after.files["c1/web"][name] == blob_id(content)
    assert commit_message(change, "abc") == (
        "Render web on c1 and c2",
        RenderedText.AS_COMMIT(commit="abc")
        + "\n\n- c1/web: 1 file written, 0 removed\n- c2/web: 0 files written, 1 removed",
    )


@pytest.mark.parametrize("encrypted", [True, False])
def test_the_order_of_fields_counts_where_a_mac_is_of_it(encrypted: bool) -> None:
    body = builders.config_map("web", "a", {"one": "1", "two": "2"})
    body |= {"sops": {"mac": "m"}} if encrypted else {}
    turned = {**body, "data": dict(reversed(body["data"].items()))}
    before, after = (builders.manifest_of(one) for one in (body, turned))
    assert before.digest == after.digest
    known = written({"c1/web": folder(before)})
    change = tree_change({"c1/web": folder(after)}, known, known, README, Contents(40))
    assert list(change.write.values()) == ([file_content(after)] if encrypted else [])


def test_the_ids_are_those_of_the_repository() -> None:
    long = tree_change({}, Tree(), Tree(), README, Contents(64)).after.files[""]["README.md"]
    assert (len(long), long) == (64, blob_id(README, 64))


def test_a_path_that_git_takes_and_gitfleet_does_not_is_removed_with_all_others() -> None:
    folders = {"c1/web": folder(manifest("a"))}
    own = written(folders)
    there = Tree(files={**own.files, "bad\x01": {"x": "0" * 40}})
    change = tree_change(folders, own, there, README, Contents(40))
    assert list(change.remove) == [""]
    assert {*change.write, *change.link} == {"README.md", f"c1/web/{file_name(manifest('a').key)}"}
    assert "elsewhere: 0 files written, 1 removed" in commit_message(change, "abc")[1]


def test_the_work_follows_the_change_and_not_the_fleet() -> None:
    """Calls of functions: as many for one changed folder in a fleet of ten clusters as in one of a thousand."""

    def calls(clusters: int) -> int:
        shared = folder(*(manifest(str(number)) for number in range(5)))
        folders = {f"c{number}/web": shared for number in range(clusters)}
        known = written(folders)
        changed = {**folders, "c1/web": folder(manifest("0", "2"))}
        count = 0

        def note(frame: Any, event: str, arg: Any) -> None:
            nonlocal count
            count += event == "call" and frame.f_code.co_name not in ("_files_of",)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            change = tree_change(changed, known, known, README, Contents(40))
        finally:
            sys.setprofile(before)
        assert len(change.changed) == 1
        return count

    assert calls(1000) <= calls(10) + 5
