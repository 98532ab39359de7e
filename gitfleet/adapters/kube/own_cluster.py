"""The cluster that this process runs in, as the service account of its pod sees it."""

from __future__ import annotations

import os
from pathlib import Path

from gitfleet.adapters.kube.logins import Endpoint, FileLogin, LoginSource
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import MissingPart


def pod_namespace(service_account: Path) -> str | None:
    """The namespace of the pod, None where this process runs in none."""
    try:
        return (service_account / "namespace").read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def own_cluster(
    service_account: Path, subject: str, otherwise: str = "give another connection"
) -> tuple[Endpoint, LoginSource]:
    """Where its API server is and how to log in there; MissingPart, which says that `what` is there, where there is
    none, and what else may be done: `otherwise`."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        hint = KubeText.RUN_GITFLEET_POD(otherwise=otherwise)
        raise MissingPart(KubeText.CLUSTER_GITFLEET_RUNS_RUNS_NONE(what=subject), hint=hint)
    try:
        authority = (service_account / "ca.crt").read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise MissingPart(KubeText.POD_SERVICE_ACCOUNT_NO_CA(), hint="set automountServiceAccountToken") from error
    address = f"[{host}]" if ":" in host else host
    endpoint = Endpoint(server=f"https://{address}:{port}", authority=authority)
    return endpoint, FileLogin(service_account / "token")
