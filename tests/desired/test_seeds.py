"""Every example of the seed documents reads without a fault, or with exactly the fault that the index names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.yaml_reader import parse_documents
from tests.desired.commits import faults_of
from tests.texts import part, said

SEEDS = Path(__file__).parents[1] / "data" / "seeds"
INDEX: list[dict[str, Any]] = yaml.safe_load((SEEDS / "index.yaml").read_text(encoding="utf-8"))["examples"]
ALONE = [
    DesiredText.NAMES_NOT_REPO,
    DesiredText.OVERRIDES_NO_OBJECT,
    ApiText.BEFORE_CAME_HERE,
]
by_file = pytest.mark.parametrize("example", INDEX, ids=lambda example: str(example["file"]))


def completed(example: dict[str, Any]) -> str:
    """The example as a whole document: placeholders filled in, a fragment put into the object it completes."""
    text: str = (SEEDS / example["file"]).read_text(encoding="utf-8")
    for old, new in example.get("replace", []):
        assert old in text
        text = text.replace(old, new)
    if example["as"] == "document":
        return text
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    fragment = parsed.documents[0].value
    whole = dict(example["wrap"])
    whole.update({example["into"]: fragment} if "into" in example else fragment)
    return str(yaml.safe_dump(whole, sort_keys=False))


def test_the_index_names_every_file() -> None:
    assert sorted(example["file"] for example in INDEX) == sorted(
        path.name for path in SEEDS.iterdir() if path.name != "index.yaml"
    )


@by_file
def test_the_text_as_it_stands(example: dict[str, Any]) -> None:
    content = (SEEDS / example["file"]).read_bytes()
    parsed = parse_documents(content, max_bytes=1 << 20)
    assert [*parsed.faults] == [(line, said(text)) for line, text in example["parse_faults"]]
    assert bool(parsed.documents) is not bool(parsed.faults)


@by_file
def test_the_completed_object(example: dict[str, Any]) -> None:
    beside = {"resources/namespace.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: application-1}}"}
    found = faults_of({**beside, example["path"]: completed(example).encode()})
    # An example stands alone: the clusters, placements and objects that it names are not beside it; a run that began is
    # that of the hub from which it was exported.
    alone = [part(code) for code in ALONE]
    assert [fault for fault in found if not any(text in fault for text in alone)] == [*map(said, example["faults"])]
