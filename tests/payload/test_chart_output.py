"""What two renderings of one chart do not have in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitfleet.desired import parse_file
from gitfleet.formats.yaml_reader import Document
from gitfleet.payload.charts import differences
from gitfleet.payload.texts import PayloadText
from tests.growth import grows_with_its_input


def documents(*texts: str) -> tuple[Document, ...]:
    return parse_file("chart", "\n---\n".join(texts).encode()).documents


def config_map(name: str, value: str = "1") -> str:
    return f"{{kind: ConfigMap, metadata: {{namespace: web, name: {name}}}, data: {{k: {value}}}}}"


@pytest.mark.parametrize(
    ("one", "other", "unequal"),
    [
        ([config_map("a"), config_map("b")], [config_map("a"), config_map("b")], []),
        ([config_map("a"), config_map("b")], [config_map("b"), config_map("a")], []),
        (["{kind: X, a: 1, b: 2}"], ["{kind: X, b: 2, a: 1}"], []),
        ([config_map("b"), config_map("a", "x")], [config_map("b"), config_map("a", "y")], ["ConfigMap/web/a"]),
        ([config_map("b")], [config_map("a")], ["ConfigMap/web/a", "ConfigMap/web/b"]),
        ([config_map("b")], [config_map("b"), "{x: 1}"], [PayloadText.OBJECT_WITHOUT_NAME()]),
    ],
)
def test_the_objects_that_differ_are_named(one: list[str], other: list[str], unequal: list[str]) -> None:
    assert differences(documents(*one), documents(*other)) == unequal


@pytest.mark.parametrize("name", ["cm-{}", "same"])
def test_the_time_grows_with_the_objects(name: str) -> None:
    def run(size: int) -> Callable[[], object]:
        sides = [
            documents(*(config_map(name.format(number), f"{side}-{number}") for number in range(size)))
            for side in ("a", "b")
        ]
        return lambda: differences(*sides)

    assert grows_with_its_input(run)
