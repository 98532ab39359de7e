"""Texts that anybody may write are searched in time that grows as they do, whatever they repeat."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitfleet.formats.masking import without_secrets
from gitfleet.formats.secret_objects import contains_secret
from gitfleet.formats.yaml_writer import write_documents
from tests.growth import grows_with_its_input

pytestmark = pytest.mark.slow

PARTS = (
    "kind: &",
    "eyJ-",
    "eyJa.",
    "://",
    "a://b",
    "?",
)
END = ("", "!", " x", "?x", ".y")


def written(text: str) -> bytes:
    return write_documents([{"a": text}])


@pytest.mark.parametrize("end", END)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("search", [contains_secret, without_secrets])
def test_searching_a_text_grows_with_it(search: Callable[[str], object], part: str, end: str) -> None:
    def run(size: int) -> Callable[[], object]:
        text = part * size + end
        return lambda: search(text)

    assert grows_with_its_input(run)


@pytest.mark.parametrize(
    ("start", "part", "end"), [("1", "g", "!"), ("1", "g.", " "), ("1", "%", "!"), ("", "1g ", "")]
)
def test_writing_a_text_grows_with_it(start: str, part: str, end: str) -> None:
    def run(size: int) -> Callable[[], object]:
        text = start + part * size + end
        return lambda: written(text)

    assert grows_with_its_input(run)
