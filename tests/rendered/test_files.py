"""Names that people wrote as paths: none leads out of its folder, and no two objects share a file."""

from __future__ import annotations

from itertools import combinations, product

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
        ObjectKey("", "v1", "ConfigMap", "a", ""),
        ObjectKey("", "v1", "Configmap", "a", "b"),
        ObjectKey("", "v1", "configmap", "a", "b"),
        ObjectKey("", "v1", "%63onfigmap", "a", "b"),
        ObjectKey("example.com", "v1", "Foo", "a", "b"),
        ObjectKey("example.com", "v1", "FOO", "a", "b"),
        ObjectKey("example.com", "v1", "foo", "a", "b"),
        ObjectKey("", "v1", "Foo.example.com", "a", "b"),
        ObjectKey("com", "v1", "Foo.example", "a", "b"),
        ObjectKey(".com", "v1", "Foo", "a", "b"),
        ObjectKey("com", "v1", "Foo.", "a", "b"),
        ObjectKey("com", "v1", "", "a", "b"),
    ]
    names = [file_name(key) for key in keys]
    assert all(one != other for one, other in combinations(names, 2))
    folders = [folder_path("c1", PlacementKey(*pair)) for pair in (("", "a.b"), ("a", "b"), ("", "a_b"), ("", "a-b"))]
    assert len(set(folders)) == len(folders)


def test_no_two_strange_objects_share_a_file() -> None:
    parts = ("", "a", "A", "Ab", "AB", ".", "a.b", "%", "_", "a_b", "ConfigMap", "configmap")
    keys = [ObjectKey(group, "v1", kind, space, name) for group, kind, space, name in product(parts, repeat=4)]
    assert len({file_name(key) for key in keys}) == len(keys)


def test_a_name_that_looks_like_a_shortened_one_is_another() -> None:
    long = file_name(ObjectKey("", "v1", "ConfigMap", "a", "x" * 300))
    looks = long.removesuffix(".yaml").partition("_a_")[2]
    assert file_name(ObjectKey("", "v1", "ConfigMap", "a", looks)) != long
    assert len(long) < 255


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (ObjectKey("", "v1", "ConfigMap", "web", "x"), "08-configmap_web_x.yaml"),
        (ObjectKey("apps", "v1", "Deployment", "web", "x"), "22-deployment.apps_web_x.yaml"),
        (ObjectKey("", "v1", "Namespace", "", "web"), "01-namespace_web.yaml"),
        (ObjectKey("example.org", "v1", "BigWidget", "web", "x"), "32-BigWidget.example.org_web_x.yaml"),
        (ObjectKey("", "v1", "configmap", "web", "x"), "32-%63onfigmap_web_x.yaml"),
    ],
)
def test_the_kinds_of_kubernetes_are_in_lower_case_and_all_others_as_they_are(key: ObjectKey, name: str) -> None:
    assert file_name(key) == name


def test_the_version_moves_no_file_and_the_order_of_the_fields_changes_no_byte() -> None:
    assert file_name(ObjectKey("g", "v1", "K", "n", "x")) == file_name(ObjectKey("g", "v2", "K", "n", "x"))
    body = builders.config_map("web", "x", {"b": "1", "a": "2"})
    turned = {key: body[key] for key in reversed(body)}
    assert file_content(builders.manifest_of(body)) == file_content(builders.manifest_of(turned))


def test_files_are_in_the_order_in_which_objects_are_applied() -> None:
    keys = [("", "Namespace"), ("", "ConfigMap"), ("apps", "Deployment"), ("example.org", "Widget")]
    names = [file_name(ObjectKey(group, "v1", kind, "web", "x")) for group, kind in keys]
    assert names == sorted(names)
