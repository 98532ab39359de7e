"""Approvals that answer nothing: which of them are meant for what waits; and the name of the next answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.objects import Origin
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import name_to_reject, unasked, wrong_approvals
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.model.approvals import Asked, by_request

AFTER = Asked(name="go-canary", digest="d", commit="c", aliases=("go-after-canary",))
BEFORE = Asked(name="go-before-prod", digest="d", commit="c")
INSIDE = Asked(name="go-canary", digest="d", commit="c", namespace="shop", aliases=("go-after-canary",))
OTHER = Asked(name="go-first", digest="d", commit="c")


def said(waiting: Asked, name: str, namespace: str = "", spec: tuple[str, str] | None = None) -> str:
    """What is said of an approval while one request waits and OTHER is answered."""
    run, stage = spec or (None, None)
    approval = Approval(
        key=NamespacedName(namespace, name), parent_run=run, target_stage=stage, origin=Origin("approvals/a.yaml", 3)
    )
    every = {approval.key: approval}
    meant = by_request(every.values())
    found = list(wrong_approvals([waiting], unasked([waiting, OTHER], every, meant), meant))
    assert [(fault.path, fault.line, fault.severity) for fault in found] in ([], [("approvals/a.yaml", 3, "warning")])
    return "".join(f"{fault.object}: {fault.field}: {fault.message}" for fault in found)


NAME = "metadata.name: " + ApprovalsText.ANSWERS_NO_NOW(what="request", name="{}")


@pytest.mark.parametrize(
    "name", ["go-canery", "go-after-canery", "go-prod", "go", "canary", "go-canary-2", "go-before-canary"]
)
def test_a_name_that_may_be_meant_for_what_waits(name: str) -> None:
    assert said(AFTER, name) == f"ClusterApprovalRequest/{name}: {NAME.format('go-canary')}"


@pytest.mark.parametrize(
    "name",
    [
        "go-canary",
        "go-canary.2",
        "go-after-canary",
        "go-after-canary.ann",
        "go-first",
        "go-first.2",
        "up-2-canary",
        "x",
    ],
)
def test_a_name_that_answers_or_is_meant_for_something_else(name: str) -> None:
    assert said(AFTER, name) == ""


@pytest.mark.parametrize(
    ("waiting", "name", "namespace", "spec", "expected"),
    [
        (BEFORE, "x", "", ("go", "prod"), f"ClusterApprovalRequest/x: {NAME.format('go-before-prod')}"),
        (BEFORE, "x", "", ("go", "canary"), ""),
        (INSIDE, "go-canary", "", None, f"ClusterApprovalRequest/go-canary: {NAME.format('shop/go-canary')}"),
        (AFTER, "go-canary", "shop", None, f"ApprovalRequest/shop/go-canary: {NAME.format('go-canary')}"),
        (INSIDE, "go-canary", "web", None, ""),
        (
            AFTER,
            "go-canary",
            "",
            ("go", "prod"),
            (
                "ClusterApprovalRequest/go-canary: spec.targetStage: "
                + ApprovalsText.STAGE_RUN(
                    target_stage="prod", parent_run=ApprovalsText.NOT_CORRECT_ONE(why="go", key="go-canary")
                )
            ),
        ),
        (AFTER, "go-canary", "", ("go", "canary"), ""),
    ],
)
def test_specs_and_namespaces(
    waiting: Asked, name: str, namespace: str, spec: tuple[str, str] | None, expected: str
) -> None:
    assert said(waiting, name, namespace, spec) == expected


HOLD = Asked(name="hold-web-eu-abcdefabcd", digest="d", commit="c")


@pytest.mark.parametrize(
    ("name", "namespace", "meant"),
    [
        ("hold-web-eu", "", True),
        ("hold-web-eu-fedcfedcfe", "", True),
        ("hold-web-us-abcdefabcf", "", True),
        ("hold-web-eu-abcdefabcf", "", True),
        ("hold-web-eu", "shop", False),
        ("hold-web-eu-abcdefabcf", "shop", False),
        ("hold-web", "", False),
        ("hold-shop-fedcfedcfe", "", False),
    ],
)
def test_a_name_that_may_be_meant_for_a_hold(name: str, namespace: str, meant: bool) -> None:
    sentence = ApprovalsText.ANSWERS_NO_NOW(what="hold", name=HOLD.name)
    assert said(HOLD, name, namespace) == (f"ClusterApprovalRequest/{name}: metadata.name: {sentence}" if meant else "")


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
