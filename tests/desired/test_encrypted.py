"""What of SOPS-encrypted objects is taken without a key, and what the sentence of a refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.desired import SourceFile, parse_file, read_file
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import BadInput
from gitfleet.formats.kind_fields import RELEASE
from tests import builders
from tests.desired.commits import read
from tests.sops_files import AgeKey, encrypted

SHOP = {"resources/shop.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}
KEY = AgeKey()
SECRET = builders.secret("shop", "a", {"a": "c4nary01", "b": ""})
PATH = "resources/a.yaml"


def faults(text: str) -> list[str]:
    """The faults of a file as `line: field: sentence`."""
    found = read({**SHOP, PATH: text}).faults
    assert all(fault.path == PATH for fault in found), found
    return [f"{fault.line}: {fault.field}: {fault.message}" for fault in found]


@pytest.mark.parametrize("field", ["data", "stringData"])
def test_an_encrypted_secret_is_payload_as_it_is_written(field: str) -> None:
    body = {**builders.an_object("v1", "Secret", "a", namespace="shop"), field: {"a": "YQ==", "b": ""}}
    text = encrypted(body, to=KEY)
    desired = read({**SHOP, PATH: text})
    assert desired.faults == ()
    (manifest,) = [manifest for manifest in desired.payload if manifest.key.kind == "Secret"]
    assert manifest.body[field]["a"].startswith("ENC[")
    assert manifest.body["sops"]["age"]


def encrypts(place: str) -> str:
    return DesiredText.ENCRYPTS_MORE_DATA_STRINGDATA(place=place)


NO_SECRET = DesiredText.DECRYPTS_SECRETS_IN_FILES()
NO_RECIPIENT = DesiredText.NAMES_NO_AGE_RECIPIENT()
TWO = [{"age": [{"enc": "x"}]}, {"age": [{"enc": "x"}]}]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (encrypted(builders.config_map("shop", "a", {"a": "b"}), to=KEY), NO_SECRET),
        (encrypted(SECRET, to=KEY, age=[]), NO_RECIPIENT),
        (encrypted(SECRET, to=KEY, key_groups=TWO), NO_RECIPIENT),
        (encrypted(SECRET, to=KEY, mac_only_encrypted=True), DesiredText.MAC_ONLY_ENCRYPTED()),
        (
            encrypted(SECRET, to=KEY, fields=("data", "stringData", "namespace")),
            encrypts("metadata.namespace"),
        ),
        (encrypted({"apiVersion": "v1", "kind": "List", "items": [SECRET]}, to=KEY), NO_SECRET),
    ],
)  # fmt: skip
def test_what_is_encrypted_otherwise_is_refused(text: str, sentence: str) -> None:
    assert [fault.partition(": sops: ")[2] for fault in faults(text) if ": sops: " in fault] == [sentence]
    assert "ENC[" not in "".join(faults(text))
    assert [m.key.kind for m in read({**SHOP, PATH: text}).payload] == ["Namespace"]


def test_what_is_wrong_beside_the_values_is_found_as_in_any_secret() -> None:
    text = encrypted({**SECRET, "immutable": "yes", "stringData": {"a/b": "x"}}, to=KEY)
    assert [fault.split(": ")[1] for fault in faults(text)] == ['stringData["a/b"]', "immutable"]


def test_an_encrypted_text_without_the_metadata_is_refused() -> None:
    text = encrypted(SECRET, to=KEY).partition("sops:")[0]
    (found,) = faults(text)
    assert DesiredText.ENCRYPTED_SOPS_SOPS_METADATA_MISSING() in found
    assert "ENC[" not in found


@pytest.mark.parametrize("kind", ["ResourceEnvelope", "ConfigMap"])
def test_an_encrypted_secret_in_an_envelope_is_refused(kind: str) -> None:
    text = encrypted(SECRET, to=KEY)
    inner: Any = parse_file(PATH, text.encode()).documents[0].value
    envelope = builders.an_object(
        "v1" if kind == "ConfigMap" else builders.PLACEMENT_API, kind, "e", namespace="shop",
        annotations={"kubernetes-fleet.io/envelope-configmap": "true"} if kind == "ConfigMap" else {},
        data={"s": text if kind == "ConfigMap" else inner},
    )  # fmt: skip
    (fault,) = faults(builders.to_yaml(envelope))
    assert NO_SECRET in fault


def test_what_kustomize_or_helm_made_is_not_decrypted() -> None:
    parsed = parse_file(PATH, encrypted(SECRET, to=KEY).encode())
    reading = SourceFile(blob="", parsed=parsed).read(PATH, lambda _: b"")
    assert reading is not None
    assert NO_SECRET in reading.faults[0].message


def test_a_plain_secret_may_say_sops() -> None:
    assert faults(builders.to_yaml(builders.secret("shop", "a", {"sops": "x"}))) == []
    (fault,) = faults(builders.to_yaml({**builders.config_map("shop", "a"), "sops": {"what": "ever"}}))
    assert fault.endswith("sops: " + DesiredText.NOT_FIELD_OF_RELEASE(release=RELEASE, hint="remove it"))


def test_a_process_that_decrypts_judges_the_values_and_repeats_none() -> None:
    text = encrypted(SECRET, to=KEY)
    parsed = parse_file(PATH, text.encode())

    def given(body: JsonObject | None) -> list[str]:
        def decrypted(manifest: Manifest) -> JsonObject:
            if body is None:
                raise BadInput("is encrypted for somebody else")
            return body

        reading = read_file(PATH, "b10b", parsed, lambda _: text.encode(), decrypted)
        assert len(reading.objects) + len(reading.faulty) == 1
        return [f"{fault.line}: {fault.field} {fault.message}" for fault in reading.faults]

    assert given({**SECRET, "stringData": {"a": "b"}}) == []
    assert given({**SECRET, "data": {"a": "c4nary!"}}) == [("1: data.a " + DesiredText.MUST_BASE64_ENCODE())]
    assert given(None) == [("9: sops " + DesiredText.CANNOT_USED_SINCE(why="the file is encrypted for somebody else"))]
