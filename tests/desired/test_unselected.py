"""Selectors that select nothing although something has nearly that name or label: a warning says what was meant."""

from __future__ import annotations

import pytest

from tests.desired.commits import faults_of

GROUP = "apiVersion: placement.kubernetes-fleet.io/v1beta1\n"
FLEET = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: paris, labels: {region: eu, tier: prod}}
---
{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {name: tokyo, labels: {region: ap}}}
"""
PAYLOAD = """\
{apiVersion: v1, kind: Namespace, metadata: {name: payments, labels: {team: money, stage: production}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: frontend, labels: {team: web}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: payments}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: colours, namespace: frontend}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}}
"""
ENVELOPE = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: wrapped, namespace: payments}
data: {a: {apiVersion: v1, kind: ConfigMap, metadata: {name: wrappedone, namespace: payments}}}
"""


def placing(selector: str, policy: str = "{}", namespace: str = "") -> str:
    """A placement with one selector."""
    kind, where = ("ResourcePlacement", f", namespace: {namespace}") if namespace else ("ClusterResourcePlacement", "")
    return (
        f"{GROUP}kind: {kind}\nmetadata: {{name: p{where}}}\nspec:\n"
        f"  policy: {policy}\n  resourceSelectors:\n  - {{{selector}}}\n"
    )


def overriding(name: str, terms: str = "[]") -> str:
    """An override of a ConfigMap in the namespace payments, on the clusters of the terms."""
    return (
        f"{GROUP}kind: ResourceOverride\nmetadata: {{name: o, namespace: payments}}\nspec:\n  resourceSelectors:\n"
        f"  - {{group: '', version: v1, kind: ConfigMap, name: {name}}}\n  policy:\n    overrideRules:\n"
        f"    - overrideType: Delete\n      clusterSelector: {{clusterSelectorTerms: {terms}}}\n"
    )


