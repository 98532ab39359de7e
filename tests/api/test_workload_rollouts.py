"""What workload rollouts may say, rule by rule, and what they mean (seed 004; docs/workload-rollouts.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet.api import dotted, read, read_state, write
from gitfleet.api.metrics import CanaryMetric, MetricTemplate
from gitfleet.api.rollout_plans import RolloutPlan, WebhookType
from gitfleet.api.texts import ApiText
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.formats.texts import FormatsText

Json = Mapping[str, Any]
HOOK: Json = {"type": "pre-batch-rollout", "name": "check", "url": "https://checks.example/start"}
METRIC: Json = {"name": "errors", "metricsRange": {"max": 0.05}, "templateRef": {"name": "errors"}}


def broken(plan: Json) -> list[str]:
    """What is wrong with a rollout plan."""
    return [f"{dotted(place)}: {sentence}" for place, sentence in read(RolloutPlan, plan)[1]]


def near(name: str) -> str:
    return FormatsText.YOU_MEAN(near=name)


def batches(*replicas: int | str, **more: Any) -> Json:
    return {"rolloutBatches": [{"replicas": one} for one in replicas], **more}


DECREASING = ApiText.MUST_MORE_ROLLOUTSTRATEGY_DECREASEFIRST()
URL = ApiText.MUST_HTTP_HTTPS_URL_HOST()
WITHIN = ApiText.MUST_PRE_BATCH_ROLLOUT_POST()


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({}, []),
        (batches(1, numBatches=1), [("numBatches: " + ApiText.NOT_GO_ROLLOUTBATCHES())]),
        (batches(1, "50%", "50%"), []),
        (batches("50%", 3, "51%"),
         [("rolloutBatches: " + ApiText.MORE_PODS_LOWER_PERCENTAGES_ALL())]),
        ({"rolloutBatches": [{}]}, [("rolloutBatches[0].replicas: " + ApiText.NEEDS_REPLICAS_PODLIST())]),
        ({"rolloutBatches": [{"replicas": 1, "podList": ["a-0"]}]},
         [("rolloutBatches[0].podList: " + ApiText.NOT_GO_REPLICAS())]),
        ({"rolloutBatches": [{"podList": ["a-0", "a-1"]}, {"podList": ["a-2", "a-1"]}]},
         [("rolloutBatches[1].podList[1]: " + ApiText.STANDS_TWICE_BATCHES())]),
        (batches(1, 1, lastBatchToRollout=1), []),
        (batches(1, 1, lastBatchToRollout=2),
         [("lastBatchToRollout: " + ApiText.MUST_MOST_LAST_BATCH_COUNTED(last="1"))]),
        ({"lastBatchToRollout": 0, "batchPartition": 0},
         [("batchPartition: " + ApiText.NOT_GO_OTHER_NAME_FIELD())]),
        (batches(1, 2, rolloutStrategy="DecreaseFirst"), []),
        ({"rolloutStrategy": "DecreaseFirst", "rolloutBatches": [{"replicas": 1, "maxUnavailable": 1}]}, []),
        ({"rolloutStrategy": "DecreaseFirst", "rolloutBatches": [{"replicas": 1, "maxUnavailable": 0}]},
         [f"rolloutBatches[0].maxUnavailable: {DECREASING}"]),
        ({"rolloutBatches": [{"replicas": 1, "maxUnavailable": 0}]}, []),
        # Webhooks.
        ({"rolloutWebhooks": [HOOK, {**HOOK, "name": "other"}]}, []),
        ({"rolloutWebhooks": [HOOK, {**HOOK, "type": "finalize-rollout"}]},
         [("rolloutWebhooks[1].name: " + ApiText.TAKEN_EARLIER_RENAME(what="webhook"))]),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK, HOOK]}]},
         [("rolloutBatches[0].batchRolloutWebhooks[1].name: " + ApiText.TAKEN_EARLIER_RENAME(what="webhook"))]),
        ({"rolloutWebhooks": [HOOK], "rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK]}]},
         [("rolloutBatches[0].batchRolloutWebhooks[0].name: " + ApiText.TAKEN_EARLIER_RENAME(what="webhook"))]),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [HOOK]},
                             {"replicas": 1, "batchRolloutWebhooks": [HOOK]}]}, []),
        ({"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [{**HOOK, "type": "finalize-rollout"}]}]},
         [f"rolloutBatches[0].batchRolloutWebhooks[0].type: {WITHIN}"]),
        ({"rolloutWebhooks": [{**HOOK, "type": "initilize-rollout", "method": "POST"}]}, []),
        ({"rolloutWebhooks": [{**HOOK, "timeout": "11m"}]},
         [("rolloutWebhooks[0].timeout: " + ApiText.MUST_MOST_M())]),
        # Metrics.
        ({"canaryMetric": [METRIC, METRIC]},
         [("canaryMetric[1].name: " + ApiText.TAKEN_EARLIER_RENAME(what="metric"))]),
        ({"canaryMetric": [METRIC], "rolloutBatches": [{"replicas": 1, "canaryMetric": [METRIC]}]},
         [("rolloutBatches[0].canaryMetric[0].name: " + ApiText.TAKEN_EARLIER_RENAME(what="metric"))]),
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
        ("https://user:password@a.example", False),
        ("https://a.example\\@b.example/", False),
        ("https://a.example/#part", False),
        ("https:///x", False),
        ("ftp://a.example", False),
        ("https://a.example:0/", False),
        ("https://a.example/\n", False),
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
INFINITE = FormatsText.MUST_NUMBER_NOT_INFINITE()
NO_VARIABLE = FormatsText.WITHOUT_NAME_VARIABLE()
ESCAPED = FormatsText.BACKSLASH_BEFORE_WOULD_CHANGE_STANDS()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("up", None),
        ('up{job="\\\\{{ name }}"}', None),
        ('up{job="\\{{ name }}"}', ESCAPED),
        ("sum(rate(x{job='{{name}}',c=\"{{ args.c }}\"}[{{ .interval }}]))", None),
        ("up{job='{{ name }'}", NO_VARIABLE),
        ("up{job='{{ na me }}'}", NO_VARIABLE),
        ("up{{", NO_VARIABLE),
        ("", ApiText.MUST_NOT_EMPTY_FILL()),
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
        ({"metricsRange": {"min": "95%"}}, [("metricsRange.min: " + FormatsText.MUST_NUMBER_CORRECT())]),
        ({"metricsRange": {"min": float("inf")}}, [f"metricsRange.min: {INFINITE}"]),
        ({"metricsRange": {"min": "2", "max": 1}}, [("metricsRange.min: " + ApiText.MUST_NOT_ABOVE_MAX())]),
        ({"metricsRange": {}}, [("metricsRange: " + ApiText.NEEDS_MIN_MAX())]),
        ({"metricsRange": None},
         [("metricsRange: " + ApiText.NEEDS_METRICSRANGE_SUCCESSCONDITION_FAILURECONDITION())]),
        ({"metricsRange": None, "successCondition": "result < 0.05"}, []),
        ({"metricsRange": None, "failureCondition": "results.exists(r, r > 1)"}, []),
        ({"successCondition": "reslt < 1"},
         [("successCondition: " + FormatsText.LINE_COLUMN(
             refused=FormatsText.NO_CEL_EXPRESSION(called="metric"), line=1, column=1,
             what=FormatsText.NO_VARIABLE_NAME(known=near("result"))))]),
        ({"templateRef": {"name": "x", "apiVersion": "gitfleet.dev/v1alpha1", "kind": "MetricTemplate"}}, []),
        ({"args": {"job": "api"}}, []),
        ({"args": {"a b": "api"}}, [("args.a b: " + ApiText.MUST_NAME_LETTERS())]),
        ({"interval": "0s"}, [("interval: " + FormatsText.MUST_DURATION_MORE_ZERO())]),
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
        ({"sourceRef": [source("api")]},
         [("spec.sourceRef[0]: " + ApiText.TARGET_NAME_WORKLOAD_OLDER_CONTENT())]),
        ({"sourceRef": [source("a"), source("api", namespace="web"), source("a")]},
         [("spec.sourceRef[1]: " + ApiText.TARGET_NAME_WORKLOAD_OLDER_CONTENT()),
          ("spec.sourceRef[2]:" + ApiText.STANDS_TWICE_REMOVE_ONE_2(task=""))]),
        ({"sourceRef": [{**source("a"), "kind": "StatefulSet"}]},
         [("spec.sourceRef[0].kind: " + ApiText.MUST_KIND_TARGET(group_kind="Deployment.apps"))]),
        ({"sourceRef": [{**source("a"), "apiVersion": "apps"}]},
         [("spec.sourceRef[0].apiVersion: " + ApiText.MUST_API_GROUP_VERSION())]),
        # What batches add up to is known where pods go from one workload to another.
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3, targetSize=5)}, []),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3, targetSize=6)},
         [("spec.rolloutPlan.rolloutBatches: " + ApiText.PODS_TARGETSIZE_CORRECT_ONE(known="5", target_size="6"))]),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, "50%", targetSize=6)}, []),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(7, "50%", targetSize=6)},
         [("spec.rolloutPlan.rolloutBatches: " + ApiText.MORE_PODS_TARGETSIZE(target_size="6"))]),
        ({"sourceRef": [source("a")],
          "rolloutPlan": {"targetSize": 2, "rolloutBatches": [{"podList": ["a-0"]}, {"replicas": 2}]}},
         [("spec.rolloutPlan.rolloutBatches: " + ApiText.PODS_TARGETSIZE_CORRECT_ONE(known="3", target_size="2"))]),
        ({"sourceRef": [source("a")], "rolloutPlan": batches(2, 3)}, []),
    ],
)  # fmt: skip
def test_what_a_trait_may_say(spec: Json, expected: list[str]) -> None:
    assert [f"{dotted(place)}: {sentence}" for place, sentence in read(RolloutTrait, trait(spec))[1]] == expected


def test_a_stateful_workload_has_no_source() -> None:
    spec = {"targetRef": {**source("db"), "kind": "StatefulSet"}, "sourceRef": [{**source("a"), "kind": "StatefulSet"}]}
    sentence = ApiText.NOT_GO_PODS_BOTH_REVISIONS(target_ref="StatefulSet")
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
        ({"targetRevision": ""},
         [("spec.targetRevision: " + ApiText.MUST_NOT_EMPTY_WRITE_INDEX())]),
        ({"sourceRevision": 2},
         [("spec.sourceRevision: " + ApiText.TARGETREVISION_NAME_SNAPSHOT_OLDER_CONTENT())]),
        ({"sourceRevision": "1", "rolloutPlan": batches(2, 3, targetSize=6)},
         [("spec.rolloutPlan.rolloutBatches: " + ApiText.PODS_TARGETSIZE_CORRECT_ONE(known="5", target_size="6"))]),
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
