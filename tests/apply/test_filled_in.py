"""What only the server put into an object is no difference of a full comparison; what anybody else wrote is one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitfleet.api.objects import key_of
from gitfleet.apply.comparisons import Comparisons
from gitfleet.model.observations import DryRun, LiveObject
from gitfleet.model.operations import DifferenceDetails
from tests.apply.model_cluster import manifest

WANTED: dict[str, Any] = {"containers": [{"name": "web", "image": "web:1"}], "replicas": 2, "rules": [{"port": 80}]}
FILLED: dict[str, Any] = {
    "containers": [{"name": "web", "image": "web:1", "pull": "Always", "probe": {"every": 10, "path": "/"}}],
    "replicas": 2,
    "rules": [{"port": 80, "protocol": "TCP"}],
    "strategy": {"type": "Rolling", "rolling": {"surge": "25%"}},
    "grace": 30,
}
OWN = """
f:spec: {f:replicas: {}, f:rules: {}, f:containers: {'k:{"name":"web"}': {.: {}, f:name: {}, f:image: {}}}}
"""
WEB = """'k:{"name":"web"}'"""


def body(spec: dict[str, Any], *, kind: str = "Thing", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": "ns"}, "spec": spec, **more}


def live(there: dict[str, Any], *others: str, own: str = OWN, version: str = "v1") -> LiveObject:
    """An object with what gitfleet owns and, as YAML, what others own."""
    entries = [("gitfleet", "Apply", own)] if own else []
    entries += [(f"other-{n}", "Update", text) for n, text in enumerate(others)]
    managed = [
        {"manager": who, "operation": how, "apiVersion": version, "fieldsV1": yaml.safe_load(text)}
        for who, how, text in entries
    ]
    metadata = {**there["metadata"], "uid": "u1", "resourceVersion": "7", "managedFields": managed}
    return LiveObject(key_of(there), {**there, "metadata": metadata})


def found(there: LiveObject, made: dict[str, Any] | None = None, *, applied: bool = True) -> DifferenceDetails:
    """The differences of a full comparison, and the question that is left where there is no dry run."""
    wanted = manifest(body(WANTED))
    dry_runs = {} if made is None else {("u1", wanted.digest): DryRun(there.body, body(made))}
    compared = Comparisons(dry_runs=dry_runs)
    details = compared.differences(wanted, there, full=True, applied=applied)
    assert list(compared.questions) == ([("u1", wanted.digest)] if details and made is None else [])
    assert bool(compared.doubt(wanted, there)) is bool(compared.questions)
    return details


@pytest.mark.parametrize(
    ("owned", "path", "value"),
    [
        ("f:spec: {f:grace: {}}", "/spec/grace", "30"),
        ("f:spec: {f:strategy: {f:rolling: {f:surge: {}}}}", "/spec/strategy/rolling", '{"surge":"25%"}'),
        ("f:spec: {f:strategy: {f:type: {}}}", "/spec/strategy/type", "Rolling"),
        (f"f:spec: {{f:containers: {{{WEB}: {{f:pull: {{}}}}}}}}", "/spec/containers/0/pull", "Always"),
        (f"f:spec: {{f:containers: {{{WEB}: {{f:probe: {{f:path: {{}}}}}}}}}}", "/spec/containers/0/probe/path", "/"),
        ("f:spec: {f:rules: {}}", "/spec/rules/0/protocol", "TCP"),
    ],
)
def test_what_somebody_wrote_counts_unless_a_dry_run_gives_the_same(owned: str, path: str, value: str) -> None:
    there = live(body(FILLED), owned)
    assert [(at, shown) for at, shown, want in found(there) if want is None] == [(path, value)]
    assert found(there, FILLED) == ()
    assert [(at, shown) for at, shown, _ in found(there, WANTED)] == [(path, value)]


def test_an_item_that_somebody_added_counts_and_one_that_the_server_added_does_not() -> None:
    more = body({**FILLED, "containers": [*FILLED["containers"], {"name": "proxy", "image": "proxy:1"}]})
    proxy = """f:spec: {f:containers: {'k:{"name":"proxy"}': {.: {}, f:name: {}, f:image: {}}}}"""
    assert found(live(more)) == ()
    assert [path for path, _, _ in found(live(more, proxy))] == ["/spec/containers"]
    assert found(live(more, proxy), more["spec"]) == ()


def test_a_dry_run_over_another_content_does_not_count() -> None:
    wanted, there = manifest(body(WANTED)), live(body(FILLED), "f:spec: {f:grace: {}}")
    older = live(body({**FILLED, "grace": 5}), "f:spec: {f:grace: {}}")
    compared = Comparisons(dry_runs={("u1", wanted.digest): DryRun(older.body, body(FILLED))})
    assert compared.differences(wanted, there, full=True, applied=True) == (("/spec/grace", "30", None),)
    assert compared.questions


def test_a_secrets_key_without_an_owner_counts() -> None:
    """What somebody applied by `stringData` has no owner under `data`."""
    metadata = {"name": "x", "namespace": "ns"}
    secret: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a": "YQ=="}}
    there = live({**secret, "data": {"a": "YQ==", "b": "Yg=="}, "type": "Opaque"}, own="f:data: {f:a: {}}")
    compared = Comparisons()
    details = compared.differences(manifest(secret), there, full=True, applied=True)
    assert details == (("/data/b", "(redacted)", None),)
