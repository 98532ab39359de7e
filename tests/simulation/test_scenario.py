"""Scenario files: what they mean, and every fault with its line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.scenarios import (
    Change,
    ClusterRule,
    Entry,
    Gate,
    ObjectPattern,
    Removed,
    Scenario,
    Switch,
    Target,
    Written,
)  # fmt: skip
from gitfleet.api.texts import ApiText
from gitfleet.formats.texts import FormatsText
from gitfleet.simulation.scenario import BadScenario, read_scenario
from tests.texts import part

HEAD = "apiVersion: gitfleet.dev/v1alpha1\nkind: Scenario\n"
EXAMPLE = f"""{HEAD}metadata: {{name: example}}
spec:
  start: "2026-03-01T02:00:00+02:00"
  maxTime: 1h30m
  tick: 10s
  clusters:
    - names: [cluster-2]
      object: {{kind: Deployment, name: web, image: "*:bad"}}
      available: never
    - matchLabels: {{env: prod}}
      available: 90s
    - names: [cluster-3]
      apply: fail
  timeline:
    - {{at: 60s, write: {{path: resources/test-ns/deployment.yaml, content: "a: 1"}}}}
    - {{at: 120s, mutate: {{cluster: c1, object: {{kind: ConfigMap, namespace: ns, name: cm}},
       patch: [{{op: replace, path: /data/k, value: v}}]}}}}
    - {{at: 60s, remove: {{path: clusters/cluster-4.yaml}}}}
    - {{at: 90s, approve: {{run: example-run, stage: canary}}}}
    - {{at: 95s, reject: {{run: example-run, stage: canary}}}}
    - {{at: 100s, cluster: {{name: cluster-1, state: unreachable}}}}
    - {{at: 105s, cluster: {{name: cluster-1, state: reachable}}}}
    - {{at: 110s, crash: reconciler}}
