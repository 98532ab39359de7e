"""What a server records of who applied which fields, where the server records nonsense."""

from __future__ import annotations

import pytest

from gitfleet.formats.managed_fields import managed_entries, owned_fields


@pytest.mark.parametrize(
    "metadata",
    [
        "x",
        {"managedFields": "x"},
        {"managedFields": ["x", 3, None]},
        {"managedFields": {"manager": "gitfleet"}},
    ],
)
def test_bookkeeping_of_a_wrong_type_is_none(metadata: object) -> None:
    assert managed_entries({"metadata": metadata}) == ()
    assert owned_fields({"metadata": metadata}) is None
