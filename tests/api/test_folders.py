"""Which variant of a folder a cluster gets."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api import Location, read
from gitfleet.api.folders import Folder, FolderVariants, VariantSelector, choose_variants, variant_changes
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.texts import ApiText
from tests.folders import folder

PROD = VariantSelector(name="prod", cluster_selector=LabelSelector({"env": "prod"}))
NAMED = VariantSelector(name="one", cluster_selector=LabelSelector({"kubernetes-fleet.io/member-name": "c1"}))
NOT_LAB = VariantSelector(
    name="real",
    cluster_selector=LabelSelector(match_expressions=(LabelRequirement("lab", LabelOperator.DOES_NOT_EXIST),)),
)
REST = VariantSelector(name="rest")
APPS = FolderVariants(name="apps", variants=(PROD, NAMED, REST))
TOOLS = FolderVariants(name="tools", variants=(NOT_LAB, PROD))


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ({}, (("apps", "rest"), ("tools", "real"))),
        ({"env": "prod", "lab": "x"}, (("apps", "prod"), ("tools", "prod"))),
        ({"kubernetes-fleet.io/member-name": "c1", "lab": ""}, (("apps", "one"),)),
    ],
)
def test_a_cluster_gets_the_first_variant_that_it_matches(
    labels: dict[str, str], chosen: tuple[tuple[str, str], ...]
) -> None:
    assert choose_variants((TOOLS, APPS), labels) == chosen


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ((("a", "x"),), (("a", "x"),), ""),
        ((("a", "x"),), (("a", "y"),), "a: y, was x"),
        ((("a", "x"), ("b", "1")), (("b", "2"), ("c", "z")), "a: none, was x; b: 2, was 1; c: z, was none"),
    ],
)
def test_which_variants_differ(old: tuple[tuple[str, str], ...], new: tuple[tuple[str, str], ...], said: str) -> None:
    assert variant_changes(old, new) == said


FIRST = ("spec", "variants", 0)


def with_first_variant(**fields: Any) -> dict[str, Any]:
    """A Folder with a variant before the one for the rest."""
    body = folder("apps")
    rest = {"name": "rest", "path": "base"}
    return {**body, "spec": {"variants": [{"name": "prod", "path": "prod", **fields}, rest]}}


@pytest.mark.parametrize(
    ("kind", "body", "location", "hint"),
    [
        (Folder, {**folder("apps"), "namespace": "apps"}, ("namespace",), ApiText.MOVE_BELOW(field="spec")),
        (
            Folder,
            with_first_variant(clusterSelector={"env": "prod"}),
            (*FIRST, "clusterSelector", "env"),
            ApiText.LABELS_BELOW(),
        ),
        (
            Folder,
            with_first_variant(clusterSelector=None, matchLabels={"env": "prod"}),
            (*FIRST, "matchLabels"),
            ApiText.MOVE_BELOW(field="clusterSelector"),
        ),
    ],
)
def test_a_field_at_the_wrong_place_is_one_error_that_says_where_it_belongs(
    kind: type, body: dict[str, Any], location: Location, hint: str
) -> None:
    value, breaks = read(kind, body)
    assert value is None
    assert breaks == [(location, ApiText.NOT_KNOWN_FIELD(hint=hint))]


def test_a_variant_for_every_cluster_is_the_last() -> None:
    _, breaks = read(Folder, with_first_variant())
    assert breaks == [(FIRST, ApiText.VARIANT_NEVER_MATCHES(name="rest"))]
