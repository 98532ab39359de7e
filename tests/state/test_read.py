"""Reading the state branch: what somebody broke by hand is named, what is not ours is left alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.errors import BadInput
from gitfleet.formats.texts import FormatsText
from gitfleet.model.state import FleetState
from gitfleet.schedule.texts import ScheduleText
from gitfleet.state import parse_state_file, parse_to_cache, state_file_kind
from gitfleet.state.texts import StateText
from tests.state.builders import COMMIT, T0, StateFile, blob_of, composed, put, read_state, small_fleet
from tests.texts import part


def tree() -> dict[str, StateFile]:
    """The small fleet's branch."""
    return put({}, composed(FleetState(), small_fleet(), now=T0))


def edited(path: str, old: str, new: str) -> dict[str, StateFile]:
    """The branch after somebody replaced a text in a file."""
    files = tree()
    content = (files[path].content or b"").decode()
    assert old in content
    changed = content.replace(old, new, 1).encode()
    return {**files, path: StateFile(blob_of(changed), changed)}


def moved(path: str, to: str) -> dict[str, StateFile]:
    """The branch after somebody renamed a file."""
    return {(to if name == path else name): file for name, file in tree().items()}


@pytest.mark.parametrize(
    "path",
    [
        "README.md", "notes.yaml", "later/a.yaml", "lastgood/placements/web.yaml", "lastgood/fleet.yaml",
        "snapshots/resources/web/0/resources/web.yaml", "snapshots/resources/web/0/_snapshot.yaml",
        "snapshots/resources/web/0/1/snapshot.yaml", "snapshots/resources/web/0/rendered/0.yaml",
        "bindings/web/zz.yaml", "bindings/a/b/all.yaml", "placements/a/b/c.yaml",
    ],
)  # fmt: skip
def test_other_files_are_left_alone(path: str) -> None:
    assert not state_file_kind(path)
    files = {**tree(), path: StateFile("0" * 40, b"\x00 not yaml [")}
    assert read_state(files).placements == small_fleet().placements
    with pytest.raises(ValueError, match=re.escape(part(StateText.NO_FILE_STATE_READ_FROM))):
        parse_state_file(path, b"")


MUST_ONE = part(ApiText.MUST_ONE)
REQUIRED, LIST, TIME = ApiText.REQUIRED_ADD(), ApiText.MUST_LIST_BEGIN_EACH_ITEM(), FormatsText.MUST_TIME_T12_Z()
STRING, WHOLE = ApiText.MUST_STRING_PUT_QUOTES(), ApiText.MUST_WHOLE_NUMBER()


