"""The values of Secrets are masked wherever they stand, and however others quote them."""

from __future__ import annotations

import base64
import html
import json
import random
from collections.abc import Callable
from urllib.parse import quote_plus

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.masking import MASK
from gitfleet.formats.secret_objects import as_stored, masked_object, secrets_in
from gitfleet.formats.secret_texts import WITHHELD, without_values


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


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({"stringData": {"a": "1"}}, {"data": {"a": "MQ=="}}),
        ({"data": {"a": "MQ==", "b": "Mg=="}, "stringData": {"a": "ß"}}, {"data": {"a": "w58=", "b": "Mg=="}}),
        ({"data": None, "stringData": {}}, {"data": {}}),
        ({"stringData": {"hunter": ""}}, {"data": {"hunter": ""}}),
        *((same, same) for same in (
            {}, {"data": {"a": "MQ=="}, "stringData": None}, {"stringData": {"a": 1}}, {"stringData": {"a": None}},
            {"stringData": {"a": ["1"]}}, {"stringData": "x"}, {"stringData": ["x"]},
            {"data": "x", "stringData": {"a": "1"}}, {"data": ["x"], "stringData": {"a": "1"}},
            {"kind": "ConfigMap", "stringData": {"a": "1"}},
            {"apiVersion": "acme.example/v1", "stringData": {"a": "1"}},
        )),
    ],
)  # fmt: skip
def test_a_secret_is_as_the_server_stores_it(written: dict[str, object], stored: dict[str, object]) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque"}
    body = {**secret, **written}
    assert as_stored(body) == {**secret, **stored}
    assert (as_stored(body) is body) == (written is stored)


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
TEXT = json.dumps(SECRET)


@pytest.mark.parametrize(
    "body",
    [
        {**SECRET, "kind": "Secret", "apiVersion": "vault.example.com/v1", "stringData": None, "value": "hunter2"},
        {**SECRET, "Data": {"a": ["hunter2", {"b": "hunter2"}]}},
        {
            **SECRET,
            "metadata": {"name": "s", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": TEXT}},
        },
        {**SECRET, "type": ["hunter2"]},
        {"kind": "List", "apiVersion": "v1", "items": [SECRET]},
        {"kind": "ResourceEnvelope", "data": {"s.yaml": SECRET}},
        {"kind": "ConfigMap", "data": {"s.yaml": yaml.safe_dump(SECRET)}},
        {"kind": "ConfigMap", "data": {"s.yaml": '"kind": "\\u0053ecret"\nstringData: {a: hunter2}\n'}},
        {"kind": "ConfigMap", "data": {"list.json": json.dumps({"kind": "List", "items": [SECRET]})}},
        {"kind": "ConfigMap", "data": {"l.yaml": yaml.safe_dump({"kind": "ConfigMap", "data": {"s": TEXT}})}},
        {"kind": "ConfigMap", "metadata": {"annotations": {"last-applied-configuration": TEXT}}, "data": {"a": "b"}},
    ],
)
def test_secrets_inside_of_objects_and_texts(body: dict[str, object]) -> None:
    assert "hunter2" not in str(masked_object(body)), body
    assert "hunter2" not in str(masked_object(body, {})), body
    assert any("hunter2" in value for value in secrets_in(body))
    assert masked_object(body, body) == masked_object(body), "nothing changed"


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "ConfigMap", "data": {"a": "kind of Secret", "b": "hunter2", "c": "kind: [", "d": "kind: Deployment"}},
        {"kind": "Deployment", "spec": {"volumes": [{"secret": {"secretName": "s"}}]}},
        {"kind": "ExternalSecret", "spec": {"secretStoreRef": {"kind": "SecretStore", "name": "vault"}}},
    ],
)
def test_what_holds_no_secret_is_left_as_it_is(body: dict[str, object]) -> None:
    assert masked_object(body) is body
    assert secrets_in(body) == ()


REFERENCE = {"group": "", "version": "v1", "kind": "Secret", "namespace": "web", "name": "db-password"}