NAMESPACE = "group: '', version: v1, kind: Namespace"
BY = "labelSelector: {matchExpressions:"
EUROPE = "{labelSelector: {matchLabels: {region: eu}}}"
ALL = f"{NAMESPACE}, name: payments"
REQUIRED = (
    "{affinity: {clusterAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: [%s]}}}}"
)
PREFERRED = (
    "{placementType: PickN, numberOfClusters: 1, affinity: {clusterAffinity: "
    "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: %s}]}}}"
)
IN_TERMS = "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms"
OR = "Or are the labels of the clusters wrong?"
NAME, KEY = "has this name; did you mean ", "has a label of this key; did you mean "
OVERRIDDEN = "6: spec.resourceSelectors[0].name: no ConfigMap has this name"
ELSEWHERE = "in namespace payments, but frontend has one; write the override there"
VALUE = "has this label and value; did you mean "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (placing(ALL), []),
        (placing(f"{NAMESPACE}, name: later"), []),
        (placing(f"{NAMESPACE}, name: payment"), [f"7: spec.resourceSelectors[0].name: no Namespace {NAME}payments?"]),
        (placing("group: '', version: v1, kind: ConfigMap, name: setings", namespace="payments"),
         [f"7: spec.resourceSelectors[0].name: no ConfigMap {NAME}settings?"]),
        (placing("group: '', version: v1, kind: ConfigMap, name: colors", namespace="payments"), []),
        (placing(f"{ALL}, selectionScope: NamespaceWithResourceSelectors}}\n"
                 "  - {group: '', version: v1, kind: ConfigMap, name: setings"),
         [f"8: spec.resourceSelectors[1].name: no ConfigMap {NAME}settings?"]),
        (placing("group: rbac.authorization.k8s.io, version: v1, kind: ClusterRole, name: redaer"),
         [f"7: spec.resourceSelectors[0].name: no ClusterRole {NAME}reader?"]),
        (placing(f"{NAMESPACE}, labelSelector: {{matchLabels: {{team: web}}}}"), []),
        (placing(f"{NAMESPACE}, labelSelector: {{matchLabels: {{owner: web}}}}"), []),
        (placing(f"{NAMESPACE}, labelSelector: {{matchLabels: {{team: web, stage: production}}}}"), []),
        (placing(f"{NAMESPACE}, labelSelector: {{matchLabels: {{teams: web}}}}"),
         [f"7: spec.resourceSelectors[0].labelSelector.matchLabels.teams: no Namespace {KEY}team?"]),
        (placing(f"{NAMESPACE}, labelSelector: {{matchLabels: {{team: moeny}}}}"),
         [f"7: spec.resourceSelectors[0].labelSelector.matchLabels.team: no Namespace {VALUE}money?"]),
        (placing(f"{NAMESPACE}, labelSelector: {{matchExpressions: [{{key: stgae, operator: Exists}}]}}"),
         [f"7: spec.resourceSelectors[0].labelSelector.matchExpressions[0].key: no Namespace {KEY}stage?"]),
        (placing(f"{NAMESPACE}, {BY} [{{key: stage, operator: In, values: [x, prodction]}}]}}"),
         [f"7: spec.resourceSelectors[0].labelSelector.matchExpressions[0].values: no Namespace {VALUE}production?"]),
        (placing(f"{NAMESPACE}, {BY} [{{key: teams, operator: NotIn, values: [web]}}]}}"), []),
        (placing(ALL, REQUIRED % EUROPE), []),
        (placing(ALL, REQUIRED % "{labelSelector: {matchLabels: {region: mars}}}"), []),
        (placing(ALL, REQUIRED % f"{EUROPE}, {{labelSelector: {{matchLabels: {{regoin: eu}}}}}}"),
         [f"5: {IN_TERMS}[1].labelSelector.matchLabels.regoin: no cluster {KEY}region? {OR}"]),
        (placing(ALL, PREFERRED % "{labelSelector: {matchLabels: {tier: porod}}}"),
         [("5: spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
          f"labelSelector.matchLabels.tier: no cluster {VALUE}prod? {OR}")]),
        (overriding("settings"), []),
        (overriding("wrappedone"), []),
        (overriding("colors"), [f"{OVERRIDDEN}; correct it, or add it"]),
        (overriding("colours"), [f"{OVERRIDDEN} {ELSEWHERE}"]),
        (overriding("setings"), [f"6: spec.resourceSelectors[0].name: no ConfigMap {NAME}settings?"]),
        (overriding("wrapedone"), [f"6: spec.resourceSelectors[0].name: no ConfigMap {NAME}wrappedone?"]),
        (overriding("settings", "[{labelSelector: {matchLabels: {tier: prd}}}]"),
         [("10: spec.policy.overrideRules[0].clusterSelector.clusterSelectorTerms[0].labelSelector.matchLabels.tier: "
          f"no cluster {VALUE}prod? {OR}")]),
    ],
)  # fmt: skip
def test_what_a_selector_meant(text: str, expected: list[str]) -> None:
    found = faults_of({"clusters/a.yaml": FLEET, "resources/a.yaml": f"{PAYLOAD}---\n{ENVELOPE}", "x.yaml": text})
    whole = [line.replace(": no ", ": selects nothing, since no ") for line in expected]
    if "ResourceOverride" in text:
        whole = [line.replace("].name: selects", "].name: overrides") for line in whole]
    assert [line.split(": ", 2)[0].removeprefix("x.yaml:") + ": " + line.split(": ", 2)[2] for line in found] == [
        f"{line} (warning)" for line in whole
    ]


MISSPELT = placing(f"{NAMESPACE}, name: payment")


@pytest.mark.parametrize(
    "hiding",
    [
        "{apiVersion: v1, kind: Namespace, metadata: {name: payment, labels: 3}}",
        "{apiVersion: v1, kind: Namespce, metadata: {name: payment}}",
        "{apiVersion: v1, kind: Namespace, metadata: {name: payment}",
    ],
)
def test_what_has_an_error_of_its_own_is_not_missing(hiding: str) -> None:
    files = {"resources/a.yaml": PAYLOAD, "x.yaml": MISSPELT}
    assert any("did you mean payments?" in line for line in faults_of(files))
    lines = faults_of({**files, "resources/b.yaml": hiding})
    assert lines and not any("did you mean payments?" in line for line in lines)


SETTINGS = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: payments}}\n"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"resources/s.yaml": SETTINGS}, None),
        ({"resources/t.yaml": SETTINGS}, None),
        ({}, " any more: this commit takes it from resources/s.yaml:1; write it back, or remove this"),
        ({"resources/s.yaml": SETTINGS.replace("settings", "config")},
         " any more: this commit takes it from resources/s.yaml:1; write it back, or remove this"),
        ({"resources/s.yaml": SETTINGS.replace("settings", "setting")}, "; did you mean setting?"),
        ({"resources/s.yaml": SETTINGS.replace("payments", "frontend")},
         f" {ELSEWHERE}"),
        ({"resources/s.yaml": SETTINGS.replace("metadata", "metdata")}, None),
        ({"resources/s.yaml": "{" + SETTINGS}, None),
    ],
)  # fmt: skip
def test_an_override_whose_object_goes_with_a_commit_says_so(after: dict[str, str], expected: str | None) -> None:
    """The line is the override's; what is only unreadable is not gone."""
    kept = {"resources/a.yaml": PAYLOAD.replace("name: settings,", "name: other,"), "o.yaml": overriding("settings")}
    lines = faults_of({**kept, **after}, before={**kept, "resources/s.yaml": SETTINGS})
    about = (
        "o.yaml:6: ResourceOverride/payments/o: spec.resourceSelectors[0].name: overrides nothing, since no ConfigMap"
    )
    found = [line for line in lines if "ResourceOverride" in line]
    assert found == ([f"{about} has this name{expected} (warning)"] if expected else [])


