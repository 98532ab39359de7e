"""What of an encrypted Secret is compared with the live one: encrypted texts, and never a value."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.apply import as_recorded, find_differences
from gitfleet.apply.shapes import as_encrypted, shape_digest
from tests import builders
from tests.apply import model_cluster
from tests.apply.test_plan_apply import WEB, work

TEXT = "ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]"
STORED = b64encode(TEXT.encode()).decode()
SOPS = {"mac": "x"}


def manifest(**parts: Any) -> dict[str, Any]:
    """A Secret as SOPS wrote it."""
    return {"apiVersion": "v1", "kind": "Secret", "sops": SOPS, **parts}


def there(data: Any, *applied: str, manager: str = "gitfleet") -> dict[str, Any]:
    """A live Secret of which a manager applied some entries."""
    fields: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in applied}}
    entry = {"manager": manager, "operation": "Apply", "fieldsV1": fields}
    return {"kind": "Secret", "metadata": {"managedFields": [entry]}, "data": data}


@pytest.mark.parametrize(
    ("written", "live", "wanted", "compared"),
    [
        ({"data": {"a": TEXT}}, there({"a": "plain"}, "a"), {"a": TEXT}, {"a": TEXT}),
        ({"stringData": {"a": TEXT}}, there({"a": "plain"}, "a"), {"a": STORED}, {"a": STORED}),
        ({"data": {"a": TEXT}}, there({"a": "plain"}), {"a": TEXT}, {"a": "***"}),
        ({"data": {"a": TEXT}}, there({"a": "plain"}, "a", manager="kubectl"), {"a": TEXT}, {"a": "***"}),
        ({"data": {"a": TEXT}}, there({"a": TEXT}), {"a": TEXT}, {"a": "***"}),
        (
            {"data": {"a": TEXT, "b": "Yg==", "c": TEXT, "d": 1}},
            there({"a": "plain", "b": "eA==", "d": "x", "e": "eA=="}, "a", "b", "e"),
            {"a": TEXT, "b": "Yg==", "c": TEXT, "d": 1},
            {"a": TEXT, "b": "eA==", "d": "x", "e": "eA=="},
        ),
    ],
)
def test_values_that_gitfleet_applied_count_as_the_encrypted_ones(
    written: dict[str, Any], live: dict[str, Any], wanted: Any, compared: Any
) -> None:
    found = as_encrypted(manifest(**written), live)
    assert found == ({"apiVersion": "v1", "kind": "Secret", "data": wanted}, {**live, "data": compared})


@pytest.mark.parametrize("data", [None, {}, "odd", {"other": "eA=="}])
def test_a_live_object_without_what_is_encrypted_is_compared_as_it_is(data: Any) -> None:
    bare = {"kind": "Secret", "metadata": {}, "data": data}
    wanted, live = as_encrypted(manifest(data={"a": TEXT}), bare)
    assert wanted["data"] == {"a": TEXT} and live is bare
    wanted, live = as_encrypted(manifest(type="Opaque"), bare)
    assert wanted == {"apiVersion": "v1", "kind": "Secret", "type": "Opaque"} and live is bare


def test_where_sops_encrypted_nothing_both_are_the_very_same() -> None:
    plain, live = {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}}, there({"a": "Yg=="}, "a")
    wanted, compared = as_encrypted(plain, live)
    assert wanted is plain and compared is live


OTHER = TEXT.replace("YQ==", "Yg==")


def secret(**parts: Any) -> dict[str, Any]:
    body = builders.an_object("v1", "Secret", "db", namespace="web")
    return {**body, **parts, "sops": {"mac": "m", "age": [{"enc": "x"}]}}


IN_DATA, IN_STRING_DATA = secret(data={"a": TEXT}), secret(stringData={"a": TEXT})


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("wanted", "raw"), [(IN_DATA, TEXT), (IN_STRING_DATA, STORED)])
def test_an_encrypted_text_that_somebody_applied_as_it_stands_differs(
    wanted: dict[str, Any], raw: str, full: bool
) -> None:
    by_hand, ours = there({"a": raw}, "a", manager="kubectl"), there({"a": "aHVudGVyMiE="}, "a")
    assert find_differences(wanted, by_hand, full=full) == (("/data/a", "(redacted)", "(redacted)"),)
    assert find_differences(wanted, ours, full=full) == ()
    assert shape_digest(wanted, by_hand) != shape_digest(wanted, ours)


@pytest.mark.parametrize("body", [IN_DATA, IN_STRING_DATA])
def test_what_was_recorded_is_what_its_manifest_says(body: dict[str, Any]) -> None:
    """A cluster that nobody asked is as gitfleet left it; another version of the file differs from it."""
    one = model_cluster.manifest(body)
    entry = InventoryEntry(key=one.key, placement=WEB, uid="u", applied_digest=one.digest)
    observed, inventory = as_recorded("c1", {one.key: entry}, [work(one)])
    live = observed.live[one.key]
    assert live is not None
    assert find_differences(body, live.body, full=True) == ()
    assert inventory[one.key].shape_digest == shape_digest(body, live.body)
    field = "data" if "data" in body else "stringData"
    changed = {**body, field: {"a": OTHER}}
    assert find_differences(changed, live.body) == (("/data/a", "(redacted)", "(redacted)"),)