"""


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def test_the_example() -> None:
    scenario = read_scenario(EXAMPLE.encode())
    assert scenario == Scenario(
        start=datetime(2026, 3, 1, tzinfo=UTC),
        max_time=seconds(5400),
        tick=seconds(10),
        clusters=(
            ClusterRule(
                names=("cluster-2",),
                object=ObjectPattern(kind="Deployment", name="web", image="*:bad"),
                available="never",
            ),
            ClusterRule(match_labels={"env": "prod"}, available=seconds(90)),
            ClusterRule(names=("cluster-3",), apply="fail"),
        ),
        timeline=(
            Entry(at=seconds(60), write=Written(path="resources/test-ns/deployment.yaml", content="a: 1")),
            Entry(at=seconds(60), remove=Removed(path="clusters/cluster-4.yaml")),
            Entry(at=seconds(90), approve=Gate(run="example-run", stage="canary")),
            Entry(at=seconds(95), reject=Gate(run="example-run", stage="canary")),
            Entry(at=seconds(100), cluster=Switch(name="cluster-1", state="unreachable")),
            Entry(at=seconds(105), cluster=Switch(name="cluster-1", state="reachable")),
            Entry(at=seconds(110), crash="reconciler"),
            Entry(
                at=seconds(120),
                mutate=Change(
                    cluster="c1",
                    object=Target(kind="ConfigMap", namespace="ns", name="cm"),
                    patch=({"op": "replace", "path": "/data/k", "value": "v"},),
                ),
            ),
        ),
    )


def test_defaults() -> None:
    assert read_scenario(f"{HEAD}spec: {{}}\n".encode()) == Scenario(
        start=datetime(2026, 1, 1, tzinfo=UTC), max_time=timedelta(hours=24), tick=seconds(5)
    )


MUST_ONE = part(ApiText.MUST_ONE)
FAULTS = [
    ("", ":1: a scenario is exactly one YAML document of kind Scenario"),
    (f"{HEAD}spec: {{}}\n---\n{HEAD}spec: {{}}\n", ":1: a scenario is exactly one YAML document of kind Scenario"),
    ("spec: {a: 1", ":1: "),
    (HEAD, (":1: Scenario: spec: " + ApiText.REQUIRED_ADD())),
    ("kind: Scenario\napiVersion: v1\nspec: {}\n", f":2: Scenario: apiVersion: {MUST_ONE}'gitfleet.dev/v1alpha1'"),
    ("[1]", (":1: Scenario:" + KubeText.MUST_MAPPING(what=""))),
    (f"{HEAD}spec: {{tik: 5s}}", f":3: Scenario: spec.tik: {part(ApiText.NOT_KNOWN_FIELD)}"),
    (f"{HEAD}spec: {{tick: 0s}}", f":3: Scenario: spec.tick: {FormatsText.MUST_DURATION_MORE_ZERO()}"),
    (f"{HEAD}spec: {{start: 2026-01-01}}", f":3: Scenario: spec.start: {FormatsText.MUST_TIME_T12_Z()}"),
    (
        f"{HEAD}spec:\n  clusters:\n  - names: [a]\n",
        f":5: Scenario: spec.clusters[0]: {ApiText.NEEDS_AVAILABLE_DURATION_NEVER_APPLY()}",
    ),
    (
        f"{HEAD}spec:\n  timeline:\n  - at: 1s\n",
        f":5: Scenario: spec.timeline[0]: {part(ApiText.NEEDS_EXACTLY_ONE)}write, remove",
    ),
    (
        f"{HEAD}spec:\n  timeline:\n  - at: 1s\n    crash: reconciler\n    remove: {{path: a}}\n",
        ApiText.NEEDS_EXACTLY_ONE(
            verbs="write, remove, approve, reject, cluster, crash, mutate", given="remove and crash"
        ),
    ),
    (f"{HEAD}spec:\n  timeline:\n  - {{at: 1s, crash: cluster}}\n", f"crash: {MUST_ONE}'reconciler'"),
    (f"{HEAD}spec:\n  timeline:\n  - {{at: 1s, remove: {{path: /etc/x}}}}\n", ApiText.NOT_PATH_INSIDE_CONFIG_REPO()),
    (f"{HEAD}spec:\n  timeline:\n  - {{at: 1s, remove: {{path: a/../../x}}}}\n", ApiText.NOT_PATH_INSIDE_CONFIG_REPO()),
    (
        f"{HEAD}spec:\n  timeline:\n  - {{at: 1s, remove: {{path: .git/config}}}}\n",
        ApiText.NOT_PATH_INSIDE_CONFIG_REPO(),
    ),
    (f"{HEAD}spec:\n  timeline:\n  - {{at: 1s, write: {{path: '', content: a}}}}\n", ApiText.NOT_PATH_FILE()),
    (
        f"{HEAD}spec:\n  timeline: [{{at: 1s, mutate: {{cluster: c, object: {{kind: A, name: b}}, patch: [{{}}]}}}}]",
        f"patch: {ApiText.NOT_JSON_PATCH()}",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS, ids=[text.replace("\n", " ")[-50:] for text, _ in FAULTS])
def test_faults_have_their_place(text: str, expected: str) -> None:
    with pytest.raises(BadScenario) as caught:
        read_scenario(text.encode(), path="play.yaml")
    assert f"{caught.value.faults[0]}".startswith("play.yaml:")
    assert expected in str(caught.value)


def test_all_faults_are_told_in_the_order_of_lines() -> None:
    text = f"{HEAD}spec:\n  timeline:\n  - {{at: 1}}\n  tick: 1\n  start: x\n"
    with pytest.raises(BadScenario) as caught:
        read_scenario(text.encode())
    assert [(fault.line, fault.field) for fault in caught.value.faults] == [
        (5, "spec.timeline[0].at"),
        (6, "spec.tick"),
        (7, "spec.start"),
    ]


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: (HEAD + text).encode()))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    try:
        read_scenario(content)
    except BadScenario as bad:
        assert bad.faults
