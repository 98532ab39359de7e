"""MemberCluster: the object with its status (kubefleet.md §1; seed 003, "Cluster properties")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.clusters import (
    CLUSTER_GROUP,
    AgentStatus,
    ClusterStatus,
    Connection,
    MemberCluster,
    PropertyValue,
    ResourceUsage,
    Taint,
)
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import DeletePropagation
from gitfleet.state.shapes.fields import (
    OURS,
    Misshapen,
    choice_at,
    condition_objects,
    flag_at,
    int_at,
    mapping_at,
    mappings_at,
    need_text,
    optional_mapping,
    optional_text,
    optional_time,
    present,
    read_conditions,
    read_written,
    text_at,
    text_map_at,
    time_text,
    written_text,
)

_KNOWN = {"connection", "deleteOptions", "heartbeatPeriodSeconds", "taints"}


def cluster_object(cluster: MemberCluster) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it."""
    spec = cluster.body.get("spec")
    others = {name: value for name, value in spec.items() if name not in _KNOWN} if isinstance(spec, dict) else {}
    connection = {} if cluster.connection is None else {"connection": _connection(cluster.connection)}
    ours = present(written=written_text(cluster.body))
    return {
        "apiVersion": f"{CLUSTER_GROUP}/v1beta1",
        "kind": "MemberCluster",
        "metadata": {
            "name": cluster.name,
            "generation": cluster.generation,
            **present(
                labels=dict(cluster.labels),
                annotations=dict(cluster.annotations),
                deletionTimestamp=cluster.deleting and time_text(cluster.deleting),
            ),
        },
        "spec": {
            **others,
            **connection,
            "deleteOptions": {
                "validationMode": cluster.delete_validation_mode,
                "propagationPolicy": cluster.delete_propagation_policy.value,
            },
            "heartbeatPeriodSeconds": cluster.heartbeat_period_seconds,
            **present(
                taints=[{"key": t.key, "effect": t.effect, **present(value=t.value)} for t in cluster.taints],
            ),
        },
        "status": {**_status(cluster.status), **present(**{OURS: ours})},
    }


def _connection(connection: Connection) -> JsonObject:
    secret = connection.kubeconfig_secret
    fields: dict[str, Any] = {}
    if connection.context is not None:
        fields["context"] = connection.context
    if connection.kubeconfig_file is not None:
        fields["kubeconfig"] = {"file": connection.kubeconfig_file}
    if secret is not None:
        place = {"namespace": secret[0], "name": secret[1], "key": secret[2]}
        fields["kubeconfig"] = {**fields.get("kubeconfig", {}), "secret": place}
    flags = {"inCluster": connection.in_cluster, "pull": connection.pull, "simulated": connection.simulated}
    return {**fields, **{name: True for name, on in flags.items() if on}}


def _read_connection(source: Mapping[str, Any]) -> Connection:
    kubeconfig = mapping_at(source, "kubeconfig")
    secret = optional_mapping(kubeconfig, "secret")
    return Connection(
        context=optional_text(source, "context"),
        kubeconfig_file=optional_text(kubeconfig, "file"),
        kubeconfig_secret=_secret(secret) if secret else None,
        in_cluster=flag_at(source, "inCluster"),
        pull=flag_at(source, "pull"),
        simulated=flag_at(source, "simulated"),
    )


def _secret(source: Mapping[str, Any]) -> tuple[str, str, str]:
    return need_text(source, "namespace"), need_text(source, "name"), need_text(source, "key")


def _status(status: ClusterStatus) -> JsonObject:
    usage = status.resource_usage
    fields = present(
        conditions=condition_objects(status.conditions),
        properties={
            name: {"value": item.value, **present(observationTime=item.observed and time_text(item.observed))}
            for name, item in status.properties.items()
        },
        resourceUsage=present(
            capacity=dict(usage.capacity),
            allocatable=dict(usage.allocatable),
            available=dict(usage.available),
            observationTime=usage.observed and time_text(usage.observed),
        ),
    )
    if status.namespaces is not None:
        fields["namespaces"] = dict(status.namespaces)
    if status.agent is not None:
        heard = status.agent.last_received_heartbeat
        agent = {"type": status.agent.type, "conditions": condition_objects(status.agent.conditions)}
        fields["agentStatus"] = [{**agent, **present(lastReceivedHeartbeat=heard and time_text(heard))}]
    return fields


def _read_status(source: Mapping[str, Any]) -> ClusterStatus:
    usage = mapping_at(source, "resourceUsage")
    agents = mappings_at(source, "agentStatus")
    properties: dict[str, PropertyValue] = {}
    for name, item in mapping_at(source, "properties").items():
        if not isinstance(item, dict):
            raise Misshapen("`properties` must be a mapping of mappings")
        properties[name] = PropertyValue(need_text(item, "value"), optional_time(item, "observationTime"))
    return ClusterStatus(
        conditions=read_conditions(source),
        properties=properties,
        resource_usage=ResourceUsage(
            capacity=text_map_at(usage, "capacity"),
            allocatable=text_map_at(usage, "allocatable"),
            available=text_map_at(usage, "available"),
            observed=optional_time(usage, "observationTime"),
        ),
        namespaces=None if source.get("namespaces") is None else text_map_at(source, "namespaces"),
        agent=_read_agent(agents[0]) if agents else None,
    )


def _read_agent(source: Mapping[str, Any]) -> AgentStatus:
    return AgentStatus(
        type=text_at(source, "type", "MemberAgent"),
        conditions=read_conditions(source),
        last_received_heartbeat=optional_time(source, "lastReceivedHeartbeat"),
    )


def read_cluster(source: Mapping[str, Any]) -> MemberCluster:
    """The cluster back. `origin` is not kept: the desired commit tells it."""
    metadata, spec, status = (mapping_at(source, part) for part in ("metadata", "spec", "status"))
    options = mapping_at(spec, "deleteOptions")
    connection = optional_mapping(spec, "connection")
    return MemberCluster(
        name=need_text(metadata, "name"),
        labels=text_map_at(metadata, "labels"),
        annotations=text_map_at(metadata, "annotations"),
        taints=tuple(
            Taint(need_text(item, "key"), text_at(item, "value"), text_at(item, "effect", "NoSchedule"))
            for item in mappings_at(spec, "taints")
        ),
        heartbeat_period_seconds=int_at(spec, "heartbeatPeriodSeconds", 60),
        delete_validation_mode=text_at(options, "validationMode", "Strict"),
        delete_propagation_policy=choice_at(options, "propagationPolicy", DeletePropagation, DeletePropagation.ABANDON),
        connection=None if connection is None else _read_connection(connection),
        generation=int_at(metadata, "generation", 1),
        deleting=optional_time(metadata, "deletionTimestamp"),
        status=_read_status(status),
        body=read_written(mapping_at(status, OURS)),
    )
