"""Which rollouts have a workload and a cluster in common, against a comparison of each pair."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.faults import Severity
from gitfleet.desired.texts import DesiredText
from tests.desired.commits import read

CLUSTERS = {"a": "eu", "b": "us", "c": "us"}
ENVIRONMENTS = st.sampled_from([None, "eu", "us", "none"])
ROLLOUTS = st.lists(st.tuples(ENVIRONMENTS, st.sampled_from([None, "x", "y"])), min_size=2, max_size=6)


def cluster(name: str, env: str) -> str:
    spec = {"identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}}
    return json.dumps(
        {
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
            "metadata": {"name": name, "labels": {"env": env}}, "spec": spec,
        }
    )  # fmt: skip


def rollout(name: str, env: str | None, component: str | None) -> str:
    spec = {"placementRef": {"name": "web"}, "targetRevision": "2", "rolloutPlan": {}}
    spec |= {"clusters": {"matchLabels": {"env": env}}} if env else {}
    spec |= {"componentList": [component]} if component else {}
    head = {"apiVersion": "core.oam.dev/v1beta1", "kind": "AppRollout", "metadata": {"name": name, "namespace": "web"}}
    return json.dumps({**head, "spec": spec})


def expected(rollouts: list[tuple[str | None, str | None]]) -> list[tuple[str, str]]:
    """By comparing each with each earlier one that stays."""
    refused, kept = list[tuple[str, str]](), list[tuple[int, str | None, str | None]]()
    for number, (env, component) in enumerate(rollouts):
        found = list[tuple[str, str]]()
        for other, its_env, its_component in kept:
            selected = [one for one in (env, its_env) if one is not None]
            shared = [name for name, label in CLUSTERS.items() if all(label == one for one in selected)]
            if shared and (component is None or its_component is None or component == its_component):
                origin, on = f"rollouts/r{other}.yaml:1", f" on {shared[0]}" if selected else ""
                way = DesiredText.REMOVE_ONE_TWO()
                sentence = DesiredText.MOVED_ALREADY(other=f"AppRollout/web/r{other}", origin=origin, on=on, way=way)
                found.append((f"AppRollout/web/r{number}", sentence))
        refused += found
        kept += [(number, env, component)] if not found else []
    return sorted(refused)


@given(ROLLOUTS)
def test_each_pair_that_has_a_workload_and_a_cluster_in_common_is_found(
    rollouts: list[tuple[str | None, str | None]],
) -> None:
    files = {f"clusters/{name}.yaml": cluster(name, env) for name, env in CLUSTERS.items()}
    files |= {f"rollouts/r{number}.yaml": rollout(f"r{number}", *one) for number, one in enumerate(rollouts)}
    errors = [(fault.object, fault.message) for fault in read(files).faults if fault.severity is Severity.ERROR]
    assert sorted(errors) == expected(rollouts)
