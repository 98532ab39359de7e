"""Decrypting what SOPS encrypted for age: as the real sops does, and never what was changed afterwards."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.errors import BadInput, MissingPart
from tests import builders
from tests.sops_files import AgeKey, encrypted

KEY, OTHER = AgeKey(), AgeKey()
PLAIN = """\
apiVersion: v1
kind: Secret
metadata:
    name: db
    namespace: web
    labels: {app: web, tier: "3"}
    annotations:
        # what for
        note: "yes"
        count: "5"
    creationTimestamp: null
type: Opaque
immutable: false
stringData:
    password: c4nary50 # a comment
    empty: ""
    text: |
        first
        second "é"
data:
    token: YzRuYXJ5NTI=
---
# another one
apiVersion: v1
kind: Secret
metadata: {name: other, generation: 12, annotations: {list: "[1, 2.5]"}}
stringData: {a: b}
weights: [1, 2.5, 1000000, 0.000001, true, null]
"""
VALUES = {0: {"c4nary50", 'first\nsecond "é"\n', "YzRuYXJ5NTI="}, 1: {"b"}}
RULE = "^(data|stringData)$"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return KEY.file(tmp_path)


def ran(sops: Path, *words: str, keys: Path, **files: str) -> str:
    """What the real sops prints; `files` are written beside the keys."""
    for name, text in files.items():
        (keys.parent / name.replace("_", ".")).write_text(text)
    environment = {"SOPS_AGE_KEY_FILE": str(keys), "HOME": str(keys.parent), "PATH": os.defpath}
    done = subprocess.run(
        [sops, *words], cwd=keys.parent, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def values(text: str, keys: Path | None) -> dict[int, set[str]]:
    found = AgeDecryptor(keys).values(text.encode())
    return {index: set(texts.values()) for index, texts in found.items()}


@pytest.mark.parametrize("rule", [("--encrypted-regex", RULE), (), ("--encrypted-suffix", "Data")])
def test_what_the_real_sops_encrypted_is_decrypted(sops: Path, keys: Path, rule: tuple[str, ...]) -> None:
    written = ran(sops, "encrypt", "--age", KEY.recipient, *rule, "in.yaml", keys=keys, in_yaml=PLAIN)
    found = values(written, keys)
    assert "c4nary" not in written
    if "Data" in rule:
        assert found[1] == VALUES[1]
    else:
        assert all(found[index] >= wanted for index, wanted in VALUES.items())
    with pytest.raises(BadInput, match="MAC"):
        values(written.replace("creationTimestamp: null", "creationTimestamp: null\n    more: a"), keys)


def test_a_json_file_of_the_real_sops_is_decrypted(sops: Path, keys: Path) -> None:
    body = {**builders.secret("web", "db", {"a": "c4nary51"}), "numbers": [1, 2.5, 1e21, -0.001, True, None]}
    written = ran(
        sops, "encrypt", "--age", KEY.recipient, "--encrypted-regex", RULE, "in.json", keys=keys,
        in_json=json.dumps(body),
    )  # fmt: skip
    assert values(written, keys) == {0: {"c4nary51"}}


def test_the_real_sops_decrypts_the_files_of_these_tests(sops: Path, keys: Path) -> None:
    bodies = [builders.secret("web", name, {"a": f"c4nary-{name}", "b": ""}) for name in ("one", "two")]
    text = encrypted(*bodies, to=KEY, encrypted_regex=RULE)
    assert ran(sops, "decrypt", "in.yaml", keys=keys, in_yaml=text).count("c4nary-") == 2
    assert values(text, keys) == {0: {"c4nary-one"}, 1: {"c4nary-two"}}


SECRET = builders.secret("web", "db", {"password": "c4nary52", "user": "admin"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: db", "name: dc"),
        ("namespace: web", "namespace: mine"),
        ("kind: Secret", "kind: ConfigMap"),
        ("type: Opaque", ""),
        ("  user:", "  more: ''\n  more2: x\n  user:"),
        ("  user:", "  admin:"),
        ("lastmodified: '2026", "lastmodified: '2025"),
        ("age:\n", "age:\n  - 7\n"),
    ],
)
def test_what_was_changed_after_it_was_encrypted_is_refused(keys: Path, old: str, new: str) -> None:
    text = encrypted({**SECRET, "type": "Opaque"}, to=KEY)
    assert old in text
    if new.endswith("7\n"):
        assert values(text.replace(old, new), keys) == values(text, keys), "who may decrypt is no part of the MAC"
        return
    with pytest.raises(BadInput, match=r"MAC|cannot be decrypted") as refused:
        values(text.replace(old, new), keys)
    assert "c4nary" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("lastmodified: '2026", "lastmodified: '2025", "sops.mac"),
        ("lastmodified:", "changed:", "sops.mac"),
        ("mac: ENC[", "mac: ENC_[", "sops.mac"),
        ("  user:", "  admin:", "stringData.admin"),
        ("  password: ENC[AES256_GCM,data:", "  pass:word: ENC[AES256_GCM,data:AAAA", 'stringData["pass:word"]'),
    ],
)
def test_what_cannot_be_opened_is_named_by_its_field(keys: Path, old: str, new: str, place: str) -> None:
    text = encrypted(SECRET, to=KEY)
    assert old in text
    with pytest.raises(BadInput) as refused:
        values(text.replace(old, new), keys)
    assert str(refused.value) == f"has an encrypted value that cannot be decrypted, at {place}: it was changed"


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        (
            {"name": "db", "namespace": "prod", "annotations": {"note": "dev"}},
            {"name": "db", "annotations": {"note": "prod"}, "namespace": "dev"},
        ),
        ({"name": "db-team", "namespace": "a"}, {"name": "db-", "namespace": "teama"}),
    ],
)
def test_the_mac_has_no_names_of_fields_and_no_ends_of_values(
    sops: Path, keys: Path, written: dict[str, Any], changed: dict[str, Any]
) -> None:
    """A limit of the format (docs/secrets.md): the real sops does not notice these, either."""
    text = encrypted({**SECRET, "metadata": written}, to=KEY, encrypted_regex=RULE)
    moved = builders.to_yaml({**yaml.safe_load(text), "metadata": changed})
    assert values(moved, keys) == {0: {"c4nary52", "admin"}}
    assert "c4nary52" in ran(sops, "decrypt", "in.yaml", keys=keys, in_yaml=moved)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b",
        "- a",
        "{sops: {mac: x}",
        builders.to_yaml(SECRET),
        encrypted(SECRET, to=KEY) + "---\n" + builders.to_yaml(SECRET),
        encrypted(SECRET, to=KEY) + "---\n" + encrypted(SECRET, to=KEY),
    ],
)
def test_what_is_not_encrypted_as_a_whole_is_refused(keys: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"is no file of objects that SOPS encrypted as a whole|cannot be read"):
        values(text, keys)


@pytest.mark.parametrize(
    "broken", [{"enc": "x"}, {"enc": None}, {}, "x", {"enc": "-----BEGIN AGE ENCRYPTED FILE-----"}]
)
def test_recipients_of_any_shape_are_passed_over(keys: Path, broken: Any) -> None:
    text = encrypted(SECRET, to=KEY)
    assert values(text.replace("  age:\n", f"  age:\n  - {json.dumps(broken)}\n"), keys) == {0: {"c4nary52", "admin"}}


def test_without_the_right_key_it_says_who_has_it_and_no_key(keys: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"is encrypted for {OTHER.recipient}, and none of the keys in .*keys.txt"):
        values(encrypted(SECRET, to=OTHER), keys)
    with pytest.raises(MissingPart, match="this process was given no key: name one with --sops-age-key-file"):
        values(encrypted(SECRET, to=KEY), None)
    with pytest.raises(MissingPart, match="nowhere cannot be read: No such file"):
        values(encrypted(SECRET, to=KEY), tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.write_text("# nothing\n")
    with pytest.raises(MissingPart, match="empty has no age key, which begins with AGE-SECRET-KEY-1"):
        values(encrypted(SECRET, to=KEY), empty)
    empty.write_text(f"{OTHER.line}\n{KEY.line[:-1]}\n")
    with pytest.raises(MissingPart, match=r"line 2 of .*empty is no age key") as refused:
        values(encrypted(SECRET, to=KEY), empty)
    assert KEY.line[:-1] not in str(refused.value)


def test_the_key_file_is_read_at_each_use(keys: Path) -> None:
    decryptor, text = AgeDecryptor(keys), encrypted(SECRET, to=OTHER).encode()
    with pytest.raises(BadInput):
        decryptor.values(text)
    keys.write_text(f"{KEY.line}\n{OTHER.line}\n")
    assert set(decryptor.values(text)[0].values()) == {"c4nary52", "admin"}


def test_values_of_every_type_count_and_only_texts_are_given(keys: Path) -> None:
    text = encrypted({**SECRET, "stringData": {"a": 1, "b": True, "c": "1", "d": 2.5}}, to=KEY)
    assert values(text, keys) == {0: {"1"}}