@pytest.mark.parametrize(
    "body",
    [
        {"spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": "Secret", "name": "db-password"}]}},
        {"status": {"failedPlacements": [{**REFERENCE, "condition": {"type": "Applied", "message": "is refused"}}]}},
        {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "0-1"}]}},
        {"spec": {"env": [{"valueFrom": {"secretKeyRef": {"name": "db-password", "key": "password"}}}]}},
        {"spec": {"connection": {"kubeconfig": {"secret": {"namespace": "fleet", "name": "eu-1", "key": "config"}}}}},
    ],
)
def test_the_name_of_a_secret_is_none(body: dict[str, object]) -> None:
    assert masked_object(body) is body
    assert secrets_in(body) == ()


@pytest.mark.parametrize(
    "more",
    [{"data": {"a": "hunter2"}}, {"stringData": "hunter2"}, {"value": "hunter2"}, {"valueInMember": ["hunter2"]},
     {"metadata": {"annotations": {"a": "hunter2"}}}, {"observedDrifts": [{"path": "/x", "valueInHub": "hunter2"}]},
     {"key": ["hunter2"]}, {"condition": {"was": SECRET}}],
)  # fmt: skip
def test_what_else_stands_in_a_reference_is_masked(more: dict[str, object]) -> None:
    body = {"items": [{**REFERENCE, **more}]}
    assert "hunter2" not in str(masked_object(body))
    assert "hunter2" in secrets_in(body)


def go(value: str, *, ascii_only: bool = False) -> str:
    """strconv.Quote, and strconv.QuoteToASCII (Go's %q and %+q)."""
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\", "\a": "\\a", "\v": "\\v"}

    def one(letter: str) -> str:
        if letter in named:
            return named[letter]
        if ord(letter) < 32 or ord(letter) == 127:
            return f"\\x{ord(letter):02x}"
        if ascii_only and ord(letter) > 126:
            return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
        return letter

    return f'"{"".join(map(one, value))}"'


def b64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