@pytest.mark.parametrize(
    ("files", "path", "sentence"),
    [
        (edited("bindings/web/all.yaml", '"state":"Bound"', '"state":"Bind"'), "bindings/web/all.yaml",
         f"`[0].spec.state` {MUST_ONE}'Scheduled', 'Bound', 'Unscheduled'"),
        (edited("bindings/web/all.yaml", '"observedGeneration":1', '"observedGeneration":"x"'), "bindings/web/all.yaml",
         f"conditions[0].observedGeneration` {WHOLE}"),
        (edited("bindings/web/all.yaml", '"observedGeneration":1', '"observedGeneration":[1'), "bindings/web/all.yaml",
         StateText.MUST_HOLD_BINDINGS()),
        (edited("bindings/web/all.yaml", ',"targetCluster":"eu-1"', ""), "bindings/web/all.yaml",
         f"`[0].spec.targetCluster` {REQUIRED}"),
        (edited("bindings/web/all.yaml", '"conditions":[', '"conditions":1,"others":['), "bindings/web/all.yaml",
         f"`[0].status.conditions` {LIST}"),
        (edited("clusters/eu-1.yaml", '"2026-01-01T00:00:00Z"', "yesterday"), "clusters/eu-1.yaml",
         TIME),
        (edited("clusters/eu-1.yaml", 'status: "True"', "status: true"), "clusters/eu-1.yaml",
         f"conditions[0].status` {MUST_ONE}'True', 'False', 'Unknown'"),
        (edited("clusters/eu-1.yaml", "kind: MemberCluster\n", "---\n"), "clusters/eu-1.yaml",
         StateText.MUST_HOLD_ONE_DOCUMENT_HOLDS(count="2")),
        (edited("clusters/eu-1.yaml", "name: eu-1", "name: ../x"), "clusters/eu-1.yaml",
         StateText.CANNOT_NAME_FILE_STATE_BRANCH(name="../x")),
        (edited("fleet.yaml", f'"{COMMIT}"', "[]"), "fleet.yaml", f"`status.observedCommit` {STRING}"),
        (edited("faults.yaml", "line: 7", "line: no"), "faults.yaml", f"`items[0].line` {WHOLE}"),
        (edited("inventory/eu-1/all.yaml", '"version":"v1"', '"version":1'), "inventory/eu-1/all.yaml",
         f"`[0].version` {STRING}"),
        (edited("inventory/eu-1/all.yaml", '{"applied', '["applied'), "inventory/eu-1/all.yaml",
         StateText.MUST_HOLD_ONE_INVENTORY()),
        (edited("snapshots/policies/web/0.yaml", "policyHash: ", "policyHash: ?"), "snapshots/policies/web/0.yaml",
         "`spec.policyHash` must be base64"),
        (edited("snapshots/resources/web/0/snapshot.yaml", "- blob", "- - blob"),
         "snapshots/resources/web/0/snapshot.yaml", part(FormatsText.YAML_CANNOT_READ)),
        (moved("snapshots/policies/web/0.yaml", "snapshots/policies/web/1.yaml"), "snapshots/policies/web/1.yaml",
         StateText.IT_BELONGS_IN(expected="snapshots/policies/web/0.yaml")),
        (edited("bindings/web/all.yaml", "placement: web", "placement: shop"), "bindings/web/all.yaml",
         StateText.IT_BELONGS_IN(expected="bindings/shop/all.yaml")),
        (edited("bindings/web/all.yaml", '- {"metadata"', '- {"data"'), "bindings/web/all.yaml",
         StateText.ITEMS_MUST_LIST_MAPPINGS_METADATA()),
        (moved("inventory/eu-1/all.yaml", "inventory/eu-3/all.yaml"), "inventory/eu-3/all.yaml",
         StateText.IT_BELONGS_IN(expected="inventory/eu-1/all.yaml")),
        ({name: file for name, file in tree().items() if name != "placements/web.yaml"}, "placements/web.yaml",
         StateText.IT_IS_GONE()),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_what_to_do(files: Mapping[str, StateFile], path: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_state(files)

    assert path in str(caught.value)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint == StateText.GITFLEET_ALONE_WRITES_BRANCH()


def test_fields_of_a_newer_version_are_ignored() -> None:
    for path in filter(state_file_kind, tree()):
        file = tree()[path]
        assert file.content is not None
        newer = file.content.replace(b"\nmetadata:\n", b"\nmetadata:\n  novelty: {a: [1]}\n").replace(
            b"\nkind: ", b"\nnovelty: x\nkind: "
        )
        assert newer != file.content
        assert read_state({**tree(), path: StateFile(blob_of(newer), newer)}) == read_state(tree())


def test_the_cached_form_of_a_file_says_the_same() -> None:
    read = {path: parse_to_cache(path, file.content or b"") for path, file in tree().items() if state_file_kind(path)}

    assert {path for path, (_, form) in read.items() if form is None} == {
        "bindings/web/all.yaml", "inventory/eu-1/all.yaml", "inventory/eu-2/all.yaml"
    }  # fmt: skip
    for path, (said, form) in read.items():
        assert said == parse_state_file(path, tree()[path].content or b"")
        if form is not None:
            assert parse_to_cache(path, form) == (said, None)
    with pytest.raises(BadInput, match=re.escape("clusters/eu-1.yaml " + ScheduleText.CANNOT_USED())):
        parse_state_file("clusters/eu-1.yaml", b"\x00{")
