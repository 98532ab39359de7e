"""What sets the replicas of a workload: a HorizontalPodAutoscaler, or KEDA's ScaledObject."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.texts import ApiText
from gitfleet.formats.json_values import section

_HPA: Final = ("autoscaling", "HorizontalPodAutoscaler")
_KEDA: Final = ("keda.sh", "ScaledObject")


def scalers_of(manifests: Iterable[Manifest]) -> dict[Identity, Manifest]:
    """What sets the replicas of workloads, by the workload; of several the first."""
    scalers: dict[Identity, Manifest] = {}
    for manifest in manifests:
        if manifest.key.group_kind in (_HPA, _KEDA) and (scaled := _scaled_by(manifest)) is not None:
            scalers.setdefault(scaled, manifest)
    return scalers


def is_scaled_by(scaler: Manifest) -> str:
    """The sentence on a rollout of a workload that something else scales, after "is"."""
    where = f" ({scaler.origin})" if scaler.origin is not None else ""
    return ApiText.SCALED_WOULD_UNDO_ROLLOUT(scaler=scaler.key, where=where)


def _scaled_by(scaler: Manifest) -> Identity | None:
    reference = section(scaler.body, "spec", "scaleTargetRef")
    if not reference:
        return None
    # KEDA's scaleTargetRef is of a Deployment where it says nothing else.
    default = ("apps/v1", "Deployment") if scaler.key.group_kind == _KEDA else ("", "")
    api_version, kind = reference.get("apiVersion", default[0]), reference.get("kind", default[1])
    return str(api_version).rpartition("/")[0], str(kind), scaler.key.namespace, str(reference.get("name"))
