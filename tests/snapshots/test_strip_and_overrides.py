"""Stripping one kind at a time, splitting by size, and snapshots of overrides."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.overrides import JsonPatch, OverriddenResource, Override, OverrideKey, OverrideRule, override_type
from gitfleet.formats.limits import in_batches
from gitfleet.model.failures import Failures, Subject
from gitfleet.snapshots import current_overrides, strip, take_override_snapshots
from tests.snapshots.builders import manifest

UIDS = {"controller-uid": "u", "batch.kubernetes.io/controller-uid": "u"}


def body(kind: str, spec: dict[str, Any], api_version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("given_body", "expected"),
    [
        (body("Service", {"clusterIP": "None", "clusterIPs": ["None"]}), None),
        (
            body("Service", {"clusterIP": "1.2.3.4", "ports": [{"port": 1, "nodePort": 2}, {"port": 3}]}),
            body("Service", {"ports": [{"port": 1, "nodePort": 2}, {"port": 3}]}),
        ),
        (body("Service", {"clusterIP": "1.2.3.4", "clusterIPs": ["1.2.3.4"]}), body("Service", {})),
        (body("Service", {"type": "LoadBalancer", "healthCheckNodePort": 31000}), None),
        (
            body(
                "Job",
                {
                    "selector": {"matchLabels": {**UIDS, "a": "b"}},
                    "template": {"metadata": {"labels": {**UIDS, "c": "d"}, "creationTimestamp": None}},
                },
                "batch/v1",
            ),
            body(
                "Job",
                {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"c": "d"}}}},
                "batch/v1",
            ),
        ),
        (body("Job", {"manualSelector": True, "selector": {"matchLabels": UIDS}}, "batch/v1"), None),
        (body("Deployment", {"replicas": 2}, "apps/v1"), None),
    ],
)
def test_strip(given_body: dict[str, Any], expected: dict[str, Any] | None) -> None:
    before, subject = deepcopy(given_body), manifest(given_body)
    got = strip(subject)
    assert got.body == (expected or before)
    assert (got is subject) == (expected is None)
    assert given_body == before
    assert strip(got) is got


@given(st.lists(st.integers(1, 200)), st.integers(1, 200))
def test_split_keeps_order_and_limit(sizes: list[int], limit: int) -> None:
    groups = list(in_batches(sizes, int, limit))
    assert [size for group in groups for size in group] == sizes
    assert all(len(group) == 1 or sum(group) <= limit for group in groups)
    assert all(sum(a) + b[0] > limit for a, b in pairwise(groups))


def override(value: str, name: str = "cro", ns: str = "", **more: Any) -> Override:
    return override_type(ns)(
        key=OverrideKey(ns, name),
        resources=(OverriddenResource("", "v1", "Namespace", "web"),),
        rules=(OverrideRule(cluster_terms=(), patches=(JsonPatch("add", "/metadata/labels/a", value),)),),
        **more,
    )


def test_override_snapshots_are_numbered_by_change_of_spec() -> None:
    one = override("1")
    first = take_override_snapshots({one.key: one}, {})
    assert [(s.name, s.reference) for s in first[one.key]] == [("cro-0", "cro-0")]
    relabelled = replace(one, labels={"x": "y"})
    assert take_override_snapshots({one.key: relabelled}, first) == first
    second = take_override_snapshots({one.key: override("2")}, first)
    assert [s.index for s in second[one.key]] == [0, 1]
    assert current_overrides({one.key: override("2")}, second) == (second[one.key][1],)
    typed = replace(one, rules=(OverrideRule(cluster_terms=(), patches=(JsonPatch("add", "/metadata/labels/a", 1),)),))
    assert len(take_override_snapshots({one.key: typed}, first)[one.key]) == 2


def test_ten_override_snapshots_are_kept_and_those_in_use() -> None:
    known: Any = {}
    key = OverrideKey("ns", "ro")
    for number in range(15):
        in_use = {"ns/ro-1"} if number > 1 else set()
        known = take_override_snapshots({key: override(str(number), "ro", "ns")}, known, in_use=in_use)
    assert [s.index for s in known[key]] == [1, *range(5, 15)]
    gone = take_override_snapshots({}, known, in_use={"ns/ro-14"})
    assert [s.index for s in gone[key]] == [14]
    assert current_overrides({}, gone) == ()
    assert take_override_snapshots({}, gone) == {}


def test_a_hash_that_is_computed_in_another_way_is_no_change() -> None:
    one = override("1")
    (snapshot,) = take_override_snapshots({one.key: one}, {})[one.key]
    known = {one.key: (replace(snapshot, hash="of an earlier version"),)}
    assert take_override_snapshots({one.key: one}, known) == known


@pytest.mark.parametrize(("name", "ns"), [("cro", ""), ("ro", "ns")])
def test_an_override_that_cannot_be_read_keeps_its_snapshots(name: str, ns: str) -> None:
    one, other = override("1", name, ns), override("1", "other")
    known = take_override_snapshots({one.key: one}, {})
    odd: Any = object()
    failures = Failures()
    broken = replace(one, rules=(OverrideRule(cluster_terms=(), patches=odd),))
    found = take_override_snapshots({one.key: broken, other.key: other}, known, failures=failures)
    assert found == known | take_override_snapshots({other.key: other}, {})
    assert [failure.subject for failure in failures.found] == [Subject(one.key.kind, str(one.key))]
