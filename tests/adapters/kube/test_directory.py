"""What a connection may name, what a kubeconfig may do, and what is refused with a hint."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.kube import ConnectionRules, KubeDirectory
from gitfleet.adapters.kube.kubeconfigs import Rules, parse_kubeconfig
from gitfleet.api.clusters import Connection, MemberCluster, SecretKey
from gitfleet.errors import BadInput, Forbidden, GitfleetError, MissingPart
from tests.adapters.kube.stub import serving

T0 = datetime(2026, 1, 1, tzinfo=UTC)
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()


def kubeconfig(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example.com", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "t0ken", **(user or {})}}],
    }


def access(body: dict[str, Any], rules: Rules | None = None, folder: Path | None = None) -> Any:
    found = parse_kubeconfig(json.dumps(body).encode(), "the kubeconfig k", folder)
    return found.access(rules or Rules(), lambda: T0)


def member(**connection: Any) -> MemberCluster:
    return MemberCluster(name="c1", connection=Connection(**connection))


@pytest.mark.parametrize(
    ("cluster", "error", "sentence"),
    [
        (MemberCluster(name="c1"), BadInput, "has no connection"),
        (member(pull=True), BadInput, "its connection is pull"),
        (member(simulated=True), BadInput, "its connection is simulated"),
        (member(context="x"), MissingPart, "there is no kubeconfig"),
        (member(kubeconfig_file="x"), MissingPart, "there is no folder"),
        (member(kubeconfig_file="../x"), BadInput, "not a plain file name"),
        (member(kubeconfig_file="/etc/passwd"), BadInput, "not a plain file name"),
        (member(kubeconfig_file=".."), BadInput, "not a plain file name"),
        (member(in_cluster=True), MissingPart, "runs in none"),
    ],
)
def test_connections_that_cannot_be_made(
    cluster: MemberCluster, error: type[GitfleetError], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(error, match=sentence) as raised:
        KubeDirectory().client(cluster)
    assert str(raised.value).count("\n") == 0


def test_contexts_files_and_secrets_are_found(tmp_path: Path) -> None:
    with serving() as stub:
        stub.replies = [(200, "{}", {})]
        body = json.dumps(kubeconfig({"server": stub.url}))
        (tmp_path / "config").write_text(body)
        asked: list[tuple[str, str, str]] = []

        def read_secret(namespace: str, name: str, key: str) -> bytes:
            asked.append((namespace, name, key))
            return body.encode()

        directory = KubeDirectory(
            ConnectionRules(
                kubeconfig=tmp_path / "config", kubeconfig_dir=tmp_path, allow_insecure=True, read_secret=read_secret
            )
        )
        for connection in (
            {"context": "here"},
            {"kubeconfig_file": "config"},
            {"kubeconfig_secret": SecretKey("fleet", "c1", "value")},
        ):
            assert directory.client(member(**connection)).observe([]).reachable
        assert asked == [("fleet", "c1", "value")]
        assert {seen[2] for seen in stub.seen} == {"Bearer t0ken"}
        with pytest.raises(MissingPart, match='no context "elsewhere"') as raised:
            directory.client(member(context="elsewhere"))
        assert raised.value.hint == "it has: here"
        directory.close()


def test_in_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(MissingPart, match=r"no ca\.crt"):
        KubeDirectory(ConnectionRules(service_account=tmp_path)).client(member(in_cluster=True))
    (tmp_path / "ca.crt").write_text("PEM")
    assert KubeDirectory(ConnectionRules(service_account=tmp_path)).client(member(in_cluster=True)).cluster == "c1"
    with pytest.raises(BadInput, match="not allowed"):
        KubeDirectory(ConnectionRules(allow_in_cluster=False)).client(member(in_cluster=True))


def test_a_secret_is_read_with_the_pods_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitfleet.adapters.kube.http_transport import HttpTransport
    from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
    from gitfleet.adapters.kube.secrets import read_secret_key
    from gitfleet.adapters.kube.wire import Wire

    with serving() as stub:
        wire = Wire("own", HttpTransport(Endpoint(server=stub.url), FixedLogin(Login())))
        stub.replies = [(200, json.dumps({"data": {"value": base64.b64encode(b"text").decode()}}), {})]
        assert read_secret_key(wire, "ns", "s", "value") == b"text"
        assert stub.seen[0][1] == "/api/v1/namespaces/ns/secrets/s"
        with pytest.raises(MissingPart, match='no key "other"'):
            read_secret_key(wire, "ns", "s", "other")
        with pytest.raises(BadInput):
            read_secret_key(wire, "ns", "../pods", "x")
        stub.replies = [(404, "", {})]
        with pytest.raises(MissingPart, match="is not there"):
            read_secret_key(wire, "ns", "s", "value")
        stub.replies = [(403, "", {})]
        with pytest.raises(Forbidden):
            read_secret_key(wire, "ns", "s", "value")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (kubeconfig({"insecure-skip-tls-verify": True}), "does not check who the API server is"),
        (kubeconfig({"server": "http://c"}), "does not check who the API server is"),
        (kubeconfig({"server": "ftp://c"}), "names no server address"),
        (kubeconfig({"certificate-authority": "/etc/ca.crt"}), "names a file, which is not allowed"),
        (kubeconfig({"certificate-authority-data": "!"}), "not base64 of a PEM text"),
        (kubeconfig(user={"tokenFile": "/run/token"}), "names a file, which is not allowed"),
        (kubeconfig(user={"client-certificate": "x"}), "names a file, which is not allowed"),
        (kubeconfig(user={"auth-provider": {"name": "gcp"}}), "uses an auth-provider"),
        (kubeconfig(user={"exec": {"command": "aws"}}), 'wants to run "aws"'),
        (kubeconfig(user={"exec": {"command": "/bin/sh"}}), 'wants to run "/bin/sh"'),
        (kubeconfig(user={"exec": {"command": "aws", "apiVersion": "v0"}}), "not supported"),
    ],
)
def test_what_a_kubeconfig_from_a_secret_may_not_do(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        access(body, Rules(files=False))


def test_what_a_kubeconfig_given_to_the_process_may_do(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("authority")
    (tmp_path / "token").write_text("from a file\n")
    body = kubeconfig(
        {"certificate-authority": "ca.crt", "tls-server-name": "n", "proxy-url": "http://p"},
        {"tokenFile": "token", "as": "jo"},
    )
    endpoint, login = access(body, folder=tmp_path)
    assert (endpoint.authority, endpoint.server_name, endpoint.proxy) == ("authority", "n", "http://p")
    assert login.current().headers == {"Authorization": "Bearer from a file", "Impersonate-User": "jo"}
    assert "file" not in repr(login) and "t0ken" not in repr(access(kubeconfig())[1])
    with pytest.raises(MissingPart, match="cannot be read"):
        access(kubeconfig({"certificate-authority": "gone"}), folder=tmp_path)
    endpoint, _ = access(kubeconfig({"insecure-skip-tls-verify": True}), Rules(insecure=True))
    assert endpoint.insecure
    endpoint, login = access(kubeconfig({"certificate-authority-data": PEM}, {"token": "", "username": "jo"}))
    assert endpoint.authority == "-----BEGIN CERTIFICATE-----\n"
    assert login.current().headers["Authorization"].startswith("Basic ")


@pytest.mark.parametrize("content", [b"{", b"[]", b"x: y", b"clusters: 1", b"a: &a [*a]", b" " * 2_000_000])
def test_what_is_no_kubeconfig(content: bytes) -> None:
    with pytest.raises(BadInput):
        parse_kubeconfig(content, "k")


def test_a_deeply_nested_kubeconfig_is_refused_and_ends_no_process() -> None:
    program = (
        "from gitfleet.adapters.kube.kubeconfigs import parse_kubeconfig\n"
        "from gitfleet.errors import BadInput\n"
        "try: parse_kubeconfig(b'[' * 40000, 'the kubeconfig k')\n"
        "except BadInput as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    sentence = "the kubeconfig k cannot be read: line 1: nested more than 200 levels deep; flatten it\n"
    assert (done.returncode, done.stdout) == (0, sentence)


def plugin(folder: Path, script: str) -> Path:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def credential(**status: str) -> str:
    return json.dumps({"kind": "ExecCredential", "status": status})


def asks(path: Path, **more: Any) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    return kubeconfig(user={"exec": {"command": str(path), "apiVersion": version, **more}})


def test_plugins_run_only_when_allowed_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plugin(tmp_path, f"echo '{credential(token='fresh')}'")
    for allowed in ((), ("plugin",), (str(tmp_path),), ("other",)):
        with pytest.raises(BadInput, match="not allowed") as raised:
            access(asks(path), Rules(allowed_exec=allowed), tmp_path)
        assert "--allow-exec" in (raised.value.hint or "")
    _, login = access(asks(path), Rules(allowed_exec=(str(path),)), tmp_path)
    assert login.current().headers["Authorization"] == "Bearer fresh"
    by_name = kubeconfig(user={"exec": {"command": "plugin"}})
    with pytest.raises(MissingPart, match="not on the PATH"):
        access(by_name, Rules(allowed_exec=("plugin",)))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    _, login = access(by_name, Rules(allowed_exec=("plugin",)))
    assert login.current().headers["Authorization"] == "Bearer fresh"


def test_a_plugin_is_asked_again_when_its_login_expires(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    result = credential(token="t$N", expirationTimestamp=(T0 + timedelta(minutes=10)).isoformat())
    script = f'echo x >> "$COUNTER"; N=$(wc -l < "$COUNTER" | tr -d " "); cat <<EOF\n{result}\nEOF'
    path = plugin(tmp_path, script)
    body = asks(path, env=[{"name": "COUNTER", "value": str(counter)}])
    found = parse_kubeconfig(json.dumps(body).encode(), "k", tmp_path)
    times = [T0]
    _, login = found.access(Rules(allowed_exec=(str(path),)), lambda: times[0])
    assert login.current() is login.current()
    times[0] = T0 + timedelta(minutes=9, seconds=30)
    login.current()
    assert login.renew()
    login.current()
    assert counter.read_text() == "x\n" * 3


@pytest.mark.parametrize(
    ("script", "error", "sentence"),
    [
        ("echo no entry >&2; exit 3", Forbidden, "failed with exit code 3: no entry"),
        ("echo nonsense", MissingPart, "did not print an ExecCredential"),
        ("echo '{\"status\": null}'", MissingPart, "did not print an ExecCredential"),
        ("sleep 5", MissingPart, r"did not answer in 0\.2 s"),
    ],
)
def test_a_plugin_that_fails(tmp_path: Path, script: str, error: type[GitfleetError], sentence: str) -> None:
    path = plugin(tmp_path, script.replace("sleep", "exec sleep"))
    _, login = access(asks(path), Rules(allowed_exec=(str(path),)), tmp_path)
    login.timeout_seconds = 0.2
    with pytest.raises(error, match=sentence):
        login.current()


def test_a_login_that_fails_makes_a_cluster_unreachable_with_the_reason(tmp_path: Path) -> None:
    path = plugin(tmp_path, "echo no entry >&2; exit 3")
    (tmp_path / "config").write_text(json.dumps(asks(path)))
    directory = KubeDirectory(ConnectionRules(kubeconfig=tmp_path / "config", allowed_exec=(str(path),)))
    result = directory.client(member(context="here")).observe([])
    assert not result.reachable and "no entry" in result.error
