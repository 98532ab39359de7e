"""Approvals that answer nothing: which of them are meant for what waits; and the name of the next answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.objects import Origin
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import name_to_reject, wrong_approvals
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.model.approvals import Asked, by_request

AFTER = Asked(name="go-canary", digest="d", commit="c", aliases=("go-after-canary",))
HOLD = Asked(name="hold-web-eu-abcdefabcd", digest="d", commit="c")
OTHER = Asked(name="go-first", digest="d", commit="c")


@pytest.mark.parametrize(
    ("waiting", "name", "warned"),
    [
        *((AFTER, name, True) for name in ("go-canery", "go-after-canery", "go-prod", "go")),
        *(
            (AFTER, name, False)
            for name in ("go-canary", "go-canary.2", "go-after-canary.ann", "go-first.2", "up-2", "x")
        ),
        *((HOLD, f"hold-web-{name}", True) for name in ("eu", "eu-fedcfedcfe", "eu-abcdefabcf")),
        *((HOLD, name, False) for name in ("hold-web", "hold-shop-fedcfedcfe")),
    ],
)
def test_a_name_that_may_be_meant_for_what_waits(waiting: Asked, name: str, warned: bool) -> None:
    approval = Approval(key=NamespacedName("", name), origin=Origin("approvals/a.yaml", 3))
    there = {approval.key: approval}
    sentence = ApprovalsText.ANSWERS_NO_NOW(what="hold" if waiting is HOLD else "request", name=waiting.name)
    fault = Fault("approvals/a.yaml", 3, f"ClusterApprovalRequest/{name}", "metadata.name", sentence, Severity.WARNING)
    asked = [(waiting, True), (OTHER, False)]
    assert list(wrong_approvals(asked, there, by_request(there.values()))) == ([fault] if warned else [])


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        (None, "", "a"),
        ("approvals/a.yaml", "", "a"),
        ("approvals/shop/a.yaml", "shop", "a"),
        ("a.yaml", "", "a.2"),
        ("approvals/a.yaml", "shop", "a.2"),
        ("approvals/shop/a.yaml", "", "a.2"),
    ],
)
def test_a_rejection_takes_the_place_of_the_approval_in_the_file_of_its_name(
    path: str | None, namespace: str, name: str
) -> None:
    key = NamespacedName(namespace, "a")
    there = Approval(key=key, origin=None if path is None else Origin(path, 1))
    assert name_to_reject("a", {key: there}, namespace) == name
    assert name_to_reject("b", {key: there}, namespace) == "b"
    elsewhere = replace(there, origin=Origin("b.yaml", 1))
    assert name_to_reject("a", {key: elsewhere}) == ("a" if namespace else "a.2")
