"""What workload rollouts may say, rule by rule, and what they mean (seed 004; docs/workload-rollouts.md)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api import dotted, read, read_state, write
from gitfleet.api.metrics import CanaryMetric, MetricTemplate
from gitfleet.api.rollout_plans import RolloutPlan, WebhookType
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait

Json = Mapping[str, Any]
HOOK: Json = {"type": "pre-batch-rollout", "name": "check", "url": "https://checks.example/start"}
METRIC: Json = {"name": "errors", "metricsRange": {"max": 0.05}, "templateRef": {"name": "errors"}}


def broken(plan: Json) -> list[str]:
    """What is wrong with a rollout plan."""
    return [f"{dotted(place)}: {sentence}" for place, sentence in read(RolloutPlan, plan)[1]]


def batches(*replicas: int | str, **more: Any) -> Json:
    return {"rolloutBatches": [{"replicas": one} for one in replicas], **more}


DECREASING = (
    "must be more than 0 with rolloutStrategy DecreaseFirst, which takes pods away before others come; raise it, or "
    "leave it out: then it is the size of the batch"
)
URL = "must be an http or https URL of a host, without a user, a password or a fragment; correct it"
WITHIN = (
    "must be pre-batch-rollout or post-batch-rollout in a batch; correct it, or move the webhook to rolloutWebhooks"
)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({}, []),
        ({"numBatches": 3, "lastBatchToRollout": 2}, []),
        ({"numBatches": 0}, ["numBatches: must be at least 1; raise it"]),
        ({"numBatches": 1001}, ["numBatches: must be at most 1000; lower it"]),
        (batches(1, numBatches=1), ["numBatches: does not go with rolloutBatches; remove one of the two"]),
        (batches(1, "50%", "50%"), []),
        (batches("33%", "33%", "33%"), []),
        (batches("50%", 3, "51%"),
         ["rolloutBatches: have more than 100% of the pods; lower the percentages to 100 in all"]),
        (batches("101%"), [("rolloutBatches[0].replicas: must be a whole number without quotes, or a percentage from "
                           "0% to 100%; correct it")]),
        (batches(-1), ["rolloutBatches[0].replicas: must be at least 0; raise it"]),
        ({"rolloutBatches": [{}]}, [("rolloutBatches[0].replicas: needs `replicas` or `podList`; say how many pods, or "
                                    "which, the batch upgrades")]),
        ({"rolloutBatches": [{"replicas": 1, "podList": ["a-0"]}]},
         ["rolloutBatches[0].podList: does not go with replicas; remove one of the two"]),
        ({"rolloutBatches": [{"podList": ["a-0", "a-1"]}, {"podList": ["a-2", "a-1"]}]},
         ["rolloutBatches[1].podList[1]: stands twice in the batches; remove one"]),
        (batches(1, 1, lastBatchToRollout=1), []),
        (batches(1, 1, lastBatchToRollout=2),
         ["lastBatchToRollout: must be at most 1, the last batch as counted from 0; lower it, or add batches"]),
        ({"numBatches": 2, "batchPartition": 2},
         ["batchPartition: must be at most 1, the last batch as counted from 0; lower it, or add batches"]),
        ({"lastBatchToRollout": 1},
         ["lastBatchToRollout: must be at most 0, the last batch as counted from 0; lower it, or add batches"]),
        ({"lastBatchToRollout": 0, "batchPartition": 0},
         ["batchPartition: does not go with the other name of this field, which is there too; remove one of the two"]),
        ({"batchPartiton": 0}, ["batchPartiton: is not a known field; did you mean batchPartition?"]),
        (batches(1, 2, rolloutStrategy="DecreaseFirst"), []),
        ({"rolloutStrategy": "DecreaseFirst", "rolloutBatches": [{"replicas": 1, "maxUnavailable": 1}]}, []),
        ({"rolloutStrategy": "DecreaseFirst", "rolloutBatches": [{"replicas": 1, "maxUnavailable": 0}]},
         [f"rolloutBatches[0].maxUnavailable: {DECREASING}"]),
        ({"rolloutStrategy": "DecreaseFirst", "rolloutBatches": [{"replicas": 1, "maxUnavailable": "0%"}]},
         [f"rolloutBatches[0].maxUnavailable: {DECREASING}"]),
        ({"rolloutBatches": [{"replicas": 1, "maxUnavailable": 0}]}, []),
        ({"rolloutStrategy": "IncreaseFrist"},
         ["rolloutStrategy: must be one of 'IncreaseFirst', 'DecreaseFirst'; did you mean IncreaseFirst?"]),
        ({"targetSize": -1}, ["targetSize: must be at least 0; raise it"]),
        ({"paused": "yes"}, ["paused: must be true or false, without quotes"]),
        # Webhooks.
        ({"rolloutWebhooks": [HOOK, {**HOOK, "name": "other"}]}, []),
        ({"rolloutWebhooks": [HOOK, {**HOOK, "type": "finalize-rollout"}]},
         ["rolloutWebhooks[1].name: is taken by an earlier webhook; rename it"]),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK, HOOK]}]},
         ["rolloutBatches[0].batchRolloutWebhooks[1].name: is taken by an earlier webhook; rename it"]),
        ({"rolloutWebhooks": [HOOK], "rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK]}]},
         ["rolloutBatches[0].batchRolloutWebhooks[0].name: is taken by an earlier webhook; rename it"]),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK]},
                             {"replicas": 1, "batchRolloutWebhooks": [HOOK]}]}, []),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [{**HOOK, "type": "finalize-rollout"}]}]},
         [f"rolloutBatches[0].batchRolloutWebhooks[0].type: {WITHIN}"]),
        ({"rolloutWebhooks": [{**HOOK, "type": "initilize-rollout", "method": "POST"}]}, []),
        ({"rolloutWebhooks": [{**HOOK, "type": "pre-rollout"}]},
         [("rolloutWebhooks[0].type: must be one of 'initialize-rollout', 'pre-batch-rollout', 'post-batch-rollout', "
          "'finalize-rollout'; did you mean pre-batch-rollout?")]),
        ({"rolloutWebhooks": [{**HOOK, "method": "GET"}]},
         ["rolloutWebhooks[0].method: must be one of 'POST'; correct it"]),
        ({"rolloutWebhooks": [{**HOOK, "timeout": "11m"}]},
         ["rolloutWebhooks[0].timeout: must be at most 10m; shorten it"]),
        ({"rolloutWebhooks": [{**HOOK, "expectedStatus": [200, 99]}]},
         ["rolloutWebhooks[0].expectedStatus[1]: must be at least 100; raise it"]),
        ({"rolloutWebhooks": [{**HOOK, "onFailure": "Wait"}]},
         ["rolloutWebhooks[0].onFailure: must be one of 'wait', 'fail', 'rollback'; did you mean wait?"]),
        # Metrics.
        ({"canaryMetric": [METRIC, METRIC]}, ["canaryMetric[1].name: is taken by an earlier metric; rename it"]),
        ({"canaryMetric": [METRIC], "rolloutBatches": [{"replicas": 1, "canaryMetric": [METRIC]}]},
         ["rolloutBatches[0].canaryMetric[0].name: is taken by an earlier metric; rename it"]),
    ],
)  # fmt: skip
def test_what_a_plan_may_say(plan: Json, expected: list[str]) -> None:
    assert broken(plan) == expected


@pytest.mark.parametrize(
    ("url", "sound"),
    [
        ("https://a.example", True),
        ("http://localhost:8080/x?y=1&z=%20@", True),
        ("https://[::1]/x", True),
        ("https://10.0.0.1", True),
        ("https://user:password@a.example", False),
        ("https://user@a.example/", False),
        ("https://a.example\\@b.example/", False),
        ("https://a.example/#part", False),
        ("https:///x", False),
        ("https://", False),
        ("ftp://a.example", False),
        ("file:///etc/passwd", False),
        ("a.example", False),
        ("https://a.example:0/", False),
        ("https://a.example/ x", False),
        ("https://a.example/\n", False),
        ("https://\u00e4.example", False),
        ("https://a.example/" + "x" * 1983, False),
    ],
)
def test_an_address_is_a_url_of_a_host_without_credentials(url: str, sound: bool) -> None:
    wrong = [] if sound else [f"rolloutWebhooks[0].url: {URL}"]
    assert broken({"rolloutWebhooks": [{**HOOK, "url": url}]}) == wrong
    template = {**TEMPLATE, "spec": {"provider": {"address": url}, "query": "up"}}
    assert read(MetricTemplate, template)[1] == ([] if sound else [(("spec", "provider", "address"), URL)])


TEMPLATE: Json = {
    "apiVersion": "gitfleet.dev/v1alpha1",
    "kind": "MetricTemplate",
    "metadata": {"name": "errors", "namespace": "web"},
    "spec": {"provider": {"address": "https://prometheus.example"}, "query": "up{namespace='{{ namespace }}'}"},
}
INFINITE = "must be a number that is not infinite; correct it"
NO_VARIABLE = "has {{ without the name of a variable and }}; correct it"
ESCAPED = "has a backslash before {{, which would change what stands there; write two, or none"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("up", None),
        ('up{job="\\\\{{ name }}"}', None),
        ('up{job="\\{{ name }}"}', ESCAPED),
        ("up{a='{{ name }}\\\\\\{{ name }}'}", ESCAPED),
        ("sum(rate(x{job='{{name}}',c=\"{{ args.c }}\"}[{{ .interval }}]))", None),
        ("up{job='{{ name }'}", NO_VARIABLE),
        ("up{job='{{ }}'}", NO_VARIABLE),
        ("up{job='{{{ name }}'}", NO_VARIABLE),
        ("up{job='{{ na me }}'}", NO_VARIABLE),
        ("up{{", NO_VARIABLE),
        ("", "must not be empty; fill it in"),
    ],
)
def test_a_query_has_variables_in_double_braces(query: str, expected: str | None) -> None:
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "query": query}}
    assert read(MetricTemplate, template)[1] == ([(("spec", "query"), expected)] if expected else [])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"metricsRange": {"min": "0.95", "max": 1}}, []),
        ({"metricsRange": {"min": "-1", "max": "0.5"}}, []),
        ({"metricsRange": {"min": "95%"}}, ["metricsRange.min: must be a number such as 0.95; correct it"]),
        ({"metricsRange": {"min": float("inf")}}, [f"metricsRange.min: {INFINITE}"]),
        ({"metricsRange": {"max": 10**400}}, [f"metricsRange.max: {INFINITE}"]),
        ({"metricsRange": {"max": True}}, ["metricsRange.max: must be a number such as 0.95; correct it"]),
        ({"metricsRange": {"min": "2", "max": 1}}, ["metricsRange.min: must not be above `max`; correct one of them"]),
        ({"metricsRange": {}}, ["metricsRange: needs `min` or `max`; add one"]),
        ({"metricsRange": None},
         ["metricsRange: needs `metricsRange`, `successCondition` or `failureCondition`; add one"]),
        ({"metricsRange": None, "successCondition": "result < 0.05"}, []),
        ({"metricsRange": None, "failureCondition": "results.exists(r, r > 1)"}, []),
        ({"successCondition": "reslt < 1"},
         [("successCondition: is no CEL expression for a metric, at line 1, column 1: there is no variable of this "
          "name; did you mean result?")]),
        ({"templateRef": {"name": "x", "kind": "AnalysisTemplate"}},
         ["templateRef.kind: must be one of 'MetricTemplate'; correct it"]),
        ({"templateRef": {"name": "x", "apiVersion": "gitfleet.dev/v1alpha1", "kind": "MetricTemplate"}}, []),
        ({"templateRef": {"name": "x", "apiVersion": "flagger.app/v1beta1"}},
         ["templateRef.apiVersion: must be one of 'gitfleet.dev/v1alpha1'; correct it"]),
        ({"args": {"job": "api"}}, []),
        ({"args": {"a b": "api"}}, ["args.a b: must be a name of letters, digits, _ and -; rename it"]),
        ({"interval": "0s"}, ["interval: must be a duration of more than zero; raise it"]),
        ({"count": 0}, ["count: must be at least 1; raise it"]),
    ],
)  # fmt: skip
def test_what_a_metric_may_say(change: Json, expected: list[str]) -> None:
    found = read(CanaryMetric, {**METRIC, **change})[1]
    assert [f"{'.'.join(map(str, place))}: {sentence}" for place, sentence in found] == expected


def trait(spec: Json, kind: str = "RolloutTrait") -> Json:
    return {
        "apiVersion": "standard.oam.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": "api", "namespace": "web"},
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
            "rolloutPlan": {},
            **spec,
        },
    }


def source(name: str, **more: str) -> Json:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"sourceRef": [source("api-v1")]}, []),
        ({"sourceRef": [source("api", namespace="shop")]}, []),
        ({"sourceRef": [source("api")]},
         ["spec.sourceRef[0]: is the target; name the workload with the older content, or leave it out"]),
        ({"sourceRef": [source("a"), source("api", namespace="web"), source("a")]},
         ["spec.sourceRef[1]: is the target; name the workload with the older content, or leave it out",
          "spec.sourceRef[2]: stands twice; remove one"]),
        ({"sourceRef": [{**source("a"), "kind": "StatefulSet"}]},
         ["spec.sourceRef[0].kind: must be Deployment.apps, the kind of the target; correct it"]),
        ({"sourceRef": [{**source("a"), "apiVersion": "apps"}]},
         ["spec.sourceRef[0].apiVersion: must be an API group and version, such as apps/v1; correct it"]),
        ({"targetRef": {"kind": "Deployment", "name": "api"}}, ["spec.targetRef.apiVersion: is required; add it"]),
        ({"targetRef": None}, ["spec.targetRef: is required; add it"]),
        ({"order": "random"}, ["spec.order: must be one of 'parallel', 'sequential'; correct it"]),
        # What batches add up to is known where pods go from one workload to another.
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3, targetSize=5)}, []),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3, targetSize=6)},
         ["spec.rolloutPlan.rolloutBatches: have 5 pods, and targetSize is 6; correct one of them"]),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, "50%", targetSize=6)}, []),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(7, "50%", targetSize=6)},
         ["spec.rolloutPlan.rolloutBatches: have more than 6 pods, which is targetSize; correct one of them"]),
        ({"sourceRef": [source("a")],
          "rolloutPlan": {"targetSize": 2, "rolloutBatches": [{"podList": ["a-0"]}, {"replicas": 2}]}},
         ["spec.rolloutPlan.rolloutBatches: have 3 pods, and targetSize is 2; correct one of them"]),
        ({"rolloutPlan": batches(2, 3, targetSize=6)}, []),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3)}, []),
    ],
)  # fmt: skip
def test_what_a_trait_may_say(spec: Json, expected: list[str]) -> None:
    assert [f"{dotted(place)}: {sentence}" for place, sentence in read(RolloutTrait, trait(spec))[1]] == expected


def test_a_stateful_workload_has_no_source() -> None:
    spec = {"targetRef": {**source("db"), "kind": "StatefulSet"}, "sourceRef": [{**source("a"), "kind": "StatefulSet"}]}
    sentence = "does not go with a StatefulSet, which has the pods of both revisions itself; remove it"
    assert read(RolloutTrait, trait(spec))[1] == [(("spec", "sourceRef"), sentence)]


def app(spec: Json) -> Json:
    return {
        "apiVersion": "core.oam.dev/v1beta1",
        "kind": "AppRollout",
        "metadata": {"name": "api", "namespace": "web"},
        "spec": {"placementRef": {"name": "web"}, "targetRevision": "2", "rolloutPlan": {}, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"sourceRevision": 1, "componentList": ["api"], "revertOnDelete": True}, []),
        ({"targetRevision": None}, ["spec.targetRevision: is required; add it"]),
        ({"targetRevision": ""},
         ["spec.targetRevision: must not be empty; write the index of a snapshot, such as 3"]),
        ({"sourceRevision": 2},
         ["spec.sourceRevision: is targetRevision; name the snapshot with the older content, or leave it out"]),
        ({"placementRef": {"name": "web", "kind": "Placement"}},
         ["spec.placementRef.kind: must be one of 'ClusterResourcePlacement', 'ResourcePlacement'; correct it"]),
        ({"componentList": ["a", "b"]}, ["spec.componentList: may have at most 1 items; remove some"]),
        ({"sourceRevision": "1", "rolloutPlan": batches(2, 3, targetSize=6)},
         ["spec.rolloutPlan.rolloutBatches: have 5 pods, and targetSize is 6; correct one of them"]),
    ],
)  # fmt: skip
def test_what_an_app_rollout_may_say(spec: Json, expected: list[str]) -> None:
    assert [f"{dotted(place)}: {sentence}" for place, sentence in read(AppRollout, app(spec))[1]] == expected


def test_other_spellings_mean_the_same() -> None:
    made, _ = read(RolloutPlan, {
        "numBatches": 3, "batchPartition": 1, "rolloutWebhooks": [{**HOOK, "type": "initilize-rollout"}],
        "canaryMetric": [{**METRIC, "metricsRange": {"min": "0.5", "max": "3"}}],
    })  # fmt: skip
    assert made is not None
    assert (made.last_batch, made.webhooks[0].type) == (1, WebhookType.INITIALIZE)
    written = write(made)
    assert (written["lastBatchToRollout"], written["canaryMetric"][0]["metricsRange"]) == (1, {"min": 0.5, "max": 3})
    assert read_state(RolloutPlan, written) == made


Batch = st.integers(0, 9) | st.integers(0, 9).map(lambda n: [f"web-{n}"]) | st.integers(0, 30).map(lambda n: f"{n}%")
FAULTS = ("both", "neither", "twice", "type", "last", "numBatches", "metric")


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """A plan that holds; its pods are named once."""
    listed: list[dict[str, Any]] = []
    percent = 0
    for index, one in enumerate(draw(st.lists(Batch, min_size=1, max_size=6))):
        if isinstance(one, str):
            percent += int(one[:-1])
            one = one if percent <= 100 else index
        hooks = [{**HOOK, "name": f"hook-{n}"} for n in range(draw(st.integers(0, 2)))]
        amount = {"podList": [f"{name}-{index}" for name in one]} if isinstance(one, list) else {"replicas": one}
        listed.append({**amount, "batchRolloutWebhooks": hooks, "canaryMetric": [METRIC]})
    last = draw(st.none() | st.integers(0, len(listed) - 1))
    strategy = draw(st.sampled_from(["IncreaseFirst", "DecreaseFirst"]))
    return {"rolloutBatches": listed, "lastBatchToRollout": last, "rolloutStrategy": strategy}


def break_one(plan: dict[str, Any], fault: str, index: int) -> str:
    """Break one rule of a plan; the field that is then wrong."""
    batch = plan["rolloutBatches"][index]
    here = f"rolloutBatches[{index}]"
    if fault == "both":
        batch |= {"replicas": 1, "podList": ["web"]}
        return f"{here}.podList"
    if fault == "neither":
        batch.pop("replicas", batch.pop("podList", None))
        return f"{here}.replicas"
    if fault == "twice":
        batch["batchRolloutWebhooks"] = [HOOK, HOOK]
        return f"{here}.batchRolloutWebhooks[1].name"
    if fault == "type":
        batch["batchRolloutWebhooks"] = [{**HOOK, "type": "finalize-rollout"}]
        return f"{here}.batchRolloutWebhooks[0].type"
    if fault == "metric":
        batch["canaryMetric"] = [{**METRIC, "metricsRange": {}}]
        return f"{here}.canaryMetric[0].metricsRange"
    field = "numBatches" if fault == "numBatches" else "lastBatchToRollout"
    plan[field] = len(plan["rolloutBatches"])
    return field


@given(plans(), st.sampled_from(FAULTS), st.randoms(use_true_random=False))
def test_a_sound_plan_passes_and_one_fault_is_one_break(plan: dict[str, Any], fault: str, rnd: random.Random) -> None:
    assert broken(plan) == []
    field = break_one(plan, fault, rnd.randrange(len(plan["rolloutBatches"])))
    assert [text.partition(": ")[0] for text in broken(plan)] == [field]
