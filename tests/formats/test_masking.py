"""What could be a secret is shown to nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.masking import masked, masked_object, secrets_in, without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot push to https://me:hunter2@git.example/x", "cannot push to https://***@git.example/x"),
        ("> Authorization: Basic abc", "> Authorization: Basic ***"),
        ("sent bearer abcdefgh.ijkl", "sent ***"),
        ("token eyJhbGciOi.eyJzdWIi.sig", "token ***"),
        ("the colour is red", "the colour is red"),
        (
            "unable to access 'https://git.example/x?token=hunter2&a=b': gone",
            "unable to access 'https://git.example/x?***': gone",
        ),
        ("is it https://git.example/x? yes", "is it https://git.example/x? yes"),
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


@pytest.mark.parametrize("values", ["hunter2", ["hunter2"], {"a": {"b": ["hunter2"]}}, {"a": "hunter2"}])
@pytest.mark.parametrize("part", ["data", "stringData"])
def test_a_secret_s_values_are_masked_whatever_their_shape(part: str, values: object) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", part: values}
    for other in (None, {}, {part: 7}, {part: {"a": "hunter"}}):
        assert "hunter" not in str(masked_object(body, other))
    assert "changed" in str(masked_object(body, {part: "another"}))
    assert "hunter2" in secrets_in(body)


@pytest.mark.parametrize("values", [None, 7, True, ["a", None], {}])
def test_odd_values_of_a_secret_are_no_error(values: object) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "data": values, "stringData": values}
    assert isinstance(masked_object(body, body), dict) and isinstance(secrets_in(body), tuple)
