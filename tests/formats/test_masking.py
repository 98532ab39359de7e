"""What could be a secret is shown to nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.masking import masked, without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot push to https://me:hunter2@git.example/x", "cannot push to https://***@git.example/x"),
        ("> Authorization: Basic abc", "> Authorization: Basic ***"),
        ("sent bearer abcdefgh.ijkl", "sent ***"),
        ("token eyJhbGciOi.eyJzdWIi.sig", "token ***"),
        ("token=x-eyJhbGciOi.eyJzdWIi.sig", "token=***"),
        ("the monkeyJar.example is red", "the monkeyJar.example is red"),
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
