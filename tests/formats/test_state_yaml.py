"""Values go into YAML and come out equal, for us and for other readers; hostile bytes are refused."""

from __future__ import annotations

import re
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import MAX_DEPTH, UnreadableText, read_documents
from gitfleet.formats.yaml_writer import write_documents, yaml_text
from tests.state.fleets import json_values
from tests.texts import part

AMBIGUOUS = [
    "", " ", "y", "Y", "n", "N", "yes", "No", "ON", "off", "true", "False", "null", "NULL", "~", "1", "-1", "+1",
    "0777", "0o777", "08", "0x1F", "1e3", "1.e3", "1.0", "5.", ".5", "1_000", "12:30:45", "1:30", "2001-01-01",
    "2001-01-01T00:00:00Z", ".inf", "-.INF", ".nan", "=", "<<", "*a", "&a", "!x", "%x", "@x", "`x", "- x", "-", "? x",
    ": x", "a: b", "a:", ":a", "a #b", "#a", "a#b", "[a]", "{a}", "a, b", "'a'", '"a"', "a'b: c", "a\\b", "---",
    "...", "--- a", " a", "a ", "a\nb", "\n", "a\tb", "\t", "\r", "\x00", "\x7f", "\x85", "\xa0", "\u2028", "\ufeff",
    "\u202e", "\U0001f600", "é", "x" * 5000, "crp-1", "kubernetes-fleet.io/parent-CRP", "10.0.0.1", "25%", "800Mi",
    "2Gi", "1k", "0b1", "0b12", "1e3%", "1/2", "12h", "1_0s", "9@", "1:2%", "4dd5a0", "1e5a", "e3",
    "picked by scheduling policy",
]  # fmt: skip


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_a_text_stays_a_text_for_every_reader(text: str) -> None:
    for value in ({"key": text}, [text], {text: "value"}, {"a": [{text: [text]}]}):
        written = yaml_text(value)
        assert read_documents(written.encode()) == [value]
        assert yaml.load(written, Loader=yaml.CSafeLoader) == value
        assert YAML(typ="safe", pure=True).load(StringIO(written)) == value


def test_the_style_is_kubectls() -> None:
    value = {
        "kind": "Thing",
        "metadata": {"labels": {"kubernetes-fleet.io/is-latest-snapshot": "true"}, "name": "a"},
        "spec": {"count": 3, "empty": {}, "items": [{"name": "x", "value": ["1"]}, "plain text", []], "on": True},
        "status": {"message": 'Successfully scheduled resources for placement in "member1" (affinity score: 0)'},
    }

    assert yaml_text(value) == (
        "kind: Thing\n"
        "metadata:\n"
        "  labels:\n"
        '    kubernetes-fleet.io/is-latest-snapshot: "true"\n'
        "  name: a\n"
        "spec:\n"
        "  count: 3\n"
        "  empty: {}\n"
        "  items:\n"
        "  - name: x\n"
        "    value:\n"
        '    - "1"\n'
        "  - plain text\n"
        "  - []\n"
        '  "on": true\n'
        "status:\n"
        "  message: 'Successfully scheduled resources for placement in \"member1\" (affinity score: 0)'\n"
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {"a": b"bytes"}])
def test_what_json_cannot_say_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(part(FormatsText.NOT_JSON_VALUE))):
        yaml_text(value)


UNCLOSED = FormatsText.YAML_CANNOT_READ(problem="did not find expected ',' or ']'", where="")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", f"line 1: {FormatsText.UTF_NOT_UTF()}"),
        (b"a: [1\n", f"line 1: {UNCLOSED}"),
        (b"a: 1\na: 2\n", f"line 2: {FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key='a')}"),
        (b"{[a]: b}", f"line 1: {FormatsText.LIST_MAPPING_STANDS_KEY()}"),
        (b"[" * (MAX_DEPTH + 1), f"line 1: {FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth=200)}"),
    ],
)
def test_what_gitfleet_never_writes_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableText, match=f"^{re.escape(sentence)}$"):
        read_documents(content)


@given(st.lists(json_values, max_size=3), st.booleans(), st.booleans())
def test_what_is_written_is_what_kubernetes_reads(documents: list[Any], sort_keys: bool, blocks: bool) -> None:
    written = write_documents(documents, sort_keys=sort_keys, blocks=blocks)

    assert read_documents(written) == [value for value in documents if value is not None]


@given(st.lists(st.sampled_from(["a", " ", "\n", "\t", "#", "---", ": ", "- ", "é", "\r", "%", "\u2028"])).map("".join))
def test_texts_of_many_lines(text: str) -> None:
    value = {"a": [text, {"b": text}], "c": text}
    written = write_documents([value, value], blocks=True)

    assert read_documents(written) == [value, value]


def test_people_read_texts_of_many_lines_line_by_line() -> None:
    value = {"data": {"run.sh": "#!/bin/sh\n\n  exit 0\n", "note": "one\ntwo", "rest": "one\n\n"}}

    assert yaml_text(value, sort_keys=False, blocks=True) == (
        "data:\n  run.sh: |\n    #!/bin/sh\n\n      exit 0\n  note: |-\n    one\n    two\n  rest: |+\n    one\n\n"
    )


@pytest.mark.parametrize("nest", ["'[' * 40000", "'- ' * 40000 + 'x'", "'{a: ' * 40000"])
def test_deep_nesting_does_not_kill_the_process(nest: str) -> None:
    """In a process of its own, because libyaml's composer would end it without an exception."""
    program = (
        "from gitfleet.formats.yaml_reader import UnreadableText, read_documents\n"
        f"try: read_documents(({nest}).encode())\n"
        "except UnreadableText: print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "refused\n")
