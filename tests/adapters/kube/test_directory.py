"""What a connection may name, what a kubeconfig may do, and what is refused with a hint."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from gitfleet.adapters.kube import KubeDirectory, Timeouts
from gitfleet.adapters.kube.http_transport import connect
from gitfleet.adapters.kube.kubeconfigs import parse_kubeconfig
from gitfleet.adapters.kube.logins import Endpoint, Login
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.clusters import Connection, MemberCluster, SecretKey
from gitfleet.errors import BadInput, Forbidden, GitfleetError, MissingPart
from gitfleet.formats.texts import FormatsText
from gitfleet.settings import ConnectionRules
from tests.adapters.kube.stub import serving
from tests.realparts.certificates import write_server_certificate
from tests.texts import part

T0 = datetime(2026, 1, 1, tzinfo=UTC)
CLUSTER_FIELDS = (
    "server", "certificate-authority", "certificate-authority-data", "tls-server-name", "proxy-url",
    "insecure-skip-tls-verify",
)  # fmt: skip
USER_FIELDS = (
    "token", "tokenFile", "client-certificate-data", "client-key-data", "client-certificate", "client-key", "username",
    "password", "as", "as-groups", "auth-provider", "exec", "exec.command", "exec.args", "exec.env", "exec.apiVersion",
)  # fmt: skip
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()


def kubeconfig(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example.com", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "t0ken", **(user or {})}}],
    }


def access(body: dict[str, Any], rules: ConnectionRules | None = None, folder: Path | None = None) -> Any:
    found = parse_kubeconfig(json.dumps(body).encode(), "the kubeconfig k", folder)
    return found.access(rules or ConnectionRules(), lambda: T0)


def says(code: KubeText) -> str:
    return re.escape(part(code))


def member(**connection: Any) -> MemberCluster:
    return MemberCluster(name="c1", connection=Connection(**connection))


@pytest.mark.parametrize(
    ("cluster", "error", "code"),
    [
        (MemberCluster(name="c1"), BadInput, KubeText.CLUSTER_NO_CONNECTION),
        (member(pull=True), BadInput, KubeText.CLUSTER_NOT_REACHED_API_SERVER),
        (member(simulated=True), BadInput, KubeText.CLUSTER_NOT_REACHED_API_SERVER),
        (member(context="x"), MissingPart, KubeText.CLUSTER_REACHED_CONTEXT_NO_KUBECONFIG),
        (member(kubeconfig_file="x"), MissingPart, KubeText.CLUSTER_REACHED_KUBECONFIG_NO_FOLDER),
        (member(kubeconfig_file="../x"), BadInput, KubeText.CLUSTER_NAMES_KUBECONFIG),
        (member(kubeconfig_file="/etc/passwd"), BadInput, KubeText.CLUSTER_NAMES_KUBECONFIG),
        (member(kubeconfig_file=".."), BadInput, KubeText.CLUSTER_NAMES_KUBECONFIG),
        (member(in_cluster=True), MissingPart, KubeText.CLUSTER_GITFLEET_RUNS_RUNS_NONE),
    ],
)
def test_connections_that_cannot_be_made(
    cluster: MemberCluster, error: type[GitfleetError], code: KubeText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(error, match=says(code)) as raised:
        KubeDirectory().client(cluster)
    assert str(raised.value).count("\n") == 0


def test_contexts_files_and_secrets_are_found(tmp_path: Path) -> None:
    with serving() as stub:
        stub.replies = [(200, '{"items": []}', {})]
        body = json.dumps(kubeconfig({"server": stub.url}))
        (tmp_path / "config").write_text(body)
        asked: list[tuple[str, str, str]] = []

        def read_secret(namespace: str, name: str, key: str) -> bytes:
            asked.append((namespace, name, key))
            return body.encode()

        directory = KubeDirectory(
            ConnectionRules(
                kubeconfig=tmp_path / "config",
                kubeconfig_dir=tmp_path,
                allow_insecure=True,
                read_secret=read_secret,
                secret_namespaces=("fleet",),
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
        unknown = KubeText.HAS_NO(source="", kind="context", name="elsewhere")
        with pytest.raises(MissingPart, match=re.escape(unknown)) as raised:
            directory.client(member(context="elsewhere"))
        assert raised.value.hint == "it has: here"
        directory.close()


def test_in_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(MissingPart, match=says(KubeText.POD_SERVICE_ACCOUNT_NO_CA)):
        KubeDirectory(ConnectionRules(service_account=tmp_path)).client(member(in_cluster=True))
    (tmp_path / "ca.crt").write_text("PEM")
    assert KubeDirectory(ConnectionRules(service_account=tmp_path)).client(member(in_cluster=True)).cluster == "c1"
    with pytest.raises(BadInput, match=says(KubeText.CLUSTER_GITFLEET_RUNS)):
        KubeDirectory(ConnectionRules(allow_in_cluster=False)).client(member(in_cluster=True))


SECRET = "Secret ns/s"


def no_key(key: str) -> str:
    return re.escape(KubeText.NO_KEY(what=SECRET, key=key))


def test_a_secret_is_read_with_the_pods_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitfleet.adapters.kube.directory import read_secret_key
    from gitfleet.adapters.kube.http_transport import HttpTransport
    from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
    from gitfleet.adapters.kube.wire import Wire

    with serving() as stub:
        wire = Wire("own", HttpTransport(Endpoint(server=stub.url), FixedLogin(Login())))
        stub.replies = [(200, json.dumps({"data": {"value": base64.b64encode(b"text").decode()}}), {})]
        assert read_secret_key(wire, "ns", "s", "value") == b"text"
        assert stub.seen[0][1] == "/api/v1/namespaces/ns/secrets/s"
        with pytest.raises(MissingPart, match=no_key("other")):
            read_secret_key(wire, "ns", "s", "other")
        with pytest.raises(BadInput):
            read_secret_key(wire, "ns", "../pods", "x")
        stub.replies = [(200, json.dumps({"data": None}), {})]
        with pytest.raises(MissingPart, match=no_key("value")):
            read_secret_key(wire, "ns", "s", "value")
        stub.replies = [(404, "", {})]
        with pytest.raises(MissingPart, match=re.escape(KubeText.IS_NOT_THERE(what=SECRET))):
            read_secret_key(wire, "ns", "s", "value")
        stub.replies = [(403, "", {})]
        with pytest.raises(Forbidden):
            read_secret_key(wire, "ns", "s", "value")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (kubeconfig({"insecure-skip-tls-verify": True}), says(KubeText.NOT_CHECK_WHO_API_SERVER)),
        (kubeconfig({"server": "http://c"}), says(KubeText.NOT_CHECK_WHO_API_SERVER)),
        (kubeconfig({"server": "ftp://c"}), "names no server address"),
        (kubeconfig({"certificate-authority": "/etc/ca.crt"}), says(KubeText.NAMES_FILE_NOT_ALLOWED)),
        (kubeconfig({"certificate-authority-data": "!"}), says(KubeText.DATA_NOT_BASE64_PEM_TEXT)),
        (kubeconfig(user={"tokenFile": "/run/token"}), says(KubeText.NAMES_FILE_NOT_ALLOWED)),
        (kubeconfig(user={"client-certificate": "x"}), says(KubeText.NAMES_FILE_NOT_ALLOWED)),
        (kubeconfig(user={"auth-provider": {"name": "gcp"}}), says(KubeText.USES_AUTH_PROVIDER)),
        (kubeconfig({"proxy-url": "http://127.0.0.1:9"}), says(KubeText.NAMES_PROXY_NOT_ALLOWED)),
        (kubeconfig(user={"exec": {"command": "aws"}}), says(KubeText.WANTS_RUN_PROGRAM)),
        (kubeconfig(user={"exec": {"command": "/bin/sh"}}), says(KubeText.WANTS_RUN_PROGRAM)),
    ],
)
def test_what_a_kubeconfig_from_a_secret_may_not_do(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        access(body, ConnectionRules(allowed_exec=("aws", "/bin/sh")))


def test_what_a_kubeconfig_given_to_the_process_may_do(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("authority")
    (tmp_path / "token").write_text("of-a-file\n")
    body = kubeconfig(
        {"certificate-authority": "ca.crt", "tls-server-name": "n", "proxy-url": "http://p"},
        {"tokenFile": "token", "as": "jo"},
    )
    endpoint, login = access(body, folder=tmp_path)
    assert (endpoint.authority, endpoint.server_name, endpoint.proxy) == ("authority", "n", "http://p")
    assert login.current().headers == {"Authorization": "Bearer of-a-file", "Impersonate-User": "jo"}
    assert "file" not in repr(login) and "t0ken" not in repr(access(kubeconfig())[1])
    with pytest.raises(MissingPart, match=says(KubeText.FILE_CANNOT_READ)):
        access(kubeconfig({"certificate-authority": "gone"}), folder=tmp_path)
    endpoint, _ = access(kubeconfig({"insecure-skip-tls-verify": True}), ConnectionRules(allow_insecure=True))
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
    sentence = (
        KubeText.CANNOT_READ(source="the kubeconfig k", error="line 1: ")
        + FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200")
        + "\n"
    )
    assert (done.returncode, done.stdout) == (0, sentence)


def test_secrets_are_read_in_the_pods_own_namespace_or_where_the_operator_says(tmp_path: Path) -> None:
    def read_secret(namespace: str, name: str, key: str) -> bytes:
        return json.dumps(kubeconfig()).encode()

    def names(namespace: str) -> MemberCluster:
        return member(kubeconfig_secret=SecretKey(namespace, "c1"))

    nowhere = ConnectionRules(read_secret=read_secret, service_account=tmp_path)
    with pytest.raises(BadInput, match=re.escape(KubeText.NO_SECRETS_SINCE_RUNS_NO())) as raised:
        KubeDirectory(nowhere).client(names("kube-system"))
    assert raised.value.hint == KubeText.START_GITFLEET_SECRET_NAMESPACE_IF(namespace="kube-system")
    (tmp_path / "namespace").write_text("fleet\n")
    assert KubeDirectory(nowhere).client(names("fleet"))
    with pytest.raises(
        BadInput,
        match=re.escape(
            KubeText.CLUSTER_NAMES_SECRET(name="c1", namespace="kube-system", secret="c1", where="those of fleet")
        ),
    ):
        KubeDirectory(nowhere).client(names("kube-system"))
    listed = KubeDirectory(
        ConnectionRules(read_secret=read_secret, service_account=tmp_path, secret_namespaces=("members", "more"))
    )
    assert listed.client(names("members")) and listed.client(names("more"))
    where = "those of members and more"
    sentence = KubeText.CLUSTER_NAMES_SECRET(name="c1", namespace="fleet", secret="c1", where=where)
    with pytest.raises(BadInput, match=re.escape(sentence)):
        listed.client(names("fleet"))


def test_a_key_with_a_password_is_an_error_and_asks_nobody(tmp_path: Path) -> None:
    certificate, key = write_server_certificate(tmp_path, "c")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    locked = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.BestAvailableEncryption(b"locked"),
    )
    login = Login(certificate=certificate.read_text(), key=locked.decode())
    with pytest.raises(BadInput, match=says(KubeText.CERTIFICATES_KUBECONFIG_CANNOT_USED)):
        connect(Endpoint(server="https://c"), login, 1, Timeouts())
    assert connect(
        Endpoint(server="https://c"), Login(certificate=certificate.read_text(), key=key.read_text()), 1, Timeouts()
    )


ODD: list[Any] = [None, 7, "a\r\nHost: b", "\u2603", [7], {"a": 1}, [{"name": 7}], "Z2FyYmFnZQ=="]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_fields_of_a_wrong_type_are_an_error_that_says_so(odd: Any, tmp_path: Path) -> None:
    for place in (*kubeconfig(), "context", *(f"cluster.{field}" for field in CLUSTER_FIELDS), *USER_FIELDS):
        body = kubeconfig({"server": "https://127.0.0.1:1"})
        if place == "context":
            body["contexts"][0]["context"] = odd
        elif place.startswith("cluster."):
            body["clusters"][0]["cluster"][place.removeprefix("cluster.")] = odd
        elif place.startswith("exec."):
            body["users"][0]["user"]["exec"] = {"command": "p", place.removeprefix("exec."): odd}
        elif place in USER_FIELDS:
            body["users"][0]["user"][place] = odd
        else:
            body[place] = odd
        (tmp_path / "config").write_text(json.dumps(body))
        for allowed in (
            ConnectionRules(kubeconfig=tmp_path / "config", allowed_exec=("p",)),
            ConnectionRules(secret_namespaces=("n",), read_secret=lambda *_, body=body: json.dumps(body).encode()),
        ):
            connection = {"context": "here"} if allowed.kubeconfig else {"kubeconfig_secret": SecretKey("n", "s")}
            try:
                client = KubeDirectory(allowed, timeouts=Timeouts(tries=1)).client(member(**connection))
                assert "\n" not in (client.observe([]).error if allowed.kubeconfig else ""), place
            except GitfleetError as error:
                assert "\n" not in str(error), place


def test_a_client_certificate_without_a_temporary_directory_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    endpoint = Endpoint(server="https://127.0.0.1:1")
    with pytest.raises(MissingPart, match=says(KubeText.CLIENT_CERTIFICATE_NEEDS_TEMPORARY_DIRECTORY)) as caught:
        connect(endpoint, Login(certificate="PEM", key="PEM"), 1, Timeouts())
    assert caught.value.hint == KubeText.SET_TMPDIR_FOLDER_WRITTEN()
