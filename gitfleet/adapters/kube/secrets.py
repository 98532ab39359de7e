"""Reading one key of one Secret."""

from __future__ import annotations

import base64
import binascii

from gitfleet.adapters.kube.discovery import Resource
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Wire
from gitfleet.errors import Forbidden, MissingPart


def read_secret_key(wire: Wire, namespace: str, name: str, key: str) -> bytes:
    """The decoded value. MissingPart when the Secret or the key is not there, Forbidden when it may not be read,
    ClusterUnreachable when the server does not answer."""
    response = wire.send("GET", Resource("/api/v1", "secrets", True).path(namespace, name))
    what = f"Secret {namespace}/{name}"
    if response.status == 404:
        raise MissingPart(KubeText.IS_NOT_THERE(what=what), hint=KubeText.CREATE_KUBECONFIG_INSIDE())
    if not response.ok:
        raise Forbidden(refusal_of(response, what).message, hint=KubeText.ALLOW_GITFLEET_SERVICE_ACCOUNT_GET())
    value = (response.json().get("data") or {}).get(key)
    if value is None:
        raise MissingPart(KubeText.NO_KEY(what=what, key=key))
    try:
        return base64.b64decode(str(value))
    except (binascii.Error, ValueError) as error:
        raise MissingPart(KubeText.KEY_NOT_BASE64(key=key, what=what)) from error
