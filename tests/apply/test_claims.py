"""What an object needs before it can be: its namespace, and the definition of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.apply import ApplyRequest
from gitfleet.apply.claims import index_claims
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.operations import Create, Update
from gitfleet.model.successors import Successors
from tests.apply.model_cluster import manifest, namespace
from tests.apply.test_plan_apply import CRD, CUSTOM, live, owned, plan, work


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        ({}, True),
        ({"status": None}, True),
        ({"status": {"conditions": None}}, True),
        ({"status": {"conditions": [{"type": "Established", "status": "False"}]}}, True),
        ({"status": {"conditions": [{"type": "NamesAccepted", "status": "True"}]}}, True),
        ({"status": {"conditions": [{}, {"type": "Established", "status": "True"}]}}, False),
    ],
)
def test_a_definition_is_needed_until_it_is_established(more: dict[str, Any], needed: bool) -> None:
    crd, custom = manifest(CRD), manifest(CUSTOM)
    (_, create) = plan(work(crd, custom), live={crd.key: live(crd, **more), custom.key: None})
    assert isinstance(create, Create)
    assert create.needs == ((crd.key,) if needed else ())


def test_a_definition_or_a_namespace_that_is_being_deleted_is_needed_however_it_looks() -> None:
    crd, custom, ns = manifest(CRD), manifest(CUSTOM), namespace()
    gone: dict[str, Any] = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    established: dict[str, Any] = {"status": {"conditions": [{"type": "Established", "status": "True"}]}}
    there = {crd.key: live(crd, **gone, **established), ns.key: live(ns, **gone), custom.key: None}
    needs = [o.needs for o in plan(work(crd, custom, ns), live=there) if isinstance(o, Create)]
    assert needs == [(ns.key, crd.key)]


def test_an_update_needs_what_a_creation_needs() -> None:
    """The namespace may be going while the object is still to be seen."""
    custom, ns = manifest(CUSTOM), namespace()
    changed, there = manifest({**CUSTOM, "spec": {"size": 2}}), live(custom)
    asked = {"live": {custom.key: there, ns.key: None}, "inventory": {custom.key: owned(custom, there)}}
    (update, _) = sorted(plan(work(changed, ns), **asked), key=lambda o: o.key.name != "x")
    assert isinstance(update, Update) and update.needs == (ns.key,)


def test_a_definition_that_cannot_be_read_defines_nothing_and_is_noted() -> None:
    odd: Any = object()
    broken, failures = replace(manifest(CRD), body=odd), Failures()
    claims = index_claims(ApplyRequest(cluster="c1", works=(work(broken),)), failures, Successors({}))
    assert claims.crds == {}
    assert [failure.subject for failure in failures.found] == [Subject.of_object(broken.key)]