QUOTES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "go": go,
    "go ascii": lambda value: go(value, ascii_only=True),
    "go twice": lambda value: go(go(value)),
    "go struct": lambda value: f"&value.valueUnstructured{{Value:{value}}}",
    "go map": lambda value: f"map[password:{value} user:x]",
    "go bytes": lambda value: f"[{' '.join(map(str, value.encode()))}]",
    "go byte literal": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "json of go": lambda value: json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("&", "\\u0026"),
    "yaml": lambda value: yaml.safe_dump({"a": value}, width=20),
    "yaml quoted": lambda value: yaml.safe_dump({"a": value}, default_style='"', width=20),
    "base64": b64,
    "base64 without padding": lambda value: b64(value).rstrip("="),
    "base64 for urls": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64 of something longer": lambda value: b64(f'{{"x":"{value}"}}'),
    "base64 in lines": lambda value: "\n".join(b64(value)[i : i + 10] for i in range(0, len(b64(value)), 10)),
    "hex": lambda value: value.encode().hex(),
    "form": quote_plus,
    "html": html.escape,
    "in lines": lambda value: "\n    ".join(value[i : i + 6] for i in range(0, len(value), 6)),
    "cut at the end": lambda value: f"{value[:10]}...",
    "cut at the beginning": lambda value: f"...{value[-10:]}",
}
VALUES = [
    "hunter2hunter2",
    'Pa55"word\\with<odd>&letters',
    "first line\nsecond line of it\n\tthird\n",
    "p\u00e4ssw\u00f6rter-\u2603-\U0001f511",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq/hkiG9w0+BAQEFAASC\nggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n",
    "https://user:pa55word@db.example.com:5432/x?sslmode=require&a=b",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("quoted", QUOTES)
def test_a_value_is_masked_however_the_server_quotes_it(value: str, quoted: str) -> None:
    sentence = f'Secret "s" is invalid: data: Invalid value: {QUOTES[quoted](value)}: must be so and so'
    for secret in (value, b64(value)):
        body = {"kind": "Secret", "data" if secret != value else "stringData": {"a": secret}}
        shown = without_values(sentence, secrets_in(body))
        if shown == WITHHELD:
            continue
        assert shown.startswith('Secret "s" is invalid'), "what is no secret stays"
        left = shown.removeprefix('Secret "s" is invalid: data: Invalid value: ').removesuffix(": must be so and so")
        traces = {value[i : i + 8] for i in range(len(value) - 7)} | {b64(value)[i : i + 8] for i in range(0, 8, 4)}
        assert not any(trace in left for trace in traces), left
        assert MASK in left


SHORT = ["7", "on", "abc", "true", "-1", "a b"]


@pytest.mark.parametrize("value", SHORT)
def test_a_short_value_is_masked_where_it_is_quoted_and_nowhere_else(value: str) -> None:
    for text in (f'got "{value}"', f"got '{value}'", f"got {{Value:{value}}}", f"map[a:{value}]", f'\\"{value}\\"'):
        assert value not in without_values(text, (value,)).removeprefix("got "), text
    kept = "the abcd only pod-1 with 77 and a-b, untrue"
    assert (without_values(kept, (value,)) == kept) or value == "true"


def test_numbers_and_booleans_of_a_secret_are_values() -> None:
    body = {"kind": "Secret", "stringData": {"port": 5432, "on": True, "share": 0.25, "none": None}}
    assert set(secrets_in(body)) == {"5432", "true", "0.25"}
    text = ".stringData.port: expected string, got &value.valueUnstructured{Value:5432}"
    assert without_values(text, secrets_in(body)) == text.replace("5432", MASK)


@pytest.mark.parametrize(
    "told",
    [
        'namespaces "web" not found',
        'secrets "s" is forbidden: User "me" cannot patch resource "secrets" in API group "" in the namespace "web"',
        'Secret "s" is invalid: type: Invalid value: "Opaque": field is immutable',
        "the server is currently unable to handle the request",
    ],
)
def test_what_a_server_says_without_a_value_is_left_as_it_is(told: str) -> None:
    values = [value for value in VALUES if "web" not in value]
    assert without_values(told, [*values, "42", "hunter2"]) == told


def test_a_large_secret_costs_no_minutes_and_a_large_message_is_cut() -> None:
    value = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=250_000))
    shown = without_values(f"says {value}", (value,))
    assert shown == f"says {MASK}"


@given(st.text(min_size=4, max_size=40), st.sampled_from(sorted(QUOTES)), st.text("abc: ", max_size=20))
def test_no_text_is_left_that_has_the_value(value: str, quoted: str, around: str) -> None:
    try:
        text = f"{around} {QUOTES[quoted](value)} {around}"
    except (UnicodeEncodeError, yaml.YAMLError):
        return  # the quoting does not know such letters
    shown = without_values(text, (value,))
    assert value not in shown.replace(MASK, "\0") or value in MASK or value in WITHHELD


@given(st.binary(max_size=5), st.text("abcdefgh0123+/?~", min_size=16, max_size=40), st.binary(max_size=5))
def test_a_value_inside_of_a_longer_text_in_base64_is_masked(before: bytes, value: str, after: bytes) -> None:
    raw = before + value.encode() + after
    first, last = -(-len(before) // 3) * 4, (len(before) + len(value)) // 3 * 4
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(raw).decode()
        shown = without_values(f"invalid: {encoded} is wrong", (value,))
        assert shown.startswith("invalid: ") and shown.endswith(" is wrong") and MASK in shown
        assert not any(encoded[at : at + 8] in shown for at in range(first, last - 7))


@pytest.mark.parametrize("values", [None, 7, True, ["a", None], {}])
def test_odd_values_of_a_secret_are_no_error(values: object) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "data": values, "stringData": values}
    assert isinstance(masked_object(body, body), dict) and isinstance(secrets_in(body), tuple)
