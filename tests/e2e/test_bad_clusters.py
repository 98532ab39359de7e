"""One cluster that cannot be used never holds the others up, and the message says which one and what to do."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.e2e.manifests import config_map, deployment, member, namespace_file, placement
from tests.e2e.members import Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo
from tests.realparts.certificates import write_server_certificate
from tests.realparts.processes import HeldPort

pytestmark = pytest.mark.real
DEAD_PORT = HeldPort()


def expired_token(signing_key: Path) -> str:
    """A service account token as the API server would have made it, long out of date."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    key = serialization.load_pem_private_key(signing_key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    claims = {
        "iss": "https://127.0.0.1",
        "aud": ["https://127.0.0.1"],
        "sub": "system:serviceaccount:default:default",
        "iat": 1_600_000_000,
        "exp": 1_600_003_600,
    }
    signed = ".".join(part(json.dumps(c).encode()) for c in ({"alg": "ES256", "typ": "JWT"}, claims))
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{part(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def kubeconfig_with_bad_contexts(members: Members, folder: Path) -> Path:
    """cluster-1 as it is, and `wrong-token`, `expired`, `dead-port`, `wrong-authority`, each bad in its own way."""
    path = members.kubeconfig(folder / "bad-kubeconfig")
    config = json.loads(path.read_text())
    first = members.all[0].server
    good: dict[str, Any] = first.kubeconfig["clusters"][0]["cluster"]
    token = {"token": first.token}
    stranger = folder / "stranger"
    stranger.mkdir()
    other, _ = write_server_certificate(stranger, "stranger")
    assert ssl.create_default_context(cafile=str(other))
    strange = base64.b64encode(other.read_bytes()).decode()
    bad: Mapping[str, tuple[dict[str, Any], dict[str, str]]] = {
        "wrong-token": (good, {"token": "0" * 32}),
        "expired": (good, {"token": expired_token(first.folder / "sa.key")}),
        "dead-port": ({**good, "server": f"https://127.0.0.1:{DEAD_PORT.number}"}, token),
        "wrong-authority": ({**good, "certificate-authority-data": strange}, token),
    }
    for name, (cluster, user) in bad.items():
        config["clusters"].append({"name": name, "cluster": cluster})
        config["users"].append({"name": name, "user": user})
        config["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    path.write_text(json.dumps(config))
    return path


BAD = ("wrong-token", "expired", "dead-port", "wrong-authority", "missing-context")


def test_bad_clusters_from_the_start(config: ConfigRepo, program: Program, members: Members, tmp_path: Path) -> None:
    namespace = members.namespace("bad")
    good = members.all[0]
    program = replace(program, kubeconfig=kubeconfig_with_bad_contexts(members, tmp_path))
    config.commit(
        {f"clusters/{name}.yaml": member(name) for name in (good.name, *BAD)}
        | {
            "clusters/no-connection.yaml": member("no-connection").replace('"context": "no-connection"', ""),
            "placements/web.yaml": placement(namespace, maxUnavailable=1),
            "resources/namespace.yaml": namespace_file(namespace),
            "resources/web.yaml": deployment(namespace, "web:1"),
            "resources/settings.yaml": config_map(namespace, k="1"),
        }
    )
    ended = program.settle()
    assert good.is_available(namespace)
    # Each is named on stderr and on the state branch, with what is wrong and, where there is something, what to do.
    wants = {
        "wrong-token": "refused the credentials",
        "expired": "refused the credentials",
        "dead-port": "refused",
        "wrong-authority": "certificate",
        "missing-context": "missing-context",
        "no-connection": "connection",
    }
    for name, word in wants.items():
        lines = [line for line in ended.talk.splitlines() if name in line]
        assert any(word in line for line in lines), (name, ended.talk)
        if name == "no-connection":  # a fault of the file itself: there is no such cluster yet
            assert name in config.text("faults.yaml")
            continue
        status = json.dumps(config.state(f"clusters/{name}.yaml")["status"])
        assert word in status, (name, status)
        assert name in config.text("README.md")
    assert members.all[0].server.token not in ended.talk + ended.output

    # The others' edits go on, and what is corrected joins.
    path = program.kubeconfig
    assert path is not None
    bad = json.loads(path.read_text())
    two = members.all[1].server
    for user in bad["users"]:
        if user["name"] == "wrong-token":
            user["user"] = {"token": two.token}
    for cluster in bad["clusters"]:
        if cluster["name"] == "wrong-token":
            cluster["cluster"] = two.kubeconfig["clusters"][0]["cluster"]
    path.write_text(json.dumps(bad))
    config.commit({"resources/settings.yaml": config_map(namespace, k="2")})
    program.settle()
    assert good.config_map(namespace) == members.all[1].config_map(namespace) == {"k": "2"}
