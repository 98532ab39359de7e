"""What could be a secret is shown to nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.masking import masked, masked_object, without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot push to https://me:hunter2@git.example/x", "cannot push to https://***@git.example/x"),
        ("> Authorization: Basic abc", "> Authorization: Basic ***"),
        ("sent bearer abcdefgh.ijkl", "sent ***"),
        ("token eyJhbGciOi.eyJzdWIi.sig", "token ***"),
        ("the colour is red", "the colour is red"),
    ],
)
def test_credentials_in_texts(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@given(st.text("abcd \n", max_size=40), st.sets(st.text("abcd", min_size=4, max_size=8)))
def test_no_secret_is_left(text: str, secrets: set[str]) -> None:
    assert not any(secret in without_secrets(text, secrets) for secret in secrets)


def test_sentences_are_one_short_line() -> None:
    assert masked("a\n  b\tc ") == "a b c"
    assert len(masked("x" * 5000)) == 512


def test_a_secret_s_values_are_masked_and_what_changed_is_told() -> None:
    new = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "1", "b": "2"}, "stringData": {"c": "3"}, "type": "t"}
    old = {"data": {"a": "1", "b": "9"}}
    assert masked_object(new, old) == {
        **new,
        "data": {"a": "***", "b": "*** (changed)"},
        "stringData": {"c": "*** (changed)"},
    }
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
    assert masked_object(plain) is plain
