"""Which variant of a folder a cluster gets."""

from __future__ import annotations

import pytest

from gitfleet.api.folders import FolderVariants, VariantSelector, choose_variants, variant_changes
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector

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
        ({"env": "prod"}, (("apps", "prod"), ("tools", "real"))),
        ({"env": "prod", "lab": "x"}, (("apps", "prod"), ("tools", "prod"))),
        ({"lab": "x"}, (("apps", "rest"),)),
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
