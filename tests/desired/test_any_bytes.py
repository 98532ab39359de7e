"""Whatever bytes a repo holds, reading them never raises and never crashes, and what is read can be kept."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitfleet.formats.yaml_reader import decode_parsed, encode_parsed, line_of, parse_documents
from tests.desired.commits import read
from tests.profiles import examples

PIECES = st.sampled_from(
    [
        "apiVersion: placement.kubernetes-fleet.io/v1\n", "kind: ClusterResourcePlacement\n", "metadata: {name: a}\n",
        "spec:\n", "  policy:\n", "    placementType: PickN\n", "---\n", "...\n", "- ", "? ", ": ", "[", "{", "]", "}",
        "&a ", "*a ", "<<: ", "!!int ", "!x ", "|\n", ">\n", "'", '"', "\\ud800", "#", "%YAML 1.2\n", "\t", "\r",
        "\x85", "\u2028", "\ufeff", "\x00", "1e999", ".nan", "08", "null", "\n", " ", "a: ", "1", "kind: Secret\n",
        "status: {conditions: [{type: Approved}]}\n", ",", "@", "`",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join)
LOCATIONS = st.lists(st.one_of(st.text(max_size=3), st.integers(-1, 3)), max_size=4)


def check(content: bytes, location: list[str | int]) -> None:
    parsed = parse_documents(content, max_bytes=100_000)
    assert decode_parsed(encode_parsed(parsed)) == parsed
    lines = content.decode("utf-8", "replace").count("\n") + content.count(b"\r") + 3
    assert all(1 <= line <= lines + 100 and message and "\n" not in message for line, message in parsed.faults)
    assert line_of(content, 0, location) >= 1


@given(st.binary(max_size=300), LOCATIONS)
@settings(max_examples=examples(150))
def test_any_bytes(content: bytes, location: list[str | int]) -> None:
    check(content, location)


@given(TEXTS, LOCATIONS)
@example('{"a": 1,', ["a"])
@settings(max_examples=examples(400))
def test_any_yaml_like_text(text: str, location: list[str | int]) -> None:
    check(text.encode("utf-8", "surrogatepass"), location)


@given(TEXTS, st.sampled_from(["placements/a.yaml", "resources/a.yaml", "approvals/a.json", "elsewhere/a.yml"]))
@settings(max_examples=examples(300))
def test_any_tree(text: str, path: str) -> None:
    desired = read({path: text.encode("utf-8", "surrogatepass")}, before={path: b"a: [", "gone.yaml": b"a: 1"})
    assert all("\n" not in str(fault) and fault.line >= 1 for fault in desired.faults)
