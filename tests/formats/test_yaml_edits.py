"""Setting one field of a file that people wrote: every other byte stays."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.errors import BadInput
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_edits import with_flag

PATH = ("spec", "plan", "paused")
BLOCK = """\
# Who reads this knows why.
kind: Rollout          # a comment

spec:
    plan:              # indented by four
        # how many
        batches:
        - "1"
        -   '50%'
    other: >-
        a long
        text
"""


@pytest.mark.parametrize(
    ("text", "removed", "added"),
    [
        pytest.param(BLOCK, [], ["        paused: true"], id="a new line in a block"),
        pytest.param(BLOCK.replace("\n", "\r\n"), [], ["        paused: true\r"], id="with its line end"),
        pytest.param(
            BLOCK.replace("# how many", "paused: false   # until Monday"),
            ["        paused: false   # until Monday"], ["        paused: true   # until Monday"], id="a value",
        ),
        pytest.param("spec:\n  plan:\n    paused:\n    a: 1\n", ["    paused:"], ["    paused: true"], id="no value"),
        pytest.param("spec:\n  plan: {a: 1} #\n", ["  plan: {a: 1} #"], ["  plan: {paused: true, a: 1} #"], id="flow"),
        pytest.param(
            '{"spec": {"plan": {"a": [1]}}}', ['{"spec": {"plan": {"a": [1]}}}'],
            ['{"spec": {"plan": {"paused": true, "a": [1]}}}'], id="JSON",
        ),
        pytest.param("spec:\n  plan: &p\n    a: 1\n", [], ["    paused: true"], id="an anchor that nobody uses"),
        pytest.param("spec:\n  'plan':\n    \"paused\": no\n    a: 1\n", ['    "paused": no'], ['    "paused": true'],
                     id="quoted names"),
    ],
)  # fmt: skip
def test_what_changes(text: str, removed: list[str], added: list[str]) -> None:
    after = with_flag(text.encode(), 0, PATH, True).decode()

    lines = [*difflib.ndiff(text.split("\n"), after.split("\n"))]
    assert [line[2:] for line in lines if line.startswith("- ")] == removed
    assert [line[2:] for line in lines if line.startswith("+ ")] == added
    assert with_flag(after.encode(), 0, PATH, True).decode() == after


def test_one_document_of_several_changes() -> None:
    text = "---\n# nothing\n---\nspec: {plan: {a: 1}}\n---\nspec:\n  plan:\n    paused: false\n...\n"

    assert with_flag(text.encode(), 2, PATH, True).decode() == text.replace("false", "true")
    assert with_flag(text.encode(), 1, PATH, True).decode() == text.replace("{a:", "{paused: true, a:")


@pytest.mark.parametrize(
    "text",
    [
        "spec: {}\n", "spec:\n  plan:\n", "spec:\n  plan: [a]\n", "spec:\n  plan: *x\n", "a: 1\n", "[]\n", "", "a: [\n",
        "base: &b\n  a: 1\nspec:\n  plan: *b\n",
        "base: &b {paused: false}\nspec:\n  plan: *b\n",
        "spec:\n  plan:\n    paused: &x false\n  also: *x\n",
        "spec:\n  plan: &b\n    a: 1\nalso: *b\n",
        "? spec\n: ? plan\n  : ? a\n    : 1\n",
    ],
)  # fmt: skip
def test_what_cannot_be_changed_alone_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        with_flag(text.encode(), 0, PATH, True)
    assert str(caught.value) == FormatsText.CANNOT_SET_WITHOUT_CHANGING_MORE(field="spec.plan.paused")
    assert caught.value.hint == FormatsText.WRITE_HAND(path="paused", json="true")


@given(st.text(max_size=40), st.booleans())
def test_any_text_beside_it_stays(comment: str, value: bool) -> None:
    """Whatever stands in the file: it is refused, or only the new line is there besides."""
    text = f"spec:\n  plan:\n    a: 1 # {comment}\n"
    try:
        after = with_flag(text.encode(errors="surrogatepass"), 0, PATH, value).decode()
    except BadInput:
        return
    line = f"    paused: {str(value).lower()}\n"
    assert after.replace(line, "", 1) == text