SELECTING = placing(ALL, REQUIRED % "{labelSelector: {matchLabels: {region: europe, tier: prod}}}")
AT = "clusters/1.yaml:1: MemberCluster/c1: metadata.labels"
LABELLED = "{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {name: %s, labels: {%s}}}\n"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["region: europe, tier: prod", "region: europe, tier: prod"], []),
        (["region: europe, tier: prod", "region: asia, tier: lab, regular: x"], []),
        (["region: europe, tier: prod", "regoin: europe, tier: prod"],
         [f"{AT}.regoin: nothing selects this label; did you mean region"]),
        (["region: europe, tier: prod", "region: eurpoe, tier: prod"],
         [f"{AT}.region: nothing selects this value; did you mean europe"]),
        (["regoin: europe, tier: prod", "regoin: europe, tier: prod"], ["x.yaml:5"]),
        (["region: eurpoe, tier: prod", "region: eurpoe, tier: prod"], ["x.yaml:5"]),
    ],
)  # fmt: skip
def test_a_label_that_is_nearly_a_selected_one(labels: list[str], expected: list[str]) -> None:
    """Of one cluster it is the cluster's; of all of them it may be either."""
    clusters = {f"clusters/{n}.yaml": LABELLED % (f"c{n}", text) for n, text in enumerate(labels)}
    found = faults_of({**clusters, "resources/a.yaml": PAYLOAD, "x.yaml": SELECTING})
    if expected and expected[0].startswith("clusters"):
        assert found == [f"{expected[0]}, as ClusterResourcePlacement/p selects? (warning)"]
    else:
        assert [line.split(": ")[0] for line in found] == expected
        assert all(OR in line for line in found)


@pytest.mark.parametrize(("sizes", "compared"), [(200, True), (400, False)])
def test_so_many_labels_and_selected_ones_are_not_compared(sizes: int, compared: bool) -> None:
    """Comparing takes time with the product of both, which anybody who writes files chooses."""
    values = [f"{n * 2654435761 % 2**32:08x}" for n in range(sizes)]
    by_size = f"matchExpressions: [{{key: size, operator: In, values: {values}}}]"
    term = f"{{labelSelector: {{matchLabels: {{region: eu}}, {by_size}}}}}"
    members = [LABELLED % (f"m{n}", f"region: eu, size: '{value}'") for n, value in enumerate(values)]
    files = {"clusters/1.yaml": LABELLED % ("c1", "regoin: eu"), "clusters/m.yaml": "---\n".join(members)}
    found = faults_of({**files, "resources/a.yaml": PAYLOAD, "x.yaml": placing(ALL, REQUIRED % term)})
    meant = "nothing selects this label; did you mean region, as ClusterResourcePlacement/p selects? (warning)"
    assert found == ([f"{AT}.regoin: {meant}"] if compared else [])


def test_names_that_are_too_many_to_compare_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is compared with all that there are: without a bound, a thousand mistakes cost every commit minutes."""
    monkeypatch.setattr("gitfleet.desired.present._MOST_COMPARED", 4)
    names = ("payment", "frontent", "colors", "paymens")
    files = {
        f"{n}.yaml": placing(f"{NAMESPACE}, name: {name}").replace("p}", f"p{n}}}") for n, name in enumerate(names)
    }
    found = faults_of({**files, "resources/a.yaml": PAYLOAD})
    selects = "spec.resourceSelectors[0].name: selects nothing, since no Namespace has this name; did you mean"
    counted = "from this file on, 2 names or labels that nothing has are not compared with those that there are "
    counted += "(4 comparisons at most); correct the others first"
    assert found == [
        f"0.yaml:7: ClusterResourcePlacement/p0: {selects} payments? (warning)",
        f"1.yaml:7: ClusterResourcePlacement/p1: {selects} frontend? (warning)",
        f"2.yaml:4: ClusterResourcePlacement/p2: spec: {counted} (warning)",
    ]
