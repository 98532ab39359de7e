"""Names that people wrote as paths: none leads out of its folder, and no two objects share a file."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.git_names import is_path
from gitfleet.rendered import file_content, file_path
from gitfleet.rendered.files import file_name, folder_path
from tests import builders

HOSTILE = (
    "..",
    ".",
    ".git",
    "git~1",
    "a/b",
    "a%2Fb",
    "a\nb",
    "CON",
    "system:node",
    "a_b",
    "-x",
    "é",
    "x" * 300,
    "a\\b",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    for cluster, placement, object_ in ((name, "web", "x"), ("c1", name, "x"), ("c1", "web", name)):
        path = file_path(cluster, PlacementKey("", placement), ObjectKey("", "v1", "ConfigMap", "web", object_))
        assert (is_path(path), path.count("/")) == (True, 2)
        assert path.isascii()


@given(st.text(max_size=300))
def test_whatever_is_written_is_a_path(name: str) -> None:
    assert is_path(file_path(name, PlacementKey(name, name), ObjectKey(name, "v1", name or "x", name, name)))


def test_no_two_objects_share_a_file() -> None:
    keys = [
        ObjectKey("", "v1", "ConfigMap", "a-b", "c"),
        ObjectKey("", "v1", "ConfigMap", "a", "b-c"),
        ObjectKey("", "v1", "ConfigMap", "a", "b_c"),
        ObjectKey("", "v1", "ConfigMap", "", "a_b_c"),
        ObjectKey("a", "v1", "ConfigMap", "", "b"),
        ObjectKey("", "v1", "ConfigMap", "a", "b"),
        ObjectKey("", "v1", "ConfigMap", "a", "b:c"),
        ObjectKey("", "v1", "ConfigMap", "a", "b%3Ac"),
        ObjectKey("", "v1", "ConfigMap", "a", "x" * 300),
        ObjectKey("", "v1", "ConfigMap", "a", "x" * 299 + "y"),
    ]
    names = [file_name(key) for key in keys]
    assert all(one != other for one, other in combinations(names, 2))
    folders = [folder_path("c1", PlacementKey(*pair)) for pair in (("", "a.b"), ("a", "b"), ("", "a_b"), ("", "a-b"))]
    assert len(set(folders)) == len(folders)


def test_the_version_moves_no_file_and_the_order_of_the_fields_changes_no_byte() -> None:
    assert file_name(ObjectKey("g", "v1", "K", "n", "x")) == file_name(ObjectKey("g", "v2", "K", "n", "x"))
    body = builders.config_map("web", "x", {"b": "1", "a": "2"})
    turned = {key: body[key] for key in reversed(body)}
    assert file_content(builders.manifest_of(body)) == file_content(builders.manifest_of(turned))


def test_files_are_in_the_order_in_which_objects_are_applied() -> None:
    keys = [("", "Namespace"), ("", "ConfigMap"), ("apps", "Deployment"), ("example.org", "Widget")]
    names = [file_name(ObjectKey(group, "v1", kind, "web", "x")) for group, kind in keys]
    assert names == sorted(names)
